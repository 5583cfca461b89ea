//go:build editors

package nvim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

var screenshot = flag.String("screenshot", "", "write pictures to this folder: nvim-ghost-text.svg (and .txt), nvim-typing.svg, nvim-change.svg")

// modelThatKnows is a model server whose model has learned text by heart.
func modelThatKnows(t *testing.T, text string) *modeltest.Server {
	t.Helper()
	server := modeltest.NewServer(t)
	server.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.Recite(text, r.Prompt)}
	})
	return server
}

// openQuarry opens Neovim with the real quarry, which asks the model server at url.
func openQuarry(t *testing.T, url, text string) user {
	t.Helper()
	return open(t, editor{
		text:  text,
		files: map[string]string{"go.mod": "module stock\n\ngo 1.26\n"},
		path:  []string{editortest.QuarryFolder},
		env:   map[string]string{"OLLAMA_HOST": url},
	})
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(editortest.Run(m))
}

func TestGhostTextOfTheModel(t *testing.T) {
	p := openQuarry(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, editortest.Shelf)
	p.Press("G", "o")
	film := p.filmTyping("func (s *Shelf) Take(name string, n int) bool {")
	p.Press("Enter")
	screen := p.waitForModelsGhost("s.mu.Lock()", "defer s.mu.Unlock()", "if s.items[name] < n {", "return false", "}",
		"s.items[name] -= n", "return true", "}")
	screen.Picture(t, *screenshot, "nvim-ghost-text.svg", "shelf.go — Neovim")
	film.Show(screen, 2500*time.Millisecond)

	p.Type("s.mu.L")
	screen = p.waitForGhost("ock()", "defer s.mu.Unlock()", "if s.items[name] < n {", "return false", "}",
		"s.items[name] -= n", "return true", "}")
	film.Show(screen, 1500*time.Millisecond)
	p.Press("Tab")
	film.Show(p.waitForNoGhost(), 2500*time.Millisecond)
	if *screenshot != "" {
		editortest.WriteFile(t, filepath.Join(*screenshot, "nvim-ghost-text.txt"), screen.String())
		const withGhostText = -3
		editortest.WriteFile(t, filepath.Join(*screenshot, "nvim-typing.svg"), film.SVG("shelf.go — Neovim", editortest.Dark, film.Frames()+withGhostText))
	}
	p.waitForSaved(editortest.Shelf + editortest.Take)

	p.Press("u")
	begun, _, _ := strings.Cut(editortest.Take, "ock()")
	p.waitForSaved(editortest.Shelf + begun + "\n")
}

func TestModelsGhostTextByWords(t *testing.T) {
	p := openQuarry(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, editortest.Shelf)
	p.Press("G", "o")
	p.Type("func (s *Shelf) Take(name string, n int) bool {\n")
	rest := []string{"defer s.mu.Unlock()", "if s.items[name] < n {", "return false", "}", "s.items[name] -= n", "return true", "}"}
	p.waitForModelsGhost(append([]string{"s.mu.Lock()"}, rest...)...)
	p.Press("M-w", "M-w", "M-w") // s . mu
	p.waitForGhost(append([]string{".Lock()"}, rest...)...)
	p.Press("M-l")
	p.waitForGhost(rest...)
	p.Press("M-w")
	p.waitForGhost(append([]string{"s.mu.Unlock()"}, rest[1:]...)...)
	p.typeForGhost(" s.", append([]string{"mu.Unlock()"}, rest[1:]...)...)
	p.Press("M-l", "M-l", "M-l", "M-l", "M-l", "M-l", "M-l")
	p.waitForNoGhost()
	p.waitForSaved(editortest.Shelf + editortest.Take)
}

