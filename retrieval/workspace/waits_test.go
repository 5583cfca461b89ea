package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A question waits once, not once for each look: five seconds of patience are five, although
// nothing is found; and what has a name is looked for long before.
func TestLooksShareThePatience(t *testing.T) {
	const patience = 5 * time.Second
	w := New(Options{WaitLimit: patience})
	defer w.Close()
	asked := time.Now()
	for _, opened := range []time.Time{asked, asked.Add(-time.Hour), asked.Add(time.Second)} {
		for _, n := range []need{needFiles, needNames, needNear, needSymbols, needWords} {
			for i, how := range w.looks(n, asked) {
				if end, most := how.end(opened, false), max(0, opened.Sub(asked))+patience; end.Sub(asked) > most {
					t.Errorf("look %d of %d waits until %v after the question, opened %v after it", i, n, end.Sub(asked), opened.Sub(asked))
				}
			}
		}
	}
	for _, n := range []need{needNames, needNear} {
		if first := w.looks(n, asked)[0].end(asked, false); first.Sub(asked) > patience/4 {
			t.Errorf("a name is first looked for after %v", first.Sub(asked))
		}
	}
}

// A look ends where the patience does, a fifth of it after it began at the earliest; and what it
// did not come to makes nothing an answer that is not known, and something a part.
func TestLookEndsInTime(t *testing.T) {
	const patience = 5 * time.Second
	w := New(Options{WaitLimit: patience})
	defer w.Close()
	ctx := Question(t.Context())
	began := asked(ctx)
	for waited, want := range map[time.Duration]time.Duration{0: patience, patience / 2: patience, patience: patience + patience/5, 6 * patience: 6*patience + patience/5} {
		if got := w.readUntil(ctx, began.Add(waited)).Sub(began); got != want {
			t.Errorf("a look that begins after %v ends after %v, want %v", waited, got, want)
		}
	}
	if l := (&Look{}); l.Over() || l.cut {
		t.Error("a look without an end is over")
	}
	if l := (&Look{until: time.Now().Add(time.Hour)}); l.Over() || l.cut {
		t.Error("a look is over before its end")
	}
	if l := (&Look{until: began}); !l.Over() || !l.cut {
		t.Error("a look is not over behind its end")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.SetRoots([]string{dir})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	part := func(found bool) (*Missing, error) {
		l := &Look{cut: true}
		x, err := w.snapshot()[0].ready()
		if err != nil {
			t.Fatal(err)
		}
		return l.rest(t.Context(), &lack{Missing: Missing{Folder: dir, Doing: doingLoad}, index: x}, found)
	}
	var unready *NotReady
	if _, err := part(false); !errors.As(err, &unready) || unready.Doing != doingLoad || unready.FilesDone != 1 {
		t.Errorf("nothing in a part: %v", err)
	}
	if missing, err := part(true); err != nil || missing == nil || missing.Doing != doingLoad {
		t.Errorf("something in a part: %v, %v", missing, err)
	}
	if missing, err := (&Look{}).rest(t.Context(), nil, false); missing != nil || err != nil {
		t.Errorf("a whole look: %v, %v", missing, err)
	}
}
