package setup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// machine is one with an empty home folder, whose PATH leads to quarry alone.
func machine(t *testing.T, env map[string]string) *Setup {
	t.Helper()
	home := t.TempDir()
	executable := filepath.Join(home, "bin", "quarry")
	write(t, executable, "", 0o755)
	for _, name := range []string{"XDG_CONFIG_HOME", "AppData"} { // of quarry's own settings, by system
		t.Setenv(name, filepath.Join(home, ".config"))
	}
	return &Setup{StateDir: filepath.Join(home, "state"), Machine: Machine{
		OS: "linux", Home: home, Executable: executable, Repository: filepath.Join(home, "repository"),
		Getenv: func(name string) string { return env[name] },
		LookPath: func(name string) (string, error) {
			if name == "quarry" {
				return executable, nil
			}
			if name == "hx" {
				return "/usr/bin/hx", nil
			}
			return "", exec.ErrNotFound
		},
		Output: func(_ string, args ...string) ([]byte, error) {
			if len(args) == 2 && args[0] == "--health" {
				return []byte("Configured language servers:\n  ✓ own-" + args[1] + ": /usr/bin/x\nConfigured debug adapter: None\n"), nil
			}
			return nil, errors.New("not found")
		},
	}}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// changes are what setting up a target would do.
func changes(t *testing.T, s *Setup, target string) []Change {
	t.Helper()
	found, ok := Find(target)
	if !ok {
		t.Fatalf("there is no target %s", target)
	}
	plan, err := found.Plan(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Changes(target, plan)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func setUp(t *testing.T, s *Setup, target string) {
	t.Helper()
	if _, err := s.Do(target, changes(t, s, target)); err != nil {
		t.Fatal(err)
	}
}

func takeBack(t *testing.T, s *Setup, target string) {
	t.Helper()
	list, _, err := s.Undone(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(target, list); err != nil {
		t.Fatal(err)
	}
}

// tree is every file, link and folder below dir with its mode and text.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out.WriteString(strings.TrimPrefix(path, dir) + " " + info.Mode().String())
		if d.Type().IsRegular() {
			out.WriteString(" " + text(t, path))
		}
		out.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// configured is a file of each target as its users write it.
var configured = map[string][2]string{
	"nvim":     {".config/nvim/init.lua", "vim.o.number = true -- mine\n"},
	"vscode":   {".config/Code/User/mcp.json", "{\n\t// servers of mine\n\t\"servers\": {\n\t\t\"docs\": { \"url\": \"http://127.0.0.1\" },\n\t},\n\t\"inputs\": []\n}"},
	"emacs":    {".emacs", ";; mine\n(setq inhibit-startup-screen t)\n"},
	"helix":    {".config/helix/languages.toml", "# mine\n[[language]]\nname = 'go'\nlanguage-servers = [ 'gopls' ]   # only\n"},
	"zed":      {".config/zed/settings.json", "// Zed settings\n{\n  \"edit_predictions\": { \"provider\": \"zed\" }, // theirs\n  \"vim_mode\": true,\n}\n"},
	"claude":   {".claude.json", "{\"numStartups\": 3, \"projects\": {}}"},
	"codex":    {".codex/config.toml", "model = \"o3\"   # mine\n\n[tui]\nnotifications = true\n"},
	"opencode": {".config/opencode/opencode.jsonc", "{\n  // mine\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n"},
	"crush":    {".config/crush/crush.json", "{\n  \"lsp\": {\n    \"go\": {\"command\": \"gopls\"}\n  }\n}\n"},
}

// Every target: set up is set up, the user's text is still there, and taking it back leaves
// every file, mode and folder as it was.
func TestRoundTrip(t *testing.T) {
	for _, target := range Targets {
		t.Run(target.Name, func(t *testing.T) {
			s := machine(t, nil)
			file, ok := configured[target.Name]
			if !ok {
				t.Fatal("the test has no configuration for it")
			}
			path := filepath.Join(s.Home, file[0])
			write(t, path, file[1], 0o640)
			before := tree(t, s.Home)

			first := changes(t, s, target.Name)
			if len(first) == 0 {
				t.Fatal("nothing would be changed")
			}
			setUp(t, s, target.Name)
			if again := changes(t, s, target.Name); len(again) > 0 {
				t.Errorf("a second time it would change %s\n%s", again[0].Path, again[0].Diff())
			}
			now := text(t, path)
			for word := range strings.FieldsSeq(strings.ReplaceAll(file[1], `"zed"`, "")) { // which quarry takes the place of
				if word = strings.TrimRight(word, "]},"); !strings.Contains(now, word) {
					t.Errorf("%q is gone from\n%s", word, now)
				}
			}
			private, state := os.FileMode(0o640), "drwx------"
			if runtime.GOOS == "windows" { // it has no such modes: whose a file is, is said elsewhere
				private, state = 0o666, "drwxrwxrwx"
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != private {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
			if target.Name != "nvim" && !strings.Contains(now, "quarry") {
				t.Errorf("quarry is not in\n%s", now)
			}
			takeBack(t, s, target.Name)
			if after := tree(t, s.Home); after != before+string(filepath.Separator)+"state "+state+"\n" {
				t.Errorf("taken back it is\n%s\nbefore it was\n%s", after, before)
			}
		})
	}
}

// What was written since setup stays.
func TestUndoAfterAnEdit(t *testing.T) {
	for _, target := range Targets {
		if target.Name == "nvim" { // no file of the user's
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			s := machine(t, nil)
			file := configured[target.Name]
			path := filepath.Join(s.Home, file[0])
			write(t, path, file[1], 0o600)
			setUp(t, s, target.Name)
			comment := map[string]string{".json": "", ".jsonc": "// later\n", ".toml": "# later\n", ".emacs": "; later\n"}[filepath.Ext(path)]
			edited := comment + text(t, path) + "\n\n"
			write(t, path, edited, 0o600)
			takeBack(t, s, target.Name)
			if got := text(t, path); strings.TrimSpace(got) != strings.TrimSpace(comment+file[1]) {
				t.Errorf("it is\n%s\nwant\n%s", got, comment+file[1])
			}
			if list, _, err := s.Undone(target.Name); err != nil || len(list) > 0 {
				t.Errorf("there is more to take back: %v, %v", list, err)
			}
		})
	}
}

// An entry that the user wrote is neither changed nor taken out.
func TestEntryOfTheUser(t *testing.T) {
	s := machine(t, nil)
	path := filepath.Join(s.Home, ".config/crush/crush.json")
	const own = `{"mcp": {"quarry": {"type": "stdio", "args": ["mcp"], "command": "quarry"}}}`
	write(t, path, own, 0o600)
	if list := changes(t, s, "crush"); len(list) > 0 {
		t.Errorf("it would be changed:\n%s", list[0].Diff())
	}
	takeBack(t, s, "crush")
	if got := text(t, path); got != own {
		t.Errorf("it is %s", got)
	}
}

// A file of quarry's own that somebody edited goes, and its text is kept.
func TestUndoKeepsWhatWasWrittenIntoQuarrysFile(t *testing.T) {
	s := machine(t, nil)
	setUp(t, s, "nvim")
	path := filepath.Join(s.Home, ".config/nvim/plugin/quarry_setup.lua")
	const edited = "require('quarry').setup({ keys = { accept = '<C-y>' } })\n"
	write(t, path, edited, 0o600)
	list, _, err := s.Undone("nvim")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Undo("nvim", list)
	if err != nil || len(kept) != 1 || text(t, kept[0]) != edited || isThere(path) {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// A program that moved is written anew, and taking it back leads to the text before all.
func TestSecondSetupAfterAMove(t *testing.T) {
	s := machine(t, nil)
	file := configured["codex"]
	path := filepath.Join(s.Home, file[0])
	write(t, path, file[1], 0o600)
	setUp(t, s, "codex")
	s.Executable = filepath.Join(s.Home, "elsewhere", "quarry")
	write(t, s.Executable, "", 0o755)
	setUp(t, s, "codex")
	if got := text(t, path); strings.Count(got, "[mcp_servers.quarry]") != 1 || !strings.Contains(got, s.Executable) {
		t.Errorf("it is\n%s", got)
	}
	takeBack(t, s, "codex")
	if got := text(t, path); got != file[1] {
		t.Errorf("taken back it is\n%s", got)
	}
}

// Two plugins would map each key twice.
func TestNeovimSetUpByHand(t *testing.T) {
	s := machine(t, nil)
	write(t, filepath.Join(s.Home, ".config/nvim/lua/bar.lua"), "return require('quarry').status()\n", 0o600)
	setUp(t, s, "nvim")
	setUp(t, s, "nvim") // its own file is none of the user's
	own := filepath.Join(s.Home, ".config/nvim/lua/plugins.lua")
	write(t, own, "-- mine\nrequire(\"quarry\").setup({})\n", 0o600)
	if _, err := nvim(s.Machine); err == nil || !strings.Contains(err.Error(), own+":2 sets quarry up already") {
		t.Errorf("set up by hand: %v", err)
	}
}

func TestLinkStaysALink(t *testing.T) {
	s := machine(t, nil)
	real := filepath.Join(s.Home, "dotfiles", "crush.json")
	write(t, real, "{}\n", 0o600)
	link := filepath.Join(s.Home, ".config/crush/crush.json")
	write(t, filepath.Join(filepath.Dir(link), "other"), "", 0o600)
	makeLink(t, filepath.Join("..", "..", "dotfiles", "crush.json"), link)
	setUp(t, s, "crush")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("it is no link any more: %v, %v", info, err)
	}
	if !strings.Contains(text(t, real), "quarry") {
		t.Error("the file that it leads to was not written")
	}
	takeBack(t, s, "crush")
	if got := text(t, real); got != "{}\n" {
		t.Errorf("taken back it is %q", got)
	}

	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	plan, err := crush(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes("crush", plan); err == nil || !strings.Contains(err.Error(), "which is not there") {
		t.Errorf("a link to nothing: %v", err)
	}
}

// Nothing is written where one of several files cannot be, and a mode that was tightened while the
// question stood stays so.
func TestAllFilesOrNone(t *testing.T) {
	if os.PathSeparator != '/' || os.Geteuid() < 0 {
		t.Skip("files have no modes here")
	}
	s := machine(t, nil)
	zed := filepath.Join(s.Home, ".config", "zed", "settings.json")
	write(t, zed, "{}\n", 0o644)
	if err := os.Chmod(zed, 0o444); err != nil {
		t.Fatal(err)
	}
	list := changes(t, s, "zed")
	if len(list) < 2 {
		t.Fatalf("%d files", len(list))
	}
	if _, err := s.Do("zed", list); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v", err)
	}
	for _, c := range list {
		if now, err := os.ReadFile(c.Path); c.Path != zed && err == nil {
			t.Errorf("%s is written: %s", c.Path, now)
		}
	}
	if err := os.Chmod(zed, 0o644); err != nil {
		t.Fatal(err)
	}
	list = changes(t, s, "zed")
	if err := os.Chmod(zed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do("zed", list); err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("%v", err)
	}
}

// Settings of quarry's with comments are read as they are written, so that nothing is done twice.
func TestSettingsWithComments(t *testing.T) {
	s := machine(t, nil)
	own := filepath.Join(s.Home, ".config", "quarry", "settings.json")
	write(t, own, "{\n  \"model\": \"x\", // mine\n}\n", 0o600)
	write(t, filepath.Join(s.Home, ".config", "zed", "settings.json"), "{}\n", 0o644)
	setUp(t, s, "zed")
	if now := text(t, own); !strings.Contains(now, "// mine") || !strings.Contains(now, "token") {
		t.Errorf("it became %s", now)
	}
	if again := changes(t, s, "zed"); len(again) != 0 {
		t.Errorf("a second time it would change\n%s", again[0].Diff())
	}
}

// What a command could not take back is there to be taken back again.
func TestUndoThatFailed(t *testing.T) {
	s := machine(t, nil)
	if err := s.Run("vscode", Command{Do: []string{"install"}, Undo: []string{"uninstall"}}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		list, commands, err := s.Undone("vscode")
		if err != nil || len(commands) != 1 || commands[0].Do[0] != "uninstall" {
			t.Fatalf("%v, %v", commands, err)
		}
		if _, err := s.Undo("vscode", list); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget("vscode"); err != nil {
		t.Fatal(err)
	}
	if _, commands, err := s.Undone("vscode"); err != nil || len(commands) != 0 {
		t.Errorf("%v, %v", commands, err)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	s := machine(t, nil)
	path := filepath.Join(s.Home, ".config/crush/crush.json")
	write(t, path, "{}\n", 0o400)
	list := changes(t, s, "crush")
	if _, err := s.Do("crush", list); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a file that is read-only: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, path, "{ }\n", 0o600)
	if _, err := s.Do("crush", list); err == nil || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("a file that was changed after it was shown: %v", err)
	}
	write(t, path, "{ \"mcp\": \n", 0o600)
	plan, err := crush(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes("crush", plan); err == nil || !strings.Contains(err.Error(), path+" is left as it is: it is not JSON: line 2") {
		t.Errorf("a broken file: %v", err)
	}
	if got := text(t, path); got != "{ \"mcp\": \n" {
		t.Errorf("it was changed to %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("beside it stand %v, %v", left, err)
	}
}

// Where programs have their files, on each system and by their variables.
func TestPlaces(t *testing.T) {
	home := t.TempDir()
	at := func(elements ...string) string { return filepath.Join(append([]string{home}, elements...)...) }
	for _, c := range []struct {
		target, system string
		env            map[string]string
		want           string
	}{
		{"nvim", "linux", nil, at(".config/nvim/plugin/quarry_setup.lua")},
		{"nvim", "darwin", map[string]string{"NVIM_APPNAME": "lazy/vim"}, at(".config/lazy/vim/plugin/quarry_setup.lua")},
		{"nvim", "windows", nil, at("AppData/Local/nvim/plugin/quarry_setup.lua")},
		{"nvim", "linux", map[string]string{"XDG_CONFIG_HOME": at("xdg")}, at("xdg/nvim/plugin/quarry_setup.lua")},
		{"vscode", "linux", nil, at(".config/Code/User/mcp.json")},
		{"vscode", "darwin", nil, at("Library/Application Support/Code/User/mcp.json")},
		{"vscode", "windows", map[string]string{"APPDATA": at("Roaming")}, at("Roaming/Code/User/mcp.json")},
		{"vscode", "linux", map[string]string{"VSCODE_PORTABLE": at("data")}, at("data/user-data/User/mcp.json")},
		{"helix", "linux", nil, at(".config/helix/languages.toml")},
		{"helix", "windows", nil, at("AppData/Roaming/helix/languages.toml")},
		{"zed", "linux", nil, at(".config/zed/settings.json")},
		{"zed", "darwin", nil, at(".config/zed/settings.json")},
		{"zed", "windows", nil, at("AppData/Roaming/Zed/settings.json")},
		{"emacs", "linux", nil, at(".emacs.d/init.el")},
		{"emacs", "windows", nil, at("AppData/Roaming/.emacs.d/init.el")},
		{"claude", "linux", nil, at(".claude.json")},
		{"claude", "linux", map[string]string{"CLAUDE_CONFIG_DIR": at("c")}, at("c/.claude.json")},
		{"codex", "linux", nil, at(".codex/config.toml")},
		{"codex", "windows", map[string]string{"CODEX_HOME": at("c")}, at("c/config.toml")},
		{"opencode", "windows", nil, at(".config/opencode/opencode.json")},
		{"opencode", "linux", map[string]string{"OPENCODE_CONFIG": at("o.json")}, at("o.json")},
		{"crush", "linux", nil, at(".config/crush/crush.json")},
		{"crush", "windows", nil, at("AppData/Local/crush/crush.json")},
		{"crush", "linux", map[string]string{"CRUSH_GLOBAL_CONFIG": at("g")}, at("g/crush.json")},
	} {
		s := machine(t, c.env)
		s.Home, s.OS = home, c.system
		target, _ := Find(c.target)
		plan, err := target.Plan(s.Machine)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, e := range plan.Edits {
			paths = append(paths, e.Path)
		}
		if !strings.Contains(strings.Join(paths, "\n")+"\n", c.want+"\n") {
			t.Errorf("%s on %s with %v writes %v, not %s", c.target, c.system, c.env, paths, c.want)
		}
	}
	// Emacs's rules want files to be there.
	for file, want := range map[string]string{
		".config/emacs/early-init.el": ".config/emacs/init.el",
		".emacs.el":                   ".emacs.el",
		".doom.d/config.el":           ".doom.d/config.el",
	} {
		s := machine(t, nil)
		write(t, filepath.Join(s.Home, file), "", 0o600)
		if list := changes(t, s, "emacs"); list[len(list)-1].Path != filepath.Join(s.Home, want) {
			t.Errorf("with %s it writes %s", file, list[len(list)-1].Path)
		}
	}
	s := machine(t, nil)
	write(t, filepath.Join(s.Home, ".spacemacs"), "", 0o600)
	if _, err := emacs(s.Machine); err == nil || !strings.Contains(err.Error(), "user-config") {
		t.Errorf("Spacemacs: %v", err)
	}
}

// A program that the PATH does not lead to is named by its path.
func TestCommandOffThePath(t *testing.T) {
	s := machine(t, nil)
	s.Executable = filepath.Join(s.Home, `odd "\name'`, "quarry")
	if runtime.GOOS == "windows" {
		s.Executable = filepath.Join(s.Home, "odd name", "quarry")
	}
	write(t, s.Executable, "", 0o755)
	for _, target := range Targets {
		if target.Name == "emacs" {
			if err := checkLisp([]byte(emacsLines(s.Machine, s.Home))); err != nil {
				t.Errorf("%v\n%s", err, emacsLines(s.Machine, s.Home))
			}
		}
		setUp(t, s, target.Name)
		if again := changes(t, s, target.Name); len(again) > 0 {
			t.Errorf("%s: a second time it would change %s\n%s", target.Name, again[0].Path, again[0].Diff())
		}
	}
	settings := text(t, filepath.Join(s.Home, ".config/Code/User/settings.json"))
	if got := decodeJSON(t, settings)["quarry.path"]; got != s.Executable {
		t.Errorf("VS Code starts %v", got)
	}
	codex, err := decodeTOML([]byte(text(t, filepath.Join(s.Home, ".codex/config.toml"))))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := lookup(codex, []string{"mcp_servers", "quarry", "command"}); got != s.Executable {
		t.Errorf("Codex starts %v", got)
	}
}

// No agent's server is bound to a folder (T10): its client says where it works. An entry of before
// that was is renewed.
func TestNoServerIsBoundToAFolder(t *testing.T) {
	for _, target := range Targets {
		s := machine(t, nil)
		plan, err := target.Plan(s.Machine)
		if err != nil {
			t.Fatal(target.Name, err)
		}
		list, err := s.Changes(target.Name, plan)
		if err != nil {
			t.Fatal(target.Name, err)
		}
		for _, c := range list {
			if got := string(c.After); target.Notes != "" && (strings.Contains(got, "--workspace") || strings.Contains(got, "workspaceFolder")) {
				t.Errorf("%s writes %s", target.Name, got)
			}
		}
	}
	s := machine(t, nil)
	target, _ := Find("vscode")
	path := filepath.Join(vscodeUser(s.Machine), "mcp.json")
	write(t, path, `{"servers": {"quarry": {"type": "stdio", "command": "quarry", "args": ["mcp", "--workspace", "${workspaceFolder}"]}}}`, 0o644)
	plan, err := target.Plan(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Changes("vscode", plan)
	if err == nil {
		_, err = s.Do("vscode", list)
	}
	if got := text(t, path); err != nil || strings.Contains(got, "--workspace") || !strings.Contains(got, `"args": ["mcp"]`) {
		t.Errorf("it is %s, %v", got, err)
	}
}

// Whoever gets the tools of quarry mcp can be told about them in a repository.
func TestAgentsHaveNotes(t *testing.T) {
	for _, target := range Targets {
		want := ""
		switch target.Name {
		case "claude":
			want = "CLAUDE.md"
		case "codex", "opencode", "crush", "zed", "vscode":
			want = "AGENTS.md"
		}
		if target.Notes != want {
			t.Errorf("%s reads %q, want %q", target.Name, target.Notes, want)
		}
	}
}

func TestNotes(t *testing.T) {
	s := machine(t, nil)
	path := filepath.Join(s.Repository, "AGENTS.md")
	write(t, path, "# Rules\n\nBe kind.", 0o644)
	target, _ := Find("codex")
	list, err := s.Changes("codex", target.NotesPlan(s.Machine))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if _, err := s.Do("codex", list); err != nil {
		t.Fatal(err)
	}
	if got := text(t, path); !strings.HasPrefix(got, "# Rules\n\nBe kind.\n\n<!-- quarry") || !strings.Contains(got, "retrieve_context") {
		t.Errorf("it is\n%s", got)
	}
	s.Repository = "" // it is taken back from anywhere
	write(t, path, text(t, path)+"\nMore.\n", 0o644)
	takeBack(t, s, "codex")
	if got := text(t, path); got != "# Rules\n\nBe kind.\n\nMore.\n" {
		t.Errorf("taken back it is\n%q", got)
	}
}

// Y13: a repository's AGENTS.md that is a link to a file of the user's, or has no end, is
// left alone; one that is a link within the repository is written.
func TestNotesOfAHostileRepository(t *testing.T) {
	s := machine(t, nil)
	target, _ := Find("codex")
	notes := filepath.Join(s.Repository, "AGENTS.md")
	write(t, filepath.Join(s.Repository, "docs", "CLAUDE.md"), "# Rules\n", 0o644)
	victim := filepath.Join(s.Home, ".bashrc")
	write(t, victim, "# rc\n", 0o644)
	try := func(link string) error {
		t.Helper()
		makeLink(t, link, notes)
		list, err := s.Changes("codex", target.NotesPlan(s.Machine))
		if err == nil {
			_, err = s.Do("codex", list)
		}
		if err := os.Remove(notes); err != nil {
			t.Fatal(err)
		}
		return err
	}
	makeLink(t, s.Home, filepath.Join(s.Repository, "up"))
	for _, link := range []string{victim, "../.bashrc", "up/.bashrc"} {
		if err := try(link); err == nil || !strings.Contains(err.Error(), "leads out of the repository") {
			t.Errorf("%s: %v", link, err)
		}
	}
	if got := text(t, victim); got != "# rc\n" {
		t.Errorf("it became %q", got)
	}
	if err := try("docs/CLAUDE.md"); err != nil || !strings.Contains(text(t, filepath.Join(s.Repository, "docs", "CLAUDE.md")), "retrieve_context") {
		t.Errorf("a link within the repository: %v", err)
	}
	write(t, notes, "", 0o644)
	if err := os.Truncate(notes, 200<<30); err != nil {
		t.Skipf("this file system keeps no sparse files: %v", err)
	}
	if _, err := s.Changes("codex", target.NotesPlan(s.Machine)); err == nil || !strings.Contains(err.Error(), "it is left as it is") {
		t.Errorf("a file without end: %v", err)
	}
}
