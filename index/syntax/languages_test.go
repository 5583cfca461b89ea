package syntax

import (
	"os"
	"slices"
	"testing"

	"quarry/index/lang"
)

// TestEveryLanguageIsComplete: what is needed of a language is in its row in package lang, its
// row in languages.go or plainlangs.go and, if it has a grammar, its queries and its fixture
// (TestFixtures). Whoever forgets one learns it here. Zed's list is generated (editors/zed).
func TestEveryLanguageIsComplete(t *testing.T) {
	rows := map[string]bool{}
	for _, l := range lang.All() {
		rows[l.ID] = true
	}
	queries := map[string]bool{}
	for name, l := range languages {
		if !rows[name] {
			t.Errorf("%s has a grammar and no row in package lang", name)
		}
		for _, dir := range l.queries {
			queries[dir] = true
			if _, err := queryFiles.ReadFile("queries/" + dir + "/facts.scm"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, ok := plainLanguages[name]; ok {
			t.Errorf("%s has a grammar, and is in plainlangs.go too", name)
		}
	}
	for name, rules := range plainLanguages {
		if !rows[name] {
			t.Errorf("%s is in plainlangs.go and has no row in package lang", name)
		}
		if len(rules.comment.Marks()) != 0 {
			t.Errorf("%s: comments are said in package lang", name)
		}
	}
	for _, l := range lang.All() {
		if _, ok := plainLanguages[l.ID]; !ok && languages[l.ID] == nil {
			t.Errorf("%s has neither a grammar in languages.go nor a row in plainlangs.go; one that declares nothing there is undeclared", l.ID)
		}
	}
	dirs, err := os.ReadDir("queries")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !queries[d.Name()] {
			t.Errorf("no language has queries/%s", d.Name())
		}
	}
	for _, dir := range fixtureDirs(t) {
		if language, _ := fixture(t, dir); language != dir {
			t.Errorf("testdata/syntax/%s holds a file in %s", dir, language)
		}
	}
}

// TestCommentsAreStripped: a doc comment is shown without its sign in every language.
func TestCommentsAreStripped(t *testing.T) {
	for _, l := range lang.All() {
		for _, mark := range l.Comment.Marks() {
			if got := cleanDoc([]byte(mark+" Says hello.\n"+mark+" Twice.\n"), plainMarks(l.ID)...); got != "Says hello.\nTwice." {
				t.Errorf("%s: %s leaves %q", l.ID, mark, got)
			}
		}
		for _, quote := range l.Comment.Quotes {
			if got := cleanDoc([]byte(quote+"Says hello."+quote), plainMarks(l.ID)...); got != "Says hello." {
				t.Errorf("%s: %s leaves %q", l.ID, quote, got)
			}
		}
	}
}

// plainMarks are the marks that cleanDoc is given for a language: those of one without a
// grammar.
func plainMarks(language string) []string {
	if languages[language] != nil {
		return nil
	}
	return slices.Clone(lang.Of(language).Comment.Marks())
}
