package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/systest"
)

// layers is the order of DESIGN.md: a package may import siblings to its left
// only. model stands apart: it imports no sibling and only cmd imports it.
var layers = []string{"index", "retrieval", "completion", "agent", "diagnostics", "lsp", "cmd"}

// owners names the only sibling that may import a library directly.
var owners = map[string]string{
	"go.lsp.dev/":                       "lsp",
	"github.com/mattn/go-sqlite3":       "index",
	"github.com/smacker/go-tree-sitter": "index",
	"github.com/viterin/vek":            "retrieval",
	"github.com/ollama/ollama/":         "model",
	"github.com/modelcontextprotocol/":  "agent",
}

func TestImportRules(t *testing.T) {
	rank := map[string]int{}
	for i, name := range layers {
		rank[name] = i
	}
	pkgs := listPackages(t)
	if len(pkgs) < 3 {
		t.Fatalf("go list found %d packages of quarry; the test looks in the wrong place", len(pkgs))
	}
	for _, p := range pkgs {
		from, ok := topLevel(p.ImportPath)
		if !ok {
			continue
		}
		for _, imp := range p.Imports {
			if to, ok := topLevel(imp); ok && to != from {
				switch {
				case from == "bench" || from == "testdata":
					// Measurement and generator programs stand above everything.
				case to == "model" && from != "cmd":
					t.Errorf("%s imports %s: only cmd may import model", p.ImportPath, imp)
				case from == "model":
					t.Errorf("%s imports %s: model imports no sibling", p.ImportPath, imp)
				case to != "model" && rank[to] > rank[from]:
					t.Errorf("%s imports %s: %s is above %s", p.ImportPath, imp, to, from)
				case from == "agent" && to == "completion":
					t.Errorf("%s imports %s: completion and agent stand side by side", p.ImportPath, imp)
				}
			}
			for lib, owner := range owners {
				if strings.HasPrefix(imp, lib) && from != owner && from != "bench" && from != "testdata" {
					t.Errorf("%s imports %s: only %s may", p.ImportPath, imp, owner)
				}
			}
		}
	}
}

// What only measures or tests is not in the binary that users run.
func TestShippedBinary(t *testing.T) {
	systest.NeedProgram(t, "go")
	out, err := exec.Command("go", "list", "-deps", "-tags", "sqlite_fts5", "quarry/cmd/quarry").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "quarry/cmd/internal/engines") {
		t.Fatal("the list is not that of quarry: it lacks the engines")
	}
	for _, p := range packages {
		switch {
		case strings.HasPrefix(p, "quarry/") && measures(p):
			t.Errorf("quarry is shipped with %s, which belongs to quarry-eval", p)
		case p == "testing", strings.HasPrefix(p, "quarry/model/") && strings.HasSuffix(p, "test"):
			t.Errorf("quarry is shipped with %s", p)
		}
	}
}

// measures answers whether a package, by a part of its name, evaluates quarry or learns what is
// shipped with it.
func measures(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return part == "eval" || part == "golden" || part == "train" || part == "learn"
	})
}

// rooms are packages below a folder with the siblings they may import: each can be read,
// and tested, without the rest of its folder.
var rooms = map[string][]string{
	"quarry/index/lang":              nil,
	"quarry/index/syntax/treesitter": nil,
	"quarry/index/syntax/query":      {"quarry/index/syntax/treesitter"},

	"quarry/lsp/wire":     {"quarry/lsp/text"},
	"quarry/lsp/document": {"quarry/lsp/text"},
	"quarry/lsp/progress": {"quarry/lsp/wire"},
	"quarry/lsp/search":   {"quarry/lsp/wire", "quarry/lsp/document", "quarry/lsp/text"},
	"quarry/lsp/assist":   {"quarry/lsp/wire", "quarry/lsp/document", "quarry/lsp/text"},
	"quarry/lsp/headless": {"quarry/lsp/text"},

	"quarry/lsp/service":        {"quarry/lsp/wire", "quarry/lsp/document", "quarry/lsp/search", "quarry/lsp/service/client", "quarry/lsp/service/device", "quarry/lsp/service/peer"},
	"quarry/lsp/service/client": {"quarry/lsp/service/device", "quarry/lsp/service/peer"},
	"quarry/lsp/service/device": nil,
	"quarry/lsp/service/peer":   nil,
}

func TestRooms(t *testing.T) {
	seen := 0
	for _, p := range listPackages(t) {
		allowed, ok := rooms[p.ImportPath]
		if !ok {
			continue
		}
		seen++
		folder, _ := topLevel(p.ImportPath)
		for _, imp := range p.Imports {
			if to, ok := topLevel(imp); ok && to == folder && !slices.Contains(allowed, imp) {
				t.Errorf("%s imports %s: of its folder it may import %v", p.ImportPath, imp, allowed)
			}
		}
	}
	if seen != len(rooms) {
		t.Errorf("%d of %d rooms are there", seen, len(rooms))
	}
}

// All of quarry's own C is in one package, behind which no text can harm the process.
func TestOnePackageOfC(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.CgoFiles) > 0 && p.ImportPath != "quarry/index/syntax/treesitter" {
			t.Errorf("%s has C: %v", p.ImportPath, p.CgoFiles)
		}
	}
}

// A folder of more than 30 files, or a type of more than 91 methods, has more than one
// subject.
func TestRoomsAreSmall(t *testing.T) {
	const mostFiles, mostMethods = 30, 91
	for _, p := range listPackages(t) {
		if len(p.GoFiles)+len(p.CgoFiles) > mostFiles {
			t.Errorf("%s has %d files, more than %d: give it rooms", p.ImportPath, len(p.GoFiles)+len(p.CgoFiles), mostFiles)
		}
		methods := map[string]int{}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
					methods[strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")]++
				}
			}
		}
		for name, n := range methods {
			if n > mostMethods {
				t.Errorf("%s.%s has %d methods, more than %d", p.ImportPath, name, n, mostMethods)
			}
		}
	}
}

type listedPackage struct {
	ImportPath, Dir            string
	Imports, GoFiles, CgoFiles []string
}

// listPackages reads the non-test imports of every package of the module. Test
// files may reach across (a fake model in an lsp test), shipped code may not.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	systest.NeedProgram(t, "go")
	cmd := exec.Command("go", "list", "-tags", "sqlite_fts5", "-json=ImportPath,Dir,Imports,GoFiles,CgoFiles", "quarry/...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list -json: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

func topLevel(importPath string) (string, bool) {
	rest, ok := strings.CutPrefix(importPath, "quarry/")
	if !ok {
		return "", false
	}
	top, _, _ := strings.Cut(rest, "/")
	return top, true
}
