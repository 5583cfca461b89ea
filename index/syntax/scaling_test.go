package syntax

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/index/syntax/treesitter"
)

// What follows a parse has no limit of time, so what it takes must grow no faster
// than the text, whatever the text. Time cannot be tested; what is counted are the
// bytes allocated and the nodes looked at.

// shape is a text that can be made as long as one likes.
type shape struct {
	language, name string
	text           func(n int) string
}

// handmade are the shapes that were slow once, and their like.
func handmade() []shape {
	repeat := strings.Repeat
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	return []shape{
		{"rust", "nested use", func(n int) string { return "use a::{" + repeat("b,\na::{", n) + "c" + repeat("}", n) + "};\n" }},
		{"rust", "nested use of long names", func(n int) string {
			return "use " + repeat("some_module_with_a_name::{b, ", n) + "c" + repeat("}", n) + ";\n"
		}},
		{"rust", "nested mod", func(n int) string { return repeat("mod a{\n", n) + repeat("}", n) + "\n" }},
		{"rust", "use in nested functions", func(n int) string { return "use a::{b, c};\n" + repeat("fn f() { use a::b;\n", n) + repeat("}", n) }},
		{"java", "nested class", func(n int) string { return repeat("class A{\n", n) + repeat("}", n) + "\n" }},
		{"java", "annotations", func(n int) string { return repeat("@A\n", n) + "class A { int " + repeat("a, ", n) + "b; }\n" }},
		{"javascript", "nested function", func(n int) string { return repeat("function a(){\n", n) + repeat("}", n) + "\n" }},
		{"javascript", "names", func(n int) string { return "let a" + repeat(",\na", n) + ";\n" }},
		{"javascript", "imported names", func(n int) string { return "import {" + numbered("a%d,\n", n) + "} from 'x';\n" }},
		{"javascript", "calls on calls", func(n int) string { return "a" + repeat(".b(c)", n) + ";\n" }},
		{"typescript", "names of a long value", func(n int) string { return "const x = " + repeat("a + ", n) + "b, c" + repeat(", c", n) + ";\n" }},
		{"python", "decorators", func(n int) string { return repeat("@app.route('/')\n", n) + "def f(): pass\n" }},
		{"python", "imported names of a long path", func(n int) string { return "from " + repeat("a.", n) + "b import " + numbered("c%d, ", n) + "d\n" }},
		{"python", "blank lines behind a nest", func(n int) string {
			var b strings.Builder
			for i := range min(n, 90) {
				b.WriteString(repeat(" ", i) + "if a:\n")
			}
			return b.String() + repeat(" ", min(n, 90)) + "b\n" + repeat("\n", 20*n)
		}},
		{"go", "names", func(n int) string { return "package p\nvar a" + repeat(",\na", n) + " int\n" }},
		{"go", "names and values", func(n int) string {
			return "package p\nvar a" + repeat(", a", n) + " = T{}" + repeat(", T{}", n) + "\n"
		}},
		{"go", "names and comments", func(n int) string {
			return "package p\n" + repeat("// c\n", n) + "var a" + repeat(", /* c */ a", n) + " int\n"
		}},
		{"go", "declarations on a line of blanks", func(n int) string { return "package p\n" + repeat(" ", 9*n) + repeat("/**/type A int;", n) + "\n" }},
		{"c", "names", func(n int) string { return "int a" + repeat(",\na", n) + ";\n" }},
		{"c", "nested blocks of functions", func(n int) string { return repeat("void f() {\n", n) + repeat("}\n", n) }},
		{"c", "statements of a long line", func(n int) string { return "int f() { " + repeat("a();", n) + "}\n" }},
		{"cpp", "templates of names", func(n int) string {
			return repeat("template<class T> ", n) + "class A { int " + repeat("a, ", n) + "b; };\n"
		}},
		{"yaml", "keys in keys", func(n int) string { return repeat("? {a: b}\n: c\n", n) }},
		{"sql", "columns", func(n int) string { return "CREATE TABLE t (" + numbered("a%d INT,\n", n) + "b INT);\n" }},
		{"zig", "deeper and deeper", func(n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(repeat(" ", i%100) + "const A = struct {\n")
			}
			return b.String()
		}},
	}
}

