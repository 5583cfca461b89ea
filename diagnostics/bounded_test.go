package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/agent"
)

// looks is a context that ends at the look after so many.
type looks struct {
	context.Context
	left int
}

func (l *looks) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// manyNames is a document of n names, and the problem that one of them is not known.
func manyNames(n int) promptContext {
	var b strings.Builder
	b.WriteString("zzyyxxwwvv(1)\n")
	for i := range n {
		fmt.Fprintf(&b, "q%07d ", i)
	}
	return promptContext{doc: agent.Document{Text: b.String()}, LineText: "zzyyxxwwvv(1)", Message: "undefined: zzyyxxwwvv"}
}

// A document of very many names is looked at in time that grows as they do, and no longer than
// somebody waits; names that are too many or too long to be held against one say nothing.
func TestMisspeltIsBounded(t *testing.T) {
	ctx := &looks{t.Context(), 1 << 30}
	if _, err := manyNames(50_000).misspelt(ctx); err != nil {
		t.Fatal(err)
	}
	half := 1<<30 - ctx.left
	ctx = &looks{t.Context(), 1 << 30}
	s := manyNames(100_000)
	if _, err := s.misspelt(ctx); err != nil {
		t.Fatal(err)
	}
	all := 1<<30 - ctx.left
	if half < 20 || all > half*5/2 {
		t.Errorf("%d looks at 50,000 names, %d at twice as many", half, all)
	}
	for _, at := range []int{0, 1, all / 2, all - 1} {
		ctx := &looks{t.Context(), at}
		if _, err := s.misspelt(ctx); !errors.Is(err, context.Canceled) || ctx.left < -2 {
			t.Errorf("ended at look %d of %d: %v, and %d looks more", at, all, err, -ctx.left)
		}
	}
	s.doc.Text += "zzyyxxwwv"
	if got, err := s.misspelt(t.Context()); err != nil || !slices.Equal(got.Like, []string{"zzyyxxwwv"}) {
		t.Errorf("among many names: %+v, %v", got, err)
	}
	long := strings.Repeat("z", 399)
	for i := range 1000 {
		s.doc.Text += fmt.Sprintf(" %s%d", long, i)
	}
	s.doc.Text += " " + long
	s.LineText, s.Message = long, "undefined: "+long
	if got, err := s.misspelt(t.Context()); err != nil || got.Name != "" {
		t.Errorf("names of 400 letters are held against a thousand: %+v, %v", got, err)
	}
}

// The names in a text are those that the expression finds.
func TestNamesIn(t *testing.T) {
	name := regexp.MustCompile(`[\pL_][\pL\pN_]*`)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "B", "_", "9", "é", "変", "٣", "½", " ", ".", "\xff", "\xc3", "\u0301", "`"})).Draw(rt, "text"), "")
		var want []string
		for _, n := range name.FindAllString(text, -1) {
			if !slices.Contains(want, n) {
				want = append(want, n)
			}
		}
		if got := namesIn(text); !slices.Equal(got, want) {
			rt.Fatalf("in %q %q, want %q", text, got, want)
		}
	})
}

// Whatever an answer names in backticks, each name is looked for once, so many of them, and none
// for who has left.
func TestQuotedNamesAreBounded(t *testing.T) {
	searched := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leave := -1
	a := &Assistant{parts: Parts{Occurs: func(context.Context, string) bool {
		if searched++; searched == leave {
			cancel()
		}
		return true
	}}}
	sc := promptContext{doc: agent.Document{Text: strings.Repeat("a", 1<<20)}}
	if n := a.unknownQuoted(ctx, &answer{text: strings.Repeat("`aa` ", 6000)}, sc); n != "" || searched != 1 {
		t.Errorf("one name 6,000 times: %q, searched for %d times", n, searched)
	}
	var many strings.Builder
	for i := range 3 * mostNames {
		fmt.Fprintf(&many, "`b%d` ", i)
	}
	searched = 0
	if n := a.unknownQuoted(ctx, &answer{text: many.String()}, sc); n != "" || searched != mostNames {
		t.Errorf("%d names: %q, %d were searched for", 3*mostNames, n, searched)
	}
	calls := "package a\n\nfunc f() {\n" + strings.NewReplacer("`", "", " ", "()\n").Replace(many.String()) + "}\n"
	change := agent.FileChange{Path: "a.go", Edits: []agent.TextEdit{{New: calls}}}
	searched = 0
	if n := a.unknownCall(ctx, sc, change, calls, ""); n != "" || searched != mostNames {
		t.Errorf("%d calls: %q, %d were searched for", 3*mostNames, n, searched)
	}
	searched, leave = 0, 7
	if n := a.unknownQuoted(ctx, &answer{text: many.String()}, sc); n != "" || searched != 7 {
		t.Errorf("left at the seventh: %q, %d were searched for", n, searched)
	}
}

func TestNewIn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var edits []agent.TextEdit
		at := 0
		for range rapid.IntRange(0, 5).Draw(rt, "edits") {
			start := at + rapid.IntRange(0, 3).Draw(rt, "gap")
			at = start + rapid.IntRange(0, 3).Draw(rt, "removed")
			edits = append(edits, agent.TextEdit{Start: start, End: at, New: strings.Repeat("x", rapid.IntRange(0, 3).Draw(rt, "added"))})
		}
		isNew := newIn(edits)
		for at := range 40 {
			want, shift := false, 0
			for _, e := range edits {
				start := e.Start + shift
				want = want || at >= start-1 && at < start+len(e.New)
				shift += len(e.New) - (e.End - e.Start)
			}
			if isNew(at) != want {
				rt.Fatalf("byte %d after %v: %v", at, edits, !want)
			}
		}
	})
}

// A fence is longer than any run of backticks, however long that is.
func TestFence(t *testing.T) {
	for text, want := range map[string]int{"": 3, "a `b` ``": 3, "```go\n": 4, "x````": 5, strings.Repeat("`", 1<<20): 1<<20 + 1} {
		if got := (promptContext{Text: "a", Selected: text}).Fence(); len(got) != want || strings.Trim(got, "`") != "" {
			t.Errorf("%d backticks around %d letters, want %d", len(got), len(text), want)
		}
	}
}
