package syntax_test

import (
	"testing"

	"quarry/index/syntax"
)

func TestSameCode(t *testing.T) {
	for _, c := range []struct {
		language, a, b string
		same           bool
	}{
		{"go", "package a\n\nfunc f() int { return 1 }\n", "package a\n\n// f is one.\nfunc f() int {\n\treturn 1 // always\n}\n", true},
		{"go", "package a\n\nfunc f() int { return 1 }\n", "package a\n\n// f is two.\nfunc f() int { return 2 }\n", false},
		{"python", "def f(x):\n    return x\n", "def f(x):\n    \"\"\"Return x.\"\"\"\n    # as it is\n    return x\n", true},
		{"python", "def f(x):\n    return x\n", "def f(x):\n    \"\"\"Return x.\"\"\"\n    return \"x\"\n", false},
		{"typescript", "function f(a: number) { return a }\n", "/** f is a. */\nfunction f(a: number) { return a }\n", true},
		{"java", "class A { int f() { return 1; } }", "/** A. */ class A { /** f. */ int f() { return 1; } }", true},
		{"rust", "fn f() -> u8 { 1 }", "/// One.\nfn f() -> u8 { 1 }", true},
		{"c", "int f(void) { return 1; }", "/* one */ int f(void) { return 1; }", true},
		{"c", "int f(void) { return 1; }", "int f(void) { return 1; return 2; }", false},
	} {
		same, ok := syntax.SameCode(c.language, []byte(c.a), []byte(c.b))
		if !ok || same != c.same {
			t.Errorf("%s: SameCode(%q, %q) = %v, %v; want %v", c.language, c.a, c.b, same, ok, c.same)
		}
	}
	if _, ok := syntax.SameCode("plaintext", []byte("a"), []byte("a")); ok {
		t.Error("a language without a grammar cannot be compared")
	}
}
