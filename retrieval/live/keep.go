package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"quarry/index"
	"quarry/index/addresses"
	"quarry/index/fault"
	"quarry/index/snapshot"
	"quarry/index/store"
	"quarry/retrieval"
)

// What searches know is kept in a file beside the database, so that the next process
// begins with it. Its first sections are the retrieval index; the last says of which
// database and which state of it, and which id each file has there. What changed since
// is reported by the database's own feed, so the file may be old, and is written anew only
// when much has changed, by the process that writes the database, at rest.
//
// The file graph spans the whole workspace, so any change can affect every ranking. So that what
// searches answer does not depend on when they began, it is kept in a small file of its own
// whenever it was made anew, and who begins takes it if it is of the same state.

// keptState is the last section.
type keptState struct {
	Identity   string  `json:"identity"`
	Generation int64   `json:"generation"`
	Files      []int64 `json:"files"` // ids, in the order of retrieval.Snapshot.Sections
	// Linked: the graph is of that state, too.
	Linked bool `json:"linked"`
}

// linksSuffix is added to the file's name for the graph's own.
const linksSuffix = ".links"

// linksState is that file's last section.
type linksState struct {
	Identity   string `json:"identity"`
	Generation int64  `json:"generation"`
}

// How much has to change for the file to be worth writing again: each changed file is
// indexed anew by every process that starts.
const (
	keepFiles = 64
	keepShare = 32 // of all files, as a divisor
)

// keepRate is how much is written, in bytes a second, for the sake of a few changed files alone:
// until then what was in them before stands in the file. What is gone leaves it at the next rest,
// since it may be there still, under a name that is left out.
const keepRate = 100_000

// muchMemory is how large an index is, in bytes, for what it took in memory to be worth
// giving back at once.
const muchMemory = 8 << 20

// restore begins with what is kept, if there is a file for the present database.
func (w *Workspace) restore(ctx context.Context) (known index.Known, ok bool) {
	path := w.source.Kept().Path()
	if path == "" {
		return known, false
	}
	known, err := w.open(ctx, path)
	switch {
	case err == nil:
		return known, true
	case errors.Is(err, fs.ErrNotExist):
	default:
		w.source.Logger().Debug("begin without the snapshot", "file", path, "error", err)
		// What this process may not read or map, or had no time for, serves the next one.
		if errors.Is(err, snapshot.ErrUnusable) && w.source.Kept().MayWrite() {
			_ = os.Remove(path) // another is made
		}
	}
	return known, false
}

// open begins with the file at path; the error is snapshot.ErrUnusable if nobody can.
func (w *Workspace) open(ctx context.Context, path string) (known index.Known, err error) {
	read := snapshot.Open
	if w.source.IsBrief() {
		read = snapshot.OpenVerified
	}
	f, err := read(path, retrieval.StoredVersion)
	if err != nil {
		return known, err
	}
	f.MarkVerified()
	var state keptState
	n := len(f.Sections) - 1
	if failed := fault.Guard(func() { err = json.Unmarshal(f.Sections[max(n, 0)], &state) }); failed != nil || err != nil {
		return known, errors.Join(snapshot.ErrUnusable, failed, err)
	}
	identity, s, err := w.source.Kept().Identity(ctx)
	if err != nil {
		return known, err
	}
	now, err := s.Load(ctx, []int64{}, nil)
	switch {
	case err != nil:
		return known, err
	case identity == "" || identity != state.Identity:
		return known, fmt.Errorf("%w: it is of another database", snapshot.ErrUnusable)
	case state.Generation > now:
		return known, fmt.Errorf("%w: the database is older", snapshot.ErrUnusable) // lost power took commits back
	}
	if may, err := index.MayBegin(ctx, s, state.Generation); err != nil || !may {
		return known, cmp.Or(err, fmt.Errorf("%w: it may have what is left out by now", snapshot.ErrUnusable))
	}
	if err := w.Search.Restore(f.Sections[:n], f); err != nil {
		return known, errors.Join(snapshot.ErrUnusable, err)
	}
	known = index.Known{Store: s, Generation: state.Generation, Files: make(map[int64]string, len(state.Files))}
	paths, languages := w.Search.Current().Listed()
	if len(paths) != len(state.Files) {
		return known, fmt.Errorf("%w: it has not an id for each file", snapshot.ErrUnusable)
	}
	for i, p := range paths {
		known.Files[state.Files[i]] = p
	}
	s.BeginViews(&store.KnownFiles{Generation: state.Generation, IDs: state.Files, Paths: paths, Languages: languages})
	w.mu.Lock()
	w.changed, w.gone, w.linksTried = 0, 0, false
	w.mu.Unlock()
	w.relinkDue.Store(!state.Linked)
	w.usable.Store(true)
	return known, nil
}

