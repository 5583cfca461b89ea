// Package walk decides which files of a workspace root quarry may read, and reads
// them. It is the one source of exclusion for the index, the watcher and the
// tools: ignore files, the built-in deny-list, and the list of secrets that no
// file of the workspace can lift. No path it hands out leads outside the root,
// links included. A Root is safe for concurrent use.
//
// The ignore rules are gitignore(5), held against git's own answers on random trees
// by TestSameAsGit. They are written here because the Go packages for it that were
// tried the same way differ from git in one tree out of five to seven; bench/index.md
// has the counts.
package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"quarry/index/glob"
	"quarry/index/mask"
)

// DefaultMaxSize is the size in bytes above which a file is left out.
const DefaultMaxSize = 1 << 20

// Limits are what a user's settings say of all folders. The zero value is the usual.
type Limits struct {
	// MaxSize is the largest file to read, in bytes; 0 means DefaultMaxSize.
	MaxSize int64
	// Exclude is left out of the index and of what models see. No file of a repository takes
	// it in again.
	Exclude []glob.Glob
	// Own are the absolute folders in which quarry keeps its state, which need not exist:
	// what lies in the workspace of them is no part of it, and changes with each look.
	Own []string
}

// Root is one workspace folder.
type Root struct {
	dir     string // absolute, without links
	given   string // absolute, as it was named
	maxSize int64
	exclude []glob.Glob
	own     []string // relative to dir, none of it dir itself

	// filesMu guards files, which is the folder as it was opened last.
	filesMu sync.RWMutex
	files   *os.Root

	// round counts the calls of Refresh, onChange is set by OnChange.
	round    atomic.Uint64
	onChange func(dir string)

	// mu guards levels, the cache of Check by folder, cached, the bytes in it, and all
	// that follows: the rules of the folders between the top of the work tree and the root,
	// what they were read from, the round of that (source.go), and the folders whose
	// change is still to be told of.
	mu           sync.Mutex
	levels       map[string]*level
	cached       int
	above        *level
	aboveSources []source
	aboveRound   uint64
	changed      []string
}

// Open prepares a workspace folder.
func Open(dir string, limits Limits) (*Root, error) {
	given, err := filepath.Abs(dir)
	abs := given
	if err == nil {
		abs, err = filepath.EvalSymlinks(given)
	}
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	files, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	if limits.MaxSize <= 0 {
		limits.MaxSize = DefaultMaxSize
	}
	r := &Root{dir: abs, given: given, files: files, maxSize: limits.MaxSize, exclude: limits.Exclude}
	for _, dir := range limits.Own {
		if real, ok := realPath(dir); ok {
			if rel, ok := r.Rel(real); ok && rel != "" && rel != "." {
				r.own = append(r.own, rel)
			}
		}
	}
	r.Reload()
	return r, nil
}

// Close releases the folder.
func (r *Root) Close() error {
	r.filesMu.Lock()
	defer r.filesMu.Unlock()
	return r.files.Close()
}

// Dir is the absolute path of the folder, links resolved.
func (r *Root) Dir() string { return r.dir }

// MaxSize is the size in bytes above which a file is left out.
func (r *Root) MaxSize() int64 { return r.maxSize }

// reopen follows the folder's name to the folder that has it now, if the one that
// was opened has been deleted or moved away; it answers whether that is so.
func (r *Root) reopen() bool {
	r.filesMu.Lock()
	defer r.filesMu.Unlock()
	now, err := os.Lstat(r.dir)
	if err != nil || !now.IsDir() {
		return false // it may come back; a link in its place is not the root
	}
	if before, err := r.files.Stat("."); errors.Is(err, os.ErrClosed) || err == nil && os.SameFile(before, now) {
		return false
	}
	files, err := os.OpenRoot(r.dir)
	if err != nil {
		return false
	}
	_ = r.files.Close() // it was only read from
	r.files = files
	return true
}

// within asks the opened folder; when it has not what is asked for, it may be one
// that is no longer there.
func within[T any](r *Root, ask func(*os.Root) (T, error)) (T, error) {
	once := func() (T, error) {
		r.filesMu.RLock()
		defer r.filesMu.RUnlock()
		return ask(r.files)
	}
	v, err := once()
	if errors.Is(err, fs.ErrNotExist) && r.reopen() {
		return once()
	}
	return v, err
}

// Reload forgets what the ignore files said, and which folder had the root's name.
// Call it when one of them changed.
func (r *Root) Reload() {
	r.reopen()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reset()
}

// Excludes answers whether the user's settings leave a path out.
func (r *Root) Excludes(rel string) bool {
	return slices.ContainsFunc(r.exclude, func(g glob.Glob) bool { return g.Covers(rel) })
}

// inForce is a hash of the rules in a folder and of what the user's settings leave out.
func (r *Root) inForce(l *level) uint64 {
	if len(r.exclude)+len(r.own) == 0 {
		return l.sum()
	}
	h := fnv.New64a()
	fmt.Fprint(h, l.sum())
	for _, g := range r.exclude {
		fmt.Fprintf(h, " %q", g)
	}
	for _, rel := range r.own {
		fmt.Fprintf(h, " own %q", rel)
	}
	return h.Sum64()
}

