package learn

import (
	"fmt"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/completion/eval"
	"quarry/completion/idioms"
)

// repositories are n of them, each with what text makes of its number.
func repositories(n int, text func(i int) string) Corpus {
	return func(yield func(eval.Repository) error) error {
		for i := range n {
			d := completion.Document{Path: "a.go", Language: "go", Text: text(i)}
			if err := yield(eval.Repository{Name: fmt.Sprint(i), Documents: []completion.Document{d}}); err != nil {
				return err
			}
		}
		return nil
	}
}

func learned(t *testing.T, corpus Corpus) []idioms.Idiom {
	t.Helper()
	tables, err := Learn(corpus)
	if err != nil {
		t.Fatal(err)
	}
	return tables["go"]
}

func rest(t *testing.T, corpus Corpus, above, typed string) string {
	t.Helper()
	text, _ := idioms.New(learned(t, corpus)).Rest(above, typed, nil)
	return text
}

// Names differ from place to place, the rest is the same.
func TestLearn(t *testing.T) {
	corpus := repositories(9, func(i int) string {
		return fmt.Sprintf("lock%d.Lock()\ndefer lock%d.Unlock()\nif name%d != nil {\n\treturn false\n}\n// if a comment\n", i, i, i)
	})
	for _, tt := range []struct{ above, typed, want string }{
		{"m.Lock()", "", "defer m.Unlock()"},
		{"m.Lock()", "defer m.", "Unlock()"},
		{"", "ret", "urn false"},
		{"", "if x !", "= nil {"},
		{"", "if a com", ""},
	} {
		if got := rest(t, corpus, tt.above, tt.typed); got != tt.want {
			t.Errorf("%q below %q: %q, want %q", tt.typed, tt.above, got, tt.want)
		}
	}
}

// What few wrote, what goes on in many ways, and what says little is no idiom.
func TestNoIdioms(t *testing.T) {
	for name, text := range map[string]func(i int) string{
		"few":       func(i int) string { return strings.Repeat("only three of them wrote this\n", max(0, 100*(3-i))) },
		"undecided": func(i int) string { return []string{"return true\n", "return false\n"}[i%2] },
		"little":    func(int) string { return "})\n}\n" },
		"names":     func(i int) string { return fmt.Sprintf("return name%d\n", i) },
	} {
		if got := learned(t, repositories(8, text)); name != "undecided" && len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		} else if len(got) > 0 {
			for _, i := range got {
				if i.Sure < len("return t") {
					t.Errorf("%s: sure of %+v", name, i)
				}
			}
		}
	}
}

// One repository that says a thing a thousand times has one vote.
func TestEachRepositoryHasOneVote(t *testing.T) {
	corpus := repositories(9, func(i int) string {
		if i == 0 {
			return strings.Repeat("close file now\n", 1000)
		}
		return "close door now\n"
	})
	if got := rest(t, corpus, "", "close "); got != "door now" {
		t.Errorf("the loud one wins: %q", got)
	}
}
