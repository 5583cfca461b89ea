package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry/agent"
	"quarry/index/syntax"
)

// golang is Go: a name is a package, and code takes what begins with a capital from it.
type golang struct{}

var (
	majorVersion = regexp.MustCompile(`^v[0-9]+$`)
	goModule     = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
)

// packageNames are what a package with a path may be called: its own clause is not known here.
func packageNames(p string) []string {
	base := path.Base(p)
	if majorVersion.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	if i := strings.LastIndex(base, ".v"); i > 0 { // gopkg.in/yaml.v3
		base = base[:i]
	}
	names := []string{base}
	for _, cut := range []string{strings.TrimPrefix(base, "go-"), strings.TrimSuffix(base, "-go"), strings.TrimSuffix(base, ".go"), base[strings.LastIndexByte(base, '-')+1:], strings.ReplaceAll(base, "-", "")} {
		if !slices.Contains(names, cut) {
			names = append(names, cut)
		}
	}
	return names
}

func (golang) mayGive(p, name string) bool {
	return strings.Contains(p, name) && slices.Contains(packageNames(p), name)
}

func (l golang) gives(s *search, file string, im *syntax.Import) (given, bool) {
	own := im.Alias == ""
	if im.Alias != s.unknown.name && !(own && l.mayGive(im.Path, s.unknown.name)) {
		return given{}, false
	}
	g := given{module: im.Path}
	if !own && packageNames(im.Path)[0] != im.Alias {
		g.local = im.Alias
	}
	return g, true
}

func (golang) form(_ string, _ *syntax.Import, g given) given { return g }

func (golang) what(_ *document, g given) string {
	return strings.TrimSpace(g.local + " " + strconv.Quote(g.module))
}

// declared are the packages of the module that have what the document takes, and those of the
// standard library.
func (l golang) declared(s *search) (ways []way) {
	if s.unknown.isVague {
		return nil
	}
	if module, root, ok := s.goModule(); ok {
		declarations := s.declarations(s.unknown.member)
		for dir := range s.snap.Folders() {
			if s.ctx.Err() != nil {
				return nil
			}
			if path.Base(dir) != s.unknown.name || dir == s.doc.dir() || strings.Contains("/"+dir+"/", "/testdata/") || strings.Contains("/"+dir+"/", "/vendor/") {
				continue
			}
			within, ok := strings.CutPrefix(dir, root)
			if !ok {
				continue
			}
			for _, d := range declarations {
				if path.Dir(d.file) == dir && d.Container == "" && !strings.HasSuffix(d.file, "_test.go") {
					ways = append(ways, way{given: given{module: path.Join(module, within)}, declared: d.file})
					break
				}
			}
		}
	}
	for _, p := range standardPackages(s.unknown.name) {
		ways = append(ways, way{given: given{module: p}, library: true})
	}
	return ways
}

// goModule is the module that the document belongs to, and its folder with a slash behind it.
func (s *search) goModule() (module, root string, ok bool) {
	for dir := s.doc.dir(); ; dir = path.Dir(dir) {
		file := path.Join(dir, "go.mod")
		if m := goModule.FindStringSubmatch(s.textOf(file)); m != nil {
			if dir == "." {
				return m[1], "", true
			}
			return m[1], dir + "/", true
		}
		if dir == "." {
			return "", "", false
		}
	}
}

// isStandard answers whether a path is one of the standard library.
func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// goClass is the standard library, what is of other modules, and the document's own module.
func (d *document) goClass(p string) int {
	switch {
	case isStandard(p):
		return 0
	case d.goPath == "" || p != d.goPath && !strings.HasPrefix(p, d.goPath+"/"):
		return 1
	}
	return 2
}

// goImports are the import declarations of a document, offsets and all; block is the first in
// parentheses, single those without any.
type goImports struct {
	fset   *token.FileSet
	file   *ast.File
	block  *ast.GenDecl
	single []*ast.GenDecl
}

