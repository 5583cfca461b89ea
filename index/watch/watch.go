// Package watch tells of changes in folders. It knows nothing of what the changes
// mean; package index adds the folders and looks at the paths.
package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher watches folders, not what is below them. It is safe for concurrent use.
type Watcher struct {
	inner *fsnotify.Watcher
	done  sync.WaitGroup
}

// New returns a watcher that calls changed with the absolute path of each file or
// folder that was created, written, renamed or removed, one call at a time. lost
// is called when events were lost: anything may have changed.
func New(changed func(path string), lost func(error)) (*Watcher, error) {
	inner, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{inner: inner}
	w.done.Go(func() {
		for {
			select {
			case e, ok := <-inner.Events:
				if !ok {
					return
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

// ErrLimit says that the system allows no more watches.
var ErrLimit = errors.New("the system allows no more file watches")

// Add watches a folder; a folder that is watched already, or is gone, is no error.
func (w *Watcher) Add(dir string) error {
	err := w.inner.Add(filepath.Clean(dir))
	switch {
	case err == nil, isMissing(err), errors.Is(err, fsnotify.ErrClosed):
		return nil
	case isLimit(err):
		return fmt.Errorf("%w: %w", ErrLimit, err)
	}
	return fmt.Errorf("watch %s: %w", dir, err)
}

// Close stops watching and waits for a running call to return.
func (w *Watcher) Close() error {
	err := w.inner.Close()
	w.done.Wait()
	return err
}
