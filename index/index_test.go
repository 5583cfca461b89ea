package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quarry/index/store"
	"quarry/index/systest"
	"quarry/index/watch"
)

func TestFirstIndex(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	var mu sync.Mutex
	var progress []Progress
	x := start(t, Config{Dir: dir, Progress: func(p Progress) { mu.Lock(); progress = append(progress, p); mu.Unlock() }})
	if got, want := paths(t, x), []string{"README.md", "go.mod", "lib/helper.go", "lib/lib.go", "main.go"}; !slices.Equal(got, want) {
		t.Errorf("indexed %q, want %q", got, want)
	}
	st, err := x.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Skipped["dependencies"] != 1 || st.Skipped["secret"] != 1 || len(st.SkippedPaths) != 2 || st.Writer != ThisProcess || st.Working || st.References == 0 {
		t.Errorf("status %+v", st)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(progress) == 0 || !progress[len(progress)-1].Finished || progress[len(progress)-1].Took <= 0 {
		t.Errorf("progress %+v", progress)
	}
	_, err = x.Store().Load(t.Context(), nil, func(f *store.File) error {
		want := map[string]string{"lib/lib.go": "Package lib opens things.\nFunctions: Open.", "README.md": "What it is about.\nSections: Title, Use."}[f.Path]
		if want != "" && f.Summary != want {
			t.Errorf("summary of %s: %q, want %q", f.Path, f.Summary, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBufferIsTheTruthAfterADelay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	clock := newManual()
	x := start(t, Config{Dir: dir, Clock: clock})
	name := filepath.Join(x.Root().Dir(), "lib", "helper.go")
	x.DidOpen(name, project["lib/helper.go"])
	settle(t, x)
	x.DidChange(name, "package lib\n\nfunc helper() {}\n\nfunc typed() {}\n")
	clock.move(bufferDelay - time.Millisecond)
	x.Root() // the coordinator may or may not have run; nothing is due either way
	if got := symbols(t, x, "lib/helper.go"); slices.Contains(got, "typed") {
		t.Errorf("indexed before the delay: %q", got)
	}
	clock.move(time.Millisecond)
	settle(t, x)
	if got := symbols(t, x, "lib/helper.go"); !slices.Contains(got, "typed") {
		t.Errorf("not indexed after the delay: %q", got)
	}
	// The disk does not count while the document is open.
	write(t, dir, map[string]string{"lib/helper.go": "package lib\n\nfunc disk() {}\n"})
	x.FilesChanged([]string{name})
	x.Rescan()
	settle(t, x)
	if got := symbols(t, x, "lib/helper.go"); !slices.Contains(got, "typed") {
		t.Errorf("the disk won over the buffer: %q", got)
	}
	x.DidClose(name)
	settle(t, x)
	if got := symbols(t, x, "lib/helper.go"); !slices.Equal(got, []string{"lib", "disk"}) {
		t.Errorf("after closing: %q, want what is on disk", got)
	}
	// A document that was never saved is gone when it is closed.
	unsaved := filepath.Join(x.Root().Dir(), "new.go")
	x.DidOpen(unsaved, "package m\n\nfunc fresh() {}\n")
	settle(t, x)
	if got := symbols(t, x, "new.go"); !slices.Equal(got, []string{"m", "fresh"}) {
		t.Errorf("unsaved document: %q", got)
	}
	x.DidClose(unsaved)
	settle(t, x)
	if got := symbols(t, x, "new.go"); got != nil {
		t.Errorf("after closing an unsaved document: %q", got)
	}
}

func TestSecretsStayOutEvenWhenOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	for _, name := range []string{".env", "sub/.env.local", "id_rsa", "node_modules/x.js", "../outside.go"} {
		x.DidOpen(filepath.Join(x.Root().Dir(), filepath.FromSlash(name)), "SECRET=2\nfunc leaked() {}\n")
	}
	settle(t, x)
	if got := paths(t, x); len(got) != 5 {
		t.Errorf("indexed %q", got)
	}
	if _, err := x.Text(".env.production"); err == nil {
		t.Error("Text read a secret")
	}
}

func TestFilesLeftOutCommitNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	_, before, _, err := x.Store().Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"main.o": "x", "node_modules/y.js": "y", ".env": "A=2", "gone.go": ""})
	var names []string
	for _, name := range []string{"main.o", "node_modules/y.js", ".env", "gone.go", "main.go"} {
		names = append(names, filepath.Join(x.Root().Dir(), filepath.FromSlash(name)))
	}
	x.FilesChanged(names)
	settle(t, x)
	_, after, _, err := x.Store().Since(t.Context(), 0)
	if err != nil || after > before+1 { // main.go's time is noted once more
		t.Errorf("generation %d -> %d (%v)", before, after, err)
	}
}

func TestWatcherSeesTheDisk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir, Watch: true})
	has := func(name, symbol string) func() bool {
		return func() bool { return slices.Contains(symbols(t, x, name), symbol) }
	}
	write(t, dir, map[string]string{"lib/helper.go": "package lib\n\nfunc changed() {}\n"})
	until(t, "a changed file", has("lib/helper.go", "changed"))
	write(t, dir, map[string]string{"deep/er/new.go": "package er\n\nfunc inNewFolder() {}\n"})
	until(t, "a file in a new folder", has("deep/er/new.go", "inNewFolder"))
	write(t, dir, map[string]string{"deep/er/later.go": "package er\n\nfunc later() {}\n"})
	until(t, "a later file in the new folder", has("deep/er/later.go", "later"))
	if err := os.Rename(filepath.Join(dir, "deep"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	until(t, "a renamed folder", func() bool {
		return symbols(t, x, "deep/er/new.go") == nil && slices.Contains(symbols(t, x, "moved/er/new.go"), "inNewFolder")
	})
	write(t, dir, map[string]string{"moved/er/new.go": "package er\n\nfunc edited() {}\n", "moved/er/more.go": "package er\n\nfunc more() {}\n"})
	until(t, "an edit below the renamed folder", has("moved/er/new.go", "edited"))
	until(t, "a new file below the renamed folder", has("moved/er/more.go", "more"))
	write(t, dir, map[string]string{"lib": ""})
	until(t, "a removed folder", func() bool { return symbols(t, x, "lib/lib.go") == nil })
	write(t, dir, map[string]string{".ignore": "moved/\n"})
	until(t, "a new ignore file", func() bool { return symbols(t, x, "moved/er/new.go") == nil })
	settle(t, x)
	if got, want := dump(t, x), fresh(t, dir); got != want {
		t.Errorf("differs from a fresh index: %s", firstDifference(got, want))
	}
}

func TestRootThatCannotBeWatchedIsPolled(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	clock := newManual()
	notified := make(chan string, 10)
	x := start(t, Config{Dir: dir, Clock: clock, Notify: func(m string) { notified <- m }})
	limit := &watch.LimitError{Err: syscall.ENOSPC}
	x.watching.poll(limit)
	x.watching.poll(limit)
	m := <-notified
	if !strings.Contains(m, "are noticed late") || strings.Contains(m, "no space") || len(notified) != 0 {
		t.Errorf("told %q and %d more", m, len(notified))
	}
	if runtime.GOOS == "linux" && !strings.Contains(m, "sudo sysctl fs.inotify.max_user_watches=") {
		t.Errorf("told %q, which does not say what to raise", m)
	}
	if got := x.Troubles(); !slices.Equal(got, []string{m}) {
		t.Errorf("the status says %q", got)
	}
	settle(t, x)
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	if got := symbols(t, x, "late.go"); got != nil {
		t.Errorf("indexed before the poll: %q", got)
	}
	until(t, "the poll", func() bool { clock.move(minPoll / 4); return symbols(t, x, "late.go") != nil })
}

func TestCheckoutIsNoticed(t *testing.T) {
	systest.NeedProgram(t, "git")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "one")
	for i := range 300 { // more than are looked at one by one
		write(t, dir, map[string]string{fmt.Sprintf("d%d/f%d.go", i%9, i): fmt.Sprintf("package d\n\nfunc One%d() {}\n", i)})
	}
	git("add", ".")
	git("commit", "-qm", "one")
	git("checkout", "-qb", "two")
	for i := range 300 {
		write(t, dir, map[string]string{fmt.Sprintf("d%d/f%d.go", i%9, i): fmt.Sprintf("package d\n\nfunc Two%d() { One%d() }\n", i, i)})
	}
	git("mv", "d0", "renamed")
	git("commit", "-qam", "two")
	x := start(t, Config{Dir: dir, Watch: true})
	for _, branch := range []string{"one", "two", "one"} {
		git("checkout", "-q", branch)
		want, got := fresh(t, dir), ""
		until(t, "the files of branch "+branch, func() bool {
			settle(t, x)
			if now := dump(t, x); now != got {
				got = now
				t.Logf("%s: %s; %q", branch, firstDifference(got, want), x.Troubles())
			}
			return got == want
		})
	}
}

