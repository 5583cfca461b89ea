//go:build editors

package vscode_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// TestToolsForTheAgent has VS Code start quarry's tools from the file that quarry setup vscode writes, as test/agent.mjs says. VS Code
// says that it has found them, and names the workspace to them.
func TestToolsForTheAgent(t *testing.T) {
	home, data, workspace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "shop")
	editortest.WriteFile(t, filepath.Join(workspace, "shop.ts"), shop)
	setup := exec.Command(filepath.Join(editortest.QuarryFolder, "quarry"), "setup", "vscode", "--yes")
	setup.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	servers, err := os.ReadFile(filepath.Join(home, ".config", "Code", "User", "mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	// What VS Code says to quarry is kept on its way there.
	dir := t.TempDir()
	said, between := filepath.Join(dir, "said"), filepath.Join(dir, "quarry")
	editortest.WriteFile(t, between, "#!/bin/sh\ntee "+said+" | "+filepath.Join(editortest.QuarryFolder, "quarry")+" \"$@\"\n")
	if err := os.Chmod(between, 0o755); err != nil {
		t.Fatal(err)
	}
	quarry, err := filepath.EvalSymlinks(filepath.Join(editortest.QuarryFolder, "quarry"))
	if err != nil {
		t.Fatal(err)
	}
	through := strings.Replace(string(servers), quarry, between, 1)
	if through == string(servers) {
		t.Fatalf("%s is not in\n%s", quarry, servers)
	}
	editortest.WriteFile(t, filepath.Join(data, "User", "mcp.json"), through)
	editortest.WriteFile(t, filepath.Join(data, "User", "settings.json"), userSettings(`"chat.disableAIFeatures": false`))

	codeServer := made(t)
	at := serveUser(t, data, codeServer, workspace, vsix, filepath.Join(editortest.QuarryFolder, "quarry"), "OLLAMA_HOST="+modeltest.NewServer(t).URL)
	live(t, "agent.mjs", codeServer, at)
	if got, err := os.ReadFile(said); err != nil || !strings.Contains(string(got), `"uri":"file://`+workspace+`"`) {
		t.Errorf("VS Code names no root %s (%v):\n%s", workspace, err, got)
	}
}
