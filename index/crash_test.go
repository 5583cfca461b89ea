package index

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// childEnv makes the test binary play another process: an index of the folder it
// names, kept in the folder after the "|".
const childEnv = "QUARRY_INDEX_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		os.Exit(child(spec))
	}
	if spec := os.Getenv(embedChildEnv); spec != "" {
		os.Exit(embedChild(spec))
	}
	os.Exit(m.Run())
}

// child opens an index, says who writes and when it is up to date, and goes on
// until its input ends or it is killed.
func child(spec string) int {
	part := append(strings.Split(spec, "|"), "")
	cfg := Config{Dir: part[0], StateDir: part[1], Watch: true, Notify: func(m string) { fmt.Println("told", m) }}
	if part[2] == "hurried" {
		cfg.Clock = hurried{time.Now()}
	}
	err := live(cfg)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// fillDisk makes writes past a file size fail, where the platform can.
var fillDisk func(size int64) error

func live(cfg Config) (err error) {
	ctx := context.Background()
	x, err := Open(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	fmt.Println("owner", x.isOwner())
	if err := x.Settle(ctx); err != nil {
		return err
	}
	fmt.Println("settled")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "fill the disk", "leave no room":
			// What is not in the files is kept only where the index is not made anew.
			err := x.Store().PutMeta("test", "kept")
			var info os.FileInfo
			if err == nil {
				info, err = os.Stat(x.state.database())
			}
			if err == nil {
				room := info.Size()
				if in.Text() == "leave no room" {
					room = 1
				}
				err = fillDisk(room)
			}
			if err != nil {
				return err
			}
			fmt.Println("full")
		case "make room":
			if err := fillDisk(1 << 40); err != nil {
				return err
			}
		case "rescan":
			x.Rescan()
			if err := x.Settle(ctx); err != nil {
				return err
			}
			totals, err := x.Store().Totals(ctx)
			if err != nil {
				return err
			}
			kept, err := x.Store().Meta(ctx, "test")
			if err != nil {
				return err
			}
			fmt.Printf("in memory %v, %s, sound %v, %+v\n", x.Store().InMemory(), kept, x.Store().Check(ctx) == nil, totals)
		}
	}
	return nil
}

// another is a running child.
type another struct {
	cmd   *exec.Cmd
	lines chan string
	in    io.Writer
}

func spawn(t *testing.T, dir, state string) *another {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir+"|"+state, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &another{cmd: cmd, lines: make(chan string, 100), in: in}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p
}

// kill ends the process as a power cut would, and waits until it is gone.
func (p *another) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	for range p.lines {
	}
	_ = p.cmd.Wait() // it was killed; that is no news
}

func (p *another) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// next is the next line the process writes, "" if it ended.
func (p *another) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-p.lines:
		return line
	case <-time.After(60 * time.Second):
		t.Fatal("the other process says nothing")
		return ""
	}
}

func (p *another) expect(t *testing.T, want string) {
	t.Helper()
	if line := p.next(t); line != want {
		t.Fatalf("the other process said %q, want %q", line, want)
	}
}

// mutate changes some files of a tree of small Go and Python files.
func mutate(t testing.TB, r *rand.Rand, dir string, files int) {
	t.Helper()
	changes := map[string]string{}
	for range 1 + r.IntN(files/4+1) {
		i := r.IntN(files)
		name := fmt.Sprintf("pkg%d/f%d.go", i%7, i)
		text := fmt.Sprintf("package p%d\n\nimport \"m/pkg%d\"\n\n", i%7, r.IntN(7))
		for range r.IntN(5) {
			text += fmt.Sprintf("// F%[1]d does %[2]d.\nfunc F%[1]d() { pkg%[3]d.F%[4]d(); G%[4]d() }\n\n", r.IntN(files), r.IntN(100), r.IntN(7), r.IntN(files))
		}
		if i%5 == 0 {
			name = fmt.Sprintf("pkg%d/m%d.py", i%7, i)
			text = fmt.Sprintf("from .m%d import f%d\n\nclass C%d(D%d):\n    def f%d(self):\n        f%d()\n", r.IntN(files), r.IntN(files), r.IntN(files), r.IntN(files), i, r.IntN(files))
		}
		if r.IntN(6) == 0 {
			text = "" // removed
		}
		changes[name] = text
	}
	write(t, dir, changes)
}

// TestKilledAtAnyPoint kills an indexing process at random points, changing the
// tree in between, and holds the index that is left, brought up to date, against a
// fresh one.
func TestKilledAtAnyPoint(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	const files = 300
	dir, state := t.TempDir(), t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	write(t, dir, map[string]string{"go.mod": "module m\n"})
	for range 12 {
		mutate(t, r, dir, files)
	}
	settled := 0
	longest := 400 * time.Millisecond
	for range rounds {
		begin := time.Now()
		p := spawn(t, dir, state)
		timer := time.NewTimer(time.Duration(r.Int64N(int64(longest))))
		for done := false; !done; {
			select {
			case <-timer.C:
				done = true
			case line, ok := <-p.lines:
				if strings.HasPrefix(line, "error") {
					t.Fatal(line)
				}
				if !ok || line == "settled" {
					settled++
					longest = time.Since(begin) // kills should fall within the work
					done = true
				}
			}
		}
		p.kill(t)
		mutate(t, r, dir, files)
	}
	t.Logf("%d of %d rounds came to an end before they were killed", settled, rounds)
	x := start(t, Config{Dir: dir, StateDir: state, Notify: func(m string) { t.Errorf("told: %s", m) }})
	if err := x.Store().Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(t, x), fresh(t, dir); got != want {
		t.Errorf("differs from a fresh index: %s", firstDifference(got, want))
	}
}

