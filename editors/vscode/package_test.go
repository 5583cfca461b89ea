// Package vscode_test holds the tests of the VS Code extension.
package vscode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

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
		if property["type"] == "object" {
			flatten(property, prefix+"."+name, into)
		} else {
			into[prefix+"."+name] = property
		}
	}
}
