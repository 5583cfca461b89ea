package index

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"quarry/index/store"
	"quarry/index/walk"
)

// known puts texts into an index as a quarry did that took them for no secrets. The index
// is Brief, so that nobody else writes the rows of the full-text table.
func known(t *testing.T, x *Index, texts map[string]string) {
	t.Helper()
	if !x.IsBrief() {
		t.Fatal("the index writes its full-text table itself")
	}
	settle(t, x)
	var b store.Batch
	for name, text := range texts {
		info, err := x.Root().Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := newDocument(name, []byte(text), hashOf([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		doc.ModTime = info.ModTime().UnixNano()
		b.Put = append(b.Put, doc)
	}
	if err := x.Store().Apply(b); err != nil {
		t.Fatal(err)
	}
	due, err := x.Store().TextDue(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	var cut terms
	var rows []store.FileText
	for _, d := range due {
		text, ok := texts[d.Path]
		if !ok {
			text, _ = x.Text(d.Path)
		}
		rows = append(rows, store.FileText{ID: d.ID, Terms: cut.of(text)})
	}
	if err := x.Store().PutText(rows); err != nil {
		t.Fatal(err)
	}
}

func TestNewSecretsLeaveAnOldIndex(t *testing.T) {
	key := "-----BEGIN " + "PRIVATE KEY-----\nMIIEzanzibar\n-----END " + "PRIVATE KEY-----\n"
	texts := map[string]string{"prod.env": "TOKEN=zanzibar\n", ".envs/.local/.postgres": "P=zanzibar\n", "notes.txt": key}
	for name, meta := range map[string]map[string]string{
		"of an older quarry":                       {scanEnded: "2"},
		"of an older quarry that ended in between": {scanEnded: "", scanBegan: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			write(t, dir, project)
			write(t, dir, texts)
			x := open(t, Config{Dir: dir, StateDir: state, Brief: true})
			known(t, x, texts)
			for key, value := range meta {
				if err := x.Store().PutMeta(key, value); err != nil {
					t.Fatal(err)
				}
			}
			if hits := zanzibar(t, x); hits != 3 {
				t.Fatalf("the old index has %d of the secrets", hits)
			}
			shut(t, x)

			clock := newManual()
			y := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
			defer shut(t, y)
			// At once, before any scan.
			for _, name := range paths(t, y) {
				if walk.IsSecret(name) {
					t.Errorf("%s is still there", name)
				}
			}
			var excluded *walk.Excluded
			if _, err := y.Text("notes.txt"); !errors.As(err, &excluded) || excluded.Reason != walk.Secret {
				t.Errorf("the text of a key: %v", err)
			}
			settle(t, y)
			if hits, got := zanzibar(t, y), paths(t, y); hits != 0 || slices.Contains(got, "notes.txt") {
				t.Errorf("%d secrets are found, files %s", hits, strings.Join(got, " "))
			}
			if got, want := dump(t, y), fresh(t, dir); got != want {
				t.Errorf("the index is not as a new one: %s", firstDifference(got, want))
			}
		})
	}
}

func zanzibar(t *testing.T, x *Index) int {
	t.Helper()
	m, err := x.Store().MatchAny(t.Context(), []string{"zanzibar", "miiezanzibar"}, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	return len(m.Files)
}

// A key that is pasted into an open document is one before it is saved.
func TestKeyInABuffer(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	name := x.Root().Dir() + "/main.go"
	x.DidOpen(name, "-----BEGIN "+"OPENSSH PRIVATE KEY-----\nzanzibar\n")
	awaitText(t, x)
	if slices.Contains(paths(t, x), "main.go") || zanzibar(t, x) != 0 {
		t.Error("the key is in the index")
	}
	var excluded *walk.Excluded
	if _, err := x.Text("main.go"); !errors.As(err, &excluded) || excluded.Reason != walk.Secret {
		t.Errorf("the text of a key: %v", err)
	}
	x.DidClose(name)
	settle(t, x)
	if !slices.Contains(paths(t, x), "main.go") {
		t.Error("main.go did not come back")
	}
}
