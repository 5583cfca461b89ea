package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// typecheck checks the types of all packages and their tests as another system builds them, C left
// out: go vet needs a C compiler and headers of that system for every package that C is below.
func typecheck(systems []string) error {
	for _, system := range systems {
		goos, arch, ok := strings.Cut(system, "/")
		if !ok {
			return fmt.Errorf("%q is no system: give GOOS/GOARCH", system)
		}
		n, err := typecheckFor(goos, arch)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		fmt.Printf("%s: the types of %d packages and their tests are right\n", system, n)
	}
	return nil
}

// listedPackage is a package as `go list` has it, behind all that it imports.
type listedPackage struct {
	ImportPath, Dir   string
	GoFiles, CgoFiles []string
	ImportMap         map[string]string
	Standard          bool
	Module            *struct{ Main bool }
}

// checked are the packages that were checked, by path.
type checked map[string]*types.Package

// importer finds what one package imports.
type importer struct {
	checked
	renamed map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.renamed[path]; ok {
		path = to
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed", path)
}

func typecheckFor(goos, arch string) (own int, err error) {
	list := exec.Command("go", "list", "-e", "-deps", "-test", "-tags", "sqlite_fts5", "-json=ImportPath,Dir,GoFiles,CgoFiles,ImportMap,Standard,Module", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=1")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := list.Start(); err != nil {
		return 0, err
	}
	done := checked{"unsafe": types.Unsafe}
	var wrong []error
	for d := json.NewDecoder(out); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return own, errors.Join(err, list.Wait())
		}
		if p.ImportPath == "unsafe" || p.ImportPath == "C" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		is := !p.Standard && p.Module != nil && p.Module.Main
		if is {
			own++
		}
		var failed []error
		done[p.ImportPath], failed = p.check(importer{done, p.ImportMap}, arch, is)
		wrong = append(wrong, failed...)
	}
	if err := list.Wait(); err != nil {
		return own, fmt.Errorf("go list: %w", err)
	}
	return own, errors.Join(wrong...)
}

// check checks a package; of those that are not ours no function's body, and no error counts: they
// are right by other means than C allows here.
func (p listedPackage) check(from importer, arch string, own bool) (*types.Package, []error) {
	var wrong []error
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer: from, FakeImportC: true, IgnoreFuncBodies: !own, Sizes: types.SizesFor("gc", arch),
		Error: func(err error) {
			var in types.Error
			if errors.As(err, &in) && slices.Contains(p.CgoFiles, filepath.Base(in.Fset.Position(in.Pos).Filename)) {
				return // sizes of what C declares are not known here
			}
			wrong = append(wrong, err)
		},
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // "p [p.test]" is p with its tests
	checked, _ := config.Check(path, set, files, nil)
	if !own {
		return checked, nil
	}
	return checked, wrong
}
