package index

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// covered answers whether an index says that it knows all that is there now.
func covered(t *testing.T, x *Index) bool {
	t.Helper()
	c, err := x.Coverage(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c.Current
}

// Nobody need tell of a change: who writes the index looks, too, before it says that it knows all,
// and then indexes what it missed. What is left out for what is in it does not count for ever.
func TestWriterLooksBeforeItKnowsAll(t *testing.T) {
	for name, stateDir := range map[string]string{"on disk": t.TempDir(), "in memory": "/dev/null/no"} {
		dir := t.TempDir()
		write(t, dir, project)
		x := open(t, Config{Dir: dir, StateDir: stateDir})
		defer shut(t, x)
		settle(t, x)
		if !covered(t, x) {
			t.Fatalf("%s: it does not know what it has just read", name)
		}
		write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n", "binary.dat": "\x00\x01\x02"})
		if covered(t, x) {
			t.Errorf("%s: it knows all but late.go", name)
		}
		since := time.Now()
		until(t, "all to be known", func() bool {
			c, err := x.Coverage(t.Context(), since)
			if err != nil {
				t.Fatal(err)
			}
			return c.Current
		})
		if symbols(t, x, "late.go") == nil {
			t.Errorf("%s: it knows all but late.go", name)
		}
	}
}

// Who only reads has the process that writes look, where nobody told that one of a change.
func TestReaderAsksTheWriterToLook(t *testing.T) {
	dir, writer, reader := besideAWriter(t)
	defer shut(t, writer)
	defer shut(t, reader)
	until(t, "the reader to know all", func() bool { return covered(t, reader) })
	for _, name := range []string{"one.go", "two.go"} {
		write(t, dir, map[string]string{name: "package m\n\nfunc late() {}\n"})
		if covered(t, reader) && symbols(t, reader, name) == nil { // a scan asked for before may have met it
			t.Errorf("it knows all but %s", name)
		}
		until(t, "the writer to look", func() bool { return covered(t, reader) })
		if symbols(t, reader, name) == nil {
			t.Errorf("it knows all but %s", name)
		}
	}
	write(t, dir, map[string]string{"three.go": "package m\n\nfunc late() {}\n"})
	if err := reader.Served(t.Context()); err != nil || symbols(t, reader, "three.go") == nil {
		t.Errorf("served, but for three.go: %v", err)
	}
}

// lagOf is what an index says that answers may miss.
func lagOf(t *testing.T, x *Index) Lag {
	t.Helper()
	lag, err := x.Lag(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lag
}

// An index that is whole says that it is behind from when a scan has met files that are not as
// they are indexed until they are: to who only reads, too, and after the process has ended.
func TestBehindUntilTheLastFileIsIndexed(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	writer := start(t, Config{Dir: dir, StateDir: state})
	if lag := lagOf(t, writer); lag.Behind || lag.CaughtUp != (Cursor{}) {
		t.Errorf("after the first index: %+v", lag)
	}
	reader := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, reader)
	if lag := lagOf(t, reader); lag.Behind {
		t.Errorf("a reader of a whole index: %+v", lag)
	}
	// While it has not looked it may ask the writer to, whose coordinator this test becomes.
	until(t, "the reader to look", func() bool { return !lagOf(t, reader).Unlooked })
	reader.request(reader.fallBehind) // as by a commit that it hears of, too
	if lag := lagOf(t, reader); lag.Behind {
		t.Errorf("a reader does not take the writer's word: %+v", lag)
	}
	writer.cancel() // the test is the coordinator
	writer.stopped.Wait()
	c := &coordinator{Index: writer, fresh: map[string]found{}}
	scan := func() {
		writer.mu.Lock()
		writer.scans[""] = true
		writer.mu.Unlock()
		c.beginScan(t.Context())
	}
	end := func() {
		for r := range c.scan.results {
			c.add(t.Context(), r)
		}
		c.endScan(t.Context(), false)
		c.noteCurrent(t.Context())
	}
	scan()
	end()
	if lag := lagOf(t, writer); lag.Behind {
		t.Errorf("nothing differs, and the writer is %+v", lag)
	}

	write(t, dir, map[string]string{"main.go": "package m\n\nfunc other() {}\n", "late.go": "package m\n\nfunc late() {}\n"})
	scan()
	c.add(t.Context(), <-c.scan.results)
	for name, x := range map[string]*Index{"writer": writer, "reader": reader} {
		if lag := lagOf(t, x); !lag.Behind {
			t.Errorf("the %s is not behind while one file of two is read", name)
		}
	}
	end()
	now, err := writer.Cursor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*Index{"writer": writer, "reader": reader} {
		if lag := lagOf(t, x); lag.Behind || lag.CaughtUp.generation != now.generation || !x.IsCurrent(lag.CaughtUp) {
			t.Errorf("the %s says %+v, and the last file came with %+v", name, lag, now)
		}
	}

	// A scan that was stopped leaves who only reads with a part; who writes says so by Coverage.
	write(t, dir, map[string]string{"main.go": "package m\n\nfunc second() {}\n", "stopped.go": "package m\n\nfunc stopped() {}\n"})
	scan()
	c.add(t.Context(), <-c.scan.results)
	for range c.scan.results {
	}
	c.scan.err = context.Canceled // whenever it was
	c.endScan(t.Context(), false)
	c.noteCurrent(t.Context())
	if lag := lagOf(t, reader); !lag.Behind {
		t.Error("the reader does not miss what a scan that was stopped left")
	}

	// Files that are gone count, too, and another process goes on.
	if err := os.Remove(filepath.Join(dir, "late.go")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"main.go": "package m\n\nfunc third() {}\n"})
	scan()
	c.add(t.Context(), <-c.scan.results)
	c.scan.cancel()
	for range c.scan.results {
	}
	reader.cancel()
	reader.stopped.Wait()
	if err := writer.state.unlock(); err != nil { // as if it had been killed
		t.Fatal(err)
	}
	if won, err := reader.state.becomeOwner(); err != nil || !won {
		t.Fatal(won, err)
	}
	if lag := lagOf(t, reader); !lag.Behind {
		t.Error("the process that comes after one that was killed is not behind")
	}
}

