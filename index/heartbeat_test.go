package index

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// A writer that is well is never said to be stuck, however long its reader looks; one that
// touches nothing any more is, once, and the status forgets it when it goes on.
func TestWriterThatHangsIsTold(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	clock, told := newManual(), make(chan string, 10)
	writer := open(t, Config{Dir: dir, StateDir: state})
	settle(t, writer)
	reader := open(t, Config{Dir: dir, StateDir: state, Clock: clock, Notify: func(m string) { told <- m }})
	t.Cleanup(func() { shut(t, reader) })

	file := writer.state.writerFile()
	touch := func(at time.Time) { // as the writer does by its own clock
		t.Helper()
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	look := func() {
		t.Helper()
		before := reader.timesRefused()
		until(t, "the reader to look", func() bool {
			clock.move(ownerPoll / 4)
			return reader.timesRefused() > before
		})
	}
	until(t, "the writer to have a name", func() bool { _, err := os.Stat(file); return err == nil })
	look() // from here on the writer sees it
	if !writer.state.isRead() {
		t.Fatal("the reader is not seen")
	}
	for i := range 3 * missedBeats {
		if i%5 == 0 {
			touch(clock.Now())
		}
		look()
	}
	if len(told) > 0 || len(reader.Troubles()) > 0 {
		t.Fatalf("a writer that is well: told %q, %q", <-told, reader.Troubles())
	}
	// By its own clock it touches the file at most every ten seconds, which does not pass
	// within the moment that the reader's looks take; if it does, it has to be waited for again.
	until(t, "the user to be told", func() bool { look(); return len(told) > 0 })
	m := <-told
	if !strings.Contains(m, "quarry (process ") || !strings.Contains(m, "Resume or stop it") {
		t.Errorf("told %q", m)
	}
	touch(clock.Now().Add(time.Hour))
	until(t, "the trouble to be over", func() bool { look(); return len(reader.Troubles()) == 0 })
	shut(t, writer)
	until(t, "the reader to take over", func() bool { clock.move(ownerPoll); return reader.isOwner() })
	if len(reader.Troubles()) > 0 || len(told) > 0 {
		t.Errorf("after taking over: %q and %d messages", reader.Troubles(), len(told))
	}
}

// The writer touches its file only while somebody reads.
func TestWriterBeatsForReaders(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	clock := newManual()
	writer := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
	defer shut(t, writer)
	until(t, "the index", func() bool { clock.move(time.Second); return writer.isSettled() })
	file := writer.state.writerFile()
	touched := func() time.Time {
		info, err := os.Stat(file)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	look := func() { // it looks each time, and has looked when it waits again
		t.Helper()
		clock.move(heartbeatEvery)
		until(t, "the writer to wait", func() bool { return clock.isAwaited(clock.Now().Add(heartbeatEvery)) })
	}
	look() // its first look writes its name once more
	before := touched()
	for range 20 {
		look()
	}
	if now := touched(); !now.Equal(before) {
		t.Errorf("touched at %v without a reader", now)
	}
	reader := open(t, Config{Dir: dir, StateDir: state})
	until(t, "the writer to answer a reader", func() bool { clock.move(heartbeatEvery); return !touched().Equal(before) })
	shut(t, reader)
	if writer.state.isRead() {
		t.Error("a reader that has gone is still seen")
	}
}

// A writer that hangs before its database exists is no index that is just being made: its readers
// say that they wait to open it, and soon for which process.
func TestWriterThatHangsBeforeItsDatabaseIsTold(t *testing.T) {
	for writer, want := range map[string]string{
		"2147483646": "quarry (process 2147483646) holds the index of ",
		"":           "quarry holds the index of ", // the disk had no room for its name
	} {
		t.Run("writer "+writer, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			clock, told := newManual(), make(chan string, 10)
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				t.Fatal(err)
			}
			place, err := databaseDir(state, real)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(place, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, place, map[string]string{"writer": writer}) // none if it is ""
			lock := flock.New(filepath.Join(place, "lock"))
			if held, err := lock.TryLock(); err != nil || !held {
				t.Fatal(held, err)
			}
			defer lock.Close()
			reader := open(t, Config{Dir: dir, StateDir: state, Clock: clock, Notify: func(m string) { told <- m }})
			defer shut(t, reader)
			st, err := reader.Status(t.Context())
			if err != nil || !st.Working || !slices.Equal(st.Doing, []Activity{Opening}) {
				t.Errorf("working %v, doing %v, %v", st.Working, st.Doing, err)
			}
			until(t, "the user to be told", func() bool { clock.move(ownerPoll); return len(told) > 0 })
			if m := <-told; !strings.Contains(m, want) || !strings.Contains(m, "Resume or stop it") {
				t.Errorf("told %q", m)
			}
			c, err := reader.Coverage(t.Context(), time.Time{})
			if err != nil || c.Whole || c.Unserved == nil {
				t.Errorf("coverage %+v, %v", c, err)
			}
			if err := lock.Close(); err != nil {
				t.Fatal(err)
			}
			until(t, "the reader to take over", func() bool { clock.move(ownerPoll); return reader.isOwner() })
			settle(t, reader)
			if len(reader.Troubles()) > 0 || symbols(t, reader, "main.go") == nil {
				t.Errorf("afterwards: %q", reader.Troubles())
			}
		})
	}
}

// A writer has a name before it opens its database, in the middle of which it may be stopped.
func TestWriterIsNamedBeforeItsDatabaseIsOpened(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	x := open(t, Config{Dir: dir, StateDir: state})
	files := &x.state
	shut(t, x)
	for _, name := range []string{files.writerFile(), files.database()} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(files.database(), 0o700); err != nil { // which cannot be opened
		t.Fatal(err)
	}
	shut(t, open(t, Config{Dir: dir, StateDir: state}))
	if pid := files.writer(); pid != os.Getpid() {
		t.Errorf("the writer is %d, not %d", pid, os.Getpid())
	}
}
