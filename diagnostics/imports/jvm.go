package imports

import (
	"regexp"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/syntax"
)

// jvm is Java and Kotlin: an import names a class, or a member of one.
type jvm struct{}

var (
	jvmPackage = regexp.MustCompile(`(?m)^\s*package\s+([\p{L}\p{N}_.]+)`)
	jvmImport  = regexp.MustCompile(`^import\s+(static\s+)?([\p{L}\p{N}_.$` + "`" + `]+(?:\.\*)?)`)
)

func (jvm) mayGive(string, string) bool { return false }

func (jvm) gives(s *search, _ string, im *syntax.Import) (given, bool) {
	name := s.unknown.name
	g := given{module: im.Path, name: name}
	switch {
	case im.Alias == name && im.Alias != "":
		g.local = name
	case im.Alias == "" && slices.Contains(im.Names, name):
	default:
		return given{}, false
	}
	// Classes of one package need no import.
	return g, strings.TrimSuffix(g.module, "."+name) != s.doc.jvmPackage()
}

func (d *document) readPackage() string {
	if m := jvmPackage.FindStringSubmatch(d.Text); m != nil {
		return m[1]
	}
	return ""
}

func (jvm) form(text string, im *syntax.Import, g given) given {
	if strings.Contains(text, "import static "+im.Path+";") {
		g.form = static
	}
	return g
}

func (jvm) what(_ *document, g given) string {
	if g.local != "" {
		return g.module + " as " + g.local
	}
	return g.module
}

// declared are the classes of other packages.
func (jvm) declared(s *search) (ways []way) {
	for _, d := range s.declarations(s.unknown.name) {
		isType := d.Kind == syntax.KindClass || d.Kind == syntax.KindInterface || d.Kind == syntax.KindEnum || d.Kind == syntax.KindType || d.Kind == syntax.KindStruct
		if !isType || d.Container != "" {
			continue
		}
		m := jvmPackage.FindStringSubmatch(s.textOf(d.file))
		if m == nil || m[1] == s.doc.jvmPackage() {
			continue
		}
		ways = append(ways, way{given: given{module: m[1] + "." + s.unknown.name, name: s.unknown.name}, declared: d.file})
	}
	return ways
}

// jvmClass parts imports by their first name, in the order of most formatters, and static ones.
func jvmClass(module string, isStatic bool) int {
	if isStatic {
		return 9
	}
	switch first, _, _ := strings.Cut(module, "."); first {
	case "java":
		return 0
	case "javax", "jakarta":
		return 1
	case "org":
		return 2
	case "com":
		return 3
	}
	return 4
}

func (jvm) list(d *document) []entry {
	var places [][2]int
	var matches [][]string
	for _, span := range d.statements() {
		if m := jvmImport.FindStringSubmatch(d.Text[span.Start:span.End]); m != nil {
			places = append(places, [2]int{int(span.Start), int(span.End)})
			matches = append(matches, m)
		}
	}
	return d.entries(places, func(i int) (string, int) { return matches[i][2], jvmClass(matches[i][2], matches[i][1] != "") })
}

func (l jvm) add(d *document, g given) ([]agent.TextEdit, bool) {
	statement := "import " + g.module
	if g.form == static {
		statement = "import static " + g.module
	}
	if g.local != "" {
		statement += " as " + g.local
	}
	if d.Language == "java" {
		statement += ";"
	}
	list := l.list(d)
	if len(list) == 0 {
		head := d.head(0, func(line string) bool {
			return strings.HasPrefix(line, "package ") || strings.HasPrefix(line, "@file:")
		})
		return []agent.TextEdit{d.insert(d.first(head), statement)}, true
	}
	byName := order{rules: []func(a, b string) bool{ascending, caseless}}
	return []agent.TextEdit{d.insert(byName.place(list, g.module, jvmClass(g.module, g.form == static), d.isApart(l, d.Language == "java")), statement)}, true
}
