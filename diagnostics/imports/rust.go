package imports

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// rust is Rust. What is of the document's crate is told by its path from the crate's root on.
type rust struct{}

func (rust) mayGive(p, name string) bool {
	return p == name || strings.HasSuffix(p, "::"+name)
}

func (l rust) gives(s *search, file string, im *syntax.Import) (given, bool) {
	name := s.unknown.name
	p := strings.TrimPrefix(im.Path, "::")
	g := given{module: p}
	switch {
	case im.Alias == name && im.Alias != "":
		if g.local = name; len(im.Names) == 1 && !l.mayGive(p, im.Names[0]) {
			g.module += "::" + im.Names[0]
		}
	case im.Alias == "" && slices.Contains(im.Names, name) && l.mayGive(p, name):
	case im.Alias == "" && slices.Contains(im.Names, name):
		g.module += "::" + name
	case im.Alias == "" && len(im.Names) == 0 && l.mayGive(p, name) && strings.Contains(p, "::"):
	default:
		return given{}, false
	}
	first, rest, _ := strings.Cut(g.module, "::")
	root, in := s.crate(file)
	ownRoot, _ := s.crate(s.doc.rel)
	switch first {
	case "crate", "super", "self":
		if !in || root != ownRoot {
			return given{}, false
		}
		at := s.rustModule(file)
		switch {
		case first == "super":
			// A module inside the file says super and means the file.
			if !strings.HasPrefix(rest, "super") && s.declares(file) {
				break
			}
			for ; first == "super"; first, rest, _ = strings.Cut(rest, "::") {
				if len(at) == 0 {
					return given{}, false
				}
				at = at[:len(at)-1]
			}
			if rest = strings.TrimSuffix(first+"::"+rest, "::"); rest == "" {
				return given{}, false
			}
		case first == "crate":
			at = nil
		}
		g.module = strings.Join(append(append([]string{"crate"}, at...), rest), "::")
	}
	if name := s.crateName(ownRoot); first == name && name != "" { // it does not know itself by its name
		return given{}, false
	}
	own := strings.Join(append([]string{"crate"}, s.rustModule(s.doc.rel)...), "::")
	if g.module == own+"::"+name {
		// The document's own, which only a module inside it needs an import for.
		if start, _ := s.doc.module(s.unknown.at); start == 0 {
			return given{}, false
		}
	}
	return g, true
}

// declares answers whether a file declares the unknown name.
func (s *search) declares(file string) bool {
	is, asked := s.declaring[file]
	if !asked {
		is = s.readDeclares(file, s.unknown.name)
		if s.declaring == nil {
			s.declaring = map[string]bool{}
		}
		s.declaring[file] = is
	}
	return is
}

func (s *search) readDeclares(file, name string) bool {
	id, ok := s.snap.FileAt(file)
	if !ok {
		return false
	}
	for d := range s.snap.DeclaredIn(id) {
		if sig := s.snap.Signature(d); sig.Name == name {
			return true
		}
	}
	return slices.ContainsFunc(s.snap.Imports(id), func(im syntax.Import) bool {
		return slices.Contains(im.Names, name) && !strings.HasPrefix(im.Path, "super")
	})
}

// crate is the folder of the root of the crate that a file belongs to.
func (s *search) crate(file string) (root string, ok bool) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, base := range []string{"lib.rs", "main.rs"} {
			if _, is := s.snap.FileAt(path.Join(dir, base)); is {
				return dir, true
			}
		}
		if dir == "." || path.Base(dir) == "src" {
			return "", false
		}
	}
}

var cargoName = regexp.MustCompile(`(?m)^name\s*=\s*"([^"]+)"`)

// crateName is what other crates call the crate with its root in a folder, "" if nobody knows.
func (s *search) crateName(root string) string {
	name, ok := s.crates[root]
	if !ok {
		if m := cargoName.FindStringSubmatch(s.textOf(path.Join(path.Dir(root), "Cargo.toml"))); m != nil && path.Base(root) == "src" {
			name = strings.ReplaceAll(m[1], "-", "_")
		}
		if s.crates == nil {
			s.crates = map[string]string{}
		}
		s.crates[root] = name
	}
	return name
}

