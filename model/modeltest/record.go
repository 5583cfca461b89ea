package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Outcome is how far a request came.
type Outcome string

const (
	Running   Outcome = "running"
	Finished  Outcome = "finished"  // all of the script was sent
	Cancelled Outcome = "cancelled" // the client went away first
	Failed    Outcome = "failed"    // answered with an HTTP error
)

// Request is one POST as it was seen: to /api/generate, /api/embed,
// /v1/completions, /v1/embeddings or /infill.
type Request struct {
	// ID counts from 1 in order of arrival.
	ID     int
	Path   string
	Body   []byte
	Model  string
	Prompt string
	Raw    bool
	// Texts are what an embed request asks vectors for; none only loads.
	Texts   []string
	Options map[string]any
	Started time.Time
	// Ended is zero while the request runs.
	Ended   time.Time
	Outcome Outcome
	// Sent is the text streamed so far.
	Sent string
}

// NumCtx is the context length asked for; 4096, Ollama's own default, if none.
func (r Request) NumCtx() int {
	if n, ok := r.Options["num_ctx"].(float64); ok {
		return int(n)
	}
	return 4096
}

// NumPredict is the token limit asked for; 0 if none.
func (r Request) NumPredict() int {
	n, _ := r.Options["num_predict"].(float64)
	return int(n)
}

// Stop are the stop strings asked for.
func (r Request) Stop() []string {
	list, _ := r.Options["stop"].([]any)
	var stop []string
	for _, v := range list {
		if text, ok := v.(string); ok && text != "" {
			stop = append(stop, text)
		}
	}
	return stop
}

type record struct {
	Request
	body generateBody
}

// begin records a request. It reads the whole body, without which net/http does
// not notice a client that goes away.
func (s *Server) begin(r *http.Request) (*record, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	rec := &record{}
	if err := json.Unmarshal(data, &rec.body); err != nil {
		return nil, err
	}
	rec.Request = Request{
		Path: r.URL.Path, Body: data, Model: rec.body.Model, Prompt: rec.body.Prompt, Raw: rec.body.Raw, Texts: texts(rec.body.Input),
		Options: rec.body.Options, Started: time.Now(), Outcome: Running,
	}
	switch {
	case r.URL.Path == "/infill":
		err = rec.splitInfill()
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		err = rec.neutral()
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, rec)
	rec.ID = len(s.log)
	s.notify()
	return rec, nil
}

func (s *Server) sent(rec *record, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec.Sent += text
	s.notify()
}

func (s *Server) end(rec *record, o Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec.Outcome, rec.Ended = o, time.Now()
	s.notify()
}

// notify wakes every Wait. The caller holds mu.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Requests is every request so far, in order of arrival, loads included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

// Prompts is Requests without embeddings and those that only load the model.
func (s *Server) Prompts() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Prompt == "" })
}

// Wait returns once cond holds for the requests so far. It is asked again after
// every arrival, piece and end.
func (s *Server) Wait(ctx context.Context, cond func([]Request) bool) error {
	for {
		s.mu.Lock()
		log, changed := s.snapshot(), s.changed
		s.mu.Unlock()
		if cond(log) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the fake Ollama: %w; it saw %d requests", ctx.Err(), len(log))
		}
	}
}

func (s *Server) snapshot() []Request {
	list := make([]Request, len(s.log))
	for i, rec := range s.log {
		list[i] = rec.Request
	}
	return list
}
