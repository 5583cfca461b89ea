package imports

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// script is JavaScript and TypeScript. A module that is a file of the workspace is told by its
// path in the folder, with a slash before it; how the path ends is as others write it.
type script struct{}

func (script) mayGive(string, string) bool { return false }

func (l script) gives(s *search, file string, im *syntax.Import) (given, bool) {
	name := s.unknown.name
	g := given{module: im.Path, name: name}
	switch {
	case im.Alias == name && len(im.Names) == 1:
		if g.name = im.Names[0]; g.name != name {
			g.local = name
		}
	case im.Alias == name && len(im.Names) == 0:
		g.name, g.local = "", name
	case im.Alias == "" && slices.Contains(im.Names, name):
	default:
		return given{}, false
	}
	if strings.HasPrefix(im.Path, "/") {
		return given{}, false // of the machine, or of a server: here it would mean a file of the folder
	}
	if isRelative(im.Path) {
		g.module = "/" + path.Join(path.Dir(file), im.Path)
		if strings.HasSuffix(im.Path, "/") && !strings.HasSuffix(g.module, "/") {
			g.module += "/"
		}
		if stem := strings.TrimSuffix(s.doc.rel, path.Ext(s.doc.rel)); strings.TrimSuffix(g.module[1:], path.Ext(g.module)) == stem || g.module[1:] == stem {
			return given{}, false
		}
	}
	return g, true
}

func isRelative(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
}

// scriptImport is an import statement, but for what follows the module: its type word, its
// default, its namespace, its names, its module.
var (
	scriptImport  = regexp.MustCompile(`(?s)\bimport\s+(type\s+)?(?:([\p{L}_$][\p{L}\p{N}_$]*)\s*,?\s*)?(?:\*\s*as\s+([\p{L}_$][\p{L}\p{N}_$]*)\s*)?(?:(\{)([^{}]*)\}\s*)?from\s*(['"])([^'"\n]+)['"]`)
	scriptRequire = regexp.MustCompile(`(?s)\b(const|let|var)\s+(?:([\p{L}_$][\p{L}\p{N}_$]*)|(\{)([^{}]*)\})\s*=\s*require\(\s*(['"])([^'"\n]+)['"]\s*\)`)
)

// form reads a text that has the import.
func (script) form(text string, im *syntax.Import, g given) given {
	name := g.local
	if name == "" {
		name = g.name
	}
	for _, m := range scriptImport.FindAllStringSubmatch(text, -1) {
		switch {
		case m[2] == name:
			g.form, g.name, g.local = byDefault, "", name
		case m[3] == name:
			g.form, g.name, g.local = namespace, "", name
		case indexWord(m[5], name) >= 0 && m[7] == im.Path:
			if g.form = plain; m[1] != "" || regexp.MustCompile(`\btype\s+`+regexp.QuoteMeta(g.name)+`\b`).MatchString(m[5]) {
				g.form = typeOnly
			}
		default:
			continue
		}
		return g
	}
	for _, m := range scriptRequire.FindAllStringSubmatch(text, -1) {
		switch {
		case m[2] == name:
			g.form, g.name, g.local = required, "", name
		case indexWord(m[4], name) >= 0:
			g.form = ofRequired
		default:
			continue
		}
		return g
	}
	return g
}

func (script) what(d *document, g given) string {
	g, module := d.scriptForm(d.scriptStatements(), g)
	switch {
	case g.form == namespace:
		return fmt.Sprintf("* as %s from '%s'", g.local, module)
	case g.name == "":
		return fmt.Sprintf("%s from '%s'", g.local, module)
	case g.local != "":
		return fmt.Sprintf("{ %s as %s } from '%s'", g.name, g.local, module)
	}
	return fmt.Sprintf("{ %s } from '%s'", g.name, module)
}

// declared are the files that export a declaration of the name.
func (l script) declared(s *search) (ways []way) {
	if s.unknown.isVague {
		return nil
	}
	for _, d := range s.declarations(s.unknown.name) {
		if s.ctx.Err() != nil {
			return nil
		}
		if d.Container != "" || lang.IsTest(d.file) || strings.HasSuffix(d.file, ".d.ts") {
			continue
		}
		named := regexp.MustCompile(`(?m)^\s*export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:const|let|var|function\*?|class|interface|type|enum)\s+` + regexp.QuoteMeta(s.unknown.name) + `\b`)
		if !named.MatchString(s.textOf(d.file)) {
			continue
		}
		g := given{module: "/" + strings.TrimSuffix(d.file, path.Ext(d.file)), name: s.unknown.name}
		if d.Kind == syntax.KindInterface || d.Kind == syntax.KindType {
			g.form = typeOnly
		}
		ways = append(ways, way{given: g, declared: d.file})
	}
	return ways
}

// scriptStatement is an import or require of a document.
type scriptStatement struct {
	start, end int
	match      []string // of scriptImport or scriptRequire
	at         []int    // where the groups are in the statement
	require    bool
	module     string
}

