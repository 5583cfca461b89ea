//go:build editors

package helix_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"quarry/editors/editortest"
)

// Helix names quarry behind the servers that it and the user had for a language.
func TestSetupNamesTheServer(t *testing.T) {
	home := t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "languages.toml"),
		"[[language]]\nname = \"go\" # mine\nlanguage-servers = [ \"gopls\" ]\nauto-format = true\n")
	editortest.SetUp(t, home, "helix")
	for language, want := range map[string]string{
		"go":       `gopls:[^\n]*\n[^\n]*✓\S* quarry: `,
		"markdown": `marksman:[^\n]*\n(?s:.*)✓\S* quarry: `,
		"sql":      `servers:\n[^\n]*✓\S* quarry: `,
	} {
		out, err := editortest.Batch(t, home, "hx", "--health", language)
		if err != nil || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: %v\n%s", language, err, out)
		}
	}
}
