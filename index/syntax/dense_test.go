package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Y9: what a text puts into the index is bounded by its length, whatever stands in it.
func TestDenseTextsAreReadByLines(t *testing.T) {
	const n = 2000
	repeat := strings.Repeat
	for _, c := range []struct{ language, name, text string }{
		{"css", "nested rules", repeat("b{a{a{a{\n", n) + repeat("}}}}\n", n)},
		{"css", "rules in a row", repeat("a{}\n", 3*n)},
		{"javascript", "functions", repeat("function a(){}\n", 4*n)},
		{"javascript", "nested functions", repeat("function a(){\n", 2*n) + repeat("}\n", 2*n)},
		{"python", "calls", "def f(): pass\n" + repeat("f()\n", 4*n)},
		{"python", "imported names", "from a import (\n" + numbered("b%d,\n", 5*n) + ")\n"},
		{"go", "constants", "package a\nconst (\n" + repeat("A\n", 3*n) + ")\n"},
		{"yaml", "nested keys", repeat("{a: {a:\n", 2*n) + "b" + repeat("}}\n", 2*n)},
		{"hcl", "blocks", repeat("a {\n", 2*n) + repeat("}\n", 2*n)},
		{"java", "nested classes", repeat("class A{\n", 2*n) + repeat("}", 2*n)},
	} {
		once, err := Analyze(c.language, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := Parse(c.language, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		kept, bySyntax := tree.analyze()
		tree.Close()
		if bySyntax || !reflect.DeepEqual(kept, once) {
			t.Errorf("%s, %s: a document of it is read otherwise, by its syntax: %t", c.language, c.name, bySyntax)
		}
		uses := len(once.Refs) + len(once.Imports)
		for i := range once.Imports {
			uses += len(once.Imports[i].Names)
		}
		if size := len(c.text); len(once.Symbols) > mostSymbols(size) || uses > mostUses(size) || len(once.Chunks) > mostChunks(size) {
			t.Errorf("%s, %s: %d bytes have %d declarations, %d uses and %d chunks", c.language, c.name, size, len(once.Symbols), uses, len(once.Chunks))
		}
		if len(once.Errors) != 1 || once.Errors[0].Start != 0 || int(once.Errors[0].End) != len(c.text) || once.Short != 0 {
			t.Errorf("%s, %s: nothing says that it could not be read: %v", c.language, c.name, once.Errors[:min(3, len(once.Errors))])
		}
		if _, _, err := Mentions(t.Context(), c.language, []byte(c.text), "a", 1<<30); err == nil {
			t.Errorf("%s, %s: what it mentions is known", c.language, c.name)
		}
	}
}

// The densest source there is, and more, is read by its syntax.
func TestDenseSourceIsRead(t *testing.T) {
	for _, c := range []struct{ language, name, text string }{
		{"go", "opcodes", "package x86\n\nconst (\n" + numbered("\tA%d\n", 3300) + ")\n"},
		{"go", "system calls", "package unix\n\nconst (\n" + numbered("\tSYS_CALL_%06d                     = 0x1\n", 5000) + ")\n"},
		{"cpp", "a table", "static const int table[] = {\n" + numbered(" _(B,M), /* %d */\n", 4000) + "};\n"},
		{"javascript", "exports", numbered("export { name%d } from './internal/name';\n", 2000)},
	} {
		f, err := Analyze(c.language, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Errors) != 0 {
			t.Errorf("%s, %s: %d bytes are not read by their syntax", c.language, c.name, len(c.text))
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
