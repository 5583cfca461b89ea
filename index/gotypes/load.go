// Package gotypes finds what the names in Go code mean, with Go's own type checker, and checks
// that a change compiles. It runs no tool and needs none: the packages of the repository are
// read as they are in the editor, those of others from the machine's module cache and from
// the sources of the toolchain, where there are any. What is not on the machine is a package
// without members, and what rests on it is not known.
package gotypes

import (
	"context"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Repository is the code that is looked at. Paths are relative to its root, with slashes.
type Repository struct {
	// Root is its absolute path.
	Root string
	// Text is a file as it is now; an error means that it may not be read.
	Text func(file string) (string, error)
	// Files are the names of Go's files in a folder, without it.
	Files func(folder string) []string
}

// system is what a build is for.
type system struct {
	os string
	// tagged: with every build tag that a file may ask for, beside those of the system.
	tagged bool
}

// systems are looked at in order, until each file has been met: a file is for some of them.
func systems() []system {
	list := []system{{runtime.GOOS, false}}
	for _, os := range []string{"linux", "windows", "darwin"} {
		if os != runtime.GOOS {
			list = append(list, system{os, false})
		}
	}
	return append(list, system{runtime.GOOS, true})
}

// sources are where code lies that is not the repository's; "" where there is none.
type sources struct{ toolchain, modules string }

// onThisMachine finds the sources as the go command does, without asking it.
func onThisMachine() (s sources) {
	s.toolchain = os.Getenv("GOROOT")
	if s.toolchain == "" {
		if tool, err := exec.LookPath("go"); err == nil {
			if tool, err = filepath.EvalSymlinks(tool); err == nil {
				s.toolchain = filepath.Dir(filepath.Dir(tool))
			}
		}
	}
	if info, err := os.Stat(filepath.Join(s.toolchain, "src", "fmt")); s.toolchain == "" || err != nil || !info.IsDir() {
		s.toolchain = ""
	}
	s.modules = os.Getenv("GOMODCACHE")
	if s.modules == "" {
		home, _ := os.UserHomeDir()
		gopath, _, _ := strings.Cut(os.Getenv("GOPATH"), string(filepath.ListSeparator))
		switch {
		case gopath != "":
			s.modules = filepath.Join(gopath, "pkg", "mod")
		case home != "":
			s.modules = filepath.Join(home, "go", "pkg", "mod")
		}
	}
	return s
}

// goModule is one that the repository holds.
type goModule struct {
	dir, path string
	requires  []module.Version
}

// loader makes packages of files, for one system.
type loader struct {
	ctx     context.Context
	repo    Repository
	sources sources
	modules []goModule // the innermost first
	on      system
	fset    *token.FileSet
	// changed are the texts of files in place of the repository's; nil for none.
	changed map[string]string
	// known are packages without bodies, by folder and variant; nil while one is being made.
	known map[string]*types.Package
	// absent are imports that are not on this machine.
	absent map[string]bool
}

// findModules reads the go.mod of each folder above some files.
func findModules(repo Repository, files []string) (list []goModule) {
	met := map[string]bool{}
	for _, file := range files {
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			if met[dir] {
				break
			}
			met[dir] = true
			name := path.Join(dir, "go.mod")
			if text, err := repo.Text(name); err == nil {
				if f, err := modfile.ParseLax(name, []byte(text), nil); err == nil && f.Module != nil {
					m := goModule{dir: dir, path: f.Module.Mod.Path}
					for _, r := range f.Require {
						m.requires = append(m.requires, r.Mod)
					}
					for _, r := range f.Replace { // by another module; a folder is not followed
						for i := range m.requires {
							if m.requires[i].Path == r.Old.Path && (r.Old.Version == "" || r.Old.Version == m.requires[i].Version) && r.New.Version != "" {
								m.requires[i].Version = r.New.Version + " " + r.New.Path
							}
						}
					}
					list = append(list, m)
				}
			}
			if dir == "." {
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b goModule) int { return len(b.dir) - len(a.dir) })
	return list
}

// moduleOf is the module that a folder of the repository is in, nil if it is in none.
func (l *loader) moduleOf(dir string) *goModule {
	for i := range l.modules {
		if m := &l.modules[i]; m.dir == "." || dir == m.dir || strings.HasPrefix(dir, m.dir+"/") {
			return m
		}
	}
	return nil
}

// importPath is how the package of a folder is imported.
func (l *loader) importPath(dir string) string {
	m := l.moduleOf(dir)
	if m == nil {
		return dir
	}
	return path.Join(m.path, strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/"))
}

// own is the folder of a package of the repository.
func (l *loader) own(imported string) (dir string, ok bool) {
	for _, m := range l.modules {
		if rest, ok := strings.CutPrefix(imported+"/", m.path+"/"); ok {
			dir := path.Join(m.dir, rest)
			if l.moduleOf(dir) != nil && l.moduleOf(dir).path == m.path && len(l.repo.Files(dir)) > 0 {
				return dir, true
			}
		}
	}
	return "", false
}

// foreign is the absolute folder of a package of another repository, "" if it is not on this
// machine. from is the absolute folder of the package that imports it.
func (l *loader) foreign(imported, from string) string {
	if module.CheckImportPath(imported) != nil {
		return ""
	}
	isThere := func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	}
	if l.sources.toolchain != "" {
		src := filepath.Join(l.sources.toolchain, "src")
		for _, dir := range []string{filepath.Join(src, filepath.FromSlash(imported)), filepath.Join(src, "vendor", filepath.FromSlash(imported))} {
			first, _, _ := strings.Cut(imported, "/")
			inside := strings.HasPrefix(from, src+string(filepath.Separator))
			if (!strings.Contains(first, ".") || inside) && isThere(dir) {
				return dir
			}
		}
	}
	for _, m := range l.modules {
		for _, r := range m.requires {
			rest, ok := strings.CutPrefix(imported+"/", r.Path+"/")
			if !ok || l.sources.modules == "" {
				continue
			}
			version, name, replaced := strings.Cut(r.Version, " ")
			if !replaced {
				name = r.Path
			}
			name, err := module.EscapePath(name)
			if err != nil || module.Check(r.Path, version) != nil && !replaced {
				continue
			}
			if version, err = module.EscapeVersion(version); err != nil {
				continue
			}
			if dir := filepath.Join(l.sources.modules, filepath.FromSlash(name)+"@"+version, filepath.FromSlash(rest)); isThere(dir) {
				return dir
			}
		}
	}
	return ""
}

// Import implements types.Importer.
func (l *loader) Import(imported string) (*types.Package, error) {
	return l.ImportFrom(imported, "", 0)
}

// errCycle is of packages that import each other.
var errCycle = errors.New("packages import each other")

// ImportFrom implements types.ImporterFrom. The bodies of functions are left out.
func (l *loader) ImportFrom(imported, from string, _ types.ImportMode) (*types.Package, error) {
	if imported == "unsafe" {
		return types.Unsafe, nil
	}
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	dir, own := l.own(imported)
	key := dir
	if !own {
		if key = l.foreign(imported, from); key == "" {
			l.absent[imported] = true
			p := types.NewPackage(imported, path.Base(imported))
			p.MarkComplete()
			return p, nil
		}
	}
	if p, ok := l.known[key]; ok {
		if p == nil {
			return nil, errCycle
		}
		return p, nil
	}
	l.known[key] = nil
	var files []*ast.File
	at := key
	if own {
		at = filepath.Join(l.repo.Root, filepath.FromSlash(dir))
		files = l.packageOf(l.parseOwn(dir, false), "")
	} else {
		files = l.packageOf(l.parseForeign(key), "")
	}
	config := l.config(at)
	config.IgnoreFuncBodies = true
	p, _ := config.Check(imported, l.fset, files, nil) // what is wrong with it is said elsewhere
	l.known[key] = p
	return p, nil
}

// config checks what lies in a folder. Errors are passed over, so that the rest is known.
func (l *loader) config(at string) *types.Config {
	return &types.Config{Importer: importer{l, at}, FakeImportC: true, Error: func(error) {}, Sizes: types.SizesFor("gc", "amd64")}
}

// importer imports for one package.
type importer struct {
	l  *loader
	at string
}

func (i importer) Import(imported string) (*types.Package, error) {
	return i.l.ImportFrom(imported, i.at, 0)
}

func (i importer) ImportFrom(imported, _ string, mode types.ImportMode) (*types.Package, error) {
	return i.l.ImportFrom(imported, i.at, mode)
}

// text is a file of the repository, with what is changed in it.
func (l *loader) text(file string) (string, error) {
	if text, ok := l.changed[file]; ok {
		return text, nil
	}
	return l.repo.Text(file)
}

// parseOwn reads the files of a folder of the repository that are built for the system.
func (l *loader) parseOwn(dir string, tests bool) (list []*ast.File) {
	for _, name := range l.repo.Files(dir) {
		if l.ctx.Err() != nil {
			return nil
		}
		file := path.Join(dir, name)
		if strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		text, err := l.text(file)
		if err != nil || !l.isBuilt(name, text) {
			continue
		}
		f, _ := parser.ParseFile(l.fset, file, text, parser.SkipObjectResolution)
		if f != nil && f.Name != nil {
			list = append(list, f)
		}
	}
	return list
}

// isBuilt answers whether the system has a file.
func (l *loader) isBuilt(name, text string) bool {
	c := build.Default
	c.GOOS, c.CgoEnabled, c.Compiler = l.on.os, true, "gc"
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	if l.on.tagged {
		c.BuildTags = tagsOf(text)
	}
	ok, err := c.MatchFile("", name)
	return ok && err == nil
}

// tagsOf are the words of a file's build constraint.
func tagsOf(text string) (tags []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "package ") {
			break
		}
		if words, ok := strings.CutPrefix(line, "//go:build "); ok {
			tags = append(tags, strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(" \t()&|", r) })...)
		}
	}
	return slices.DeleteFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, "!") })
}

