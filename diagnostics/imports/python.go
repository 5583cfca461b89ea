package imports

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// python is Python. A module is told by its dotted name from the outermost package on, also
// where an import is relative; how it is written is decided by the document.
type python struct{}

func (python) mayGive(p, name string) bool {
	first, _, _ := strings.Cut(p, ".")
	return first == name
}

func (l python) gives(s *search, file string, im *syntax.Import) (given, bool) {
	name := s.unknown.name
	module, relative := im.Path, strings.HasPrefix(im.Path, ".")
	if relative {
		var ok bool
		if module, ok = s.absolute(file, module); !ok {
			return given{}, false
		}
	}
	g := given{module: module}
	switch {
	case len(im.Names) == 0 && im.Alias == name:
		g.local = name
	case len(im.Names) == 0 && im.Alias == "" && l.mayGive(im.Path, name):
		if strings.Contains(module, ".") && s.unknown.path != module && !strings.HasPrefix(s.unknown.path, module+".") {
			return given{}, false // import a.b for the sake of b
		}
	case im.Alias == name:
		if g.name = im.Names[0]; g.name != name {
			g.local = name
		}
	case im.Alias == "" && slices.Contains(im.Names, name):
		g.name = name
	default:
		return given{}, false
	}
	if own, _ := s.moduleOf(s.doc.rel); module == own {
		return given{}, false
	}
	if relative {
		s.relative++
	} else {
		s.relative--
	}
	return g, true
}

// pythonPackage is where a document of Python lies.
type pythonPackage struct {
	// own are the names of the package that its relative imports begin at, none if it is in none.
	own []string
	// relative: the files that import the unknown name within the package do so by relative paths.
	relative bool
	isLocal  func(first string) bool
}

// pythonPackage is the document's. The evidence has been counted.
func (s *search) pythonPackage() (p pythonPackage) {
	module, in := s.moduleOf(s.doc.rel)
	if in {
		p.own = strings.Split(module, ".")
		if stem, _, _ := strings.Cut(path.Base(s.doc.rel), "."); stem != "__init__" {
			p.own = p.own[:len(p.own)-1]
		}
	}
	p.relative = s.relative > 0
	p.isLocal = func(first string) bool {
		if len(p.own) > 0 && first == p.own[0] {
			return true
		}
		dirs := []string{"", "src"}
		if len(p.own) == 0 { // a program finds what lies beside it
			dirs = append(dirs, s.doc.dir())
		}
		for _, dir := range dirs {
			if _, ok := s.snap.FileAt(path.Join(dir, first+".py")); ok || s.isPackage(path.Join(dir, first)) {
				return true
			}
		}
		return false
	}
	return p
}

// pythonModule is what moduleOf answers.
type pythonModule struct {
	name      string
	inPackage bool
}

// moduleOf is the dotted name of a file from the outermost package around it on, and whether
// it is in one.
func (s *search) moduleOf(file string) (module string, inPackage bool) {
	m, known := s.modules[file]
	if !known {
		m.name, m.inPackage = s.readModule(file)
		if s.modules == nil {
			s.modules = map[string]pythonModule{}
		}
		s.modules[file] = m
	}
	return m.name, m.inPackage
}

func (s *search) readModule(file string) (module string, inPackage bool) {
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	dir := path.Dir(file)
	var parts []string
	if stem != "__init__" {
		parts = []string{stem}
	}
	for dir != "." && s.isPackage(dir) {
		parts = append(parts, path.Base(dir))
		dir = path.Dir(dir)
		inPackage = true
	}
	slices.Reverse(parts)
	return strings.Join(parts, "."), inPackage
}

func (s *search) isPackage(dir string) bool {
	for _, init := range []string{"__init__.py", "__init__.pyi"} {
		if _, ok := s.snap.FileAt(path.Join(dir, init)); ok {
			return true
		}
	}
	return false
}