// Of what only an editor or a single event tells the index is not behind; of more than are looked
// at one by one, and of another commit, it is before anything was looked at.
func TestManyChangesAreBehindAtOnce(t *testing.T) {
	x := start(t, Config{Dir: t.TempDir()})
	x.cancel() // nobody looks at what is told
	x.stopped.Wait()
	var names []string
	for i := range manyChanges {
		names = append(names, filepath.Join(x.root.Dir(), strconv.Itoa(i)+".go"))
	}
	x.FilesChanged(names)
	if lag := lagOf(t, x); lag.Behind {
		t.Errorf("behind by %d events", len(names))
	}
	x.FilesChanged([]string{filepath.Join(x.root.Dir(), "more.go")})
	if lag := lagOf(t, x); !lag.Behind {
		t.Errorf("not behind by %d events", len(names)+1)
	}
}

// Where comparing the folder with the index takes too long, who only reads does not take it for
// current: it asks the writer.
func TestSlowReaderDoesNotTrustItself(t *testing.T) {
	_, writer, reader := besideAWriter(t)
	defer shut(t, writer)
	defer shut(t, reader)
	// Its first look, which notes what it found, is not to come between.
	until(t, "the reader to have looked", func() bool { return !lagOf(t, reader).Unlooked })
	slow := func() (of Cursor) { // as compare notes it
		of, err := reader.Cursor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		reader.reading.mu.Lock()
		defer reader.reading.mu.Unlock()
		reader.reading.of, reader.reading.stale, reader.reading.until = of, nil, time.Now().Add(time.Hour)
		return of
	}
	// It may have the writer's word at once, but not without it.
	var since time.Time
	until(t, "an answer while the writer commits nothing, after which the reader compares anew", func() bool {
		of := slow()
		before := reader.state.askedAt()
		since = time.Now()
		c, err := reader.Coverage(t.Context(), since)
		now, wrong := reader.Cursor(t.Context())
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		if now == of && reader.state.askedAt() == before {
			t.Fatalf("the writer was not asked, and it says %+v", c)
		}
		return now == of
	})
	until(t, "the writer's word", func() bool {
		c, err := reader.Coverage(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		return c.Current
	})
}

// Who only reads does not know whether many files have changed, where the process that writes has just
// begun, before it has compared the folder itself, or that one has looked. As a writer it looks anew.
func TestReaderLooksBesideAWriterThatHasNot(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	writer := start(t, Config{Dir: dir, StateDir: state})
	writer.cancel() // it holds the lock and has looked at nothing yet; the test is its coordinator
	writer.stopped.Wait()
	same := start(t, Config{Dir: dir, StateDir: state})
	until(t, "the reader to have compared", func() bool { return !lagOf(t, same).Unlooked })

	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	before := writer.state.askedAt()
	reader := start(t, Config{Dir: dir, StateDir: state})
	until(t, "the writer to be asked", func() bool { return writer.state.askedAt() > before })
	if lag := lagOf(t, reader); !lag.Unlooked || lag.Behind {
		t.Errorf("it has met a file that is not indexed, and says %+v", lag)
	}
	c := &coordinator{Index: writer, fresh: map[string]found{}}
	writer.mu.Lock()
	writer.scans[""] = true
	writer.mu.Unlock()
	c.beginScan(t.Context())
	for r := range c.scan.results {
		c.add(t.Context(), r)
	}
	c.endScan(t.Context(), false)
	c.noteCurrent(t.Context())
	until(t, "the writer's word", func() bool { return !lagOf(t, reader).Unlooked })
	if symbols(t, reader, "late.go") == nil {
		t.Error("it knows all but late.go")
	}

	same.cancel()
	same.stopped.Wait()
	reader.cancel()
	reader.stopped.Wait()
	if err := writer.state.unlock(); err != nil { // as if it had been killed
		t.Fatal(err)
	}
	if won, err := reader.state.becomeOwner(); err != nil || !won || !lagOf(t, reader).Unlooked {
		t.Errorf("the process that writes now has looked at nothing, and says %+v, %v", lagOf(t, reader), err)
	}
}

// besideAWriter is a folder with its index, the process that writes it, which has settled, and one
// that only reads.
func besideAWriter(t *testing.T) (dir string, writer, reader *Index) {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	writer = open(t, Config{Dir: dir, StateDir: state})
	settle(t, writer)
	return dir, writer, open(t, Config{Dir: dir, StateDir: state})
}
