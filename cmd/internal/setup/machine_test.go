package setup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where the record cannot be written, nothing is: it could not be taken back.
func TestNothingIsWrittenWithoutARecord(t *testing.T) {
	s := machine(t, nil)
	makeLink(t, filepath.Join(s.Home, "nowhere"), s.StateDir)
	path := filepath.Join(s.Home, ".claude.json")
	write(t, path, "{}\n", 0o600)
	before := tree(t, s.Home)
	backups, err := s.Do("claude", changes(t, s, "claude"))
	if err == nil || !strings.HasPrefix(err.Error(), path+" is not written, since it could not be taken back: ") || len(backups) > 0 {
		t.Errorf("%v, %v", backups, err)
	}
	ran := false
	err = s.Run("vscode", Command{Do: []string{"x"}, Undo: []string{"y"}}, func() error { ran = true; return nil })
	if err == nil || !strings.Contains(err.Error(), "could not be taken back") || ran {
		t.Errorf("a command: ran %v, %v", ran, err)
	}
	if after := tree(t, s.Home); after != before {
		t.Errorf("there is now\n%s\nbefore there was\n%s", after, before)
	}
}

// A file that could not be written after all is not recorded, and a command neither.
func TestRecordOfWhatFailed(t *testing.T) {
	s := machine(t, nil)
	path := filepath.Join(s.Home, ".claude.json")
	write(t, path, "{}\n", 0o600)
	list := changes(t, s, "claude")
	write(t, path, "{ }\n", 0o600)
	if _, err := s.Do("claude", list); err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("written: %v", err)
	}
	failed := errors.New("it failed")
	if err := s.Run("claude", Command{Undo: []string{"y"}}, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("run: %v", err)
	}
	if list, commands, err := s.Undone("claude"); err != nil || len(list)+len(commands) > 0 {
		t.Errorf("to be taken back: %v, %v, %v", list, commands, err)
	}
}

// The text from before may be tidied away: quarry's part goes all the same.
func TestUndoWithoutTheBackup(t *testing.T) {
	s := machine(t, nil)
	path := filepath.Join(s.Home, ".claude.json")
	write(t, path, configured["claude"][1], 0o600)
	backups, err := s.Do("claude", changes(t, s, "claude"))
	if err != nil || len(backups) != 1 {
		t.Fatal(backups, err)
	}
	if err := os.Remove(backups[0]); err != nil {
		t.Fatal(err)
	}
	takeBack(t, s, "claude")
	if got := text(t, path); got != configured["claude"][1] {
		t.Errorf("it is %s", got)
	}
	if left, err := filepath.Glob(path + "?*"); err != nil || len(left) > 0 {
		t.Errorf("beside it stand %v, %v", left, err)
	}
}

// A token that lets ask the server is for its user's eyes; taken back, the file is as it was.
func TestTokenIsPrivate(t *testing.T) {
	s := machine(t, nil)
	path := filepath.Join(s.Home, ".config/quarry/settings.json")
	write(t, path, "{\"model\": \"x\"}\n", 0o644)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Skip("this system has no modes")
	}
	list := changes(t, s, "zed")
	if note := list[0].Note(); note != "mode 0600, was 0644: "+path {
		t.Errorf("told %q", note)
	}
	if _, err := s.Do("zed", list); err != nil {
		t.Fatal(err)
	}
	mode := func() string {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%04o", info.Mode().Perm())
	}
	if mode() != "0600" || !strings.Contains(text(t, path), "token") {
		t.Errorf("%s\n%s", mode(), text(t, path))
	}
	takeBack(t, s, "zed")
	if mode() != "0644" || strings.Contains(text(t, path), "token") {
		t.Errorf("taken back: %s\n%s", mode(), text(t, path))
	}
}

