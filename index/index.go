// Package index keeps one workspace root's index true to its files: it walks,
// analyses, stores, watches, and tells who follows it what changed.
//
// All that happens to a file goes through one funnel (funnel.go): editor events,
// client watchers, the index's own watcher, and scans after a start, a checkout or
// a lost event. An open document's buffer is the truth for its path, the disk for
// every other. One goroutine, the coordinator (coordinate.go), takes from the
// funnel and is the only one to write; a scan's workers hand it their documents.
// So an edit waits for no scan, and what is older never overwrites what is newer.
//
// Of several processes on one root the one that holds the file lock writes; the
// others read its database and take over when it goes. An index that cannot be
// written to disk lives in memory. Index is safe for concurrent use.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"quarry/index/store"
	"quarry/index/walk"
)

// Config says what to index and how.
type Config struct {
	// Dir is the workspace root.
	Dir string
	// StateDir is where indexes are kept; "" means DefaultStateDir.
	StateDir string
	// Allowed are the wide folders that may be indexed; without it Open fails with a
	// *Wide for such a Dir.
	Allowed Allowed
	// Limits say which files are left out for the user's settings.
	Limits walk.Limits
	// Share is how much of the processors a scan may take, in percent; 0 means all.
	Share int
	// Watch: the index watches the disk itself. Without it FilesChanged has to be
	// called; only git's own files are watched then.
	Watch bool
	// Brief: whoever opens it asks once and ends, so that the database is not read for
	// damage in the background. What a question meets of it is noticed all the same.
	Brief bool
	// Progress, if not nil, is called by the coordinator while a scan takes longer
	// than a moment, and when any scan is finished. It must return soon.
	Progress func(Progress)
	// Embedding, if not nil, is called while chunks are embedded for longer than a
	// moment, and at the end of each run. It must return soon.
	Embedding func(EmbedProgress)
	// Notify, if not nil, is called with what the user should know, once for each
	// matter.
	Notify func(message string)
	// Log takes what an operator wants to know; nil discards it.
	Log *slog.Logger
	// Clock is the time; nil means the system's.
	Clock Clock
}

// openRoot opens the workspace root, of which quarry's own state is no part.
func (cfg *Config) openRoot() (*walk.Root, error) {
	limits := cfg.Limits
	if state, err := stateDirOf(cfg.StateDir); err == nil {
		limits.Own = append(limits.Own[:len(limits.Own):len(limits.Own)], state)
	}
	if dir, err := filepath.Abs(cfg.Dir); err == nil {
		if dir, err = filepath.EvalSymlinks(dir); err == nil { // else it cannot be opened
			if own, err := databaseDir(cfg.StateDir, dir); err == nil {
				limits.Own = append(limits.Own, own) // where the root itself is the folder of state
			}
		}
	}
	return walk.Open(cfg.Dir, limits)
}

// Progress is how far a scan has come.
type Progress struct {
	// Done and Total count bytes of source.
	Done, Total int64
	// Files is how many files were read, OfFiles how many there are to read. In the last call
	// Files counts no file that is left out after all: one that cannot be read is tried by
	// every scan.
	Files, OfFiles int
	// Finished is true in the last call of a scan.
	Finished bool
	// Took is how long a finished scan took, 0 of one that was cut short.
	Took time.Duration
}

