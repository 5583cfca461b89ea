package lsp

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"quarry/index/watch"
)

// The user's settings file is looked at when the system tells of a change near it, and
// every lookSeldom besides, since a file elsewhere on a network changes unannounced. Where
// the system tells nothing it is looked at every lookOften: often enough that a change
// seems to apply at once.
const (
	lookOften  = 2 * time.Second
	lookSeldom = 30 * time.Second
)

// Many programs write a file by emptying it first. It is read when it has stayed the same for
// writeStep, and as an empty one, which sets everything back, when it has been so for mostSteps
// of these.
const (
	writeStep = 50 * time.Millisecond
	mostSteps = 20
)

// stamp tells one state of a file from another.
type stamp struct {
	size, changed int64
	there         bool
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano(), true}
}

// followSettingsFile applies the settings again whenever the user's file is another than it was
// at before, until ctx ends.
func (s *Server) followSettingsFile(ctx context.Context, before stamp) error {
	notified := make(chan struct{}, 1)
	tell := func() {
		select {
		case notified <- struct{}{}:
		default:
		}
	}
	watcher, err := watch.New(func(string) { tell() }, func(error) { tell() })
	if err == nil {
		defer watcher.Close()
	}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-notified:
		case <-wait.C:
		}
		// Before the look, so that no change falls between the two; and each time, since
		// the folder may be there only now.
		if watcher != nil && watchAround(watcher, s.opts.SettingsFile) == nil {
			wait.Reset(lookSeldom)
		} else {
			wait.Reset(lookOften)
		}
		now := stampOf(s.opts.SettingsFile)
		if now == before {
			continue
		}
		before = written(now, func() stamp {
			select {
			case <-ctx.Done():
			case <-time.After(writeStep):
			}
			return stampOf(s.opts.SettingsFile)
		})
		if err := s.applySettings(); err != nil {
			return err
		}
	}
}

// written is the state of a file once it is written, after now: next waits for a step and looks.
func written(now stamp, next func() stamp) stamp {
	for range mostSteps {
		before := now
		if now = next(); now == before && now.size > 0 {
			break
		}
	}
	return now
}

// watchAround watches where a change of a file shows: in its folder, or the nearest above it
// that exists, and where a link leads, in the folder of what it names.
func watchAround(w *watch.Watcher, path string) error {
	dir := filepath.Dir(path)
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	if err := w.Add(dir); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return w.Add(filepath.Dir(real))
	}
	return nil
}