// An editor that quarry cannot run in is not set up, and told so.
func TestEditorsThatAreTooOld(t *testing.T) {
	for target, says := range map[string]map[string]string{
		"nvim": {
			"NVIM v0.9.5\nBuild type: Release\nLuaJIT 2.1.1703358377\n": "Neovim 0.9.5 is too old: quarry needs 0.11 or newer",
			"NVIM v0.11.0\n":               "",
			"NVIM v0.12.0-dev-1234+gabc\n": "",
			"NVIM v1.0\n":                  "",
			"no version":                   "",
		},
		"emacs": {
			"GNU Emacs 29.3\nCopyright (C) 2024 Free Software Foundation, Inc.\n": "Emacs 29.3 is too old: quarry needs 30.1 or newer",
			"GNU Emacs 30.1\n": "",
			"GNU Emacs 31.0\n": "",
		},
	} {
		for out, want := range says {
			s := machine(t, nil)
			s.LookPath = func(name string) (string, error) {
				if name == target {
					return "/usr/bin/" + name, nil
				}
				return "", exec.ErrNotFound
			}
			s.Output = func(_ string, args ...string) ([]byte, error) {
				if len(args) != 1 || args[0] != "--version" {
					return nil, errors.New("not found")
				}
				return []byte(out), nil
			}
			known, _ := Find(target)
			_, err := known.Plan(s.Machine)
			if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
				t.Errorf("%q: %v; want %q", out, err, want)
			}
		}
	}
}

// A line that is a comment sets nothing up.
func TestNeovimSetUpInAComment(t *testing.T) {
	for lua, want := range map[string]string{
		"-- require('quarry').setup()\n":                                              "",
		"  --[[ require('quarry').setup()\n]]\n":                                      "",
		"--[[ mine\n\n]]\nlocal x = 1 -- require('quarry').setup()\n":                 "",
		"--[[ mine\n\n]]\n-- require('quarry').setup()\nrequire 'quarry'.setup({})\n": ":5",
	} {
		s := machine(t, nil)
		path := filepath.Join(s.Home, ".config/nvim/init.lua")
		write(t, path, lua, 0o600)
		place := nvimByHand(nvimConfig(s.Machine))
		if strings.TrimPrefix(place, path) != want {
			t.Errorf("%q: found at %q", lua, place)
		}
	}
}

// A configuration that is kept elsewhere is read through its links, and what was made
// within it goes.
func TestNeovimConfigurationBehindLinks(t *testing.T) {
	s := machine(t, nil)
	config := filepath.Join(s.Home, ".config", "nvim")
	real := filepath.Join(s.Home, "d")
	write(t, filepath.Join(real, "init.lua"), "vim.g.x = 1\n", 0o600)
	write(t, filepath.Join(s.Home, "lua", "mine.lua"), "local x = 1\n", 0o600)
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{config: real, filepath.Join(real, "lua"): filepath.Join(s.Home, "lua"), filepath.Join(s.Home, "lua", "round"): real} {
		makeLink(t, to, link)
	}
	before := tree(t, s.Home)
	setUp(t, s, "nvim")
	takeBack(t, s, "nvim")
	if after := tree(t, s.Home); !strings.HasPrefix(after, before) || isThere(filepath.Join(real, "plugin")) {
		t.Errorf("taken back it is\n%s\nbefore it was\n%s", after, before)
	}
	write(t, filepath.Join(s.Home, "lua", "mine.lua"), "\nrequire('quarry').setup()\n", 0o600)
	if place := nvimByHand(config); place != filepath.Join(config, "lua", "mine.lua")+":2" {
		t.Errorf("found at %q", place)
	}
}

// The folder is that of the program: one of another may be left.
func TestFolderOfTheVSCodeThatIsThere(t *testing.T) {
	s := machine(t, nil)
	write(t, filepath.Join(s.Home, ".config/Code/User/settings.json"), "{}", 0o600)
	s.LookPath = func(name string) (string, error) {
		if name == "codium" {
			return "/usr/bin/codium", nil
		}
		return "", exec.ErrNotFound
	}
	if got, want := vscodeUser(s.Machine), filepath.Join(s.Home, ".config/VSCodium/User"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Claude Code is there if its file is, though it has no folder and is not on the PATH.
func TestClaudeCodeWithItsFileAlone(t *testing.T) {
	s := machine(t, nil)
	found, _ := Find("claude")
	if by, ok := found.Found(s.Machine); ok {
		t.Errorf("there is none, and it is found by %s", by)
	}
	setUp(t, s, "claude")
	if by, ok := found.Found(s.Machine); !ok || by != filepath.Join(s.Home, ".claude.json") {
		t.Errorf("found %t by %q", ok, by)
	}
}
