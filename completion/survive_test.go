package completion

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/systest"
)

// A hole is a place in a real file, and the model is one that knows the file:
// it writes what was taken out and goes on with what follows. Stop rules and
// post-processing have to keep the one and cut the other.
type hole struct {
	doc    string
	cursor int
	model  string
	// whole is the file. What is shown has to make the document it.
	whole string
	// prefix: what is shown may be any number of whole lines of what follows.
	prefix bool
}

// judge says what became of the right answer: "right", "dropped" or "wrong".
func (h hole) judge(language string) (verdict, got string) {
	doc := Document{Path: "f", Language: language, Text: h.doc}
	s := newCursorContext(doc, h.cursor, indentUnit(h.doc, language), 12)
	st, kept := stopper{cursorContext: s}, ""
	for model := h.model; model != ""; {
		n := min(8, len(model))
		keep, more := st.feed(model[:n])
		if kept = st.text.String()[:keep]; !more {
			break
		}
		model = model[n:]
	}
	got, covers := finish(s, kept)
	if got == "" {
		return "dropped", got
	}
	now := apply(h.doc, Item{Text: got, Start: h.cursor, End: h.cursor + covers})
	if now == h.whole {
		return "right", got
	}
	begin := lineStart(h.doc, h.cursor)
	is, should := squeeze(now[begin:]), squeeze(h.whole[begin:])
	if is == should || h.prefix && strings.HasPrefix(should, is) {
		return "right", got
	}
	return "wrong", got
}

// squeeze makes one blank of those behind a line's indentation and none of those
// at its end, and ends the last line.
func squeeze(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(leadingSpace(line))
		b.WriteString(strings.Join(strings.Fields(line), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// The holes, by what stands behind the cursor.
var holeKinds = []struct {
	name string
	// cut makes the hole of the line [start, end) of text, taken out from cut on.
	cut func(text string, cut, end int) (hole, bool)
	// least is the share of right answers that come out as they were, of 1,000.
	least int
}{
	{"the line's end", func(text string, cut, end int) (hole, bool) {
		return hole{text[:cut] + text[end:], cut, text[cut:min(len(text), end+300)], text, false}, true
	}, 995},
	{"brackets the editor closed", func(text string, cut, end int) (hole, bool) {
		closers, ok := closersFor(text[lineStart(text, cut):cut], text[cut:end])
		ok = ok && closers != "" && !onlyClosers(text[cut:end])
		return hole{text[:cut] + closers + text[end:], cut, text[cut:min(len(text), end+300)], text, false}, ok
	}, 995},
	{"the file's end", func(text string, cut, end int) (hole, bool) {
		return hole{text[:cut], cut, text[cut:lineEnd(text, min(len(text), end+500))], text, true}, true
	}, 995},
}

// closersFor are the brackets and quotes that line opens and rest closes: what
// an editor has put behind the cursor. ok is false where the line does not
// balance, as in a string of several lines.
func closersFor(line, rest string) (closers string, ok bool) {
	if strings.Contains(line+rest, "'") || strings.Contains(line+rest, "//") {
		return "", false // an apostrophe of prose or a rune
	}
	stack := func(text string) (open []byte, ok bool) {
		var quote byte
		for i := 0; i < len(text); i++ {
			c := text[i]
			switch {
			case quote != 0:
				if c == '\\' && quote != '`' {
					i++
				} else if c == quote {
					quote, open = 0, open[:len(open)-1]
				}
			case c == '"' || c == '`':
				quote, open = c, append(open, c)
			case c == '(' || c == '[' || c == '{':
				open = append(open, c+1+c/'[') // ) ] }
			case c == ')' || c == ']' || c == '}':
				if len(open) == 0 || open[len(open)-1] != c {
					return nil, false
				}
				open = open[:len(open)-1]
			}
		}
		return open, true
	}
	if left, ok := stack(line + rest); !ok || len(left) > 0 {
		return "", false
	}
	open, ok := stack(line)
	slices.Reverse(open)
	return string(open), ok
}

// goDistribution is the source of the Go distribution. A test built with -trimpath does not
// know where that is; the go command does.
func goDistribution(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// eachHole calls use with holes in a tenth of the lines of one of so many files
// of the sources of this repository and of the Go distribution.
func eachHole(t *testing.T, oneOf int, use func(kind int, h hole)) {
	t.Helper()
	for _, root := range []string{"..", goDistribution(t)} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" {
				return err
			}
			// By the file's name, so that a change of one file moves no hole in another.
			name := fnv.New64a()
			fmt.Fprint(name, strings.TrimPrefix(path, root))
			rng := rand.New(rand.NewPCG(1, name.Sum64()))
			if rng.IntN(oneOf) > 0 {
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := string(source)
			for at := 0; at < len(text); {
				start, end := at, lineEnd(text, at)
				line := text[start:end]
				if at = end + 1; rng.IntN(10) > 0 || wordCount(line) < 2 || len(line) > 500 {
					continue // no model writes tables of a generated file
				}
				cut := start + len(leadingSpace(line))
				if rng.IntN(2) == 0 {
					cut = runeStart(text, cut+rng.IntN(end-cut))
				}
				kind := rng.IntN(len(holeKinds))
				from, to := lineStart(text, max(0, start-10_000)), lineEnd(text, min(len(text), end+10_000))
				h, ok := holeKinds[kind].cut(text[from:to], cut-from, end-from)
				if !ok || blank(text[cut:end]) || control.MatchString(h.model) || strings.Contains(h.model, "```") {
					continue // control tokens and fences must not survive
				}
				use(kind, h)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A right answer comes out as it was, byte for byte.
func TestRightAnswersSurvive(t *testing.T) {
	systest.NeedProgram(t, "go")
	count := make([]map[string]int, len(holeKinds))
	for i := range count {
		count[i] = map[string]int{}
	}
	eachHole(t, 2, func(kind int, h hole) {
		verdict, got := h.judge("go")
		count[kind][verdict]++
		if verdict != "right" && count[kind][verdict] <= 10 {
			t.Logf("%s, %s: %q|%q, got %q", holeKinds[kind].name, verdict,
				h.doc[lineStart(h.doc, h.cursor):h.cursor], h.model[:lineEnd(h.model, 0)], got)
		}
	})
	for i, kind := range holeKinds {
		right, dropped, wrong := count[i]["right"], count[i]["dropped"], count[i]["wrong"]
		all := right + dropped + wrong
		t.Logf("%s: %d holes, %.2f %% right, %.2f %% dropped, %.2f %% wrong", kind.name, all,
			100*float64(right)/float64(all), 100*float64(dropped)/float64(all), 100*float64(wrong)/float64(all))
		if all < 100 || right*1000 < all*kind.least {
			t.Errorf("%s: %d of %d right answers survive, want %d of 1000", kind.name, right, all, kind.least)
		}
	}
}
