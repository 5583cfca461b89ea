package patch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/agent"
)

// What a model writes in place of a line changes that line, or those about it that it wrote
// again; where it means another one, that one.
func TestInPlace(t *testing.T) {
	const goText = "package a\n\nfunc Total(xs []int) int {\n\tn := 0\n\tfor _, x := range xs {\n\t\tn += y\n\t}\n\treturn n\n}\n\nfunc none() int {\n}\n"
	const rust = "fn is_empty(&self) -> bool {\n    self.len() == 0;\n}\n\nfn new() -> Set {\n    let set = Set { len: 0 };\n    set.resize(8);\n    set\n}\n"
	const ts = "import { Action, Scheduler } from '../types';\nimport { isFunction } from '../util/isFunction';\nimport { execute } from '../util/execute';\n\nisFunction(execute as Scheduler);\n"
	for name, c := range map[string]struct {
		file, text string
		line       int
		written    string
		want       string // "" if it is refused
		reason     Reason
	}{
		"the line":                  {file: "a.go", text: goText, line: 6, written: "\t\tn += x", want: strings.Replace(goText, "n += y", "n += x", 1)},
		"without its indentation":   {file: "a.go", text: goText, line: 6, written: "n += x", want: strings.Replace(goText, "n += y", "n += x", 1)},
		"blanks for tabs":           {file: "a.go", text: goText, line: 6, written: "        n += x", want: strings.Replace(goText, "n += y", "n += x", 1)},
		"line feeds of Windows":     {file: "a.go", text: strings.ReplaceAll(goText, "\n", "\r\n"), line: 6, written: "n += x", want: strings.ReplaceAll(strings.Replace(goText, "n += y", "n += x", 1), "\n", "\r\n")},
		"the lines around it too":   {file: "a.go", text: goText, line: 6, written: "\tfor _, x := range xs {\n\t\tn += x\n\t}", want: strings.Replace(goText, "n += y", "n += x", 1)},
		"two lines for one":         {file: "a.go", text: goText, line: 6, written: "y := 2 * x\nn += y", want: strings.Replace(goText, "\t\tn += y", "\t\ty := 2 * x\n\t\tn += y", 1)},
		"before a closing bracket":  {file: "a.go", text: goText, line: 12, written: "return 0", want: strings.Replace(goText, "int {\n}", "int {\n\treturn 0\n}", 1)},
		"the culprit is above":      {file: "a.rs", text: rust, line: 7, written: "    let mut set = Set { len: 0 };\n    set.resize(8);", want: strings.Replace(rust, "let set", "let mut set", 1)},
		"the culprit is below":      {file: "a.rs", text: rust, line: 1, written: "        self.len() == 0", want: strings.Replace(rust, "== 0;", "== 0", 1)},
		"goes on with what it read": {file: "a.ts", text: ts, line: 1, written: "import { Scheduler } from '../types';\nimport { execute } from '../util/execute';", want: strings.Replace(ts, "Action, ", "", 1)},
		"nothing":                   {file: "a.ts", text: ts, line: 2, written: "", want: strings.Replace(ts, "import { isFunction } from '../util/isFunction';\n", "", 1)},
		"as it is":                  {file: "a.go", text: goText, line: 6, written: "n += y", reason: Unchanged},
		"a comment":                 {file: "a.go", text: goText, line: 6, written: "// No action needed", reason: Elided},
		"dots for code":             {file: "a.go", text: goText, line: 6, written: "for {\n// ... existing code ...\n}", reason: Elided},
		"no code":                   {file: "a.go", text: goText, line: 6, written: "n += (", reason: Syntax},
		"a line that is none":       {file: "a.go", text: goText, line: 40, written: "n += x", reason: NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{c.file: c.text}
			p := New(m).For(agent.Document{Path: memoryRoot + "/" + c.file, Text: c.text}, nil)
			var written []string
			if c.written != "" {
				written = strings.Split(c.written, "\n")
			}
			r, err := p.InPlace(t.Context(), c.line, max(1, c.line-8), c.line+8, written)
			if c.want == "" {
				if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Reason != c.reason {
					t.Fatalf("got %v, want a refusal as %s\n%s", err, c.reason, r.Diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := m.after(t, r.Proposal)[c.file]; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Whatever is written, no line changes that the model was not shown, and what takes the
// line's own place, indented as it is, takes it whole.
func TestInPlaceStaysInPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"alpha", "beta", "gamma delta", "}", "", "  eps(zeta)", "\teta", "end"})
		lines := rapid.SliceOfN(word, 1, 30).Draw(t, "lines")
		text := strings.Join(lines, "\n") + "\n"
		line := rapid.IntRange(1, len(lines)).Draw(t, "line")
		from := max(1, line-rapid.IntRange(0, 6).Draw(t, "above"))
		to := min(len(lines), line+rapid.IntRange(0, 6).Draw(t, "below"))
		written := rapid.SliceOfN(word, 0, 5).Draw(t, "written")
		m := memory{"a.txt": text}
		r, err := New(m).For(agent.Document{Path: memoryRoot + "/a.txt", Text: text}, nil).InPlace(t.Context(), line, from, to, written)
		if refusal := (*Refusal)(nil); err != nil && !errors.As(err, &refusal) {
			t.Fatal(err)
		} else if err != nil {
			return
		}
		after := text
		for _, f := range r.Files {
			after = agent.ApplyEdits(after, f.Edits)
		}
		above, below := strings.Join(append(lines[:from-1:from-1], ""), "\n"), strings.Join(append(lines[to:len(lines):len(lines)], ""), "\n")
		if !strings.HasPrefix(after, above) || !strings.HasSuffix(after, below) {
			t.Fatalf("lines %d to %d of\n%s\nbecame\n%s", from, to, text, after)
		}
	})
}

// What a server writes without end in the place of a line is held against each line about the place
// once, for as long as somebody waits; more than any answer has is refused.
func TestInPlaceIsBounded(t *testing.T) {
	line := func(i int) string { return strings.Repeat(string(rune('a'+i%20))+"bcd", 99) }
	var lines, long []string
	for i := range 40 {
		lines, long = append(lines, line(i)), append(long, line(i+7))
	}
	text := strings.Join(lines, "\n") + "\n"
	m := memory{"a.txt": text}
	p := New(m).For(agent.Document{Path: memoryRoot + "/a.txt", Text: text}, nil)
	for name, written := range map[string][]string{"long lines": long[:12], "short lines": slices.Repeat([]string{"a", "b", "c"}, 2000)} {
		looks := &ends{t.Context(), 1 << 30}
		if _, err := p.InPlace(looks, 20, 8, 32, written); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		const shown, rest = 25, 300 // lines; looks at what is laid, and by the check of the change
		all := 1<<30 - looks.left
		if all < 20 || all > shown*(len(written)/lookAtLines+1)+rest {
			t.Errorf("%s: %d looks at %d lines", name, all, len(written))
		}
		for _, at := range []int{0, 1, all / 2, all - 1} {
			ctx := &ends{t.Context(), at}
			if _, err := p.InPlace(ctx, 20, 8, 32, written); !errors.Is(err, context.Canceled) || ctx.left < -8 {
				t.Errorf("%s, ended at look %d of %d: %v, and %d looks more", name, at, all, err, -ctx.left)
			}
		}
	}
	var r *Refusal
	if _, err := p.InPlace(t.Context(), 20, 8, 32, slices.Repeat([]string{"a"}, mostWritten)); !errors.As(err, &r) || r.Reason != TooLarge {
		t.Errorf("%d lines: %v", mostWritten, err)
	}
}

// Similarity is the same both ways, 1 for the same line alone, and 0 without a common letter.
func TestSimilarity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.StringMatching(`[a-c(). ]{0,12}`)
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		x, y := Similarity(a, b), Similarity(b, a)
		if x != y || x < 0 || x > 1 || (x == 1) != (strings.TrimSpace(a) == strings.TrimSpace(b)) {
			t.Fatal(fmt.Sprintf("%q and %q: %v, %v", a, b, x, y))
		}
	})
	if got := Similarity("abc", "xyz"); got != 0 {
		t.Errorf("nothing in common is %v", got)
	}
}
