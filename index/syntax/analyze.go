package syntax

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"quarry/index/lang"
	"quarry/index/syntax/query"
	"quarry/index/syntax/treesitter"
)

// Analyze returns what a file of the given language (see Detect) yields. A
// language without a grammar, and a file the parser gives up on or that is too dense,
// are read by lines. It is safe for concurrent use; the result does not refer to src.
//
// The only error is a file of 4 GB or more.
func Analyze(language string, src []byte) (*File, error) {
	if uint64(len(src)) >= math.MaxUint32 {
		return nil, ErrTooLarge
	}
	t := newTree(lang.Canonical(language), src, false)
	lines := newLineTable(src)
	l := languageFor(t.language)
	if l == nil {
		return t.analyzeLines(lines, false), nil
	}
	room := l.grammar.Room()
	nodes, release := l.grammar.NodesIn(t.parsed, l.limit(len(t.parsed)), room)
	defer release()
	if t.unparsable = nodes == nil; t.unparsable {
		t.short = shortOf(room, len(t.parsed))
		return t.analyzeLines(lines, true), nil
	}
	f, _ := t.analyzeNodes(nodes, lines)
	return f, nil
}

// captureRole is what a capture of a fact query means; doc.go describes them.
type captureRole uint8

const (
	captureDefinition captureRole = iota + 1
	captureScope
	captureName
	captureContainer
	captureWithin
	captureBody
	captureDoc
	captureWrap
	captureLeading
	captureComment
	captureImport
	captureImportPath
	captureImportName
	captureImportAlias
	captureImportGroup
	captureImportPrefix
	captureUse // the three kinds of reference, the weakest first
	captureInherit
	captureCall
	captureQualifier
	captureCount
)

var captureRoles = map[string]captureRole{
	"scope": captureScope, "name": captureName, "container": captureContainer, "within": captureWithin, "body": captureBody, "doc": captureDoc,
	"wrap": captureWrap, "leading": captureLeading, "comment": captureComment,
	"import": captureImport, "import.path": captureImportPath, "import.name": captureImportName, "import.alias": captureImportAlias,
	"import.group": captureImportGroup, "import.prefix": captureImportPrefix,
	"ref.call": captureCall, "ref.inherit": captureInherit, "ref.use": captureUse, "qualifier": captureQualifier,
}

// factQuery is a query whose captures have the roles above.
type factQuery struct {
	query *query.Query
	roles []captureRole // by capture
	kinds []Kind        // by capture, of definitions
	given []string      // by capture, of containers that the query names itself
	heads []uint16      // the symbols of language.head
}

