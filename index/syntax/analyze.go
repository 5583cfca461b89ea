package syntax

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Analyze returns what a file of the given language (see Detect) yields. A
// language without a grammar, and a file the parser gives up on, are read by
// lines. It is safe for concurrent use; the result does not refer to src.
//
// The only error is a file of 4 GB or more.
func Analyze(language string, src []byte) (*File, error) {
	tree, err := Parse(language, src)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	return tree.Analyze(), nil
}

// role is what a capture of a fact query means; doc.go describes them.
type role uint8

const (
	roleDefinition role = iota + 1
	roleScope
	roleName
	roleContainer
	roleBody
	roleDoc
	roleWrap
	roleLeading
	roleComment
	roleImport
	roleImportPath
	roleImportName
	roleImportAlias
	roleUse // the three kinds of reference, the weakest first
	roleInherit
	roleCall
	roleQualifier
	roleCount
)

var roleNames = map[string]role{
	"scope": roleScope, "name": roleName, "container": roleContainer, "body": roleBody, "doc": roleDoc,
	"wrap": roleWrap, "leading": roleLeading, "comment": roleComment,
	"import": roleImport, "import.path": roleImportPath, "import.name": roleImportName, "import.alias": roleImportAlias,
	"ref.call": roleCall, "ref.inherit": roleInherit, "ref.use": roleUse, "qualifier": roleQualifier,
}

var refKinds = [roleCount]RefKind{roleCall: RefCall, roleInherit: RefInherit, roleUse: RefUse}

// factQuery is a query whose captures have the roles above.
type factQuery struct {
	query *query
	roles []role // by capture
	kinds []Kind // by capture, of definitions
}

func newFactQuery(q *query) (*factQuery, error) {
	f := &factQuery{query: q, roles: make([]role, len(q.captures)), kinds: make([]Kind, len(q.captures))}
	for i, name := range q.captures {
		kind, isDefinition := strings.CutPrefix(name, "definition.")
		switch r, ok := roleNames[name]; {
		case isDefinition:
			f.roles[i], f.kinds[i] = roleDefinition, Kind(kind)
		case ok:
			f.roles[i] = r
		case !strings.HasPrefix(name, "_"): // those serve predicates only
			return nil, fmt.Errorf("the capture @%s has no meaning", name)
		}
	}
	return f, nil
}

// none is the node index of what a match does not capture.
const none = math.MaxUint32

// declaration is a match of a definition or a scope.
type declaration struct {
	node, name, container, body, doc uint32
	outer                            uint32 // node, or the wrap around it
	pattern                          int
	kind                             Kind // "" for a scope, which only names what is inside
	symbol                           int  // in File.Symbols; for a scope the type it extends, -1 if that is not here
}

// analysis turns the matches of a fact query into a File.
type analysis struct {
	src   []byte
	lines lineTable
	nodes []node
	query *factQuery

	marks        []role        // by node: roleWrap, roleLeading, roleComment
	refs         []rawRef      // in the order of matching
	refAt        []uint32      // by node: index in refs + 1
	declarations []declaration // after sort: by node
	imports      []Import
	importAt     map[uint32]int // by node: index in imports
	pathNode     uint32         // the last part of the newest import's path
	fileDoc      uint32         // the doc string of the file, none if it has none
	interned     map[string]string
}

type rawRef struct {
	role      role
	qualifier uint32
}

// analyzeTree computes everything but the chunks.
func analyzeTree(language string, q *factQuery, nodes []node, src []byte, lines lineTable) (*analysis, *File) {
	a := &analysis{
		src: src, lines: lines, nodes: nodes, query: q,
		marks: make([]role, len(nodes)), refAt: make([]uint32, len(nodes)),
		fileDoc: none, importAt: map[uint32]int{}, interned: map[string]string{},
	}
	trimNodes(nodes, src)
	m := matcher{query: q.query, nodes: nodes, src: src, found: a.found}
	m.run()
	a.sortDeclarations()
	a.widenToWraps()
	f := &File{Language: language}
	a.addSymbols(f)
	a.adoptScopes(f)
	a.addRefs(f)
	f.Imports = a.imports
	f.Errors = a.errors()
	f.Doc = a.headDoc(f)
	return a, f
}

