package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
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
	losePatience(t, s, clock)
	if text, err := next.wait(t); err != nil || text != "next" {
		t.Errorf("after the repair: %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 1 || s.Loads() != 2 {
		t.Errorf("repaired %d times with %d loads", m.Unstuck, s.Loads())
	}
}

// A model that got stuck with the first request since it was loaded, before it has ended any.
func TestAModelThatGotStuckAtOnceIsRepaired(t *testing.T) {
	s, clock, o := stopped(t)
	s.Unload() // by another program; the next request has it loaded
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece(), GetStuck: true, Late: true}, modeltest.Answer{Pieces: []string{"next"}})
	cancelled(t, o, fim("first", ""))
	next := ask(t.Context(), o, fim("first", ""))
	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	losePatience(t, s, clock) // it may be on its way into memory, and must read the whole prompt then
	eventually(t, "the repair", func() bool {
		clock.advance(time.Second)
		return o.Metrics().Unstuck == 1
	})
	if text, err := next.wait(t); err != nil || text != "next" {
		t.Errorf("after the repair: %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 1 || s.Loads() != 3 {
		t.Errorf("repaired %d times with %d loads", m.Unstuck, s.Loads())
	}
}

// losePatience moves the clock over the 5 s for which a request waits that has
// nothing new in its prompt: the server is looked at in their middle and at
// their end.
func losePatience(t *testing.T, s *modeltest.Server, clock *manualClock) {
	t.Helper()
	for range 2 {
		eventually(t, "half of its patience ends", func() bool { return clock.due(2500 * time.Millisecond) })
		clock.advance(2500 * time.Millisecond)
	}
}

// Another program had the model dropped from memory after a request was cut off.
// The next one waits for the load and is told; unloading the model once more
// would only double the wait.
func TestAModelThatIsLoadedAgainIsNotTakenForStuck(t *testing.T) {
	s := modeltest.NewServer(t)
	clock, seen := newManualClock(), newStates()
	opt := options(s.URL)
	opt.Clock, opt.OnChange = clock, seen.add
	o := ready(t, opt)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()}, modeltest.Answer{Pieces: []string{"after the load"}})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)

	s.Unload()
	load := make(chan struct{})
	s.HoldLoads(load)
	reports := len(seen.phases())
	next := ask(t.Context(), o, fim("x", ""))
	eventually(t, "the load begins", func() bool { return s.Loads() == 2 })
	losePatience(t, s, clock)
	st := seen.wait(t, reports, model.Loading)
	clock.advance(time.Minute) // a load takes as long as it takes
	if !errors.Is(st.Err, model.ErrLoading) || !strings.Contains(st.Err.Error(), "again") || !strings.Contains(st.Err.Error(), "OLLAMA_MAX_LOADED_MODELS") {
		t.Errorf("the user reads %q", st.Err)
	}
	if _, _, err := collect(soon(t), o, fim("meanwhile", ""), 5); !errors.Is(err, model.ErrLoading) {
		t.Errorf("who asks meanwhile is told %v", err)
	}
	close(load)
	if text, err := next.wait(t); err != nil || text != "after the load" {
		t.Errorf("got %q, %v", text, err)
	}
	seen.wait(t, reports, model.Ready)
	if m := o.Metrics(); m.Unstuck != 0 || s.Loads() != 2 {
		t.Errorf("repaired %d times with %d loads; want none and 2", m.Unstuck, s.Loads())
	}
}

// The same model with another context length is another program's: Ollama waits
// for that one's answer before it loads the model anew.
func TestAModelThatAnotherUsesIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	hold, begun := make(chan struct{}), make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()})
	s.Script(func(r modeltest.Request) modeltest.Answer {
		switch r.Prompt {
		case fim("theirs", ""):
			close(begun) // it has the model's only place
			return modeltest.Answer{Pieces: []string{"theirs"}, Hold: hold}
		case fim("x", ""):
			return modeltest.Answer{Pieces: []string{"ours"}}
		}
		return modeltest.Answer{}
	})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)
	opt := options(s.URL)
	opt.NumCtx = 1024
	other := ready(t, opt)
	theirs := ask(t.Context(), other, fim("theirs", ""))
	select {
	case <-begun:
	case <-soon(t).Done():
		t.Fatal("theirs never began")
	}
	ours := ask(t.Context(), o, fim("x", ""))
	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	losePatience(t, s, clock)
	close(hold)
	for want, a := range map[string]*asked{"theirs": theirs, "ours": ours} {
		if text, err := a.wait(t); err != nil || text != want {
			t.Errorf("got %q, %v; want %q", text, err, want)
		}
	}
	if m := o.Metrics(); m.Unstuck != 0 {
		t.Errorf("repaired %d times", m.Unstuck)
	}
}

// A server may answer that it loaded the model, and nothing else.
func TestAnAnswerThatIsOnlyALoadIsAskedForAgain(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Queue(modeltest.Answer{OnlyLoads: true}, modeltest.Answer{Pieces: []string{"text"}})
	if text, _, err := collect(soon(t), o, fim("a", ""), 5); err != nil || text != "text" {
		t.Errorf("got %q, %v", text, err)
	}
	s.Queue(modeltest.Answer{OnlyLoads: true}, modeltest.Answer{OnlyLoads: true})
	if text, _, err := collect(soon(t), o, fim("b", ""), 5); !errors.Is(err, model.ErrServer) || !strings.Contains(err.Error(), "gave no answer") {
		t.Errorf("got %q, %v", text, err)
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

// hastyClock waits a fiftieth of the time while it hurries, so that a generated model, which
// is small, takes many times quarry's patience to load.
type hastyClock struct{ hurries atomic.Bool }

func (*hastyClock) Now() time.Time { return time.Now() }

func (c *hastyClock) After(d time.Duration) <-chan time.Time {
	if c.hurries.Load() {
		d /= 50
	}
	return time.After(d)
}

// What /api/ps of the real one says while it loads is what quarry goes by.
func TestRealLoadIsNotTakenForStuck(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	opt, seen, clock := options(s.URL), newStates(), &hastyClock{}
	opt.Clock = clock
	opt.OnChange = func(st model.State) {
		if st.Phase == model.Loading {
			clock.hurries.Store(false) // a loaded machine may read slowly
		}
		seen.add(st)
	}
	o := ready(t, opt)
	for range 3 {
		cancelled(t, o, fim("x", ""))
		unstuck, reports := o.Metrics().Unstuck, len(seen.phases())
		s.Unload(ollamatest.DefaultModel)
		clock.hurries.Store(true)
		if text, _, err := collect(soon(t), o, fim("x", ""), 20); err != nil || text == "" {
			t.Fatalf("after another program had the model dropped: %q, %v", text, err)
		}
		if n := o.Metrics().Unstuck - unstuck; n != 0 {
			t.Errorf("the model was dropped %d times while it was loaded", n)
		}
		seen.wait(t, reports, model.Loading)
		eventually(t, "the model is ready again", func() bool { return o.Ready() == nil })
	}
	if loads, aborted := s.Loads(), s.AbortedLoads(); loads != 4 || aborted != 0 {
		t.Errorf("loaded %d times, %d of them thrown away; want 4 and 0", loads, aborted)
	}
}
