package syntax

import "bytes"

// nestHeadings gives Markdown's underlined headings the text below them and their
// place among the others: the grammar makes sections of the headings with # only,
// and puts an underlined one, whatever its level, into the section it happens to
// stand in. Headings in quotes and lists stay as they are.
func (a *analysis) nestHeadings(f *File) {
	section := -1 // the grammar's symbol of one
	for i := range a.declarations {
		if d := &a.declarations[i]; a.underlined(d) {
			section = int(a.nodes[a.nodes[d.node].Parent].Symbol)
			break
		}
	}
	if section < 0 {
		return
	}
	type heading struct {
		level, symbol int
		path          string
	}
	var open []heading
	closeAt := func(level int, end uint32) {
		end = uint32(len(bytes.TrimRight(a.src[:end], " \t\r\n")))
		for len(open) > 0 && open[len(open)-1].level >= level {
			span := &f.Symbols[open[len(open)-1].symbol].Span
			*span = a.lines.span(span.Start, end)
			open = open[:len(open)-1]
		}
	}
	for i := range a.declarations {
		d := &a.declarations[i]
		if d.symbol < 0 || !a.directlyIn(d.node, uint16(section)) {
			continue
		}
		s := &f.Symbols[d.symbol]
		h := heading{level: a.headingLevel(d), symbol: d.symbol, path: dottedPath(s.Name)}
		closeAt(h.level, s.Span.Start)
		s.Container = ""
		if len(open) > 0 {
			s.Container = open[len(open)-1].path
			h.path = joinPath(s.Container, h.path)
		}
		open = append(open, h)
	}
	closeAt(0, uint32(len(a.src)))
}

// underlined tells whether a heading is: its name is its own, not its first line's.
func (a *analysis) underlined(d *declaration) bool {
	return d.kind == KindSection && a.nodes[d.name].Parent == d.node
}

// directlyIn tells whether all that a node stands in are sections.
func (a *analysis) directlyIn(node uint32, section uint16) bool {
	for p := a.nodes[node].Parent; p != 0; p = a.nodes[p].Parent {
		if a.nodes[p].Symbol != section {
			return false
		}
	}
	return true
}

func (a *analysis) headingLevel(d *declaration) int {
	text := a.src[a.nodes[d.node].Start:a.nodes[d.node].End]
	if !a.underlined(d) {
		text = bytes.TrimLeft(text, " ")
		return len(text) - len(bytes.TrimLeft(text, "#"))
	}
	if text = bytes.TrimRight(text, " \t\r\n"); text[len(text)-1] == '=' {
		return 1
	}
	return 2
}
