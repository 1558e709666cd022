// Command client-go sends requests with client-go, for client-go/start.mjs. Each line on standard input starts a round:
// its path, its number of workers and its duration. Each line on standard output is the result of a round.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// round is the result of one round.
type round struct {
	Requests int64   `json:"requests"`
	Seconds  float64 `json:"seconds"`
	// CPU is the CPU time of this process, in seconds.
	CPU float64 `json:"cpu"`
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	exitOn(err)
	// Without client-side rate limiting.
	config.QPS = -1
	if os.Args[2] == "http1" {
		config.NextProtos = []string{"http/1.1"}
	}
	client, err := rest.HTTPClientFor(config)
	exitOn(err)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var path string
		var workers, milliseconds int
		_, err := fmt.Sscan(lines.Text(), &path, &workers, &milliseconds)
		exitOn(err)
		said, err := json.Marshal(load(client, config.Host+path, workers, time.Duration(milliseconds)*time.Millisecond))
		exitOn(err)
		fmt.Println(string(said))
	}
}

// load runs workers that send one request after the other and decode each response as JSON.
func load(client *http.Client, url string, workers int, length time.Duration) round {
	begin, before := time.Now(), used()
	var count atomic.Int64
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for time.Since(begin) < length {
				request(client, url)
				count.Add(1)
			}
		})
	}
	working.Wait()
	return round{count.Load(), time.Since(begin).Seconds(), used() - before}
}

// request can be cancelled, as most requests of a controller can.
func request(client *http.Client, url string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	exitOn(err)
	response, err := client.Do(request)
	exitOn(err)
	defer response.Body.Close()
	var body any
	exitOn(json.NewDecoder(response.Body).Decode(&body))
	if response.StatusCode != http.StatusOK {
		exitOn(fmt.Errorf("unexpected status %d", response.StatusCode))
	}
}

func used() float64 {
	var usage syscall.Rusage
	exitOn(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
