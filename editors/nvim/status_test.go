//go:build editors

package nvim_test

import (
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// The status line and :checkhealth say that there is no model, what to do, and that it is back.
func TestStatusWithoutAModel(t *testing.T) {
	m := modelThatKnows(t, editortest.Shelf+editortest.Take)
	m.Stop()
	p := openQuarry(t, m.URL, editortest.Shelf)
	p.Type(":set laststatus=2 statusline=%t\\ %{v:lua.require'quarry'.status()}\n")
	p.WaitForText("! quarry: no model")
	p.Type(":checkhealth quarry | write! health.txt | bdelete\n")
	p.WaitFor("report", func(editortest.Screen) bool {
		h := p.read("health.txt")
		return strings.Contains(h, "WARNING Ollama does not answer") && strings.Contains(h, "What still works: :QuarryStatus")
	})
	p.Type(":QuarryStatus\n")
	screen := p.WaitForText("What still works")
	if !screen.Contains("Until then ghost text is copied from your own code.") {
		t.Errorf("no reason:\n%s", screen.Framed())
	}
	p.Press("Escape", "Enter")
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	p.WaitFor("the model's name", func(s editortest.Screen) bool {
		return s.Contains("quarry: granite4.1:3b") && !s.Contains("! quarry")
	})
}

// A message at the start neither wraps nor waits for Enter on a terminal of 80 columns, without the plugin either, and can be read whole.
func TestMessageAtTheStartWithoutThePlugin(t *testing.T) {
	p := open(t, editor{text: editortest.Shelf, alone: true, path: []string{editortest.QuarryFolder}, env: map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}})
	screen := p.WaitForText("quarry: Ollama does not answer: start it with `ollama s")
	if screen.Contains("ENTER") {
		t.Errorf("the message stops the user:\n%s", screen.Framed())
	}
	p.Press("G", "o")
	p.Type("// typed\x1b")
	p.waitForSaved(editortest.Shelf + "// typed\n")
	p.Type(":redir! > messages.txt | silent messages | redir END\n")
	p.WaitFor("messages.txt", func(editortest.Screen) bool { return strings.Contains(p.read("messages.txt"), "ollama.com/download") })
}

// A server that is killed comes back by itself, and no key goes to a question about it.
func TestKilledServerComesBack(t *testing.T) {
	p := openQuarry(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, editortest.Shelf)
	p.Press("G", "o")
	p.Type("func (s *Shelf) Take(name string, n int) bool {\n")
	rest := []string{"s.mu.Lock()", "defer s.mu.Unlock()", "if s.items[name] < n {", "return false", "}", "s.items[name] -= n", "return true", "}"}
	p.waitForModelsGhost(rest...)
	p.Type("\x1b:silent !kill -9 $(pidof quarry)\n")
	p.waitForNoGhost() // what is on the screen must not be taken for the new one's
	p.Type("A")
	screen := p.waitForModelsGhost(rest...)
	if screen.Contains("ENTER") || screen.Contains("exit code") {
		t.Errorf("a question about the server's end:\n%s", screen.Framed())
	}
	p.Press("Tab")
	p.waitForSaved(editortest.Shelf + editortest.Take)
	p.Type(":echo 'client '..luaeval(\"vim.lsp.get_clients({ name = 'quarry' })[1].id\")\n")
	p.WaitForText("client 2")
}

