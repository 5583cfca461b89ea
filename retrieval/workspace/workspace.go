// Package workspace keeps the folders of a workspace searchable while they change:
// for each an index.Index, which is true to the files, and a retrieval.Index in
// memory, which follows it and answers.
//
// Opening a folder happens in the background. Until its index is open, what the
// editor tells is remembered; until it is read into memory, searches answer from
// what is there. All methods are safe for concurrent use; only those that take a
// context wait.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/index"
	"quarry/index/glob"
	"quarry/index/walk"
	"quarry/retrieval"
	"quarry/retrieval/dense"
	"quarry/retrieval/rerank"
)

// Options say how folders are indexed and who is notified.
type Options struct {
	// StateDir is where indexes are kept, "" for the platform's place.
	StateDir string
	// Watch makes the indexes look for changes on disk themselves.
	Watch bool
	// Brief: whoever makes it asks once and ends (index.Config).
	Brief bool
	// Scope says what is indexed; SetScope changes it.
	Scope Scope
	Log   *slog.Logger
	// Notify, if not nil, is called with what the user should know.
	Notify func(message string)
	// Progress, if not nil, is called while a folder is scanned; stop ends the
	// scan. It must return soon.
	Progress func(dir string, p index.Progress, stop func())
	// Embedding, if not nil, is called while the chunks of a folder are embedded; stop
	// ends that. It must return soon.
	Embedding func(dir string, p index.EmbedProgress, stop func())
	// QueryTimeout is how long a search waits for its query to be embedded before it
	// goes on without, half a second if 0.
	QueryTimeout time.Duration
	// WaitLimit is how long an answer waits for what it cannot do without, 5 s if 0.
	WaitLimit time.Duration
	// Project, if not nil, answers questions about the whole (retrieval.Query.Topics): its
	// results come before those of the search.
	Project func(ctx context.Context, w *Workspace, topics []retrieval.Topic) ([]Result, error)
	// Follow, if not nil, is called for each file that enters, changes or leaves
	// the index, from one goroutine a folder, but not for those that searches began
	// with. The update's path is relative to dir.
	Follow func(dir string, u index.Update)
}

// Scope is what a user's settings say of all folders.
type Scope struct {
	// Off: nothing is indexed.
	Off bool
	// Allowed are the wide folders that may be indexed.
	Allowed index.Allowed
	// Exclude are globs that have been checked, and MaxFileBytes is the largest file, the usual
	// if 0.
	Exclude      []string
	MaxFileBytes int64
	// Share is how much of the processors a scan may take, in percent, all if 0.
	Share int
}

// Config is that of the index of a folder.
func (s Scope) Config(dir, stateDir string) index.Config {
	return index.Config{
		Dir: dir, StateDir: stateDir, Allowed: s.Allowed, Share: s.Share,
		Limits: walk.Limits{MaxSize: s.MaxFileBytes, Exclude: glob.CompileAll(s.Exclude)},
	}
}

// Workspace is a set of folders.
type Workspace struct {
	opts Options

	mu sync.Mutex
	// folders are in the order the editor named them; guarded by mu.
	folders []*folder
	named   []root   // as the editor names them; guarded by mu
	links   []linked // of named, those that folders have otherwise; guarded by mu
	scope   Scope    // guarded by mu
	// buffers are the open documents by the editor's path; guarded by mu.
	buffers map[string]string
	// embedders are those of all folders; guarded by mu.
	embedders index.Embedders
	queries   *dense.Memory
	reranker  *rerank.Reranker // nil if nobody reranks; guarded by mu
	watch     bool             // WatchFiles was called; guarded by mu
	closing   sync.WaitGroup   // folders that are being opened or closed
}

// queryTimeout is Options.QueryTimeout if that is 0: a model that is in memory needs
// a tenth of it.
const queryTimeout = 500 * time.Millisecond

