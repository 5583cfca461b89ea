// Package git asks git what has changed in a working tree since its last commit.
//
// A repository's own configuration can name programs, for git to run when it looks at files:
// filters, textconv, file system monitors, hooks, helpers that fetch what is missing. None of
// it runs here: git is asked only what its own database and list of files say, and contents
// are compared by whoever asks. Git is asked nothing over the network.
//
// A few kilobytes of a repository can be trees of a billion names, or a commit of gigabytes once
// it is unpacked. What git may take of time, output and memory is bounded, it ends with quarry, and
// is not asked again at once about a commit with which it failed.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrNone says that there is nothing to compare with: no git, no repository, no commit.
var ErrNone = errors.New("no commit to compare with")

// errSilent says that git did not answer: what it reads may be a pipe, or lie on a disk that is
// gone. errMemory says that it needs more memory than it may have.
var (
	errSilent = errors.New("git did not answer")
	errMemory = errors.New("git needs too much memory")
	errOutput = errors.New("git says too much")
)

// Exceeded says that git was ended because it took more time, output or memory than it may.
type Exceeded struct {
	said  string
	cause error
}

func (e *Exceeded) Error() string { return e.said }

func (e *Exceeded) Unwrap() error { return e.cause }

const (
	// maxComplaint is the most that is kept of what git complains of, in bytes.
	maxComplaint = 1 << 20
	// together is how many bytes of committed files are read at once, if none is larger alone.
	together = 16 << 20
)

// bounds are those of what git does for one request.
type bounds struct {
	output   int           // the most that one run may say, in bytes
	memory   int           // the most that one run may take of its own, in bytes; 0 for any
	patience time.Duration // for all runs together
	rest     time.Duration // how long git is not asked again about a commit with which it failed
}

// A repository of 700,000 files takes git less than 150 MB; a bomb has no end.
var usualBounds = bounds{output: 64 << 20, memory: 1 << 30, patience: 30 * time.Second, rest: 5 * time.Minute}

// Repository is the part of a working tree that lies in a folder. It serves one request, one call
// at a time.
type Repository struct {
	dir   string
	git   string
	bound bounds
	spent time.Duration // by git so far
	head  string        // what the last commit is called, "" while it is not known
}

// failures are what git failed with of late, by folder and commit.
var failures = struct {
	sync.Mutex // guards by
	by         map[[2]string]failure
}{by: map[[2]string]failure{}}

type failure struct {
	at  time.Time
	err *Exceeded
}

// failed is what git failed with a moment ago at this commit, nil if nothing.
func (r *Repository) failed() error {
	failures.Lock()
	defer failures.Unlock()
	f, ok := failures.by[[2]string{r.dir, r.head}]
	if !ok || time.Since(f.at) >= r.bound.rest {
		return nil
	}
	return &Exceeded{fmt.Sprintf("%v; quarry asks git again after the next commit, or %v after that", f.err, r.bound.rest), f.err}
}

// exceeded notes that git was ended.
func (r *Repository) exceeded(cause error, form string, args ...any) error {
	err := &Exceeded{fmt.Sprintf(form, args...), cause}
	if r.head == "" {
		return err // the next request may find another
	}
	failures.Lock()
	defer failures.Unlock()
	for key, f := range failures.by {
		if time.Since(f.at) >= r.bound.rest {
			delete(failures.by, key)
		}
	}
	failures.by[[2]string{r.dir, r.head}] = failure{time.Now(), err}
	return err
}

// Open looks for a repository around a folder. It fails with ErrNone.
func Open(ctx context.Context, dir string) (*Repository, error) { return open(ctx, dir, usualBounds) }

