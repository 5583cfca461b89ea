package engines

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/cmd/internal/usage"
	"quarry/lsp"
	"quarry/lsp/settings"
)

// What was kept before the user switched statistics off is gone after a month, too: each start of a server removes what is
// older, a command that answers once nothing.
func TestStatisticsGrowOldWhileNoneAreKept(t *testing.T) {
	emptyConfig(t)
	state := t.TempDir()
	stats, err := StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(stats, "trace")
	if err := os.MkdirAll(trace, 0o700); err != nil {
		t.Fatal(err)
	}
	yesterday := time.Now().AddDate(0, 0, -1).Format("2006-01-02") + ".jsonl"
	old := []string{filepath.Join(stats, "2020-08-01.jsonl"), filepath.Join(trace, "2020-08-01.jsonl")}
	young := []string{filepath.Join(stats, yesterday), filepath.Join(trace, yesterday)}
	for _, path := range append(young, old...) {
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := settings.WithProfile("model-free")
	s.Stats.Keep = false
	start := func(oneShot bool) {
		t.Helper()
		messages := &told{}
		c := New(lsp.Start{
			Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {},
		}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler), OneShot: oneShot})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	start(true)
	for _, path := range append(young, old...) {
		if !there(path) {
			t.Errorf("a command has removed %s", path)
		}
	}
	start(false)
	for _, path := range young {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, path := range old {
		if there(path) {
			t.Errorf("%s is still there", path)
		}
	}
}

// How long a small folder took is among the numbers, though nobody saw it being indexed.
func TestAQuickScanIsInTheStatistics(t *testing.T) {
	emptyConfig(t)
	root, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	messages := &told{}
	c := New(lsp.Start{
		Settings: settings.WithProfile("model-free"), Roots: []string{root}, Notify: messages.notify, Changed: func() {},
		Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
	}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler)})
	for {
		missing, err := c.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if missing == nil {
			break
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	stats, err := StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	days, err := usage.Read(stats, time.Now())
	if n := usage.Total(days); err != nil || n.Index.Count() == 0 {
		t.Errorf("%v, %d scans", err, n.Index.Count())
	}
}
