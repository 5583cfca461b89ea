package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/index/systest"
)

// offThePath is a machine whose program is in a folder with a version in its name, to which
// the PATH does not lead.
func offThePath(t *testing.T) (s *Setup, at func(elements ...string) string) {
	t.Helper()
	s = machine(t, nil)
	at = func(elements ...string) string { return filepath.Join(append([]string{s.Home}, elements...)...) }
	s.Executable = at("Cellar", "quarry", "1.2.3", "bin", "quarry")
	write(t, s.Executable, "", 0o755)
	return s, at
}

// makeLink skips a test where there are no links.
func makeLink(t *testing.T, target, path string) {
	t.Helper()
	systest.NeedLinks(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// What is written leads to quarry after an update, too: the program's folder has a version in
// its name, the link by which it was started has none.
func TestCommandThatLasts(t *testing.T) {
	s, at := offThePath(t)
	other := at("other", "quarry")
	write(t, other, "", 0o755)
	makeLink(t, s.Executable, at("my tools", "quarry"))
	makeLink(t, s.Executable, at("names", "qry"))
	makeLink(t, at("Cellar", "quarry", "1.2.3"), at("current"))
	paths := map[string]string{"qry": at("names", "qry"), "stranger": other}
	s.LookPath = func(name string) (string, error) {
		if path := paths[name]; path != "" {
			return path, nil
		}
		return "", exec.ErrNotFound
	}
	for started, want := range map[string]string{
		at("my tools", "quarry"):       at("my tools", "quarry"),
		at("current", "bin", "quarry"): at("current", "bin", "quarry"),
		"qry":                          "qry",
		"stranger":                     s.Executable, // a lie
		other:                          s.Executable,
		at("gone", "quarry"):           s.Executable,
		"quarry":                       s.Executable, // of which the PATH knows nothing
		"":                             s.Executable,
	} {
		if s.Started = started; s.quarry() != want {
			t.Errorf("started by %q the command is %s, want %s", started, s.quarry(), want)
		}
	}
	t.Chdir(at("current"))
	t.Setenv("PWD", at("current"))
	s.Started = filepath.Join(".", "bin") + string(filepath.Separator) + "quarry"
	if got := s.quarry(); got != at("current", "bin", "quarry") {
		t.Errorf("started from a folder the command is %s", got)
	}
	paths["quarry"] = at("my tools", "quarry")
	if got := s.quarry(); got != "quarry" {
		t.Errorf("on the PATH the command is %s", got)
	}
	paths["quarry"] = other
	if got := s.quarry(); got != at("current", "bin", "quarry") {
		t.Errorf("with another quarry on the PATH the command is %s", got)
	}
}

// npm starts the program by a script of the same name, from a folder that may have a version in
// its name.
func TestCommandOfNPM(t *testing.T) {
	s, at := offThePath(t)
	script := at("bin", "script", "quarry")
	write(t, script, "#!/bin/sh\n", 0o755)
	env := map[string]string{}
	s.Getenv = func(name string) string { return env[name] }
	s.LookPath = func(string) (string, error) { return script, nil }
	s.Started = s.Executable
	for _, c := range []struct{ launcher, system, script, want string }{
		{"", "linux", at("bin", "script", "quarry"), s.Executable},
		{"/usr/bin/quarry", "linux", at("bin", "script", "quarry"), "quarry"},
		{"/usr/bin/quarry", "windows", at("bin", "script", "quarry"), s.Executable},
		{"/usr/bin/quarry", "linux", at("node_modules", ".bin", "quarry"), s.Executable}, // of npx
	} {
		env["QUARRY_LAUNCHER"], s.OS, script = c.launcher, c.system, c.script
		if got := s.quarry(); got != c.want {
			t.Errorf("%+v: the command is %s", c, got)
		}
	}
}

// An old path of quarry's is nowhere after a second setup, whichever way quarry moved, and
// taking it back leaves every file as it was before the first.
func TestSecondSetupLeavesNoOldPath(t *testing.T) {
	for _, target := range Targets {
		t.Run(target.Name, func(t *testing.T) {
			s, at := offThePath(t)
			file := configured[target.Name]
			path := filepath.Join(s.Home, file[0])
			write(t, path, file[1], 0o600)
			write(t, at(".config", "another"), "", 0o600)
			if target.Name == "vscode" {
				write(t, at(".config", "Code", "User", "settings.json"), "{\"editor.tabSize\": 3}\n", 0o600)
			}
			before := tree(t, at(".config")) + text(t, path)
			onPath := s.LookPath
			setUp(t, s, target.Name)
			old := s.Executable

			s.Executable = at("a b", "quarry") // moved off the PATH, then onto it
			write(t, s.Executable, "", 0o755)
			for _, found := range []string{"", s.Executable} {
				s.LookPath = func(name string) (string, error) {
					if name == "quarry" && found != "" {
						return found, nil
					} else if name == "quarry" {
						return "", exec.ErrNotFound
					}
					return onPath(name)
				}
				setUp(t, s, target.Name)
				if list := changes(t, s, target.Name); len(list) > 0 {
					t.Errorf("once more it would change\n%s", list[0].Diff())
				}
				all := tree(t, at(".config")) + text(t, path)
				for _, dir := range []string{".emacs.d", ".local"} {
					if isThere(at(dir)) {
						all += tree(t, at(dir))
					}
				}
				all = strings.ReplaceAll(all, `\\`, `\`) // as strings of all these languages quote it
				if strings.Contains(all, old) || found != "" && strings.Contains(all, s.Executable) {
					t.Errorf("an old path is left in\n%s", all)
				}
				if found == "" && !strings.Contains(all, s.Executable) {
					t.Errorf("the new path is not in\n%s", all)
				}
				old = s.Executable
			}
			takeBack(t, s, target.Name)
			if now := tree(t, at(".config")) + text(t, path); now != before {
				t.Errorf("taken back it is\n%s\nbefore it was\n%s", now, before)
			}
		})
	}
}

// Where nothing is recorded, the path of a program that is gone gives way; one of a program
// that is there is the user's.
func TestPathsThatNobodyRecorded(t *testing.T) {
	for _, file := range [][2]string{
		{".config/Code/User/settings.json", `{"quarry.path": %s}`},
		{".config/zed/settings.json", `{"lsp": {"quarry": {"binary": {"path": %s}}}}`},
	} {
		s := machine(t, nil)
		target := "vscode"
		if strings.Contains(file[0], "zed") {
			target = "zed"
		}
		path, mine := filepath.Join(s.Home, file[0]), filepath.Join(s.Home, "mine", "quarry")
		write(t, mine, "", 0o755)
		for program, want := range map[string]string{filepath.Join(s.Home, "gone", "quarry"): "quarry", mine: mine, "qry": "qry"} {
			quoted, err := compact(program)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, strings.Replace(file[1], "%s", string(quoted), 1), 0o600)
			setUp(t, s, target)
			if quoted, err = compact(want); err != nil || !strings.Contains(text(t, path), `: `+string(quoted)) {
				t.Errorf("%s: it is\n%s", program, text(t, path))
			}
			takeBack(t, s, target)
			if quoted, err = compact(program); err != nil || text(t, path) != strings.Replace(file[1], "%s", string(quoted), 1) {
				t.Errorf("%s: taken back it is\n%s", program, text(t, path))
			}
		}
		// Another's error is none of setup's, as long as it has nothing to write there.
		if target == "vscode" {
			write(t, path, `{"quarry.path": `, 0o600)
			setUp(t, s, target)
			if got := text(t, path); got != `{"quarry.path": ` {
				t.Errorf("it became %s", got)
			}
		}
	}
}

// A file that an older plugin had goes, and what the user wrote into it is kept.
func TestFilesOfAnOlderPlugin(t *testing.T) {
	s := machine(t, nil)
	plan, err := nvim(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	folder := plan.own[0]
	old := plan
	for _, name := range []string{"plugin/old.lua", "lua/edited.lua"} {
		old.Edits = append(old.Edits, Edit{Path: filepath.Join(folder, filepath.FromSlash(name)), part: whole("-- old\n")})
	}
	list, err := s.Changes("nvim", old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do("nvim", list); err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(folder, "lua", "edited.lua")
	write(t, edited, "-- mine\n", 0o600)
	list = changes(t, s, "nvim")
	if len(list) != 2 {
		t.Fatalf("it would change %d files", len(list))
	}
	kept, err := s.Do("nvim", list)
	if err != nil || len(kept) != 1 || text(t, kept[0]) != "-- mine\n" {
		t.Errorf("kept %v, %v", kept, err)
	}
	if isThere(filepath.Join(folder, "plugin", "old.lua")) || isThere(edited) || len(changes(t, s, "nvim")) > 0 {
		t.Error("the old files are there yet")
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	takeBack(t, s, "nvim")
	if isThere(folder) {
		t.Errorf("taken back there is\n%s", tree(t, folder))
	}
}

// Zed builds the extension from a folder, so that setup writes all that Cargo asks for.
func TestZedGetsTheSourceOfTheExtension(t *testing.T) {
	s := machine(t, nil)
	setUp(t, s, "zed")
	folder := filepath.Join(s.Home, ".local", "share", "quarry", "zed")
	for _, file := range []string{"extension.toml", "Cargo.toml", "Cargo.lock", "LICENSE", "src/lib.rs"} {
		want, err := os.ReadFile(filepath.Join("..", "..", "..", "editors", "zed", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, filepath.Join(folder, filepath.FromSlash(file))); got != string(want) {
			t.Errorf("%s is another one", file)
		}
	}
	plan, err := zed(s.Machine)
	if err != nil || !strings.Contains(plan.Next[0], "choose the folder "+folder) {
		t.Errorf("the user is told %q, %v", plan.Next, err)
	}
}
