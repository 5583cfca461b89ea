//go:build editors

package nvim_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// The commits of other people's plugins that the recipes of the pages are tried with.
const (
	minuet  = "479487c34041f53aad3184597428e42d9f3333b5"
	nvimCmp = "a1d504892f2bc56c2e79b65c6faded2fd21f3eca"
	blink   = "4b18c32adef2898f95cdef6192cbd5796c1a332d" // 1.9.1
	lazy    = "306a05526ada86a7b30af95c5cc81ffba93fef97"
	lualine = "221ce6b2d999187044529f49da6554a92f740a96"
)

// recipe is the block of a page that contains a text.
func recipe(t *testing.T, page, contains string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```lua\n")[1:] {
		if block, _, _ = strings.Cut(block, "```"); strings.Contains(block, contains) {
			return strings.ReplaceAll(block, "/path/to/quarry", editortest.Module(t))
		}
	}
	t.Fatalf("%s has no recipe with %s", page, contains)
	return ""
}

// openConfigured opens shelf.go in a Neovim that has this init.lua and nothing else.
func openConfigured(t *testing.T, url, init string, binds ...string) user {
	t.Helper()
	if *version != "0.12" {
		t.Skip("other people's plugins are tried in Neovim 0.12 alone")
	}
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".config", "nvim", "init.lua"), init)
	editortest.WriteFile(t, filepath.Join(workspace, "go.mod"), "module stock\n\ngo 1.26\n")
	editortest.WriteFile(t, filepath.Join(workspace, "shelf.go"), editortest.Shelf)
	term := editortest.Open(t, editortest.Session{
		Root: "clients",
		Dir:  workspace, Home: home,
		Binds:   append(binds, editortest.Module(t)),
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": url},
		Rows:    32,
		Command: []string{"nvim", "shelf.go"},
	})
	p := user{term, t, workspace}
	p.Insist("running server", func() { p.Type(":echo 'servers: '..luaeval(\"#vim.lsp.get_clients({ name = 'quarry' })\")\n") },
		func(s editortest.Screen) bool { return s.Contains("servers: 1") })
	return p
}

// writeTake types the head of Take below the shelf and accepts the rest by Tab.
func (p user) writeTake() {
	p.t.Helper()
	p.Press("G", "o")
	p.Type("func (s *Shelf) Take(name string, n int) bool {\n")
	p.waitForModelsGhost("s.mu.Lock()", "defer s.mu.Unlock()", "if s.items[name] < n {", "return false", "}",
		"s.items[name] -= n", "return true", "}")
	p.Press("Tab")
	p.waitForSaved(editortest.Shelf + editortest.Take)
}

// completions is a free address for POST /v1/completions, and quarry's settings that serve it.
func completions(t *testing.T, token string) (address, settings string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	address = free.Addr().String()
	text, err := json.Marshal(map[string]any{"http": map[string]string{"address": address, "token": token}})
	if err != nil {
		t.Fatal(err)
	}
	return address, string(text)
}

// minuet-ai.nvim asks quarry by OpenAI's interface, as it asks any server of completions.
func TestMinuet(t *testing.T) {
	plugin := editortest.Plugin(t, "milanglacier/minuet-ai.nvim", minuet)
	const token = "sixteen letters and more"
	address, settings := completions(t, token)
	init := fmt.Sprintf("vim.opt.rtp:prepend('%s')\nvim.opt.rtp:prepend('%s/editors/nvim')\nvim.lsp.enable('quarry')\nvim.env.QUARRY_TOKEN = '%s'\n", plugin, editortest.Module(t), token) +
		`local dir = vim.env.HOME .. '/.config/quarry'
vim.fn.mkdir(dir, 'p')
vim.fn.writefile({ '` + settings + `' }, dir .. '/settings.json')
vim.api.nvim_set_hl(0, 'MinuetVirtualText', { fg = '` + ghostColour + `' })
` + strings.ReplaceAll(recipe(t, "../../docs/any-editor.md", "minuet"), "127.0.0.1:7997", address)
	p := openConfigured(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, init, plugin)
	p.Press("G", "o")
	p.Type("func (s *Shelf) Take(name string, n int) bool {\n")
	p.Insist("the model's answer as minuet shows it", func() { p.Type("x"); p.Press("BSpace") }, func(s editortest.Screen) bool {
		return strings.HasPrefix(ghost(s), "s.mu.Lock()\ndefer s.mu.Unlock()\n")
	})
	p.Press("Tab")
	p.WaitFor("accepted code", func(s editortest.Screen) bool { return ghost(s) == "" && s.Contains("return true") }) // minuet inserts it later
	p.waitForSaved(editortest.Shelf + editortest.Take)
}

