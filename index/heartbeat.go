package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"quarry/index/process"
)

// A process that writes an index and is stopped, by Ctrl+Z or a debugger, or hangs, holds
// the lock for good, and who only reads sees no change any more. So readers hold a lock
// of their own, which says that they are there; as long as somebody does, the writer
// touches a file every few seconds, and a reader that sees it untouched for longer tells
// its user. The file names the process, and is written again when something was committed,
// so that readers need not look for that (exitWatch). A writer that is alone touches
// nothing.

const (
	heartbeatEvery = 10 * time.Second
	// missedBeats is for how many ownerPolls of a reader's looks the file may stay as it
	// was. Looks and not time: a laptop that slept is no writer that hangs.
	missedBeats = 25
)

// peerState is what a reader knows of the writer.
type peerState struct {
	readers *flock.Flock // held, shared, by a reader
	touched time.Time    // the file's time
	missed  int          // for how many ownerPolls looks found it unchanged
}

func (s *stateFiles) writerFile() string { return filepath.Join(s.dir, "writer") }

func (s *stateFiles) readersFile() string { return filepath.Join(s.dir, "readers") }

// heartbeat tells readers that this process writes and is well, and looks whether the rules are
// still the same, until ctx ends.
func heartbeat(ctx context.Context, x *Index) {
	if x.state.dir == "" {
		return
	}
	if x.cfg.Brief { // mostly it has ended by then
		select {
		case <-ctx.Done():
			return
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(heartbeatEvery)):
		}
	}
	file := x.state.writerFile()
	named, saved := false, x.saved.next()
	for wrote := false; ; {
		// Nobody tells of git's lists elsewhere, and nobody may ask for long.
		x.root.Look()
		hearReaders(x)
		if x.isOwner() && !x.Store().InMemory() {
			if x.state.isRemoved() {
				x.request(func() { x.removed = true })
			}
			// On a full disk the file is the one of a writer before, or is not there, and
			// nothing is told of this one.
			if !named {
				named = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600) == nil
			}
			if named && x.state.isRead() {
				if err := x.state.touch(x.cfg.Clock.Now(), wrote); err != nil {
					x.cfg.Log.Debug("tell readers that the writer is well", "error", err)
				}
			}
		} else {
			named = false
		}
		select {
		case <-ctx.Done():
			if named { // the process may live on
				_ = os.Truncate(file, 0) // else readers find out by looking
			}
			return
		case <-saved:
			wrote, saved = true, x.saved.next()
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(heartbeatEvery)):
			wrote = false
		}
	}
}

// isRemoved answers whether the database that this process writes, or its lock, is not the file
// of that name, which the database may be for a moment while it is made anew.
func (s *stateFiles) isRemoved() bool {
	mine := s.mine.Load()
	if mine == nil {
		return false
	}
	info, err := os.Stat(s.database())
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, *mine) || s.isLockRemoved()
}

// isLockRemoved answers whether the lock that this process holds keeps nobody out any more.
func (s *stateFiles) isLockRemoved() bool {
	held, err := s.lock.Stat()
	if err != nil {
		return false // let go of by now
	}
	info, err := os.Stat(s.lockFile())
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, held)
}

// touch is a heartbeat. wrote: something was committed, which readers are told by writing the
// file.
func (s *stateFiles) touch(now time.Time, wrote bool) error {
	if !wrote {
		return os.Chtimes(s.writerFile(), now, now)
	}
	f, err := os.OpenFile(s.writerFile(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()))
	return errors.Join(err, f.Close())
}

// isRead answers whether another process reads the index.
func (s *stateFiles) isRead() bool {
	all := flock.New(s.readersFile())
	alone, err := all.TryLock()
	if err == nil && alone {
		err = all.Close()
	}
	return err == nil && !alone
}

// checkWriter looks whether the writer is well, after so long a pause.
func (c *coordinator) checkWriter(pause time.Duration) {
	p := &c.peer
	if p.readers == nil {
		p.readers = flock.New(c.state.readersFile())
	}
	if held, err := p.readers.TryRLock(); err != nil || !held {
		return // the writer looks at this moment
	}
	var now time.Time
	if info, err := os.Stat(c.state.writerFile()); err == nil {
		now = info.ModTime()
	} else if !c.isUnopened() {
		return // of a quarry that tells nothing
	}
	if !now.Equal(p.touched) {
		p.touched, p.missed = now, 0
		if c.troubles.end(unserved) {
			c.cfg.Log.Info("the process that writes the index answers again", "root", c.root.Dir())
		}
		return
	}
	reported := p.missed >= missedBeats
	if p.missed += int(pause / ownerPoll); reported || p.missed < missedBeats {
		return
	}
	c.troubles.begin(unserved, unservedBy(c.state.writer(), c.root.Dir()))
}