// restoreLinks begins with the graph that is kept if it is of the given state, which is that
// of what is searchable; relinking is held.
func (w *Workspace) restoreLinks(ctx context.Context, at index.Cursor) bool {
	path := w.source.Kept().Path()
	if path == "" {
		return false
	}
	sections, state, err := readLinks(path + linksSuffix)
	if err != nil {
		return false // it is made anew
	}
	identity, _, err := w.source.Kept().Identity(ctx)
	if err != nil || identity == "" || identity != state.Identity || state.Generation != at.Generation() || !w.source.IsCurrent(at) {
		return false
	}
	w.relinkDue.Store(false) // before: what is applied meanwhile makes it due again
	if !w.Search.RestoreLinks(sections) {
		w.relinkDue.Store(true)
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.linksKept = at
	return true
}

// readLinks reads the graph's file into memory.
func readLinks(path string) (sections [][]byte, state linksState, err error) {
	f, err := snapshot.Open(path, retrieval.StoredVersion)
	if err != nil {
		return nil, state, err
	}
	failed := fault.Guard(func() {
		for _, s := range f.Sections {
			sections = append(sections, slices.Clone(s))
		}
	})
	last := len(sections) - 1
	if failed != nil || last < 0 {
		return nil, state, errors.Join(snapshot.ErrUnusable, failed)
	}
	return sections[:last], state, json.Unmarshal(sections[last], &state)
}

// keep reads the graph again and writes the file, when there is rest and reason to.
func (w *Workspace) keep(ctx context.Context) {
	index.Background()
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		changed, stored := w.Changed(), w.source.Changed()
		again.Stop()
		if wait := w.tidy(ctx); wait > 0 {
			again.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-stored:
		case <-again.C:
		case <-w.rest.C:
			w.Search.Current().Rest()
			debug.FreeOSMemory()
		}
	}
}

// Keep writes the file now if that is due, for commands that end when they have
// answered. What keeps it from being written is no reason for them to fail.
func (w *Workspace) Keep(ctx context.Context) {
	w.tidying.Lock()
	defer w.tidying.Unlock()
	w.next = time.Time{}
	w.tidyLocked(ctx, false)
}

// KeepAll is Keep for a command whose user waits for that: the file is written if anything changed.
func (w *Workspace) KeepAll(ctx context.Context) {
	w.tidying.Lock()
	defer w.tidying.Unlock()
	w.next = time.Time{}
	w.tidyLocked(ctx, true)
}

// tidy does what is due; the answer is how long to wait for what is put off.
func (w *Workspace) tidy(ctx context.Context) time.Duration {
	w.tidying.Lock()
	defer w.tidying.Unlock()
	return w.tidyLocked(ctx, false)
}

// tidyLocked is tidy; tidying is held. all: any change makes the file due.
func (w *Workspace) tidyLocked(ctx context.Context, all bool) time.Duration {
	if w.source.Working() || w.Behind(ctx) || w.source.Yield(ctx) != nil {
		return 0
	}
	if wait := time.Until(w.next); wait > 0 && w.relinkDue.Load() {
		return wait
	}
	began := time.Now()
	if w.relinkDue.Load() && w.link(ctx, w.Knows()) != nil {
		return 0
	}
	var err error
	if err = addresses.Check(w.Search.Current().MergeBytes()); err != nil {
	} else if wait, ever := w.due(); ever && (all || wait == 0) {
		err = w.write(ctx)
	} else if w.linksAreDue() {
		err = w.writeLinks(ctx)
	}
	if err != nil {
		w.source.Logger().Debug("write the snapshot", "error", err)
	}
	// Rest is not spent on this more than a small part of the time.
	w.next = time.Now().Add(20 * time.Since(began))
	if wait, ever := w.due(); ever && err == nil { // else it is tried again when something happens
		return max(wait, time.Until(w.next))
	}
	return 0
}

// due answers how long it is until the file is to be written; ever is false if nothing changed.
func (w *Workspace) due() (wait time.Duration, ever bool) {
	if !w.source.Kept().MayWrite() {
		return 0, false
	}
	info, err := os.Stat(w.source.Kept().Path()) // it goes when what is in it must not be kept
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.searchable == (index.Cursor{}):
		return 0, false
	case err != nil, !w.usable.Load(), w.gone > 0, w.changed >= max(keepFiles, w.Search.Current().Files()/keepShare):
		return 0, true
	case w.changed == 0:
		return 0, false
	}
	last := time.Since(info.ModTime()).Abs() // a clock that was put back does not put it off for ever
	return max(time.Duration(info.Size()*1000/keepRate)*time.Millisecond-last, 0), true
}

// linksAreDue answers whether the graph of what is searchable is in no file yet.
func (w *Workspace) linksAreDue() bool {
	w.relinking.Lock() // a graph that is just read from its file is in one
	defer w.relinking.Unlock()
	if !w.source.Kept().MayWrite() || !w.usable.Load() || w.relinkDue.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.searchable != (index.Cursor{}) && w.searchable != w.linksKept
}

