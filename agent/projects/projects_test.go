package projects

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// stub is a project that notes when it is closed.
type stub struct {
	name string
	log  *log
}

func (s stub) Close() error { s.log.add("close " + s.name); return nil }

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

func watched(l *log) (*Set[stub], *waits) {
	w := &waits{}
	p := New(func(folders []string) (stub, error) {
		name := strings.Join(folders, "+")
		l.add("open " + name)
		if name == "broken" {
			return stub{}, errors.New("it cannot be opened")
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
		_, done, err := p.Use(names)
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
	if _, _, err := p.Use([]string{"broken"}); err == nil {
		t.Error("what cannot be opened is answered")
	}
	if _, _, err := p.Use([]string{"broken"}); err == nil || !strings.HasPrefix(l.take(), "open a, open broken, open broken") {
		t.Error("it is not tried again", err)
	}
	if got := p.Folders(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("open: %q", got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := l.take(); got != "close a" {
		t.Error(got)
	}
	if _, _, err := p.Use([]string{"a"}); !errors.Is(err, ErrEnding) {
		t.Errorf("after the end: %v", err)
	}
}

// Of too many, those asked longest ago are let go; those being asked stay.
func TestProjectsAreFew(t *testing.T) {
	l := &log{}
	p, _ := watched(l)
	_, held, err := p.Use([]string{"held"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxOpen + 2 {
		_, done, err := p.Use([]string{fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
	p.closing.Wait()
	if n := len(p.Folders()); n != maxOpen || !slices.Contains(p.Folders(), "held") || slices.Contains(p.Folders(), "0") {
		t.Errorf("open: %q", p.Folders())
	}
	held()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	lines := strings.Split(l.take(), ", ")
	if opened := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return strings.HasPrefix(s, "close") }); 2*len(opened) != len(lines) {
		t.Errorf("%d opened, %d closed", len(opened), len(lines)-len(opened))
	}
}

// What is dropped goes at once, unless somebody uses it; what is asked of all is asked of each.
func TestDroppedProjectsGo(t *testing.T) {
	l := &log{}
	p, _ := watched(l)
	_, held, err := p.Use([]string{"held"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		_, done, err := p.Use([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
	var all []string
	p.Each(func(s stub) { all = append(all, s.name) })
	if !slices.Equal(all, []string{"held", "a", "b"}) {
		t.Errorf("each: %q", all)
	}
	l.take()
	for _, name := range []string{"held", "a", "nothing"} {
		p.Drop([]string{name})
	}
	p.closing.Wait()
	if got := l.take(); got != "close a" {
		t.Error(got)
	}
	held()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