func (d *document) readScriptStatements() (list []scriptStatement) {
	for _, span := range d.statements() {
		start, next := d.line(int(span.Start))
		if d.Text[start:span.Start] != "" && !isRequireLead(d.Text[start:span.Start]) {
			continue
		}
		end := int(span.End)
		if end < next {
			end = start + len(strings.TrimRight(d.Text[start:next], "\r\n"))
		}
		text := d.Text[start:end]
		st := scriptStatement{start: start, end: end}
		form := scriptImport
		if strings.HasPrefix(text, "export") {
			continue
		}
		if !strings.HasPrefix(text, "import") {
			form, st.require = scriptRequire, true
		}
		if st.at = form.FindStringSubmatchIndex(text); st.at != nil {
			st.match = form.FindStringSubmatch(text)
			st.module = st.match[len(st.match)-1]
		} else if strings.HasPrefix(text, "import") { // for its effects
			st.module = strings.Trim(strings.TrimPrefix(strings.TrimRight(text, "; "), "import"), `'" `)
		} else {
			continue
		}
		list = append(list, st)
	}
	return list
}

var requireLead = regexp.MustCompile(`^(?:const|let|var)\s+$`)

func isRequireLead(s string) bool { return requireLead.MatchString(s) }

// scriptOrder: most projects sort by hand.
var scriptOrder = order{rules: []func(a, b string) bool{ascending, caseless}, byClass: true}

func scriptClass(module string) int {
	switch {
	case strings.HasPrefix(module, ".."):
		return 1
	case isRelative(module):
		return 2
	}
	return 0
}

func (l script) add(d *document, g given) ([]agent.TextEdit, bool) {
	all := d.scriptStatements()
	g, module := d.scriptForm(all, g)
	isRequire := g.form == required || g.form == ofRequired
	var like []scriptStatement
	for _, st := range all {
		if st.require == isRequire {
			like = append(like, st)
		}
	}
	if e, ok := d.scriptMerge(like, g, module); ok {
		return []agent.TextEdit{e}, true
	}
	habit := d.scriptHabit(all)
	name := g.name
	if g.local != "" && name != "" {
		name += habit.as(isRequire) + g.local
	}
	braces := "{" + habit.pad + name + habit.pad + "}"
	q := habit.quote + module + habit.quote
	statement := ""
	switch g.form {
	case byDefault:
		statement = "import " + g.local + " from " + q
	case namespace:
		statement = "import * as " + g.local + " from " + q
	case typeOnly:
		statement = "import type " + braces + " from " + q
	case required:
		statement = habit.keyword + " " + g.local + " = require(" + q + ")"
	case ofRequired:
		statement = habit.keyword + " " + braces + " = require(" + q + ")"
	default:
		statement = "import " + braces + " from " + q
	}
	statement += habit.end
	if len(like) == 0 {
		return []agent.TextEdit{d.insert(d.first(d.scriptHead()), statement)}, true
	}
	return []agent.TextEdit{d.insert(scriptOrder.place(d.scriptList(like), module, scriptClass(module), d.isApart(l, false)), statement)}, true
}

func (d *document) scriptList(of []scriptStatement) []entry {
	places := make([][2]int, len(of))
	for i, st := range of {
		places[i] = [2]int{st.start, st.end}
	}
	return d.entries(places, func(i int) (string, int) { return of[i].module, scriptClass(of[i].module) })
}

func (script) list(d *document) []entry { return d.scriptList(d.scriptStatements()) }

// scriptForm is the import as this document would write it: by import or require, its module
// by a path from here.
func (d *document) scriptForm(all []scriptStatement, g given) (given, string) {
	requires, imports := 0, 0
	for _, st := range all {
		if st.require {
			requires++
		} else {
			imports++
		}
	}
	switch ext := path.Ext(d.rel); {
	case imports > 0, ext == ".mjs", requires == 0 && lang.Canonical(d.Language) == "typescript":
		switch g.form {
		case required:
			g.form = byDefault
		case ofRequired:
			g.form = plain
		}
	case requires > 0, ext == ".cjs":
		switch g.form {
		case byDefault, namespace:
			g.form = required
		case plain:
			g.form = ofRequired
		}
	}
	module := g.module
	if strings.HasPrefix(module, "/") {
		rel, err := filepath.Rel(filepath.FromSlash(d.dir()), filepath.FromSlash(module[1:]))
		if err != nil {
			rel = module[1:]
		}
		if module = filepath.ToSlash(rel); !strings.HasPrefix(module, ".") {
			module = "./" + module
		}
		if strings.HasSuffix(g.module, "/") && !strings.HasSuffix(module, "/") {
			module += "/"
		}
		if ext := d.scriptExtension(all); ext != "" && path.Ext(module) == "" && !strings.HasSuffix(module, ".") && !strings.HasSuffix(module, "/") {
			module += ext
		}
	}
	return g, module
}

