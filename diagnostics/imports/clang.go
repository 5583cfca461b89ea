package imports

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
)

// clang is C and C++. An include names no names, so which header has one is known only where a
// header of the workspace declares it, or where all files that use it include the same one of
// the system's.
type clang struct{}

func (clang) mayGive(string, string) bool { return false }

// gives answers nothing: what a file includes says nothing of single names.
func (clang) gives(*search, string, *syntax.Import) (given, bool) { return given{}, false }

func (clang) form(_ string, _ *syntax.Import, g given) given { return g }

func (clang) what(_ *document, g given) string {
	if g.form == bracketed {
		return "<" + g.module + ">"
	}
	return `"` + g.module + `"`
}

// fewestUsers is how many files must use a name for their headers to say where it is from.
const fewestUsers = 2

func (l clang) declared(s *search) (ways []way) {
	name := s.unknown.name
	for _, d := range s.declarations(name) {
		if s.ctx.Err() != nil {
			return nil
		}
		isLocal := d.Kind == syntax.KindMethod || d.Kind == syntax.KindVar && !strings.Contains(d.signature, "extern")
		if !isHeader(d.file) || isLocal || d.Container != "" {
			continue
		}
		if w, ok := l.including(s, d.file); ok {
			ways = append(ways, w)
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return b.files - a.files })
	if len(ways) > 0 {
		return ways
	}
	return l.common(s)
}

func isHeader(file string) bool {
	return slices.Contains([]string{".h", ".hh", ".hpp", ".hxx", ".h++"}, path.Ext(file))
}

// including is how other files include a header of the workspace: as most do, those in the
// document's folder first.
func (l clang) including(s *search, header string) (w way, ok bool) {
	votes := map[string]int{}
	beside := map[string]int{}
	s.snap.Importing("", func(p string) bool { return path.Base(p) == path.Base(header) }, func(file retrieval.FileID, im syntax.Import) {
		from := s.snap.Path(file)
		if path.Base(im.Path) != path.Base(header) || from == s.doc.rel || lang.Family(s.snap.Language(file)) != "c" {
			return
		}
		if p := path.Join(path.Dir(from), im.Path); p != header && !strings.HasSuffix("/"+header, "/"+strings.TrimLeft(path.Clean(im.Path), "./")) {
			return
		}
		votes[im.Path]++
		if path.Dir(from) == s.doc.dir() {
			beside[im.Path]++
		}
		w.files++
		if w.example == "" || s.nearer(from, w.example) {
			w.example = from
		}
	})
	if w.files == 0 {
		rel := header
		if path.Dir(header) == s.doc.dir() {
			rel = path.Base(header)
		}
		return way{given: given{module: rel}, declared: header}, true
	}
	for spelled := range votes {
		a, b := beside[spelled], beside[w.module]
		if w.module == "" || a > b || a == b && (votes[spelled] > votes[w.module] || votes[spelled] == votes[w.module] && spelled < w.module) {
			w.module = spelled
		}
	}
	if s.bracketedIn(w.example)[w.module] {
		w.form = bracketed
	}
	return w, true
}

// common are the headers of the system that all files include which use the name. A header
// that most others include as well says little, so that the rarer comes first.
func (l clang) common(s *search) (ways []way) {
	users := 0
	count := map[string]int{}
	example := map[string]string{}
	for _, id := range s.snap.Using(s.unknown.name) {
		if s.ctx.Err() != nil {
			return nil
		}
		file := s.snap.Path(id)
		if file == s.doc.rel || lang.Family(s.snap.Language(id)) != "c" || !s.finder.workspace.Allows(s.root, file) {
			continue
		}
		imports := s.snap.Imports(id)
		if len(imports) > mostImports {
			continue
		}
		users++
		seen := map[string]bool{}
		for _, im := range imports {
			if seen[im.Path] {
				continue
			}
			seen[im.Path] = true
			count[im.Path]++
			if example[im.Path] == "" || s.nearer(file, example[im.Path]) {
				example[im.Path] = file
			}
		}
	}
	if users < fewestUsers {
		return nil
	}
	everywhere := map[string]int{}
	for header, n := range count {
		if n == users && s.ctx.Err() == nil && s.bracketedIn(example[header])[header] {
			everywhere[header] = 0
			ways = append(ways, way{given: given{module: header, form: bracketed}, files: n, example: example[header]})
		}
	}
	s.snap.Importing("", func(p string) bool { _, ok := everywhere[p]; return ok }, func(_ retrieval.FileID, im syntax.Import) { everywhere[im.Path]++ })
	slices.SortStableFunc(ways, func(a, b way) int {
		return cmp.Or(everywhere[a.module]-everywhere[b.module], strings.Compare(a.module, b.module))
	})
	return ways
}

