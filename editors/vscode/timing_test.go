//go:build editors

package vscode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// TestLastKeyToGhostText prints the times that test/timing.mjs takes, and what of them is whose: of quarry, and beside it of an extension that
// answers at once, which is what VS Code itself takes. How long they may be is for whoever runs it on a quiet machine
// to say: go test -v -tags "sqlite_fts5 editors" ./editors/vscode -run TestLastKeyToGhostText
func TestLastKeyToGhostText(t *testing.T) {
	const tries = 12
	known, rest := editortest.Places(tries)
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: rest(r.Prompt)} })
	codeServer := made(t)
	for name, extension := range map[string]string{"quarry": vsix, "instant": filepath.Join("test", "instant")} {
		t.Run(name, func(t *testing.T) {
			workspace := filepath.Join(t.TempDir(), "stock")
			file := filepath.Join(workspace, "shelf.go")
			editortest.WriteFile(t, file, editortest.Shelf)
			taps := filepath.Join(t.TempDir(), "taps")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			url := serve(t, codeServer, workspace, extension, self,
				"OLLAMA_HOST="+model.URL, tapFile+"="+taps, tapServer+"="+filepath.Join(editortest.QuarryFolder, "quarry"))
			said := live(t, "timing.mjs", codeServer, url, fmt.Sprintf("QUARRY_TRIES=%d", tries))
			var times []struct{ Key, Shown int64 }
			if err := json.Unmarshal([]byte(said), &times); err != nil || len(times) != tries {
				t.Fatalf("%v in %s", err, said)
			}
			if got, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(got), known) {
				t.Errorf("saved (%v):\n%s", err, got)
			}
			tapped, err := os.ReadFile(taps)
			if err != nil {
				t.Fatal(err)
			}
			var whole, before, answer, after []int64
			for _, at := range times {
				var asked, answered int64 // the last that was answered before it was shown
				for line := range strings.Lines(string(tapped)) {
					var when int64
					var what string
					if _, err := fmt.Sscan(line, &when, &what); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					if at.Key <= when && when <= at.Shown {
						if what == "asked" {
							asked = when
						} else {
							answered = when
						}
					}
				}
				if asked == 0 || answered < asked {
					t.Errorf("shown %d ms after the key without an answer", at.Shown-at.Key)
					continue
				}
				whole, before = append(whole, at.Shown-at.Key), append(before, asked-at.Key)
				answer, after = append(answer, answered-asked), append(after, at.Shown-answered)
			}
			t.Logf("milliseconds, median and range of %d: last key to ghost text %s; key to request %s, request to answer %s, answer to screen %s",
				tries, spread(whole), spread(before), spread(answer), spread(after))
		})
	}
}

func spread(times []int64) string {
	if len(times) == 0 {
		return "none"
	}
	slices.Sort(times)
	return fmt.Sprintf("%d (%d to %d)", times[len(times)/2], times[0], times[len(times)-1])
}

// Typed through, ghost text is in every frame that the page draws. In how many it is while letters are taken back is printed.
func TestNoFrameWithoutGhostText(t *testing.T) {
	_, rest := editortest.Places(1)
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: rest(r.Prompt)} })
	workspace := filepath.Join(t.TempDir(), "stock")
	editortest.WriteFile(t, filepath.Join(workspace, "shelf.go"), editortest.Shelf)
	codeServer := made(t)
	t.Log(live(t, "frames.mjs", codeServer, start(t, codeServer, workspace, model.URL)))
}
