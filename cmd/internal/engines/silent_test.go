package engines

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/modeltest"
)

// pending is a clock on which a wait is over when the test says so.
type pending struct {
	mu    sync.Mutex
	waits map[time.Duration][]chan time.Time // guarded by mu
}

func (p *pending) Now() time.Time { return time.Unix(1_800_000_000, 0) }

func (p *pending) After(d time.Duration) <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := make(chan time.Time, 1)
	p.waits[d] = append(p.waits[d], c)
	return c
}

// over ends the waits of a length, and answers whether there were any.
func (p *pending) over(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.waits[d]
	delete(p.waits, d)
	for _, c := range list {
		c <- p.Now()
	}
	return len(list) > 0
}

// An editor with a server that lists its models and answers no prompt says so with what to do, takes it once it answers, and
// warns while it sends requests away.
func TestStatusOfASilentAndOfAFullServer(t *testing.T) {
	fake, hold := modeltest.NewServer(t), make(chan struct{})
	fake.SetModels(modeltest.Model{Name: "team"})
	fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Hold: hold} })
	s := settings.Default()
	s.Ollama.API, s.Ollama.URL, s.Model, s.Embedding.Model = "openai", fake.URL, "team", ""
	messages, clock := &told{}, &pending{waits: map[time.Duration][]chan time.Time{}}
	c := New(lsp.Start{
		Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Clock: clock, Machine: Machine{
		Resident: func() int64 { return 1e8 }, Free: func() int64 { return 9e9 }, OnBattery: func() bool { return false },
	}})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	until := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%s: %+v", what, c.StatusNote(t.Context()))
			}
		}
	}
	until("it is asked", func() bool { return clock.over(30 * time.Second) })
	until("it is silent", func() bool { return c.StatusNote(t.Context()).Model.State == lsp.ModelNone })
	if m := c.StatusNote(t.Context()).Model; !strings.Contains(m.Reason, "does not answer requests: restart it (") {
		t.Errorf("%+v", m)
	}
	until("the user is told", func() bool { return messages.about("does not answer requests: restart it") == 1 })
	fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"a"}} })
	c.lookAgain()
	until("it answers", func() bool { return c.StatusNote(t.Context()).Model.State == lsp.ModelReady })

	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "3600"}
	})
	ask := func() error {
		e := c.acquire()
		defer e.calls.Done()
		_, err := e.runtime.Generate(t.Context(), "a", 4, nil, 0, func(string, float64) bool { return true })
		return err
	}
	for n := 1; n <= 3; n++ {
		if err := ask(); err == nil {
			t.Fatal("it answers")
		}
		note := c.StatusNote(t.Context())
		of, _ := c.EngineStatus()
		if full := note.Model.Full; full != (note.Model.Why == "server full") || note.Model.State != lsp.ModelReady || full != (n == 3) || full != strings.Contains(note.Model.Reason, "is busy: wait, quarry goes on asking (") || full != (of.Problem == note.Model.Reason && of.Problem != "") || of.Phase != string(model.Ready) {
			t.Errorf("after %d: %+v, %+v", n, note.Model, of)
		}
	}
	fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"a"}} })
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	if m := c.StatusNote(t.Context()).Model; m.State != lsp.ModelReady || m.Full || m.Reason != "" {
		t.Errorf("after an answer: %+v", m)
	}
}