// absolute is the dotted name of a relative module as a file writes it.
func (s *search) absolute(file, module string) (string, bool) {
	own, ok := s.moduleOf(file)
	parts := strings.Split(own, ".")
	if strings.TrimSuffix(path.Base(file), path.Ext(file)) != "__init__" {
		parts = parts[:len(parts)-1]
	}
	rest := module
	for rest = rest[1:]; strings.HasPrefix(rest, "."); rest = rest[1:] {
		if len(parts) == 0 {
			return "", false
		}
		parts = parts[:len(parts)-1]
	}
	if !ok || len(parts) == 0 {
		return "", false
	}
	if rest != "" {
		parts = append(parts[:len(parts):len(parts)], rest)
	}
	return strings.Join(parts, "."), true
}

var (
	pythonFrom   = regexp.MustCompile(`(?s)^from\s+(\.*[\p{L}\p{N}_.]*)\s+import\s*`)
	typeChecking = regexp.MustCompile(`^if\s+(?:\w+\.)?TYPE_CHECKING\s*:`)
)

// form finds out whether the import stands below `if TYPE_CHECKING`.
func (python) form(text string, im *syntax.Import, g given) given {
	last := im.Path
	if g.name != "" {
		last = g.name
	}
	guarded := false
	inside := false
	for line := range strings.Lines(text) {
		code := strings.TrimSpace(line)
		switch {
		case typeChecking.MatchString(line):
			inside = true
		case code != "" && line[0] != ' ' && line[0] != '\t' && !strings.HasPrefix(code, ")") && !strings.HasPrefix(code, "#"):
			inside = false
			if (strings.HasPrefix(code, "from ") || strings.HasPrefix(code, "import ")) && indexWord(code, last) >= 0 {
				return g
			}
		case inside && indexWord(code, last) >= 0:
			guarded = true
		}
	}
	if guarded {
		g.form = typeOnly
	}
	return g
}

func (python) what(d *document, g given) string {
	what := g.module
	if g.name != "" {
		what = g.name
	}
	if g.local != "" {
		what += " as " + g.local
	}
	if g.name != "" {
		what += " from " + d.pythonModule(g.module)
	}
	return what
}

// declared are the modules that declare the name, and those that are called so.
func (l python) declared(s *search) (ways []way) {
	name := s.unknown.name
	own, _ := s.moduleOf(s.doc.rel)
	first, _, _ := strings.Cut(own, ".")
	for _, d := range s.declarations(name) {
		module, inPackage := s.moduleOf(d.file)
		if d.Container != "" || !inPackage || module == own || lang.IsTest(d.file) || s.unknown.isVague && !strings.HasPrefix(name, "_") {
			continue
		}
		if within, _, _ := strings.Cut(module, "."); within == first || !strings.HasPrefix(name, "_") {
			ways = append(ways, way{given: given{module: module, name: name}, declared: d.file})
		}
	}
	if dir := s.doc.dir(); s.unknown.member != "" && s.isPackage(dir) {
		module, _ := s.moduleOf(path.Join(dir, "__init__.py"))
		if file := path.Join(dir, name+".py"); s.isFile(file) && file != s.doc.rel {
			ways = append(ways, way{given: given{module: module, name: name}, declared: file})
		}
	}
	if is, _ := lang.PythonLibrary(s.unknown.name); is && s.unknown.member != "" {
		ways = append(ways, way{given: given{module: s.unknown.name}, library: true})
	}
	return ways
}

// pythonOrder is isort's, which ruff has taken over: `import a` before `from a import b`, or
// both by module.
var pythonOrder = order{
	rules: []func(a, b string) bool{
		func(a, b string) bool { return pythonLess(a, b, true, pythonNames) },
		func(a, b string) bool { return pythonLess(a, b, true, caseless) },
		func(a, b string) bool { return pythonLess(a, b, false, pythonNames) },
		func(a, b string) bool { return pythonLess(a, b, false, caseless) },
	},
}

