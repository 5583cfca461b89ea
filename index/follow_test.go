package index

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"quarry/index/embedtext"
	"quarry/index/store"
)

// follower is what somebody who follows an index knows.
type follower struct {
	feed  *Feed
	known map[string]string // texts by path
	gone  []string
}

func follow(x *Index) *follower { return &follower{feed: x.Follow(), known: map[string]string{}} }

// next takes one answer of the feed.
func (f *follower) next(ctx context.Context) (upToDate bool, err error) {
	list, upToDate, err := f.feed.Next(ctx)
	for _, u := range list {
		if u.File == nil {
			delete(f.known, u.Path)
			f.gone = append(f.gone, u.Path)
		} else {
			f.known[u.Path] = u.Text
		}
	}
	return upToDate, err
}

// until takes answers until ok.
func (f *follower) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !ok() {
		if _, err := f.next(ctx); err != nil {
			t.Fatalf("%s: %v; the feed told of %q", what, err, f.known)
		}
	}
}

// reach takes answers until all is told that x holds now.
func (f *follower) reach(t testing.TB, x *Index) {
	t.Helper()
	now, err := x.Cursor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.until(t, "the present state", func() bool { return f.feed.Cursor().Includes(now) })
}

// A checkout and the way back, and the feed looked in between: the index finds
// nothing changed.
func TestFeedOfWhatDifferedForAMoment(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	other := "package main\n\nfunc other() {}\n"
	write(t, dir, map[string]string{"main.go": other})
	f := follow(x)
	f.reach(t, x)
	if text, ok := f.known["main.go"]; ok || len(f.known) != 4 {
		t.Fatalf("the feed told of main.go with %q, which its record was not made from; told of %d", text, len(f.known))
	}
	write(t, dir, map[string]string{"main.go": project["main.go"]})
	x.Rescan()
	settle(t, x)
	f.until(t, "main.go as it was", func() bool { return f.known["main.go"] == project["main.go"] })
	// The same once it was told of, and with a buffer.
	name := filepath.Join(x.Root().Dir(), "main.go")
	x.DidOpen(name, other)
	f.until(t, "main.go as it is in the editor", func() bool { return f.known["main.go"] == other })
	x.DidClose(name)
	f.until(t, "main.go as it is on disk", func() bool { return f.known["main.go"] == project["main.go"] })
}

func TestFeedOfReaderWithOpenDocument(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	start(t, Config{Dir: dir, StateDir: state})
	b := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, b)
	name := filepath.Join(b.Root().Dir(), "main.go")
	b.DidOpen(name, strings.ReplaceAll(project["main.go"], "\n", "\r\n"))
	f := follow(b)
	f.reach(t, b)
	if text, ok := f.known["main.go"]; ok {
		t.Errorf("told of a record that was made from another text than %q", text)
	}
	b.DidClose(name)
	f.until(t, "main.go once it is closed", func() bool { return f.known["main.go"] == project["main.go"] })
}

// More files differ than a reader reads at a poll, and some of them for good.
func TestFeedOfReaderWhereMuchDiffers(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	files, changed := map[string]string{}, map[string]string{}
	for i := range 3 * readerAgain {
		name := "d/" + strings.Repeat("a", 1+i%50) + string(rune('a'+i/50)) + ".txt"
		files[name], changed[name] = name+"\n", "not "+name+"\n"
	}
	write(t, dir, files)
	start(t, Config{Dir: dir, StateDir: state}) // watches nothing
	b := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, b)
	until(t, "the reader to have looked", func() bool { return !lagOf(t, b).Unlooked }) // else it has the writer look
	write(t, dir, changed)
	f := follow(b)
	f.reach(t, b)
	if len(f.known) != 0 {
		t.Fatalf("told of %q", f.known)
	}
	back, n := map[string]string{}, 0
	for name := range files {
		if n++; n%2 == 0 {
			back[name] = files[name]
		}
	}
	write(t, dir, back)
	f.until(t, "the half that agrees again", func() bool { return len(f.known) == len(back) })
	for name, text := range back {
		if f.known[name] != text {
			t.Errorf("%s is %q", name, f.known[name])
		}
	}
}