var systemHeader = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>`)

// bracketedIn are the headers that a file includes in brackets.
func (s *search) bracketedIn(file string) map[string]bool {
	headers, read := s.headers[file]
	if !read {
		headers = map[string]bool{}
		if text := s.textOf(file); len(text) <= longestExample {
			for _, m := range systemHeader.FindAllStringSubmatch(text, mostImports) {
				headers[m[1]] = true
			}
		}
		if s.headers == nil {
			s.headers = map[string]map[string]bool{}
		}
		s.headers[file] = headers
	}
	return headers
}

var include = regexp.MustCompile(`^#\s*include\s*([<"])([^>"]+)[>"]`)

var (
	guard       = regexp.MustCompile(`^#\s*(?:pragma once|ifndef|define)\b`)
	conditional = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b.*$`)
	guarded     = regexp.MustCompile(`^[ \t]*#[ \t]*ifndef[ \t]+(\w+)`)
	defined     = regexp.MustCompile(`^\s*#\s*define\s+(\w+)`)
)

// condition is a place from which on the preprocessor is in so many conditions, the guard of a header
// aside.
type condition struct{ at, depth int }

func (d *document) readConditions() (list []condition) {
	depth := 0
	for i, m := range conditional.FindAllStringSubmatchIndex(d.Text, -1) {
		if i == 0 {
			if name := guarded.FindStringSubmatch(d.Text[m[0]:]); name != nil {
				_, next := d.line(m[0])
				if as := defined.FindStringSubmatch(d.Text[next:]); as != nil && as[1] == name[1] {
					continue
				}
			}
		}
		if d.Text[m[2]:m[3]] == "endif" {
			depth = max(0, depth-1)
		} else {
			depth++
		}
		list = append(list, condition{m[0], depth})
	}
	return list
}

// depth is how many conditions the preprocessor is in at an offset.
func (d *document) depth(at int) int {
	list := d.conditions()
	i, _ := slices.BinarySearchFunc(list, at, func(c condition, at int) int { return c.at - at })
	if i == 0 {
		return 0
	}
	return list[i-1].depth
}

func (clang) list(d *document) []entry {
	var places [][2]int
	var matches [][]string
	for _, span := range d.statements() {
		m := include.FindStringSubmatch(d.Text[span.Start:span.End])
		if m == nil || d.depth(int(span.Start)) > 0 {
			continue
		}
		end := int(span.Start) + len(strings.TrimRight(d.Text[span.Start:span.End], "\r\n"))
		places, matches = append(places, [2]int{int(span.Start), end}), append(matches, m)
	}
	return d.entries(places, func(i int) (string, int) {
		if matches[i][1] == `"` {
			return matches[i][2], 1
		}
		return matches[i][2], 0
	})
}

func (l clang) add(d *document, g given) ([]agent.TextEdit, bool) {
	class := 1
	if g.form == bracketed {
		class = 0
	}
	statement := "#include " + l.what(d, g)
	for i := range d.file.Imports {
		if d.file.Imports[i].Path == g.module {
			return nil, false
		}
	}
	list := l.list(d)
	if len(list) == 0 {
		return []agent.TextEdit{d.insert(d.first(d.head(0, guard.MatchString)), statement)}, true
	}
	byName := order{rules: []func(a, b string) bool{ascending}}
	return []agent.TextEdit{d.insert(byName.place(list, g.module, class, d.isApart(l, true)), statement)}, true
}