// pythonLess compares keys, "import a" and "from a b".
func pythonLess(a, b string, sections bool, nameLess func(a, b string) bool) bool {
	how, x, _ := strings.Cut(a, " ")
	hows, y, _ := strings.Cut(b, " ")
	x, name, _ := strings.Cut(x, " ")
	y, names, _ := strings.Cut(y, " ")
	if sections && how != hows {
		return how == "import"
	}
	dots := func(m string) int { return len(m) - len(strings.TrimLeft(m, ".")) }
	if n, m := dots(x), dots(y); n != m {
		return n > m
	}
	if x, y := strings.ToLower(x), strings.ToLower(y); x != y {
		return x < y
	}
	if how != hows {
		return how == "import"
	}
	return nameLess(name, names)
}

// pythonClass are isort's sections.
func pythonClass(module string, local func(first string) bool) int {
	first, _, _ := strings.Cut(module, ".")
	library, _ := lang.PythonLibrary(module)
	switch {
	case module == "__future__":
		return 0
	case strings.HasPrefix(module, "."):
		return 4
	case library:
		return 1
	case local(first):
		return 3
	}
	return 2
}

// pythonStatement is an import of the document.
type pythonStatement struct {
	start, end int
	module     string // as written
	from       bool
	names      string // the first is enough for the order
	indent     int
	guarded    bool // stands below if TYPE_CHECKING
}

func (st pythonStatement) key() string {
	if !st.from {
		return "import " + st.module
	}
	return "from " + st.module + " " + strings.TrimLeft(st.names[:min(len(st.names), longestKey)], "( \r\n\t")
}

// longestKey is how much of a statement is looked at for its place: in broken code it may reach to the
// end of the text, as those behind it do.
const longestKey = 1000

var pythonStart = regexp.MustCompile(`(?m)^[ \t]*(?:from|import)\b`)

func (d *document) readPythonStatements() (list []pythonStatement) {
	starts := pythonStart.FindAllStringIndex(d.Text, -1)
	for _, span := range d.statements() {
		// The span may be that of one name alone.
		_, next := d.line(int(span.Start))
		i, _ := slices.BinarySearchFunc(starts, next, func(start []int, next int) int { return start[0] - next })
		if i == 0 {
			continue
		}
		line := starts[i-1][0]
		st := pythonStatement{indent: d.indent(line)}
		st.start = line + st.indent
		if n := len(list); n > 0 && list[n-1].start == st.start {
			continue
		}
		_, next = d.line(st.start)
		st.end = st.start + len(strings.TrimRight(d.Text[st.start:next], "\r\n"))
		if open := strings.IndexByte(d.Text[st.start:st.end], '('); open >= 0 {
			shut := strings.IndexByte(d.Text[st.start:], ')')
			if shut < 0 {
				continue
			}
			st.end = st.start + shut + 1
		} else if st.end < int(span.End) {
			st.end = int(span.End)
		}
		text := d.Text[st.start:st.end]
		if m := pythonFrom.FindStringSubmatch(text); m != nil {
			st.from, st.module, st.names = true, m[1], text[len(m[0]):]
		} else if words := strings.Fields(text[:min(len(text), longestKey)]); len(words) > 1 && words[0] == "import" {
			st.module = strings.Trim(words[1], ",;")
		} else {
			continue
		}
		st.guarded = st.indent > 0 && d.isGuarded(line)
		list = append(list, st)
	}
	return list
}

// mostAbove is how many lines above an import are searched for the condition that it stands below.
const mostAbove = 2000

// isGuarded answers whether the line with an offset stands below if TYPE_CHECKING.
func (d *document) isGuarded(at int) bool {
	above, _ := d.line(at)
	indent := d.indent(at)
	for range mostAbove {
		if above == 0 {
			break
		}
		before, _ := d.line(above - 1)
		if line := d.Text[before:above]; strings.TrimSpace(line) != "" && d.indent(before) < indent {
			return typeChecking.MatchString(line)
		}
		above = before
	}
	return false
}

