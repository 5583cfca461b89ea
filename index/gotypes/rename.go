package gotypes

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Target is a declaration of the repository.
type Target struct {
	File string
	// Start is the byte where its name begins.
	Start int
	// Container is the type that it is a member of, "" if it is none's.
	Container, Name string
}

// Place is where a name stands: Start and End are bytes.
type Place struct {
	File       string
	Start, End int
}

// Renaming is where a declaration's name stands.
type Renaming struct {
	// Places are in the order of files and bytes, the declaration's own among them.
	Places []Place
	// Unknown are places where the name stands and nobody knows what it means.
	Unknown []Place
	// Packages were checked, before and after the change.
	Packages int
	// Absent are the imports that are not on this machine.
	Absent []string
}

// Breaks is the error for a renaming after which code does not compile any more, or means
// something else.
type Breaks struct {
	File    string // "" where it is no one place
	Line    int
	Problem string
}

func (e *Breaks) Error() string {
	if e.File == "" {
		return e.Problem
	}
	return fmt.Sprintf("%s:%d would not compile: %s; change that place first, or give another name", e.File, e.Line, e.Problem)
}

// Rename finds where a declaration's name stands in some files, and checks that their packages
// compile as well as before with the name to instead. The error is *Breaks where they do not, and
// *Unfinished where nobody can tell.
func Rename(ctx context.Context, repo Repository, target Target, to string, files []string) (Renaming, error) {
	return renameApart(ctx, repo, onThisMachine(), target, to, files, usual)
}

// renameWith is Rename in this process, which hostile code may end.
func renameWith(ctx context.Context, repo Repository, from sources, target Target, to string, files []string) (Renaming, error) {
	switch {
	case token.IsKeyword(to):
		return Renaming{}, &Breaks{Problem: to + " is a keyword of Go's syntax"}
	case to == "_", to == "init", target.Name == "init" && target.Container == "":
		return Renaming{}, &Breaks{Problem: "_ and init have a meaning of their own in Go"}
	}
	files = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(files), target.File))))
	before := check{ctx: ctx, repo: repo, sources: from, modules: findModules(repo, files), name: target.Name, absent: map[string]bool{}}
	before.targets = before.twins(target)
	if before.isMain && target.Name == "main" && target.Container == "" {
		return Renaming{}, &Breaks{Problem: "main has a meaning of its own in Go"}
	}
	before.run(files)
	if err := ctx.Err(); err != nil {
		return Renaming{}, err
	}
	if !before.places[Place{target.File, target.Start, target.Start + len(target.Name)}] {
		return Renaming{}, &Breaks{Problem: fmt.Sprintf("Go's type checker does not get as far as %s in %s; see that the file parses", target.Name, target.File)}
	}
	found := Renaming{Places: sorted(before.places), Unknown: sorted(before.unknown), Packages: before.packages}
	for imported := range before.absent {
		found.Absent = append(found.Absent, imported)
	}
	slices.Sort(found.Absent)
	after := check{ctx: ctx, repo: repo, sources: from, modules: before.modules, name: to, absent: map[string]bool{}, changed: map[string]string{}, targets: map[Place]bool{}}
	shift := len(to) - len(target.Name)
	for file, places := range byFile(found.Places) {
		text, err := repo.Text(file)
		if err != nil {
			return Renaming{}, err
		}
		var changed strings.Builder
		from := 0
		for i, p := range places {
			changed.WriteString(text[from:p.Start] + to)
			from = p.End
			if before.targets[p] {
				start := p.Start + i*shift
				after.targets[Place{file, start, start + len(to)}] = true
			}
		}
		after.changed[file] = changed.String() + text[from:]
	}
	after.run(files)
	if err := ctx.Err(); err != nil {
		return Renaming{}, err
	}
	if err := before.newIn(&after, to); err != nil {
		return Renaming{}, err
	}
	if len(after.places) != len(before.places) {
		return Renaming{}, &Breaks{Problem: fmt.Sprintf("%s would mean something else in some of the places; give another name", to)}
	}
	return found, nil
}

func sorted(set map[Place]bool) (list []Place) {
	for p := range set {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Place) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start)) })
	return list
}

// byFile has the places of each file, in order.
func byFile(list []Place) map[string][]Place {
	m := map[string][]Place{}
	for _, p := range list {
		m[p.File] = append(m[p.File], p)
	}
	return m
}

// check is what the type checker says of some files.
type check struct {
	ctx     context.Context
	repo    Repository
	sources sources
	modules []goModule
	changed map[string]string
	name    string
	// targets are the places of declarations whose uses are looked for.
	targets map[Place]bool
	isMain  bool // the target's package is main

	places, unknown map[Place]bool
	problems        []types.Error
	fset            *token.FileSet
	packages        int
	absent          map[string]bool
}

// twins are the declaration and those that are it on other systems: of the same name and
// container in the same package.
func (c *check) twins(t Target) map[Place]bool {
	set := map[Place]bool{{t.File, t.Start, t.Start + len(t.Name)}: true}
	fset := token.NewFileSet()
	parse := func(file string) *ast.File {
		text, err := c.repo.Text(file)
		if err != nil {
			return nil
		}
		f, _ := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
		return f
	}
	own := parse(t.File)
	if own == nil || own.Name == nil {
		return set
	}
	c.isMain = own.Name.Name == "main"
	isTarget := false
	others := map[Place]bool{}
	for _, name := range c.repo.Files(path.Dir(t.File)) {
		f := parse(path.Join(path.Dir(t.File), name))
		if f == nil || f.Name == nil || f.Name.Name != own.Name.Name {
			continue
		}
		for _, id := range declared(f, t.Container, t.Name) {
			p := placeOf(fset, id)
			isTarget = isTarget || set[p]
			others[p] = true
		}
	}
	if isTarget { // else it is declared inside of something, and has no twin
		for p := range others {
			set[p] = true
		}
	}
	return set
}

