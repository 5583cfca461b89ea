package newcomer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/retrieval/eval"
)

const published = "../../../testdata/newcomer"

// TestQuestionsAreWellFormed checks the published set, without its trees.
func TestQuestionsAreWellFormed(t *testing.T) {
	set, err := Read(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Check() {
		t.Error(p)
	}
	files, err := filepath.Glob(filepath.Join(published, "questions", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); set.Questions[name] == nil {
			t.Errorf("%s: repositories.json has no %s", f, name)
		}
	}
}

// TestQuestionsGiveNothingAway compares the published questions with the lines that
// answer them, where testdata/newcomer/fetch.sh brought the trees.
func TestQuestionsGiveNothingAway(t *testing.T) {
	set, err := Read(published)
	if err != nil {
		t.Fatal(err)
	}
	trees := treesFolder(t)
	for _, r := range set.Repositories {
		t.Run(r.Name, func(t *testing.T) {
			dir := filepath.Join(trees, r.Name)
			if err := checkCommit(dir, r); err != nil {
				t.Skipf("the spans and words are not compared with the code: %v", err)
			}
			tree, err := ReadTree(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			problems, err := tree.Check(set.Questions[r.Name])
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Error(p)
			}
		})
	}
}

// treesFolder is NEWCOMER_TREES, else the folder newcomer in quarry's cache for tests.
func treesFolder(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("NEWCOMER_TREES"); dir != "" {
		return dir
	}
	cache := os.Getenv("QUARRY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("the spans and words are not compared with the code: no NEWCOMER_TREES, and %v", err)
		}
		cache = filepath.Join(user, "quarry")
	}
	return filepath.Join(cache, "newcomer")
}

func TestReadAndCheck(t *testing.T) {
	commit := strings.Repeat("a", 40)
	read := func(repositories, questions string) (Set, error) {
		dir := t.TempDir()
		write(t, dir, "repositories.json", repositories)
		write(t, dir, "questions/a.json", questions)
		return Read(dir)
	}
	one := `[{"name":"a","language":"go","github":"o/a","commit":"` + commit + `"}]`
	good := `[{"id":"a-x","kind":"behaviour","question":"why?","answers":["d/b.go:3-9","c.go:1-1"]}]`
	set, err := read(one, good)
	if err != nil {
		t.Fatal(err)
	}
	if q := set.Questions["a"][0]; len(set.Check()) > 0 || q.Answers[0] != (eval.Span{Path: "d/b.go", StartLine: 3, EndLine: 9}) {
		t.Errorf("%+v, problems %q", set, set.Check())
	}
	for name, c := range map[string]struct{ repositories, questions, problem string }{
		"short commit":   {strings.Replace(one, commit, "abc", 1), good, "40 hexadecimal"},
		"name is a path": {strings.Replace(one, `"a"`, `"../a"`, 1), "", fs.ErrNotExist.Error()},
		"unknown kind":   {one, strings.Replace(good, "behaviour", "riddle", 1), "riddle"},
		"unknown field":  {one, strings.Replace(good, `"kind"`, `"hint":"","kind"`, 1), "hint"},
		"foreign id":     {one, strings.Replace(good, "a-x", "b-x", 1), "a-SLUG"},
		"taken id":       {one, strings.Replace(good, "}]", `},{"id":"a-x","kind":"symbol","question":"Other","answers":["c.go:1-2"]}]`, 1), "taken"},
		"asked twice":    {one, strings.Replace(good, "}]", `},{"id":"a-y","kind":"symbol","question":"why? ","answers":["c.go:1-2"]}]`, 1), "asks what a-x asks"},
		"nothing asked":  {one, strings.Replace(good, "why?", " ", 1), "nothing is asked"},
		"no answer":      {one, strings.Replace(good, `"d/b.go:3-9","c.go:1-1"`, "", 1), "no answer"},
		"no lines":       {one, strings.Replace(good, ":3-9", "", 1), "PATH:FIRST-LAST"},
		"lines reversed": {one, strings.Replace(good, ":3-9", ":9-3", 1), "no lines"},
		"leaves":         {one, strings.Replace(good, "d/b.go", "../b.go", 1), "plain path"},
		"not clean":      {one, strings.Replace(good, "d/b.go", "./b.go", 1), "plain path"},
	} {
		set, err := read(c.repositories, c.questions)
		got := strings.Join(set.Check(), "\n")
		if err != nil {
			got = err.Error()
		}
		if errors.Is(err, fs.ErrNotExist) { // which each system says in its own words
			got = fs.ErrNotExist.Error()
		}
		if !strings.Contains(got, c.problem) {
			t.Errorf("%s: %q, want %q", name, got, c.problem)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The half of a name never changes: it goes by the name's SHA-256 alone.
func TestHalfOf(t *testing.T) {
	for name, want := range map[string]Half{"miniflux": Fit, "litestream": Held, "broot": Fit, "git-cliff": Held} {
		if got := HalfOf(name); got != want {
			t.Errorf("%s is in the %s half, want %s", name, got, want)
		}
	}
}

func TestTreeCheck(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "storage/compaction.go", "package storage\n\n// Squash merges what is old.\nfunc Squash() {}\n\nfunc mergeOldRuns() {}\n")
	write(t, dir, "blank.go", "package blank\n\n\n")
	for i := range ordinaryFiles {
		write(t, dir, "notes/"+strings.Repeat("n", i+1)+".txt", "the storage of things\n")
	}
	tree, err := ReadTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(path string, first, last int) []eval.Span {
		return []eval.Span{{Path: path, StartLine: first, EndLine: last}}
	}
	for _, c := range []struct {
		name    string
		q       Question
		problem string
	}{
		{"its own words", Question{Kind: Behaviour, Text: "when does the storage get tidied?", Answers: answer("storage/compaction.go", 3, 4)}, ""},
		{"file's word", Question{Kind: Behaviour, Text: "why compact at all?", Answers: answer("storage/compaction.go", 3, 4)}, `"compact"`},
		{"name of one word", Question{Kind: Architecture, Text: "who squashes? squash!", Answers: answer("storage/compaction.go", 3, 4)}, "Squash is declared"},
		{"name with separators", Question{Kind: Behaviour, Text: "is it merge_old_runs?", Answers: answer("storage/compaction.go", 6, 6)}, "mergeOldRuns is declared"},
		{"name elsewhere", Question{Kind: Behaviour, Text: "is it merge_old_runs?", Answers: answer("storage/compaction.go", 3, 4)}, ""},
		{"asked for by name", Question{Kind: Symbol, Text: "Squash compaction", Answers: answer("storage/compaction.go", 3, 4)}, ""},
		{"message", Question{Kind: Message, Text: "panic: compaction", Answers: answer("storage/compaction.go", 3, 4)}, ""},
		{"file missing", Question{Kind: Symbol, Text: "x", Answers: answer("none.go", 1, 1)}, "not in the checkout"},
		{"past the end", Question{Kind: Symbol, Text: "x", Answers: answer("blank.go", 1, 9)}, "nothing stands"},
		{"blank lines", Question{Kind: Symbol, Text: "x", Answers: answer("blank.go", 2, 3)}, "nothing stands"},
	} {
		problems, err := tree.Check([]Question{c.q})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(problems, "\n")
		if (c.problem == "") != (got == "") || !strings.Contains(got, c.problem) {
			t.Errorf("%s: %q, want %q", c.name, got, c.problem)
		}
	}
}