// New makes a workspace without folders.
func New(opts Options) *Workspace {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.QueryTimeout == 0 {
		opts.QueryTimeout = queryTimeout
	}
	if opts.WaitLimit == 0 {
		opts.WaitLimit = defaultPatience
	}
	return &Workspace{opts: opts, scope: opts.Scope, buffers: map[string]string{}, queries: dense.NewMemory(opts.QueryTimeout)}
}

// SetRoots makes dirs the workspace's folders: new ones are opened, others are
// closed.
func (w *Workspace) SetRoots(dirs []string) {
	roots := rootsOf(dirs)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setRoots(roots, func(*folder) bool { return true })
}

// SetScope says what is indexed from here on. The folders are opened again if that changes.
func (w *Workspace) SetScope(scope Scope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reflect.DeepEqual(scope, w.scope) {
		return
	}
	w.scope = scope
	w.setRoots(w.named, func(*folder) bool { return false }) // rare, and what a folder covers changes, too
}

// Close ends all work and waits for it.
func (w *Workspace) Close() {
	w.SetRoots(nil)
	w.closing.Wait()
}

// CatchUp returns when the folders are indexed as they were at the call, every
// file can be searched, and Follow was notified of it, for commands that ask once and
// cannot wait for the next question.
func (w *Workspace) CatchUp(ctx context.Context) error {
	for _, f := range w.snapshot() {
		if err := f.wait(ctx); err != nil {
			return err
		}
		if f.err != nil || f.covered {
			continue // said when it was opened
		}
		if err := f.index.Settle(ctx); err != nil {
			return err
		}
		if err := f.warm.CatchUp(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Keep writes what searches know beside each index if that is due, so that the next
// process begins with it, for commands that end when they have answered.
func (w *Workspace) Keep(ctx context.Context) {
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err == nil {
			f.warm.Keep(ctx)
		}
	}
}

// Load returns when searches know all that the whole indexes hold which this process writes, so
// that Keep can keep it; in a command that has answered already. It calls show now and then, with how
// many files are known by then, of how many, if it takes a while.
func (w *Workspace) Load(ctx context.Context, show func(done, total int)) error {
	for _, f := range w.snapshot() {
		x, err := f.ready()
		if err != nil || !x.Kept().MayWrite() {
			continue
		}
		// Of a first index, each process keeps what it has read, and there is no end to wait for.
		if c, err := x.Coverage(ctx, time.Time{}); err != nil || !c.Whole || !x.Working() && !f.warm.Behind(ctx) {
			continue
		}
		totals, err := x.Store().Totals(ctx)
		if err != nil {
			return err
		}
		known := make(chan error, 1)
		go func() {
			err := x.Settle(ctx)
			if err == nil {
				err = f.warm.CatchUp(ctx)
			}
			known <- err
		}()
		tick := time.NewTicker(loadShown)
		for waiting := true; waiting; {
			select {
			case err = <-known:
				waiting = false
			case <-tick.C:
				show(f.warm.Search.Current().Files(), int(totals.Files))
			}
		}
		tick.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// loadShown is how long a load may take before anybody is told of it.
const loadShown = 500 * time.Millisecond

// Link returns when the graph of files is that of what searches know, for commands that ask
// once. Where those know little yet, it is not made.
func (w *Workspace) Link(ctx context.Context) {
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err == nil && f.warm.IsReady() {
			f.warm.Link(ctx)
		}
	}
}

// SettleVectors returns when every text that was indexed at the call has its vector, or
// with what hinders that.
func (w *Workspace) SettleVectors(ctx context.Context) error {
	for _, f := range w.snapshot() {
		if x, err := f.ready(); err == nil {
			if err := x.Embedding().Settle(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// each calls do with every open index.
func (w *Workspace) each(do func(*index.Index)) {
	for _, f := range w.folders {
		if x, err := f.ready(); err == nil {
			do(x)
		}
	}
}

// DidOpen tells of a document in the editor; path is absolute.
func (w *Workspace) DidOpen(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffers[path] = text
	at := w.place(path)
	w.each(func(x *index.Index) { x.DidOpen(at, text) })
}

// DidChange tells that a document's text changed.
func (w *Workspace) DidChange(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffers[path] = text
	at := w.place(path)
	w.each(func(x *index.Index) { x.DidChange(at, text) })
}

// DidSave tells that a document was written to disk.
func (w *Workspace) DidSave(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.place(path)
	w.each(func(x *index.Index) { x.DidSave(at) })
}

// DidClose tells that a document was closed.
func (w *Workspace) DidClose(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.buffers, path)
	at := w.place(path)
	w.each(func(x *index.Index) { x.DidClose(at) })
}

// FilesChanged tells of files or folders that changed on disk.
func (w *Workspace) FilesChanged(paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := make([]string, len(paths))
	for i, path := range paths {
		at[i] = w.place(path)
	}
	w.each(func(x *index.Index) { x.FilesChanged(at) })
}

// WatchFiles makes the indexes look for changes on disk themselves from here on,
// as with Options.Watch.
func (w *Workspace) WatchFiles() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch = true
	w.each(func(x *index.Index) { x.Watch() })
}

// Rebuild makes every index anew.
func (w *Workspace) Rebuild() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.each(func(x *index.Index) { x.Rebuild() })
}

// SetEmbedders says who is to embed the chunks of all folders.
func (w *Workspace) SetEmbedders(e index.Embedders) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.embedders = e
	w.each(func(x *index.Index) { x.Embedding().SetEmbedders(e) })
}

// Busy holds background work back until leave is called, and a moment longer.
func (w *Workspace) Busy() (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var leaves []func()
	w.each(func(x *index.Index) { leaves = append(leaves, x.Busy()) })
	return func() {
		for _, leave := range leaves {
			leave()
		}
	}
}

// IndexStatus is the status of each folder whose index is open.
func (w *Workspace) IndexStatus(ctx context.Context) ([]index.Status, error) {
	list := []index.Status{}
	for _, f := range w.snapshot() {
		x, err := f.ready()
		if errors.Is(err, errNotOpen) {
			list = append(list, index.Status{Root: f.dir, Working: true, Doing: []index.Activity{index.Opening}, Troubles: []string{}})
			continue
		}
		if err != nil {
			list = append(list, index.Status{Root: f.dir, Doing: []index.Activity{}, Troubles: []string{}, LastError: err.Error()})
			continue
		}
		st, err := x.Status(ctx)
		if err != nil {
			return nil, err
		}
		if st.Learning = f.warm.Behind(ctx); st.Learning {
			now := index.Learning
			if !f.warm.IsReady() {
				now = index.Loading
			}
			st.Working, st.Doing = true, append(st.Doing, now)
		}
		if st.Embedding.State == index.EmbeddingWorking {
			st.Doing = append(st.Doing, index.EmbeddingChunks)
		}
		list = append(list, st)
	}
	return list, nil
}

// Activity is what a folder's index is at.
type Activity struct {
	Dir string
	// Indexing: files are still to be indexed, or the index is still being opened.
	Indexing bool
	// Learning: searches and completion do not know all yet that the index holds.
	Learning bool
}

// Activities are those of the folders whose index is at work.
func (w *Workspace) Activities(ctx context.Context) []Activity {
	var list []Activity
	for _, f := range w.snapshot() {
		x, err := f.ready()
		switch {
		case errors.Is(err, errNotOpen):
			list = append(list, Activity{Dir: f.dir, Indexing: true})
		case err != nil: // said when it was opened
		case x.Working():
			list = append(list, Activity{Dir: f.dir, Indexing: true})
		case f.warm.Behind(ctx):
			list = append(list, Activity{Dir: f.dir, Learning: true})
		}
	}
	return list
}

// Text is the present text of a file in one of the folders; path is absolute. A
// file outside them, or one that is left out of the index, is an error.
func (w *Workspace) Text(path string) (string, error) {
	f, rel := w.folderOf(path)
	if f == nil {
		return "", fmt.Errorf("%s is in no folder of the workspace", path)
	}
	return f.text(rel)
}

// OnDisk is the text of a file in one of the folders as it is on disk, with nothing
// masked. No model may see it.
func (w *Workspace) OnDisk(path string) (string, error) {
	f, rel := w.folderOf(path)
	if f == nil {
		return "", fmt.Errorf("%s is in no folder of the workspace", path)
	}
	x, err := f.ready()
	if err != nil {
		return "", err
	}
	x.Root().Refresh()
	return x.OnDisk(rel)
}

// Excluded answers whether a document's text must not be shown to a model: it is
// a secret by its name or its text, or left out by a .quarryignore of its folder.
// It waits while the folder is being opened, because its rules are not known
// before; if ctx ends first, nobody knows, and the error is ctx's. path is a bare
// name, or "", for a document that is in no file.
//
// A document outside every folder is there because the user opened it: it is judged
// by its name and its text, and so is what it leads to if it is a link.
func (w *Workspace) Excluded(ctx context.Context, path, text string) (bool, error) {
	if walk.IsSecretText(text) {
		return true, nil
	}
	f, rel := w.folderOf(path)
	if f == nil && walk.IsSecret(filepath.ToSlash(path)) {
		return true, nil
	}
	if f == nil && filepath.IsAbs(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			if f, rel = w.folderOf(real); f == nil && walk.IsSecret(filepath.ToSlash(real)) {
				return true, nil
			}
		}
	}
	if f == nil {
		return false, nil
	}
	if err := f.wait(ctx); err != nil {
		return false, err
	}
	switch {
	case f.covered: // since it was looked for
		return w.Excluded(ctx, path, text)
	case f.err != nil:
		return walk.IsSecret(rel), nil
	}
	f.index.Root().Refresh()
	return f.index.Root().Excluded(rel), nil
}

// folderOf is the innermost folder that holds path, nil if none does.
func (w *Workspace) folderOf(path string) (best *folder, rel string) {
	return innermost(w.snapshot(), w.placed(path))
}

func innermost(folders []*folder, path string) (best *folder, rel string) {
	for _, f := range folders {
		r, err := filepath.Rel(f.dir, path)
		if err != nil || r == ".." || strings.HasPrefix(r, ".."+string(filepath.Separator)) {
			continue
		}
		if best == nil || len(f.dir) > len(best.dir) {
			best, rel = f, filepath.ToSlash(r)
		}
	}
	return best, rel
}

// snapshot is the folders that answer by themselves.
func (w *Workspace) snapshot() []*folder {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.folders), func(f *folder) bool {
		_, err := f.ready()
		return errors.Is(err, errCovered)
	})
}

