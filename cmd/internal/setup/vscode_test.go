package setup

import (
	"archive/zip"
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withExtension is a machine with VS Code, whose command answers list for the extensions, and an
// extension of a version beside quarry.
func withExtension(t *testing.T, list, version string) *Setup {
	t.Helper()
	s := machine(t, nil)
	var packed bytes.Buffer
	out := zip.NewWriter(&packed)
	for name, text := range map[string]string{"extension/package.json": `{"version": "` + version + `"}`, "extension/dist/extension.js": "new()"} {
		w, err := out.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(s.Executable), "quarry.vsix"), packed.String(), 0o600)
	look := s.LookPath
	s.LookPath = func(name string) (string, error) {
		if name == "code" {
			return "/usr/bin/code", nil
		}
		return look(name)
	}
	s.Output = func(program string, args ...string) ([]byte, error) {
		if program != "code" || !slices.Equal(args, []string{"--list-extensions", "--show-versions"}) {
			return nil, exec.ErrNotFound
		}
		return []byte(list), nil
	}
	return s
}

// The extension beside quarry takes the place of an older one, and of one of the same version
// that runs other code; a newer one stays, and the user is told.
func TestExtensionIsRenewed(t *testing.T) {
	const install, uninstall = "code --install-extension ", "code --uninstall-extension quarry.quarry"
	for _, c := range []struct {
		name, list, script string
		do, undo, next     string
	}{
		{"none", "golang.go@0.42.0\n", "", install, uninstall, ""},
		{"older", "golang.go@0.42.0\nquarry.quarry@0.9.12\n", "", install, "", "reload"},
		{"same", "quarry.quarry@0.10.0\n", "new()", "", "", ""},
		{"same, its folder elsewhere", "quarry.quarry@0.10.0\n", "", "", "", ""},
		{"same version of other code", "Quarry.quarry@0.10.0\n", "old()", install, "", "reload"},
		{"newer", "quarry.quarry@0.11.0\n", "", "", "", "newer than this quarry's 0.10.0"},
		{"another's", "quarry.quarry-tools@0.1.0\n", "", install, uninstall, ""},
	} {
		s := withExtension(t, c.list, "0.10.0")
		if c.script != "" {
			write(t, filepath.Join(s.Home, ".vscode", "extensions", "quarry.quarry-0.10.0-linux-x64", "dist", "extension.js"), c.script, 0o600)
			write(t, filepath.Join(s.Home, ".vscode", "extensions", "quarry.quarry-0.10.01", "dist", "extension.js"), "another()", 0o600)
		}
		plan, err := vscode(s.Machine)
		if err != nil {
			t.Fatal(err)
		}
		do, undo := "", ""
		for _, command := range plan.Commands {
			do, undo = do+strings.Join(command.Do, " "), undo+strings.Join(command.Undo, " ")
		}
		want := c.do
		if want != "" {
			want += s.extension()
		}
		if do != want || undo != c.undo {
			t.Errorf("%s: it would run %q, taken back by %q", c.name, do, undo)
		}
		if next := strings.Join(plan.Next, "\n"); c.next == "" && next != "" || !strings.Contains(next, c.next) {
			t.Errorf("%s: the user is told %q", c.name, next)
		}
	}
}

// A packed file that is no extension replaces none.
func TestExtensionThatCannotBeRead(t *testing.T) {
	s := withExtension(t, "quarry.quarry@0.1.0\n", "0.2.0")
	write(t, s.extension(), "no zip", 0o600)
	if plan, err := vscode(s.Machine); err != nil || len(plan.Commands) > 0 {
		t.Errorf("it would run %v, %v", plan.Commands, err)
	}
}

// What is installed twice is taken back once: the second command would fail.
func TestCommandTakenBackOnce(t *testing.T) {
	s := machine(t, nil)
	for range 2 {
		if err := s.Run("vscode", Command{Do: []string{"install"}, Undo: []string{"uninstall"}}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run("vscode", Command{Undo: []string{"uninstall"}}, func() error { return errors.New("no") }); err == nil {
		t.Error("a command that fails does not")
	}
	if _, commands, err := s.Undone("vscode"); err != nil || len(commands) != 1 {
		t.Errorf("to be taken back: %v, %v", commands, err)
	}
}
