package imports

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/index/lang"
)

// What needs the whole text is read of it once, however many imports ask for it.
func TestTheTextIsReadOnce(t *testing.T) {
	for language, tt := range map[string]struct {
		text string
		ask  func(d *document) any
		want any
	}{
		"java":       {"package a.b;\nclass D {}\n", func(d *document) any { return d.jvmPackage() }, "a.b"},
		"c":          {"#ifdef A\n#include <a.h>\n#endif\n", func(d *document) any { return d.depth(10) }, 1},
		"python":     {"import a\nimport b\n", func(d *document) any { return len(d.pythonStatements()) }, 2},
		"javascript": {"import a from 'a';\nimport b from 'b';\n", func(d *document) any { return len(d.scriptStatements()) }, 2},
	} {
		d, err := read(agent.Document{Language: lang.Canonical(language), Text: tt.text}, "d")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{tt.text, strings.Repeat(" ", len(tt.text))} {
			if d.Text = text; !reflect.DeepEqual(tt.ask(d), tt.want) {
				t.Errorf("%s: %v, want %v", language, tt.ask(d), tt.want)
			}
		}
	}
}

func TestDepth(t *testing.T) {
	long := strings.Repeat("A", 240_000)
	for text, want := range map[string]int{
		"#include <a.h>\n^":                                        0,
		"#ifndef A_H\n#define A_H\n^#endif\n":                      0,
		"#ifndef A_H\n  #  define A_H 1\n#if B\n^":                 1,
		"#ifndef A_H\n#define A_H2\n^":                             1,
		"#ifndef A\n#define A\n#if B\n#ifdef C\n#endif\n^#endif\n": 1,
		"#endif\n#endif\n#if B\n^":                                 1,
		"int x;\n#if B\n#endif\n^":                                 0,
		"#ifndef " + long + "\n#define " + long + "\n^":            0,
		"#ifndef " + long + "\n^":                                  1,
	} {
		at := strings.Index(text, "^")
		d := newDocument(agent.Document{Language: "c", Text: strings.Replace(text, "^", "", 1)}, "d.c", nil)
		if got := d.depth(at); got != want {
			t.Errorf("%.60q: %d, want %d", text, got, want)
		}
	}
}

// Commas in comments are between no names.
func TestListed(t *testing.T) {
	for text, want := range map[string][]string{
		"a, b":                      {"a", "b"},
		" a, // c, d\n b, # e, f\n": {"a", "b"},
		"qq,\n/* " + strings.Repeat("a,", 100_000) + "é */ bb ": {"qq", "bb"},
		"a /* , */ as b, c::{d, e}":                             {"a         as b", "c::{d, e}"},
	} {
		var got []string
		list := listed("{"+text+"}", 1, 1+len(text))
		for _, it := range list.items {
			got = append(got, it.text)
			if name := ("{" + text)[it.start:it.end]; len(name) != len(it.text) || name[0] != it.text[0] {
				t.Errorf("%.40q: %q stands at %q", text, it.text, name)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

// Whoever reads up to the end of broken code for each import compares no more than its beginning, and
// the lines above one are not all searched.
func TestLongStatements(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "from m%d import (a,\n", i)
	}
	text.WriteString(strings.Repeat("b,\n", 10_000) + ")\nif TYPE_CHECKING:\n    import near\n" + strings.Repeat("\n", mostAbove) + "    import far\n")
	d, err := read(agent.Document{Language: "python", Text: text.String()}, "d.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range d.pythonStatements() {
		if key := st.key(); len(key) > 2*longestKey {
			t.Errorf("a key has %d bytes", len(key))
		}
	}
	for word, want := range map[string]bool{"    import near": true, "    import far": false} {
		if got := d.isGuarded(strings.Index(d.Text, word)); got != want {
			t.Errorf("%s is guarded: %v, want %v", word, got, want)
		}
	}
}

func TestIsPlain(t *testing.T) {
	for _, tt := range []struct {
		language language
		plain    []string
		not      []string
	}{
		{python{}, []string{"", "os", "pkg._a1.ä"}, []string{"pkg.a#b", "a*", "a$b", "a:b", "pkg.1a", "a..b", "a-b", ".a", "a b"}},
		{rust{}, []string{"", "crate::a", "r#type", "a::r#in::B"}, []string{"a#b", "crate::*", "a::b#", "a.b", "a::1", "a$"}},
		{jvm{}, []string{"", "a.b.C", "a.C$D"}, []string{"a.b#C", "a.*", "a:b", "a.1b", "a..b"}},
	} {
		for _, name := range tt.plain {
			if !isPlain(tt.language, name) {
				t.Errorf("%T: %q is not plain", tt.language, name)
			}
		}
		for _, name := range tt.not {
			if isPlain(tt.language, name) {
				t.Errorf("%T: %q is plain", tt.language, name)
			}
		}
	}
}