// scriptExtension is what the document's relative imports end in, "" if in nothing.
func (d *document) scriptExtension(all []scriptStatement) string {
	votes := map[string]int{}
	best := ""
	for _, st := range all {
		if isRelative(st.module) {
			ext := path.Ext(st.module)
			if strings.Trim(st.module, "./") == "" {
				ext = ""
			}
			if votes[ext]++; votes[ext] > votes[best] || len(votes) == 1 {
				best = ext
			}
		}
	}
	if slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx"}, best) {
		return best
	}
	return ""
}

// scriptMerge adds a name to an import of the same module.
func (d *document) scriptMerge(like []scriptStatement, g given, module string) (agent.TextEdit, bool) {
	for _, st := range like {
		if st.module != module || st.match == nil {
			continue
		}
		group := func(i int) (from, to int) { return st.start + st.at[2*i], st.start + st.at[2*i+1] }
		if st.require {
			if g.form != ofRequired || st.match[3] == "" {
				continue
			}
			from, to := group(4)
			name := g.name
			if g.local != "" {
				name += ": " + g.local
			}
			return d.scriptNames(st, from, to, name), true
		}
		isType := st.match[1] != ""
		switch {
		case g.form == byDefault && st.match[2] == "" && st.match[4] != "" && !isType:
			from, _ := group(4)
			return agent.TextEdit{Start: from, End: from, New: g.local + ", "}, true
		case g.form != plain && g.form != typeOnly, isType && g.form != typeOnly, st.match[3] != "":
			continue
		}
		name := g.name
		if g.local != "" {
			name += " as " + g.local
		}
		if g.form == typeOnly && !isType {
			if slices.ContainsFunc(like, func(other scriptStatement) bool { return other.match != nil && other.match[1] != "" }) {
				continue // the document has statements for types
			}
			if strings.Contains(d.Text[st.start:st.end], "type ") {
				name = "type " + name
			}
		}
		if st.match[4] != "" {
			from, to := group(5)
			return d.scriptNames(st, from, to, name), true
		}
		_, to := group(2)
		pad := d.scriptHabit(like).pad
		return agent.TextEdit{Start: to, End: to, New: ", {" + pad + name + pad + "}"}, true
	}
	return agent.TextEdit{}, false
}

// scriptNames adds a name between braces, each on its own line where one would be too long.
func (d *document) scriptNames(st scriptStatement, from, to int, name string) agent.TextEdit {
	list := listed(d.Text, from, to)
	bare := func(less func(a, b string) bool) func(a, b string) bool {
		return func(a, b string) bool { return less(strings.TrimPrefix(a, "type "), strings.TrimPrefix(b, "type ")) }
	}
	e := list.with(name, d.eol, bare(ascending), bare(caseless))
	if strings.Contains(d.Text[from:to], "\n") || strings.Contains(d.Text[from:to], "/*") || st.end-st.start+len(e.New) <= d.widest(80) {
		return e
	}
	inner := d.Text[from:e.Start] + e.New + d.Text[e.End:to]
	var b strings.Builder
	for _, it := range listed(inner, 0, len(inner)).items {
		b.WriteString(d.eol + "  " + it.text + ",")
	}
	return agent.TextEdit{Start: from, End: to, New: b.String() + d.eol}
}

// scriptHabit is how a document writes its imports.
type scriptHabit struct{ quote, end, pad, keyword string }

func (scriptHabit) as(require bool) string {
	if require {
		return ": "
	}
	return " as "
}

func (d *document) scriptHabit(all []scriptStatement) scriptHabit {
	h := scriptHabit{quote: "'", end: ";", pad: " ", keyword: "const"}
	if strings.Count(d.Text, `"`) > strings.Count(d.Text, "'") {
		h.quote = `"`
	}
	if strings.Count(d.Text, "var ") > strings.Count(d.Text, "const ")+strings.Count(d.Text, "let ") {
		h.keyword = "var"
	}
	ends := 0 // statements that end in a semicolon, less those that do not
	for _, st := range all {
		text := d.Text[st.start:st.end]
		if strings.HasSuffix(text, ";") {
			ends++
		} else {
			ends--
		}
		if st.match == nil {
			continue
		}
		h.quote = st.match[len(st.match)-2]
		if st.require {
			h.keyword = st.match[1]
		}
		if i := strings.IndexByte(text, '{'); i >= 0 && !strings.HasPrefix(text[i:], "{ ") && !strings.HasPrefix(text[i:], "{\n") && !strings.HasPrefix(text[i:], "{\r") {
			h.pad = ""
		}
	}
	if len(all) == 0 {
		ends = 10*strings.Count(d.Text, ";"+d.eol) - strings.Count(d.Text, "\n")
	}
	if ends < 0 {
		h.end = ""
	}
	return h
}

var directive = regexp.MustCompile(`^['"]use [a-z]+['"];?$`)

func (d *document) scriptHead() int {
	return d.head(0, func(line string) bool {
		return strings.HasPrefix(line, "#!") || directive.MatchString(line) || strings.HasPrefix(line, "// @ts-") || strings.HasPrefix(line, "/// <reference")
	})
}