// rustModule is a file's module, from the crate's root on.
func (s *search) rustModule(file string) []string {
	root, ok := s.crate(file)
	if !ok {
		return nil
	}
	rel := strings.TrimSuffix(file, path.Ext(file))
	if root != "." {
		rel = strings.TrimPrefix(rel, root+"/")
	}
	parts := strings.Split(rel, "/")
	if last := parts[len(parts)-1]; last == "mod" || len(parts) == 1 && (last == "lib" || last == "main") {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func (rust) form(_ string, _ *syntax.Import, g given) given { return g }

func (rust) what(_ *document, g given) string {
	if g.local != "" {
		return g.module + " as " + g.local
	}
	return g.module
}

// declared are the declarations of the crate.
func (l rust) declared(s *search) (ways []way) {
	root, ok := s.crate(s.doc.rel)
	if !ok {
		return nil
	}
	own := s.rustModule(s.doc.rel)
	for _, d := range s.declarations(s.unknown.name) {
		in, ok := s.crate(d.file)
		if !ok || in != root || d.Container != "" || lang.IsTest(d.file) || d.Kind == syntax.KindMethod || d.Kind == syntax.KindMacro {
			continue
		}
		at := s.rustModule(d.file)
		if slices.Equal(at, own) {
			continue
		}
		ways = append(ways, way{given: given{module: strings.Join(append(append([]string{"crate"}, at...), s.unknown.name), "::")}, declared: d.file})
	}
	return ways
}

// use is a part of a use declaration: a path, perhaps with a list.
type use struct {
	path       []string
	start, end int
	// list is what stands between the braces from open to shut; nil if there are none.
	list       []use
	open, shut int
	hasList    bool
	alias      string
}

// parseUse reads a tree of a use declaration; it answers where it ends.
func parseUse(text string, at, end int) (u use, next int) {
	skip := func() {
		for at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
			at++
		}
	}
	skip()
	u.start = at
	for at < end {
		skip()
		switch {
		case strings.HasPrefix(text[at:end], "::"):
			at += 2
		case at < end && text[at] == '{':
			u.hasList, u.open = true, at+1
			at++
			for at < end && text[at] != '}' {
				var item use
				item, at = parseUse(text, at, end)
				if item.end > item.start {
					u.list = append(u.list, item)
				}
				for at < end && (text[at] == ',' || text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
					at++
				}
				if at < end && strings.HasPrefix(text[at:end], "//") {
					for at < end && text[at] != '\n' {
						at++
					}
				}
			}
			u.shut = at
			at = min(at+1, end)
			u.end = at
			return u, at
		case at < end && text[at] == '*':
			u.path = append(u.path, "*")
			at++
			u.end = at
			return u, at
		case at < end && isWordByte(text[at]):
			from := at
			for at < end && (isWordByte(text[at]) || text[at] == '#') {
				at++
			}
			word := text[from:at]
			if word == "as" && len(u.path) > 0 {
				skip()
				from = at
				for at < end && isWordByte(text[at]) {
					at++
				}
				u.alias = text[from:at]
				u.end = at
				return u, at
			}
			u.path = append(u.path, word)
			u.end = at
		default:
			if u.end == 0 {
				u.end = u.start
				return u, at + 1
			}
			return u, at
		}
	}
	return u, at
}

// rustStatement is a use declaration of a document.
type rustStatement struct {
	start, end int
	use        use
	isPublic   bool
	isPlain    bool // neither public nor under a condition
}

var useDeclaration = regexp.MustCompile(`(?m)^([ \t]*)((?:pub(?:\([^)]*\))?[ \t]+)?use[ \t]+)[^;]+;`)

// rustStatements are the use declarations of the module from start to end.
func (d *document) rustStatements(start, end int) (list []rustStatement) {
	for _, m := range useDeclaration.FindAllStringSubmatchIndex(d.Text, -1) {
		from, to := m[3], m[1]
		if !slices.ContainsFunc(d.file.Imports, func(im syntax.Import) bool { return int(im.Span.Start) >= from && int(im.Span.Start) < to }) {
			continue // in a comment
		}
		if in, _ := d.module(from); from < start || to > end || in != start || start == 0 && from > m[2] {
			continue // in another module or in a function
		}
		st := rustStatement{start: from, end: to, isPlain: strings.HasPrefix(d.Text[from:], "use")}
		st.isPublic = !st.isPlain
		line, _ := d.line(from)
		if above, _ := d.line(max(0, line-1)); line > 0 && strings.HasPrefix(strings.TrimSpace(d.Text[above:line]), "#[") {
			st.isPlain = false
		}
		st.use, _ = parseUse(d.Text, m[5], to-1)
		list = append(list, st)
	}
	return list
}

// rustLess is rustfmt's order of names.
func rustLess(a, b string) bool {
	if a == b {
		return false
	}
	rank := func(n string) int {
		switch {
		case n == "self":
			return 0
		case n == "super":
			return 1
		case n == "crate":
			return 2
		case n == "*":
			return 4
		case strings.HasPrefix(n, "{"):
			return 5
		}
		return 3
	}
	if x, y := rank(a), rank(b); x != y {
		return x < y
	}
	kind := func(n string) int {
		n = strings.TrimPrefix(n, "r#")
		switch {
		case n != "" && (n[0] >= 'a' && n[0] <= 'z' || n[0] == '_'):
			return 0
		case strings.ToUpper(n) == n && len(n) > 1:
			return 2
		}
		return 1
	}
	if x, y := kind(a), kind(b); x != y {
		return x < y
	}
	return a < b
}

// rustPathLess compares paths part by part.
func rustPathLess(a, b string) bool {
	x, y := strings.Split(a, "::"), strings.Split(b, "::")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return rustLess(x[i], y[i])
		}
	}
	return len(x) < len(y)
}

