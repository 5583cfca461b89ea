//go:build editors

package nvim_test

import (
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// attached waits for the server and tells what of the plugin there is.
const attached = `
local ok = vim.wait(60000, function()
  return #vim.lsp.get_clients({ name = 'quarry', bufnr = 0 }) > 0 and vim.lsp.get_clients({ name = 'quarry' })[1].initialized
end)
print(('attached %s; ghost %s; command %d; Tab %s; mine %s'):format(ok, require('quarry').ghost, vim.fn.exists(':QuarryAsk'), vim.fn.maparg('<Tab>', 'i') ~= '' or vim.fn.maparg('<Tab>', 'i', false, true).expr == 1, vim.g.mine))
vim.cmd('qall!')
`

// Beside an init.lua of the user's own, also where a plugin manager has emptied
// 'packpath', as lazy.nvim does.
func TestSetupAttachesTheServer(t *testing.T) {
	if *version != "0.12" {
		t.Skip("quarry setup is tried with the Neovim that stands on the PATH, 0.12")
	}
	home := t.TempDir()
	init := filepath.Join(home, ".config", "nvim", "init.lua")
	editortest.WriteFile(t, init, "vim.g.mine = 1\nvim.opt.packpath = { vim.env.VIMRUNTIME }\n")
	editortest.WriteFile(t, filepath.Join(home, "work", ".git", "HEAD"), "ref: refs/heads/main\n")
	file := filepath.Join(home, "work", "shelf.go")
	editortest.WriteFile(t, file, "package stock\n")
	script := filepath.Join(home, "attached.lua")
	editortest.WriteFile(t, script, attached)
	editortest.SetUp(t, home, "nvim")

	out, err := editortest.Batch(t, home, "nvim", "--headless", file, "-S", script)
	if want := "attached true; ghost true; command 2; Tab true; mine 1"; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v\n%s\nwant %s", err, out, want)
	}
	if out, err := editortest.Batch(t, home, "quarry", "setup", "nvim", "--undo", "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	editortest.WriteFile(t, script, "print(pcall(require, 'quarry'))\nvim.cmd('qall!')\n")
	if out, err := editortest.Batch(t, home, "nvim", "--headless", file, "-S", script); err != nil || !strings.Contains(out, "false") {
		t.Errorf("it is still there: %v\n%s", err, out)
	}
}
