package engines

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/cmd/internal/budget"
	"quarry/cmd/internal/usage"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// told are the messages of a Core.
type told struct {
	mu   sync.Mutex
	list []string // guarded by mu
}

func (l *told) notify(_ lsp.Severity, _, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, message)
}

func (l *told) about(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, message := range l.list {
		if strings.Contains(message, text) {
			n++
		}
	}
	return n
}

// eventsIn is how many events of a kind are written down, of which less was done.
func eventsIn(t *testing.T, state, kind string) (n int) {
	t.Helper()
	dir, err := StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	days, err := usage.Read(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range usage.Total(days).Events {
		if e.Kind == kind && e.Less {
			n++
		}
	}
	return n
}

// What was noted is written down before anything is waited for: a server that takes long to end is ended by force.
func TestStatisticsAreWrittenFirst(t *testing.T) {
	s, state := settings.Default(), t.TempDir()
	s.Ollama.URL = modeltest.NewServer(t).URL
	c := New(lsp.Start{
		Settings: s, Notify: func(lsp.Severity, string, string) {}, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
	}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler), Machine: Machine{
		Resident: func() int64 { return 1e8 }, Free: func() int64 { return 9e9 }, OnBattery: func() bool { return false },
	}})
	slow := make(chan struct{})
	c.looking.Go(func() { <-slow })
	c.usage.Event("test", "something", true)
	ended := make(chan error, 1)
	go func() { ended <- c.Close() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for eventsIn(t, state, "test") == 0 {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("nothing is written before the server has ended")
		}
	}
	close(slow)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// With little memory free search uses no embeddings and prompts are shorter, and the user is told
// once; what quarry and its models have does not count, nor does it where the user has said what they may take. On
// battery the rest is as it was.
func TestSmallDeviceAndBattery(t *testing.T) {
	for _, test := range []struct {
		name          string
		free          int64
		budgetMB      int
		battery, save bool
		small, spares bool
	}{
		{name: "little", free: 1e9, small: true},
		{name: "little but for the model", free: 1e9, budgetMB: 0, small: false},
		{name: "little, and the user knows", free: 1e9, budgetMB: 4000},
		{name: "enough", free: 3e9},
		{name: "not known"},
		{name: "battery", free: 9e9, battery: true, save: true, spares: true},
		{name: "battery, and the user does not mind", free: 9e9, battery: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake := modeltest.NewServer(t)
			takes := modeltest.Model{Name: modeltest.DefaultModel}
			if test.name == "little but for the model" {
				takes.Bytes = 2e9
			}
			fake.SetModels(takes)
			s := settings.Default()
			s.Ollama.URL, s.Memory.BudgetMB, s.Battery.Save = fake.URL, test.budgetMB, test.save
			messages, changed := &told{}, make(chan struct{}, 1)
			state := t.TempDir()
			c := New(lsp.Start{
				Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {
					select {
					case changed <- struct{}{}:
					default:
					}
				},
			}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler), Machine: Machine{
				Resident: func() int64 { return 1e8 }, Free: func() int64 { return test.free }, OnBattery: func() bool { return test.battery },
			}})
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var v saving
			var now settings.Settings
			for settled := false; !settled && ctx.Err() == nil; {
				select {
				case <-changed:
				case <-ctx.Done():
				}
				c.mu.Lock()
				v, now = c.saving, c.engines.settings
				c.mu.Unlock()
				settled = c.StatusNote(ctx).Model.State == lsp.ModelReady && v.small == test.small
			}
			if v.small != test.small || v.battery != test.spares || now.Embedding.Enabled == test.small || (now.Ollama.ContextSize == 2048) != test.small {
				t.Errorf("saving %+v with %+v", v, now.Ollama)
			}
			if longer := now.Completion.Debounce > s.Completion.Debounce; longer != test.spares {
				t.Errorf("the wait for a key is %v", time.Duration(now.Completion.Debounce))
			}
			if test.small {
				for messages.about("Little memory is free") == 0 && ctx.Err() == nil {
					c.lookSoon()
				}
			}
			c.lookSoon()
			if got := messages.about("Little memory is free"); got > 1 || (got == 1) != test.small {
				t.Errorf("said %d times", got)
			}
			if got := eventsIn(t, state, kindMemory); (got == 1) != test.small || got > 1 {
				t.Errorf("%d events of memory", got)
			}
			if got := eventsIn(t, state, kindBattery); (got == 1) != test.spares || got > 1 {
				t.Errorf("%d events of the battery", got)
			}
		})
	}
}