func open(ctx context.Context, dir string, most bounds) (*Repository, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%w: git is not installed", ErrNone)
	}
	r := &Repository{dir: dir, git: git, bound: most}
	// The name of the commit is known without a look into it.
	head, err := r.ask(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if err == nil {
		r.head = strings.TrimSpace(string(head))
		if err := r.failed(); err != nil {
			return nil, err
		}
		_, err = r.ask(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	}
	if err != nil {
		var exceeded *Exceeded
		if ctx.Err() != nil || errors.As(err, &exceeded) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %s is in no git repository, or nothing is committed there", ErrNone, dir)
	}
	if err := r.own(ctx); err != nil {
		var exceeded *Exceeded
		if ctx.Err() != nil || errors.As(err, &exceeded) || errors.Is(err, ErrNone) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return r, nil
}

// Changed are the files that may differ from the last commit, relative to the folder with
// slashes: of some only their times do. Files that git does not know are not among them.
//
// Git itself would compare some contents, and run a filter for that: it is asked for what it
// noted of each file when it last looked, which is compared with what is there now.
func (r *Repository) Changed(ctx context.Context) ([]string, error) {
	changed, err := r.names(ctx, "diff-index", "--cached", "--name-only", "-z", "--relative", "--no-renames", "--ignore-submodules=all", "--no-ext-diff", "--no-textconv", "HEAD", "--")
	if err != nil {
		return nil, err
	}
	staged := map[string]bool{}
	for _, name := range changed {
		staged[name] = true
	}
	noted, err := r.noted(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range noted {
		if !staged[n.name] && n.differs(r.dir) {
			staged[n.name] = true
			changed = append(changed, n.name)
		}
	}
	return changed, nil
}

// note is what git noted of a file.
type note struct {
	name       string
	size       int64
	modified   time.Time
	comparable bool // the file was not changed in the moment in which git noted it
}

// differs answers whether a file may be another than when git noted it.
func (n *note) differs(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(n.name)))
	if err != nil || !info.Mode().IsRegular() || !n.comparable {
		return true
	}
	return uint32(info.Size()) != uint32(n.size) || !info.ModTime().Equal(n.modified)
}

// noted reads git's list of files with what it noted of them. What is not in the form that is
// expected counts as a file that may differ.
func (r *Repository) noted(ctx context.Context) (list []note, err error) {
	at, err := r.ask(ctx, nil, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(string(at), "\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	var written time.Time
	if info, err := os.Stat(path); err == nil {
		written = info.ModTime()
	}
	out, err := r.ask(ctx, nil, "ls-files", "--cached", "--stage", "--debug", "-z")
	if err != nil {
		return nil, err
	}
	// Each is "MODE ID STAGE\tNAME\0", and then lines of "  key: value", tabs between them too.
	rest := string(out)
	for rest != "" {
		head, next, ok := strings.Cut(rest, "\x00")
		if !ok {
			break
		}
		rest = next
		end := 0
		for strings.HasPrefix(rest[end:], "  ") {
			line := strings.IndexByte(rest[end:], '\n')
			if line < 0 {
				break
			}
			end += line + 1
		}
		said := rest[:end]
		rest = rest[end:]
		mode, name, ok := strings.Cut(head, "\t")
		if !ok || strings.HasPrefix(mode, "160000") || strings.HasPrefix(mode, "120000") {
			continue // a submodule, a link
		}
		n := note{name: name}
		var seconds, nanos int64
		if m := notedTime.FindStringSubmatch(said); m != nil {
			seconds, _ = strconv.ParseInt(m[1], 10, 64)
			nanos, _ = strconv.ParseInt(m[2], 10, 64)
			n.modified = time.Unix(seconds, nanos)
		}
		if m := notedSize.FindStringSubmatch(said); m != nil {
			n.size, _ = strconv.ParseInt(m[1], 10, 64)
			n.comparable = n.modified.Before(written)
		}
		list = append(list, n)
	}
	return list, nil
}

var (
	notedTime = regexp.MustCompile(`mtime: (\d+):(\d+)`)
	notedSize = regexp.MustCompile(`size: (\d+)`)
)

// Known answers which files git knows.
func (r *Repository) Known(ctx context.Context) (map[string]bool, error) {
	names, err := r.names(ctx, "ls-files", "-z", "--cached")
	known := make(map[string]bool, len(names))
	for _, n := range names {
		known[n] = true
	}
	return known, err
}

// Committed calls each for every name, in their order, with the text of the file in the last
// commit: "" for a file that is not in it, or whose name has a line break. Of a file of more
// than most bytes it says that it is larger, and does not read it.
func (r *Repository) Committed(ctx context.Context, names []string, most int64, each func(name, text string, larger bool) error) error {
	files, err := r.sized(ctx, names)
	if err != nil {
		return err
	}
	for len(files) > 0 {
		var sum int64
		n := 0
		var in strings.Builder
		for n < len(files) && (sum == 0 || sum+files[n].size <= together) {
			if f := &files[n]; f.id != "" && f.size <= most {
				in.WriteString(f.id + "\n")
				sum += f.size
			}
			n++
		}
		var out []byte
		if in.Len() > 0 {
			if out, err = r.ask(ctx, strings.NewReader(in.String()), "cat-file", "--batch"); err != nil {
				return err
			}
		}
		for _, f := range files[:n] {
			text, larger := "", f.size > most
			if f.id != "" && !larger {
				if text, out, err = cutBlob(out); err != nil {
					return err
				}
			}
			if err := each(f.name, text, larger); err != nil {
				return err
			}
		}
		files = files[n:]
	}
	return nil
}

// blob is a file of the last commit; one that is not in it has no id.
type blob struct {
	name, id string
	size     int64
}

// sized says which objects names are in the last commit.
func (r *Repository) sized(ctx context.Context, names []string) ([]blob, error) {
	var in strings.Builder
	list := make([]blob, len(names))
	for i, n := range names {
		list[i].name = n
		if !strings.Contains(n, "\n") {
			fmt.Fprintf(&in, "HEAD:./%s\n", n)
		}
	}
	if in.Len() == 0 {
		return list, nil
	}
	out, err := r.ask(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	rest := string(out)
	for i := range list {
		if strings.Contains(list[i].name, "\n") {
			continue
		}
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		// It is "ID TYPE SIZE", or "HEAD:./NAME missing".
		if fields := strings.Split(line, " "); len(fields) == 3 && fields[1] == "blob" {
			if size, err := strconv.ParseInt(fields[2], 10, 64); err == nil && size >= 0 {
				list[i].id, list[i].size = fields[0], size
			}
		}
	}
	return list, nil
}

// cutBlob takes the next object from what git says of many: "ID blob SIZE", its text, a line
// break.
func cutBlob(out []byte) (text string, rest []byte, err error) {
	head, rest, _ := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(head))
	if len(fields) == 2 && fields[1] == "missing" {
		return "", rest, nil
	}
	if len(fields) == 3 {
		if size, err := strconv.Atoi(fields[2]); err == nil && size >= 0 && size < len(rest) {
			return string(rest[:size]), rest[size+1:], nil
		}
	}
	return "", nil, errors.New("git cat-file says something that is no file")
}

func (r *Repository) names(ctx context.Context, args ...string) (list []string, err error) {
	out, err := r.ask(ctx, nil, args...)
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			list = append(list, name)
		}
	}
	return list, err
}

// ask runs git with nothing of the user's environment that leads it elsewhere, for as long as
// the repository's bounds allow.
func (r *Repository) ask(ctx context.Context, in *strings.Reader, args ...string) ([]byte, error) {
	begun := time.Now()
	defer func() { r.spent += time.Since(begun) }()
	timed, cancel := context.WithTimeoutCause(ctx, r.bound.patience-r.spent, errSilent)
	defer cancel()
	cmd := exec.CommandContext(timed, r.git, append([]string{
		"--no-optional-locks", "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull, "-C", r.dir,
	}, args...)...)
	cmd.Dir = r.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	// Nothing is fetched that a partial clone lacks: a git before 2.44 does not know the variable that
	// forbids it and would begin to, but finds no protocol allowed.
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	if r.bound.memory > 0 { // at once, which git minds on any system
		cmd.Env = append(cmd.Env, "GIT_ALLOC_LIMIT="+strconv.Itoa(r.bound.memory))
	}
	if in != nil {
		cmd.Stdin = in
	}
	out, complaint := limited{most: r.bound.output, over: cancel}, limited{most: maxComplaint}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	endTogether(cmd)
	cmd.WaitDelay = time.Second // for what is not in its group and holds its output
	err := runWithin(cmd, r.bound.memory)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.full:
		return nil, r.exceeded(errOutput, "git %s says more than %d MB", args[0], r.bound.output>>20)
	case err != nil && errors.Is(context.Cause(timed), errSilent):
		return nil, r.exceeded(errSilent, "%v within %v (git %s in %s)", errSilent, r.bound.patience, args[0], r.dir)
	case err != nil && noMemory.Match(complaint.kept.Bytes()):
		return nil, r.exceeded(errMemory, "git needs more than %d MB for the last commit (git %s in %s)", r.bound.memory>>20, args[0], r.dir)
	case err != nil:
		said, _, _ := strings.Cut(strings.TrimSpace(complaint.kept.String()), "\n")
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, said)
	}
	return out.kept.Bytes(), nil
}