// IsRule answers whether a change of the path changes what is left out.
func IsRule(rel string) bool {
	return slices.Contains(ignoreFiles[:], path.Base(rel)) || rel == ".git/info/exclude"
}

// levelsAbove reads the ignore files from the top of the work tree down to, not
// including, dir. Without a work tree nothing above dir counts.
func levelsAbove(dir string, from *reader) *level {
	var chain []string
	for at := dir; from.gitDir(at) == ""; {
		up := filepath.Dir(at)
		if up == at {
			return nil
		}
		at = up
		chain = append(chain, at)
	}
	var l *level
	for _, at := range slices.Backward(chain) {
		below, err := filepath.Rel(at, dir)
		if err != nil {
			return l
		}
		l = newLevel(l, at, "", filepath.ToSlash(below)+"/", onDisk(at), from)
		from.missing(at)
	}
	return l
}

func onDisk(dir string) func(string) bool {
	return func(rel string) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(rel)))
		return err == nil
	}
}

// Entry is one file that may be read.
type Entry struct {
	// Path is relative to the root, with slashes.
	Path    string
	Size    int64 // bytes
	ModTime int64 // ns since 1970
	// Changed is when anything of the file changed last, in ns since 1970, 0 where the system
	// does not tell. No program can set it, so that it shows what was written under an old
	// ModTime. But it changes with names and rights, too, and in every copy.
	Changed int64
}

// Skip is one path that was left out; of a folder, nothing below it is told.
type Skip struct {
	Path   string
	Reason Reason
}

// Visitor is told what a walk meets.
type Visitor struct {
	// Dir is called for each folder before it is read.
	Dir func(rel string)
	// File is called for each file that may be read. An error ends the walk.
	File func(Entry) error
	// Skip is called for each path that is left out.
	Skip func(Skip)
	// Folder, if not nil, is called for each folder that was entered, when all below it
	// was visited.
	Folder func(Folder)
	// Known, if not nil, is what an earlier walk met, which saves looking at what did not
	// change since.
	Known Known
}

// Walk visits everything below a folder, "" being the root, in the order of the
// paths' components. It reads the ignore files anew. A folder that is left out
// itself is not entered.
func (r *Root) Walk(ctx context.Context, dir string, v Visitor) error {
	r.Reload()
	if dir != "" {
		if reason := r.Check(dir); reason != "" {
			v.Skip(Skip{dir, reason})
			return nil
		}
	}
	r.mu.Lock()
	r.levelOf(dir) // before it is read: what changes in it from here on is told of
	parent := r.above
	if dir != "" {
		parent = r.levelOf(parentOf(dir))
	}
	r.unlock()
	w := walker{r, v, openTimes(r.dir)}
	defer w.times.close()
	if _, err := w.walk(ctx, parent, dir, w.find(dir)); err != nil {
		return fmt.Errorf("walk %s: %w", r.dir, err)
	}
	return nil
}

// walker is one walk.
type walker struct {
	*Root
	v     Visitor
	times times
}

// walk visits a folder, whose place in Known is at, -1 if it is not there. entered is
// false if all of it is left out.
func (w *walker) walk(ctx context.Context, parent *level, dir string, at int) (entered bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	w.v.Dir(dir)
	if at >= 0 && w.isAsKnown(parent, dir, at) {
		return true, w.again(ctx, parent, at)
	}
	changed := w.times.of(dir) // before the names are read
	l, all, reason, err := w.list(parent, dir)
	switch {
	case err != nil && dir == "":
		return false, err
	case err != nil:
		w.v.Skip(Skip{dir, Unreadable})
		return false, nil
	case reason != "":
		w.v.Skip(Skip{dir, reason})
		return false, nil
	}
	if l.repo != nil && l.repo.cut {
		w.v.Skip(Skip{path.Join(dir, ".git/info/exclude"), RulesCut}) // and core.excludesFile
	}
	for i := range all {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		e, in := &all[i], true
		switch {
		case e.reason == "" && e.isDir:
			below := -1
			if at >= 0 {
				below = w.find(e.Path)
			}
			in, err = w.walk(ctx, l, e.Path, below)
		case e.reason == "":
			err = w.v.File(e.Entry)
		case path.Base(e.Path) != ".git":
			w.v.Skip(Skip{e.Path, e.reason})
		}
		if err != nil {
			return false, err
		}
		if !in || !e.isPlain() {
			changed = 0
		}
	}
	if w.v.Folder != nil {
		w.v.Folder(Folder{dir, changed, w.inForce(l)})
	}
	return true, nil
}

// IsKernels answers whether a folder holds what the kernel or a device says when it is
// read, whatever a workspace's root is. Folders below /dev may be memory that people work in.
func IsKernels(abs string) bool {
	switch abs {
	case "/proc", "/sys", "/dev":
		return true
	}
	if strings.HasPrefix(abs, "/proc/") || strings.HasPrefix(abs, "/sys/") {
		return true
	}
	// The root of another system, as containers are made of, has its own; asking the system
	// about each folder takes a round trip on a disk far away.
	switch filepath.Base(abs) {
	case "proc", "procfs", "sys", "sysfs":
		return isKernelsMount(abs)
	}
	return false
}

