// Package watch tells of changes in folders. It knows nothing of what the changes
// mean; package index adds the folders and looks at the paths.
package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher watches folders, not what is below them. It is safe for concurrent use.
type Watcher struct {
	inner *fsnotify.Watcher
	done  sync.WaitGroup

	mu   sync.Mutex
	dirs map[string]bool // that were added; guarded by mu
}

// New returns a watcher that calls changed with the absolute path of each file or
// folder that was created, written, renamed or removed, one call at a time. lost
// is called when events were lost: anything may have changed.
func New(changed func(path string), lost func(error)) (*Watcher, error) {
	inner, err := fsnotify.NewBufferedWatcher(1024)
	if isLimit(err) {
		return nil, &LimitError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{inner: inner, dirs: map[string]bool{}}
	w.done.Go(func() {
		for {
			select {
			case e, ok := <-inner.Events:
				if !ok {
					return
				}
				if e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove) {
					w.forget(e.Name)
				}
				if e.Op&^fsnotify.Chmod != 0 {
					changed(e.Name)
				}
			case err, ok := <-inner.Errors:
				if !ok {
					return
				}
				lost(err)
			}
		}
	})
	return w, nil
}

// LimitError says that the system allows no more watches, and what to raise; Err is the
// system's own.
type LimitError struct{ Err error }

func (e *LimitError) Error() string {
	return "the system allows no more file watches: " + advice(e.Err)
}

func (e *LimitError) Unwrap() error { return e.Err }

// Add watches a folder; a folder that is watched already, or is gone, is no error.
func (w *Watcher) Add(dir string) error {
	dir = filepath.Clean(dir)
	w.mu.Lock()
	w.dirs[dir] = true
	w.mu.Unlock()
	err := w.inner.Add(dir)
	switch {
	case err == nil, isMissing(err), errors.Is(err, fsnotify.ErrClosed):
		return nil
	case isLimit(err):
		return &LimitError{err}
	}
	return fmt.Errorf("watch %s: %w", dir, err)
}

// forget ends the watches of a folder that is not there any more, and of all below
// it. They hold on to the folders and not to the names: of a renamed folder they
// would go on telling under the old names, and adding it by its new name would add
// nothing. Nothing is lost, since its new name is told of after the old one.
func (w *Watcher) forget(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dirs[dir] {
		return // a file; those are renamed by the thousand
	}
	for d := range w.dirs {
		if d == dir || strings.HasPrefix(d, dir+string(filepath.Separator)) {
			delete(w.dirs, d)
			_ = w.inner.Remove(d) // it fails if the system has ended the watch already
		}
	}
}

// Close stops watching and waits for a running call to return.
func (w *Watcher) Close() error {
	err := w.inner.Close()
	w.done.Wait()
	return err
}
