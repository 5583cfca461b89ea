package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/index/syntax"
	"quarry/retrieval/workspace"
)

// neighboursOf answers n declarations beside each, each time others, and counts who asks.
func neighboursOf(dir string, n int, asked *int) step {
	return func(context.Context, workspace.Symbol) (workspace.Neighbours, error) {
		*asked++
		var found workspace.Neighbours
		for i := range n {
			s := workspace.Symbol{ID: fmt.Sprintf("a.go#f%d_%d", *asked, i), Path: filepath.Join(dir, "a.go"), Symbol: syntax.Symbol{Name: "f"}}
			found.List = append(found.List, workspace.Neighbour{Symbol: s, Weight: 1})
		}
		return found, nil
	}
}

// Y14: what does not fit is not asked for, and what takes too long is left with what was found and
// says so.
func TestFollowingIsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.go"), "package a\n")
	b := NewToolbox(Parts{Workspace: openWorkspace(t, dir)})
	start := workspace.Symbol{ID: "a.go#start", Path: filepath.Join(dir, "a.go")}
	walk := func(next step, depth int) (following, error) {
		w := following{box: b, met: map[string]bool{}, next: next, deep: true}
		return w, w.from(t.Context(), start, depth)
	}
	asked := 0
	for _, c := range []struct{ beside, depth, asked, listed int }{
		{maxNeighbours + 1, 3, 1, maxNeighbours},  // the first fills the list
		{maxNeighbours - 50, 3, 2, maxNeighbours}, // the first of the second layer does
		{100, 3, 4, maxNeighbours},                // a later one of that, which has its hundred places less
		{maxNeighbours, 1, 1, maxNeighbours},      // nothing is cut
		{7, 2, 8, 56},
	} {
		asked = 0
		w, err := walk(neighboursOf(dir, c.beside, &asked), c.depth)
		// A full list is known to be cut when there is one more, so that one more may be asked.
		if err != nil || len(w.list) != c.listed || asked > c.asked+1 || asked < c.asked || w.cut != (c.beside*(1+c.beside*(c.depth-1)) > maxNeighbours) {
			t.Errorf("%+v: %d listed after %d were asked, cut %t: %v", c, len(w.list), asked, w.cut, err)
		}
	}

	// The time is over behind the third.
	asked = 0
	few := neighboursOf(dir, 5, &asked)
	slow := func(ctx context.Context, s workspace.Symbol) (workspace.Neighbours, error) {
		if asked == 3 {
			return workspace.Neighbours{}, errLong
		}
		return few(ctx, s)
	}
	w, err := walk(slow, 3)
	if err != nil || len(w.list) != 15 || asked != 3 || !w.slow || w.missing == nil || !strings.Contains(w.missing.Reason, "takes too long: 3 declarations were asked about; ask with a smaller depth") {
		t.Errorf("%d listed after %d were asked: %+v, %v", len(w.list), asked, w.missing, err)
	}
	var unready *workspace.NotReady
	asked = 3
	if _, err := walk(slow, 3); !errors.As(err, &unready) || !strings.Contains(err.Error(), "takes too long: 0 declarations") {
		t.Errorf("nothing was found in time: %v", err)
	}
}

// All calls of a step share its time, and who asks may leave earlier.
func TestTimedSteps(t *testing.T) {
	asked := 0
	hang := func(ctx context.Context, _ workspace.Symbol) (workspace.Neighbours, error) {
		asked++
		<-ctx.Done()
		return workspace.Neighbours{}, ctx.Err()
	}
	next := timed(hang, time.Millisecond)
	for range 3 {
		if _, err := next(t.Context(), workspace.Symbol{}); !errors.Is(err, errLong) {
			t.Errorf("behind its time: %v", err)
		}
	}
	if asked != 1 {
		t.Errorf("%d steps were begun, want the first alone", asked)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := timed(hang, time.Hour)(ended, workspace.Symbol{}); !errors.Is(err, context.Canceled) || errors.Is(err, errLong) {
		t.Errorf("who asked has left: %v", err)
	}
}
