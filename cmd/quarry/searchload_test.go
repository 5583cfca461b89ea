package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/index"
)

// With all of the index on disk and nothing that searches begin with, a search that waits for
// nothing answers, names at once, or says that it is not ready, and leaves to the next one what it
// has read. Until then the status says what is wrong.
func TestSearchMendsWhatItBeginsWith(t *testing.T) {
	for how, spoil := range map[string]func(kept string) error{
		"missing": os.Remove,
		"damaged": func(kept string) error { return os.Truncate(kept, 100) },
	} {
		for _, query := range []string{"symbol:Harvest", "symbol:harvest", "symbol:Nowhere", "ripe apples", "Harvest"} {
			t.Run(how+"/"+query, func(t *testing.T) {
				root, stateDir := barn(t), t.TempDir()
				t.Chdir(root)
				kept := filepath.Join(filepath.Dir(indexBarn(t, root, stateDir)), "snapshot")
				if err := spoil(kept); err != nil {
					t.Fatal(err)
				}
				said := func() string {
					var out strings.Builder
					var st struct {
						SearchFiles string `json:"search_files"`
					}
					args := []string{"status", "--workspace", root, "--state-dir", stateDir, "--ollama", noOllama}
					if code := run(t.Context(), append(slices.Clone(args), "--json"), nil, &out, io.Discard); code != cli.ExitOK {
						t.Fatal("status", code)
					}
					if err := json.Unmarshal([]byte(out.String()), &st); err != nil {
						t.Fatal(err)
					}
					out.Reset()
					if code := run(t.Context(), args, nil, &out, io.Discard); code != cli.ExitOK || strings.Contains(out.String(), "what searches begin with is "+how) != (st.SearchFiles != "") {
						t.Errorf("exit %d, %q is %q", code, st.SearchFiles, out.String())
					}
					return st.SearchFiles
				}
				if got := said(); got != how {
					t.Errorf("the status says %q", got)
				}
				var out, errs strings.Builder
				code := run(t.Context(), []string{"search", query, "--wait", "0s", "--workspace", root, "--state-dir", stateDir, "--ollama", noOllama}, nil, &out, &errs)
				want := "barn/a.go"
				if query == "symbol:Nowhere" {
					want = "Nothing found"
				}
				// Whether what is nowhere could be looked for in no time is not for the test to say.
				unready := query == "symbol:Nowhere" && code == cli.ExitFailed && out.Len() == 0 && strings.HasPrefix(errs.String(), "quarry: not ready: ")
				if !unready && (code != cli.ExitOK || !strings.Contains(out.String(), want)) {
					t.Errorf("exit %d, printed %q and %q", code, out.String(), errs.String())
				}
				if got := said(); got != "" {
					t.Errorf("after a search the status says %q", got)
				}
			})
		}
	}
}

// An index whose end could not be written misses no file, and is not said to.
func TestStatusOfAnUnfinishedIndex(t *testing.T) {
	for d, want := range map[index.Difference]string{
		{}:        "no file is missing, but the index could not be finished, as where the disk is full",
		{Gone: 1}: "no file is missing",
		{New: 2}:  "files not read yet 2",
	} {
		if got := currency(index.Status{Writer: index.NoProcess, Stale: &d}); !strings.Contains(got, "incomplete: "+want) {
			t.Errorf("%+v: %s", d, got)
		}
	}
}