// pythonImports are the statements at the head of a document, or those for type checkers.
func (d *document) pythonImports(guarded bool) (head []pythonStatement) {
	code := len(d.Text) // of the first declaration: imports behind it are not the head's
	for _, s := range d.file.Symbols {
		if s.Container == "" && (s.Kind == syntax.KindFunction || s.Kind == syntax.KindClass) {
			code = min(code, int(s.Span.Start))
		}
	}
	for _, st := range d.pythonStatements() {
		if guarded && st.guarded || !guarded && st.indent == 0 && st.start < code {
			head = append(head, st)
		}
	}
	return head
}

func (d *document) pythonList(head []pythonStatement) []entry {
	places := make([][2]int, len(head))
	for i, st := range head {
		places[i] = [2]int{st.start, st.end}
	}
	return d.entries(places, func(i int) (string, int) { return head[i].key(), pythonClass(head[i].module, d.pkg.isLocal) })
}

func (python) list(d *document) []entry { return d.pythonList(d.pythonImports(false)) }

var guardLine = regexp.MustCompile(`(?m)^if\s+(?:\w+\.)?TYPE_CHECKING\s*:[^\n]*\n`)

func (l python) add(d *document, g given) ([]agent.TextEdit, bool) {
	module := d.pythonModule(g.module)
	guard := guardLine.FindStringIndex(d.Text)
	isGuarded := g.form == typeOnly && guard != nil
	head := d.pythonImports(isGuarded)
	name := g.name
	if g.local != "" && name != "" {
		name += " as " + g.local
	}
	if name != "" && !d.isSingleLine(head) {
		for _, st := range head {
			// isort keeps a name with another apart.
			if as := strings.Contains(st.names, " as "); st.from && st.module == module && as == (g.local != "") && !(as && !strings.Contains(st.names, ",")) {
				if e, ok := d.pythonMerge(st, name); ok {
					return []agent.TextEdit{e}, true
				}
			}
		}
	}
	st := pythonStatement{from: true, module: module, names: name}
	statement := fmt.Sprintf("from %s import %s", module, name)
	if name == "" {
		st = pythonStatement{module: g.module}
		if statement = "import " + g.module; g.local != "" {
			statement += " as " + g.local
		}
	}
	switch {
	case isGuarded && len(head) == 0:
		return []agent.TextEdit{d.insert(spot{at: guard[1]}, "    "+statement)}, true
	case len(head) == 0:
		return []agent.TextEdit{d.insert(d.first(d.pythonHead()), statement)}, true
	case isGuarded:
		start, _ := d.line(head[0].start)
		statement = d.Text[start:start+head[0].indent] + statement
	}
	at := pythonOrder.place(d.pythonList(head), st.key(), pythonClass(st.module, d.pkg.isLocal), d.isApart(l, true))
	return []agent.TextEdit{d.insert(at, statement)}, true
}

// isSingleLine answers whether the document imports each name by a line of its own, or its examples
// where it does not show.
func (d *document) isSingleLine(head []pythonStatement) bool {
	votes := singleLines(head)
	for _, example := range d.examples() {
		if votes == 0 {
			votes = singleLines(example.pythonImports(false))
		}
	}
	return votes > 0
}

// singleLines counts the modules that statements of one name each take from, less the statements
// of several names.
func singleLines(head []pythonStatement) (votes int) {
	seen := map[string]bool{}
	for _, st := range head {
		switch {
		case !st.from || strings.Contains(st.names, " as "):
		case strings.Contains(st.names, ","):
			votes--
		case seen[st.module]:
			votes++
		}
		seen[st.module] = true
	}
	return votes
}

