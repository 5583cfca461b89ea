package patch

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// level is how far the white space of a hunk's line may differ from the
// document's. The words never may.
type level int

const (
	exact    level = iota
	trailing       // at the end of the line, or a context line's marker is lost
	indented       // at its beginning, too: tabs for blanks, a shifted block
	spaced         // anywhere
	levels
)

// norm is a line as it is compared at a level.
func (v level) norm(s string) string {
	switch v {
	case trailing:
		return strings.TrimRightFunc(s, unicode.IsSpace)
	case indented:
		return strings.TrimSpace(s)
	case spaced:
		return strings.Join(strings.Fields(s), " ")
	}
	return s
}

// text is a document's lines at each level, made when they are first needed.
type text struct {
	src  *source
	norm [levels][]string
	// left is how many comparisons of lines may still be made; below look the context is
	// looked at again.
	left, look int
	ctx        context.Context
	off        Rule // rules that are not to be used
}

// maxCompared bounds the comparisons for one file: half a second for a text and a
// diff made to take for ever, and what twenty hunks that fit nowhere need in
// 20,000 lines.
const maxCompared = 50_000_000

// lookEvery is how many comparisons are made between two looks at the context: a millisecond.
const lookEvery = 1 << 16

// costOfMatch is what it counts to keep a location, in comparisons: a million of them are some 200 MB.
const costOfMatch = 50

// allow sets how many comparisons may be made from now on.
func (t *text) allow(most int) { t.left, t.look = most, most }

// spend counts comparisons. Once whoever waits has left, all are spent.
func (t *text) spend(n int) {
	if t.left -= n; t.left >= t.look {
		return
	}
	t.look = t.left - lookEvery
	if t.ctx.Err() != nil {
		t.left = -1
	}
}

func (t *text) spent() bool { return t.left < 0 }

func (t *text) at(v level) []string {
	if t.norm[v] == nil {
		t.norm[v] = make([]string, len(t.src.lines))
		for i, l := range t.src.lines {
			t.norm[v][i] = v.norm(l.text)
		}
	}
	return t.norm[v]
}

// match is a hunk laid on a document.
type match struct {
	hunk  *hunk
	body  []bodyLine // as it was tried: outer context may have been dropped
	at    []int      // by body line: its line in the document from 0, -1 if it has none
	level level
	// first and last are the document's lines that the old side spans.
	first, last int
	// dropped counts the old lines that were left out above the first one kept.
	dropped int
	// rules are those that it needed.
	rules Rule
}

// rough says that more than white space was forgiven.
func (m *match) rough() bool { return m.rules&(SkippedBlanks|Fuzz) != 0 }

// stated says that the hunk stands where its header says.
func (m *match) stated() bool { return m.hunk.line > 0 && m.first+1 == m.hunk.line+m.dropped }

// trusted says that the hunk was made from this very text, so that its lines are
// taken as they are.
func (m *match) trusted() bool {
	return m.level == exact && !m.rough() && m.hunk.counted && m.stated()
}

// mostMatches is how many places of a hunk are kept besides the one its header
// states; where there are more, little else tells them apart.
const mostMatches = 200

