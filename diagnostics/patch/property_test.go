package patch

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"pgregory.net/rapid"

	"quarry/agent"
)

const document = "notes.txt"

// drawLines draws a text of few different lines, so that many places look alike.
func drawLines(t *rapid.T, name string) []string {
	words := []string{"", "a", "b", "c", "\ta", "    a", "a ", "-- a", "++ b", "@@ c", "{", "}", "é", "…", "\\ d"}
	return rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(t, name)
}

// mutated is lines after a few edits.
func mutated(t *rapid.T, lines []string) []string {
	out := append([]string(nil), lines...)
	for range rapid.IntRange(0, 4).Draw(t, "edits") {
		from := rapid.IntRange(0, len(out)).Draw(t, "from")
		to := min(len(out), from+rapid.IntRange(0, 3).Draw(t, "removed"))
		added := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "x", "\ty", "}"}), 0, 3).Draw(t, "added")
		out = append(append(append([]string(nil), out[:from]...), added...), out[to:]...)
	}
	return out
}

func joined(lines []string, eol string, ended bool) string {
	text := strings.Join(lines, eol)
	if ended && len(lines) > 0 {
		text += eol
	}
	return text
}

func drawTexts(t *rapid.T) (a, b string) {
	lines := drawLines(t, "lines")
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	return joined(lines, eol, rapid.Bool().Draw(t, "ended")), joined(mutated(t, lines), eol, rapid.Bool().Draw(t, "ended after"))
}

func patched(t testing.TB, text, diff string) (string, agent.Proposal, error) {
	t.Helper()
	m := memory{document: text}
	p, err := New(m).Patch(t.Context(), diff)
	if err != nil {
		return "", p, err
	}
	return m.after(t, p)[document], p, nil
}

// TestExactDiffIsExact: a diff made of two texts turns the one into the other,
// however alike their lines are.
func TestExactDiffIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawTexts(rt)
		diff := udiff.Unified("a/"+document, "b/"+document, a, b)
		got, p, err := patched(t, a, diff)
		if a == b {
			return
		}
		if err != nil {
			rt.Fatalf("refused: %v\n%q\n%s", err, a, diff)
		}
		if !strings.Contains(a, "\n") { // no line ending to go by
			b = strings.ReplaceAll(b, "\r\n", "\n")
		}
		if got != b {
			rt.Fatalf("from %q\ngot  %q\nwant %q\n%s", a, got, b, diff)
		}
		if again, _, err := patched(t, a, p.Diff); err != nil || again != b {
			rt.Fatalf("its own diff makes %q, %v\n%s", again, err, p.Diff)
		}
	})
}

// TestHunksSayWhereTheyStand: what a hunk has of the old text stands at the line it says for
// that, and what it has of the new text at the line it says for this.
func TestHunksSayWhereTheyStand(t *testing.T) {
	several := 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := slices.Repeat(append(drawLines(rt, "lines"), "end"), rapid.IntRange(1, 6).Draw(rt, "times"))
		a := joined(lines, "\n", true)
		b := joined(mutated(rt, mutated(rt, lines)), "\n", true)
		var edits []agent.TextEdit
		for _, e := range udiff.Strings(a, b) {
			edits = append(edits, agent.TextEdit{Start: e.Start, End: e.End, New: e.New})
		}
		diff := Unified(document, a, edits, false)
		if a == b {
			return
		}
		files, _, err := gitdiff.Parse(strings.NewReader(diff))
		if err != nil {
			rt.Fatalf("%v\n%s", err, diff)
		}
		if len(files[0].TextFragments) > 1 {
			several++
		}
		for _, f := range files[0].TextFragments {
			var before, after strings.Builder
			for _, l := range f.Lines {
				if l.Old() {
					before.WriteString(l.Line)
				}
				if l.New() {
					after.WriteString(l.Line)
				}
			}
			stands(rt, "old", diff, a, before.String(), f.OldPosition, f.OldLines)
			stands(rt, "new", diff, b, after.String(), f.NewPosition, f.NewLines)
		}
	})
	if several == 0 {
		t.Error("no diff of several hunks was drawn")
	}
}

// stands checks that want are the n lines of text from line first on.
func stands(t *rapid.T, side, diff, text, want string, first, n int64) {
	lines := strings.SplitAfter(text, "\n")
	if n == 0 {
		return
	}
	if first < 1 || first-1+n > int64(len(lines)) || strings.Join(lines[first-1:first-1+n], "") != want {
		t.Fatalf("the %s text has other lines at %d\n%s", side, first, diff)
	}
}

// TestAgreesWithGit: what git's rules place exactly where the header says goes
// there, or is refused because it is there already.
func TestAgreesWithGit(t *testing.T) {
	taken := 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := drawLines(rt, "lines")
		a, b := joined(lines, "\n", true), joined(mutated(rt, lines), "\n", true)
		c := joined(mutated(rt, lines), "\n", true)
		diff := udiff.Unified("a/"+document, "b/"+document, a, b)
		files, _, err := gitdiff.Parse(strings.NewReader(diff))
		if err != nil || len(files) != 1 || c == "" {
			return
		}
		var out bytes.Buffer
		if gitdiff.Apply(&out, strings.NewReader(c), files[0]) != nil {
			return
		}
		taken++
		got, _, err := patched(t, c, diff)
		var r *Refusal
		if errors.As(err, &r) && r.Reason == Applied {
			return
		}
		if err != nil || got != out.String() {
			rt.Fatalf("on %q got %q, %v; git makes %q\n%s", c, got, err, out.String(), diff)
		}
	})
	if taken < 10 {
		t.Errorf("git took only %d of the drawn diffs; the test tests nothing", taken)
	}
}