func TestRestart(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	x := open(t, Config{Dir: dir, StateDir: state})
	settle(t, x)
	name := filepath.Join(x.Root().Dir(), "main.go")
	x.DidOpen(name, "package main\n\nfunc neverSaved() {}\n")
	settle(t, x)
	shut(t, x)
	write(t, dir, map[string]string{"lib/helper.go": "", "lib/other.go": project["lib/helper.go"], "added.py": "def added():\n    pass\n"})
	again := start(t, Config{Dir: dir, StateDir: state})
	if got, want := dump(t, again), fresh(t, dir); got != want {
		t.Errorf("after a restart: %s", firstDifference(got, want))
	}
}

func TestAnotherAnalyzerReadsEveryFileAgain(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	x := open(t, Config{Dir: dir, StateDir: state})
	settle(t, x)
	if err := x.Store().EndScan(map[string]string{scanEnded: "an older one"}, nil); err != nil {
		t.Fatal(err)
	}
	_, before, _, err := x.Store().Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, x)
	y := start(t, Config{Dir: dir, StateDir: state})
	if changed, _, _, err := y.Store().Since(t.Context(), before); err != nil || len(changed) != 5 {
		t.Errorf("%d files were read again (%v), want all 5", len(changed), err)
	}
	if v, err := y.Store().Meta(t.Context(), scanEnded); err != nil || v != madeBy {
		t.Errorf("the index is of analyzer %q, %v", v, err)
	}
}