// unservedBy says that the process which writes an index does not answer; pid is 0 if it is
// not known.
func unservedBy(pid int, dir string) string {
	return fmt.Sprintf("%s holds the index of %s but is not responding. Resume or stop it; changes are not indexed until then.", processNamed(pid), dir)
}

// stopReading gives up what checkWriter holds.
func (c *coordinator) stopReading() {
	if c.peer.readers != nil {
		if err := c.peer.readers.Close(); err != nil {
			c.cfg.Log.Debug("stop reading the index of another process", "error", err)
		}
	}
	c.peer = peerState{}
	c.exit.stop()
	c.troubles.end(unserved)
}

// A process that only reads need not look each second whether the writer has gone, or has
// written something: the system tells it when the writer's process ends, and when the
// writer's file is written (heartbeat). It looks all the same now and then, and each second
// where one of the two cannot be had, or does not fit what the lock says.

// exitWatch waits for the end of the process that writes. The zero exitWatch waits for none.
type exitWatch struct {
	pid  int
	over chan struct{} // closed when it has ended
	end  context.CancelFunc
}

// stop gives the watch up.
func (v *exitWatch) stop() {
	if v.end != nil {
		v.end()
	}
	*v = exitWatch{}
}

// ended answers whether the process has ended.
func (v *exitWatch) ended() bool {
	select {
	case <-v.over:
		return true
	default:
		return false
	}
}

// isUnopened answers, in a process that only reads, whether it has no database to read yet.
func (c *coordinator) isUnopened() bool { return !c.isOwner() && c.Store().InMemory() }

// nameWriter tells readers which process writes. Where there is no room for that they find out
// late that it hangs.
func (s *stateFiles) nameWriter() {
	_ = os.WriteFile(s.writerFile(), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// writer is the process that writes, 0 if that is not known.
func (s *stateFiles) writer() int {
	text, err := os.ReadFile(s.writerFile())
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// watchExit answers how long a reader may wait for the writer without looking.
func (c *coordinator) watchExit(ctx context.Context) time.Duration {
	if !process.Telling || !c.watching.file(c.state.writerFile()) {
		return ownerPoll
	}
	pid, v := c.state.writer(), &c.exit
	switch {
	case c.isUnopened():
		return ownerPoll
	case pid == 0, pid == os.Getpid(): // another index of this process may write it
		v.stop()
		return ownerPoll
	case pid != v.pid:
		v.stop()
		waiting, end := context.WithCancel(ctx)
		over := make(chan struct{})
		*v = exitWatch{pid, over, end}
		c.stopped.Go(func() {
			if process.Await(waiting, pid) {
				close(over)
			}
		})
		return ownerPoll // for what happened before
	case v.ended(): // and the lock is held: by whom is not known
		return ownerPoll
	}
	return heartbeatEvery
}

// Who only reads an index trusts the process that writes it for what it finds there. What it
// does not find may have come since: then it compares the folder with the index itself, and
// waits for the writer, which it asks to look. Where that is stopped, or gave no sign of life for long (checkWriter), it
// does so for each answer anew or nearly so: as long as nothing differs its answers are true.
// It indexes nothing, since the writer may go on at any moment. Beside a writer that is well
// an answer that finds something costs two small reads, and no walk.

// Unserved says that the process which writes an index does not answer, and that the index is
// not as the folder is.
type Unserved struct {
	PID int // of the writer, 0 if it is not known
	Dir string
	// Stale is how the folder differs, nil if that is not known: comparing them takes too
	// long, or not every file was read yet.
	Stale *Difference
}

func (u *Unserved) Error() string {
	text := unservedBy(u.PID, u.Dir)
	if d := u.Stale; d != nil {
		text += fmt.Sprintf(" Not indexed: files new %d, changed %d, gone %d.", d.New, d.Changed, d.Gone)
	}
	return text
}

const (
	// comparePatience is how long an answer waits for the folder to be compared.
	comparePatience = 2 * time.Second
	// compareShare is how long, in times of what comparing took, what it led to counts.
	compareShare = 2
)

// reading is what a process that reads an index knows of the one that writes it, and the other
// way round.
type reading struct {
	x *Index
	// heard is what readers asked last, as askedAt; of the process that writes.
	heard atomic.Int64
	// wrote tells that the writer has written its file.
	wrote chan struct{}

	// What follows is what comparing the folder with the index last led to.
	mu    sync.Mutex // held while comparing, so that of several answers one does
	of    Cursor     // the state of the index
	until time.Time  // until when it counts
	stale *Difference
	// asked is when the writer was asked last to look, which is ask of askedAt.
	asked time.Time
	ask   int64
}

// writerHangs answers, in a process that only reads, whether the one that writes answers
// nobody, and which that is.
func (r *reading) writerHangs() (pid int, hangs bool) {
	pid = r.x.state.writer()
	return pid, r.x.troubles.has(unserved) || pid != 0 && process.IsStopped(pid)
}

// unserved answers whether the writer does not answer while the folder differs.
func (r *reading) unserved(ctx context.Context, whole bool) (*Unserved, error) {
	pid, hangs := r.writerHangs()
	if !hangs {
		return nil, nil
	}
	u := &Unserved{PID: pid, Dir: r.x.root.Dir()}
	if !whole {
		return u, nil
	}
	var err error
	if u.Stale, err = r.compare(ctx, false); err != nil || u.Stale != nil && *u.Stale == (Difference{}) {
		return nil, err
	}
	return u, nil
}

// compare answers how the folder differs from what is indexed, nil if that
// takes too long. now: that nothing differs is found out after the call, not a moment before.
func (r *reading) compare(ctx context.Context, now bool) (*Difference, error) {
	x := r.x
	r.mu.Lock()
	defer r.mu.Unlock()
	of, err := x.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if r.of == of && began.Before(r.until) && (!now || r.stale == nil || *r.stale != (Difference{})) {
		return r.stale, nil
	}
	within, cancel := context.WithTimeout(ctx, comparePatience)
	defer cancel()
	stale, err := compare(within, x.root, &x.state.stateFiles, x.Store(), true)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		stale = nil
	case err != nil:
		return nil, err
	}
	ended := time.Now()
	r.of, r.stale, r.until = of, stale, ended.Add(compareShare*ended.Sub(began))
	return stale, nil
}

// Served returns when what was on disk at the call is indexed, whoever does that. It fails with
// *Unserved if another process is to do it and does not answer.
func (x *Index) Served(ctx context.Context) error {
	since := time.Now()
	for !x.isOwner() {
		saved := x.saved.next()
		pid, hangs := x.reading.writerHangs()
		stale, err := x.reading.compare(ctx, true)
		switch {
		case err != nil:
			return err
		case stale != nil && *stale == (Difference{}):
			return nil
		case hangs:
			return &Unserved{pid, x.root.Dir(), stale}
		}
		if done, err := x.reading.answered(ctx, since); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-saved:
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(ownerPoll)):
		}
	}
	return x.Settle(ctx)
}

