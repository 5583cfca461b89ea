package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/retrieval/workspace"
)

// renamed asks for a renaming of a symbol by its id.
func renamed(ctx context.Context, t *testing.T, w *world, id, to string) (workspace.Renaming, error) {
	t.Helper()
	s, missing, err := w.SymbolByID(t.Context(), id)
	if err != nil || missing != nil {
		t.Fatalf("%s: %v, %v", id, missing, err)
	}
	return w.Rename(ctx, s, to)
}

// Declarations in other languages neither count among those of a name nor hide them.
func TestNamesakesOfOtherLanguages(t *testing.T) {
	files := map[string]string{
		"x.js": "export function goal() {}\nexport function end() {}\ngoal();\n",
		"y.js": "export function goal() {}\n",
		"z.js": "export function only() {}\nonly();\n",
	}
	for i := range 60 {
		files[fmt.Sprintf("a%02d.py", i)] = "def goal(): pass\ndef end(): pass\ndef only(): pass\n"
	}
	for i := range 45 {
		files[fmt.Sprintf("b%02d.rb", i)] = "def many\nend\n"
	}
	dir := t.TempDir()
	write(t, dir, files)
	w := open(t, false, dir)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	var unnamed *workspace.Unnamed
	if _, err := renamed(t.Context(), t, w, "x.js#goal", "end"); !errors.As(err, &unnamed) || !strings.Contains(err.Error(), "declared there already, at x.js:2") {
		t.Errorf("a name that is taken: %v", err)
	}
	if got, err := renamed(t.Context(), t, w, "x.js#goal", "other"); err != nil || len(got.Files) != 1 || len(got.Files[0].Spans) != 2 {
		t.Errorf("beside a namesake: %+v, %v", got, err)
	}
	if got, err := renamed(t.Context(), t, w, "z.js#only", "other"); err != nil || len(got.Files) != 1 || len(got.Files[0].Spans) != 2 {
		t.Errorf("the only one of its language: %+v, %v", got, err)
	}
	if _, err := renamed(t.Context(), t, w, "b07.rb#many", "other"); !errors.As(err, &unnamed) || !strings.Contains(err.Error(), "more than 40 declarations are called many") {
		t.Errorf("one of many: %v", err)
	}
}

// A function that is imported from its module, or named by it, is meant by that, though a method
// beside it is called the same.
func TestRenamingOfAFunctionWithAMethodOfItsName(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"m.py":  "class Base:\n    def run(self):\n        return self.helper()\n\n    def helper(self):\n        return 1\n\n\ndef helper():\n    return 2\n\n\nx = helper()\n",
		"n.py":  "from m import helper\nimport m\nprint(helper(), m.helper())\n",
		"a.ts":  "export function load(p: string): string { return p }\nexport class Store { load() { return 1 } }\n",
		"b.ts":  "import { load } from './a'\nimport * as a from './a'\nexport const z = load('1') + a.load('2')\n",
		"w.c":   "int turn(void) { return 1; }\n",
		"w.cpp": "int wind() { return 1; }\n",
	})
	w := open(t, false, dir)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]map[string]int{"m.py#helper": {"m.py": 2, "n.py": 3}, "a.ts#load": {"a.ts": 1, "b.ts": 3}} {
		got, err := renamed(t.Context(), t, w, id, "assist")
		spans := map[string]int{}
		for _, f := range got.Files {
			spans[w.Name(f.Path)] = len(f.Spans)
		}
		if err != nil || !maps.Equal(spans, want) || len(got.Left)+len(got.Check) > 0 {
			t.Errorf("%s: %v, %v, left %v, to check %v", id, spans, err, got.Left, got.Check)
		}
	}
	// Where a grammar takes keywords for names, the language's own are refused.
	for id, to := range map[string]string{"m.py#helper": "class", "w.c#turn": "while", "w.cpp#wind": "delete"} {
		var unnamed *workspace.Unnamed
		if _, err := renamed(t.Context(), t, w, id, to); !errors.As(err, &unnamed) || !strings.Contains(err.Error(), to+" is a keyword of ") {
			t.Errorf("%s to %s: %v", id, to, err)
		}
	}
	if _, err := renamed(t.Context(), t, w, "w.c#turn", "delete"); err != nil {
		t.Errorf("a keyword of C++ in C: %v", err)
	}
}

// Y14: a name that stands in more places than anybody reads is refused with what to do, and a
// question that ends while a file is looked at is answered nothing.
func TestRenamingIsBounded(t *testing.T) {
	calls := func(n int) string { return "def goal(): pass\n" + strings.Repeat("goal()         \n", n) }
	dir := t.TempDir()
	write(t, dir, map[string]string{"many/t.py": calls(10_001), "few/t.py": strings.ReplaceAll(calls(3000), "goal", "aim")})
	w := open(t, false, dir)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	var unnamed *workspace.Unnamed
	if _, err := renamed(t.Context(), t, w, "many/t.py#goal", "other"); !errors.As(err, &unnamed) || err.Error() != "goal stands in more than 10000 places, with those in many/t.py; use your language server's rename, or name that file in .quarryignore" {
		t.Errorf("many places: %v", err)
	}
	var looks atomic.Int64
	got, err := renamed(counted{t.Context(), &looks, 1 << 30}, t, w, "few/t.py#aim", "other")
	if err != nil || len(got.Files) != 1 || len(got.Files[0].Spans) != 3001 {
		t.Fatalf("fewer places: %d files, %v", len(got.Files), err)
	}
	for i := range 8 { // behind the last of them nothing is left to do
		last, asked := looks.Load()*int64(i)/10, new(atomic.Int64)
		if got, err := renamed(counted{t.Context(), asked, last}, t, w, "few/t.py#aim", "other"); !errors.Is(err, context.Canceled) || len(got.Files) > 0 {
			t.Errorf("ended at look %d of %d: %d files, %v", last, looks.Load(), len(got.Files), err)
		}
	}
}

// counted is a context that counts who asks it, and has ended when it was asked so many times.
type counted struct {
	context.Context
	looks *atomic.Int64 // the database asks too, beside
	last  int64
}

func (c counted) Err() error {
	if c.looks.Add(1) > c.last {
		return context.Canceled
	}
	return nil
}