func TestMassChange(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("pkg%d/file%d.go", i%20, i)] = fmt.Sprintf("package p\n\nfunc F%d() { F%d() }\n", i, i+20)
	}
	write(t, dir, files)
	x := start(t, Config{Dir: dir})
	var names []string
	for i := range 400 {
		name := fmt.Sprintf("pkg%d/file%d.go", i%20, i)
		switch {
		case i%3 == 0:
			files[name] = ""
		default:
			files[name] = fmt.Sprintf("package p\n\nfunc G%d() { F%d() }\n", i, i+20)
		}
		names = append(names, filepath.Join(x.Root().Dir(), filepath.FromSlash(name)))
	}
	write(t, dir, files)
	x.FilesChanged(names)
	settle(t, x)
	if got, want := dump(t, x), fresh(t, dir); got != want {
		t.Errorf("after a mass change: %s", firstDifference(got, want))
	}
}

func TestBusyHoldsAScanBack(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	clock := newManual()
	x := start(t, Config{Dir: dir, Clock: clock})
	leave := x.Busy()
	write(t, dir, map[string]string{"added.go": "package m\n\nfunc added() {}\n"})
	x.Rescan()
	// An edit goes ahead of the scan that waits.
	name := filepath.Join(x.Root().Dir(), "main.go")
	x.DidOpen(name, "package main\n\nfunc typed() {}\n")
	until(t, "an edit while busy", func() bool { return slices.Contains(symbols(t, x, "main.go"), "typed") })
	if got := symbols(t, x, "added.go"); got != nil {
		t.Errorf("the scan went on while busy: %q", got)
	}
	leave()
	clock.move(quiet)
	settle(t, x)
	if got := symbols(t, x, "added.go"); !slices.Equal(got, []string{"m", "added"}) {
		t.Errorf("after the busy time: %q", got)
	}
}

