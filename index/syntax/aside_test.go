package syntax

import (
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/index/pause"
)

// A text that is read aside yields what it yields otherwise, wherever the work stood
// still: here it does at every place where it can.
func TestAnalyzeAside(t *testing.T) {
	var stood atomic.Int64
	flag := pause.New(func() { stood.Add(1) })
	flag.Raise()
	for _, dir := range fixtureDirs(t) {
		name, src := fixture(t, dir)
		for what, src := range map[string][]byte{
			dir:                  src,
			dir + " with errors": append([]byte("( \" broken {\n"), src...),
		} {
			want, err := Analyze(name, src)
			if err != nil {
				t.Fatal(err)
			}
			before := stood.Load()
			got, err := AnalyzeAside(flag, name, src)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, read aside, yields something else (%v)", what, err)
			}
			l := languageFor(name)
			if n := stood.Load() - before; l != nil && l.shared == nil && n < int64(len(src)/100) {
				t.Errorf("%s, %d bytes, could stand still %d times only", what, len(src), n)
			}
		}
	}
}

// Where tree-sitter needs a stack of its own, on a thread that Go does not know, it
// stands still as well.
func TestAsideOnALargeStack(t *testing.T) {
	var stood atomic.Int64
	flag := pause.New(func() { stood.Add(1) })
	flag.Raise()
	src := []byte("package p\nvar x = " + strings.Repeat("&", 1<<17) + "b " + strings.Repeat("/**/", 1<<15) + "\n")
	if _, err := AnalyzeAside(flag, "c", src); err != nil {
		t.Fatal(err)
	}
	if stood.Load() < 1000 {
		t.Errorf("could stand still %d times only", stood.Load())
	}
}
