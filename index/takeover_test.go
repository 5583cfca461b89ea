package index

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/index/store"
)

// writerAndReader answers two open indexes of the project; the first writes. The
// clock is the reader's, and told is what its user is told.
func writerAndReader(t *testing.T) (writer, reader *Index, clock *manual, notified chan string) {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	writer = open(t, Config{Dir: dir, StateDir: state})
	settle(t, writer)
	clock, notified = newManual(), make(chan string, 10)
	reader = open(t, Config{Dir: dir, StateDir: state, Clock: clock, Notify: func(m string) { notified <- m }})
	t.Cleanup(func() { shut(t, reader) })
	if !writer.isOwner() || reader.isOwner() {
		t.Fatal("the first to open an index does not write it")
	}
	return writer, reader, clock, notified
}

// hear is the next thing that the user is told.
func hear(t *testing.T, notified chan string) string {
	t.Helper()
	select {
	case m := <-notified:
		return m
	case <-time.After(time.Minute):
		t.Fatal("the user is told nothing")
		return ""
	}
}

// A search that has begun to read goes on though its process becomes the one that writes.
func TestTakeOverLeavesWhoReads(t *testing.T) {
	writer, reader, clock, _ := writerAndReader(t)
	before := reader.Store()
	want, err := before.Stats(t.Context(), "")
	if err != nil || len(want) == 0 {
		t.Fatalf("%d files, %v", len(want), err)
	}
	shut(t, writer)
	until(t, "the reader to write", func() bool { clock.move(ownerPoll); return reader.isOwner() })
	if before == reader.Store() {
		t.Fatal("it reads what it read before")
	}
	if stats, err := before.Stats(t.Context(), ""); err != nil || len(stats) != len(want) {
		t.Errorf("%d of %d files, %v", len(stats), len(want), err)
	}
	until(t, "what was read from to be closed", func() bool {
		clock.move(retiredFor)
		_, err := before.Stats(t.Context(), "")
		return err != nil
	})
}

// A database that the writer has made anew is another one under the same name. Whoever still had the
// one before would read both, with the numbers of one in the other.
func TestFollowingReadsNoTwoDatabases(t *testing.T) {
	if !readersLetGo {
		t.Skip("no database that another process reads is removed here: it is made anew in its place (TestRebuildBesideAReader)")
	}
	writer, reader, clock, _ := writerAndReader(t)
	defer shut(t, writer)
	before := reader.Store()
	writer.Rebuild()
	settle(t, writer)
	until(t, "the reader to follow", func() bool { clock.move(ownerPoll); return reader.Store() != before })
	until(t, "the database before to be closed", func() bool {
		_, err := before.Stats(t.Context(), "")
		return err != nil
	})
}

// readersLetGo: a file that another process has open can be moved and removed.
const readersLetGo = runtime.GOOS != "windows"

// A rebuild reads every file again, also where the database cannot be removed because somebody reads
// it. It stays on disk, with the same writer.
func TestRebuildBesideAReader(t *testing.T) {
	writer, reader, clock, _ := writerAndReader(t)
	defer shut(t, writer)
	before := reader.Store()
	alter(t, writer, "UPDATE symbols SET name = 'wrong'")
	writer.Rebuild()
	settle(t, writer)
	if err := writer.NotKept(); err != nil || !writer.isOwner() {
		t.Fatalf("the index is in memory (%v), or another's", err)
	}
	until(t, "the reader to follow", func() bool { clock.move(ownerPoll); return reader.Store() != before || !readersLetGo })
	want := fresh(t, writer.Root().Dir())
	for who, x := range map[string]*Index{"the writer": writer, "the reader": reader} {
		if got := dump(t, x); got != want {
			t.Errorf("%s: %s", who, firstDifference(got, want))
		}
	}
}

// Whoever waits for a writer that can never be followed keeps its own index.
func TestTakeOverOfAnIndexThatCannotBeWritten(t *testing.T) {
	for name, test := range map[string]struct {
		spoil    func(t *testing.T, database string) // while the writer has it open
		after    func(t *testing.T, database string)
		notified string
		or       string // that may be told in its place
	}{
		"of a newer quarry": {
			spoil: func(t *testing.T, database string) {
				db, err := sql.Open("sqlite3", database)
				if err != nil {
					t.Fatal(err)
				}
				_, err = db.Exec("PRAGMA user_version = 99")
				if err := errors.Join(err, db.Close()); err != nil {
					t.Fatal(err)
				}
			},
			notified: "update quarry",
		},
		"that is a folder": {
			after: func(t *testing.T, database string) {
				if err := os.Rename(database, database+".before"); err != nil {
					t.Fatal(err)
				}
				write(t, database, map[string]string{"file": "in the way"})
			},
			notified: "Free some disk space",
			// Who took over before the file was moved away finds nothing in its place first.
			or: "its files were removed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.after != nil && !readersLetGo {
				t.Skip("this system moves no database that another process has open")
			}
			writer, x, clock, notified := writerAndReader(t)
			database := writer.state.database()
			if test.spoil != nil {
				test.spoil(t, database)
			}
			shut(t, writer)
			if test.after != nil {
				test.after(t, database)
			}
			write(t, x.Root().Dir(), map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
			// It may own the database on disk for a moment, before that was moved away.
			until(t, "the reader to go on by itself", func() bool { clock.move(ownerPoll); return x.isOwner() && x.Store().InMemory() })
			settle(t, x)
			if got, want := dump(t, x), fresh(t, x.Root().Dir()); got != want || !x.Store().InMemory() {
				t.Errorf("in memory %v: %s", x.Store().InMemory(), firstDifference(got, want))
			}
			if m := hear(t, notified); len(notified) > 0 || !strings.Contains(m, "in memory") || !strings.Contains(m, test.notified) && (test.or == "" || !strings.Contains(m, test.or)) {
				t.Errorf("told %q and %d more", m, len(notified))
			}
		})
	}
}