func newFactQuery(q *query.Query) (*factQuery, error) {
	n := len(q.Captures)
	f := &factQuery{query: q, roles: make([]captureRole, n), kinds: make([]Kind, n), given: make([]string, n)}
	for i, name := range q.Captures {
		kind, isDefinition := strings.CutPrefix(name, "definition.")
		container, isContainer := strings.CutPrefix(name, "container.")
		switch r, ok := captureRoles[name]; {
		case isDefinition:
			f.roles[i], f.kinds[i] = captureDefinition, Kind(kind)
		case isContainer:
			f.roles[i], f.given[i] = captureContainer, container
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

// analysis turns the matches of a fact query into a File.
type analysis struct {
	src   []byte
	lines lineTable
	nodes []node
	query *factQuery

	marks        []captureRole // by node: roleWrap, roleLeading, roleComment, roleImportAlias
	refs         []rawRef      // in the order of matching
	refAt        []uint32      // by node: index in refs + 1
	declarations []declaration // after sort: by node
	imports      []Import
	importAt     map[uint32]int // by node: index in imports
	importNames  map[importName]bool
	groups       map[uint32]string // by node of an import group: what its paths begin with
	pathNode     uint32            // the last part of the newest import's path
	fileDoc      uint32            // the doc string of the file, none if it has none
	comments     []uint32          // the nodes of comments
	interned     map[string]string
	work         int  // nodes looked at, but those that every analysis looks at
	dense        bool // it has more facts than source of its length
}

// importName is a name that an import takes.
type importName struct {
	node uint32 // of the import
	name string
}

// analyzeTree computes everything but the chunks, or nothing of a text that is too dense.
func analyzeTree(language string, q *factQuery, nodes []node, src []byte, lines lineTable) (*analysis, *File) {
	a := &analysis{
		src: src, lines: lines, nodes: nodes, query: q,
		marks: make([]captureRole, len(nodes)), refAt: make([]uint32, len(nodes)),
		fileDoc: none, importAt: map[uint32]int{}, importNames: map[importName]bool{}, groups: map[uint32]string{}, interned: map[string]string{},
	}
	trimNodes(nodes, src)
	adoptFollowers(nodes, q.heads)
	a.work = q.query.Match(nodes, src, a.found)
	for i, mark := range a.marks {
		if mark == captureComment {
			a.comments = append(a.comments, uint32(i))
		}
	}
	f := &File{Language: language}
	a.sortDeclarations()
	if a.dense = a.hasTooMany(); a.dense {
		return a, f
	}
	a.widenToWraps()
	a.addSymbols(f)
	if language == "markdown" {
		a.nestHeadings(f)
	}
	a.adoptScopes(f)
	a.addRefs(f)
	f.Imports = a.imports
	f.Errors = a.errors()
	f.Doc = a.headDoc(f)
	return a, f
}

// found files one match.
func (a *analysis) found(pattern int, captures []query.Capture) {
	var at [captureCount]uint32
	for r := range at {
		at[r] = none
	}
	var kind Kind
	var given string
	for _, c := range captures {
		r := a.query.roles[c.ID]
		switch r {
		case 0:
			continue
		case captureComment, captureLeading, captureWrap:
			a.marks[c.Node] = r
		case captureDefinition:
			kind = a.query.kinds[c.ID]
		case captureContainer:
			given = a.query.given[c.ID]
		}
		at[r] = c.Node
	}
	if node := min(at[captureDefinition], at[captureScope]); node != none && at[captureName] != none {
		a.declarations = append(a.declarations, declaration{
			node: node, outer: node, name: at[captureName], container: at[captureContainer], within: at[captureWithin], body: at[captureBody], doc: at[captureDoc],
			given: given, pattern: pattern, kind: kind, symbol: -1,
		})
	} else if at[captureDoc] != none {
		a.fileDoc = at[captureDoc]
	}
	if at[captureImport] != none {
		a.addImport(&at)
	}
	if at[captureImportGroup] != none {
		a.addGroup(at[captureImportGroup], at[captureImportPrefix])
	}
	for r := captureUse; r <= captureCall; r++ {
		if node := at[r]; node == none || a.nodes[node].Start == a.nodes[node].End { // made up by the parser
		} else if i := a.refAt[node]; i == 0 {
			a.refs = append(a.refs, rawRef{r, at[captureQualifier]})
			a.refAt[node] = uint32(len(a.refs))
		} else if r > a.refs[i-1].role {
			a.refs[i-1] = rawRef{r, at[captureQualifier]}
		}
	}
}

// addImport adds to the import at the node the match names: a statement that
// takes several names matches once for each.
func (a *analysis) addImport(at *[captureCount]uint32) {
	i, ok := a.importAt[at[captureImport]]
	if !ok {
		i = len(a.imports)
		a.importAt[at[captureImport]] = i
		a.imports = append(a.imports, Import{Span: a.span(at[captureImport])})
	}
	b := &a.imports[i]
	if at[captureImportPath] != none {
		switch node := at[captureImportPath]; {
		case b.Path == "":
			b.Path, a.pathNode = endOf(a.groupAround(at[captureImport])+a.importPath(node), maxPath), node
		case node > a.pathNode && a.nodes[node].Parent == a.nodes[a.pathNode].Parent:
			b.Path, a.pathNode = endOf(b.Path+"."+a.importPath(node), maxPath), node
		}
	}
	if at[captureImportAlias] != none {
		b.Alias = a.text(at[captureImportAlias])
		a.marks[at[captureImportAlias]] = captureImportAlias
	}
	if at[captureImportName] != none {
		if name := (importName{at[captureImport], a.text(at[captureImportName])}); !a.importNames[name] {
			a.importNames[name] = true
			b.Names = append(b.Names, name.name)
		}
	}
}

func (a *analysis) importPath(i uint32) string {
	return strings.Trim(a.textEnd(a.nodes[i]), "\"'`<>\\")
}

// addGroup notes what the paths in a group begin with: the prefixes of the groups
// around it and its own, as in Rust's use a::{b::{c::D}}. Groups are found from the
// outermost inwards.
func (a *analysis) addGroup(group, prefix uint32) {
	own := bytes.TrimSpace(a.src[a.nodes[prefix].Start:a.nodes[group].Start])
	a.groups[group] = endOf(a.groupAround(group)+a.intern(own), maxPath)
}

// groupAround returns what the paths in the import group around a node begin with.
// A group is one or two nodes above what stands in it.
func (a *analysis) groupAround(i uint32) string {
	for range maxGroupLevels {
		if i = a.nodes[i].Parent; i == 0 {
			break
		}
		if prefix, ok := a.groups[i]; ok {
			return prefix
		}
	}
	return ""
}

const (
	// maxGroupLevels is how far above a node its import group is looked for.
	maxGroupLevels = 4
	// maxPath bounds a container and the path of an import, in bytes. They grow with
	// the depth of a text, so that those of a deep one would be longer than the text
	// by a factor; the end is what tells two apart, and what is looked up.
	maxPath = 300
)

// endOf is the end of a path of at most n bytes, from the start of one of its
// names if that is near.
func endOf(path string, n int) string {
	if len(path) <= n {
		return path
	}
	path = path[len(path)-n:]
	if i := strings.IndexAny(path[:n/2], "./:\\"); i >= 0 {
		path = strings.TrimLeft(path[i:], "./:\\")
	}
	for path != "" && !utf8.RuneStart(path[0]) {
		path = path[1:]
	}
	return path
}

// errors lists the outermost unparsable and missing nodes.
func (a *analysis) errors() []Span {
	var spans []Span
	for i := 0; i < len(a.nodes); i++ {
		if n := &a.nodes[i]; n.Symbol == treesitter.SymbolError || n.Missing {
			spans = append(spans, a.span(uint32(i)))
			i = int(n.Next) - 1
		}
	}
	return spans
}

func (a *analysis) text(i uint32) string {
	return a.intern(a.src[a.nodes[i].Start:a.nodes[i].End])
}

// textEnd is what a path of a node's text may keep of it.
func (a *analysis) textEnd(n node) string {
	return a.intern(a.src[max(n.Start, n.End-min(n.End, 2*maxPath)):n.End])
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
	return a.lines.span(a.nodes[i].Start, a.nodes[i].End)
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