// declared are the names of a package's declarations in a file, or of a type's members.
func declared(f *ast.File, container, name string) (list []*ast.Ident) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.Name == name {
				list = append(list, id)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver(d) == container {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					if container == "" {
						add(s.Names...)
					}
				case *ast.TypeSpec:
					if container == "" {
						add(s.Name)
					} else if s.Name.Name == container {
						for _, field := range membersOf(s.Type) {
							add(field.Names...)
						}
					}
				}
			}
		}
	}
	return list
}

// receiver is the name of the type that a method belongs to, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	for e := d.Recv.List[0].Type; ; {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}

func membersOf(e ast.Expr) []*ast.Field {
	switch t := e.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

func placeOf(fset *token.FileSet, id *ast.Ident) Place {
	at := fset.PositionFor(id.Pos(), false)
	return Place{at.Filename, at.Offset, at.Offset + len(id.Name)}
}

// run checks the packages of files, on as many systems as it takes to meet each.
func (c *check) run(files []string) {
	c.places, c.unknown, c.fset = map[Place]bool{}, map[Place]bool{}, token.NewFileSet()
	left := map[string]bool{}
	for _, f := range files {
		left[f] = true
	}
	for _, on := range systems() {
		if len(left) == 0 || c.ctx.Err() != nil {
			return
		}
		l := &loader{ctx: c.ctx, repo: c.repo, sources: c.sources, modules: c.modules, on: on, fset: c.fset, changed: c.changed, known: map[string]*types.Package{}, absent: c.absent}
		folders := map[string]bool{}
		for f := range left {
			folders[path.Dir(f)] = true
		}
		for dir := range folders {
			c.folder(l, dir, left)
		}
	}
}

// folder checks the packages of a folder that have one of the files left.
func (c *check) folder(l *loader, dir string, left map[string]bool) {
	parsed := l.parseOwn(dir, true)
	names := map[string]bool{}
	for _, f := range parsed {
		if left[c.fset.PositionFor(f.Package, false).Filename] {
			names[f.Name.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		files := l.packageOf(parsed, name)
		for _, f := range files {
			delete(left, c.fset.PositionFor(f.Package, false).Filename)
		}
		at := filepath.Join(l.repo.Root, filepath.FromSlash(dir))
		config := l.config(at)
		imported := l.importPath(dir)
		if tested, ok := strings.CutSuffix(name, "_test"); ok { // it sees what the package's own tests export
			whole := l.config(at)
			whole.IgnoreFuncBodies = true
			if p, _ := whole.Check(imported, c.fset, l.packageOf(parsed, tested), nil); p != nil {
				config.Importer = testImporter{importer{l, at}, imported, p}
			}
			imported += "_test"
		}
		config.Error = func(err error) {
			if e, ok := err.(types.Error); ok {
				c.problems = append(c.problems, e)
			}
		}
		info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		_, _ = config.Check(imported, c.fset, files, &info) // config.Error has had its errors
		c.packages++
		for _, f := range files {
			c.note(f, &info)
		}
	}
}

// testImporter imports for the tests of a package that stand outside of it.
type testImporter struct {
	importer
	tested string
	whole  *types.Package
}

func (t testImporter) Import(imported string) (*types.Package, error) {
	return t.ImportFrom(imported, "", 0)
}

func (t testImporter) ImportFrom(imported, from string, mode types.ImportMode) (*types.Package, error) {
	if imported == t.tested {
		return t.whole, nil
	}
	return t.importer.ImportFrom(imported, from, mode)
}

// note adds the places of a file.
func (c *check) note(f *ast.File, info *types.Info) {
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != c.name {
			return true
		}
		object := info.Defs[id]
		if object == nil {
			object = info.Uses[id]
		}
		_, defines := info.Defs[id] // a package's own name, the symbol of a type switch: no object
		switch {
		case object != nil && c.isMeant(object), info.Uses[id] != nil && c.isMeant(info.Uses[id]):
			c.places[placeOf(c.fset, id)] = true
		case object == nil && !defines:
			c.unknown[placeOf(c.fset, id)] = true
		}
		return true
	})
}

// isMeant answers whether an object is one of the targets, or a field that is there because a
// target is embedded.
func (c *check) isMeant(object types.Object) bool {
	switch o := object.(type) {
	case *types.Func:
		object = o.Origin()
	case *types.Var:
		o = o.Origin()
		object = o
		if o.Embedded() {
			t := types.Unalias(o.Type())
			if p, ok := t.(*types.Pointer); ok {
				t = types.Unalias(p.Elem())
			}
			if named, ok := t.(*types.Named); ok && named.Obj().Name() == c.name {
				return c.isMeant(named.Obj())
			}
		}
	}
	if !object.Pos().IsValid() {
		return false
	}
	at := c.fset.PositionFor(object.Pos(), false)
	return c.targets[Place{at.Filename, at.Offset, at.Offset + len(c.name)}]
}

// newIn is what is wrong after a change and was not before.
func (c *check) newIn(after *check, to string) error {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(to) + `\b`)
	key := func(e types.Error) string { return word.ReplaceAllString(e.Msg, c.name) }
	known := map[string]int{}
	for _, e := range c.problems {
		known[key(e)]++
	}
	for _, e := range after.problems {
		if known[key(e)]--; known[key(e)] < 0 {
			at := e.Fset.PositionFor(e.Pos, false)
			return &Breaks{File: at.Filename, Line: at.Line, Problem: e.Msg}
		}
	}
	return nil
}
