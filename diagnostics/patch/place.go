package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// place finds the one place of every hunk in a document. A hunk that fits in
// several is settled by what is known otherwise: the line its header states, how
// far the other hunks are from theirs, the function its header names, and that
// hunks stand in order. What that leaves open is refused, not guessed. most bounds
// the comparisons of lines, and again the steps of settling; off are the rules that are
// not to be used. What is refused once ctx has ended says nothing of the hunks.
func place(ctx context.Context, src *source, hunks []*hunk, most int, off Rule) ([]*match, *Refusal) {
	t := &text{src: src, ctx: ctx, off: off}
	t.allow(most)
	tooMany := refuse(TooLarge, "it fits in too many ways to try; change less at a time, with more unchanged lines")
	var open [][]*match
	for _, h := range hunks {
		found, err := t.candidates(h)
		if t.spent() {
			return nil, tooMany
		}
		if err != nil {
			err.Hunk = h.number
			return nil, err
		}
		open = append(open, found...)
	}
	t.allow(most)
	if t.settle(open); t.spent() {
		return nil, tooMany
	}
	placed := make([]*match, len(open))
	for i, list := range open {
		if len(list) > 1 {
			r := refuse(Ambiguous, "its old lines are at %d places (%s); write more unchanged lines around the change, so that they fit only one", len(list), lineList(list))
			r.Hunk = list[0].hunk.number
			return nil, r
		}
		placed[i] = list[0]
		if i > 0 && placed[i-1].hunk.number == list[0].hunk.number && list[0].first <= placed[i-1].last { // parts of one
			r := refuse(NotFound, "what it has below the lines that are left out stands above them in the document; write one hunk for each place")
			r.Hunk = list[0].hunk.number
			return nil, r
		}
	}
	return placed, nil
}

// candidates is where a hunk may stand; one whose context leaves lines out
// becomes several hunks.
func (t *text) candidates(h *hunk) ([][]*match, *Refusal) {
	if !slices.ContainsFunc(h.body, func(l bodyLine) bool { return l.old() && (h.counted || !l.blank()) }) {
		return nil, refuse(Incomplete, "it has no old line to be placed by; write the unchanged lines around the change with a blank in front")
	}
	for _, l := range h.body {
		if l.op != '+' || !elides(l) {
			continue
		}
		if t.spend(len(t.src.lines)); t.spent() {
			return nil, nil
		}
		if !slices.Contains(t.at(indented), indented.norm(l.text)) {
			return nil, refuse(Elided, "%q stands for lines; write every removed and every added line out", shorten(l.text))
		}
	}
	if found := t.locations(h); found != nil {
		return t.unlessApplied(h, found)
	}
	if parts, err := h.parts(); err != nil {
		return nil, err
	} else if parts != nil && t.off&Elision == 0 {
		var all [][]*match
		for _, p := range parts {
			found, err := t.candidates(p)
			if err != nil {
				return nil, err
			}
			for _, list := range found {
				for _, m := range list {
					m.rules |= Elision
				}
			}
			all = append(all, found...)
		}
		return all, nil
	}
	if t.hasNewSide(h) {
		return nil, refuse(Applied, "the document has the new lines already; nothing is left to do")
	}
	if found := t.roughLocations(h); found != nil {
		return t.unlessApplied(h, found)
	}
	return nil, t.missing(h)
}

// parts cuts a hunk where its context says that lines are left out. It is nil if
// nowhere.
func (h *hunk) parts() ([]*hunk, *Refusal) {
	var parts []*hunk
	next := &hunk{number: h.number, section: h.section}
	cut := false
	for _, l := range h.body {
		if !elides(l) {
			next.body = append(next.body, l)
			continue
		}
		if l.op != ' ' {
			return nil, refuse(Elided, "%q stands for lines; write every removed and every added line out", shorten(l.text))
		}
		cut = true
		parts = append(parts, next)
		next = &hunk{number: h.number}
	}
	if !cut {
		return nil, nil
	}
	parts = append(parts, next)
	parts = slices.DeleteFunc(parts, func(p *hunk) bool {
		return !slices.ContainsFunc(p.body, func(l bodyLine) bool { return !l.blank() })
	})
	return parts, nil
}

// hasNewSide says whether the document has what the hunk would make.
func (t *text) hasNewSide(h *hunk) bool {
	var made []bodyLine
	words := false
	for _, l := range h.body {
		if l.op != '-' {
			words = words || l.op == '+' && !l.blank()
			made = append(made, bodyLine{op: ' ', text: l.text, bare: true})
		}
	}
	for v := exact; words && v < spaced; v++ {
		if t.find(h, variant{body: made}, v, false) != nil {
			return true
		}
	}
	return false
}

