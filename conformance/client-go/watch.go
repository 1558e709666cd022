package main

import (
	"bufio"
	"net/http"
	"strings"
	"sync"
	"time"
)

const unlessToldMs = 10_000

// watch is an open watch and the events that it has received.
type watch struct {
	mutex   sync.Mutex
	changed *sync.Cond
	lines   []string
	ended   bool
}

// watch opens a watch, and waits for the first event.
func (s *stage) watch(cmd order) (answer, error) {
	clients, err := s.chosen(cmd)
	if err != nil {
		return answer{}, err
	}
	response, err := s.begin(clients[0], cmd)
	if err != nil {
		return answer{Results: []result{{Error: err.Error()}}}, nil
	}
	if response.StatusCode == http.StatusOK {
		opened := &watch{}
		opened.changed = sync.NewCond(&opened.mutex)
		go opened.read(response)
		s.watches = append(s.watches, opened)
		opened.until(unlessToldMs, func() bool { return len(opened.lines) > 0 })
	} else {
		response.Body.Close()
	}
	return answer{Results: []result{{Status: response.StatusCode}}}, nil
}

// see waits until every watch has received an object.
func (s *stage) see(cmd order) (answer, error) {
	for _, opened := range s.watches {
		hasName := func() bool { return strings.Contains(strings.Join(opened.lines, "\n"), cmd.Name) }
		if !opened.until(cmd.WaitMs, hasName) {
			return answer{}, nil
		}
	}
	return answer{Seen: true}, nil
}

func (w *watch) read(response *http.Response) {
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		w.change(func() { w.lines = append(w.lines, lines.Text()) })
	}
	w.change(func() { w.ended = true })
}

func (w *watch) change(how func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	how()
	w.changed.Broadcast()
}

// until waits for a condition; false if the watch has ended or the time is over.
func (w *watch) until(waitMs int, isSo func() bool) bool {
	isLate := false
	timer := time.AfterFunc(patience(waitMs), func() { w.change(func() { isLate = true }) })
	defer timer.Stop()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for !isSo() {
		if w.ended || isLate {
			return false
		}
		w.changed.Wait()
	}
	return true
}

func patience(waitMs int) time.Duration {
	if waitMs == 0 {
		waitMs = unlessToldMs
	}
	return time.Duration(waitMs) * time.Millisecond
}
