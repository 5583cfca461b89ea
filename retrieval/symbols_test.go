package retrieval

import (
	"fmt"
	"slices"
	"testing"

	"quarry/index/lang"
	"quarry/index/syntax"
)

func indexOf(t *testing.T, files map[string]string) *Index {
	t.Helper()
	ix := New(Options{})
	var changes []Change
	for path, text := range files {
		f, err := syntax.Analyze(lang.Detect(path, []byte(text)), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, Change{Path: path, Document: &Document{Path: path, Language: f.Language, Text: text, Syntax: f}})
	}
	ix.Apply(changes)
	return ix
}

func TestDeclared(t *testing.T) {
	ix := indexOf(t, map[string]string{
		"db/store.go":      "package db\n\ntype Store struct{}\n\nfunc (s *Store) Open() error { return nil }\n\nfunc OpenStore() *Store { return nil }\n",
		"db/store_test.go": "package db\n\nfunc open() {}\n",
		"net/conn.go":      "package net\n\ntype Conn struct{}\n\nfunc (c *Conn) Open() error { return nil }\n\nfunc reopened() {}\n",
		"ui/open_file.py":  "class Window:\n    def open_file(self):\n        pass\n",
		"README.md":        "# Open\n\nHow to open.\n",
	})
	for _, c := range []struct {
		name  string
		kinds []syntax.Kind
		limit int
		want  []string
	}{
		{"Open", nil, 2, []string{"db/store.go Store.Open", "net/conn.go Conn.Open"}},
		{"Open", nil, 10, []string{"db/store.go Store.Open", "net/conn.go Conn.Open", "db/store_test.go open", "db/store.go OpenStore", "ui/open_file.py Window.open_file", "net/conn.go reopened"}},
		{"Store.Open", nil, 1, []string{"db/store.go Store.Open"}},
		{"(*Conn).Open", nil, 1, []string{"net/conn.go Conn.Open"}},
		{"Conn::Open(ctx)", nil, 1, []string{"net/conn.go Conn.Open"}},
		{"net.Open", nil, 1, []string{"net/conn.go Conn.Open"}}, // a package's name
		{"openfile", nil, 1, []string{"ui/open_file.py Window.open_file"}},
		{"OpenFile", nil, 1, []string{"ui/open_file.py Window.open_file"}},
		{"reopend", nil, 9, []string{"net/conn.go reopened"}},
		{"open", []syntax.Kind{syntax.KindFunction}, 9, []string{"db/store_test.go open", "db/store.go OpenStore", "net/conn.go reopened"}},
		{"Open", []syntax.Kind{syntax.KindSection}, 9, []string{"README.md Open"}},
		{"Elephant", nil, 9, nil}, {"", nil, 9, nil}, {"...", nil, 9, nil}, {"(", nil, 9, nil}, {"\xff", nil, 9, nil},
	} {
		var got []string
		for _, d := range ix.Current().Declared(c.name, c.kinds, c.limit) {
			name := d.Name
			if d.Container != "" {
				name = d.Container + "." + name
			}
			got = append(got, d.Path+" "+name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.name, c.kinds, got, c.want)
		}
	}
	ix.Apply([]Change{{Path: "db/store.go"}})
	for _, d := range ix.Current().Declared("Open", nil, 10) {
		if d.Path == "db/store.go" {
			t.Error("a removed file's declaration is found")
		}
	}
}

// A name is known by an import that takes it, that calls something so, or whose path says so; a file
// that was removed does neither import nor use any more.
func TestImportingAndUsing(t *testing.T) {
	ix := indexOf(t, map[string]string{
		"a.py": "from pathlib import Path, PurePath\nimport numpy as np\n\nPath(np)\n",
		"b.py": "import pathlib\nfrom x import y as Path\n\npathlib.Path()\n",
		"c.py": "from pathlib import Path\n\nPath()\n",
		"d.py": "PATH = 1\n",
	})
	importing := func(name string) (list []string) {
		s := ix.Current()
		s.Importing(name, func(path string) bool { return path == name }, func(file FileID, im syntax.Import) {
			list = append(list, fmt.Sprint(s.Path(file), " ", im.Path, im.Names, im.Alias))
		})
		return list
	}
	using := func(name string) (list []string) {
		for _, id := range ix.Current().Using(name) {
			list = append(list, ix.Current().Path(id))
		}
		return list
	}
	check := func(got, want []string) {
		t.Helper()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(importing("Path"), []string{"a.py pathlib[Path PurePath]", "b.py x[y]Path", "c.py pathlib[Path]"})
	check(importing("np"), []string{"a.py numpy[]np"})
	check(importing("pathlib"), []string{"a.py pathlib[Path PurePath]", "b.py pathlib[]", "c.py pathlib[Path]"})
	check(importing(""), nil)
	check(importing("PATH"), nil)
	check(using("Path"), []string{"a.py", "b.py", "c.py"})
	check(using("nobody"), nil)
	ix.Apply([]Change{{Path: "c.py"}})
	check(importing("Path"), []string{"a.py pathlib[Path PurePath]", "b.py x[y]Path"})
	check(using("Path"), []string{"a.py", "b.py"})
}