// One that ends again and again is left alone. The user is told in one line, the status and the health check say so until it
// is started again, and the latter says how.
func TestServerThatCannotRunIsLeftAlone(t *testing.T) {
	p := open(t, editor{
		text: editortest.Shelf,
		init: "vim.lsp.config('quarry', { cmd = { 'false' } })\n",
		path: []string{editortest.QuarryFolder},
		env:  map[string]string{"OLLAMA_HOST": "127.0.0.1:1"},
	})
	screen := p.WaitForText("quarry: the server ends again and again")
	if screen.Contains("ENTER") {
		t.Errorf("a question about the server's end:\n%s", screen.Framed())
	}
	p.Type(":echo luaeval(\"require('quarry').status()\")..'.'\n")
	p.WaitForText("! quarry: ended.")
	p.Type(":checkhealth quarry\n")
	p.WaitForText("Start it: :lua vim.lsp.enable('quarry')")
	p.Type(":close\n:lua vim.lsp.config('quarry', { cmd = { 'quarry', 'lsp' } }) vim.lsp.enable('quarry')\n")
	p.Insist("status of the new server", func() { p.Type(":echo luaeval(\"require('quarry').status()\")..'.'\n") },
		func(s editortest.Screen) bool { return s.Contains("quarry: no model.") })
	p.Type(":checkhealth quarry\n")
	if screen := p.WaitForText("with inline completion, 1 buffer(s)"); screen.Contains("Start it") {
		t.Errorf("the health check is of the old server:\n%s", screen.Framed())
	}
}

// A change whose server has ended is gone with it, and the next one comes from the new server.
func TestChangeOfAServerThatEnds(t *testing.T) {
	ends := map[string]string{"killed": ":silent !kill -9 $(pidof quarry)\n"}
	if *version == "0.12" {
		ends["restarted"] = ":lsp restart quarry\n"
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			p := openShop(t, fix)
			p.Type(":QuarryFix\n")
			p.waitForChange()
			p.Type(end)
			screen := p.WaitForText("quarry: the server ended; ask for the change again")
			if showsChange(screen) || screen.Contains("ENTER") {
				t.Errorf("the change of the dead server is still there, or a question:\n%s", screen.Framed())
			}
			p.Insist("new server", func() {
				p.Type(":echo 'client '..luaeval(\"(vim.lsp.get_clients({ name = 'quarry' })[1] or {}).id\")\n")
			},
				func(s editortest.Screen) bool { return s.Contains("client 2") })
			p.Type(":11\n:QuarryFix\n")
			p.waitForChange()
			p.apply()
			p.waitForSaved(editortest.Mended)
		})
	}
}

// countStops counts the clients that Neovim is told to stop.
const countStops = `
vim.g.stops = 0
local client = require('vim.lsp.client')
local stop = client.stop
client.stop = function(...)
  vim.g.stops = vim.g.stops + 1
  return stop(...)
end
`

// Of two projects only the one whose server was killed gets a new one.
func TestKilledServerOfOneOfTwoProjects(t *testing.T) {
	p := open(t, editor{
		text:  editortest.Shelf,
		files: map[string]string{"go.mod": "module stock\n\ngo 1.26\n", "b/.git/HEAD": "ref: refs/heads/main\n", "b/b.go": editortest.Shelf},
		init:  countStops,
		path:  []string{editortest.QuarryFolder},
		env:   map[string]string{"OLLAMA_HOST": modelThatKnows(t, editortest.Shelf).URL},
	})
	clients := func(want string) {
		t.Helper()
		p.Insist("clients "+want, func() {
			p.Type(":echo 'clients: '..luaeval(\"vim.inspect(vim.tbl_map(function(c) return c.initialized and c.id end, vim.lsp.get_clients({ name = 'quarry' })))\")..'.'\n")
		}, func(s editortest.Screen) bool { return s.Contains("clients: " + want + ".") })
	}
	clients("{ 1 }")
	p.Type(":split b/b.go\n")
	clients("{ 1, 2 }")
	p.Type(":call luaeval('vim.uv.kill(vim.api.nvim_get_proc_children(vim.fn.getpid())[1], 9)')\n")
	p.Insist("one old client and a new one", func() {
		p.Type(":echo 'old: '..luaeval(\"#vim.tbl_filter(function(c) return c.id < 3 end, vim.lsp.get_clients({ name = 'quarry' }))\")..' new: '..luaeval(\"#vim.tbl_filter(function(c) return c.id == 3 and c.initialized end, vim.lsp.get_clients({ name = 'quarry' }))\")..' stopped: '..g:stops..'.'\n")
	}, func(s editortest.Screen) bool { return s.Contains("old: 1 new: 1 stopped: 0.") })
}