// Index is one open index.
type Index struct {
	cfg      Config
	root     *walk.Root
	throttle *throttle

	state   storage
	listed  atomic.Pointer[records] // read at the start, for the first scan
	cancel  context.CancelFunc
	closing <-chan struct{} // is closed by cancel; nil until the index is open
	stopped sync.WaitGroup  // the goroutines of the index

	embedding *Embedding
	troubles  troubles
	reading   reading

	wake  chan struct{} // tells the coordinator that the funnel holds something
	saved signal        // fires after each commit and when the store is replaced

	// mu guards the fields below, which the coordinator shares with callers. It is
	// never held while the disk or the database is touched.
	mu      sync.Mutex
	buffers map[string]*buffer   // open documents by path
	due     map[string]time.Time // changed paths and when to look at them
	scans   map[string]bool      // folders to scan
	rebuild bool                 // start from nothing
	removed bool                 // somebody removed the database
	damaged error                // set when the database was found to be damaged
	owner   bool                 // this process holds the lock and writes
	refused int                  // how often the lock was asked for again in vain
	running *scan                // the scan at work, nil if none
	settled chan struct{}        // closed while there is nothing to do
	// upToDate: nothing is known that is not indexed.
	upToDate bool
	// behind, looked and caughtUp are what Lag answers.
	behind   bool
	looked   bool // by a walk of the whole root, here or, where this process only reads, there
	caughtUp Cursor
	// cut: a scan did not end, and none of the whole root has ended since.
	cut bool
	// asOf is the latest moment such that all that was there then is indexed: a look at all files began then.
	asOf    time.Time
	counted count        // of the scan at work
	whole   *store.Store // the database that is known to have all files; nil if none is
	watch   bool         // the index is to watch the disk itself
	polling bool         // the root cannot be watched and is scanned now and then
	lastErr error
	short   error // why the index is not finished, nil if it is or may be (StopShort)

	// What follows belongs to the coordinator alone.
	trees    trees
	watching watches
	nextPoll time.Time
	lastScan time.Duration
}

// Open opens the index of a root, creating it if there is none, and begins to
// bring it up to date. What it held before can be read at once.
func Open(cfg Config) (*Index, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = systemClock{}
	}
	if cfg.Progress == nil {
		cfg.Progress = func(Progress) {}
	}
	if cfg.Embedding == nil {
		cfg.Embedding = func(EmbedProgress) {}
	}
	if cfg.Notify == nil {
		cfg.Notify = func(string) {}
	}
	if err := cfg.Allowed.Refuses(cfg.Dir); err != nil {
		return nil, err
	}
	root, err := cfg.openRoot()
	if err != nil {
		return nil, err
	}
	x := &Index{
		cfg: cfg, root: root, throttle: newThrottle(cfg.Clock), wake: make(chan struct{}, 1),
		buffers: map[string]*buffer{}, due: map[string]time.Time{}, scans: map[string]bool{"": true},
		settled: make(chan struct{}), troubles: newTroubles(&cfg), trees: trees{},
	}
	root.OnChange(func(dir string) { x.request(func() { x.scans[dir] = true }) })
	x.saved.init()
	x.state.x = x
	x.reading.x, x.reading.wrote = x, make(chan struct{}, 1)
	x.embedding = newEmbedding(x)
	if err := x.state.open(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel, x.closing = cancel, ctx.Done()
	x.watch = cfg.Watch
	x.watching.x, x.watching.all = x, cfg.Watch
	x.watching.start()
	x.stopped.Go(func() { x.coordinate(ctx) })
	x.stopped.Go(func() { x.check(ctx) })
	x.stopped.Go(func() { x.embedding.run(ctx) })
	x.stopped.Go(func() { heartbeat(ctx, x) })
	x.stopped.Go(func() { x.reading.lookBeside(ctx) })
	return x, nil
}

// Close stops all work, wherever it is, and closes the database. The next Open
// goes on from there.
func (x *Index) Close() error {
	x.cancel()
	x.stopped.Wait()
	var errs []error
	errs = append(errs, x.watching.close())
	x.trees.close()
	x.saved.fire()
	errs = append(errs, x.Store().Close(), x.state.unlock(), x.root.Close())
	return errors.Join(errs...)
}

// Store is the database to read from. It is another one after the index was
// rebuilt or moved into memory, or another process stopped writing it; do not keep it.
func (x *Index) Store() *store.Store { return x.state.current.Load() }

// Root decides which files may be read.
func (x *Index) Root() *walk.Root { return x.root }