func rustClass(module string) int {
	switch first, _, _ := strings.Cut(module, "::"); first {
	case "std", "core", "alloc":
		return 0
	case "crate", "super", "self":
		return 2
	}
	return 1
}

// key is what a use is ordered by.
func (u use) key() string {
	key := strings.Join(u.path, "::")
	if u.hasList {
		key += "::{"
	}
	return key
}

// paired makes a list of a path without one and of another that differs in the last name.
func (u use) paired(parts []string) (agent.TextEdit, bool) {
	n := len(u.path)
	if u.hasList || u.alias != "" || n != len(parts) || n < 2 || !slices.Equal(u.path[:n-1], parts[:n-1]) || u.path[n-1] == "*" {
		return agent.TextEdit{}, false
	}
	pair := []string{u.path[n-1], parts[n-1]}
	if rustLess(pair[1], pair[0]) {
		pair[0], pair[1] = pair[1], pair[0]
	}
	return agent.TextEdit{Start: u.end - len(u.path[n-1]), End: u.end, New: "{" + pair[0] + ", " + pair[1] + "}"}, true
}

func (l rust) add(d *document, g given) ([]agent.TextEdit, bool) {
	start, end := d.module(d.at)
	all := d.rustStatements(start, end)
	module := g.module
	parts := strings.Split(module, "::")
	leaf := func(rest []string) string {
		text := strings.Join(rest, "::")
		if g.local != "" {
			text += " as " + g.local
		}
		return text
	}
	// The deepest list that it belongs into.
	var best *use
	var of rustStatement
	var rest []string
	var look func(u *use, before int, st rustStatement)
	look = func(u *use, before int, st rustStatement) {
		depth := before + len(u.path)
		if !u.hasList || depth >= len(parts) || !slices.Equal(u.path, parts[before:depth]) {
			return
		}
		if best == nil || len(parts)-depth < len(rest) {
			best, of, rest = u, st, parts[depth:]
		}
		for i := range u.list {
			look(&u.list[i], depth, st)
		}
	}
	merges := false // the document writes lists
	for i := range all {
		merges = merges || all[i].use.hasList
		if all[i].isPlain {
			look(&all[i].use, 0, all[i])
		}
	}
	if best != nil {
		for _, it := range best.list {
			if e, ok := it.paired(rest); ok && g.local == "" {
				return []agent.TextEdit{e}, true
			}
		}
		return []agent.TextEdit{d.rustMerge(of, best, leaf(rest))}, true
	}
	if merges && g.local == "" {
		for _, st := range all {
			if e, ok := st.use.paired(parts); ok && st.isPlain {
				return []agent.TextEdit{e}, true
			}
		}
	}
	statement := "use " + leaf(parts) + ";"
	if len(all) == 0 {
		if start > 0 {
			_, next := d.line(start)
			indent := ""
			if body, n := d.line(min(next, len(d.Text)-1)); strings.TrimSpace(d.Text[body:n]) != "" {
				indent = d.Text[body : body+d.indent(body)]
			}
			return []agent.TextEdit{d.insert(spot{at: next, after: true}, indent+statement)}, true
		}
		head := d.head(0, func(line string) bool {
			return strings.HasPrefix(line, "#![") || strings.HasPrefix(line, "//!") || strings.HasPrefix(line, "extern crate ")
		})
		return []agent.TextEdit{d.insert(d.first(head), statement)}, true
	}
	if private := slices.DeleteFunc(slices.Clone(all), func(st rustStatement) bool { return st.isPublic }); len(private) > 0 {
		all = private
	}
	statement = strings.Repeat(" ", d.indent(all[0].start)) + statement
	byPath := order{rules: []func(a, b string) bool{rustPathLess}}
	return []agent.TextEdit{d.insert(byPath.place(d.rustList(all), module, rustClass(module), d.isApart(l, true)), statement)}, true
}

