package syntax

import (
	"fmt"
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
		list, _, err := Mentions(c.language, []byte(c.src), "open")
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
	if _, _, err := Mentions("plaintext", []byte("open"), "open"); err == nil {
		t.Error("a language without a grammar has mentions")
	}
}