// A completion menu and ghost text have Tab in common; the ghost text is asked first.
func TestMenusOfOthers(t *testing.T) {
	for name, menu := range map[string]struct{ repository, commit, before, after string }{
		"nvim-cmp": {"hrsh7th/nvim-cmp", nvimCmp, "local cmp = require('cmp')\ncmp.setup({ mapping = {\n", "} })\n"},
		"blink":    {"saghen/blink.cmp", blink, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			plugin := editortest.Plugin(t, menu.repository, menu.commit)
			contains := map[string]string{"nvim-cmp": "cmp.mapping", "blink": "blink.cmp"}[name]
			init := fmt.Sprintf("vim.opt.rtp:prepend('%s')\nvim.opt.rtp:prepend('%s/editors/nvim')\n", plugin, editortest.Module(t)) +
				"require('quarry').setup({ keys = { accept = false } })\n" + menu.before + recipe(t, "README.md", contains) + menu.after
			p := openConfigured(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, init, plugin)
			p.writeTake()
			p.Type("o")
			p.Press("Tab") // without ghost text it is a tab
			p.Type("// end")
			p.WaitForText("// end")
			p.waitForSaved(editortest.Shelf + editortest.Take + "\t// end\n")
		})
	}
}

func TestLazy(t *testing.T) {
	plugin := editortest.Plugin(t, "folke/lazy.nvim", lazy)
	init := fmt.Sprintf("vim.opt.rtp:prepend('%s')\nrequire('lazy').setup({\n%s}, { install = { missing = false }, change_detection = { enabled = false } })\n",
		plugin, recipe(t, "README.md", "plugin.dir"))
	openConfigured(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, init, plugin).writeTake()
}

// The status line says how quarry is, with lualine.nvim as well.
func TestLualine(t *testing.T) {
	plugin := editortest.Plugin(t, "nvim-lualine/lualine.nvim", lualine)
	with, _, _ := strings.Cut(recipe(t, "README.md", "lualine"), "\n")
	init := fmt.Sprintf("vim.opt.rtp:prepend('%s')\nvim.opt.rtp:prepend('%s/editors/nvim')\nrequire('quarry').setup()\n%s\n", plugin, editortest.Module(t), with)
	p := openConfigured(t, "127.0.0.1:1", init, plugin)
	p.Insist("the status in lualine's line", func() { p.Press("j") }, func(s editortest.Screen) bool {
		for line := range strings.Lines(s.String()) {
			if strings.Contains(line, "NORMAL") && strings.Contains(line, "no model") {
				return true
			}
		}
		return false
	})
}

// Neovim's own plugin manager clones the repository, here one with the plugin's folder alone.
func TestVimPack(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "quarry")
	for _, args := range [][]string{
		{"git", "init", "-q", origin},
		{"sh", "-c", `mkdir "$0/editors" && cp -r . "$0/editors/nvim"`, origin},
		{"git", "-C", origin, "add", "."},
		{"git", "-C", origin, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "plugin"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	init := strings.ReplaceAll(recipe(t, "README.md", "vim.pack.add"), editortest.Module(t), origin)
	init = strings.Replace(init, "} })", "} }, { confirm = false })", 1)
	openConfigured(t, modelThatKnows(t, editortest.Shelf+editortest.Take).URL, init, origin).writeTake()
}
