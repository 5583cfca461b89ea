//go:build editors

package zed_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestComponent builds the extension as Zed does and asks the component how quarry is to be started. Zed itself
// needs a graphics card and is not in any package registry, so nothing here runs in it.
func TestComponent(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3, whose package wasmtime hosts the component")
	}
	component, python := made(t, "make"), made(t, "host")
	type object = map[string]any
	command := func(path string, args []any, env object) object {
		return object{"command": path, "args": args, "env": env}
	}
	shell := object{"FROM": "the shell"}
	cases := []struct {
		name           string
		which          any
		settings, want object
	}{
		{"on the PATH", "/usr/bin/quarry", object{},
			object{"command": command("/usr/bin/quarry", []any{"lsp"}, shell), "options": nil, "configuration": nil}},
		{"nowhere", nil, object{},
			object{"command": object{"error": "quarry is not on the PATH: install it, or name it in Zed's settings as lsp.quarry.binary.path"}, "options": nil, "configuration": nil}},
		{"in the project", "/work/bin/quarry", object{},
			object{"command": object{"error": "quarry is not on the PATH: install it, or name it in Zed's settings as lsp.quarry.binary.path"}, "options": nil, "configuration": nil}},
		{"beside the project", "/work-tools/bin/quarry", object{},
			object{"command": command("/work-tools/bin/quarry", []any{"lsp"}, shell), "options": nil, "configuration": nil}},
		{"in the settings", "/usr/bin/quarry", object{
			"binary":                 object{"path": "/opt/quarry", "arguments": []any{"lsp", "--log-level", "debug"}, "env": object{"A": "b"}},
			"initialization_options": object{"logLevel": "debug"},
			"settings":               object{"completion": object{"enabled": false}},
		}, object{
			// What lsp.quarry.binary names is Zed's to start, in a project that the user trusts.
			"command":       command("/usr/bin/quarry", []any{"lsp"}, shell),
			"options":       object{"logLevel": "debug"},
			"configuration": object{"quarry": object{"completion": object{"enabled": false}}},
		}},
		{"settings under their name", "/usr/bin/quarry", object{"settings": object{"quarry": object{"logLevel": "debug"}}},
			object{"command": command("/usr/bin/quarry", []any{"lsp"}, shell), "options": nil, "configuration": object{"quarry": object{"logLevel": "debug"}}}},
	}
	asked := make([]object, len(cases))
	for i, tt := range cases {
		asked[i] = object{"which": tt.which, "settings": tt.settings}
	}
	input, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(python, "host.py", component)
	host.Stdin, host.Stderr = strings.NewReader(string(input)), os.Stderr
	out, err := host.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []object
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, got[i]); d != "" {
				t.Error(d)
			}
		})
	}
}

// made is what build.sh says it made.
func made(t *testing.T, what string) string {
	t.Helper()
	cmd := exec.Command("./build.sh", what)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