func (d *document) goImports() (im goImports, ok bool) {
	im.fset = token.NewFileSet()
	file, err := parser.ParseFile(im.fset, "", d.Text, parser.ImportsOnly|parser.ParseComments)
	if file == nil || err != nil || !file.Name.Pos().IsValid() {
		return im, false
	}
	im.file = file
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT || isCgo(gen) {
			continue
		}
		if gen.Lparen.IsValid() && im.block == nil {
			im.block = gen
		} else if !gen.Lparen.IsValid() {
			im.single = append(im.single, gen)
		}
	}
	return im, true
}

func (im goImports) offset(p token.Pos) int { return im.fset.Position(p).Offset }

func (im goImports) path(spec ast.Spec) string {
	p, err := strconv.Unquote(spec.(*ast.ImportSpec).Path.Value)
	if err != nil {
		return ""
	}
	return p
}

func (golang) list(d *document) []entry {
	im, ok := d.goImports()
	if !ok {
		return nil
	}
	var places [][2]int
	var paths []string
	add := func(n ast.Node, spec ast.Spec) {
		places = append(places, [2]int{im.offset(n.Pos()), im.offset(n.End())})
		paths = append(paths, im.path(spec))
	}
	if im.block != nil {
		for _, spec := range im.block.Specs {
			add(spec, spec)
		}
	} else {
		for _, gen := range im.single {
			add(gen, gen.Specs[0])
		}
	}
	return d.entries(places, func(i int) (string, int) { return paths[i], d.goClass(paths[i]) })
}

func (l golang) add(d *document, g given) ([]agent.TextEdit, bool) {
	im, ok := d.goImports()
	if !ok {
		return nil, false
	}
	d.goPath, _, _ = d.beside.goModule()
	statement := l.what(d, g)
	block := im.block
	byPath := order{rules: []func(a, b string) bool{ascending}}
	switch {
	case block != nil && len(block.Specs) == 0:
		at := im.offset(block.Lparen) + 1
		return []agent.TextEdit{{Start: at, End: at, New: d.eol + "\t" + statement}}, true
	case block != nil && im.fset.Position(block.Lparen).Line == im.fset.Position(block.Rparen).Line:
		return nil, false // not as gofmt writes it
	case block != nil:
		return []agent.TextEdit{d.insert(byPath.place(l.list(d), g.module, d.goClass(g.module), d.isApart(l, true)), "\t"+statement)}, true
	case len(im.single) == 1: // gofmt's users write a block of two
		gen := im.single[0]
		old := d.Text[im.offset(gen.Specs[0].Pos()):im.offset(gen.Specs[0].End())]
		lines := []string{old, statement}
		was := im.path(gen.Specs[0])
		if d.goClass(g.module) < d.goClass(was) || d.goClass(g.module) == d.goClass(was) && g.module < was {
			lines = []string{statement, old}
		}
		between := d.eol
		if d.goClass(was) != d.goClass(g.module) {
			between += d.eol
		}
		text := "import (" + d.eol + "\t" + lines[0] + between + "\t" + lines[1] + d.eol + ")"
		return []agent.TextEdit{{Start: im.offset(gen.Pos()), End: im.offset(gen.End()), New: text}}, true
	case len(im.single) > 1:
		return []agent.TextEdit{d.insert(byPath.place(l.list(d), g.module, d.goClass(g.module), d.isApart(l, true)), "import "+statement)}, true
	}
	_, next := d.line(im.offset(im.file.Name.End()))
	return []agent.TextEdit{d.insert(d.first(next), "import "+statement)}, true
}

// isCgo answers whether an import is that of C, whose comment is code.
func isCgo(gen *ast.GenDecl) bool {
	return slices.ContainsFunc(gen.Specs, func(s ast.Spec) bool { return s.(*ast.ImportSpec).Path.Value == `"C"` })
}
