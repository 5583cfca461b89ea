package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
)

func TestEveryRequestCarriesTheSameRunnerOptions(t *testing.T) {
	s := modeltest.NewServer(t)
	opt := options(s.URL)
	opt.KeepAlive = 45 * time.Minute
	o := ready(t, opt)
	if _, _, err := collect(soon(t), o, fim("a", "b"), 7, "<|fim_pad|>", "\n\n"); err != nil {
		t.Fatal(err)
	}
	requests := s.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want a load, a canary and the completion", len(requests))
	}
	for _, r := range requests {
		var body map[string]any
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{"raw": true, "truncate": false, "shift": false, "keep_alive": "45m0s", "suffix": "", "system": "", "template": ""} {
			if !reflect.DeepEqual(body[key], want) {
				t.Errorf("request %d has %s = %v, want %v", r.ID, key, body[key], want)
			}
		}
		for _, runner := range []string{"num_batch", "num_gpu", "num_thread", "use_mmap", "main_gpu"} {
			if v, ok := r.Options[runner]; ok {
				t.Errorf("request %d sets %s = %v: all must or none", r.ID, runner, v)
			}
		}
		if r.NumCtx() != 2048 {
			t.Errorf("request %d has num_ctx %d", r.ID, r.NumCtx())
		}
		if r.Prompt != "" && r.NumPredict() <= 0 {
			t.Errorf("request %d has num_predict %d: Ollama takes that as without end", r.ID, r.NumPredict())
		}
	}
	last := requests[2]
	want := map[string]any{
		"num_ctx": 2048.0, "num_predict": 7.0, "temperature": 0.2, "top_p": 0.9, "repeat_penalty": 1.05, "seed": 1.0,
		"stop": []any{"<|fim_pad|>", "\n\n"},
	}
	if !reflect.DeepEqual(last.Options, want) {
		t.Errorf("options %v, want %v", last.Options, want)
	}
	if last.Prompt != fim("a", "b") {
		t.Errorf("prompt %q", last.Prompt)
	}
}

func TestEndsThatAreNoSuccess(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		kind   error
		says   string
	}{
		{"disconnect", modeltest.Answer{Pieces: []string{"a"}, Disconnect: true}, model.ErrBroken, "broke off"},
		{"disconnect before the first token", modeltest.Answer{Disconnect: true}, model.ErrBroken, "broke off"},
		{"no done", modeltest.Answer{Pieces: []string{"a"}, NoDone: true}, model.ErrBroken, "broke off"},
		{"an error line in a 200", modeltest.Answer{Pieces: []string{"a"}, ErrorLine: "an error was encountered while running the model"}, model.ErrServer, "while running the model"},
		{"queue full", modeltest.Answer{Status: 503, Message: "server busy, please try again.  maximum pending requests exceeded"}, model.ErrBusy, "queue is full"},
		{"crash", modeltest.Answer{Status: 500, Message: "llama runner process has terminated: exit status 2"}, model.ErrServer, "crashed"},
		{"memory", modeltest.Answer{Status: 500, Message: "model requires more system memory (9.1 GiB) than is available (4.0 GiB)"}, model.ErrServer, "choose a smaller model"},
		{"login", modeltest.Answer{Status: 401, Message: "unauthorized"}, model.ErrServer, "login"},
		{"bare status", modeltest.Answer{Status: 502}, model.ErrServer, "502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			o := ready(t, options(s.URL))
			s.Queue(c.answer)
			_, _, err := collect(soon(t), o, fim("a", ""), 5)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q with %q", err, c.kind, c.says)
			}
			// Whatever it was, the next one works without a user's help.
			eventually(t, "ready again", func() bool { return o.Ready() == nil })
			s.Queue(modeltest.Answer{Pieces: []string{"b"}})
			if text, _, err := collect(soon(t), o, fim("b", ""), 5); err != nil || text != "b" {
				t.Errorf("afterwards: %q, %v", text, err)
			}
		})
	}
}

func TestAModelThatRepeatsItselfEndsWithoutError(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	// Ollama passes a token and 30 repetitions on and closes without done.
	loop := make([]string, 31)
	for i := range loop {
		loop[i] = " x"
	}
	s.Queue(modeltest.Answer{Pieces: loop, NoDone: true})
	if text, _, err := collect(soon(t), o, fim("a", ""), 100); err != nil || strings.Count(text, "x") != 31 {
		t.Errorf("got %q, %v", text, err)
	}
	s.Queue(modeltest.Answer{Pieces: loop[:30], NoDone: true})
	if _, _, err := collect(soon(t), o, fim("a", ""), 100); !errors.Is(err, model.ErrBroken) {
		t.Errorf("one repetition less is a stream that broke off, got %v", err)
	}
}

func TestEmitStopsTheBackend(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	gate := make(chan struct{}, 2)
	gate <- struct{}{}
	gate <- struct{}{}
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: gate})
	got := ""
	_, err := o.Generate(soon(t), fim("a", ""), 5, nil, 0, func(p string, _ float64) bool { got += p; return len(got) < 2 })
	if err != nil || got != "ab" {
		t.Errorf("got %q, %v", got, err)
	}
	waitOutcome(t, s, fim("a", ""), modeltest.Cancelled)
}

