//go:build editors

package nvim_test

import (
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/ollamatest"
)

// A model comes from a registry through a real Ollama, in sight of the user: how far it is, a pause, going on,
// an end, and at last the whole of it, which then completes.
func TestDownloadAModel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := ollamatest.WriteGranite(file, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	from := ollamatest.NewRegistry(t)
	from.Offer(t, file, nil)
	release := from.Hold()
	defer release()
	p := open(t, editor{
		text: editortest.Shelf,
		path: []string{editortest.QuarryFolder},
		env:  map[string]string{"OLLAMA_HOST": ollamatest.Insecure(t, ollamatest.StartEmpty(t).URL).URL, "QUARRY_MODEL": from.Model},
	})
	p.Type(":set laststatus=2 statusline=%t\\ %{v:lua.require'quarry'.status()}\n")
	// status waits for what the status line says: sign, the model's name and more.
	status := func(want ...string) {
		t.Helper()
		p.WaitFor("status "+strings.Join(want, " "), func(s editortest.Screen) bool {
			for _, w := range want {
				if !s.Contains(w) {
					return false
				}
			}
			return true
		})
	}
	says := func(text string) {
		t.Helper()
		p.Type(":QuarryStatus\n")
		p.WaitForText(text)
		p.Press("Escape", "Enter")
		p.WaitFor("no status", func(s editortest.Screen) bool { return !s.Contains("What still works") })
	}
	status("! quarry: no model")

	p.Type(":QuarryModel pull\n")
	status("… quarry: "+from.Model+" 50%", "Pulling "+from.Model, " of 0.5 MB", "C-c ends it")
	p.Type(":QuarryModel pause\n")
	status("! quarry: no model")
	says("is paused at 50 %")
	p.Type(":QuarryModel resume\n")
	status("… quarry: "+from.Model+" 50%", "Pulling "+from.Model)
	p.Type(":QuarryModel cancel\n")
	status("! quarry: no model")
	says("has no model " + from.Model)
	p.Type(":QuarryModel pull\n")
	status("… quarry: "+from.Model+" 50%", "Pulling "+from.Model)
	p.Press("C-c")
	status("! quarry: no model")
	says("has no model " + from.Model)

	release()
	p.Type(":QuarryModel pull\n")
	p.WaitFor("the model's name", func(s editortest.Screen) bool {
		return s.Contains("quarry: "+from.Model) && !s.Contains("! quarry") && !s.Contains("… quarry") && !s.Contains("Pulling")
	})
	p.Type(":QuarryModel list\n")
	p.WaitForText("| " + from.Model + " |")
}
