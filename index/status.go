package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"quarry/index/process"
	"quarry/index/store"
	"quarry/index/walk"
)

// Writer says which process keeps an index current.
type Writer string

// The writers.
const (
	ThisProcess  Writer = "this"
	OtherProcess Writer = "other"
	NoProcess    Writer = "none"
)

// Activity is a kind of work on an index.
type Activity string

// The activities, in the order in which a first index has them.
const (
	Opening         Activity = "opening"
	Indexing        Activity = "indexing"
	Loading         Activity = "loading"
	Learning        Activity = "learning"
	EmbeddingChunks Activity = "embedding"
)

// Status is what the index holds and does.
type Status struct {
	Root string `json:"root"`
	// Database is the file the index is kept in, "" if in memory.
	Database string `json:"database"`
	// Writer says which process keeps the index current.
	Writer Writer `json:"writer"`
	// Working: something is still to be indexed, or to be learned.
	Working bool `json:"working"`
	// Doing names what goes on, [] if nothing: opening the index, indexing files,
	// loading what was indexed before into memory, learning
	// what has changed, embedding.
	Doing []Activity `json:"doing"`
	// Learning: searches and completion do not know all yet that the index holds.
	Learning bool `json:"learning"`
	// Whole: every file was read at least once, and the last scan was not stopped.
	Whole bool `json:"whole"`
	// Stale is how the folder differs from the index, where nobody keeps that current, or
	// who does is stopped, and somebody looked; nil otherwise.
	Stale *Difference `json:"stale,omitempty"`
	store.Totals
	// DatabaseBytes is the size of the database.
	DatabaseBytes int64 `json:"database_bytes"`
	// Scanned is when the whole root was last compared with the index, and
	// ScanSeconds how long that took.
	Scanned     time.Time `json:"scanned,omitzero"`
	ScanSeconds float64   `json:"scan_seconds"`
	// Skipped counts what the last scan left out, by reason; SkippedPaths names
	// the first of them.
	Skipped      map[string]int  `json:"skipped"`
	SkippedPaths []store.Skipped `json:"skipped_paths"`
	// Problems are files that were indexed by lines only.
	Problems []store.Problem `json:"problems"`
	// Troubles are sentences about what keeps the index from being as it should be now, and
	// what to do about it.
	Troubles []string `json:"troubles"`
	// LastError is what went wrong last, "" if nothing did.
	LastError string `json:"last_error"`
	// Embedding says how far the vectors are.
	Embedding EmbeddingStatus `json:"embedding"`
}

// Working answers whether something is still to be indexed. In a process that only
// reads nobody knows, and the answer is no.
func (x *Index) Working() bool { return !x.isSettled() }

// Whole returns when everything is indexed, whoever does it: as Settle
// in the process that writes, and in another once the writer was through at least
// once, or has gone and this process has done it.
func (x *Index) Whole(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // also where nothing has to be waited for
	}
	// Who only looks at the index holds the lock for a moment, too: only who holds it
	// when it is asked for again is a writer.
	refused := x.timesRefused()
	for !x.isOwner() {
		saved := x.saved.next()
		if x.timesRefused() > refused {
			s := x.Store()
			whole, err := wasScanned(ctx, s)
			switch {
			case err != nil && (s == x.Store() || ctx.Err() != nil):
				return err
			case err == nil && whole:
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-saved:
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(readerPoll)):
		}
	}
	return x.Settle(ctx)
}

func (x *Index) timesRefused() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refused
}

// wasScanned answers whether a whole scan has ended in a database.
func wasScanned(ctx context.Context, s *store.Store) (bool, error) {
	version, err := s.Meta(ctx, "analyzer")
	return version != "", err
}

// Status answers what the index holds and does.
func (x *Index) Status(ctx context.Context) (Status, error) {
	s := x.Store()
	st := Status{Root: x.root.Dir(), Doing: []Activity{}, Skipped: map[string]int{}}
	if !s.InMemory() {
		st.Database = x.state.database()
	}
	st.Writer = OtherProcess
	x.mu.Lock()
	if x.owner {
		st.Writer = ThisProcess
		select {
		case <-x.settled:
		default:
			st.Working = true
			st.Doing = append(st.Doing, Indexing)
		}
	} else if s.InMemory() { // there is no database to read yet
		st.Working = true
		st.Doing = append(st.Doing, Opening)
	}
	if x.lastErr != nil {
		st.LastError = x.lastErr.Error()
	}
	x.mu.Unlock()
	if st.Troubles = x.Troubles(); st.Writer == OtherProcess && len(st.Troubles) == 0 {
		if pid, hangs := x.reading.writerHangs(); hangs {
			st.Troubles = append(st.Troubles, unservedBy(pid, st.Root))
		}
	}
	if err := st.read(ctx, s); err != nil {
		return st, err
	}
	x.mu.Lock()
	st.Whole = st.Whole && !x.cut
	x.mu.Unlock()
	x.embedding.status(&st.Embedding)
	return st, st.Embedding.read(ctx, s, x.embedding.configured().Model)
}

