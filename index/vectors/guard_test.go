//go:build !plainvectors

package vectors

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"quarry/index/systest"
)

// cut makes a file shorter that is mapped.
func cut(t *testing.T, path string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux surely maps the file and lets another program shorten it then")
	}
	if err := os.Truncate(path, headerSize); err != nil {
		t.Fatal(err)
	}
}

func TestGuardOfAFileCutShort(t *testing.T) {
	systest.NeedAddress(t)
	f, path := create(t)
	defer f.Close()
	appendTo(t, f, 0, 300)
	set := f.Set()
	defer set.Release()
	cut(t, path)
	var key Key // a read whose result nobody takes may be left out by the compiler
	for name, read := range map[string]func(){
		"row":  func() { checksum(set.Row(299)) },
		"key":  func() { key = set.Key(0) },
		"live": func() { set.Live(7) },
		"of another goroutine": func() {
			failed := make(chan error)
			go func() { failed <- Guard(func() { key = set.Key(1) }) }()
			panic(<-failed)
		},
	} {
		if err := Guard(read); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if small, err := f.Compact(filepath.Join(t.TempDir(), "small"), func(Key) bool { return true }); !errors.Is(err, ErrDamaged) {
		t.Errorf("compacted to %v: %v", small, err)
	}
	if key != (Key{}) {
		t.Errorf("read the key %x", key)
	}
	if debug.SetPanicOnFault(false) {
		t.Error("faults are panics after Guard, too")
	}
}

func TestAdmitOfAFileCutShort(t *testing.T) {
	systest.NeedAddress(t)
	f, path := create(t)
	defer f.Close()
	appendTo(t, f, 0, 300)
	r, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cut(t, path)
	if err := r.Extend(300); !errors.Is(err, ErrDamaged) || r.Len() != 0 {
		t.Errorf("%d rows, %v", r.Len(), err)
	}
}

func TestGuardLetsOtherPanicsPass(t *testing.T) {
	own := errors.New("own")
	var none *Set
	for name, test := range map[string]struct {
		panics func()
		is     func(v any) bool
	}{
		"text":        {func() { panic("text") }, func(v any) bool { return v == "text" }},
		"error":       {func() { panic(own) }, func(v any) bool { return v == own }},
		"nil pointer": {func() { _ = none.Dim }, func(v any) bool { _, ok := v.(runtime.Error); return ok }},
	} {
		func() {
			defer func() {
				if v := recover(); !test.is(v) {
					t.Errorf("%s: panics with %v", name, v)
				}
			}()
			err := Guard(test.panics)
			t.Errorf("%s: answers %v", name, err)
		}()
	}
}
