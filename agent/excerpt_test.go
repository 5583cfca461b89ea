package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
