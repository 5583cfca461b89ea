package eval

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"quarry/completion"
)

// lineKinds are the places that holes in a line just being written have.
var lineKinds = []CursorKind{InWord, WordEnd, AfterBlank, AfterPunctuation, BeforeBlank, AtLineStart}

// fileHunks is how many holes one file has at most.
const fileHunks = 8

// LastHunks cuts a hole into each run of lines that was added to a file between two
// versions of a repository, but for the first, where the file has several: the runs above
// it are typed before, one after the other, those below it are not written yet, and what
// follows the cursor in it is not either. In which order a user wrote them a diff does not
// tell; that of the file stands for it.
func LastHunks(before, after Repository) []TypedHole {
	old := map[string]string{}
	for _, d := range before.Documents {
		old[d.Path] = d.Text
	}
	var holes []TypedHole
	for _, d := range after.Documents {
		from, ok := old[d.Path]
		if !ok || from == d.Text || strings.Contains(d.Text, "\r") {
			continue
		}
		hunks := lineDiff(strings.SplitAfter(from, "\n"), strings.SplitAfter(d.Text, "\n"))
		for last := 1; last < min(len(hunks), 1+fileHunks); last++ {
			if h, ok := lastHunk(d, hunks, last, fmt.Sprintf("%s/change-%d/%s", after.Name, last, d.Path)); ok {
				h.Source = Source{Name: after.Name, Language: d.Language, Half: Held}
				holes = append(holes, h)
			}
		}
	}
	return holes
}

// without is a text without its runs from some on.
func without(text string, hunks []hunk, from int) string {
	var b strings.Builder
	for i, h := range hunks {
		b.WriteString(text[:h.skipped])
		text = text[h.skipped:]
		added := len(strings.Join(h.added, ""))
		if i < from {
			b.WriteString(text[:added])
		}
		text = text[added:]
	}
	return b.String() + text
}

func lastHunk(d completion.Document, hunks []hunk, last int, id string) (TypedHole, bool) {
	start := hunks[last].skipped
	for _, h := range hunks[:last] {
		start += h.skipped + len(strings.Join(h.added, ""))
	}
	above, below := d.Text[:start], without(d.Text, hunks, last)[start:]
	rng := rand.New(rand.NewChaCha8(seedOf(id)))
	for range 200 {
		kind, n := drawKind(rng), rng.IntN(len(hunks[last].added))
		whole := d
		whole.Text = above + strings.Join(hunks[last].added[:n+1], "") + below
		h, ok := cutLine(whole, strings.SplitAfter(whole.Text, "\n"), strings.Count(above, "\n")+n, kind, rng)
		if !ok {
			continue
		}
		h.ID, h.Kind = id, kind
		for i := range last + 1 {
			h.Before = append(h.Before, without(d.Text, hunks, i))
		}
		return h, true
	}
	return TypedHole{}, false
}

// drawKind draws one of lineKinds as often as the suite has it.
func drawKind(rng *rand.Rand) CursorKind {
	all := 0
	for _, k := range lineKinds {
		all += quota[k]
	}
	n := rng.IntN(all)
	for _, k := range lineKinds {
		if n -= quota[k]; n < 0 {
			return k
		}
	}
	return InWord
}