// pythonMerge adds a name to `from m import a`.
func (d *document) pythonMerge(st pythonStatement, name string) (agent.TextEdit, bool) {
	text := d.Text[st.start:st.end]
	begin := len(pythonFrom.FindString(text))
	start, end := st.start+begin, st.end
	inside := strings.HasPrefix(text[begin:], "(")
	if inside {
		closing := strings.LastIndexByte(text, ')')
		if closing < 0 {
			return agent.TextEdit{}, false
		}
		start, end = start+1, st.start+closing
	} else if strings.ContainsAny(text, "\\\n") || strings.HasPrefix(text[begin:], "*") {
		return agent.TextEdit{}, false
	}
	list := listed(d.Text, start, end)
	e := list.with(name, d.eol, pythonNames, caseless, ascending)
	line, next := d.line(st.start)
	long := len(strings.TrimRight(d.Text[line:next], "\r\n")) + len(e.New)
	if inside || long <= d.widest(88) {
		return e, true
	}
	var b strings.Builder // as black does
	items := make([]string, 0, len(list.items)+1)
	for _, it := range list.items {
		if it.start >= e.Start && !slices.Contains(items, name) {
			items = append(items, name)
		}
		items = append(items, it.text)
	}
	if !slices.Contains(items, name) {
		items = append(items, name)
	}
	indent := strings.Repeat(" ", st.indent)
	b.WriteString("(" + d.eol)
	for _, it := range items {
		b.WriteString(indent + "    " + it + "," + d.eol)
	}
	b.WriteString(indent + ")")
	return agent.TextEdit{Start: start, End: end, New: b.String()}, true
}

// widest is how wide a line of imports may become: as far as the formatter's usual, or as the
// widest that is there.
func (d *document) widest(usual int) int {
	for _, st := range d.statements() {
		start, next := d.line(int(st.Start))
		if int(st.End) <= next {
			usual = max(usual, len(strings.TrimRight(d.Text[start:next], "\r\n")))
		}
	}
	return usual
}

// pythonNames is isort's order of names: constants, classes, the rest.
func pythonNames(a, b string) bool {
	class := func(n string) int {
		n, _, _ = strings.Cut(n, " ")
		switch {
		case len(n) > 1 && n == strings.ToUpper(n) && strings.ToLower(n) != n:
			return 0
		case isCapital(n):
			return 1
		}
		return 2
	}
	if x, y := class(a), class(b); x != y {
		return x < y
	}
	return caseless(a, b)
}

// pythonModule is how the document writes a module: relative if it writes others of its own
// package so.
func (d *document) pythonModule(module string) string {
	own := d.pkg.own
	parts := strings.Split(module, ".")
	if len(own) == 0 || parts[0] != own[0] {
		return module
	}
	relative, absolute := 0, 0
	for _, st := range d.pythonStatements() {
		if strings.HasPrefix(st.module, ".") {
			relative++
		} else if first, _, _ := strings.Cut(st.module, "."); first == own[0] && st.from {
			absolute++
		}
	}
	if absolute > relative || absolute == relative && !d.pkg.relative {
		return module
	}
	same := 0
	for same < len(own) && same < len(parts) && own[same] == parts[same] {
		same++
	}
	return strings.Repeat(".", len(own)-same+1) + strings.Join(parts[same:], ".")
}

var pythonString = regexp.MustCompile(`(?s)^[rRuUbB]{0,2}(?:""".*?"""|'''.*?'''|"[^"\n]*"|'[^'\n]*')[ \t]*(?:#[^\n]*)?\r?\n?`)

// afterFuture is behind the imports of the future that begin at an offset, but for blank lines; none
// if there are none.
func (d *document) afterFuture(at, none int) int {
	for at < len(d.Text) {
		_, next := d.line(at)
		line := strings.TrimSpace(d.Text[at:next])
		if strings.HasPrefix(line, "from __future__ import") {
			none = next
		} else if line != "" {
			break
		}
		at = next
	}
	return none
}

// pythonHead is behind the comments and the doc string at the beginning.
func (d *document) pythonHead() int {
	at := 0
	for at < len(d.Text) {
		_, next := d.line(at)
		line := strings.TrimSpace(d.Text[at:next])
		if line != "" && !strings.HasPrefix(line, "#") {
			break
		}
		at = next
	}
	if m := pythonString.FindString(d.Text[at:]); m != "" {
		at += len(m)
		return d.afterFuture(at, at)
	}
	if end := d.afterFuture(at, -1); end >= 0 {
		return end
	}
	return d.head(0, func(line string) bool { return strings.HasPrefix(line, "#!") || strings.Contains(line, "coding:") })
}