// A reader that sees more on disk than is indexed asks the writer to look, which nobody may have
// told of it: it writes a file. The writer scans the root, and notes what it was asked before.

// answeredTo is the key of the askedAt that the last whole scan of a database has answered.
const answeredTo = "asked"

func (s *stateFiles) askedFile() string { return filepath.Join(s.dir, "asked") }

// askedAt tells one asking from a later one, which is a greater number; 0 if nobody asked.
func (s *stateFiles) askedAt() int64 {
	if info, err := os.Stat(s.askedFile()); s.dir != "" && err == nil {
		return info.ModTime().UnixNano()
	}
	return 0
}

// answered asks the writer, once for each since, to look at all files, and answers whether it
// has by now. What differs still is then left out for what is in it.
func (r *reading) answered(ctx context.Context, since time.Time) (bool, error) {
	x := r.x
	r.mu.Lock()
	if r.asked.Before(since) {
		before := x.state.askedAt()
		if err := os.WriteFile(x.state.askedFile(), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			x.cfg.Log.Debug("ask the process that writes to look", "error", err) // it looks in its own time
			r.mu.Unlock()
			return false, nil
		}
		r.asked, r.ask = time.Now(), x.state.askedAt()
		if r.ask <= before { // the system's times are coarse
			r.ask = before + 1
			at := time.Unix(0, r.ask)
			if err := os.Chtimes(x.state.askedFile(), at, at); err != nil {
				x.cfg.Log.Debug("ask the process that writes to look", "error", err)
			}
		}
	}
	ask := r.ask
	r.mu.Unlock()
	s := x.Store()
	text, err := s.Meta(ctx, answeredTo)
	if err != nil {
		if s != x.Store() {
			err = nil // another is there by now
		}
		return false, err
	}
	last, err := strconv.ParseInt(text, 10, 64)
	return err == nil && last >= ask, nil
}

// listen has the writer told of what readers ask.
func (c *coordinator) listen() {
	if c.state.dir == "" {
		return
	}
	file := c.state.askedFile()
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
	c.reading.heard.Store(c.state.askedAt())
	c.watching.file(file) // else the heartbeat looks
}

// hearReaders has the root scanned if a reader has asked since the last time.
func hearReaders(x *Index) {
	if !x.isOwner() {
		return
	}
	if now := x.state.askedAt(); x.reading.heard.Swap(now) < now {
		x.Rescan()
	}
}