func TestTwoProcesses(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	writer := spawn(t, dir, state)
	writer.expect(t, "owner true")
	writer.expect(t, "settled")
	clock := newManual()
	x := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
	defer shut(t, x)
	if x.isOwner() {
		t.Fatal("two processes write")
	}
	if got := paths(t, x); len(got) != 5 {
		t.Fatalf("the reader sees %q", got)
	}
	// The reader's feed follows what the writer does.
	feed := x.Follow()
	seen := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		for {
			list, _, err := feed.Next(ctx)
			if err != nil {
				return
			}
			for _, u := range list {
				seen <- u.Path
			}
		}
	})
	defer following.Wait()
	defer cancel()
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	deadline := time.After(time.Minute)
	for found := false; !found; {
		select {
		case name := <-seen:
			found = name == "late.go"
		case <-deadline:
			t.Fatal("the reader was not told of late.go")
		default:
			clock.move(readerPoll)
			runtime.Gosched()
		}
	}
	writer.kill(t)
	until(t, "the reader to take over", func() bool { clock.move(ownerPoll); return x.isOwner() })
	write(t, dir, map[string]string{"after.go": "package m\n\nfunc after() {}\n"})
	x.FilesChanged([]string{filepath.Join(dir, "after.go")})
	until(t, "the new writer to index", func() bool { clock.move(diskDelay); return symbols(t, x, "after.go") != nil })
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"rubbish":    func([]byte) []byte { return []byte(strings.Repeat("rubbish ", 4096)) },
		"empty head": func(b []byte) []byte { clear(b[:100]); return b },
		"holes": func(b []byte) []byte {
			// Every page but the first: the header is fine, the content is not.
			for i := 4096; i < len(b); i++ {
				b[i] = 0xA5
			}
			return b
		},
		"cut short": func(b []byte) []byte { return b[:len(b)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			x := open(t, Config{Dir: dir, StateDir: state})
			settle(t, x)
			database := x.state.database()
			shut(t, x)
			text, err := os.ReadFile(database)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(database, damage(text), 0o600); err != nil {
				t.Fatal(err)
			}
			notified := make(chan string, 10)
			x = open(t, Config{Dir: dir, StateDir: state, Notify: func(m string) { notified <- m }})
			defer shut(t, x)
			select {
			case m := <-notified:
				if !strings.Contains(m, "damaged") {
					t.Errorf("told %q", m)
				}
			case <-time.After(time.Minute):
				t.Fatal("damage was not noticed")
			}
			until(t, "a sound index", func() bool {
				err := x.Settle(t.Context())
				return err == nil && x.Store().Check(t.Context()) == nil
			})
			if got, want := dump(t, x), fresh(t, dir); got != want {
				t.Errorf("after the damage: %s", firstDifference(got, want))
			}
			if _, err := os.Stat(database + ".damaged"); err != nil {
				t.Errorf("no copy of the damaged index: %v", err)
			}
		})
	}
}

func TestStateFolderThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	// A file where a folder should be: unlike permissions it stops root as well.
	state := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(state, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	notified := make(chan string, 10)
	x := start(t, Config{Dir: dir, StateDir: state, Notify: func(m string) { notified <- m }})
	if got := paths(t, x); len(got) != 5 || !x.Store().InMemory() {
		t.Errorf("in memory %v, indexed %q", x.Store().InMemory(), got)
	}
	if len(notified) != 1 {
		t.Errorf("told %d messages, want one", len(notified))
	}
	if m := <-notified; !strings.Contains(m, "in memory") || !strings.Contains(m, state) {
		t.Errorf("told %q", m)
	}
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	x.Rescan()
	settle(t, x)
	if got, want := dump(t, x), fresh(t, dir); got != want {
		t.Errorf("the index in memory: %s", firstDifference(got, want))
	}
}

func TestIndexOfANewerQuarryIsLeftAlone(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	x := open(t, Config{Dir: dir, StateDir: state})
	settle(t, x)
	database := x.state.database()
	shut(t, x)
	// The version stands in bytes 60 to 63 of the header.
	f, err := os.OpenFile(database, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0, 0, 0, 99}, 60); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	notified := make(chan string, 10)
	y := start(t, Config{Dir: dir, StateDir: state, Notify: func(m string) { notified <- m }})
	if m := <-notified; !strings.Contains(m, "newer quarry (schema 99") || !strings.Contains(m, "update quarry") || len(notified) != 0 {
		t.Errorf("told %q and %d more", m, len(notified))
	}
	if got := paths(t, y); len(got) != 5 || !y.Store().InMemory() {
		t.Errorf("in memory %v, indexed %q", y.Store().InMemory(), got)
	}
	if after, err := os.ReadFile(database); err != nil || string(after) != string(before) {
		t.Errorf("the newer index was changed (%v)", err)
	}
}