// state is what searches know now, and the state that it is of. linked: the graph is of the
// same.
func (w *Workspace) state() (now *retrieval.Snapshot, at index.Cursor, since count, linked bool) {
	w.mu.Lock()
	at, since = w.searchable, w.count
	w.mu.Unlock()
	// What is applied after this makes the database newer than at, which the caller sees.
	w.relinking.Lock()
	defer w.relinking.Unlock()
	return w.Search.Current(), at, since, !w.relinkDue.Load()
}

// identity is that of the database that something is to be kept of.
func (w *Workspace) identity(ctx context.Context) (string, *store.Store, error) {
	identity, s, err := w.source.Kept().Identity(ctx)
	if err == nil && identity == "" {
		err = errors.New("the index has no identity")
	}
	return identity, s, err
}

// writeLinks keeps the graph.
func (w *Workspace) writeLinks(ctx context.Context) error {
	now, at, _, linked := w.state()
	identity, _, err := w.identity(ctx)
	if err != nil {
		return err
	}
	sections := now.LinkSections()
	present, err := w.source.Cursor(ctx)
	switch {
	case err != nil:
		return err
	case w.isLost():
		return errLost
	case present != at || !linked:
		return errMoved
	}
	last, err := json.Marshal(linksState{identity, at.Generation()})
	if err != nil {
		return err
	}
	path := w.source.Kept().Path()
	if path == "" || !w.source.Kept().MayWrite() {
		return errMoved
	}
	sections = append(sections, last)
	if err := snapshot.Write(path+linksSuffix, retrieval.StoredVersion, len(sections), slices.Values(sections)); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.linksKept = at
	return nil
}

// errMoved says that the database moved on while the file was written.
var errMoved = errors.New("the index changed meanwhile")

// errLost says that what would be written cannot be read any more.
var errLost = errors.New("what searches knew is lost")

func (w *Workspace) isLost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Moments while the file is put in its place, for tests.
const (
	beforeCheck  = "before it is looked at whether it may be kept"
	beforeRename = "before it has its name"
	afterRename  = "before it is read"
)

var atPut = func(moment string) {}

// write keeps what searches know, and goes on from the file.
func (w *Workspace) write(ctx context.Context) error {
	now, cursor, since, linked := w.state()
	identity, s, err := w.identity(ctx)
	if err != nil {
		return err
	}
	listed, generation, err := s.Listed(ctx)
	if err != nil {
		return err
	}
	if !w.source.IsCurrent(cursor) || generation != cursor.Generation() {
		return errMoved
	}
	// What another program wrote into the file before would get right checksums.
	if !now.IsSound() {
		return errLost
	}
	n, sections, paths := now.Sections()
	if w.isLost() {
		return errLost
	}
	byPath := make(map[string]int64, len(listed))
	for i := range listed {
		byPath[listed[i].Path] = listed[i].ID
	}
	state := keptState{Identity: identity, Generation: generation, Linked: linked}
	for _, p := range paths {
		id, ok := byPath[p]
		if !ok {
			return errMoved
		}
		state.Files = append(state.Files, id)
	}
	if len(paths) != len(listed) {
		return errMoved // of some files the text is not the record's
	}
	last, err := json.Marshal(state)
	if err != nil {
		return err
	}
	path := w.source.Kept().Path()
	if path == "" || !w.source.Kept().MayWrite() {
		return errMoved
	}
	size := len(last)
	all := func(yield func([]byte) bool) {
		for s := range sections {
			size += len(s)
			if !yield(s) {
				return
			}
		}
		if now.IsSound() && !w.isLost() { // else too few are written, and none of them kept
			yield(last)
		}
	}
	// A rule may have come since the state was looked at, which takes as long as making the
	// sections does. What is written then stays nowhere.
	put := func(rename func() error) error {
		atPut(beforeCheck)
		return w.source.Kept().Put(ctx, cursor, func() error {
			atPut(beforeRename)
			return rename()
		})
	}
	if err := snapshot.WriteIf(path, retrieval.StoredVersion, n+1, all, put); err != nil {
		return err
	}
	atPut(afterRename)
	f, err := snapshot.Open(path, retrieval.StoredVersion)
	if err != nil {
		return err
	}
	f.MarkVerified()
	if _, err := w.Search.Swap(now, f.Sections[:len(f.Sections)-1], f); err != nil {
		return err
	}
	w.usable.Store(true)
	w.spareMemory()
	w.mu.Lock()
	w.changed -= since.changed
	w.gone -= since.gone
	if linked {
		w.linksKept = cursor
	}
	w.mu.Unlock()
	if size >= muchMemory {
		debug.FreeOSMemory() // what the file is in the place of now, and what making it took
	}
	return nil
}
