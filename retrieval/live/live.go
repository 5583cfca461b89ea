// Package live keeps an in-memory search index true to a workspace's index on
// disk: it follows the change feed of package index, turns records into
// documents, and makes the graph of files of the names that they refer to.
package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"quarry/index"
	"quarry/index/addresses"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// Workspace is a search index that follows a workspace. It is safe for
// concurrent use.
type Workspace struct {
	// Search answers from the first moment, with what was read by then.
	Search *retrieval.Index

	source   *index.Index
	semantic *dense.Index
	cancel   context.CancelFunc
	done     sync.WaitGroup // the following goroutine

	// relinkDue: files changed, or were indexed, since the graph was read.
	relinkDue atomic.Bool
	beginning sync.Once   // closes begun
	usable    atomic.Bool // the file that is kept, if there is one, is of this database
	tidying   sync.Mutex
	relinking sync.Mutex // held while the graph is made, or what it is of is looked at
	next      time.Time  // when the graph may be read again; guarded by tidying

	mu         sync.Mutex
	searchable index.Cursor  // all up to it can be searched; guarded by mu
	linksKept  index.Cursor  // what the graph is of that is in a file; guarded by mu
	linksTried bool          // that file was looked at; guarded by mu
	advanced   chan struct{} // closed and renewed when searchable changes; guarded by mu
	count                    // of what changed since the snapshot; guarded by mu
	usual      func()        // ends index.SpareMemory, nil when it ended; guarded by mu
	// ready is closed when all of the index was read once, and renewed when it is lost;
	// guarded by mu.
	ready chan struct{}
	// lost: what searches began with cannot be read any more, and is read anew by follow,
	// which interrupt brings to it; guarded by mu.
	lost      bool
	interrupt context.CancelFunc
	begun     chan struct{} // closed when it is known whether there was something to begin with
	rest      *time.Timer   // fires when nobody has searched for a while
	// losses counts when searches began to know nothing, when they began anew, and when one
	// could not read what it had begun with.
	losses atomic.Int64
	short  chan error // has why following ended where too little memory is allowed
}

// Follow starts to follow source, whose project is named as given. observe, if
// not nil, is called with each batch of changes once they can be searched; what a
// snapshot held is none. The caller closes the Workspace before source.
func Follow(source *index.Index, project string, observe func(context.Context, []index.Update)) *Workspace {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Workspace{
		source:   source,
		semantic: dense.Follow(source.Embedding()),
		cancel:   cancel,
		ready:    make(chan struct{}),
		begun:    make(chan struct{}),
		advanced: make(chan struct{}),
		rest:     time.NewTimer(restAfter),
		short:    make(chan error, 1),
	}
	w.Search = retrieval.New(retrieval.Options{
		Project: project, Text: source.Text, Linked: true,
		Yield: func() { _ = source.Yield(ctx) }, // when it is closed, the rest may go on
		Lost: func(cause error, current bool) {
			if current {
				w.lose(cause)
			} else {
				w.misread(cause)
			}
		},
	})
	w.done.Go(func() { w.follow(ctx, observe) })
	w.done.Go(func() { w.keep(ctx) })
	return w
}