// found files one match.
func (a *analysis) found(pattern int, captures []capture) {
	var at [roleCount]uint32
	for r := range at {
		at[r] = none
	}
	var kind Kind
	for _, c := range captures {
		r := a.query.roles[c.id]
		switch r {
		case 0:
			continue
		case roleComment, roleLeading, roleWrap:
			a.marks[c.node] = r
		case roleDefinition:
			kind = a.query.kinds[c.id]
		}
		at[r] = c.node
	}
	if node := min(at[roleDefinition], at[roleScope]); node != none && at[roleName] != none {
		a.declarations = append(a.declarations, declaration{
			node: node, outer: node, name: at[roleName], container: at[roleContainer], body: at[roleBody], doc: at[roleDoc],
			pattern: pattern, kind: kind, symbol: -1,
		})
	} else if at[roleDoc] != none {
		a.fileDoc = at[roleDoc]
	}
	if at[roleImport] != none {
		a.addImport(&at)
	}
	for r := roleUse; r <= roleCall; r++ {
		if node := at[r]; node == none {
		} else if i := a.refAt[node]; i == 0 {
			a.refs = append(a.refs, rawRef{r, at[roleQualifier]})
			a.refAt[node] = uint32(len(a.refs))
		} else if r > a.refs[i-1].role {
			a.refs[i-1] = rawRef{r, at[roleQualifier]}
		}
	}
}

// addImport adds to the import at the node the match names: a statement that
// takes several names matches once for each.
func (a *analysis) addImport(at *[roleCount]uint32) {
	i, ok := a.importAt[at[roleImport]]
	if !ok {
		i = len(a.imports)
		a.importAt[at[roleImport]] = i
		a.imports = append(a.imports, Import{Span: a.span(at[roleImport])})
	}
	b := &a.imports[i]
	if at[roleImportPath] != none {
		path := strings.Trim(a.text(at[roleImportPath]), "\"'`<>\\")
		switch node := at[roleImportPath]; {
		case b.Path == "":
			b.Path, a.pathNode = path, node
		case node > a.pathNode && a.nodes[node].parent == a.nodes[a.pathNode].parent:
			b.Path, a.pathNode = b.Path+"."+path, node
		}
	}
	if at[roleImportAlias] != none {
		b.Alias = a.text(at[roleImportAlias])
	}
	if at[roleImportName] != none {
		if name := a.text(at[roleImportName]); !slices.Contains(b.Names, name) {
			b.Names = append(b.Names, name)
		}
	}
}

