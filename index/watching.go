package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"quarry/index/walk"
	"quarry/index/watch"
)

// minPoll is how often the root is scanned when it cannot be watched.
const minPoll = 30 * time.Second

// watches are what the system tells of. The coordinator alone starts them and adds to them.
type watches struct {
	x      *Index
	system *watch.Watcher // nil if it has none for us
	all    bool           // every folder is watched, not only git's
	git    atomic.Pointer[gitsOwn]
}

// Watch has the index watch the disk itself from here on, as with Config.Watch.
func (x *Index) Watch() {
	x.mu.Lock()
	known := x.watch
	x.watch = true
	x.mu.Unlock()
	if !known {
		x.Rescan()
	}
}

// watchOnRequest does what Watch asks for. No scan is at work.
func (c *coordinator) watchOnRequest() {
	c.mu.Lock()
	wanted := c.watch
	c.mu.Unlock()
	if !wanted || c.watching.all {
		return
	}
	c.watching.all = true
	if c.watching.system == nil {
		c.watching.start()
	}
}

// gitsOwn are git's own files that are watched, each with the folder that it is in.
type gitsOwn struct {
	heads   []string
	exclude string
}

// start begins to watch git's own files. If the index watches the disk, a
// scan adds each folder it is about to read, so that no change falls between the two.
func (w *watches) start() {
	x := w.x
	w.heads() // so that it is known which these are
	writer, asked := "", ""
	if dir, err := databaseDir(x.cfg.StateDir, x.root.Dir()); err == nil {
		files := stateFiles{dir: dir}
		writer, asked = files.writerFile(), files.askedFile()
	}
	system, err := watch.New(
		func(name string) {
			git := w.git.Load()
			switch {
			case name == writer:
				select {
				case x.reading.wrote <- struct{}{}:
				default: // it will look
				}
			case name == asked:
				hearReaders(x)
			// Another commit, or another list: anything may differ. The list may come with
			// its folder.
			case slices.Contains(git.heads, name):
				x.request(func() {
					x.scans[""] = true
					x.fallBehind()
				})
			case name == git.exclude, git.exclude != "" && name == filepath.Dir(git.exclude):
				x.happened(touched, x.root.Dir(), "")
			case !slices.Contains(git.heads, filepath.Join(filepath.Dir(name), "HEAD")):
				x.happened(touched, name, "")
			}
		},
		func(err error) {
			x.cfg.Log.Warn("file events were lost; scanning", "error", err)
			x.Rescan()
		})
	if err != nil {
		w.cannot(err)
		return
	}
	w.system = system
	w.heads()
}

// heads watches where git notes what is checked out, and what is left out.
func (w *watches) heads() {
	root := w.x.root.Dir()
	git := &gitsOwn{walk.Head(root), walk.Exclude(root)}
	w.git.Store(git)
	if w.system == nil {
		return
	}
	for _, f := range git.heads {
		w.add(filepath.Dir(f))
	}
	if git.exclude != "" {
		w.add(filepath.Dir(git.exclude))
	}
}

// noteRoot has the root scanned if it is not the folder that was scanned last. While
// it is open the system tells of each file that is deleted in it, but not of its
// own end.
func (c *coordinator) noteRoot() {
	if !c.away.IsZero() {
		return // lookForRoot does
	}
	info, err := os.Stat(c.root.Dir())
	if err == nil && c.scanned != nil && os.SameFile(info, c.scanned) {
		return
	}
	c.watching.heads()
	c.Rescan()
}

// lookForRoot has a root scanned that was away and is there again, as after another
// clone; no watch tells of it. It answers when to look again, the zero time if the
// root is not away.
func (c *coordinator) lookForRoot(now time.Time) time.Time {
	if c.away.IsZero() || now.Before(c.away) {
		return c.away
	}
	if info, err := os.Stat(c.root.Dir()); err != nil || !info.IsDir() {
		c.away = now.Add(ownerPoll)
		return c.away
	}
	c.away = time.Time{}
	c.watching.heads()
	c.Rescan()
	return now
}

// foundRoot is called when a scan of the root has ended well.
func (c *coordinator) foundRoot() {
	if !c.away.IsZero() {
		c.watching.heads()
	}
	c.away = time.Time{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.lastErr, fs.ErrNotExist) {
		c.lastErr = nil // it was away
	}
}

// folder watches a folder of the root, if folders are watched.
func (w *watches) folder(rel string) {
	if w.all && w.system != nil {
		w.add(filepath.Join(w.x.root.Dir(), filepath.FromSlash(rel)))
	}
}

// file watches one file beside the root's, and answers whether the system tells of it.
func (w *watches) file(name string) bool { return w.system != nil && w.system.Add(name) == nil }

func (w *watches) add(dir string) {
	var limit *watch.LimitError
	if err := w.system.Add(dir); errors.As(err, &limit) {
		w.cannot(err)
		if runtime.GOOS != "linux" {
			// Watches are open files there, and reading needs some too. On Linux the
			// folders that are watched go on telling of changes at once.
			if err := w.system.Close(); err != nil {
				w.x.cfg.Log.Debug("stop watching", "error", err)
			}
		}
	} else if err != nil {
		w.x.cfg.Log.Debug("watch", "error", err)
	}
}

// cannot goes on without watches: whoever tells of changes then tells of a checkout, too, one
// file at a time.
func (w *watches) cannot(err error) {
	if w.all {
		w.poll(err)
		return
	}
	w.x.cfg.Log.Debug("watch git's own files", "error", err)
}

// poll has the root scanned now and then from here on.
func (w *watches) poll(err error) {
	w.x.troubles.begin(delayed, "Changes made outside the editor are noticed late in "+w.x.root.Dir()+": "+err.Error()+".")
	w.x.request(func() { w.x.polling = true })
}

func (w *watches) close() error {
	if w.system == nil {
		return nil
	}
	return w.system.Close()
}
