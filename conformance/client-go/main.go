// Command client-go does with client-go what it is told, so that a test can compare it with kubecred.
//
// One order per line on standard input, as JSON; one answer per line on standard output. See order and answer.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// order is what the program is told.
type order struct {
	// Do is one of open, send, watch, see, inform, informed.
	Do string `json:"do"`

	// For open: a kubeconfig, how many clients are made from it, and flags over it.
	Kubeconfig        string `json:"kubeconfig"`
	Count             int    `json:"count"`
	Token             string `json:"token"`
	Username          string `json:"username"`
	Password          string `json:"password"`
	ClientCertificate string `json:"clientCertificate"`
	ClientKey         string `json:"clientKey"`
	StdinUnavailable  bool   `json:"stdinUnavailable"`

	// For send: a request, and how often it is sent at once; the clients take turns.
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
	Times   int               `json:"times"`
	// Client is the number of the only client that shall send, counted from 1; 0 means all of them.
	Client int `json:"client"`

	// For see and informed: the name of an object, and how long to wait for it.
	Name   string `json:"name"`
	WaitMs int    `json:"waitMs"`
}

// answer is what it says to an order.
type answer struct {
	// Results has one entry per request.
	Results []result `json:"results,omitempty"`
	// Seen says whether everybody who waits has seen the object.
	Seen bool `json:"seen,omitempty"`
	// Error says why an order could not be followed.
	Error string `json:"error,omitempty"`
}

// result is what became of one request: a status or an error.
type result struct {
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	stage := newStage(context.Background())
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := answers.Encode(follow(stage, lines.Bytes())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func follow(stage *stage, line []byte) answer {
	var told order
	if err := json.Unmarshal(line, &told); err != nil {
		return answer{Error: err.Error()}
	}
	said, err := stage.do(told)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return said
}
