package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// declaration is a match of a definition or a scope.
type declaration struct {
	node, name, container, within, body, doc uint32
	outer                                    uint32 // node, or the wrap around it
	given                                    string // the container's name, where not its text counts
	pattern                                  int
	kind                                     Kind // "" for a scope, which only names what is inside
	symbol                                   int  // in File.Symbols; for a scope the type it extends, -1 if that is not here
}

// sortDeclarations orders them as the text does and keeps, of those with the
// same name node, the one whose pattern stands first in the query. The name that
// an import is given (const fs = require("fs")) is no declaration.
func (a *analysis) sortDeclarations() {
	slices.SortFunc(a.declarations, func(x, y declaration) int {
		if x.name != y.name {
			return int(x.name) - int(y.name)
		}
		return x.pattern - y.pattern
	})
	a.declarations = slices.CompactFunc(a.declarations, func(x, y declaration) bool { return x.name == y.name })
	a.declarations = slices.DeleteFunc(a.declarations, func(d declaration) bool { return a.marks[d.name] == captureImportAlias })
	slices.SortStableFunc(a.declarations, func(x, y declaration) int { return int(x.node) - int(y.node) })
}

// widenToWraps lets a declaration take in the nodes around it that say nothing
// but that it is exported, decorated or alone in its group.
func (a *analysis) widenToWraps() {
	inside := map[uint32]int{} // wrap -> declarations directly in it
	last := uint32(none)
	for i := range a.declarations {
		if d := &a.declarations[i]; d.node != last {
			last = d.node
			if p := a.nodes[d.node].Parent; a.marks[p] == captureWrap {
				inside[p]++
			}
		}
	}
	for i := range a.declarations {
		d := &a.declarations[i]
		if i > 0 && a.declarations[i-1].node == d.node {
			d.outer = a.declarations[i-1].outer
			continue
		}
		for p := a.nodes[d.outer].Parent; a.marks[p] == captureWrap && inside[p] <= 1 && p != d.outer; p = a.nodes[p].Parent {
			d.outer = p
		}
	}
}

// addSymbols turns declarations into symbols with their containers.
func (a *analysis) addSymbols(f *File) {
	type open struct {
		node uint32
		path string
	}
	var around []open
	// What the names of one declaration share, of which there may be thousands.
	led, start, comment := uint32(none), uint32(0), ""
	signed, signature := declaration{node: none}, ""
	for i := range a.declarations {
		d := &a.declarations[i]
		for len(around) > 0 {
			top := around[len(around)-1].node
			if top != d.node && d.node < a.nodes[top].Next {
				break
			}
			around = around[:len(around)-1]
		}
		var container string
		inner := len(around) - 1
		for inner >= 0 && around[inner].node > d.within { // within is none, the greatest, where all counts
			inner--
		}
		if inner >= 0 {
			container = around[inner].path
		}
		if d.container != none {
			container = joinPath(container, a.container(d))
		}
		nameSpan := a.nameSpan(d.name)
		name := a.intern(a.src[nameSpan.Start:nameSpan.End])
		around = append(around, open{d.node, joinPath(container, dottedPath(name))})
		if d.kind == "" || name == "" {
			continue
		}
		if d.outer != led {
			led = d.outer
			start, comment = a.leading(d.outer)
		}
		doc := comment
		if d.kind == KindModule && isLicence(doc) {
			doc = "" // the head of the file, not of the package
		}
		if d.doc != none {
			doc = cleanDoc(a.src[a.nodes[d.doc].Start:a.nodes[d.doc].End])
		}
		span := a.span(d.outer)
		if start < span.Start {
			span.Start, span.StartLine = start, a.lines.line(start)
		}
		if d.node != signed.node || d.body != signed.body || d.doc != signed.doc || d.body != none || d.kind == KindSection {
			signed, signature = *d, a.signature(d)
		}
		d.symbol = len(f.Symbols)
		f.Symbols = append(f.Symbols, Symbol{
			Kind: d.kind, Name: name, Container: a.intern([]byte(container)),
			Signature: signature, Doc: doc, Span: span, NameSpan: nameSpan,
		})
	}
}

// container is the one a declaration names itself. Of a node that holds the
// declaration's name, as in void a::b::C::f(), only what stands before the name
// counts; what a template is given, as in Box<T>::put(), does not.
func (a *analysis) container(d *declaration) string {
	if d.given != "" {
		return d.given
	}
	n := a.nodes[d.container]
	if name := a.nodes[d.name].Start; n.Start < name && name < n.End {
		n.End = name
	}
	path := a.textEnd(n)
	if open := strings.IndexByte(path, '<'); open > 0 {
		if end := strings.LastIndexByte(path, '>'); end > open {
			path = path[:open] + path[end+1:]
		}
	}
	return dottedPath(path)
}

func joinPath(container, name string) string {
	if container == "" || name == "" {
		return endOf(container+name, maxPath)
	}
	return endOf(container+"."+name, maxPath)
}

// dottedPath turns "a::b", `a\b` and "*T" into the one form of containers.
func dottedPath(s string) string {
	if strings.ContainsAny(s, ":*&\\") {
		s = pathSeparators.Replace(s)
	}
	return strings.Trim(s, ". :")
}

