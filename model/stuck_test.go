package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// cancelled asks for a completion and cancels it after its first token.
func cancelled(t *testing.T, o *model.Runtime, prompt string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := o.Generate(ctx, prompt, 50, nil, 0, func(string, float64) bool { cancel(); return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// onePiece lets one piece of an answer through.
func onePiece() chan struct{} {
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	return gate
}

func TestAServerThatGotStuckIsRepaired(t *testing.T) {
	s, clock, o := stopped(t)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece(), GetStuck: true}, modeltest.Answer{Pieces: []string{"next"}})
	cancelled(t, o, fim("first", ""))
	waitOutcome(t, s, fim("first", ""), modeltest.Cancelled)

	next := ask(t.Context(), o, fim("first", ""))
	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its patience ends", func() bool { return clock.due(5 * time.Second) }) // nothing of the prompt is new
	clock.advance(5 * time.Second)
	if text, err := next.wait(t); err != nil || text != "next" {
		t.Errorf("after the repair: %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 1 || s.Loads() != 2 {
		t.Errorf("repaired %d times with %d loads", m.Unstuck, s.Loads())
	}
}

func TestABusyServerIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"late"}, Hold: hold})
	slow := ask(t.Context(), o, fim("slow", "")) // no request was cut off before
	waitOutcome(t, s, fim("slow", ""), modeltest.Running)
	clock.advance(time.Minute)
	close(hold)
	if text, err := slow.wait(t); err != nil || text != "late" {
		t.Errorf("got %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 0 || s.Loads() != 1 {
		t.Errorf("repaired %d times with %d loads", m.Unstuck, s.Loads())
	}
}

func TestAModelThatWasUnloadedMeanwhileIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()}, modeltest.Answer{Pieces: []string{"cold"}, Hold: hold})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)
	clock.advance(31 * time.Minute)
	next := ask(t.Context(), o, fim("x", "y"))
	waitOutcome(t, s, fim("x", "y"), modeltest.Running)
	clock.advance(time.Minute)
	close(hold)
	if text, err := next.wait(t); err != nil || text != "cold" {
		t.Errorf("got %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 0 || m.Last.SharedBytes != 0 {
		t.Errorf("repaired %d times; %d bytes are said to be in the cache", m.Unstuck, m.Last.SharedBytes)
	}
}

func TestARepairIsTriedOnce(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	defer close(hold)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece(), GetStuck: true})
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Hold: hold} })
	cancelled(t, o, fim("first", ""))
	waitOutcome(t, s, fim("first", ""), modeltest.Cancelled)
	next := ask(t.Context(), o, fim("second", ""))
	eventually(t, "Generate gives up, or goes on", func() bool {
		clock.advance(time.Second)
		select {
		case <-next.done:
			return true
		default:
			return o.Metrics().Unstuck == 1 && len(s.Prompts()) >= 3
		}
	})
	// It was repaired, and is held now for a reason that another load would not
	// change: it waits.
	if m := o.Metrics(); m.Unstuck != 1 {
		t.Errorf("repaired %d times", m.Unstuck)
	}
}

func TestTheLastTokenIsNotCutOff(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}})
	got := ""
	_, err := o.Generate(soon(t), fim("x", ""), 3, nil, 0, func(p string, _ float64) bool { got += p; return len(got) < 2 })
	if err != nil || got != "ab" {
		t.Errorf("got %q, %v", got, err)
	}
	waitOutcome(t, s, fim("x", ""), modeltest.Finished)
}

// fastClock waits a fifth of the time: this model is fast too.
type fastClock struct{}

func (fastClock) Now() time.Time                         { return time.Now() }
func (fastClock) After(d time.Duration) <-chan time.Time { return time.After(d / 5) }

// Cancelling is what gets the real one stuck, sooner on a busy machine. Whether
// it happens here or not, every answer must come.
func TestRealCancelsDoNotEndInSilence(t *testing.T) {
	s := ollamatest.Start(t)
	opt := options(s.URL)
	opt.Clock = fastClock{}
	o := ready(t, opt)
	for i := range 60 {
		cancelled(t, o, fim(fmt.Sprint(i), ""))
	}
	text, _, err := collect(soon(t), o, fim("last", ""), 20)
	if err != nil || len(text) < 10 {
		t.Errorf("after 60 cancels: %q, %v", text, err)
	}
	t.Logf("Ollama got stuck %d times in 60 cancels", o.Metrics().Unstuck)
	if aborted := s.AbortedLoads(); aborted != 0 || strings.Contains(text, "<|") {
		t.Errorf("%d loads thrown away, answer %q", aborted, text)
	}
}
