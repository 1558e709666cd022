// Command client-go runs commands with client-go, so that a test can compare it with kubecred.
//
// It reads one order per line from standard input, as JSON, and writes one answer per line to standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// order is a command for the program.
type order struct {
	// Do is one of open, send, watch, see, inform, informed.
	Do string `json:"do"`

	// For open: a kubeconfig, the number of clients to create from it, and flags that override it.
	Kubeconfig        string `json:"kubeconfig"`
	Count             int    `json:"count"`
	Token             string `json:"token"`
	Username          string `json:"username"`
	Password          string `json:"password"`
	ClientCertificate string `json:"clientCertificate"`
	ClientKey         string `json:"clientKey"`
	StdinUnavailable  bool   `json:"stdinUnavailable"`

	// For send: a request, and how many times to send it concurrently; the clients take turns.
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
	Times   int               `json:"times"`
	// Client is the number of the client that sends, counted from 1; 0 means all of them.
	Client int `json:"client"`

	// For see and informed: the name of an object, and how long to wait for it.
	Name   string `json:"name"`
	WaitMs int    `json:"waitMs"`
}

// answer is the result of an order.
type answer struct {
	// Results has one entry per request.
	Results []result `json:"results,omitempty"`
	// Seen is whether every watch or informer has received the object.
	Seen bool `json:"seen,omitempty"`
	// Error is why an order failed.
	Error string `json:"error,omitempty"`
}

// result is the status or the error of one request.
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
	var cmd order
	if err := json.Unmarshal(line, &cmd); err != nil {
		return answer{Error: err.Error()}
	}
	said, err := stage.do(cmd)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return said
}
