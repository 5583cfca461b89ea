package eval

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	line := TypedHole{Kind: InWord, Typed: "\treturn to", Want: "tal + n, nil"}
	body := TypedHole{Kind: AtBody, Typed: "func f() {", Want: "\n\tn := 1\n\treturn n"}
	entered := TypedHole{Kind: AtBody, Typed: "\t", Want: "n := 1\n\treturn n"}
	ended := TypedHole{Kind: AtLineEnd, Typed: "\ta()", Want: "\n\tb()"}
	closed := TypedHole{Kind: InBrackets, Typed: "f(na", Want: "mes)", Closers: ")"}
	for _, tt := range []struct {
		name string
		hole TypedHole
		got  string
		want Verdict
	}{
		{"spaced otherwise", line, "tal+n,nil", Verdict{Line: true, Word: true, Right: 1, Similar: 1, Shown: true}},
		{"the word alone", line, "tal", Verdict{Word: true, Wrong: 1, Shown: true}},
		{"a longer word", line, "tals + n, nil", Verdict{Wrong: 1, Shown: true}},
		{"the line again", line, "return total", Verdict{Wrong: 1, Repeats: true, Shown: true}},
		{"further lines", line, "tal + n, nil\n}", Verdict{Word: true, Right: 1, Wrong: 1, Shown: true}},
		{"a body", body, "\n\tn := 1\n\n\treturn n", Verdict{Line: true, Word: true, Right: 2, Similar: 1, Shown: true}},
		{"a body's first line", body, "\n\tn := 1", Verdict{Word: true, Right: 1, Shown: true}},
		{"a body's wrong line", body, "\n\tn := 1\n\treturn 0\n\tend()", Verdict{Word: true, Right: 1, Wrong: 2, Shown: true}},
		{"a body and more", body, "\n\tn := 1\n\treturn n\n}", Verdict{Word: true, Right: 2, Wrong: 1, Shown: true}},
		{"a body indented otherwise", body, "\n\tn := 1\n  return n", Verdict{Word: true, Right: 1, Wrong: 1, Shown: true}},
		{"a body after Enter", entered, "n := 1\n\treturn n", Verdict{Line: true, Word: true, Right: 2, Similar: 1, Shown: true}},
		{"a finished line", ended, "", Verdict{Line: true, Word: true, Similar: 1}},
		{"behind a finished line", ended, ";", Verdict{Wrong: 1, Shown: true}},
		{"the next line", ended, "\n\tb()", Verdict{Line: true, Word: true, Right: 1, Similar: 1, Shown: true}},
		{"another next line", ended, "\n\tc()", Verdict{Word: true, Wrong: 1, Shown: true}},
		{"closed", closed, "mes)", Verdict{Line: true, Word: true, Right: 1, Similar: 1, Shown: true}},
		{"closed twice", closed, "mes))", Verdict{Word: true, Wrong: 1, Shown: true}},
	} {
		got := tt.hole.Judge(tt.got)
		if !tt.want.Line {
			got.Similar = 0
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got, v := closed.judgePlain("mes"); !v.Line || got != "mes)" {
		t.Errorf("a raw answer that leaves the bracket to the editor: %q %+v", got, v)
	}
	for _, tt := range []struct {
		hole TypedHole
		raw  string
		want string
	}{
		{body, "\n\tn := 1\n\treturn n\n}\n\nfunc g() {\n", "\n\tn := 1\n\treturn n"},
		{entered, "n := 1\n\treturn n\n}\n", "n := 1\n\treturn n"},
		{body, "\n\ta()\n\tb()", "\n\ta()\n\tb()"},
		{body, strings.Repeat("\n\ta()", 14), strings.Repeat("\n\ta()", 12)},
		{line, "tal + n, nil\n}\n", "tal + n, nil"},
	} {
		if got, _ := tt.hole.judgePlain(tt.raw); got != tt.want {
			t.Errorf("of plain FIM's %q %q is judged, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestPlainly(t *testing.T) {
	line, ended := TypedHole{Kind: InWord}, TypedHole{Kind: AtLineEnd}
	for _, tt := range []struct {
		hole       TypedHole
		raw, shown string
		enough     bool
	}{
		{line, "tal", "tal", false},
		{line, "tal\nx", "tal", true},
		{ended, "\n\tb()", "\n\tb()", false},
		{ended, "\n\n\tb()\n\tc()", "\n\n\tb()", true},
		{ended, ";\n\tb()", ";", true},
		{ended, "\n", "\n", false},
	} {
		if shown, enough := tt.hole.plainly(tt.raw); shown != tt.shown || enough != tt.enough {
			t.Errorf("%s: %q shows %q, enough: %v", tt.hole.Kind, tt.raw, shown, enough)
		}
	}
}