// unlessApplied refuses a hunk that adds lines at its edge where they stand
// already: without context behind them, the old lines fit before and after.
func (t *text) unlessApplied(h *hunk, found []*match) ([][]*match, *Refusal) {
	m := found[0]
	last := len(m.body) - 1
	if len(found) != 1 || m.body[0].op != '+' && m.body[last].op != '+' {
		return [][]*match{found}, nil
	}
	var made []string
	old := 0
	for _, l := range m.body {
		if l.op != '-' {
			made = append(made, trailing.norm(l.text))
		}
		if l.old() {
			old++
		}
	}
	lines := t.at(trailing)
	from := m.first
	if m.body[0].op == '+' && m.body[last].op != '+' {
		from = m.last + 1 - len(made)
	}
	if to := from + len(made); len(made) > old && from >= 0 && to <= len(lines) && slices.Equal(made, lines[from:to]) {
		return nil, refuse(Applied, "the added lines stand there already; if they are to be there twice, write the unchanged lines on both sides")
	}
	return [][]*match{found}, nil
}

// missing says which line of a hunk is not there; nil when the comparisons are
// spent.
func (t *text) missing(h *hunk) *Refusal {
	lines := t.at(spaced)
	best, at, bestLine := 0, -1, ""
	want := make([]string, len(h.body))
	for i, l := range h.body {
		want[i] = spaced.norm(l.text)
	}
	for p := range lines {
		n := 0
		for i, l := range h.body {
			if t.spend(1); t.spent() {
				return nil
			}
			if !l.old() {
				continue
			}
			if p+n >= len(lines) || want[i] != lines[p+n] {
				if n > best {
					best, at, bestLine = n, p+n, l.text
				}
				break
			}
			n++
		}
	}
	if best == 0 {
		for _, l := range h.body {
			if l.old() && !l.blank() {
				return refuse(NotFound, "no line of the document is %q, with which the hunk begins; copy its unchanged and removed lines from the document as they are now", shorten(l.text))
			}
		}
		return refuse(NotFound, "so many blank lines are nowhere in the document; write unchanged lines with words around the change")
	}
	there := "the document ends"
	if at < len(lines) {
		there = fmt.Sprintf("the document has %q", shorten(t.src.lines[at].text))
	}
	return refuse(NotFound, "at line %d it wants %q, where %s; copy the unchanged and removed lines from the document as they are now", at+1, shorten(bestLine), there)
}

// only is the single match that test takes, nil if there is none or several.
func only(list []*match, test func(m *match) bool) []*match {
	var taken []*match
	for _, m := range list {
		if test(m) {
			if taken != nil {
				return nil
			}
			taken = []*match{m}
		}
	}
	return taken
}

// heading is where a hunk's header says that it stands: the line that it names, -1 if
// the document has none or several that begin so, and the next one where another declaration
// begins.
type heading struct{ at, next int }

// heading looks for the line that a header names.
func (t *text) heading(named string) *heading {
	want := spaced.norm(named)
	h := &heading{-1, len(t.src.lines)}
	if want == "" {
		return h
	}
	t.spend(len(t.src.lines))
	for i, l := range t.at(spaced) {
		if strings.HasPrefix(l, want) {
			if h.at >= 0 {
				return &heading{at: -1}
			}
			h.at = i
		}
	}
	for i := h.at + 1; h.at >= 0 && i < len(t.src.lines); i++ {
		if t.beginsLike(i, h.at) {
			h.next = i
			break
		}
	}
	return h
}

// in is the first match below the heading, if no other declaration begins between
// the two: a header names the last one above its hunk.
func (h *heading) in(list []*match) []*match {
	if h.at < 0 {
		return nil
	}
	for _, m := range list { // in the document's order
		if m.last > h.at {
			if m.first > h.next {
				return nil
			}
			return []*match{m}
		}
	}
	return nil
}

// beginsLike says whether a line may begin a declaration beside that of another line,
// or beside one around it: it begins with a word and is not further in.
func (t *text) beginsLike(i, other int) bool {
	indent := func(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }
	line := t.src.lines[i].text
	in := indent(line)
	return in <= indent(t.src.lines[other].text) && in < len(line) && (line[in] == '_' || isLetter(rune(line[in])))
}

// lineList names the lines where matches begin.
func lineList(list []*match) string {
	var at []string
	for i, m := range list {
		if i == 5 {
			at = append(at, "…")
			break
		}
		at = append(at, fmt.Sprintf("line %d", m.first+1))
	}
	return strings.Join(at, ", ")
}