func TestTextThatDifferedIsEmbedded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	write(t, dir, map[string]string{"main.go": "package main\n\nfunc other() {}\n"})
	models := newFakeModels("m")
	x.embedding.SetEmbedders(models.use("m"))
	settleVectors(t, x)
	if models.embedded() == 0 {
		t.Error("nothing was embedded of the other files")
	}
	write(t, dir, map[string]string{"main.go": project["main.go"]})
	x.Rescan()
	settleVectors(t, x)
	if models.embedded() == 0 {
		t.Error("nothing was embedded that was not before")
	}
	checkComplete(t, x, "m@1+"+embedtext.Version, 16)
}

// While the writer rebuilds, who follows a reader goes on with what it knows.
func TestReaderForgetsNothingDuringARebuild(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	clock := newManual()
	a := start(t, Config{Dir: dir, StateDir: state, Clock: clock})
	b := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, b)
	f := follow(b)
	f.reach(t, b)
	old, before := a.Store(), b.Store()
	leave := a.Busy() // holds the scan back
	a.Rebuild()
	until(t, "the new database", func() bool { return a.Store() != old && (b.Store() != before || !readersLetGo) })
	f.reach(t, b) // nothing of it
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("there is something to tell of (%v): %q is gone", err, f.gone)
	}
	leave()
	until(t, "the rebuilt index", func() bool { clock.move(quiet); return !a.Working() })
	f.reach(t, b)
	if len(f.gone) > 0 || len(f.known) != 5 {
		t.Errorf("took back %q, and knows %d of 5 files", f.gone, len(f.known))
	}
}

// A reader waits for what another process is still at.
func TestWholeBesideAnotherWriter(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	clock, clockB := newManual(), newManual()
	a := start(t, Config{Dir: dir, StateDir: state, Clock: clock})
	leave := a.Busy() // holds the scan back
	before := a.Store()
	a.Rebuild()
	until(t, "the empty index", func() bool { return a.Store() != before })
	b := open(t, Config{Dir: dir, StateDir: state, Clock: clockB})
	defer shut(t, b)
	clockB.move(2 * ownerPoll)
	done := make(chan error, 1)
	go func() { done <- b.Whole(t.Context()) }()
	isDone := func() bool { clockB.move(ownerPoll); return len(done) > 0 }
	for range 100 {
		if isDone() {
			t.Fatalf("whole (%v) while the other process holds %q", <-done, paths(t, b))
		}
		runtime.Gosched()
	}
	leave()
	until(t, "the other's index", func() bool { clock.move(quiet); return isDone() })
	if err := <-done; err != nil || len(paths(t, b)) != 5 {
		t.Errorf("%v; the index holds %q", err, paths(t, b))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Whole(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// `quarry status` holds the lock for a moment; what asks for it then is the writer
// afterwards.
func TestWholeAfterSomebodyLooked(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	x := open(t, Config{Dir: dir, StateDir: state})
	settle(t, x)
	lock := flock.New(filepath.Join(x.state.dir, "lock"))
	shut(t, x)
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	if ok, err := lock.TryLock(); !ok {
		t.Fatal(err)
	}
	clock := newManual()
	y := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
	defer shut(t, y)
	done := make(chan error, 1)
	go func() { done <- y.Whole(t.Context()) }()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "an answer", func() bool { clock.move(ownerPoll / 10); return len(done) > 0 })
	if err := <-done; err != nil || symbols(t, y, "late.go") == nil {
		t.Errorf("%v; the index holds %q", err, paths(t, y))
	}
}

// Damage that is found while reading is seen to, and nothing told of before it is
// lost.
func TestDamageFoundByAFeed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	notified := make(chan string, 10)
	x := start(t, Config{Dir: dir, Notify: func(m string) { notified <- m }})
	alter(t, x, "DELETE FROM chunks WHERE id = (SELECT max(id) FROM chunks)")
	f := follow(x)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var err error
	for err == nil && len(notified) == 0 { // the check after the start may be first
		_, err = f.next(ctx)
	}
	if err != nil && (!errors.Is(err, store.ErrCorrupt) || len(f.known) != 4) {
		t.Errorf("%v; told of %d files before, want 4", err, len(f.known))
	}
	if m := hear(t, notified); !strings.Contains(m, "was damaged") {
		t.Errorf("told %q", m)
	}
	settle(t, x)
	f.until(t, "all files", func() bool { return len(f.known) == 5 })
	if len(f.gone) > 0 {
		t.Errorf("took back %q", f.gone)
	}
}