// Ready returns when all that the index held at the start can be searched, or
// when ctx is done.
func (w *Workspace) Ready(ctx context.Context) error {
	w.mu.Lock()
	ready := w.ready
	w.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Begun returns when searches have what a process before has left them, or nothing, which IsReady
// tells, or when ctx is done.
func (w *Workspace) Begun(ctx context.Context) error {
	select {
	case <-w.begun:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CatchUp returns when searches know of every file that the index holds now, but for those that the feed cannot bring: a file may have
// changed on disk since, or be gone, and nothing more comes of it before the index
// has looked again.
func (w *Workspace) CatchUp(ctx context.Context) error {
	for {
		now, err := w.source.Cursor(ctx)
		if err != nil {
			return err
		}
		for w.source.IsCurrent(now) {
			w.mu.Lock()
			all, advanced := w.searchable.Includes(now), w.advanced
			w.mu.Unlock()
			if all {
				return nil
			}
			select {
			case <-advanced:
			case err := <-w.short:
				w.short <- err
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// Behind answers whether the index holds what searches were not told of yet. A failed
// read of the index says no: what is wrong with it is told elsewhere.
func (w *Workspace) Behind(ctx context.Context) bool {
	now, err := w.source.Cursor(ctx)
	if err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.searchable.Includes(now)
}

// Changed is closed when searches know more than at the call.
func (w *Workspace) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advanced
}

// Close stops following and waits until nothing of it runs.
func (w *Workspace) Close() {
	w.cancel()
	w.done.Wait()
	w.rest.Stop()
	w.mu.Lock()
	w.endSparing()
	w.mu.Unlock()
	w.semantic.Close()
}

// restAfter is how long nobody has searched when memory that searches took is given back:
// most of it is read again from the system's cache in a millisecond or two.
const restAfter = 20 * time.Second

// manyFiles is from how many files on an index that is in memory is large.
const manyFiles = 500

// spareMemory makes the collector run more often as long as a large index is in memory, all
// of it: a heap that may double before it is collected would be most of what a first index
// takes.
func (w *Workspace) spareMemory() {
	w.mu.Lock()
	defer w.mu.Unlock()
	large := w.Search.Current().Files() > manyFiles && !w.usable.Load()
	if large && w.usual == nil {
		w.usual = index.SpareMemory()
	} else if !large {
		w.endSparing()
	}
}

// endSparing undoes spareMemory; w.mu is held.
func (w *Workspace) endSparing() {
	if w.usual != nil {
		w.usual()
		w.usual = nil
	}
}

// relinkAfter is how many files may change before the graph is read again.
const relinkAfter = 64

// retryAfter is the pause after a read of the index failed; the index itself
// sets a damaged database aside and tells the user.
const retryAfter = time.Second

// follow follows the index until ctx is done, each time that searches lose what they know
// anew.
func (w *Workspace) follow(ctx context.Context, observe func(context.Context, []index.Update)) {
	for ctx.Err() == nil {
		once, cancel := context.WithCancel(ctx)
		w.mu.Lock()
		w.lost, w.interrupt = false, cancel
		w.mu.Unlock()
		w.followOnce(once, observe)
		cancel()
		if ctx.Err() == nil {
			w.Search.Reset()
			w.losses.Add(1)
		}
	}
}

// lose notes that what searches began with cannot be read any more. From here on they know
// nothing, which is why nobody takes their silence for an answer.
func (w *Workspace) lose(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		return
	}
	w.source.Logger().Warn("the snapshot cannot be read any more; reading the index instead", "cause", cause)
	w.lost = true
	w.losses.Add(1)
	w.usable.Store(false)
	w.searchable = index.Cursor{}
	w.ready = make(chan struct{})
	w.interrupt()
}

// misread notes that a search read of an older state what cannot be read any more: only
// that search is to ask again.
func (w *Workspace) misread(cause error) {
	w.source.Logger().Warn("a snapshot that was in use cannot be read any more; searching again", "cause", cause)
	w.losses.Add(1)
}

// steady calls ask, and again if what it read was lost meanwhile.
func (w *Workspace) steady(ask func()) {
	for {
		before := w.losses.Load()
		if ask(); before == w.losses.Load() {
			return
		}
	}
}

func (w *Workspace) followOnce(ctx context.Context, observe func(context.Context, []index.Update)) {
	feed, changed := w.source.Follow(), relinkAfter
	if known, ok := w.restore(ctx); ok {
		feed, changed = w.source.FollowFrom(known), 0
		w.mu.Lock()
		if w.linksKept = (index.Cursor{}); !w.relinkDue.Load() {
			w.linksKept = feed.Cursor()
		}
		w.mu.Unlock()
		w.reached(feed.Cursor())
	}
	w.beginning.Do(func() { close(w.begun) })
	index.Background()
	for {
		updates, upToDate, err := next(ctx, feed)
		if err != nil {
			return
		}
		changes := make([]retrieval.Change, len(updates))
		for i := range updates {
			changes[i] = change(&updates[i])
		}
		if err := addresses.Check(w.Search.Current().MergeBytes()); err != nil && len(changes) > 0 {
			w.source.StopShort(err)
			select {
			case w.short <- err:
			default: // it says so already
			}
			<-ctx.Done()
			return
		}
		w.Search.Apply(changes)
		w.spareMemory()
		if len(updates) > 0 {
			w.relinkDue.Store(true)
			if observe != nil {
				observe(ctx, updates)
			}
		}
		changed += len(changes)
		w.addChanged(changes)
		if !upToDate {
			continue
		}
		at := feed.Cursor()
		if changed < relinkAfter {
			w.linkKept(ctx, at)
		} else if w.link(ctx, at) == nil {
			changed = 0
		}
		w.reached(at)
	}
}

// next is feed.Next, which is asked again after a failure until ctx is done.
func next(ctx context.Context, feed *index.Feed) ([]index.Update, bool, error) {
	for {
		updates, upToDate, err := feed.Next(ctx)
		if err == nil {
			return updates, upToDate, nil
		}
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-time.After(retryAfter):
		}
	}
}

// reached notes what searches know by now.
func (w *Workspace) reached(p index.Cursor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		return
	}
	if w.searchable != (index.Cursor{}) && !w.searchable.SameDatabase(p) {
		w.usable.Store(false) // the index was made anew, and what is kept is of the one before
	}
	w.searchable = p
	select {
	case <-w.ready:
	default:
		close(w.ready)
	}
	close(w.advanced)
	w.advanced = make(chan struct{})
}

// count is of what changed since the snapshot: files, and those of them that are gone.
type count struct{ changed, gone int }

func (w *Workspace) addChanged(changes []retrieval.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed += len(changes)
	for i := range changes {
		if changes[i].Document == nil {
			w.gone++
		}
	}
}

// Link returns when the graph of files is that of what is searchable, or ctx is done, for
// commands that ask once: elsewhere it is made at rest. What keeps it from being made is no
// reason for them to fail.
func (w *Workspace) Link(ctx context.Context) { _ = w.link(ctx, w.Knows()) }

// Knows is what searches know.
func (w *Workspace) Knows() index.Cursor {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.searchable
}

// link begins with the graph that is kept, or makes it anew, for what is searchable at the
// call, which is at. It is already that where another did so meanwhile.
func (w *Workspace) link(ctx context.Context, at index.Cursor) error {
	w.relinking.Lock() // what an older state of the index led to is not to come last
	defer w.relinking.Unlock()
	if !w.relinkDue.Load() {
		return nil
	}
	if w.tryKept(ctx, at) {
		return nil
	}
	return w.relink(ctx)
}

// linkKept is link where the graph is kept. It costs the first answer next to nothing then,
// and the ranks are those of later ones.
func (w *Workspace) linkKept(ctx context.Context, at index.Cursor) {
	w.relinking.Lock()
	defer w.relinking.Unlock()
	if w.relinkDue.Load() {
		w.tryKept(ctx, at)
	}
}

// tryKept begins with the graph that is kept, if nobody has tried to; relinking is held.
func (w *Workspace) tryKept(ctx context.Context, at index.Cursor) bool {
	w.mu.Lock()
	tried := w.linksTried
	w.linksTried = true // the states that come now are new ones
	w.mu.Unlock()
	return !tried && w.restoreLinks(ctx, at)
}

// relink makes the graph anew of the names that files refer to, as the database has them;
// relinking is held.
func (w *Workspace) relink(ctx context.Context) error {
	w.relinkDue.Store(false)
	links, err := w.Search.Current().NamedLinks(func(use func(path string, names []string, imports []syntax.Import)) error {
		return w.source.Store().Uses(ctx, use)
	})
	if err != nil {
		w.relinkDue.Store(true)
		w.source.Logger().Debug("make the graph of files", "error", err)
		return err
	}
	w.Search.SetLinks(links)
	return nil
}

// change turns an update into a document.
func change(u *index.Update) retrieval.Change {
	f := u.File
	if f == nil {
		return retrieval.Change{Path: u.Path}
	}
	s := f.Syntax
	modified := time.Now()
	if f.ModTime != 0 { // 0 is a buffer that is being edited
		modified = time.Unix(0, f.ModTime)
	}
	return retrieval.Change{Path: u.Path, Document: &retrieval.Document{
		Path: u.Path, Language: s.Language, Text: u.Text, Modified: modified, Syntax: s,
	}}
}
