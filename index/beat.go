package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"quarry/index/process"
)

// A process that writes an index and is stopped, by Ctrl+Z or a debugger, or hangs, holds
// the lock for good, and who only reads sees no change any more. So readers hold a lock
// of their own, which says that they are there; as long as somebody does, the writer
// touches a file every few seconds, and a reader that sees it untouched for longer tells
// its user. The file names the process, and is written again when something was committed,
// so that readers need not look for that (vigil). A writer that is alone touches
// nothing.

const (
	beatEvery = 10 * time.Second
	// missedBeats is for how many ownerPolls of a reader's looks the file may stay as it
	// was. Looks and not time: a laptop that slept is no writer that hangs.
	missedBeats = 25
)

// pulse is what a reader knows of the writer.
type pulse struct {
	readers *flock.Flock // held, shared, by a reader
	touched time.Time    // the file's time
	missed  int          // for how many ownerPolls looks found it unchanged
}

func (s *stateFiles) writerFile() string { return filepath.Join(s.dir, "writer") }

func (s *stateFiles) readersFile() string { return filepath.Join(s.dir, "readers") }

// beat tells readers that this process writes and is well, and looks whether the rules are
// still the same, until ctx ends.
func (x *Index) beat(ctx context.Context) {
	if x.state.dir == "" {
		return
	}
	file := x.state.writerFile()
	named, saved := false, x.saved.next()
	for wrote := false; ; {
		// Nobody tells of git's lists elsewhere, and nobody may ask for long.
		x.root.Look()
		if x.isOwner() && !x.Store().InMemory() {
			// On a full disk the file is the one of a writer before, or is not there, and
			// nothing is told of this one.
			if !named {
				named = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600) == nil
			}
			if named && x.isRead() {
				if err := x.touch(file, wrote); err != nil {
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
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(beatEvery)):
			wrote = false
		}
	}
}

// touch is a beat. wrote: something was committed, which readers are told by writing the
// file.
func (x *Index) touch(file string, wrote bool) error {
	now := x.cfg.Clock.Now()
	if !wrote {
		return os.Chtimes(file, now, now)
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()))
	return errors.Join(err, f.Close())
}

// isRead answers whether another process reads the index.
func (x *Index) isRead() bool {
	all := flock.New(x.state.readersFile())
	alone, err := all.TryLock()
	if err == nil && alone {
		err = all.Close()
	}
	return err == nil && !alone
}

// feelPulse looks whether the writer is well, after so long a pause.
func (c *coordinator) feelPulse(pause time.Duration) {
	p := &c.pulse
	if p.readers == nil {
		p.readers = flock.New(c.state.readersFile())
	}
	if held, err := p.readers.TryRLock(); err != nil || !held {
		return // the writer looks at this moment
	}
	info, err := os.Stat(c.state.writerFile())
	if err != nil {
		return // of a quarry that tells nothing
	}
	if now := info.ModTime(); !now.Equal(p.touched) {
		p.touched, p.missed = now, 0
		if c.recover(unserved) {
			c.cfg.Log.Info("the process that writes the index answers again", "root", c.root.Dir())
		}
		return
	}
	told := p.missed >= missedBeats
	if p.missed += int(pause / ownerPoll); told || p.missed < missedBeats {
		return
	}
	who := "process"
	if pid := c.state.writer(); pid != 0 {
		who += " " + strconv.Itoa(pid)
	}
	c.suffer(unserved, fmt.Sprintf("Another quarry (%s) holds the index of %s and does not answer: resume or end it. Until then changes made outside this editor are not noticed.", who, c.root.Dir()))
}

// stopReading gives up what feelPulse holds.
func (c *coordinator) stopReading() {
	if c.pulse.readers != nil {
		if err := c.pulse.readers.Close(); err != nil {
			c.cfg.Log.Debug("stop reading the index of another process", "error", err)
		}
	}
	c.pulse = pulse{}
	c.vigil.stop()
	c.recover(unserved)
}

// A process that only reads need not look each second whether the writer has gone, or has
// written something: the system tells it when the writer's process ends, and when the
// writer's file is written (beat). It looks all the same now and then, and each second
// where one of the two cannot be had, or does not fit what the lock says.

// vigil waits for the end of the process that writes. The zero vigil waits for none.
type vigil struct {
	pid  int
	over chan struct{} // closed when it has ended
	end  context.CancelFunc
}

// stop gives the vigil up.
func (v *vigil) stop() {
	if v.end != nil {
		v.end()
	}
	*v = vigil{}
}

// ended answers whether the process has ended.
func (v *vigil) ended() bool {
	select {
	case <-v.over:
		return true
	default:
		return false
	}
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

// keepVigil answers how long a reader may wait for the writer without looking.
func (c *coordinator) keepVigil(ctx context.Context) time.Duration {
	if !process.Telling || c.watcher == nil || c.watcher.Add(c.state.writerFile()) != nil {
		return ownerPoll
	}
	pid, v := c.state.writer(), &c.vigil
	switch {
	case pid == 0, pid == os.Getpid(): // another index of this process may write it
		v.stop()
		return ownerPoll
	case pid != v.pid:
		v.stop()
		waiting, end := context.WithCancel(ctx)
		over := make(chan struct{})
		*v = vigil{pid, over, end}
		c.stopped.Go(func() {
			if process.Await(waiting, pid) {
				close(over)
			}
		})
		return ownerPoll // for what happened before
	case v.ended(): // and the lock is held: by whom is not known
		return ownerPoll
	}
	return beatEvery
}
