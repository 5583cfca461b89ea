package index

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"quarry/index/store"
)

// fast is a clock on which every look takes a second, so that all takes long enough
// to be shown.
type fast struct{ manual }

func (f *fast) Now() time.Time {
	f.move(time.Second)
	return f.manual.Now()
}

// shown collects what an index shows. at, if not nil, is called with each; the index
// is there by then.
type shown struct {
	opened chan struct{}
	at     func(Progress)

	mu   sync.Mutex
	list []Progress
}

func (s *shown) show(p Progress) {
	<-s.opened
	s.mu.Lock()
	s.list = append(s.list, p)
	s.mu.Unlock()
	if s.at != nil {
		s.at(p)
	}
}

// manyFiles are more than a scan's results that wait to be written.
func manyFiles(t *testing.T) string {
	dir, files := t.TempDir(), map[string]string{}
	for i := range 1024 {
		files[fmt.Sprintf("f%04d.go", i)] = fmt.Sprintf("package p\n\nfunc F%d() { F%d() }\n", i, i+1)
	}
	write(t, dir, files)
	return dir
}

// A folder that leaves the workspace while it is indexed leaves no progress behind.
func TestProgressEndsWithTheIndex(t *testing.T) {
	var x *Index
	reached := make(chan struct{})
	s := &shown{opened: make(chan struct{})}
	s.at = func(p Progress) {
		if !p.Finished {
			select {
			case <-reached:
			default:
				close(reached)
				x.cancel() // as Close begins
			}
		}
	}
	x = open(t, Config{Dir: manyFiles(t), StateDir: t.TempDir(), Clock: &fast{}, Progress: s.show})
	close(s.opened)
	<-reached
	shut(t, x)
	if last := s.list[len(s.list)-1]; !last.Finished || last.Took != 0 {
		t.Errorf("of %d shown the last is %+v", len(s.list), last)
	}
}

// A first index that is stopped can be asked, and goes on with the next scan.
func TestCancelFirstScan(t *testing.T) {
	var x *Index
	var once sync.Once
	s := &shown{opened: make(chan struct{})}
	s.at = func(p Progress) {
		if !p.Finished {
			once.Do(func() { x.CancelScan() })
		}
	}
	dir := manyFiles(t)
	x = open(t, Config{Dir: dir, StateDir: t.TempDir(), Clock: &fast{}, Progress: s.show})
	defer shut(t, x)
	close(s.opened)
	settle(t, x)
	usable := func() (yes bool) {
		t.Helper()
		if err := x.Store().View(t.Context(), func(*store.View) error { yes = true; return nil }); err != nil {
			t.Fatal(err)
		}
		return yes
	}
	if c, err := x.Coverage(t.Context(), time.Time{}); err != nil || c.Whole || !usable() {
		t.Errorf("after it was stopped the index is %+v (%v), and names can be looked up: %v", c, err, usable())
	}
	s.mu.Lock()
	if last := s.list[len(s.list)-1]; !last.Finished || slices.IndexFunc(s.list, func(p Progress) bool { return p.Finished }) != len(s.list)-1 {
		t.Errorf("shown to the end: %+v", s.list)
	}
	s.mu.Unlock()
	x.CancelScan() // there is nothing to stop
	settle(t, x)
	x.Rescan()
	settle(t, x)
	if c, err := x.Coverage(t.Context(), time.Time{}); err != nil || !c.Whole || !usable() {
		t.Errorf("after the next scan the index is %+v (%v), and names can be looked up: %v", c, err, usable())
	}
}

// Y9: no more bytes are analysed at once than there is room for, by whomever: a scan waits for
// it, goes on when there is some, and one that waits ends with its index.
func TestBytesAnalysedAtOnce(t *testing.T) {
	hold := func() {
		if err := analysing.Acquire(t.Context(), atOnce); err != nil {
			t.Fatal(err)
		}
	}
	hold()
	x := open(t, Config{Dir: manyFiles(t), StateDir: t.TempDir(), Clock: &fast{}})
	if c, err := x.Coverage(t.Context(), time.Time{}); err != nil || c.Whole {
		t.Errorf("without room the index is %+v, %v", c, err)
	}
	analysing.Release(atOnce)
	settle(t, x)
	if c, err := x.Coverage(t.Context(), time.Time{}); err != nil || !c.Whole {
		t.Errorf("with room the index is %+v, %v", c, err)
	}
	shut(t, x)
	hold()
	defer analysing.Release(atOnce)
	shut(t, open(t, Config{Dir: manyFiles(t), StateDir: t.TempDir(), Clock: &fast{}})) // which ends
}

// A scan that is stopped is not forgotten, though the index was whole before.
func TestCancelLaterScan(t *testing.T) {
	var x *Index
	var once sync.Once
	opened, begin := make(chan struct{}), make(chan struct{})
	s := &shown{opened: opened}
	s.at = func(p Progress) {
		select {
		case <-begin:
			if !p.Finished {
				once.Do(func() { x.CancelScan() })
			}
		default: // the first one
		}
	}
	dir := t.TempDir()
	write(t, dir, project)
	x = open(t, Config{Dir: dir, StateDir: t.TempDir(), Clock: &fast{}, Progress: s.show})
	defer shut(t, x)
	close(opened)
	settle(t, x)
	files := map[string]string{}
	for i := range 1024 {
		files[fmt.Sprintf("new/f%04d.go", i)] = fmt.Sprintf("package p\n\nfunc F%d() { F%d() }\n", i, i+1)
	}
	write(t, dir, files)
	close(begin)
	x.Rescan()
	settle(t, x)
	look := func() (Coverage, Status) {
		t.Helper()
		c, err := x.Coverage(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		st, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c, st
	}
	if c, st := look(); c.Current || !c.Stopped || st.Whole || st.Working || len(st.Troubles) != 1 {
		t.Errorf("after it was stopped the index is %+v, whole %v, working %v, %q", c, st.Whole, st.Working, st.Troubles)
	}
	x.Rescan()
	settle(t, x)
	if c, st := look(); !c.Current || c.Stopped || !st.Whole || len(st.Troubles) != 0 {
		t.Errorf("after the next scan the index is %+v, whole %v, %q", c, st.Whole, st.Troubles)
	}
}

// What is left out once it was read counts neither as done nor as missing: at the end as many
// files are done as there are, and as the index has, and as many were read.
func TestProgressLeavesOutWhatIsLeftOut(t *testing.T) {
	dir := manyFiles(t)
	write(t, dir, map[string]string{"a.go": "\x00\x01", "m/binary.go": "\x00", "z.go": "\x00"})
	var x *Index
	var last count
	s := &shown{opened: make(chan struct{})}
	s.at = func(p Progress) {
		if p.Finished {
			return
		}
		x.mu.Lock()
		last = x.counted
		x.mu.Unlock()
	}
	x = open(t, Config{Dir: dir, StateDir: t.TempDir(), Clock: &fast{}, Progress: s.show})
	defer shut(t, x)
	close(s.opened)
	settle(t, x)
	if want := (count{1024, 1024}); last != want {
		t.Errorf("the last progress is %+v, want %+v", last, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.list[len(s.list)-1]; !p.Finished || p.Files != 1024 {
		t.Errorf("at the end %+v was read, want 1,024 files", p)
	}
}