// Difference is how many files of a folder its index does not have as they are.
type Difference struct {
	New     int `json:"new"`
	Changed int `json:"changed"`
	Gone    int `json:"gone"`
}

// compare looks at the size and times of each file of a root, and reads only what they do not
// tell of, where nobody else will. served: some
// process writes the index, so that what is of no time is what an editor has open there, and
// not what one had.
func compare(ctx context.Context, root *walk.Root, files *stateFiles, s *store.Store, served bool) (*Difference, error) {
	known, err := files.openListing(ctx, s)
	if err != nil {
		return nil, err
	}
	if known == nil {
		rows, err := s.Stats(ctx, "")
		if err != nil {
			return nil, err
		}
		known = &records{store: s, rows: rows, whole: true}
	}
	var d Difference
	const maxFresh = 500 // files that are read although nothing says that they changed
	fresh := 0
	err = root.Walk(ctx, "", walk.Visitor{
		Dir:   func(string) {},
		Skip:  func(walk.Skip) {},
		Known: known.known(),
		File: func(e walk.Entry) error {
			st, asIs, reason, err := known.meet(ctx, e)
			switch {
			case reason != "" || asIs:
			case st == nil:
				if fresh++; fresh <= maxFresh {
					if _, _, out, _ := root.Read(e.Path); out != "" {
						break // for what is in it
					}
				}
				d.New++
			case mayBe(st, e):
				// Its time was too fresh to be believed, or an editor had it open: who writes the
				// index looks again by itself. Where nobody does, the text says it.
				if fresh++; served || fresh > maxFresh {
					return err
				}
				fallthrough
			case st.Size == e.Size && st.ModTime == e.ModTime: // it has another name or other rights, or is a copy
				if text, _, out, _ := root.Read(e.Path); out != "" || hashOf(text) != st.Hash {
					d.Changed++
				}
			default:
				d.Changed++
			}
			if err == nil {
				err = ctx.Err()
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	gone, err := known.left(ctx)
	d.Gone = len(gone)
	return &d, err
}

// ErrNoIndex says that a root was never indexed.
var ErrNoIndex = errors.New("there is no index yet")

// Peek answers what the index that Open(cfg) would open holds without keeping it current, and how the
// folder differs from it. Of that nothing is said when looking lasts longer than patience.
func Peek(ctx context.Context, cfg Config, patience time.Duration) (st Status, err error) {
	root, err := cfg.openRoot()
	if err != nil {
		return st, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	folder, err := databaseDir(cfg.StateDir, root.Dir())
	if err != nil {
		return st, err
	}
	files := stateFiles{dir: folder}
	if _, err := os.Stat(files.database()); errors.Is(err, fs.ErrNotExist) {
		if err := cfg.Allowed.Refuses(cfg.Dir); err != nil {
			return st, err
		}
		return st, fmt.Errorf("%w for %s: run `quarry index`", ErrNoIndex, root.Dir())
	}
	st = Status{Root: root.Dir(), Database: files.database(), Writer: OtherProcess, Doing: []Activity{}, Troubles: []string{}, Skipped: map[string]int{}}
	lock := flock.New(filepath.Join(folder, "lock"))
	if free, err := lock.TryLock(); err != nil {
		return st, fmt.Errorf("look who writes the index: %w", err)
	} else if free {
		st.Writer = NoProcess
	}
	// The lock is held while reading, so that nobody changes the schema meanwhile.
	defer func() { err = errors.Join(err, lock.Close()) }()
	s, err := store.OpenToRead(files.database())
	switch older := errors.Is(err, store.ErrOlderSchema); {
	case st.Writer == OtherProcess && (older || errors.Is(err, store.ErrNewerSchema)):
		return st, fmt.Errorf("the index of %s: %w", root.Dir(), &OtherVersion{files.writer(), err})
	case older:
		return st, fmt.Errorf("%w; the next search, or `quarry index`, brings it up to date", err)
	case err != nil:
		return st, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := st.read(ctx, s); err != nil {
		return st, err
	}
	st.Embedding.State = EmbeddingWaiting
	if err := st.Embedding.read(ctx, s, ""); err != nil {
		return st, err
	}
	served := st.Writer == OtherProcess
	pid := files.writer()
	hangs := served && process.IsStopped(pid)
	if hangs {
		st.Troubles = append(st.Troubles, unservedBy(pid, st.Root))
	}
	if (!served || hangs) && patience > 0 {
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if st.Stale, err = compare(within, root, &files, s, served); err != nil && within.Err() == nil {
			return st, err
		}
	}
	switch {
	case st.Embedding.Error != "":
		st.Embedding.State = EmbeddingFailing
	case st.Embedding.Model == "":
		st.Embedding.State = EmbeddingOff
	}
	return st, nil
}

func (st *Status) read(ctx context.Context, s *store.Store) (err error) {
	if st.Totals, err = s.Totals(ctx); err != nil {
		return err
	}
	if st.DatabaseBytes, err = s.Size(ctx); err != nil {
		return err
	}
	if st.Skipped, err = skipped(ctx, s); err != nil {
		return err
	}
	meta := map[string]string{"scanned": "", "scan_seconds": "0"}
	for key := range meta {
		value, err := s.Meta(ctx, key)
		if err != nil {
			return err
		}
		if value != "" {
			meta[key] = value
		}
	}
	// Unreadable values are those of no scan; the next one writes them again.
	st.Scanned, _ = time.Parse(time.RFC3339, meta["scanned"])
	_ = json.Unmarshal([]byte(meta["scan_seconds"]), &st.ScanSeconds)
	if st.SkippedPaths, err = s.SkippedPaths(ctx); err != nil {
		return err
	}
	if st.Problems, err = s.Problems(ctx); err != nil {
		return err
	}
	st.Whole, err = wasScanned(ctx, s)
	return err
}

// Skipped counts what the last scan left out, by reason.
func (x *Index) Skipped(ctx context.Context) (map[string]int, error) { return skipped(ctx, x.Store()) }

func skipped(ctx context.Context, s *store.Store) (map[string]int, error) {
	counts := map[string]int{}
	text, err := s.Meta(ctx, "skipped")
	if err == nil && text != "" {
		_ = json.Unmarshal([]byte(text), &counts) // unreadable counts are those of no scan
	}
	return counts, err
}

func encodeCounts(counts map[string]int) string {
	text, err := json.Marshal(counts)
	if err != nil {
		panic(err) // a map of strings to numbers always encodes
	}
	return string(text)
}

func excluded(rel string, reason walk.Reason) error {
	return &walk.Excluded{Path: rel, Reason: reason}
}

// trouble is something that keeps an index from being as it should be, and may pass.
type trouble int

const (
	inMemory     trouble = iota // it cannot be kept on disk
	unserved                    // the process that writes it does not answer
	delayed                     // changes made outside the editor are noticed late
	tooShort                    // too little memory is allowed
	stoppedShort                // a scan did not end
)

// StopShort notes that the index, or what is made of it, cannot be finished because the process
// may take too little memory, which err says (addresses.Check).
func (x *Index) StopShort(err error) {
	err = fmt.Errorf("%w; until then %s is searched in part", err, x.root.Dir())
	x.mu.Lock()
	x.short, x.lastErr = err, err
	x.mu.Unlock()
	x.troubles.begin(tooShort, err.Error())
	x.saved.fire()
}

// troubles is what the user is told of an index.
type troubles struct {
	log    *slog.Logger
	notify func(string) // shows the user a message

	mu  sync.Mutex         // guards the fields below
	now map[trouble]string // what is wrong now, in words
	// told are the messages that the user was shown.
	told map[string]bool
}

func newTroubles(cfg *Config) troubles {
	return troubles{log: cfg.Log, notify: cfg.Notify, now: map[trouble]string{}, told: map[string]bool{}}
}

// tell shows the user a message, once.
func (t *troubles) tell(message string) {
	t.mu.Lock()
	known := t.told[message]
	t.told[message] = true
	t.mu.Unlock()
	if !known {
		t.log.Info(message) // the user is told, on the screen that has the warnings of the log, too
		t.notify(message)
	}
}

// begin notes what is wrong, and tells the user, once for each matter.
func (t *troubles) begin(what trouble, message string) {
	t.note(what, message)
	t.tell(message)
}

// note notes what is wrong, of which nobody is told who does not ask.
func (t *troubles) note(what trouble, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now[what] = message
}

// end notes that something is over; it answers whether it was there.
func (t *troubles) end(what trouble) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, was := t.now[what]
	delete(t.now, what)
	return was
}

// has answers whether something is wrong now.
func (t *troubles) has(what trouble) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, is := t.now[what]
	return is
}

// list are sentences about what is wrong now, and what to do about it.
func (t *troubles) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := []string{}
	for _, what := range slices.Sorted(maps.Keys(t.now)) {
		list = append(list, t.now[what])
	}
	return list
}

// Troubles are sentences about what is wrong now, and what to do about it.
func (x *Index) Troubles() []string { return x.troubles.list() }
