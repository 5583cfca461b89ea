package eval

import (
	"context"
	"math/rand/v2"
	"strings"

	"quarry/completion"
)

// Further counts the lines after the first of what was shown in holes of
// several lines, where the lines before were right.
type Further struct {
	Holes int `json:"holes"`
	Shown int `json:"shown"`
	Right int `json:"right"`
}

// block takes out a line and those after it down to the end of its block, six
// at most.
func block(d completion.Document, rng *rand.Rand) (Hole, bool) {
	lines := strings.SplitAfter(d.Text, "\n")
	if len(lines) < 20 {
		return Hole{}, false
	}
	first := rng.IntN(len(lines) - 7)
	body := strings.TrimLeft(lines[first], " \t")
	indent := len(lines[first]) - len(body)
	if isComment(body) || !strings.ContainsFunc(body, isLetter) {
		return Hole{}, false
	}
	after := first + 1
	for after < first+6 {
		next := strings.TrimLeft(lines[after], " \t")
		if strings.TrimSpace(next) != "" && len(lines[after])-len(next) < indent {
			break
		}
		after++
	}
	offset := len(strings.Join(lines[:first], "")) + indent
	want := strings.Join(lines[first:after], "")[indent:]
	h := Hole{Want: want, Fresh: true}
	h.Request = completion.Request{
		Key: d.Path, Offset: offset,
		Document: completion.Document{Path: d.Path, Language: d.Language, Text: d.Text[:offset] + "\n" + d.Text[offset+len(want):]},
	}
	return h, after > first+1
}

// further fills n such holes in r.
func further(ctx context.Context, e *completion.Engine, r Repository, n int, rng *rand.Rand) (Further, error) {
	var out Further
	for tries := 0; out.Holes < n && tries < 50*n; tries++ {
		h, ok := block(r.Documents[rng.IntN(len(r.Documents))], rng)
		if !ok {
			continue
		}
		out.Holes++
		res, err := e.Complete(ctx, h.Request)
		if err != nil {
			return out, err
		}
		e.Forget(h.Request.Key)
		if len(res.Items) == 0 {
			continue
		}
		want, got := fullLines(h.Want), fullLines(res.Items[0].Text)
		for i, line := range got {
			right := i < len(want) && same(line, want[i])
			if i > 0 {
				out.Shown++
				if right {
					out.Right++
				}
			}
			if !right {
				break
			}
		}
	}
	return out, nil
}

func fullLines(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
