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

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		language, src, missing string
		line                   uint32
		none                   bool
	}{
		{"go", "package a\n\nfunc f() {}\n", "", 0, true},
		{"go", "package a\n\nfunc f() { g(1 }\n", ")", 3, false},
		{"javascript", "let a = 1;\nlet b = = 2;\n", "", 2, false},
	} {
		list, ok := ParseErrors(c.language, []byte(c.src))
		switch {
		case !ok:
			t.Errorf("%q was not looked at", c.src)
		case c.none && len(list) > 0:
			t.Errorf("%q has faults %+v", c.src, list)
		case !c.none && (len(list) == 0 || list[0].StartLine != c.line || list[0].Missing != c.missing):
			t.Errorf("%q has faults %+v, want one in line %d, missing %q", c.src, list, c.line, c.missing)
		}
	}
	if _, ok := ParseErrors("plaintext", []byte("a")); ok {
		t.Error("a language without a grammar has faults")
	}
}