// A budget that the user sets lifts what is done without on a small device, and comes back when it is taken away, said once.
func TestSmallDeviceWithABudgetForAWhile(t *testing.T) {
	s := settings.Default()
	s.Ollama.URL = modeltest.NewServer(t).URL
	messages := &told{}
	c := New(lsp.Start{
		Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {},
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Machine: Machine{
		Resident: func() int64 { return 1e8 }, Free: func() int64 { return 1e9 }, OnBattery: func() bool { return false },
	}})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	becomes := func(small bool) {
		t.Helper()
		for {
			c.mu.Lock()
			now := c.saving.small
			c.mu.Unlock()
			if now == small && messages.about("Little memory is free") == 1 {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("small %v, said %d times", now, messages.about("Little memory is free"))
			}
		}
	}
	becomes(true)
	for _, budget := range []int{4000, 0, 4000, 0} {
		s.Memory.BudgetMB = budget
		if err := c.Configure(s); err != nil {
			t.Fatal(err)
		}
		becomes(budget == 0)
	}
}

// What another quarry and its models have is no reason to take the device for a small one: the second editor would load the
// model of the first one anew, with half of its context.
func TestSecondEditorOnASmallDevice(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: modeltest.DefaultModel, Bytes: 2e9})
	s, state := settings.Default(), t.TempDir()
	s.Ollama.URL = fake.URL
	open := func(free int64) *Core {
		c := New(lsp.Start{
			Settings: s, Notify: func(lsp.Severity, string, string) {}, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
		}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler), Machine: Machine{
			Resident: func() int64 { return 1e8 }, Free: func() int64 { return free }, OnBattery: func() bool { return false },
		}})
		t.Cleanup(func() { c.Close() })
		return c
	}
	open(3e9)
	dir, err := memoryDir(state)
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for notes := budget.Read(dir); len(notes) != 1 || notes[0].Models < 2e9; notes = budget.Read(dir) {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%+v", notes)
		}
	}
	second := open(9e8)
	second.mu.Lock()
	defer second.mu.Unlock()
	if second.saving.small || second.engines.settings.Ollama.ContextSize != s.Ollama.ContextSize {
		t.Errorf("it begins with %+v and a context of %d", second.saving, second.engines.settings.Ollama.ContextSize)
	}
}

// What llama.cpp says of its models' weights counts, but where a GPU may have them; of a server that says nothing that is told.
// No step has models leave memory that quarry cannot take from it.
func TestMemoryOfAnotherServersModels(t *testing.T) {
	for _, test := range []struct {
		name   string
		takes  int64
		gpu    bool
		counts uint64
		untold bool
		saves  int
	}{
		{"it tells", 9e9, false, 9e9, false, 3},
		{"a GPU may have them", 9e9, true, 0, true, 0},
		{"it does not tell", 0, false, 0, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake := modeltest.NewServer(t)
			fake.SetModels(modeltest.Model{Name: "team", Bytes: test.takes})
			s, state := settings.Default(), t.TempDir()
			s.Ollama.API, s.Ollama.URL, s.Model, s.Embedding.Model, s.Memory.BudgetMB = "openai", fake.URL, "team", "", 8000
			c := New(lsp.Start{
				Settings: s, Notify: func(lsp.Severity, string, string) {}, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
			}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler), Machine: Machine{
				Resident: func() int64 { return 1e8 }, Free: func() int64 { return 9e9 }, OnBattery: func() bool { return false }, OwnGPU: func() bool { return test.gpu },
			}})
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				m, savings := c.Memory(), c.savings()
				if m.ModelBytes == test.counts && m.ModelsUntold == test.untold && len(savings) == test.saves && (test.saves == 0 || m.Step == 4) {
					break
				}
				c.lookSoon()
				select {
				case <-tick.C:
				case <-ctx.Done():
					t.Fatalf("%+v, %+v", m, savings)
				}
			}
			if now := RunningNow(state, s); now.Untold != test.untold || uint64(now.Models) != test.counts {
				t.Errorf("the others are told %+v", now)
			}
		})
	}
}