// The model is not there: the user is told once, completions come from the
// file, and go over to the model once it is there.
func TestOllamaIsDownAndComesBack(t *testing.T) {
	m := modelThatKnows(t, editortest.Shelf+editortest.Take)
	m.Stop()
	p := openQuarry(t, m.URL, editortest.Shelf)
	p.WaitForText("Ollama does not answer")
	if screen := p.Screen(); screen.Contains("Press ENTER") {
		t.Errorf("the message stops the user:\n%s", screen.Framed())
	}
	p.Press("G", "o")
	p.Type("func (s *Shelf) Take(name string, n int) bool {\n")
	p.typeForGhost("s.mu.Lo", "ck()")
	p.Press("Tab")
	p.Type("\ndefer s.mu.Unlock()\nif s.items[name] <")

	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	p.Insist("ghost text of the model", p.retype, func(s editortest.Screen) bool { return strings.HasPrefix(ghost(s), "n {\n") })
	p.Press("Tab")
	begun, _, _ := strings.Cut(editortest.Take, "	s.items[name] -=") // completed to the end of the block the line opens
	p.waitForSaved(editortest.Shelf + begun)
	p.Type(":redir! > messages.txt | silent messages | redir END\n")
	p.WaitFor("messages.txt", func(editortest.Screen) bool { return p.read("messages.txt") != "" })
	if n := strings.Count(p.read("messages.txt"), "Ollama does not answer"); n != 1 {
		t.Errorf("the user was told %d times:\n%s", n, p.read("messages.txt"))
	}
}

// A real Ollama with random weights says nothing worth reading; what it says in a comment, where anything may stand,
// is shown and accepted all the same.
func TestGhostTextOfARealOllama(t *testing.T) {
	p := openQuarry(t, ollamatest.Start(t).URL, editortest.Shelf)
	p.Press("G", "o")
	p.Type("// Total is ")
	screen := p.Insist("ghost text", p.retype, func(s editortest.Screen) bool { return ghost(s) != "" })
	first, _, _ := strings.Cut(ghost(screen), "\n")
	p.Press("Tab", "Escape") // else the model may go on
	p.WaitFor("accepted text", func(s editortest.Screen) bool {
		return ghost(s) == "" && s.Contains("// Total is "+first)
	})
}

func TestCheckHealth(t *testing.T) {
	p := openQuarry(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, editortest.Shelf)
	// Until the server has started there is none to report, and nothing on the screen tells when it has.
	p.Insist("report of a running server", func() { p.Type(":checkhealth quarry | write! health.txt\n") }, func(editortest.Screen) bool {
		return strings.Contains(p.read("health.txt"), "1 buffer")
	})
	health := p.read("health.txt")
	for _, bad := range []string{"ERROR", "WARNING"} {
		if strings.Contains(health, bad) {
			t.Errorf("%s in\n%s", bad, health)
		}
	}
	for _, want := range []string{"OK Neovim " + *version, "ghost text is shown", "/quarry: quarry ", "with inline completion, 1 buffer"} {
		if !strings.Contains(health, want) {
			t.Errorf("no %q in\n%s", want, health)
		}
	}
}

func TestCheckHealthWithoutTheBinary(t *testing.T) {
	p := open(t, editor{text: editortest.Shelf})
	p.WaitForText(`quarry: no executable "quarry"; see :checkhealth quarry`)
	p.Type(":checkhealth quarry\n")
	p.WaitForText("ERROR no executable \"quarry\" on your PATH")
}

// waitForModelsGhost waits for the first ghost text: a model that is still being loaded has none.
func (p user) waitForModelsGhost(lines ...string) editortest.Screen {
	p.t.Helper()
	want := strings.Join(lines, "\n")
	shown := func(s editortest.Screen) bool { return ghost(s) == want }
	if screen, found := p.Within(2*time.Second, shown); found { // retyping would take it away again
		return screen
	}
	return p.Insist("ghost text\n"+want+"\n", p.retype, shown)
}

// retype makes Neovim ask again: it only does when the cursor moves.
func (p user) retype() {
	p.t.Helper()
	p.Press("Space", "BSpace")
}

// filmTyping types text, a few letters at a time, and films it.
func (p user) filmTyping(text string) *editortest.Film {
	p.t.Helper()
	film := &editortest.Film{}
	const letters = 4
	for at := 0; at < len(text); at += letters {
		end := min(at+letters, len(text))
		p.Type(text[at:end])
		typed := strings.TrimRight(text[:end], " ")
		film.Show(p.WaitFor("what was typed", func(s editortest.Screen) bool { return s.Contains(typed) }), 150*time.Millisecond)
	}
	return film
}