// What a reader was asked for, or found, is about a database that another process sees
// to; it is nothing to do years later, when that process has gone.
func TestOrdersGivenToAReaderAreNotKept(t *testing.T) {
	for name, order := range map[string]func(x *Index){
		"rebuild": (*Index).Rebuild,
		"damage":  func(x *Index) { x.request(func() { x.damaged = store.ErrCorrupt }) },
	} {
		t.Run(name, func(t *testing.T) {
			writer, x, clock, notified := writerAndReader(t)
			order(x)
			if name == "rebuild" {
				if m := hear(t, notified); !strings.Contains(m, "Another quarry keeps the index") {
					t.Errorf("told %q", m)
				}
			}
			if err := writer.Store().PutMeta("made", "before"); err != nil {
				t.Fatal(err)
			}
			shut(t, writer)
			until(t, "the reader to take over", func() bool { clock.move(ownerPoll); return x.isOwner() })
			settle(t, x)
			if value, err := x.Store().Meta(t.Context(), "made"); err != nil || value != "before" || len(notified) > 0 {
				t.Errorf("at the take-over the index was made anew (%q, %v); told %d messages", value, err, len(notified))
			}
			if left, err := filepath.Glob(x.state.database() + ".damaged*"); err != nil || len(left) > 0 {
				t.Errorf("set aside %q, %v", left, err)
			}
		})
	}
}

// The process that takes over looks whether the one before has left damage.
func TestTakeOverOfADamagedIndex(t *testing.T) {
	writer, x, clock, notified := writerAndReader(t)
	alter(t, writer, "DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)")
	shut(t, writer)
	until(t, "the reader to take over", func() bool { clock.move(ownerPoll); return x.isOwner() })
	until(t, "the damage to be found", func() bool { clock.move(quiet); return len(notified) > 0 })
	if m := hear(t, notified); !strings.Contains(m, "was damaged") {
		t.Errorf("told %q", m)
	}
	settle(t, x)
	if got, want := dump(t, x), fresh(t, x.Root().Dir()); got != want {
		t.Errorf("after the damage: %s", firstDifference(got, want))
	}
}

// Beside a running quarry of another version, whose database this one cannot read, it keeps its
// own index, says why, and goes on with the one on disk when that quarry has ended.
func TestBesideAQuarryOfAnotherVersion(t *testing.T) {
	for name, version := range map[string]int{"newer": 99, "older": 2} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			writer := open(t, Config{Dir: dir, StateDir: state})
			settle(t, writer)
			db, err := sql.Open("sqlite3", writer.state.database())
			if err != nil {
				t.Fatal(err)
			}
			var own int
			err = db.QueryRow("PRAGMA user_version").Scan(&own)
			become := func(version int) {
				if _, e := db.Exec(fmt.Sprint("PRAGMA user_version = ", version)); err != nil || e != nil {
					t.Fatal(err, e)
				}
			}
			become(version)
			clock, notified := newManual(), make(chan string, 10)
			x := open(t, Config{Dir: dir, StateDir: state, Clock: clock, Notify: func(m string) { notified <- m }})
			defer shut(t, x)
			until(t, "an index of its own", func() bool { clock.move(ownerPoll); return x.isOwner() })
			settle(t, x)
			if got, want := dump(t, x), fresh(t, dir); got != want || !x.Store().InMemory() {
				t.Errorf("in memory %v: %s", x.Store().InMemory(), firstDifference(got, want))
			}
			if m := hear(t, notified); !strings.Contains(m, "another version of quarry (process ") || strings.Contains(m, "disk space") {
				t.Errorf("told %q", m)
			}
			if _, err := Peek(t.Context(), Config{Dir: dir, StateDir: state}, 0); err == nil || !strings.Contains(err.Error(), "another version of quarry") {
				t.Errorf("the status says %v", err)
			}
			become(own)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			shut(t, writer)
			until(t, "the index on disk", func() bool { clock.move(ownerPoll); return !x.Store().InMemory() })
			settle(t, x)
			if m := hear(t, notified); !strings.HasSuffix(m, "is on disk again.") || len(x.Troubles()) > 0 {
				t.Errorf("told %q, troubles %q", m, x.Troubles())
			}
		})
	}
}
