package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipesNameWhatIsThere: each file, folder and test that CONTRIBUTING.md names exists, so that
// its recipes can be followed to the letter.
func TestRecipesNameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t, root)
	// A path with a word in capitals is a pattern; what make writes is not in the tree.
	isPattern := regexp.MustCompile(`[A-Z]{3,}|\*`)
	paths, names := 0, 0
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(text), -1) {
		for _, word := range strings.FieldsFunc(strings.Trim(code, "`"), func(r rune) bool { return strings.ContainsRune(" '\"/", r) && r != '/' }) {
			path := strings.TrimSuffix(strings.TrimPrefix(word, "./"), "/")
			first, _, _ := strings.Cut(path, "/")
			if _, err := os.Stat(filepath.Join(root, first)); err != nil || first == "" || first == "bin" || !strings.Contains(path, "/") {
				continue
			}
			paths++
			if isPattern.MatchString(path) {
				path = filepath.Dir(path[:isPattern.FindStringIndex(path)[0]] + "x")
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				t.Errorf("%s: %v", code, err)
			}
		}
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`).FindAllString(code, -1) {
			names++
			if name != "TestX" && !tests[name] {
				t.Errorf("%s: there is no test %s", code, name)
			}
		}
	}
	if paths < 40 || names < 10 {
		t.Errorf("%d paths and %d tests were found in CONTRIBUTING.md; the test looks for them in the wrong way", paths, names)
	}
}

// declaredTests are the names of all tests below a folder.
func declaredTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
