package engines

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// What no message between editor, server and model shows of a changed setting: the wait for the next
// key, and what is done without on battery. Both apply to engines that run.
func TestSettingsBehindTheWireAreLive(t *testing.T) {
	s := settings.Default()
	s.Ollama.URL, s.Memory.BudgetMB = modeltest.NewServer(t).URL, 900_000
	c := New(lsp.Start{
		Settings: s, Notify: func(lsp.Severity, string, string) {}, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Machine: Machine{
		Resident: func() int64 { return 1e8 }, Free: func() int64 { return 9e9 }, OnBattery: func() bool { return true },
	}})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, step := range []struct {
		save   bool
		set    time.Duration
		spares bool
		wait   time.Duration
	}{
		{true, 250 * time.Millisecond, true, 500 * time.Millisecond},
		{false, 250 * time.Millisecond, false, 250 * time.Millisecond},
		{false, 77 * time.Millisecond, false, 77 * time.Millisecond},
		{true, -1, true, -1},
	} {
		s.Battery.Save, s.Completion.Debounce = step.save, settings.Duration(step.set)
		if err := c.Configure(s); err != nil {
			t.Fatal(err)
		}
		for {
			c.mu.Lock()
			spares, wait := c.saving.battery, time.Duration(c.engines.settings.Completion.Debounce)
			c.mu.Unlock()
			if spares == step.spares && wait == step.wait {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%+v: spares %t and waits %v", step, spares, wait)
			}
		}
	}
}
