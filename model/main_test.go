package model_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/model"
	"quarry/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	graniteTags = []string{"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"}
	graniteOnly = []model.Family{{Name: "granite", Tags: graniteTags}}
)

// fim is a prompt as completion builds it.
func fim(prefix, suffix string) string {
	return "<|fim_prefix|>" + prefix + "<|fim_suffix|>" + suffix + "<|fim_middle|>"
}

// options are a runtime for tests: repeatable, with Granite's tags.
func options(url string) model.Options {
	return model.Options{URL: url, Model: "granite4.1:3b", Families: graniteOnly, Seed: 1, NumCtx: 2048}
}

// start runs a runtime that is closed, and checked for leaks by TestMain, in
// the end.
func start(t testing.TB, opt model.Options) *model.Runtime {
	t.Helper()
	o, err := model.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	o.Start()
	return o
}

// ready is start, and waits until the model can be asked.
func ready(t testing.TB, opt model.Options) *model.Runtime {
	t.Helper()
	o := start(t, opt)
	if err := o.WaitReady(soon(t)); err != nil {
		t.Fatalf("not ready: %v", err)
	}
	return o
}

// stopped is a server and a runtime that is ready and whose time the test moves.
func stopped(t testing.TB) (*modeltest.Server, *manualClock, *model.Runtime) {
	t.Helper()
	s := modeltest.NewServer(t)
	clock := newManualClock()
	opt := options(s.URL)
	opt.Clock = clock
	return s, clock, ready(t, opt)
}

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// collect is a Generate that gathers the text.
func collect(ctx context.Context, o *model.Runtime, prompt string, maxTokens int, stop ...string) (string, int, error) {
	var text strings.Builder
	n, err := o.Generate(ctx, prompt, maxTokens, stop, 0, func(piece string, _ float64) bool {
		text.WriteString(piece)
		return true
	})
	return text.String(), n, err
}

// states records what OnChange reported.
type states struct {
	mu      sync.Mutex // guards list and changed
	list    []model.State
	changed chan struct{}
}

func newStates() *states { return &states{changed: make(chan struct{})} }

func (s *states) add(st model.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, st)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *states) phases() []model.Phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []model.Phase
	for _, st := range s.list {
		list = append(list, st.Phase)
	}
	return list
}

// wait returns the first state reported after the first skip ones whose phase
// is phase.
func (s *states) wait(t testing.TB, skip int, phase model.Phase) model.State {
	t.Helper()
	ctx := soon(t)
	for {
		s.mu.Lock()
		list, changed := s.list, s.changed
		s.mu.Unlock()
		for _, st := range list[min(skip, len(list)):] {
			if st.Phase == phase {
				return st
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("no state %q after %d reports: %v", phase, skip, s.phases())
		}
	}
}

// reach moves the clock by step until a state of this phase is reported after
// the first skip ones. A single step may come before the timer it is meant for.
func (s *states) reach(t testing.TB, clock *manualClock, step time.Duration, skip int, phase model.Phase) model.State {
	t.Helper()
	eventually(t, "the state "+string(phase), func() bool {
		clock.advance(step)
		phases := s.phases()
		return slices.Contains(phases[min(skip, len(phases)):], phase)
	})
	return s.wait(t, skip, phase)
}

// eventually polls for what has no event to wait for.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	ctx := soon(t)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}

// manualClock is a Clock whose time the test moves.
type manualClock struct {
	mu     sync.Mutex // guards all below
	now    time.Time
	timers []timer
}

type timer struct {
	at time.Time
	c  chan time.Time
}

func newManualClock() *manualClock { return &manualClock{now: time.Unix(1_800_000_000, 0)} }

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.timers = append(c.timers, timer{at: c.now.Add(d), c: ch})
	return ch
}

// pending is how long from now the latest timer fires, 0 if none is set.
func (c *manualClock) pending() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return 0
	}
	return c.timers[len(c.timers)-1].at.Sub(c.now)
}

// due reports whether a timer fires exactly d from now.
func (c *manualClock) due(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.timers, func(t timer) bool { return t.at.Sub(c.now) == d })
}

// advance moves the time and fires what is due.
func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	var later []timer
	for _, t := range c.timers {
		if t.at.After(c.now) {
			later = append(later, t)
		} else {
			t.c <- c.now
		}
	}
	c.timers = later
}