// pumped makes shapes of a fixture by the rule of every context-free grammar: what
// stands in a node of its own kind can do so again and again, and so can one of a
// row of equal siblings.
func pumped(language string, src []byte) []shape {
	l := languageFor(language)
	if l == nil {
		return nil
	}
	nodes, release := l.grammar.Nodes(newTree(language, src, false).parsed, parseLimit(len(src)))
	defer release()
	name, shapes := symbolNames(language), map[string]shape{}
	add := func(kind string, outer, inner uint16, from, to, end uint32, before, after string) {
		kind += " " + name(outer) + " " + name(inner)
		if _, ok := shapes[kind]; ok || before+after == "" {
			return
		}
		shapes[kind] = shape{language, kind, func(n int) string {
			n = max(1, n/len(before+after))
			return string(src[:from]) + strings.Repeat(before, n) + string(src[from:to]) + strings.Repeat(after, n) + string(src[to:end])
		}}
	}
	whole := uint32(len(src))
	for i := range nodes {
		n, last := &nodes[i], map[uint16]uint32{}
		for c := uint32(i) + 1; c < n.Next; c = nodes[c].Next {
			if p, ok := last[nodes[c].Symbol]; ok {
				at := nodes[c].Start
				add("row of", n.Symbol, nodes[c].Symbol, at, at, whole, string(src[nodes[p].Start:at]), "")
			}
			last[nodes[c].Symbol] = c
		}
		for c := uint32(i) + 1; c < n.Next; c++ {
			if m := &nodes[c]; m.Symbol == n.Symbol {
				add("nest of", n.Symbol, nodes[m.Parent].Symbol, m.Start, m.End, whole, string(src[n.Start:m.Start]), string(src[m.End:n.End]))
				break
			}
		}
	}
	var list []shape
	for _, kind := range slices.Sorted(maps.Keys(shapes)) {
		list = append(list, shapes[kind])
	}
	return list
}

// effort is what an analysis of a text takes. ok is false for a text that is not
// of its grammar, or that its parser takes long to read: how it is parsed depends on the
// parser's limits.
func effort(language, text string) (allocated, work int, ok bool) {
	src := []byte(text)
	before, after := new(runtime.MemStats), new(runtime.MemStats)
	l := languageFor(language)
	if l == nil {
		runtime.ReadMemStats(before)
		analyzeLines(language, src, newLineTable(src))
		runtime.ReadMemStats(after)
		return int(after.TotalAlloc - before.TotalAlloc), 0, true
	}
	nodes, release := l.grammar.Nodes(newTree(language, src, false).parsed, 10_000+3*len(src)) // ten times what source takes
	defer release()
	if nodes == nil || slices.ContainsFunc(nodes, func(n node) bool { return n.Symbol == treesitter.SymbolError || n.Missing }) {
		return 0, 0, false
	}
	runtime.ReadMemStats(before)
	a, f := analyzeTree(language, l.facts, nodes, src, newLineTable(src))
	a.chunks(f)
	runtime.ReadMemStats(after)
	return int(after.TotalAlloc - before.TotalAlloc), 0, true
}

func TestEffortIsLinear(t *testing.T) {
	check := func(t *testing.T, s shape, n int) bool {
		const times, bound = 4, 8 // the square would be 16 times; a slice grows by more than it needs
		// A text with errors can take the parser a second, so a short one is tried first.
		if _, _, ok := effort(s.language, s.text(n/20)); !ok {
			return false
		}
		bytes, work, ok := effort(s.language, s.text(n))
		if !ok {
			return false
		}
		moreBytes, moreWork, ok := effort(s.language, s.text(times*n))
		if !ok {
			return false
		}
		if moreBytes > bound*(bytes+1<<14) {
			t.Errorf("%s, %s: %d bytes allocated, %d for %d times the text", s.language, s.name, bytes, moreBytes, times)
		}
		if moreWork > bound*(work+100) {
			t.Errorf("%s, %s: %d nodes looked at, %d for %d times the text", s.language, s.name, work, moreWork, times)
		}
		return true
	}
	t.Run("handmade", func(t *testing.T) {
		for _, s := range handmade() {
			if !check(t, s, 1000) {
				t.Errorf("%s, %s is not of the grammar", s.language, s.name)
			}
		}
	})
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			language, src := fixture(t, dir)
			shapes := pumped(language, src)
			sound := 0
			for _, s := range shapes {
				if check(t, s, 10_000) {
					sound++
				}
			}
			if _, _, clean := effort(language, string(src)); clean && sound*4 < len(shapes) {
				t.Errorf("%d of %d shapes are of the grammar", sound, len(shapes))
			}
		})
	}
}