// listed is one entry of a folder; reason says why it is left out.
type listed struct {
	Entry
	isDir  bool
	reason Reason
}

// list reads a folder in the order of its names; reason says why all of it is left out.
// The folder is closed again before another is opened: they may be nested deeply.
func (r *Root) list(parent *level, dir string) (l *level, all []listed, reason Reason, err error) {
	abs := filepath.Join(r.dir, filepath.FromSlash(dir))
	if IsKernels(abs) {
		return nil, nil, Special, nil
	}
	folder, err := os.Open(abs)
	if err != nil {
		return nil, nil, "", err
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return nil, nil, "", err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	has := func(name string) bool {
		_, found := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		return found
	}
	if dir != "" && has("CACHEDIR.TAG") {
		return nil, nil, BuildOutput, nil
	}
	disk := onDisk(abs)
	exists := func(rel string) bool {
		if strings.Contains(rel, "/") {
			return disk(rel)
		}
		return has(rel)
	}
	l = newLevel(parent, abs, dir, "", exists, &reader{root: r.dir})
	all = make([]listed, len(entries))
	for i, e := range entries {
		at := &all[i]
		at.Path, at.isDir = e.Name(), e.IsDir()
		if dir != "" {
			at.Path = dir + "/" + e.Name()
		}
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			at.reason = Link
		case !e.IsDir() && !e.Type().IsRegular():
			at.reason = Special
		}
		if slices.Contains(r.own, at.Path) {
			at.reason = Own
		} else if hard := l.reason(at.Path, at.isDir, exists); hard != "" {
			at.reason = hard
		} else if r.Excludes(at.Path) {
			at.reason = BySettings
		}
		if at.reason != "" || at.isDir {
			continue
		}
		if err := at.askIn(folder, e); err != nil {
			at.reason = Unreadable
		} else if at.Size > r.maxSize {
			at.reason = TooLarge
		}
	}
	return l, all, "", nil
}

// Read returns a file's text with its tokens masked. Reason says why it must not be
// indexed though it could be read; the caller has asked Check or Walk about the path
// before.
func (r *Root) Read(rel string) (text []byte, e Entry, reason Reason, err error) {
	text, e, reason, err = r.ReadWhole(rel)
	if reason == "" && err == nil {
		mask.In(text)
	}
	return text, e, reason, err
}

// ReadWhole is Read with nothing masked: for the editor, which has the file anyway.
func (r *Root) ReadWhole(rel string) (text []byte, e Entry, reason Reason, err error) {
	f, err := within(r, func(files *os.Root) (*os.File, error) {
		// It refuses ways out of the root. Without O_NONBLOCK a pipe, put in the place of
		// a file, would be waited for.
		return files.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, e, Unreadable, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, e, Unreadable, err
	}
	e = Entry{rel, info.Size(), info.ModTime().UnixNano(), changedAt(f)}
	switch {
	case !info.Mode().IsRegular():
		return nil, e, Special, nil
	case info.Size() > r.maxSize:
		return nil, e, TooLarge, nil
	}
	if info.Size() == 0 { // what the kernel makes up may be waited for (readRules)
		return []byte{}, e, "", nil
	}
	text = make([]byte, 0, info.Size()+1)
	for checked := false; ; {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, e, Unreadable, err
		}
		if int64(len(text)) > r.maxSize {
			return nil, e, TooLarge, nil
		}
		if !checked && len(text) >= binaryHead {
			if isBinary(text) {
				return nil, e, Binary, nil // without reading all of it
			}
			checked = true
		}
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
	}
	return text, e, unfit(text), nil
}

// binaryHead is as far as git looks for a zero byte.
const binaryHead = 8000

func isBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), binaryHead)], 0) >= 0
}

// IsMinified answers whether the lines of a text are so long that a program wrote
// them: it is no use in an index, and nothing to parse.
func IsMinified[T string | []byte](text T) bool {
	const (
		longText = 20_000
		longLine = 1000 // bytes on average; what people write stays under 100
	)
	if len(text) <= longText {
		return false
	}
	lines := 1
	for i := range len(text) {
		if text[i] == '\n' {
			lines++
		}
	}
	return len(text)/lines > longLine
}

// unfit answers why a text must not be indexed, or is no use there: a private key,
// binary data, or written by a program.
func unfit(text []byte) Reason {
	switch {
	case isBinary(text):
		return Binary
	case IsSecretText(text):
		return Secret
	case IsMinified(text):
		return Minified
	}
	return ""
}

// Unfit answers why a text that is not on disk must not be indexed.
func (r *Root) Unfit(text []byte) Reason {
	if int64(len(text)) > r.maxSize {
		return TooLarge
	}
	return unfit(text)
}

// Stat describes a file or folder, links not followed.
func (r *Root) Stat(rel string) (fs.FileInfo, error) {
	return within(r, func(files *os.Root) (fs.FileInfo, error) { return files.Lstat(filepath.FromSlash(rel)) })
}
