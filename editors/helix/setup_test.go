//go:build editors

package helix_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"quarry/editors/editortest"
)

// Helix names quarry behind the servers that it and the user had for a language, whatever
// else, such as a debugger of the same name, the language has.
func TestSetupNamesTheServer(t *testing.T) {
	home := t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "languages.toml"),
		"[[language]]\nname = \"go\" # mine\nauto-format = true\n\n[language.debugger]\nname = \"go\"\ntransport = \"tcp\"\ncommand = \"dlv\"\nargs = [\"dap\"]\nport-arg = \"-l 127.0.0.1:{}\"\n"+
			"templates = [{ name = \"source\", request = \"launch\", completion = [], args = { mode = \"debug\" } }]\n\n"+
			"[[language]]\nname = \"python\"\nlanguage-servers = [ \"pylsp\" ] # mine\n")
	editortest.SetUp(t, home, "helix")
	for language, want := range map[string]string{
		"go":       `gopls:[^\n]*\n[^\n]*golangci-lint-lsp:[^\n]*\n[^\n]*✓\S* quarry: `,
		"python":   `servers:\n[^\n]*pylsp:[^\n]*\n[^\n]*✓\S* quarry: `,
		"markdown": `marksman:[^\n]*\n(?s:.*)✓\S* quarry: `,
		"sql":      `servers:\n[^\n]*✓\S* quarry: `,
	} {
		out, err := editortest.Batch(t, home, "hx", "--health", language)
		if err != nil || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: %v\n%s", language, err, out)
		}
	}
}
