// Command client-go sends requests with client-go, for the benchmark client-go.mjs. Each line on standard input starts a
// round with its duration; each line on standard output is the result of a round.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
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
	kubeconfig, path := os.Args[1], os.Args[2]
	workers, err := strconv.Atoi(os.Args[3])
	exitOn(err)
	milliseconds, err := strconv.Atoi(os.Args[4])
	exitOn(err)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	exitOn(err)
	// Without client-side rate limiting.
	config.QPS = -1
	client, err := rest.HTTPClientFor(config)
	exitOn(err)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
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

func request(client *http.Client, url string) {
	response, err := client.Get(url)
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
