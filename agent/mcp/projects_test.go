package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/agent"
)

// stub is a project that notes when it is closed.
type stub struct {
	name string
	log  *log
}

func (s stub) Call(context.Context, string, json.RawMessage) agent.Envelope { return agent.Envelope{} }
func (s stub) Close() error                                                 { s.log.add("close " + s.name); return nil }

type log struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *log) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return strings.Join(lines, ", ")
}

// waits are the timers that projects set, to be let run by a test.
type waits struct {
	mu   sync.Mutex
	list []*wait // guarded by mu
}

type wait struct{ end func() } // nil if it was stopped; guarded by waits.mu

func (w *waits) after(_ time.Duration, f func()) func() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := &wait{f}
	w.list = append(w.list, one)
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		was := one.end != nil
		one.end = nil
		return was
	}
}

// pass lets all waits end.
func (w *waits) pass() {
	w.mu.Lock()
	var due []func()
	for _, one := range w.list {
		if one.end != nil {
			due = append(due, one.end)
		}
	}
	w.list = nil
	w.mu.Unlock()
	for _, f := range due {
		f()
	}
}

func watched(l *log) (*projects, *waits) {
	w := &waits{}
	p := newProjects(func(folders []string) (Project, error) {
		name := strings.Join(folders, "+")
		l.add("open " + name)
		if name == "broken" {
			return nil, errors.New("it cannot be opened")
		}
		return stub{name, l}, nil
	})
	p.after = w.after
	return p, w
}

// T10: one process, many projects; one that nobody asks is let go, and comes back.
func TestIdleProjectsAreLetGo(t *testing.T) {
	l := &log{}
	p, w := watched(l)
	ask := func(names ...string) func() {
		t.Helper()
		_, done, err := p.use(names)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	first := ask("a")
	ask("b", "c")()
	again := ask("a")
	first()
	w.pass() // a is being asked
	p.closing.Wait()
	if got := l.take(); got != "open a, open b+c, close b+c" {
		t.Error(got)
	}
	again()
	again() // twice counts once
	ask("a")()
	w.pass()
	p.closing.Wait()
	if got := l.take(); got != "close a" {
		t.Error(got)
	}
	ask("a")()
	if _, _, err := p.use([]string{"broken"}); err == nil {
		t.Error("what cannot be opened is answered")
	}
	if _, _, err := p.use([]string{"broken"}); err == nil || !strings.HasPrefix(l.take(), "open a, open broken, open broken") {
		t.Error("it is not tried again", err)
	}
	if got := p.folders(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("open: %q", got)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if got := l.take(); got != "close a" {
		t.Error(got)
	}
	if _, _, err := p.use([]string{"a"}); !errors.Is(err, errEnding) {
		t.Errorf("after the end: %v", err)
	}
}

// Of too many, those asked longest ago are let go; those being asked stay.
func TestProjectsAreFew(t *testing.T) {
	l := &log{}
	p, _ := watched(l)
	_, held, err := p.use([]string{"held"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxOpen + 2 {
		_, done, err := p.use([]string{fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
	p.closing.Wait()
	if n := len(p.folders()); n != maxOpen || !slices.Contains(p.folders(), "held") || slices.Contains(p.folders(), "0") {
		t.Errorf("open: %q", p.folders())
	}
	held()
	if err := p.close(); err != nil {
		t.Error(err)
	}
	lines := strings.Split(l.take(), ", ")
	if opened := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return strings.HasPrefix(s, "close") }); 2*len(opened) != len(lines) {
		t.Errorf("%d opened, %d closed", len(opened), len(lines)-len(opened))
	}
}

func TestTakeRepository(t *testing.T) {
	for _, c := range []struct{ in, repository, rest string }{
		{`{"query":"x","repository":"/src/a"}`, "/src/a", `{"query":"x"}`},
		{`{"query":"x"}`, "", `{"query":"x"}`},
		{`{"repository":5}`, "5", `{}`},
		{`[1]`, "", `[1]`},
		{``, "", ``},
	} {
		if repository, rest := takeRepository(json.RawMessage(c.in)); repository != c.repository || string(rest) != c.rest {
			t.Errorf("%s: %q %s", c.in, repository, rest)
		}
	}
}

// A root is one folder on Windows, however an agent spells its drive.
func TestPathsOfRootsOnWindows(t *testing.T) {
	for path, want := range map[string]string{
		"/C:/src":          `C:\src`,
		"/c:/src/a b":      `C:\src\a b`,
		"/C:":              `C:`,
		"//server/share/x": `\\server\share\x`,
		"/x":               `\x`,
	} {
		if got := windowsPath(path); got != want {
			t.Errorf("%s: %s; want %s", path, got, want)
		}
	}
}