// noMemory is what git, its libraries and the system say of memory that is not to be had.
var noMemory = regexp.MustCompile(`(?i)out of memory|cannot allocate memory|attempting to allocate|unable to create thread|resource temporarily unavailable`)

// limited keeps the first bytes that are written. The buffer has a name: embedded, it would give
// the type a ReadFrom, and io.Copy would go around Write.
type limited struct {
	kept bytes.Buffer
	most int
	over func() // is called when there is more, if not nil
	full bool   // there was more
}

func (l *limited) Write(p []byte) (int, error) {
	left := l.most - l.kept.Len()
	if len(p) <= left {
		return l.kept.Write(p)
	}
	l.kept.Write(p[:left])
	l.full = true
	if l.over != nil {
		l.over()
	}
	return len(p), nil
}

// IsURL answers whether a name is the address of a repository, not a path.
func IsURL(name string) bool {
	return strings.Contains(name, "://") || addressForm.MatchString(name)
}

// addressForm is git's short form for ssh, user@host:path.
var addressForm = regexp.MustCompile(`^[\w.-]+@[\w.-]+:[^:]`)

// limits bound what a repository elsewhere may make of the disk.
type limits struct {
	files  int   // of the newest commit
	bytes  int64 // of what comes, and of the files together
	memory int   // of git, in bytes; 0 for any
	// still is how long nothing may come, whole how long all may take: who sends a little now and
	// then, or nothing, has no end.
	still, whole time.Duration
}

