package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// However much a query repeats, each line is compared with so many texts only.
func TestWordsAreBounded(t *testing.T) {
	var many strings.Builder
	for i := range 400 {
		fmt.Fprintf(&many, `word%d "text %d" "same" `, i, i)
	}
	q := retrieval.Parse(many.String(), time.Time{})
	if w := wordsOf(many.String(), &q); len(w.terms) > maxTerms || len(w.exact) > 40 {
		t.Errorf("%d words and %d texts", len(w.terms), len(w.exact))
	}
}

// Who has left waits for no more excerpts.
func TestEntriesEndWithTheirContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	found := workspace.Answer{Results: []workspace.Result{{Root: t.TempDir()}}}
	if _, err := (&Toolbox{}).entries(ended, found, words{}, window{0, 1}, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// looks is a context that ends when it is looked at for the last time.
type looks struct {
	context.Context
	left *atomic.Int64
}

func (c looks) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Who has left waits for no more files of a list.
func TestListsEndWithTheirContext(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		put(t, filepath.Join(dir, fmt.Sprintf("a%d.go", i)), "package a\n")
	}
	b := NewToolbox(Parts{Workspace: openWorkspace(t, dir)})
	args := json.RawMessage(`{"limit":500,"offset":0,"glob":"","include_hidden":false}`)
	var left atomic.Int64
	left.Store(1 << 40)
	if _, err := b.listFiles(looks{t.Context(), &left}, args); err != nil {
		t.Fatal(err)
	}
	taken := 1<<40 - left.Load()
	left.Store(taken - 100)
	if _, err := b.listFiles(looks{t.Context(), &left}, args); !errors.Is(err, context.Canceled) {
		t.Errorf("of %d looks the last 100 were too late: %v", taken, err)
	}
}