func (d *document) rustList(of []rustStatement) []entry {
	places := make([][2]int, len(of))
	for i, st := range of {
		places[i] = [2]int{st.start, st.end}
	}
	return d.entries(places, func(i int) (string, int) { key := of[i].use.key(); return key, rustClass(key) })
}

func (rust) list(d *document) []entry { return d.rustList(d.rustStatements(0, len(d.Text))) }

// rustMerge adds to a list between braces, laid out as rustfmt does it.
func (d *document) rustMerge(st rustStatement, u *use, name string) agent.TextEdit {
	list := names{text: d.Text, start: u.open, end: u.shut}
	nested := false
	for _, it := range u.list {
		list.items = append(list.items, item{it.start, it.end, d.Text[it.start:it.end]})
		nested = nested || it.hasList
	}
	byPath := func(a, b string) bool {
		cut := func(s string) string {
			s, _, _ = strings.Cut(s, " as ")
			return strings.Join(strings.Fields(s), "")
		}
		return rustPathLess(cut(a), cut(b))
	}
	e := list.with(name, d.eol, byPath)
	rustWidth := d.rustWidth()
	inner := d.Text[u.open:e.Start] + e.New + d.Text[e.End:u.shut]
	line, next := d.line(u.open)
	if !strings.Contains(inner, "\n") {
		if len(strings.TrimRight(d.Text[line:next], "\r\n"))+len(e.New)-(e.End-e.Start) <= rustWidth {
			return e
		}
	} else if vertical := nested || strings.Count(inner, "\n") > len(u.list); vertical || strings.Contains(inner, "//") || strings.Contains(inner, "/*") {
		return e
	}
	// Filled, as many in a line as there is room for.
	indent := d.Text[line : line+d.indent(line)]
	var b strings.Builder
	width := 0
	for _, it := range listed(inner, 0, len(inner)).items {
		if nested || width == 0 || width+len(it.text)+2 > rustWidth {
			b.WriteString(d.eol + indent + "    ")
			width = len(indent) + 4
		} else {
			b.WriteByte(' ')
			width++
		}
		b.WriteString(it.text + ",")
		width += len(it.text) + 1
	}
	b.WriteString(d.eol + indent)
	return agent.TextEdit{Start: u.open, End: u.shut, New: b.String()}
}

// rustWidth is rustfmt's max_width, as the crate's settings or its own have it.
func (d *document) rustWidth() int {
	for dir := d.dir(); ; dir = path.Dir(dir) {
		for _, file := range []string{"rustfmt.toml", ".rustfmt.toml"} {
			if m := maxWidth.FindStringSubmatch(d.beside.textOf(path.Join(dir, file))); m != nil {
				if n, err := strconv.Atoi(m[1]); err == nil {
					return n
				}
			}
		}
		if dir == "." {
			return 100
		}
	}
}

var maxWidth = regexp.MustCompile(`(?m)^max_width\s*=\s*(\d+)`)
