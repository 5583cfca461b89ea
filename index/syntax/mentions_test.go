package syntax

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMentions(t *testing.T) {
	for _, c := range []struct{ language, src, want string }{
		{"go", "package a\n\nimport \"x/open\"\n\n// open opens.\nfunc open() { s := \"open\"; x.open(); f(open); open(s) }\n\nfunc g(open int) { h(open) }\n\ntype t struct{ open func() }\n",
			"6 symbol|6 member ref|6|6 ref|8 local|8 local|10 member symbol"},
		{"python", "from lib import open\n\ndef g(x):\n    return open(x), 'open', x.open(), f(open=1)\n\nclass A:\n    def open(self):\n        open = 1\n        return open\n",
			"1 import|4 ref|4 member ref|4 member|7 symbol|8 local|9 local"},
		{"typescript", "import {open} from './lib'\nexport function g(a: A) { a.open(); return open(`open ${open}`) }\nconst o = {open: 1, open}\n",
			"1 import|2 member ref|2 ref|2|3 member|3"},
		{"rust", "use lib::open;\nfn g() { open(); lib::open(); let x = open; }\nfn h() { let open = 1; f(open); }\n",
			"1 import member|2 ref|2 member ref|2|3 local|3 local"},
		{"java", "class A { void open() { open(); this.open(); int x = B.open; } void g(int open) { f(open); } }\n",
			"1 symbol|1 ref|1 member ref|1 member|1 local|1 local"},
		{"c", "int open(void);\nint main() { int open2 = open(); s->open(1); return open2; }\n// open\n", "1 symbol|2 ref|2 member ref"},
	} {
		list, _, err := Mentions(t.Context(), c.language, []byte(c.src), "open", 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range list {
			words := []string{fmt.Sprint(m.Span.StartLine)}
			for _, w := range []struct {
				is   bool
				name string
			}{{m.Local, "local"}, {m.Import, "import"}, {m.Member, "member"}, {m.Ref >= 0, "ref"}, {m.Symbol >= 0, "symbol"}} {
				if w.is {
					words = append(words, w.name)
				}
			}
			got = append(got, strings.Join(words, " "))
		}
		if joined := strings.Join(got, "|"); joined != c.want {
			t.Errorf("%s: %s\nwant %s", c.language, joined, c.want)
		}
	}
	if _, _, err := Mentions(t.Context(), "plaintext", []byte("open"), "open", 1); err == nil {
		t.Error("a language without a grammar has mentions")
	}
}

// Y14: a file that has a name in many places, deep within functions and patterns, is looked at
// as long as somebody asks, and no further than to the bound.
func TestMentionsAreBounded(t *testing.T) {
	const n = 5000
	deep := strings.Repeat
	for _, c := range []struct{ language, name, src string }{
		{"python", "calls", "def goal(): pass\n" + deep("goal()\n", n)},
		{"javascript", "calls within functions", "function goal() {}\n" + deep("function b() {\n", 300) + deep("goal(1);\n", n) + deep("}", 300)},
		{"javascript", "patterns within patterns", "function b() { let " + deep("[", 300) + deep("goal, ", n) + deep("]", 300) + " = x }\n"},
		{"python", "imports", deep("from lib import goal\n", n/10)},
	} {
		most := strings.Count(c.src, "goal")
		list, _, err := Mentions(t.Context(), c.language, []byte(c.src), "goal", most)
		if err != nil || len(list) != most {
			t.Errorf("%s: %d of %d mentions: %v", c.name, len(list), most, err)
		}
		if _, _, err := Mentions(t.Context(), c.language, []byte(c.src), "goal", most-1); !errors.Is(err, ErrManyMentions) {
			t.Errorf("%s, more than there may be: %v", c.name, err)
		}
		looks := 0
		if _, _, err := Mentions(looked{t.Context(), &looks, 1 << 30}, c.language, []byte(c.src), "goal", most); err != nil || looks < len(c.src)/8/betweenLooks {
			t.Errorf("%s: asks %d times whether it is to end: %v", c.name, looks, err)
		}
		for _, last := range []int{0, 1, looks / 2, looks - 1} {
			asked := 0
			if _, _, err := Mentions(looked{t.Context(), &asked, last}, c.language, []byte(c.src), "goal", most); !errors.Is(err, context.Canceled) || asked > last+2 {
				t.Errorf("%s: ended at look %d of %d, it asks %d times: %v", c.name, last, looks, asked, err)
			}
		}
	}
}

// looked is a context that counts who asks it, and has ended when it was asked so many times.
type looked struct {
	context.Context
	looks *int
	last  int
}

func (l looked) Err() error {
	if *l.looks++; *l.looks > l.last {
		return context.Canceled
	}
	return nil
}

// What mentions are is the same as found by looking at every reference, declaration and import and
// every function around for each of them.
func TestMentionsAsFoundPlainly(t *testing.T) {
	met := 0
	for _, dir := range fixtureDirs(t) {
		language, src := fixture(t, dir)
		l := languageFor(language)
		if l == nil {
			continue
		}
		tree, err := Parse(language, src)
		if err != nil {
			t.Fatal(err)
		}
		nodes, release := tree.copyTree().Nodes()
		s := scopes{language: language, src: src, nodes: nodes, name: symbolNames(language), field: fieldNames(language)}
		names := map[string][]uint32{}
		for i := range nodes {
			if n := uint32(i); nodes[i].Next == n+1 && s.isName(n) {
				names[s.text(n)] = append(names[s.text(n)], n)
			}
		}
		for name, leaves := range names {
			list, file, err := Mentions(t.Context(), language, src, name, len(leaves))
			if err != nil || len(list) != len(leaves) {
				t.Fatalf("%s, %s: %d of %d mentions: %v", dir, name, len(list), len(leaves), err)
			}
			bound := map[uint32]bool{}
			for k, i := range leaves {
				if scope, ok := s.outermostFunction(i); ok && !list[k].Member && list[k].Symbol < 0 && s.binder(i) != 0 {
					bound[scope] = true
				}
			}
			for k, i := range leaves {
				met++
				m, at := list[k], list[k].Span
				want := Mention{Span: at, Member: s.isMember(i)}
				want.Ref = slices.IndexFunc(file.Refs, func(r Ref) bool { return r.Name == name && r.Span.Start <= at.Start && at.End <= r.Span.End })
				want.Symbol = slices.IndexFunc(file.Symbols, func(d Symbol) bool { return d.NameSpan.Start == at.Start && d.NameSpan.End == at.End })
				want.Import = slices.ContainsFunc(file.Imports, func(im Import) bool { return im.Span.Start <= at.Start && at.End <= im.Span.End })
				scope, ok := s.outermostFunction(i)
				want.Local = l.scopes && ok && bound[scope] && !m.Member && m.Symbol < 0
				if m != want {
					t.Errorf("%s, %s: %+v, want %+v", dir, name, m, want)
				}
			}
		}
		release()
		tree.Close()
	}
	if met < 1000 {
		t.Errorf("%d mentions were compared", met)
	}
}