var pathSeparators = strings.NewReplacer("::", ".", `\`, ".", "*", "", "&", "")

// adoptScopes gives each scope the symbol it belongs to, so that what an impl
// block inherits is inherited by its type.
func (a *analysis) adoptScopes(f *File) {
	types := map[string]int{}
	for i, s := range f.Symbols {
		if importance(s.Kind) == importance(KindType) {
			types[s.Name] = i
		}
	}
	for i := range a.declarations {
		d := &a.declarations[i]
		if d.kind != "" {
			continue
		}
		if symbol, ok := types[a.text(d.name)]; ok {
			d.symbol = symbol
		}
	}
}

// leading returns where a declaration starts with the comments and attributes
// right above it, and the text of those comments.
func (a *analysis) leading(outer uint32) (start uint32, doc string) {
	start = a.nodes[outer].Start
	first, last := start, start // of the comments
	for at := outer; ; {
		before := a.nodes[at].Previous
		if before == 0 {
			// The comment above the first member may be a sibling of the body
			// that starts with the member.
			parent := a.nodes[at].Parent
			if parent == at || a.nodes[parent].Start != a.nodes[at].Start {
				break
			}
			at = parent
			continue
		}
		at = before
		n := &a.nodes[at]
		if mark := a.marks[at]; mark == captureComment || mark == captureLeading {
			if !a.directlyAbove(n, start) {
				break
			}
			start = n.Start
			if mark == captureComment {
				if first == last {
					last = n.End
				}
				first = n.Start
			}
		} else if n.Start < n.End { // blank ones are line ends in some grammars
			if at = a.commentAtEnd(at); at == none || !a.directlyAbove(&a.nodes[at], start) {
				break
			}
			n = &a.nodes[at]
			if start = n.Start; first == last {
				last = n.End
			}
			first = n.Start
		}
	}
	if first == last {
		return start, ""
	}
	return start, cleanDoc(a.src[first:last])
}

// commentAtEnd returns the comment that is the last thing in a node, none if
// there is none: some grammars give it to the declaration before it.
func (a *analysis) commentAtEnd(i uint32) uint32 {
	for end := a.nodes[i].End; ; {
		child := uint32(none)
		for c := i + 1; c < a.nodes[i].Next; c = a.nodes[c].Next {
			if a.nodes[c].End == end && a.nodes[c].Start < end {
				child = c
			}
		}
		if child == none || a.marks[child] == captureComment {
			return child
		}
		i = child
	}
}

// directlyAbove tells whether n has its lines for itself and ends on the line
// above start.
func (a *analysis) directlyAbove(n *node, start uint32) bool {
	between := bytes.TrimRight(a.src[n.Start:start], " \t\r\n")
	gap := a.src[n.Start+uint32(len(between)) : start]
	return bytes.Count(gap, []byte("\n")) <= 1 && startsLine(a.src, n.Start)
}

// startsLine tells whether only blanks stand before a byte on its line. It reads no
// further back than they reach.
func startsLine(src []byte, at uint32) bool {
	for at > 0 && isSpace(src[at-1]) {
		if at--; src[at] == '\n' {
			return true
		}
	}
	return at == 0
}

const (
	// maxSignature bounds a signature, in bytes: one that is longer says no more.
	maxSignature = 300
	// readSignature bounds the text it is made of, with comments and line breaks.
	readSignature = 8 * maxSignature
)

// signature is the text from the declaration's start to its body, without the
// comments in between.
func (a *analysis) signature(d *declaration) string {
	end := a.nodes[d.node].End
	if d.body != none {
		end = a.nodes[d.body].Start
	} else if d.kind == KindSection {
		end = min(end, a.lines.end(a.lines.line(a.nodes[d.name].End), len(a.src)))
	}
	var text []byte
	at := min(a.nodes[d.outer].Start, end)
	end = min(end, at+readSignature)
	skip := func(i uint32) {
		if n := &a.nodes[i]; n.Start >= at && n.Start < end {
			text = append(text, a.src[at:n.Start]...)
			at = min(n.End, end)
		}
	}
	first, _ := slices.BinarySearch(a.comments, d.outer)
	doc := d.doc
	for _, i := range a.comments[first:] {
		if i >= a.nodes[d.outer].Next || a.nodes[i].Start >= end {
			break
		}
		if doc < i {
			skip(doc)
			doc = none
		}
		skip(i)
		a.work++
	}
	if doc != none {
		skip(doc)
	}
	text = append(text, a.src[at:end]...)
	signature, name := oneLineSignature(text), a.text(d.name)
	if d.body != none && a.nodes[d.name].Start > a.nodes[d.body].Start && !strings.Contains(signature, name) {
		signature += " … " + name // a C typedef has its name after the body
	}
	return a.intern([]byte(signature))
}

// nameSpan is a name's without the quotes or the colon of a string or symbol, and
// of C++'s "operator bool() const" the first two words.
func (a *analysis) nameSpan(i uint32) Span {
	text := a.src[a.nodes[i].Start:a.nodes[i].End]
	inner := bytes.TrimLeft(text, "\"'`:")
	end := a.nodes[i].End - uint32(len(inner)-len(bytes.TrimRight(inner, "\"'`:")))
	if before, _, ok := bytes.Cut(inner, []byte("(")); ok && bytes.HasPrefix(before, []byte("operator ")) {
		if before = bytes.TrimRight(before, " "); len(before) > len("operator") {
			end = a.nodes[i].End - uint32(len(inner)-len(before))
		}
	}
	return a.lines.span(a.nodes[i].End-uint32(len(inner)), end)
}