// refresh has the rules of all folders looked at anew. Whoever answers somebody by what an
// index knows calls it first: a rule may be newer than that.
func (w *Workspace) refresh() {
	for _, f := range w.snapshot() {
		if x, err := f.ready(); err == nil {
			x.Root().Refresh()
		}
	}
}

// Allows answers whether a file of a folder, by the folder's path and its own there, may be
// shown: no rule leaves it out, whatever is still known of it. What counts are the rules as
// they were at the last call of Excluded, Text, or what searches.
func (w *Workspace) Allows(root, rel string) bool {
	f, own := w.folderOf(filepath.Join(root, filepath.FromSlash(rel)))
	if f == nil {
		return !walk.IsSecret(rel) // there are no others
	}
	x, err := f.ready()
	switch {
	case err == nil:
		return x.Root().Check(own) == ""
	case errors.Is(err, errNotOpen):
		return false // nobody knows its rules yet
	}
	return !walk.IsSecret(rel)
}

// Troubles are sentences about what keeps the indexes from being as they should be.
func (w *Workspace) Troubles() (list []string) {
	for _, f := range w.snapshot() {
		if x, err := f.ready(); err == nil {
			list = append(list, x.Troubles()...)
		}
	}
	return list
}

// Refused are the folders that are not indexed because they are wide.
func (w *Workspace) Refused() (list []*index.Wide) {
	for _, f := range w.snapshot() {
		var wide *index.Wide
		if _, err := f.ready(); errors.As(err, &wide) {
			list = append(list, wide)
		}
	}
	return list
}
