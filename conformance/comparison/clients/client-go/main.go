// Command client-go follows the orders of ../follow-orders.mjs with client-go: one per line on standard input, one answer
// per line on standard output, both JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const lookEvery = 25 * time.Millisecond

type order struct {
	Do         string  `json:"do"`
	Kubeconfig string  `json:"kubeconfig"`
	Times      int     `json:"times"`
	WaitMs     int     `json:"waitMs"`
	Workers    int     `json:"workers"`
	Ms         int     `json:"ms"`
	SlowMs     float64 `json:"slowMs"`
	Kind       string  `json:"kind"`
	Name       string  `json:"name"`
}

type answer struct {
	Results  []result `json:"results,omitempty"`
	Requests int      `json:"requests"`
	Failed   int      `json:"failed"`
	Slow     int      `json:"slow"`
	Seen     bool     `json:"seen"`
	Open     bool     `json:"open"`
	Error    string   `json:"error,omitempty"`
}

type result struct {
	Status  int     `json:"status,omitempty"`
	Error   string  `json:"error,omitempty"`
	Waiting bool    `json:"waiting,omitempty"`
	Ms      float64 `json:"ms"`
}

// client lists namespaces, and keeps the names that a watch or an informer reported.
type client struct {
	namespaces dynamic.NamespaceableResourceInterface
	mutex      sync.Mutex
	names      map[string]bool
	ended      bool
}

func main() {
	client := &client{names: map[string]bool{}}
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given order
		said, err := answer{}, json.Unmarshal(lines.Bytes(), &given)
		if err == nil {
			said, err = client.do(given)
		}
		if err != nil {
			said.Error = err.Error()
		}
		if err := answers.Encode(said); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func (c *client) do(given order) (answer, error) {
	switch given.Do {
	case "open":
		return answer{}, c.open(given.Kubeconfig)
	case "send":
		return answer{Results: c.send(given.Times, milliseconds(given.WaitMs))}, nil
	case "load":
		return c.load(given), nil
	case "follow":
		return answer{}, c.follow(given.Kind)
	case "saw":
		return c.saw(given.Name, milliseconds(given.WaitMs)), nil
	}
	return answer{}, fmt.Errorf("unknown order %q", given.Do)
}

func (c *client) open(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// Without its own limit of five requests per second, which the other clients do not have.
	config.QPS = -1
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	c.namespaces = api.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	return nil
}

func (c *client) attempt() result {
	begin := time.Now()
	said := result{Status: 200}
	if c.namespaces == nil {
		return result{Error: "no client was made"}
	}
	if _, err := c.namespaces.List(context.Background(), metav1.ListOptions{}); err != nil {
		said = result{Error: err.Error()}
		var status apierrors.APIStatus
		if errors.As(err, &status) && status.Status().Code != 0 {
			said = result{Status: int(status.Status().Code)}
		}
	}
	said.Ms = float64(time.Since(begin)) / float64(time.Millisecond)
	return said
}

func (c *client) send(times int, wait time.Duration) []result {
	results := make([]result, times)
	var sending sync.WaitGroup
	for nth := range results {
		sending.Go(func() {
			said := make(chan result, 1)
			go func() { said <- c.attempt() }()
			select {
			case results[nth] = <-said:
			case <-time.After(wait):
				results[nth] = result{Waiting: true, Ms: float64(wait.Milliseconds())}
			}
		})
	}
	sending.Wait()
	return results
}

func (c *client) load(given order) answer {
	begin, said := time.Now(), answer{}
	var working sync.WaitGroup
	for range given.Workers {
		working.Go(func() {
			for time.Since(begin) < milliseconds(given.Ms) {
				one := c.attempt()
				c.mutex.Lock()
				said.Requests++
				if one.Status != 200 {
					said.Failed++
				}
				if one.Ms > given.SlowMs {
					said.Slow++
				}
				c.mutex.Unlock()
			}
		})
	}
	working.Wait()
	return said
}

func (c *client) follow(kind string) error {
	if kind == "informer" {
		informer := cache.NewSharedIndexInformer(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return c.namespaces.List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return c.namespaces.Watch(ctx, options)
			},
		}, &unstructured.Unstructured{}, 0, cache.Indexers{})
		add := func(object any) { c.add(object.(*unstructured.Unstructured).GetName()) }
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add}); err != nil {
			return err
		}
		go informer.RunWithContext(context.Background())
		return nil
	}
	opened, err := c.namespaces.Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	go func() {
		for event := range opened.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok {
				c.add(object.GetName())
			}
		}
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.ended = true
	}()
	return nil
}

func (c *client) add(name string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.names[name] = true
}

func (c *client) saw(name string, wait time.Duration) answer {
	for limit := time.Now().Add(wait); ; time.Sleep(lookEvery) {
		c.mutex.Lock()
		said := answer{Seen: c.names[name], Open: !c.ended}
		c.mutex.Unlock()
		if said.Seen || time.Now().After(limit) {
			return said
		}
	}
}

func milliseconds(count int) time.Duration {
	return time.Duration(count) * time.Millisecond
}
