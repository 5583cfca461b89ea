package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quarry/index"
	"quarry/retrieval/live"
)

// A folder is opened in the background, indexed unless one around it does that, and closed
// when the editor names it no more.

// folder is one root.
type folder struct {
	dir string
	// around are the other folders that it lies in. If one of them indexes it, too, it is
	// covered: it has no index of its own, so that each file answers once.
	around []*folder
	cancel context.CancelFunc
	opened chan struct{} // closed when what follows is set
	ended  chan struct{} // closed when nothing of it runs any more
	since  time.Time     // when it began to be opened
	loaded atomic.Bool   // searches knew the whole index once

	covered bool
	index   *index.Index
	warm    *live.Workspace
	err     error
}

// setRoots is SetRoots; a folder that is there stays open if keep says so. mu is held.
func (w *Workspace) setRoots(named []root, keep func(*folder) bool) {
	roots, links := straighten(named)
	at := map[string]int{} // of a root, by its key: an editor may open thousands
	for i, r := range roots {
		at[folderKey(r.real)] = i
	}
	open := map[string]*folder{}
	for _, f := range w.folders {
		open[f.dir] = f
	}
	next := make([]*folder, len(roots))
	// Outer folders come first: what is in them depends on them.
	inward := make([]int, len(roots))
	for i := range inward {
		inward[i] = i
	}
	slices.SortStableFunc(inward, func(i, j int) int { return len(roots[i].real) - len(roots[j].real) })
	for _, i := range inward {
		var outer []int
		for dir := roots[i].real; dir != filepath.Dir(dir); {
			dir = filepath.Dir(dir)
			if k, ok := at[folderKey(dir)]; ok {
				outer = append(outer, k)
			}
		}
		slices.Sort(outer)
		var around []*folder
		for _, k := range outer {
			around = append(around, next[k])
		}
		before := open[roots[i].dir]
		if before != nil && keep(before) && slices.Equal(before.around, around) {
			next[i] = before
			delete(open, before.dir)
			continue
		}
		next[i] = w.open(roots[i].dir, around, before)
	}
	for _, f := range open {
		f.cancel()
		w.closing.Go(func() { <-f.ended })
	}
	w.named, w.links, w.folders = named, links, next
}

// folderKey is equal for two clean paths of one folder.
func folderKey(dir string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(dir)
	}
	return dir
}

// open begins to open a folder, once the one that it replaces, if any, has ended. mu is
// held.
func (w *Workspace) open(dir string, around []*folder, before *folder) *folder {
	ctx, cancel := context.WithCancel(context.Background())
	f := &folder{dir: dir, around: around, cancel: cancel, opened: make(chan struct{}), ended: make(chan struct{}), since: time.Now()}
	go func() {
		defer close(f.ended)
		if before != nil {
			<-before.ended // it may hold the lock
		}
		w.run(ctx, f)
	}()
	return f
}

// run opens the folder's index and keeps it until ctx ends.
func (w *Workspace) run(ctx context.Context, f *folder) {
	var wide *index.Wide
	switch err := w.start(ctx, f); {
	case err == nil && f.covered, ctx.Err() != nil && f.index == nil:
		return
	case errors.Is(err, errOff):
		return
	case errors.As(err, &wide):
		w.opts.Log.Info("a wide folder is not indexed", "folder", f.dir)
		if w.opts.Notify != nil {
			w.opts.Notify(wide.Error())
		}
		return
	case err != nil:
		w.opts.Log.Info("open the index", "folder", f.dir, "error", err) // the user is told
		if w.opts.Notify != nil {
			w.opts.Notify(fmt.Sprintf("%s cannot be indexed: %v", f.dir, err))
		}
		return
	}
	<-ctx.Done()
	f.warm.Close()
	if err := f.index.Close(); err != nil {
		w.opts.Log.Error("close the index", "folder", f.dir, "error", err)
	}
}

// isCovered answers whether a folder around f indexes what is in f, too. It waits until
// they are opened.
func (f *folder) isCovered(ctx context.Context) bool {
	for _, outer := range f.around {
		select {
		case <-outer.opened:
		case <-ctx.Done():
			return false
		}
		rel, err := filepath.Rel(outer.dir, f.dir)
		if err == nil && outer.err == nil && !outer.covered && outer.index.Root().Check(filepath.ToSlash(rel)) == "" {
			return true
		}
	}
	return false
}

// observe passes changes on to whoever wants to know.
func (w *Workspace) observe(ctx context.Context, f *folder, updates []index.Update) {
	if w.opts.Follow == nil {
		return
	}
	for _, u := range updates {
		if f.index.Yield(ctx) != nil {
			return // it is being closed
		}
		w.opts.Follow(f.dir, u)
	}
}

// start opens the index and tells it what the editor has open.
func (w *Workspace) start(ctx context.Context, f *folder) error {
	covered := f.isCovered(ctx)
	w.mu.Lock()
	scope := w.scope
	w.mu.Unlock()
	cfg := scope.Config(f.dir, w.opts.StateDir)
	cfg.Watch, cfg.Brief, cfg.Log, cfg.Notify = w.opts.Watch, w.opts.Brief, w.opts.Log, w.opts.Notify
	if w.opts.Progress != nil {
		cfg.Progress = func(p index.Progress) {
			w.opts.Progress(f.dir, p, func() {
				if x, err := f.ready(); err == nil {
					x.CancelScan()
				}
			})
		}
	}
	if w.opts.Embedding != nil {
		cfg.Embedding = func(p index.EmbedProgress) {
			w.opts.Embedding(f.dir, p, func() {
				if x, err := f.ready(); err == nil {
					x.Embedding().Cancel()
				}
			})
		}
	}
	var x *index.Index
	err := ctx.Err()
	switch {
	case err != nil || covered:
	case scope.Off:
		err = errOff
	default:
		x, err = index.Open(cfg)
	}
	// Whoever tells of a document sees either the folder opened, or is seen here.
	w.mu.Lock()
	defer w.mu.Unlock()
	defer close(f.opened)
	f.covered, f.index, f.err = covered, x, err
	if err != nil || covered {
		return err
	}
	x.Embedding().SetEmbedders(w.embedders)
	if w.watch {
		x.Watch()
	}
	f.warm = live.Follow(x, filepath.Base(f.dir), func(ctx context.Context, updates []index.Update) { w.observe(ctx, f, updates) })
	for name, text := range w.buffers {
		x.DidOpen(w.place(name), text)
	}
	return nil
}

// errOff is of every folder while nothing is to be indexed.
var errOff = errors.New("index.enabled is false: set it to true in the settings to search")

var errNotOpen = errors.New("the index is still being opened; try again in a moment")

// text is the present text of a file of the folder.
func (f *folder) text(rel string) (string, error) {
	x, err := f.ready()
	if err != nil {
		return "", err
	}
	x.Root().Refresh()
	return x.Text(rel)
}

// wait returns when the folder is open or could not be opened. A ctx that has ended
// is no obstacle if it already is.
func (f *folder) wait(ctx context.Context) error {
	if _, err := f.ready(); !errors.Is(err, errNotOpen) {
		return nil
	}
	select {
	case <-f.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errCovered is of a folder that has no index of its own; snapshot leaves it out.
var errCovered = errors.New("it is indexed with the folder around it")

// ready is the folder's index if it is open.
func (f *folder) ready() (*index.Index, error) {
	select {
	case <-f.opened:
		if f.covered {
			return nil, errCovered
		}
		return f.index, f.err
	default:
		return nil, errNotOpen
	}
}
