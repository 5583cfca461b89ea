package syntax

import "testing"

// ErrorCount counts what Analyze lists.
func TestErrorCount(t *testing.T) {
	for _, src := range []string{
		"package p\n\nfunc f() { return }\n",
		"package p\n\nfunc f() { return \n",
		"package p\n\nfunc f() { x := := 1 }\n\nfunc g( {}\n",
		"",
	} {
		tree, err := Parse("go", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := tree.ErrorCount()
		if want := len(tree.Analyze().Errors); !ok || got != want {
			t.Errorf("%q: %d errors (%v), Analyze lists %d", src, got, ok, want)
		}
		tree.Close()
		if _, ok := tree.ErrorCount(); ok {
			t.Error("a closed tree has an error count")
		}
	}
}
