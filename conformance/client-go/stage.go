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

// stage is the state that the orders of one run share.
type stage struct {
	ctx       context.Context
	clients   []client
	watches   []*watch
	informers []*informer
}

// client is a client for one server, created as by a program.
type client struct {
	config *rest.Config
	http   *http.Client
}

func newStage(ctx context.Context) *stage {
	return &stage{ctx: ctx}
}

func (s *stage) do(cmd order) (answer, error) {
	switch cmd.Do {
	case "open":
		return answer{}, s.open(cmd)
	case "send":
		return s.send(cmd)
	case "watch":
		return s.watch(cmd)
	case "see":
		return s.see(cmd)
	case "inform":
		return s.inform(cmd)
	case "informed":
		return s.informed(cmd)
	}
	return answer{}, fmt.Errorf("unknown order %q", cmd.Do)
}

// open loads a kubeconfig as kubectl does and creates clients from it.
func (s *stage) open(cmd order) error {
	for range max(cmd.Count, 1) {
		config, err := load(cmd)
		if err != nil {
			return err
		}
		// Without client-side rate limiting: only credentials are compared.
		config.QPS = -1
		if config.ExecProvider != nil {
			config.ExecProvider.StdinUnavailable = cmd.StdinUnavailable
		}
		made, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		s.clients = append(s.clients, client{config, made})
	}
	return nil
}

func load(cmd order) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: cmd.Kubeconfig}
	flags := &clientcmd.ConfigOverrides{AuthInfo: api.AuthInfo{
		Token:             cmd.Token,
		Username:          cmd.Username,
		Password:          cmd.Password,
		ClientCertificate: cmd.ClientCertificate,
		ClientKey:         cmd.ClientKey,
	}}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, flags).ClientConfig()
}

// send sends a request several times concurrently.
func (s *stage) send(cmd order) (answer, error) {
	clients, err := s.chosen(cmd)
	if err != nil {
		return answer{}, err
	}
	results := make([]result, max(cmd.Times, 1))
	var sending sync.WaitGroup
	for nth := range results {
		sending.Go(func() { results[nth] = s.request(clients[nth%len(clients)], cmd) })
	}
	sending.Wait()
	return answer{Results: results}, nil
}

func (s *stage) chosen(cmd order) ([]client, error) {
	if len(s.clients) == 0 || cmd.Client > len(s.clients) {
		return nil, fmt.Errorf("there is no such client")
	}
	if cmd.Client > 0 {
		return s.clients[cmd.Client-1 : cmd.Client], nil
	}
	return s.clients, nil
}

func (s *stage) request(from client, cmd order) result {
	response, err := s.begin(from, cmd)
	if err != nil {
		return result{Error: err.Error()}
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return result{Error: err.Error()}
	}
	return result{Status: response.StatusCode}
}

func (s *stage) begin(from client, cmd order) (*http.Response, error) {
	method := cmd.Method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(s.ctx, method, from.config.Host+cmd.Path, strings.NewReader(cmd.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range cmd.Headers {
		request.Header.Set(name, value)
	}
	return from.http.Do(request)
}
