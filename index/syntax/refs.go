package syntax

import "bytes"

var refKinds = [captureCount]RefKind{captureCall: RefCall, captureInherit: RefInherit, captureUse: RefUse}

// rawRef is a reference before its text is read; analysis.refAt holds its node.
type rawRef struct {
	role      captureRole
	qualifier uint32
}

// addRefs emits the references in the order of the text, each with the
// innermost symbol around it. A name that a declaration introduces is no use.
func (a *analysis) addRefs(f *File) {
	for i := range a.declarations {
		a.refAt[a.declarations[i].name] = 0
	}
	f.Refs = make([]Ref, 0, len(a.refs))
	var around []*declaration
	next := 0
	for node, r := range a.refAt {
		if r == 0 {
			continue
		}
		for ; next < len(a.declarations) && a.declarations[next].outer <= uint32(node); next++ {
			if a.declarations[next].symbol >= 0 {
				around = append(around, &a.declarations[next])
			}
		}
		for len(around) > 0 && a.nodes[around[len(around)-1].outer].Next <= uint32(node) {
			around = around[:len(around)-1]
		}
		ref := Ref{Kind: refKinds[a.refs[r-1].role], From: -1, Span: a.refSpan(uint32(node))}
		ref.Name = a.intern(a.src[ref.Span.Start:ref.Span.End])
		if len(around) > 0 {
			ref.From = around[len(around)-1].symbol
		}
		if q := a.refs[r-1].qualifier; q != none {
			ref.Qualifier = a.qualifier(q)
		}
		f.Refs = append(f.Refs, ref)
	}
}

// refSpan is a node's, of an option with a value (COPY --from=build) the value's.
func (a *analysis) refSpan(i uint32) Span {
	start, end := a.nodes[i].Start, a.nodes[i].End
	if text := a.src[start:end]; bytes.HasPrefix(text, []byte("--")) {
		start += uint32(bytes.IndexByte(text, '=') + 1)
	}
	return a.lines.span(start, end)
}

// qualifier is the text of a node, or its last word where it is more than a
// path: the "then" of a chained call.
func (a *analysis) qualifier(i uint32) string {
	text := a.src[a.nodes[i].Start:a.nodes[i].End]
	if len(text) > 64 || bytes.ContainsAny(text, "\n\r") {
		text = bytes.TrimRight(text, ")]}> \t\r\n")
		text = text[bytes.LastIndexFunc(text, func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) })+1:]
	}
	return a.intern(text)
}
