package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

const lookEvery = 50 * time.Millisecond

// informer keeps the namespaces of a cluster, as controllers do.
type informer struct {
	shared cache.SharedIndexInformer
}

// inform starts an informer, and waits until it has its first list.
func (s *stage) inform(cmd order) (answer, error) {
	clients, err := s.chosen(cmd)
	if err != nil {
		return answer{}, err
	}
	api, err := dynamic.NewForConfig(clients[0].config)
	if err != nil {
		return answer{}, err
	}
	namespaces := api.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	shared := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return namespaces.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			return namespaces.Watch(ctx, options)
		},
	}, &unstructured.Unstructured{}, 0, cache.Indexers{})
	go shared.RunWithContext(s.ctx)
	s.informers = append(s.informers, &informer{shared})
	return answer{Seen: s.until(cmd.WaitMs, shared.HasSynced)}, nil
}

// informed waits until every informer has received an object.
func (s *stage) informed(cmd order) (answer, error) {
	seen := s.until(cmd.WaitMs, func() bool {
		for _, each := range s.informers {
			if _, exists, err := each.shared.GetStore().GetByKey(cmd.Name); err != nil || !exists {
				return false
			}
		}
		return true
	})
	return answer{Seen: seen}, nil
}

func (s *stage) until(waitMs int, isSo func() bool) bool {
	limit := time.Now().Add(patience(waitMs))
	for !isSo() {
		if time.Now().After(limit) {
			return false
		}
		time.Sleep(lookEvery)
	}
	return true
}
