package patch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"quarry/agent"
)

// change replaces the document's lines from..to.
type change struct {
	from, to int
	added    []string
	hunk     int
	// ends says, for a change at the document's end, whether the last line is to
	// have an ending; 0 leaves it as it is.
	ends ending
}

type ending int8

const (
	asItIs ending = iota
	with
	without
)

// changes is what a placed hunk does.
func (m *match) changes(src *source, h habit, language string) []change {
	var list []change
	var open *change
	in := m.indentation(src)
	ends := m.ending()
	previous := -1 // the document's line above
	for i, l := range m.body {
		if l.op == ' ' {
			if m.at[i] >= 0 {
				previous = m.at[i]
			}
			open = nil
			continue
		}
		if open == nil {
			from := previous + 1
			if previous < 0 {
				from = m.at[slices.IndexFunc(m.at, func(k int) bool { return k >= 0 })]
			}
			if l.op == '-' {
				from = m.at[i]
			}
			list = append(list, change{from: from, to: from, hunk: m.hunk.number, ends: ends})
			open = &list[len(list)-1]
		}
		if l.op == '-' {
			if open.to == open.from {
				open.from = m.at[i]
			}
			open.to, previous = m.at[i]+1, m.at[i]
			continue
		}
		s := l.text
		if !m.trusted() {
			if language != "markdown" { // there two blanks break a line
				s = trailing.norm(s)
			}
			if m.level >= indented && in != nil {
				s = in.apply(s)
			}
		}
		open.added = append(open.added, s)
	}
	if !m.trusted() && m.level < indented {
		for i := range list {
			list[i].added = h.adapt(list[i].added)
		}
	}
	return list
}

// ending is what the diff says of the last line's ending.
func (m *match) ending() ending {
	var old, new bool
	for _, l := range m.body {
		old = old || l.last && l.op != '+'
		new = new || l.last && l.op != '-'
	}
	switch {
	case new:
		return without
	case old:
		return with
	}
	return asItIs
}

// ordered sorts changes and refuses two that touch the same lines. A change that
// is there twice counts once: models repeat themselves.
func ordered(list []change) ([]change, *Refusal) {
	slices.SortStableFunc(list, func(a, b change) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	list = slices.CompactFunc(list, func(a, b change) bool {
		return a.hunk != b.hunk && a.from == b.from && a.to == b.to && slices.Equal(a.added, b.added)
	})
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if b.from < a.to || b.from == a.from {
			r := refuse(Conflict, "it changes line %d, which hunk %d changes too; write one hunk for both", b.from+1, a.hunk)
			r.Hunk = b.hunk
			return nil, r
		}
	}
	return list, nil
}

// edits is a change as the smallest edits of the text, with the document's line
// endings and the state of its last line.
func (s *source) edits(text string, c change) []agent.TextEdit {
	n := len(s.lines)
	eol := s.eolNear(c.from, c.to)
	start, end := s.starts[min(c.from, n)], s.starts[min(c.to, n)]
	ended := s.ended()
	if c.ends != asItIs {
		ended = c.ends == with
	}
	added := strings.Join(c.added, eol)
	switch {
	case c.to < n: // not at the end: every line has its ending
		if len(c.added) > 0 {
			added += eol
		}
	case len(c.added) > 0:
		if ended {
			added += eol
		}
		if c.from == n && n > 0 && s.lines[n-1].eol == "" { // below a last line without one
			added = eol + added
		}
	case !ended && c.from > 0: // the line above becomes the last
		start -= len(s.lines[c.from-1].eol)
	}
	return minimal(text, start, end, added)
}

// minimal is the replacement of text[start:end] by added as edits of the lines
// that differ, each without what it shares with its replacement at both ends.
func minimal(text string, start, end int, added string) []agent.TextEdit {
	var out []agent.TextEdit
	for _, e := range udiff.Lines(text[start:end], added) {
		if t := trimmed(text, agent.TextEdit{Start: start + e.Start, End: start + e.End, New: e.New}); t.Start < t.End || t.New != "" {
			out = append(out, t)
		}
	}
	return out
}

// trimmed takes off an edit what it does not change: whole characters, and a
// line ending of two bytes as one.
func trimmed(text string, e agent.TextEdit) agent.TextEdit {
	old := text[e.Start:e.End]
	p := 0
	for p < len(old) && p < len(e.New) && old[p] == e.New[p] {
		p++
	}
	for p > 0 && !(boundary(old, p) && boundary(e.New, p)) {
		p--
	}
	oldRest, newRest := old[p:], e.New[p:]
	q := 0
	for q < len(oldRest) && q < len(newRest) && oldRest[len(oldRest)-1-q] == newRest[len(newRest)-1-q] {
		q++
	}
	for q > 0 && !(boundary(old, len(old)-q) && boundary(e.New, len(e.New)-q)) {
		q--
	}
	return agent.TextEdit{Start: e.Start + p, End: e.End - q, New: newRest[:len(newRest)-q]}
}

// boundary says whether s may be cut at i.
func boundary(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	return utf8.RuneStart(s[i]) && !(s[i] == '\n' && s[i-1] == '\r')
}
