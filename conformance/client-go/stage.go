package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// stage is everything that the orders of one run work with.
type stage struct {
	ctx       context.Context
	clients   []client
	watches   []*watch
	informers []*informer
}

// client is one connection to a server, as a program would make it.
type client struct {
	config *rest.Config
	http   *http.Client
}

func newStage(ctx context.Context) *stage {
	return &stage{ctx: ctx}
}

func (s *stage) do(told order) (answer, error) {
	switch told.Do {
	case "open":
		return answer{}, s.open(told)
	case "send":
		return s.send(told)
	case "watch":
		return s.watch(told)
	case "see":
		return s.see(told)
	case "inform":
		return s.inform(told)
	case "informed":
		return s.informed(told)
	}
	return answer{}, fmt.Errorf("unknown order %q", told.Do)
}

// open reads a kubeconfig as kubectl does and makes clients from it.
func (s *stage) open(told order) error {
	for range max(told.Count, 1) {
		config, err := load(told)
		if err != nil {
			return err
		}
		// What is compared is credentials, and not how fast client-go thinks that one should go.
		config.QPS = -1
		if config.ExecProvider != nil {
			config.ExecProvider.StdinUnavailable = told.StdinUnavailable
		}
		made, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		s.clients = append(s.clients, client{config, made})
	}
	return nil
}

func load(told order) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: told.Kubeconfig}
	flags := &clientcmd.ConfigOverrides{AuthInfo: api.AuthInfo{
		Token:             told.Token,
		Username:          told.Username,
		Password:          told.Password,
		ClientCertificate: told.ClientCertificate,
		ClientKey:         told.ClientKey,
	}}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, flags).ClientConfig()
}

// send sends a request as often as it is told, all at once.
func (s *stage) send(told order) (answer, error) {
	clients, err := s.chosen(told)
	if err != nil {
		return answer{}, err
	}
	results := make([]result, max(told.Times, 1))
	var sending sync.WaitGroup
	for nth := range results {
		sending.Go(func() { results[nth] = s.request(clients[nth%len(clients)], told) })
	}
	sending.Wait()
	return answer{Results: results}, nil
}

func (s *stage) chosen(told order) ([]client, error) {
	if len(s.clients) == 0 || told.Client > len(s.clients) {
		return nil, fmt.Errorf("there is no such client")
	}
	if told.Client > 0 {
		return s.clients[told.Client-1 : told.Client], nil
	}
	return s.clients, nil
}

func (s *stage) request(from client, told order) result {
	response, err := s.begin(from, told)
	if err != nil {
		return result{Error: err.Error()}
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return result{Error: err.Error()}
	}
	return result{Status: response.StatusCode}
}

func (s *stage) begin(from client, told order) (*http.Response, error) {
	method := told.Method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(s.ctx, method, from.config.Host+told.Path, strings.NewReader(told.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range told.Headers {
		request.Header.Set(name, value)
	}
	return from.http.Do(request)
}