// sortDeclarations orders them as the text does and keeps, of those with the
// same name node, the one whose pattern stands first in the query.
func (a *analysis) sortDeclarations() {
	slices.SortFunc(a.declarations, func(x, y declaration) int {
		if x.name != y.name {
			return int(x.name) - int(y.name)
		}
		return x.pattern - y.pattern
	})
	a.declarations = slices.CompactFunc(a.declarations, func(x, y declaration) bool { return x.name == y.name })
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
			if p := a.nodes[d.node].parent; a.marks[p] == roleWrap {
				inside[p]++
			}
		}
	}
	for i := range a.declarations {
		d := &a.declarations[i]
		for p := a.nodes[d.outer].parent; a.marks[p] == roleWrap && inside[p] <= 1 && p != d.outer; p = a.nodes[p].parent {
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
	for i := range a.declarations {
		d := &a.declarations[i]
		for len(around) > 0 {
			top := around[len(around)-1].node
			if top != d.node && d.node < a.nodes[top].next {
				break
			}
			around = around[:len(around)-1]
		}
		var container string
		if len(around) > 0 {
			container = around[len(around)-1].path
		}
		if d.container != none {
			container = joinPath(container, dottedPath(a.text(d.container)))
		}
		nameSpan := a.nameSpan(d.name)
		name := a.intern(a.src[nameSpan.Start:nameSpan.End])
		around = append(around, open{d.node, joinPath(container, dottedPath(name))})
		if d.kind == "" || name == "" {
			continue
		}
		start, doc := a.leading(d.outer)
		if d.kind == KindModule && isLicence(doc) {
			doc = "" // the head of the file, not of the package
		}
		if d.doc != none {
			doc = cleanDoc(a.src[a.nodes[d.doc].start:a.nodes[d.doc].end])
		}
		span := a.span(d.outer)
		if start < span.Start {
			span.Start, span.StartLine = start, a.lines.line(start)
		}
		d.symbol = len(f.Symbols)
		f.Symbols = append(f.Symbols, Symbol{
			Kind: d.kind, Name: name, Container: a.intern([]byte(container)),
			Signature: a.signature(d), Doc: doc, Span: span, NameSpan: nameSpan,
		})
	}
}

func joinPath(container, name string) string {
	if container == "" || name == "" {
		return container + name
	}
	return container + "." + name
}

// dottedPath turns "a::b", `a\b` and "*T" into the one form of containers.
func dottedPath(s string) string {
	if strings.ContainsAny(s, ":*&\\") {
		s = pathSeparators.Replace(s)
	}
	return strings.Trim(s, ". ")
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
	start = a.nodes[outer].start
	first, last := start, start // of the comments
	for at := outer; ; {
		before := a.nodes[at].previous
		if before == 0 {
			// The comment above the first member may be a sibling of the body
			// that starts with the member.
			parent := a.nodes[at].parent
			if parent == at || a.nodes[parent].start != a.nodes[at].start {
				break
			}
			at = parent
			continue
		}
		at = before
		n := &a.nodes[at]
		if mark := a.marks[at]; mark == roleComment || mark == roleLeading {
			if !a.directlyAbove(n, start) {
				break
			}
			start = n.start
			if mark == roleComment {
				if first == last {
					last = n.end
				}
				first = n.start
			}
		} else if n.start < n.end { // blank ones are line ends in some grammars
			if at = a.commentAtEnd(at); at == none || !a.directlyAbove(&a.nodes[at], start) {
				break
			}
			n = &a.nodes[at]
			if start = n.start; first == last {
				last = n.end
			}
			first = n.start
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
	for end := a.nodes[i].end; ; {
		child := uint32(none)
		for c := i + 1; c < a.nodes[i].next; c = a.nodes[c].next {
			if a.nodes[c].end == end && a.nodes[c].start < end {
				child = c
			}
		}
		if child == none || a.marks[child] == roleComment {
			return child
		}
		i = child
	}
}

// directlyAbove tells whether n has its lines for itself and ends on the line
// above start.
func (a *analysis) directlyAbove(n *node, start uint32) bool {
	between := bytes.TrimRight(a.src[n.start:start], " \t\r\n")
	gap := a.src[n.start+uint32(len(between)) : start]
	before := a.src[a.lines.start(a.lines.line(n.start)):n.start]
	return bytes.Count(gap, []byte("\n")) <= 1 && len(bytes.TrimSpace(before)) == 0
}

// maxSignature bounds a signature, in bytes: one that is longer says no more.
const maxSignature = 300

// signature is the text from the declaration's start to its body, without the
// comments in between.
func (a *analysis) signature(d *declaration) string {
	end := a.nodes[d.node].end
	if d.body != none {
		end = a.nodes[d.body].start
	} else if d.kind == KindSection {
		end = min(end, a.lines.end(a.lines.line(a.nodes[d.name].end), len(a.src)))
	}
	var text []byte
	at := min(a.nodes[d.outer].start, end)
	for i := d.outer; i < a.nodes[d.outer].next && a.nodes[i].start < end && len(text) < 4*maxSignature; i++ {
		if n := &a.nodes[i]; n.start >= at && (a.marks[i] == roleComment || i == d.doc) {
			text = append(text, a.src[at:n.start]...)
			at = min(n.end, end)
		}
	}
	text = append(text, a.src[at:end][:min(int(end-at), 4*maxSignature)]...)
	signature, name := foldSignature(text), a.text(d.name)
	if d.body != none && a.nodes[d.name].start > a.nodes[d.body].start && !strings.Contains(signature, name) {
		signature += " … " + name // a C typedef has its name after the body
	}
	return a.intern([]byte(signature))
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
		for len(around) > 0 && a.nodes[around[len(around)-1].outer].next <= uint32(node) {
			around = around[:len(around)-1]
		}
		ref := Ref{Kind: refKinds[a.refs[r-1].role], Name: a.text(uint32(node)), From: -1, Span: a.span(uint32(node))}
		if len(around) > 0 {
			ref.From = around[len(around)-1].symbol
		}
		if q := a.refs[r-1].qualifier; q != none {
			ref.Qualifier = a.qualifier(q)
		}
		f.Refs = append(f.Refs, ref)
	}
}

// qualifier is the text of a node, or its last word where it is more than a
// path: the "then" of a chained call.
func (a *analysis) qualifier(i uint32) string {
	text := a.src[a.nodes[i].start:a.nodes[i].end]
	if len(text) > 64 || bytes.ContainsAny(text, "\n\r") {
		text = bytes.TrimRight(text, ")]}> \t\r\n")
		text = text[bytes.LastIndexFunc(text, func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) })+1:]
	}
	return a.intern(text)
}

// errors lists the outermost unparsable and missing nodes.
func (a *analysis) errors() []Span {
	var spans []Span
	for i := 0; i < len(a.nodes); i++ {
		if n := &a.nodes[i]; n.symbol == symbolError || n.missing {
			spans = append(spans, a.span(uint32(i)))
			i = int(n.next) - 1
		}
	}
	return spans
}

func (a *analysis) text(i uint32) string {
	return a.intern(a.src[a.nodes[i].start:a.nodes[i].end])
}

// intern shares equal strings: names repeat within a file.
func (a *analysis) intern(text []byte) string {
	if s, ok := a.interned[string(text)]; ok {
		return s
	}
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	a.interned[string(text)] = s
	return s
}

func (a *analysis) span(i uint32) Span {
	return a.lines.span(a.nodes[i].start, a.nodes[i].end)
}

// nameSpan is a name's without the quotes or the colon of a string or symbol.
func (a *analysis) nameSpan(i uint32) Span {
	text := a.src[a.nodes[i].start:a.nodes[i].end]
	inner := bytes.TrimLeft(text, "\"'`:")
	end := a.nodes[i].end - uint32(len(inner)-len(bytes.TrimRight(inner, "\"'`:")))
	return a.lines.span(a.nodes[i].end-uint32(len(inner)), end)
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
