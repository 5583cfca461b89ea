// Package zed_test holds the tests of the Zed extension.
package zed_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
)

var update = flag.Bool("update", false, "write the languages into extension.toml")

// namedByZed are languages that Zed, or an extension of it, does not call by quarry's name with a
// capital first letter; those with no name are unknown to Zed.
var namedByZed = map[string][]string{
	"awk": nil, "bat": nil, "ignore": nil, "javascriptreact": nil, "objective-cpp": nil, "properties": nil, "vb": nil,

	"asciidoc": {"AsciiDoc"}, "asm": {"Assembly"}, "cmake": {"CMake"}, "cpp": {"C++"}, "csharp": {"C#"}, "css": {"CSS"}, "csv": {"CSV"},
	"elisp": {"Emacs Lisp"}, "elixir": {"Elixir", "HEEX"}, "fsharp": {"F#"}, "gdscript": {"GDScript"}, "glsl": {"GLSL"}, "go.mod": {"Go Mod"},
	"graphql": {"GraphQL"}, "hcl": {"HCL", "Terraform", "Terraform Vars"}, "hlsl": {"HLSL"}, "html": {"HTML"}, "ini": {"INI"},
	"javascript": {"JavaScript"}, "json": {"JSON"}, "jsonc": {"JSONC"}, "latex": {"LaTeX"}, "lisp": {"Common Lisp"}, "matlab": {"MATLAB"},
	"objective-c": {"Objective-C"}, "ocaml": {"OCaml", "OCaml Interface"}, "php": {"PHP"}, lang.PlainText: {"Plain Text"},
	"powershell": {"PowerShell"}, "purescript": {"PureScript"}, "restructuredtext": {"reST"}, "scss": {"SCSS"}, "shellscript": {"Shell Script"},
	"sql": {"SQL"}, "toml": {"TOML"}, "typescript": {"TypeScript"}, "typescriptreact": {"TSX"}, "vhdl": {"VHDL"}, "viml": {"Vim Script"},
	"vue": {"Vue.js"}, "wgsl": {"WGSL"}, "xml": {"XML"}, "yaml": {"YAML"},
}

// TestLanguages: Zed has no name for all languages, so the manifest lists each that quarry knows.
func TestLanguages(t *testing.T) {
	const (
		manifest = "extension.toml"
		begin    = "languages = [\n"
		end      = "]\n\n# What a language is called in LSP, where it is not Zed's name in lower case.\n[language_servers.quarry.language_ids]\n"
	)
	type language struct{ name, id string }
	var all []language
	for _, l := range lang.All() {
		names, ok := namedByZed[l.ID]
		if !ok {
			names = []string{strings.ToUpper(l.ID[:1]) + l.ID[1:]}
		}
		for _, name := range names {
			all = append(all, language{name, l.ID})
		}
	}
	for id := range namedByZed {
		if lang.Of(id).ID != id || !slices.ContainsFunc(lang.All(), func(l lang.Language) bool { return l.ID == id }) {
			t.Errorf("quarry knows no language %s", id)
		}
	}
	slices.SortFunc(all, func(a, b language) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), cmp.Compare(a.name, b.name))
	})
	var list, ids strings.Builder
	width := 0
	for _, l := range all {
		item := fmt.Sprintf("%q,", l.name)
		switch width += len(item) + 1; {
		case list.Len() == 0:
			list.WriteString("    " + item)
		case width > 150:
			list.WriteString("\n    " + item)
			width = len(item)
		default:
			list.WriteString(" " + item)
		}
		if strings.ToLower(l.name) != l.id {
			fmt.Fprintf(&ids, "%q = %q\n", l.name, l.id)
		}
	}
	have, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(have), begin)
	if !ok || !strings.Contains(rest, end) {
		t.Fatal("there is no list of languages, or none of their names in LSP")
	}
	want := head + begin + list.String() + "\n" + end + ids.String()
	if string(have) == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not list quarry's languages: run go test ./editors/zed -update. Where Zed calls one otherwise, or not at all, manifest_test.go says so", manifest)
	}
	if err := os.WriteFile(manifest, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
