package workspace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"quarry/index/systest"
)

// A folder that the editor names by a link, and that lies in another one or is it, answers once, by
// the names of the outermost; what the editor has open in it by the link's name counts there.
func TestFoldersByLinksAnswerOnce(t *testing.T) {
	systest.NeedLinks(t)
	top := t.TempDir()
	barn, other := filepath.Join(top, "barn"), filepath.Join(top, "other")
	stalls := filepath.Join(barn, "stalls")
	write(t, top, map[string]string{
		"barn/a.go":        "package barn\n\nfunc Sow() {}\n",
		"barn/stalls/b.go": "package stalls\n\n// Harvest collects ripe apples.\nfunc Harvest() {}\n",
		"other/c.go":       "package other\n\n// Harvest is another.\nfunc Harvest() {}\n",
	})
	alias, inner, outside := filepath.Join(top, "alias"), filepath.Join(top, "inner"), filepath.Join(barn, "outside")
	link(t, barn, alias)
	link(t, stalls, inner)
	link(t, other, outside)
	for i, test := range []struct {
		roots []string
		edits string   // as the editor names stalls/b.go
		file  string   // where that is found
		found []string // of harvest
		files int
	}{
		{[]string{barn, inner}, filepath.Join(inner, "b.go"), filepath.Join(stalls, "b.go"), []string{"barn/stalls/b.go"}, 2},
		{[]string{inner, barn}, filepath.Join(inner, "b.go"), filepath.Join(stalls, "b.go"), []string{"barn/stalls/b.go"}, 2},
		{[]string{barn, alias}, filepath.Join(alias, "stalls", "b.go"), filepath.Join(stalls, "b.go"), []string{"barn/stalls/b.go"}, 2},
		{[]string{alias, stalls}, filepath.Join(stalls, "b.go"), filepath.Join(alias, "stalls", "b.go"), []string{"alias/stalls/b.go"}, 2},
		{[]string{filepath.Join(alias, "stalls"), barn}, filepath.Join(alias, "stalls", "b.go"), filepath.Join(stalls, "b.go"), []string{"barn/stalls/b.go"}, 2},
		// One that leads elsewhere has an index of its own, wherever the link stands.
		{[]string{barn, outside}, filepath.Join(stalls, "b.go"), filepath.Join(stalls, "b.go"), []string{"barn/stalls/b.go", "outside/c.go"}, 3},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := open(t, false, test.roots[0])
			w.DidOpen(test.edits, "package stalls\n\n// Harvest collects ripe apples.\nfunc Harvest() {}\n\nfunc Reap() {}\n")
			w.SetRoots(test.roots) // as an editor adds one after the other
			if err := w.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			found := w.find("harvest")
			slices.Sort(found)
			if !slices.Equal(found, test.found) {
				t.Errorf("search: %v, want %v", found, test.found)
			}
			files, _, err := w.Files(t.Context(), nil)
			if err != nil || len(files) != test.files {
				t.Errorf("files: %+v, %v", files, err)
			}
			w.DidChange(test.edits, "package stalls\n\n// Harvest collects ripe apples.\nfunc Harvest() {}\n\nfunc Reap() {}\n\nfunc Mow() {}\n")
			if err := w.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			symbols, err := w.Declared(t.Context(), test.edits)
			if err != nil || len(symbols.List) != 4 || symbols.List[3].Path != test.file {
				t.Errorf("what is open declares %+v, %v", symbols.List, err)
			}
			for _, name := range []string{test.edits, w.Name(test.edits)} {
				if path, err := w.Locate(t.Context(), name); err != nil || path != test.file {
					t.Errorf("%s is at %s, %v", name, path, err)
				}
			}
			if text, err := w.Text(test.edits); err != nil || len(text) < 90 {
				t.Errorf("its text is %q, %v", text, err)
			}
			// Alone again it is what it is named.
			w.SetRoots(test.roots[1:])
			if err := w.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if roots := w.Roots(); !slices.Equal(roots, test.roots[1:]) {
				t.Errorf("without the other the folder is %s", roots)
			}
		})
	}
}
