package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"quarry/index/walk"
	"quarry/index/watch"
)

// minPoll is how often the root is scanned when it cannot be watched.
const minPoll = 30 * time.Second

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
	if !wanted || c.watchAll {
		return
	}
	c.watchAll = true
	if c.watcher == nil {
		c.startWatching()
	}
}

// gitsOwn are git's own files that are watched, each with the folder that it is in.
type gitsOwn struct {
	heads   []string
	exclude string
}

// startWatching begins to watch git's own files. If the index watches the disk, a
// scan adds each folder it is about to read, so that no change falls between the two.
func (x *Index) startWatching() {
	x.watchHeads() // so that it is known which these are
	writer, asked := "", ""
	if dir, err := databaseDir(x.cfg.StateDir, x.root.Dir()); err == nil {
		files := stateFiles{dir: dir}
		writer, asked = files.writerFile(), files.askedFile()
	}
	w, err := watch.New(
		func(name string) {
			git := x.git.Load()
			switch {
			case name == writer:
				select {
				case x.writerWrote <- struct{}{}:
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
		x.cannotWatch(err)
		return
	}
	x.watcher = w
	x.watchHeads()
}

// watchHeads watches where git notes what is checked out, and what is left out.
func (x *Index) watchHeads() {
	git := &gitsOwn{walk.Head(x.root.Dir()), walk.Exclude(x.root.Dir())}
	x.git.Store(git)
	if x.watcher == nil {
		return
	}
	for _, f := range git.heads {
		x.watchAbsolute(filepath.Dir(f))
	}
	if git.exclude != "" {
		x.watchAbsolute(filepath.Dir(git.exclude))
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
	c.watchHeads()
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
	c.watchHeads()
	c.Rescan()
	return now
}

// foundRoot is called when a scan of the root has ended well.
func (c *coordinator) foundRoot() {
	if !c.away.IsZero() {
		c.watchHeads()
	}
	c.away = time.Time{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.lastErr, fs.ErrNotExist) {
		c.lastErr = nil // it was away
	}
}

// watchDir watches a folder of the root, if folders are watched.
func (x *Index) watchDir(rel string) {
	if x.watchAll && x.watcher != nil {
		x.watchAbsolute(filepath.Join(x.root.Dir(), filepath.FromSlash(rel)))
	}
}

func (x *Index) watchAbsolute(dir string) {
	var limit *watch.LimitError
	if err := x.watcher.Add(dir); errors.As(err, &limit) {
		x.cannotWatch(err)
		if runtime.GOOS != "linux" {
			// Watches are open files there, and reading needs some too. On Linux the
			// folders that are watched go on telling of changes at once.
			if err := x.watcher.Close(); err != nil {
				x.cfg.Log.Debug("stop watching", "error", err)
			}
		}
	} else if err != nil {
		x.cfg.Log.Debug("watch", "error", err)
	}
}

// cannotWatch goes on without watches: whoever tells of changes then tells of a
// checkout, too, one file at a time.
func (x *Index) cannotWatch(err error) {
	if x.watchAll {
		x.pollInstead(err)
		return
	}
	x.cfg.Log.Debug("watch git's own files", "error", err)
}

// pollInstead has the root scanned now and then from here on.
func (x *Index) pollInstead(err error) {
	x.suffer(delayed, "Changes made outside the editor are noticed late in "+x.root.Dir()+": "+err.Error()+".")
	x.request(func() { x.polling = true })
}