// noteAnswers writes to the file `answered` what stood before the cursor where quarry was last asked for ghost text, once the
// plugin has dealt with the answer.
const noteAnswers = `
local asked = {}
vim.api.nvim_create_autocmd('LspRequest', {
  callback = function(event)
    local id, request = event.data.request_id, event.data.request
    if request.method ~= 'textDocument/inlineCompletion' then
      return
    elseif request.type == 'pending' then
      asked[id] = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    elseif request.type == 'complete' then
      vim.defer_fn(function() -- Neovim says so before it calls the plugin
        vim.fn.writefile({ asked[id] }, 'answered')
      end, 20)
    end
  end,
})
`

// Of what the user asked for they take the second candidate by typing it: it stays, whatever each further request answers,
// no frame is without it, and the model is asked nothing.
func TestTypingThroughAChosenCandidate(t *testing.T) {
	const model, copied = "s.wg.Done()", "s.mu.Unlock()"
	for name, tt := range map[string]struct {
		logprob float64
		first   string
		second  string
	}{
		"the copied one": {-0.01, model, copied},
		"the model's":    {-3, copied, model},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.NewServer(t)
			server.Script(func(r modeltest.Request) modeltest.Answer {
				answer := "elsewhere()"
				before, _, _ := strings.Cut(r.Prompt, "<|fim_suffix|>")
				if _, typed, ok := strings.Cut(before, "Swap(name string) {\n\ts.mu.Lock()\n\tdefer "); ok && strings.HasPrefix(model, typed) {
					answer = model[len(typed):]
				}
				return modeltest.Answer{Pieces: []string{answer}, Logprobs: []float64{tt.logprob}}
			})
			var text strings.Builder
			text.WriteString("package stock\n\n")
			for i := range 40 {
				fmt.Fprintf(&text, "func (s *Shelf) Put%d(name string) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.put%d(name)\n}\n\n", i, i)
			}
			text.WriteString("func (s *Shelf) Swap(name string) {\n\ts.mu.Lock()\n\t\n}\n")
			p := open(t, editor{
				text:  text.String(),
				files: map[string]string{"go.mod": "module stock\n\ngo 1.26\n"},
				init:  noteAnswers,
				path:  []string{editortest.QuarryFolder},
				env:   map[string]string{"OLLAMA_HOST": server.URL},
			})
			frames := p.Record()
			p.Press("C-l") // all of the screen anew
			p.Type("GkAdefer ")
			p.waitForModelsGhost(tt.first)
			p.Press(`M-\`)
			p.WaitForText(tt.first + " (1/2)")
			p.Press("M-n")
			p.WaitForText(tt.second + " (2/2)")
			asked := len(server.Requests())
			for at := 1; at < len(tt.second)-1; at++ {
				p.typeForGhost(tt.second[at-1:at], tt.second[at:])
				p.WaitForFile(filepath.Join(p.workspace, "answered"), "\tdefer "+tt.second[:at]+"\n")
				if at == 1 {
					p.WaitForText(tt.second + " (2/2)")
				}
			}
			seen, broken := 0, []string{}
			for _, frame := range frames() {
				_, swap, _ := strings.Cut(frame.String(), "Swap(name string) {")
				_, row, _ := strings.Cut(swap, "defer ")
				row, _, _ = strings.Cut(row, "\n")
				if row, _, _ = strings.Cut(strings.TrimRight(row, " "), " ("); row == tt.second {
					seen++
				} else if seen > 0 {
					broken = append(broken, row)
				}
			}
			if seen < len(tt.second)-2 || len(broken) > 0 {
				t.Errorf("%d frames with the candidate, and these: %q", seen, broken)
			}
			if n := len(server.Requests()); n != asked {
				t.Errorf("%d requests to the model while typing", n-asked)
			}
			p.Press("Tab")
			p.waitForSaved(strings.Replace(text.String(), "\t\n", "\tdefer "+tt.second+"\n", 1))
		})
	}
}
