// Package vscode_test holds the tests of the VS Code extension.
package vscode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
	"quarry/lsp/settings"
)

var update = flag.Bool("update", false, "write the settings into package.json")

// TestSettingsAreCurrent: VS Code offers exactly the settings that the server takes from an editor, and quarry.path.
func TestSettingsAreCurrent(t *testing.T) {
	current(t, `"configuration": `, "    ", map[string]any{"title": "quarry", "properties": contributed(t)})
}

// TestUntrustedFoldersSetNothing: VS Code takes no setting of quarry's from a folder that is not trusted.
func TestUntrustedFoldersSetNothing(t *testing.T) {
	current(t, `"restrictedConfigurations": `, "      ", slices.Sorted(maps.Keys(contributed(t))))
}

// TestManifest: the stores' fields are there, every command that a key, a menu or the walkthrough names exists, and no key is bound twice.
func TestManifest(t *testing.T) {
	raw, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Icon, License, Publisher string
		Keywords, Categories     []string
		Contributes              struct {
			Commands     []struct{ Command string }
			Keybindings  []struct{ Command, Key, Mac string }
			Menus        map[string][]struct{ Command, Submenu string }
			Submenus     []struct{ ID string }
			Walkthroughs []struct {
				Steps []struct {
					Description string
					Media       struct{ Markdown string }
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"icon": manifest.Icon, "license": manifest.License, "publisher": manifest.Publisher, "keywords": strings.Join(manifest.Keywords, " "), "categories": strings.Join(manifest.Categories, " "),
	} {
		if value == "" {
			t.Errorf("package.json has no %s", name)
		}
	}
	if bytes.Contains(raw, []byte("example.com")) {
		t.Error("package.json names an address that does not exist")
	}
	files := []string{manifest.Icon}
	known, bound := map[string]bool{
		"workbench.action.openSettings": true, "editor.action.inlineSuggest.acceptNextLine": true, "editor.action.inlineSuggest.trigger": true,
	}, map[string]string{}
	for _, c := range manifest.Contributes.Commands {
		known[c.Command] = true
	}
	named := func(where, command string) {
		if !known[command] {
			t.Errorf("%s names the command %s, which is none", where, command)
		}
	}
	for _, k := range manifest.Contributes.Keybindings {
		named("a key", k.Command)
		for _, key := range []string{k.Key, "mac " + k.Mac} {
			if bound[key] != "" {
				t.Errorf("%s is bound to %s and %s", key, bound[key], k.Command)
			}
			bound[key] = k.Command
		}
	}
	for menu, items := range manifest.Contributes.Menus {
		for _, item := range items {
			if item.Submenu == "" {
				named(menu, item.Command)
			} else if len(manifest.Contributes.Submenus) != 1 || manifest.Contributes.Submenus[0].ID != item.Submenu {
				t.Errorf("%s names the submenu %s, which is none", menu, item.Submenu)
			}
		}
	}
	for _, w := range manifest.Contributes.Walkthroughs {
		for _, step := range w.Steps {
			files = append(files, step.Media.Markdown)
			for _, m := range regexp.MustCompile(`command:([\w.]+)`).FindAllStringSubmatch(step.Description, -1) {
				named("the walkthrough", m[1])
			}
		}
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// TestColours: colours.json knows each of its languages by quarry's name, which is VS Code's, and names the scope of a grammar.
func TestColours(t *testing.T) {
	raw, err := os.ReadFile("colours.json")
	if err != nil {
		t.Fatal(err)
	}
	var scopes map[string]string
	if err := json.Unmarshal(raw, &scopes); err != nil {
		t.Fatal(err)
	}
	for id, scope := range scopes {
		if lang.Of(id).ID != id || !regexp.MustCompile(`^(source|text)(\.\w+)+$`).MatchString(scope) {
			t.Errorf("%s: %s", id, scope)
		}
	}
	for _, id := range []string{"c", "cpp", "csharp", "go", "java", "javascript", "javascriptreact", "php", "python", "ruby", "rust", "shellscript", "typescript", "typescriptreact"} {
		if scopes[id] == "" {
			t.Errorf("%s has no colours", id)
		}
	}
}

// current compares the value after a name in package.json with what it should be, or writes that there.
func current(t *testing.T, name, indent string, value any) {
	t.Helper()
	manifest, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(manifest, []byte(name)) + len(name)
	if start < len(name) {
		t.Fatalf("package.json has no %s", name)
	}
	decoder := json.NewDecoder(bytes.NewReader(manifest[start:]))
	var got any
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("package.json, after %s: %v", name, err)
	}
	wanted, err := json.MarshalIndent(value, indent, "  ")
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(wanted, &want); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(got, want) {
		return
	}
	if !*update {
		t.Fatal("package.json does not offer the server's settings: run go test ./editors/vscode -update")
	}
	end := start + int(decoder.InputOffset())
	manifest = append(manifest[:start:start], append(wanted, manifest[end:]...)...)
	if err := os.WriteFile("package.json", manifest, 0o644); err != nil {
		t.Fatal(err)
	}
}

// contributed are the settings in the form of VS Code: flat, each with its schema.
func contributed(t *testing.T) map[string]any {
	t.Helper()
	properties := map[string]any{
		// What to run is not for a repository to say, nor for settings that travel between machines.
		"quarry.path": map[string]any{
			"type": "string", "default": "", "scope": "machine",
			"description": "The quarry binary. Empty: the one on the PATH.",
		},
	}
	var schema map[string]any
	if err := json.Unmarshal(settings.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	flatten(schema, "quarry", properties)
	for _, row := range strings.Split(settings.Table(), "\n") {
		if key := userOnly.FindStringSubmatch(row); key != nil {
			if properties["quarry."+key[1]] == nil {
				t.Fatalf("the table's %s is not in the schema", key[1])
			}
			delete(properties, "quarry."+key[1])
		}
	}
	return properties
}

// userOnly finds the key in a row of the settings table that is not taken from editors.
var userOnly = regexp.MustCompile("^\\| `([^`]+)`.*\\*User only\\.\\*")

func flatten(schema map[string]any, prefix string, into map[string]any) {
	for name, property := range schema["properties"].(map[string]any) {
		property := property.(map[string]any)
		if property["properties"] != nil {
			flatten(property, prefix+"."+name, into)
		} else {
			into[prefix+"."+name] = property
		}
	}
}

// TestToolsAreLocked: what npm installs, for the extension and for its tests in VS Code, is in a lock with its sum, and what package.json names is one version.
func TestToolsAreLocked(t *testing.T) {
	for _, dir := range []string{".", "../editortest/codeserver"} {
		type pack struct {
			Version, Integrity            string
			Link                          bool
			Dependencies, DevDependencies map[string]string
		}
		var wanted pack
		var lock struct{ Packages map[string]pack }
		for name, into := range map[string]any{"package.json": &wanted, "package-lock.json": &lock} {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, into); err != nil {
				t.Fatal(err)
			}
		}
		if len(lock.Packages) < 10 {
			t.Errorf("%s: the lock has %d packages", dir, len(lock.Packages))
		}
		for name, p := range lock.Packages {
			if name != "" && (p.Integrity == "" || p.Version == "" || p.Link) {
				t.Errorf("%s: %s is not locked: %+v", dir, name, p)
			}
		}
		for _, list := range []map[string]string{wanted.Dependencies, wanted.DevDependencies} {
			for name, version := range list {
				if lock.Packages["node_modules/"+name].Version != version {
					t.Errorf("%s: package.json wants %s %s, the lock has %s", dir, name, version, lock.Packages["node_modules/"+name].Version)
				}
			}
		}
	}
	// No script of ours installs what is in none.
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"node_modules", ".git", "bin", "dist"}, d.Name()) {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); !d.Type().IsRegular() || ext != ".sh" && ext != ".yml" && d.Name() != "Makefile" && d.Name() != "run" {
			return nil
		}
		text, err := os.ReadFile(path)
		if found := unlocked.Find(text); found != nil {
			t.Errorf("%s: %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// unlocked is a command that installs what no lock names.
var unlocked = regexp.MustCompile(`\b(npx|npm (install|i|exec|add)|yarn|pnpm)\b.*`)