// parseForeign reads a folder of another repository.
func (l *loader) parseForeign(dir string) (list []*ast.File) {
	const most = 4 << 20 // of a file, in bytes
	c := build.Default
	c.GOOS, c.CgoEnabled, c.Compiler = l.on.os, false, "gc"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !e.Type().IsRegular() || l.ctx.Err() != nil {
			continue
		}
		if info, err := e.Info(); err != nil || info.Size() > most {
			continue
		}
		if ok, err := c.MatchFile(dir, name); !ok || err != nil {
			continue
		}
		if f, _ := parser.ParseFile(l.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution); f != nil && f.Name != nil {
			list = append(list, f)
		}
	}
	return list
}

// packageOf are the files of one package among those of a folder: of the given name, or else
// of the name that most of them have.
func (l *loader) packageOf(files []*ast.File, name string) (list []*ast.File) {
	if name == "" {
		count := map[string]int{}
		for _, f := range files {
			if count[f.Name.Name]++; count[f.Name.Name] > count[name] {
				name = f.Name.Name
			}
		}
	}
	for _, f := range files {
		if f.Name.Name == name {
			list = append(list, f)
		}
	}
	return list
}

// ImportPath is how the package of a folder of the repository is imported.
func ImportPath(repo Repository, dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if text, err := repo.Text(path.Join(at, "go.mod")); err == nil {
			if name := modfile.ModulePath([]byte(text)); name != "" {
				return path.Join(name, strings.TrimPrefix(strings.TrimPrefix(dir, at), "/"))
			}
		}
		if at == "." {
			return dir
		}
	}
}
