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
			var times []struct{ Key, Sent, Received, Shown int64 }
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
			var whole, wait, there, answer, back, draw []int64
			for _, at := range times {
				var asked, answered int64 // of the request whose answer the window has
				began := map[string]int64{}
				for line := range strings.Lines(string(tapped)) {
					var when int64
					var what, id string
					if _, err := fmt.Sscan(line, &when, &what, &id); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					switch {
					case when < at.Sent || when > at.Received:
					case what == "asked":
						began[id] = when
					case began[id] > 0:
						asked, answered = began[id], when
					}
				}
				if !(at.Key <= at.Sent && at.Sent <= asked && asked <= answered && answered <= at.Received && at.Received <= at.Shown) {
					t.Errorf("the times are out of order: %+v, asked at %d, answered at %d", at, asked, answered)
					continue
				}
				whole, wait, there = append(whole, at.Shown-at.Key), append(wait, at.Sent-at.Key), append(there, asked-at.Sent)
				answer, back, draw = append(answer, answered-asked), append(back, at.Received-answered), append(draw, at.Shown-at.Received)
			}
			t.Logf("milliseconds, median and range of %d: last key to ghost text %s; of them key to the window's request %s, to the server %s, "+
				"the server's answer %s, to the window %s, to the screen %s",
				tries, spread(whole), spread(wait), spread(there), spread(answer), spread(back), spread(draw))
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
