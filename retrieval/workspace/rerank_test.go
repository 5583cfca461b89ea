package workspace_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/rerank"
	"quarry/retrieval/workspace"
)

// likes is a reranker that likes passages with a word.
type likes struct {
	word string
	fail error
}

func (likes) Name() string { return "likes" }

func (l likes) Judge(_ context.Context, _ string, passages []string, each func(int, float64)) error {
	for i, p := range passages {
		score := 0.0
		if strings.Contains(p, l.word) {
			score = 1
		}
		each(i, score)
	}
	return l.fail
}

func TestRerank(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.go": "package a\n\n// Harvest picks ripe apples from the trees.\nfunc Harvest() {}\n",
		"b.go": "package a\n\n// Store keeps apples.\nfunc Store() { cellar() }\n",
		"c.go": "package a\n\n// Sell sells apples.\nfunc Sell() {}\n",
	})
	w := open(t, false, dir)
	w.wait("the folder", func(texts map[string]string) bool { return len(texts) == 3 })
	search := func(query string, signals retrieval.Signals) (paths []string, a workspace.Answer) {
		t.Helper()
		a, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(query, time.Now()), Signals: signals})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range a.Results {
			paths = append(paths, filepath.Base(r.Path))
			if i > 0 && r.Score > a.Results[i-1].Score {
				t.Errorf("scores rise: %+v", a.Results)
			}
		}
		return paths, a
	}
	const query = "who picks ripe apples"
	before, a := search(query, "")
	if before[0] != "a.go" || slices.Contains(a.Backend, workspace.BackendReranker) {
		t.Fatalf("without a reranker: %q by %q", before, a.Backend)
	}
	w.SetReranker(rerank.New(likes{word: "cellar"}))
	after, a := search(query, retrieval.SignalsAll)
	if after[0] != "b.go" || after[1] != "a.go" || !slices.Contains(a.Backend, workspace.BackendReranker) || !strings.Contains(a.Results[0].Reasons[0], "reranker") {
		t.Errorf("with a reranker: %q by %q, %q", after, a.Backend, a.Results[0].Reasons)
	}
	if got, a := search(query, retrieval.SignalsLexical); !slices.Equal(got, before) || slices.Contains(a.Backend, workspace.BackendReranker) {
		t.Errorf("by words alone: %q by %q", got, a.Backend)
	}
	if _, a := search("Harvest", ""); slices.Contains(a.Backend, workspace.BackendReranker) {
		t.Errorf("a name is judged: %q", a.Backend)
	}
	w.SetReranker(rerank.New(likes{fail: errors.New("gone")}))
	if got, a := search(query, ""); !slices.Equal(got, before) || slices.Contains(a.Backend, workspace.BackendReranker) {
		t.Errorf("with one that fails: %q by %q", got, a.Backend)
	}
}
