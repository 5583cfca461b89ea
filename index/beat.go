package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// A process that writes an index and is stopped, by Ctrl+Z or a debugger, or hangs, holds
// the lock for good, and who only reads sees no change any more. So readers hold a lock
// of their own, which says that they are there; as long as somebody does, the writer
// touches a file every few seconds, and a reader that sees it untouched for longer tells
// its user. The file names the process. A writer that is alone touches nothing.

const (
	beatEvery = 10 * time.Second
	// missedBeats is for how many looks of a reader, one each ownerPoll, the file may stay
	// as it was. Looks and not time: a laptop that slept is no writer that hangs.
	missedBeats = 25
)

// pulse is what a reader knows of the writer.
type pulse struct {
	readers *flock.Flock // held, shared, by a reader
	touched time.Time    // the file's time
	missed  int          // looks in a row that found it unchanged
}

func (s *stateFiles) writerFile() string { return filepath.Join(s.dir, "writer") }

func (s *stateFiles) readersFile() string { return filepath.Join(s.dir, "readers") }

// beat tells readers that this process writes and is well, until ctx ends.
func (x *Index) beat(ctx context.Context) {
	if x.state.dir == "" {
		return
	}
	named := false
	for {
		if x.isOwner() && !x.Store().InMemory() {
			// On a full disk the file is the one of a writer before, or is not there, and
			// nothing is told of this one.
			if !named {
				named = os.WriteFile(x.state.writerFile(), []byte(strconv.Itoa(os.Getpid())), 0o600) == nil
			}
			if named && x.isRead() {
				now := x.cfg.Clock.Now()
				if err := os.Chtimes(x.state.writerFile(), now, now); err != nil {
					x.cfg.Log.Debug("tell readers that the writer is well", "error", err)
				}
			}
		} else {
			named = false
		}
		select {
		case <-ctx.Done():
			return
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(beatEvery)):
		}
	}
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

// feelPulse looks whether the writer is well.
func (c *coordinator) feelPulse() {
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
	if p.missed++; p.missed != missedBeats {
		return
	}
	who := "process"
	if pid, err := os.ReadFile(c.state.writerFile()); err == nil {
		who += " " + strings.TrimSpace(string(pid))
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
	c.recover(unserved)
}