func TestCancelAndRescan(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	clock := newManual()
	x := start(t, Config{Dir: dir, Clock: clock})
	leave := x.Busy()
	write(t, dir, map[string]string{"added.go": "package m\n\nfunc added() {}\n"})
	x.Rescan()
	until(t, "the scan to begin", func() bool { x.mu.Lock(); defer x.mu.Unlock(); return x.running != nil })
	x.CancelScan()
	until(t, "the scan to end", func() bool { x.mu.Lock(); defer x.mu.Unlock(); return x.running == nil })
	if got := symbols(t, x, "added.go"); got != nil {
		t.Errorf("indexed though cancelled: %q", got)
	}
	leave()
	clock.move(quiet)
	x.Rescan()
	settle(t, x)
	if got := symbols(t, x, "added.go"); got == nil {
		t.Error("not indexed by the next scan")
	}
}

func TestRebuild(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	before := dump(t, x)
	x.Rebuild()
	settle(t, x)
	if got := dump(t, x); got != before {
		t.Errorf("after a rebuild: %s", firstDifference(got, before))
	}
}

func TestFeed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	known := map[string]string{}
	var gone []string
	feed := x.Follow()
	next := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for {
			list, upToDate, err := feed.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range list {
				if u.File == nil {
					delete(known, u.Path)
					gone = append(gone, u.Path)
				} else {
					known[u.Path] = u.Text
				}
			}
			if upToDate {
				return
			}
		}
	}
	next()
	if len(known) != 5 || known["main.go"] != project["main.go"] {
		t.Errorf("the feed began with %q", known)
	}
	write(t, dir, map[string]string{"main.go": "package main\n\nfunc main() {}\n", "README.md": "", "lib/renamed.go": project["lib/lib.go"], "lib/lib.go": ""})
	x.Rescan()
	settle(t, x)
	next()
	want := []string{"go.mod", "lib/helper.go", "lib/renamed.go", "main.go"}
	var got []string
	for name := range known {
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || known["main.go"] != "package main\n\nfunc main() {}\n" {
		t.Errorf("the feed went on to %q", known)
	}
	// A rebuild takes back nothing but what it does not find again.
	gone = nil
	write(t, dir, map[string]string{"main.go": ""})
	x.Rebuild()
	settle(t, x)
	next()
	next()
	if len(known) != 3 || !slices.Equal(gone, []string{"main.go"}) {
		t.Errorf("after a rebuild the feed has %q, and took back %q", known, gone)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := feed.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Next: %v", err)
	}
}

// A feed says when it has told of everything, also where that is nothing.
func TestFeedReachesTheIndex(t *testing.T) {
	dir := t.TempDir()
	x := start(t, Config{Dir: dir})
	feed := x.Follow()
	reach := func(want int) {
		t.Helper()
		now, err := x.Cursor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		notified := 0
		for !feed.Cursor().Includes(now) {
			list, _, err := feed.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			notified += len(list)
		}
		if notified != want || !x.IsCurrent(now) {
			t.Errorf("told of %d files, want %d", notified, want)
		}
	}
	reach(0)
	reach(0)
	write(t, dir, project)
	x.Rescan()
	settle(t, x)
	reach(5)
	before := feed.Cursor()
	x.Rebuild()
	settle(t, x)
	if x.IsCurrent(before) {
		t.Error("a database that was replaced is current")
	}
	reach(5)
}

func TestDefaultStateDir(t *testing.T) {
	t.Setenv("QUARRY_STATE_DIR", "/somewhere")
	if got, err := DefaultStateDir(); err != nil || got != "/somewhere" {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("QUARRY_STATE_DIR", "")
	t.Setenv("XDG_STATE_HOME", "/xdg")
	if got, err := DefaultStateDir(); runtime.GOOS == "linux" && (err != nil || got != "/xdg/quarry") {
		t.Errorf("%q, %v", got, err)
	}
	a, _ := databaseDir("/s", "/a/same")
	b, _ := databaseDir("/s", "/b/same")
	if a == b || !strings.HasPrefix(filepath.Base(a), "same-") {
		t.Errorf("folders of two roots: %s and %s", a, b)
	}
}