var usual = limits{files: 1_000_000, bytes: 16 << 30, memory: 2 << 30, still: 5 * time.Minute, whole: 6 * time.Hour}

// Clone gets the newest commit of a repository, and nothing else, into a new folder. Nothing that
// it holds runs: no hook, no filter, no submodule. A repository that is far larger than any is
// refused: a few folders that hold each other's are enough for more files than any disk takes.
func Clone(ctx context.Context, url, dir string) error { return clone(ctx, url, dir, usual) }

func clone(ctx context.Context, url, dir string, most limits) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return fmt.Errorf("get %s: git is not installed", url)
	}
	tooSlow := fmt.Errorf("%s takes more than %v; clone it and name that folder", url, most.whole)
	ctx, stop := context.WithTimeoutCause(ctx, most.whole, tooSlow)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run := func(out io.Writer, args ...string) error {
		cmd := exec.CommandContext(ctx, git, append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never"}, args...)...)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "GIT_SSL_") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:http:ssh:git:file", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")
		complaint := limited{most: maxComplaint}
		cmd.Stdout, cmd.Stderr = out, &complaint
		if most.memory > 0 {
			cmd.Env = append(cmd.Env, "GIT_ALLOC_LIMIT="+strconv.Itoa(most.memory))
		}
		endTogether(cmd)
		cmd.WaitDelay = time.Second // for a helper of git's that holds its output
		err := runWithin(cmd, most.memory)
		switch {
		case err == nil:
			return nil
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case noMemory.Match(complaint.kept.Bytes()):
			return fmt.Errorf("git needs more than %d MB of memory for %s; clone it and name that folder", most.memory>>20, url)
		}
		return fmt.Errorf("git cannot get %s: %s", url, complaintOf(complaint.kept.String()))
	}
	tooLarge := fmt.Errorf("%s is too large to fetch; clone what you want of it and name that folder", url)

	var watching sync.WaitGroup
	arrived := make(chan struct{})
	watching.Go(func() {
		last, since := int64(-1), time.Now()
		for {
			select {
			case <-arrived:
				return
			case <-time.After(min(time.Second, most.still/4)):
				size := sizeOf(dir)
				if size != last {
					last, since = size, time.Now()
				}
				switch {
				case size > most.bytes:
					cancel(tooLarge)
				case time.Since(since) > most.still:
					cancel(fmt.Errorf("%s sends nothing for %v; try again, or clone it and name that folder", url, most.still))
				}
			}
		}
	})
	err = run(nil, "clone", "--quiet", "--depth", "1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--no-checkout", "--template=", "--", url, dir)
	close(arrived)
	watching.Wait()
	if err != nil {
		return err
	}
	if sizeOf(dir) > most.bytes {
		return tooLarge
	}
	if run(nil, "-C", dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") != nil {
		return context.Cause(ctx) // nothing is committed there
	}
	tree := &tally{limits: most, over: func() { cancel(tooLarge) }}
	if err := run(tree, "-C", dir, "ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"); err != nil {
		return err
	}
	return run(nil, "-C", dir, "checkout", "--quiet", "--force", "HEAD")
}

// complaintOf is why git failed: its last lines begin with what it calls fatal, and go on with advice.
func complaintOf(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	from := len(lines) - 1
	for i, line := range lines {
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "ERROR: ") {
			from = i
			break
		}
	}
	const most = 4 // lines
	return strings.Join(lines[from:min(from+most, len(lines))], " ")
}

// tally counts the files that git lists, each as "MODE TYPE ID SIZE\tNAME\0", and calls over when
// they are too many or too large.
type tally struct {
	limits
	over func()
	head []byte // of the entry that is being read, as far as its size
	name bool   // its name is being read
}

func (t *tally) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == 0:
			_, last, _ := bytes.Cut(bytes.TrimSpace(t.head), []byte(" blob "))
			_, number, _ := bytes.Cut(last, []byte(" "))
			size, _ := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64) // a submodule has none
			t.files--
			t.bytes -= size
			if t.files < 0 || t.bytes < 0 {
				t.over()
				return 0, io.ErrShortWrite
			}
			t.head, t.name = t.head[:0], false
		case c == '\t':
			t.name = true
		case !t.name:
			t.head = append(t.head, c)
		}
	}
	return len(p), nil
}

// sizeOf is what the files in a folder take, as far as they can be seen.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