// IsBrief answers whether whoever opened the index asks once and ends (Config.Brief).
func (x *Index) IsBrief() bool { return x.cfg.Brief }

// Logger takes what an operator wants to know of the index.
func (x *Index) Logger() *slog.Logger { return x.cfg.Log }

// Busy holds background work back until leave is called, and a moment longer: call
// it for each keystroke and around each completion. It costs nothing to speak of.
func (x *Index) Busy() (leave func()) { return x.throttle.enter() }

// Yield returns when work in the background may go on, or ctx is done.
func (x *Index) Yield(ctx context.Context) error { return x.throttle.wait(ctx) }

// Rescan compares the whole root with the index again.
func (x *Index) Rescan() { x.request(func() { x.scans[""] = true }) }

// Rebuild throws the index away and makes it anew. On Windows, where another process may hold the file, all is
// read anew into that. Only the process that writes the index can; in another the user is told so.
func (x *Index) Rebuild() {
	if !x.isOwner() {
		x.troubles.tell("Another quarry keeps the index of " + x.root.Dir() + " current: have that one rebuild it, or close it first.")
		return
	}
	x.request(func() { x.rebuild = true })
}

// CancelScan stops the scan at work. What was done stays; the rest is read by the next
// scan.
func (x *Index) CancelScan() {
	x.mu.Lock()
	running := x.running
	x.mu.Unlock()
	if running != nil {
		running.cancel()
	}
}

// request changes what the coordinator finds in the funnel.
func (x *Index) request(change func()) {
	x.mu.Lock()
	change()
	x.unsettle()
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default: // it is awake
	}
}

// unsettle: mu is held.
func (x *Index) unsettle() {
	x.upToDate = false
	select {
	case <-x.settled:
		x.settled = make(chan struct{})
	default:
	}
}

// Settle returns when everything that was known at the call is indexed and
// resolved. In a process that only reads, it returns at once.
func (x *Index) Settle(ctx context.Context) error {
	for {
		x.mu.Lock()
		settled, owner := x.settled, x.owner
		x.mu.Unlock()
		if !owner {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-settled:
		}
		x.mu.Lock()
		same := settled == x.settled
		err := x.lastErr
		x.mu.Unlock()
		if same {
			return err
		}
	}
}

// isSettled answers whether nothing is left to do; a reader cannot know and
// trusts what it reads.
func (x *Index) isSettled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case <-x.settled:
		return true
	default:
		return !x.owner
	}
}

// check looks for damage in the background; answers are served meanwhile. Of what
// another process writes, that one sees to it.
func (x *Index) check(ctx context.Context) {
	if x.cfg.Brief || !x.isOwner() || x.throttle.wait(ctx) != nil {
		return
	}
	s := x.Store()
	err := s.Check(ctx)
	if err == nil || ctx.Err() != nil || s != x.Store() {
		return
	}
	if !x.reportDamage(s, err) { // a database that is replaced meanwhile cannot be read either
		x.cfg.Log.Info("check the index", "error", err)
	}
}

// reportDamage answers whether err, which reading a database led to, says that it is
// damaged, and has it replaced then. In a process that only reads that is the
// writer's business.
func (x *Index) reportDamage(s *store.Store, err error) bool {
	if !errors.Is(err, store.ErrCorrupt) {
		return false
	}
	if x.isOwner() {
		x.request(func() {
			if s == x.Store() {
				x.damaged = err
			}
		})
	}
	return true
}

// signal wakes any number of waiters.
type signal struct {
	mu sync.Mutex // guards c
	c  chan struct{}
}

func (s *signal) init() { s.c = make(chan struct{}) }

// next is closed by the next fire.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c
}

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.c)
	s.c = make(chan struct{})
}

// fail notes an error that is not worth more than a line in the log and status.
func (x *Index) fail(err error) {
	x.cfg.Log.Error("index", "error", err)
	x.mu.Lock()
	x.lastErr = fmt.Errorf("index %s: %w", x.root.Dir(), err)
	x.mu.Unlock()
}
