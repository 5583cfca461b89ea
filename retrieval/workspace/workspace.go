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
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/index"
	"quarry/index/glob"
	"quarry/index/walk"
	"quarry/retrieval"
	"quarry/retrieval/dense"
	"quarry/retrieval/live"
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
	// QueryPatience is how long a search waits for its query to be embedded before it
	// goes on without, half a second if 0.
	QueryPatience time.Duration
	// Patience is how long an answer waits for what it cannot do without, 5 s if 0.
	Patience time.Duration
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
	scope   Scope // guarded by mu
	// buffers are the open documents by path; guarded by mu.
	buffers map[string]string
	// embedders are those of all folders; guarded by mu.
	embedders index.Embedders
	queries   *dense.Memory
	reranker  *rerank.Reranker // nil if nobody reranks; guarded by mu
	watch     bool             // WatchFiles was called; guarded by mu
	closing   sync.WaitGroup   // folders that are being opened or closed
}

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

// queryPatience is Options.QueryPatience if that is 0: a model that is in memory needs
// a tenth of it.
const queryPatience = 500 * time.Millisecond

// New makes a workspace without folders.
func New(opts Options) *Workspace {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.QueryPatience == 0 {
		opts.QueryPatience = queryPatience
	}
	if opts.Patience == 0 {
		opts.Patience = defaultPatience
	}
	return &Workspace{opts: opts, scope: opts.Scope, buffers: map[string]string{}, queries: dense.NewMemory(opts.QueryPatience)}
}

// SetRoots makes dirs the workspace's folders: new ones are opened, others are
// closed.
func (w *Workspace) SetRoots(dirs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setRoots(dirs, func(*folder) bool { return true })
}

// SetScope says what is indexed from here on. The folders are opened again if that changes.
func (w *Workspace) SetScope(scope Scope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reflect.DeepEqual(scope, w.scope) {
		return
	}
	w.scope = scope
	var dirs []string
	for _, f := range w.folders {
		dirs = append(dirs, f.dir)
	}
	w.setRoots(dirs, func(*folder) bool { return false }) // rare, and what a folder covers changes, too
}

// setRoots is SetRoots; a folder that is there stays open if keep says so. mu is held.
func (w *Workspace) setRoots(dirs []string, keep func(*folder) bool) {
	var cleaned []string
	at := map[string]int{} // of a folder in cleaned, by its key: an editor may open thousands
	for _, dir := range dirs {
		dir = filepath.Clean(dir)
		if _, again := at[folderKey(dir)]; !again {
			at[folderKey(dir)] = len(cleaned)
			cleaned = append(cleaned, dir)
		}
	}
	open := map[string]*folder{}
	for _, f := range w.folders {
		open[f.dir] = f
	}
	next := make([]*folder, len(cleaned))
	// Outer folders come first: what is in them depends on them.
	inward := make([]int, len(cleaned))
	for i := range inward {
		inward[i] = i
	}
	slices.SortStableFunc(inward, func(i, j int) int { return len(cleaned[i]) - len(cleaned[j]) })
	for _, i := range inward {
		var outer []int
		for dir := cleaned[i]; dir != filepath.Dir(dir); {
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
		before := open[cleaned[i]]
		if before != nil && keep(before) && slices.Equal(before.around, around) {
			next[i] = before
			delete(open, before.dir)
			continue
		}
		next[i] = w.open(cleaned[i], around, before)
	}
	for _, f := range open {
		f.cancel()
		w.closing.Go(func() { <-f.ended })
	}
	w.folders = next
}

// folderKey is equal for two clean paths of one folder.
func folderKey(dir string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(dir)
	}
	return dir
}

// Close ends all work and waits for it.
func (w *Workspace) Close() {
	w.SetRoots(nil)
	w.closing.Wait()
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
		w.opts.Log.Error("open the index", "folder", f.dir, "error", err)
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

// Link returns when the graph of files is that of what searches know, for commands that ask
// once.
func (w *Workspace) Link(ctx context.Context) {
	for _, f := range w.snapshot() {
		if _, err := f.ready(); err == nil {
			f.warm.Link(ctx)
		}
	}
}

// SettleVectors returns when every text that was indexed at the call has its vector, or
// with what hinders that.
func (w *Workspace) SettleVectors(ctx context.Context) error {
	for _, f := range w.snapshot() {
		if x, err := f.ready(); err == nil {
			if err := x.SettleVectors(ctx); err != nil {
				return err
			}
		}
	}
	return nil
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
					x.CancelEmbedding()
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
	x.SetEmbedders(w.embedders)
	if w.watch {
		x.Watch()
	}
	f.warm = live.Follow(x, filepath.Base(f.dir), func(ctx context.Context, updates []index.Update) { w.observe(ctx, f, updates) })
	for name, text := range w.buffers {
		x.DidOpen(name, text)
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
	w.each(func(x *index.Index) { x.DidOpen(path, text) })
}

// DidChange tells that a document's text changed.
func (w *Workspace) DidChange(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffers[path] = text
	w.each(func(x *index.Index) { x.DidChange(path, text) })
}

// DidSave tells that a document was written to disk.
func (w *Workspace) DidSave(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.each(func(x *index.Index) { x.DidSave(path) })
}

// DidClose tells that a document was closed.
func (w *Workspace) DidClose(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.buffers, path)
	w.each(func(x *index.Index) { x.DidClose(path) })
}

// FilesChanged tells of files or folders that changed on disk.
func (w *Workspace) FilesChanged(paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.each(func(x *index.Index) { x.FilesChanged(paths) })
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
	w.each(func(x *index.Index) { x.SetEmbedders(e) })
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
	return innermost(w.snapshot(), path)
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