func waitOutcome(t *testing.T, s *modeltest.Server, prompt string, want modeltest.Outcome) {
	t.Helper()
	err := s.Wait(soon(t), func(list []modeltest.Request) bool {
		for _, r := range list {
			if r.Prompt == prompt && r.Outcome == want {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("%q never was %s: %v", prompt, want, err)
	}
}

// asked is a Generate in the background.
type asked struct {
	text string
	err  error
	done chan struct{}
}

func ask(ctx context.Context, o *model.Runtime, prompt string) *asked {
	a := &asked{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.text, _, a.err = collect(ctx, o, prompt, 50)
	}()
	return a
}

func (a *asked) wait(t *testing.T) (string, error) {
	t.Helper()
	select {
	case <-a.done:
		return a.text, a.err
	case <-soon(t).Done():
		t.Fatal("Generate did not return")
		return "", nil
	}
}

func TestWhileAPromptIsReadNothingQueuesInOllama(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	hold, gate := make(chan struct{}), make(chan struct{}, 1)
	gate <- struct{}{}
	s.Script(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(r.Prompt, "cold") {
			return modeltest.Answer{Pieces: []string{"late", "later"}, Hold: hold, Gate: gate}
		}
		return modeltest.Answer{Pieces: []string{"answer"}}
	})

	ctx, cancel := context.WithCancel(t.Context())
	cold := ask(ctx, o, fim("cold", ""))
	waitOutcome(t, s, fim("cold", ""), modeltest.Running)
	cancel()
	if text, err := cold.wait(t); !errors.Is(err, context.Canceled) || text != "" {
		t.Errorf("cancelled while its prompt is read: %q, %v", text, err)
	}
	// What follows waits in quarry, and only the newest of it is ever sent.
	var superseded []*asked
	for i := range 5 {
		superseded = append(superseded, ask(t.Context(), o, fim(fmt.Sprint("key", i), "")))
		eventually(t, "it queues in quarry", func() bool { return o.Metrics().Waiting == 1 })
		if i > 0 {
			if _, err := superseded[i-1].wait(t); !errors.Is(err, model.ErrSuperseded) || !errors.Is(err, context.Canceled) {
				t.Errorf("superseded while it waits: %v", err)
			}
		}
	}
	free := time.Now()
	close(hold)
	if text, err := superseded[4].wait(t); err != nil || text != "answer" {
		t.Errorf("the newest: %q, %v", text, err)
	}
	waitOutcome(t, s, fim("cold", ""), modeltest.Cancelled)
	for _, r := range s.Prompts() {
		if strings.Contains(r.Prompt, "key") && (r.Prompt != fim("key4", "") || r.Started.Before(free)) {
			t.Errorf("Ollama was asked %q at %v, and was free at %v", r.Prompt, r.Started, free)
		}
	}
	if m := o.Metrics(); m.Stopped != 1 || m.NotSent != 4 || m.Sent != 2 {
		t.Errorf("metrics %+v", m)
	}
}

func TestTheNewestEndsTheStreamThatRuns(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b"}, Gate: gate}, modeltest.Answer{Pieces: []string{"new"}})
	old := ask(t.Context(), o, fim("old", ""))
	if err := s.Wait(soon(t), func(l []modeltest.Request) bool { return l[len(l)-1].Sent == "a" }); err != nil {
		t.Fatal(err)
	}
	newer := ask(t.Context(), o, fim("newer", ""))
	if _, err := old.wait(t); !errors.Is(err, model.ErrSuperseded) {
		t.Errorf("the older: %v", err)
	}
	if text, err := newer.wait(t); err != nil || text != "new" {
		t.Errorf("the newer: %q, %v", text, err)
	}
	waitOutcome(t, s, fim("old", ""), modeltest.Cancelled)
}

func TestAlternativesOfOnePromptQueue(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{fmt.Sprint(r.Options["seed"], " ", r.Options["temperature"])}}
	})
	var wg sync.WaitGroup
	texts := make([]string, 3)
	for n := range texts {
		wg.Go(func() {
			_, err := o.Generate(soon(t), fim("same", ""), 5, nil, n, func(p string, _ float64) bool { texts[n] += p; return true })
			if err != nil {
				t.Errorf("sample %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	if want := []string{"1 0.2", "2 0.4", "3 0.6000000000000001"}; !reflect.DeepEqual(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	if n := s.MaxQueued(); n != 0 {
		t.Errorf("%d requests queued in Ollama", n)
	}
}

func TestAStuckServerIsAbandoned(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	defer close(hold)
	s.Queue(modeltest.Answer{Hold: hold})
	ctx, cancel := context.WithCancel(t.Context())
	stuck := ask(ctx, o, fim("stuck", ""))
	waitOutcome(t, s, fim("stuck", ""), modeltest.Running)
	cancel()
	if _, err := stuck.wait(t); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	eventually(t, "a timer of two minutes", func() bool { return clock.due(2 * time.Minute) })
	next := ask(t.Context(), o, fim("next", ""))
	clock.advance(2 * time.Minute)
	// The fake is still at it, as a stuck Ollama would be; quarry asks anyway.
	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	if m := o.Metrics(); m.Sent != 2 || m.Stopped != 1 {
		t.Errorf("metrics %+v", m)
	}
	o.Close()
	if _, err := next.wait(t); !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
}

func TestAFloodIsAnsweredOnceEachAndNeverQueues(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"a", "b", "c"}}
	})
	rng := rand.New(rand.NewPCG(1, 2))
	var wg sync.WaitGroup
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		if rng.IntN(3) == 0 {
			cancel()
		}
		pieces := rng.IntN(5)
		wg.Go(func() {
			defer cancel()
			n := 0
			_, err := o.Generate(ctx, fim(fmt.Sprint(i), ""), 5, nil, 0, func(string, float64) bool { n++; return n < pieces })
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if text, _, err := collect(soon(t), o, fim("last", ""), 5); err != nil || text != "abc" {
		t.Errorf("after the flood: %q, %v", text, err)
	}
	// A request that was stopped while tokens flow may still be ending on the
	// server when the next one arrives.
	if n := s.MaxQueued(); n > 1 {
		t.Errorf("%d requests queued in Ollama", n)
	}
}
