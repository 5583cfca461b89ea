package walk

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWithheld(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".quarryignore":     "private/\n*.draft\n!kept.draft\n",
		".gitignore":        "build/\n",
		"sub/.quarryignore": "!one.draft\nhere.txt\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for rel, want := range map[string]bool{
		"main.go":           false,
		"build/made.go":     false, // ignored by git, but no secret
		".env":              true,
		"deploy/id_rsa":     true,
		"private/a.go":      true,
		"private/deep/b.go": true,
		"a.draft":           true,
		"kept.draft":        false,
		"sub/one.draft":     false,
		"sub/two.draft":     true,
		"sub/here.txt":      true,
		"here.txt":          false,
		"../outside.go":     true,
	} {
		if got := r.Withheld(rel); got != want {
			t.Errorf("Withheld(%q) = %t, want %t", rel, got, want)
		}
	}
}
