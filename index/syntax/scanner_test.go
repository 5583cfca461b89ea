package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// TestLuaBesideItself parses Lua texts at the same time, each full of strings and
// comments of another level: the state of the scanner of one must not be the
// other's.
func TestLuaBesideItself(t *testing.T) {
	text := func(level int) []byte {
		eq := strings.Repeat("=", level)
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "--[%s[ about f%d\n]] not the end ]%s]\nlocal function f%d(a)\n\treturn [%s[ 'x' ]] \"y\" ]%s] .. 'it\\'s' .. \"%d\"\nend\n", eq, i, eq, i, eq, eq, i)
		}
		return []byte(b.String())
	}
	want := make([]*File, 4)
	for level := range want {
		var err error
		if want[level], err = Analyze("lua", text(level+1)); err != nil {
			t.Fatal(err)
		}
		if len(want[level].Errors) != 0 || len(want[level].Symbols) != 200 {
			t.Fatalf("level %d: %d symbols, errors at %v", level+1, len(want[level].Symbols), want[level].Errors)
		}
	}
	var group sync.WaitGroup
	for level := range want {
		group.Go(func() {
			for round := range 10 {
				kept, err := Parse("lua", text(level+1))
				if err != nil {
					t.Error(err)
					return
				}
				once, err := Analyze("lua", text(level+1))
				if err != nil || !reflect.DeepEqual(once, want[level]) || !reflect.DeepEqual(kept.Analyze(), want[level]) {
					t.Errorf("level %d, round %d: read differently beside others (%v)", level+1, round, err)
				}
				kept.Close()
			}
		})
	}
	group.Wait()
}

func TestLuaAfterATextThatBreaksOff(t *testing.T) {
	src := []byte("local s = \"a\"\n]] = 'b\" '\nfunction f() end\n")
	want, err := Analyze("lua", src)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"x = \"never closed", "x = 'never closed", "x = [==[ never closed", "--[[ never closed"} {
		if _, err := Analyze("lua", []byte(before)); err != nil {
			t.Fatal(err)
		}
		if got, err := Analyze("lua", src); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("after %q a text is read differently (%v)", before, err)
		}
	}
}