// find lays a body on every place of the document where it fits at a level.
// skipBlanks lets blank context lines be there on one side only.
func (t *text) find(h *hunk, as variant, v level, skipBlanks bool) []*match {
	body, rules := as.body, as.rules|levelRules[v]
	if skipBlanks {
		rules |= SkippedBlanks
	}
	lines := t.at(v)
	want := make([][2]string, len(body)) // each line and what else it may have been
	first := -1
	for i, l := range body {
		want[i] = [2]string{v.norm(l.text), v.norm(l.text)}
		if l.op == ' ' && !l.bare && v == trailing {
			want[i][1] = v.norm(" " + l.text)
		}
		if first < 0 && l.old() && !(skipBlanks && l.blank()) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	var found []*match
	at := make([]int, len(body))
	t.spend(len(lines))
	for p := range lines {
		if t.spent() {
			return nil
		}
		if lines[p] != want[first][0] && lines[p] != want[first][1] {
			continue
		}
		t.spend(len(body))
		if align(body, want, lines, p, skipBlanks, at) {
			t.spend(costOfMatch + len(body))
			m := &match{hunk: h, body: body, at: slices.Clone(at), level: v, rules: rules, last: slices.Max(at)}
			m.first = at[slices.IndexFunc(at, func(i int) bool { return i >= 0 })]
			if len(found) < mostMatches || m.stated() {
				if v < indented || m.indentation(t.src) != nil {
					found = append(found, m)
				}
			}
		}
	}
	return found
}

// align lays the body's old lines on the document's from p on, and says whether
// they fit.
func align(body []bodyLine, want [][2]string, lines []string, p int, skipBlanks bool, at []int) bool {
	previous := byte('+') // marker of the last old line that was laid
	for i, l := range body {
		at[i] = -1
		if !l.old() {
			continue
		}
		fits := func() bool { return p < len(lines) && (lines[p] == want[i][0] || lines[p] == want[i][1]) }
		if skipBlanks && !fits() {
			if l.op == ' ' && l.blank() {
				continue
			}
			// Between two removed lines a blank one would have to go or stay.
			if previous != '-' || l.op != '-' {
				for previous != '+' && p < len(lines) && strings.TrimSpace(lines[p]) == "" {
					p++
				}
			}
		}
		if !fits() {
			return false
		}
		at[i], previous = p, l.op
		p++
	}
	return true
}

// maxFuzz is how many lines of context may be wrong at each end of a hunk, as
// in patch(1).
const maxFuzz = 2

// blanksAdded takes blank lines between added ones for added: their marker is
// the first thing to be lost.
func blanksAdded(body []bodyLine) []bodyLine {
	out := slices.Clone(body)
	for i := 1; i < len(out); i++ {
		if !out[i].bare || !out[i].blank() || out[i-1].op != '+' {
			continue
		}
		end := i
		for end < len(out) && out[end].bare && out[end].blank() {
			end++
		}
		if end < len(out) && out[end].op == '+' {
			for k := i; k < end; k++ {
				out[k].op = '+'
			}
		}
	}
	return out
}

func withoutBareTail(body []bodyLine) []bodyLine {
	end := len(body)
	for end > 0 && body[end-1].bare {
		end--
	}
	return body[:end]
}

func withoutBlankEdges(body []bodyLine) []bodyLine {
	edge := func(l bodyLine) bool { return l.op == ' ' && l.blank() }
	for len(body) > 0 && edge(body[0]) {
		body = body[1:]
	}
	for len(body) > 0 && edge(body[len(body)-1]) {
		body = body[:len(body)-1]
	}
	return body
}

// locations is where a hunk fits, with as little forgiven as possible: all of them
// are equally good. It is empty if there is none.
func (t *text) locations(h *hunk) []*match {
	for _, as := range h.variants(t.off) {
		if found := t.findWithin(h, as, spaced, false); found != nil {
			return found
		}
	}
	return nil
}

// roughLocations is like locations where that found none: blank lines are skipped,
// then outer context lines dropped.
func (t *text) roughLocations(h *hunk) []*match {
	if t.off&SkippedBlanks == 0 {
		for _, as := range h.variants(t.off) {
			if found := t.findWithin(h, as, indented, true); found != nil {
				return found
			}
		}
	}
	if t.off&Fuzz != 0 {
		return nil
	}
	whole := variant{h.body, Fuzz}
	if b := blanksAdded(h.body); t.off&BlankAdded == 0 && !slices.Equal(b, h.body) {
		whole = variant{b, Fuzz | BlankAdded}
	}
	for fuzz := 1; fuzz <= 2*maxFuzz; fuzz++ {
		for top := min(fuzz, maxFuzz); top >= max(0, fuzz-maxFuzz); top-- {
			if body, ok := dropEdges(whole.body, top, fuzz-top); ok {
				if found := t.findWithin(h, variant{body, whole.rules}, indented, false); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// findWithin is find at the first level that has a location, up to most.
func (t *text) findWithin(h *hunk, as variant, most level, skipBlanks bool) []*match {
	for v := exact; v <= most; v++ {
		if t.off&levelRules[v] != 0 {
			continue
		}
		if found := t.find(h, as, v, skipBlanks); found != nil {
			return withDropped(found, h)
		}
	}
	return nil
}

// dropEdges leaves out context lines at both ends. What is left must still say
// something: two lines, one of them with a word.
func dropEdges(body []bodyLine, top, bottom int) ([]bodyLine, bool) {
	for ; top > 0; top-- {
		if len(body) == 0 || body[0].op != ' ' {
			return nil, false
		}
		body = body[1:]
	}
	for ; bottom > 0; bottom-- {
		if len(body) == 0 || body[len(body)-1].op != ' ' {
			return nil, false
		}
		body = body[:len(body)-1]
	}
	lines, words := 0, false
	for _, l := range body {
		if l.old() && !l.blank() {
			lines++
			words = words || aWord.MatchString(l.text)
		}
	}
	return body, lines >= 2 && words
}

var aWord = regexp.MustCompile(`\pL{3}`)

// withDropped counts the lines left out above, by which a stated line moves.
func withDropped(found []*match, h *hunk) []*match {
	for _, m := range found {
		if len(m.body) > 0 && len(h.body) > len(m.body) {
			m.dropped = leftOut(h.body, m.body)
		}
	}
	return found
}

// leftOut is how many lines of body come before part, a stretch of it whose
// markers may differ.
func leftOut(body, part []bodyLine) int {
	for n := 0; n+len(part) <= len(body); n++ {
		if slices.EqualFunc(body[n:n+len(part)], part, func(a, b bodyLine) bool { return a.text == b.text }) {
			return n
		}
	}
	return 0
}

var (
	commentMark = regexp.MustCompile(`^(?://|#|--|/\*|<!--|;|%)?\s*[\[(]?\s*`)
	elisionWord = regexp.MustCompile(`(?i)\b(existing|rest|unchanged|same|other|omitted|remaining|previous|code|lines|as before)\b`)
)

// elides says whether a line stands for lines left out: "...", "// ... existing
// code ...". Among added lines only words make it sure: Python has "..." as a
// statement, JavaScript and Go as part of one.
func elides(l bodyLine) bool {
	s := strings.TrimSpace(l.text)
	s = s[len(commentMark.FindString(s)):]
	rest, ok := strings.CutPrefix(s, "...")
	if !ok {
		rest, ok = strings.CutPrefix(s, "…")
	}
	if !ok {
		return false
	}
	rest = strings.TrimRight(rest, " .…*/->)]")
	if l.op != ' ' {
		return elisionWord.MatchString(rest)
	}
	return rest == "" || elisionWord.MatchString(rest)
}