// spoiled is a diff with the mistakes of a small model.
func spoiled(t *rapid.T, diff string) string {
	var out []string
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch rapid.IntRange(0, 9).Draw(t, "mistake") {
		case 0:
			if strings.HasPrefix(line, "@@") {
				line = "@@"
			}
		case 1:
			line = strings.TrimPrefix(line, " ")
		case 2:
			line += " "
		case 3:
			line = strings.ReplaceAll(line, "\t", "    ")
		case 4:
			if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "-") {
				continue
			}
		case 5:
			line = strings.Replace(line, "@@ -", "@@ -1", 1)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// count counts lines by their words.
func count(text string, only func(string) (string, bool)) map[string]int {
	n := map[string]int{}
	for line := range strings.Lines(text) {
		if line, ok := only(strings.TrimRight(strings.TrimPrefix(line, byteOrderMark), "\r\n")); ok {
			n[spaced.norm(line)]++
		}
	}
	return n
}

func all(line string) (string, bool) { return line, true }

func cutMark(l, mark string) (string, bool) {
	rest, ok := strings.CutPrefix(l, mark)
	return strings.TrimPrefix(rest, byteOrderMark), ok
}

// within reports a line that went or came although the diff does not say so.
func within(before, after, diff string) (string, bool) {
	was, is := count(before, all), count(after, all)
	removed := count(diff, func(l string) (string, bool) { return cutMark(l, "-") })
	added := count(diff, func(l string) (string, bool) { return cutMark(l, "+") })
	for line, n := range was {
		if line != "" && n-is[line] > removed[line] {
			return "removed " + line, false
		}
	}
	for line, n := range is {
		if line != "" && n-was[line] > added[line] {
			return "added " + line, false
		}
	}
	return "", true
}

// TestOnlyWhatTheDiffSays: whatever a spoiled diff does, it removes no line that
// is not marked so and adds none; and what is refused once is refused again.
func TestOnlyWhatTheDiffSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawTexts(rt)
		diff := spoiled(rt, udiff.Unified("a/"+document, "b/"+document, a, b))
		got, _, err := patched(t, a, diff)
		if err != nil {
			if _, _, again := patched(t, a, diff); again == nil || again.Error() != err.Error() {
				rt.Fatalf("refused with %v, then %v", err, again)
			}
			return
		}
		if line, ok := within(a, got, diff); !ok {
			rt.Fatalf("%s: from %q to %q by\n%s", line, a, got, diff)
		}
	})
}

// marked are the lines that the blocks of an answer take and give, marked as a diff has
// them.
func marked(answer string) string {
	var b strings.Builder
	mark := ""
	for line := range strings.Lines(strings.ReplaceAll(unescaped(answer), "\r\n", "\n")) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case mark == "" && searchLine.MatchString(line):
			mark = "-"
		case mark == "-" && middleLine.MatchString(line):
			mark = "+"
		case mark == "+" && replaceLine.MatchString(line):
			mark = ""
		case mark != "":
			b.WriteString(mark + line + "\n")
		}
	}
	return b.String()
}

// FuzzPatch: no diff makes the patcher panic, write edits that do not fit, or
// change what the diff does not say.
func FuzzPatch(f *testing.F) {
	for _, s := range shapes(f) {
		for name, text := range s.before {
			f.Add(text, s.diff)
			f.Add(text, strings.ReplaceAll(s.diff, name, document))
		}
	}
	f.Fuzz(func(t *testing.T, text, diff string) {
		m := memory{document: text}
		p, err := New(m).For(agent.Document{Path: memoryRoot + "/" + document, Text: text}, nil).Patch(t.Context(), diff)
		if err != nil {
			return
		}
		after := m.after(t, p)[document]
		if text == "" {
			return
		}
		var plain strings.Builder // as the reader sees it
		if files, _ := blocks(diff); len(files) > 0 {
			plain.WriteString(marked(diff))
		}
		for _, section := range sections(diff) {
			plain.WriteString(strings.Join(section.lines, "\n") + "\n")
		}
		if line, ok := within(text, after, plain.String()); !ok {
			t.Errorf("%s: from %q to %q by\n%s", line, text, after, diff)
		}
	})
}

// TestTimeIsBounded: a text and a diff that fit in very many ways are refused when
// enough has been tried.
func TestTimeIsBounded(t *testing.T) {
	files, refusal := read("--- a/x\n+++ b/x\n" + strings.Repeat("@@\n"+strings.Repeat(" a\n", 50)+"-a\n+c\n", 100))
	if refusal != nil {
		t.Fatal(refusal)
	}
	src := cut(strings.Repeat("a\n", 10_000))
	if _, refusal = place(t.Context(), src, files[0].hunks, 1_000_000, 0); refusal == nil || refusal.Reason != TooLarge {
		t.Errorf("got %v, want a refusal as too large", refusal)
	}
}
