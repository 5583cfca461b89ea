package setup

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/editors"
	"quarry/lsp/settings"
)

// Target is a program that quarry can be set up in.
type Target struct {
	Name     string // as the command line has it
	Title    string
	Gets     string   // what the user gets there
	Programs []string // by which it is found on the PATH
	// Notes is the file of a repository that the agent reads, "" if Target has none.
	Notes string

	folder func(Machine) string // of its configuration, by which it is found too
	plan   func(Machine) (Plan, error)
}

// Targets are all there are, in the order in which they are listed.
var Targets = []Target{
	{Name: "nvim", Title: "Neovim", Gets: "ghost text, explanations, fixes, questions", Programs: []string{"nvim"}, folder: nvimConfig, plan: nvim},
	{Name: "vscode", Title: "VS Code", Gets: "the extension, and the tools for its agent", Programs: []string{"code", "code-insiders", "codium"}, Notes: "AGENTS.md", folder: vscodeUser, plan: vscode},
	{Name: "emacs", Title: "Emacs", Gets: "ghost text with lsp-mode, completions with eglot", Programs: []string{"emacs"}, folder: emacsFolder, plan: emacs},
	{Name: "helix", Title: "Helix", Gets: "completions in the menu, explanations, fixes", Programs: []string{"hx", "helix"}, folder: helixConfig, plan: helix},
	{Name: "zed", Title: "Zed", Gets: "ghost text, and the tools for its agent", Programs: []string{"zed", "zeditor"}, Notes: "AGENTS.md", folder: zedConfig, plan: zed},
	{Name: "claude", Title: "Claude Code", Gets: "the tools of `quarry mcp`", Programs: []string{"claude"}, Notes: "CLAUDE.md", folder: claudeFolder, plan: claude},
	{Name: "codex", Title: "Codex", Gets: "the tools of `quarry mcp`", Programs: []string{"codex"}, Notes: "AGENTS.md", folder: codexFolder, plan: codex},
	{Name: "opencode", Title: "opencode", Gets: "the tools of `quarry mcp`", Programs: []string{"opencode"}, Notes: "AGENTS.md", folder: opencodeConfig, plan: opencode},
	{Name: "crush", Title: "Crush", Gets: "the tools of `quarry mcp`", Programs: []string{"crush"}, Notes: "AGENTS.md", folder: crushConfig, plan: crush},
}

// Find is the target of a name.
func Find(name string) (Target, bool) {
	i := slices.IndexFunc(Targets, func(t Target) bool { return t.Name == name })
	if i < 0 {
		return Target{}, false
	}
	return Targets[i], true
}

// Found reports whether the program is on the machine, and by what.
func (t Target) Found(m Machine) (by string, ok bool) {
	if program := m.find(t.Programs...); program != "" {
		return program, true
	}
	if dir := t.folder(m); isThere(dir) {
		return dir, true
	}
	return "", false
}

// Plan is what setting up t means on a machine.
func (t Target) Plan(m Machine) (Plan, error) { return t.plan(m) }

// NotesPlan is the paragraph for the agent in the repository.
func (t Target) NotesPlan(m Machine) Plan {
	return Plan{Edits: []Edit{{Path: filepath.Join(m.Repository, t.Notes), part: block{markdownBlock, notes}}}}
}

// notes is what an agent is told about quarry.
const notes = `## Finding code

The MCP server quarry has an index of this repository. To find where something is done, ask its tool ` + "`retrieve_context`" + ` first;
` + "`get_callers`, `get_references` and `get_outline`" + ` tell what a change touches, without reading whole files. Every place is written ` + "`path:line-line`" + `.`

// mcp are the arguments that start the server for agents.
var mcp = []string{"mcp"}

func nvimApp(m Machine) string {
	if name := m.Getenv("NVIM_APPNAME"); name != "" {
		return filepath.FromSlash(name)
	}
	return "nvim"
}

func nvimConfig(m Machine) string {
	base := m.configHome()
	if m.OS == "windows" && m.Getenv("XDG_CONFIG_HOME") == "" {
		base = m.localAppData()
	}
	return filepath.Join(base, nvimApp(m))
}

func nvimData(m Machine) string {
	if m.OS != "windows" {
		return filepath.Join(m.env("XDG_DATA_HOME", ".local", "share"), nvimApp(m))
	}
	base := m.localAppData()
	if dir := m.Getenv("XDG_DATA_HOME"); dir != "" {
		base = dir
	}
	return filepath.Join(base, nvimApp(m)+"-data")
}

// nvim installs the plugin where Neovim has optional packages, and a file that Neovim
// reads at its start, with every plugin manager, to turn it on: no file of the user's own
// is touched.
func nvim(m Machine) (Plan, error) {
	if place := nvimByHand(nvimConfig(m)); place != "" {
		return Plan{}, fmt.Errorf("%s sets quarry up already; remove that first if `quarry setup` is to do it", place)
	}
	if err := m.tooOld("Neovim", "nvim", neovimNeeds()); err != nil {
		return Plan{}, err
	}
	folder := filepath.Join(nvimData(m), "site", "pack", "quarry", "opt", "quarry")
	on := "-- Written by `quarry setup nvim`, taken back by `quarry setup nvim --undo`.\n" +
		"vim.opt.runtimepath:prepend(" + quoteLua(folder) + ")\n"
	if command := m.quarry(); command != "quarry" {
		on += "vim.lsp.config('quarry', { cmd = { " + quoteLua(command) + ", 'lsp' } })\n"
	}
	on += "require('quarry').setup()\n"
	plan := Plan{
		Edits: []Edit{{Path: filepath.Join(nvimConfig(m), "plugin", nvimFile), part: whole(on)}},
		Next:  []string{"open a file: ghost text comes while you type, Tab accepts it; `:checkhealth quarry` tells how all is"},
	}
	files, err := copied(editors.Neovim, "nvim", folder)
	plan.Edits, plan.own = append(plan.Edits, files...), []string{folder}
	return plan, err
}

// neovimNeeds and emacsNeeds are the oldest versions that the plugin and the package run in,
// as these say themselves.
func neovimNeeds() string {
	return needs(editors.Neovim, "nvim/plugin/quarry.lua", `has\('nvim-([0-9.]+)'\)`)
}
func emacsNeeds() string {
	return needs(editors.Emacs, "emacs/quarry.el", `Package-Requires: \(\(emacs "([0-9.]+)"`)
}

func needs(tree fs.FS, file, says string) string {
	text, _ := fs.ReadFile(tree, file) // it is embedded
	found := regexp.MustCompile(says).FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}

// copied puts all that is below a folder of a tree into one of the machine.
func copied(tree fs.FS, below, folder string) ([]Edit, error) {
	var edits []Edit
	err := fs.WalkDir(tree, below, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		edits = append(edits, Edit{Path: filepath.Join(folder, filepath.FromSlash(strings.TrimPrefix(path, below+"/"))), part: whole(text)})
		return nil
	})
	return edits, err
}

// byHand is what the README tells a user to write who does without quarry setup.
var byHand = regexp.MustCompile(`require\s*\(?\s*['"]quarry['"]\s*\)?\s*\.setup\b`)

// nvimByHand is the place in a configuration where the user has turned the plugin on, ""
// if there is none.
func nvimByHand(config string) (place string) {
	seen := map[string]bool{}
	var look func(dir string)
	look = func(dir string) {
		// What cannot be read, Neovim does not read either.
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || seen[real] {
			return
		}
		seen[real] = true
		_ = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
			switch {
			case place != "":
				return fs.SkipAll
			case err != nil:
				return nil
			}
			shown := filepath.Join(dir, strings.TrimPrefix(path, real))
			if d.Type()&fs.ModeSymlink != 0 { // folders of a configuration that is kept elsewhere
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					look(shown)
					return nil
				}
			}
			if d.IsDir() || filepath.Ext(path) != ".lua" || shown == filepath.Join(config, "plugin", nvimFile) {
				return nil
			}
			if text, err := os.ReadFile(path); err == nil {
				if line := lineOfCall(byHand, text); line > 0 {
					place = fmt.Sprintf("%s:%d", shown, line)
				}
			}
			return nil
		})
	}
	look(config)
	return place
}

// lineOfCall is the line in which a text of Lua has call outside of comments, 0 if none has.
func lineOfCall(call *regexp.Regexp, text []byte) int {
	text = longComment.ReplaceAllFunc(text, func(comment []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(comment, []byte("\n")))
	})
	for _, at := range call.FindAllIndex(text, -1) {
		if !bytes.Contains(text[lineStart(text, at[0]):at[0]], []byte("--")) {
			return lineOf(text, at[0])
		}
	}
	return 0
}

// longComment is a comment of Lua over several lines.
var longComment = regexp.MustCompile(`(?s)--\[\[.*?\]\]`)

// nvimFile turns the plugin on.
const nvimFile = "quarry_setup.lua"

// quoteLua is s as a string of Lua.
func quoteLua(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'"
}

func vscodeUser(m Machine) string {
	if dir := m.Getenv("VSCODE_PORTABLE"); dir != "" {
		return filepath.Join(dir, "user-data", "User")
	}
	var base string
	switch m.OS {
	case "windows":
		base = m.roamingAppData()
	case "darwin":
		base = filepath.Join(m.Home, "Library", "Application Support")
	default:
		base = m.configHome()
	}
	// A folder may be left of one that is not installed any more.
	var folders []string
	for _, v := range vscodes {
		folder := filepath.Join(base, v.folder, "User")
		if folders = append(folders, folder); m.find(v.program) != "" {
			return folder
		}
	}
	return firstThere(folders...)
}

// vscodes are the programs that are VS Code, with the names of their folders: that of settings
// and, in the home folder, that of extensions.
var vscodes = []struct{ program, folder, extensions string }{
	{"code", "Code", ".vscode"}, {"code-insiders", "Code - Insiders", ".vscode-insiders"}, {"codium", "VSCodium", ".vscode-oss"},
}

// vscode starts the server without a folder: VS Code names its folders as roots, of several too,
// and does not start a server of the user's with ${workspaceFolder} in a window without one
// (microsoft/vscode#264535: in others neither, at times).
func vscode(m Machine) (Plan, error) {
	user, command := vscodeUser(m), m.quarry()
	plan := Plan{Edits: []Edit{{Path: filepath.Join(user, "mcp.json"), part: jsonEntries{{
		[]string{"servers", "quarry"},
		jsonObject{{"type", "stdio"}, {"command", command}, {"args", mcp}},
	}}}}}
	path := jsonEntries{{[]string{"quarry.path"}, command}}
	if command == "quarry" { // as without the entry
		path[0].Value = mended(command)
	}
	plan.Edits = append(plan.Edits, Edit{Path: filepath.Join(user, "settings.json"), part: path})
	m.planExtension(&plan)
	return plan, nil
}

// emacsFolder is user-emacs-directory, by the rules of startup.el.
func emacsFolder(m Machine) string {
	home := m.Home
	if m.OS == "windows" && m.Getenv("HOME") == "" {
		home = m.roamingAppData()
	}
	old, xdg := filepath.Join(home, ".emacs.d"), filepath.Join(m.configHome(), "emacs")
	if !isThere(old) && !isThere(filepath.Join(home, ".emacs")) && !isThere(filepath.Join(home, ".emacs.el")) && isThere(xdg) {
		return xdg
	}
	return old
}

func emacs(m Machine) (Plan, error) {
	if err := m.tooOld("Emacs", "emacs", emacsNeeds()); err != nil {
		return Plan{}, err
	}
	folder := emacsFolder(m)
	home := filepath.Dir(folder)
	init := filepath.Join(folder, "init.el")
	if dot := firstThere(filepath.Join(home, ".emacs"), filepath.Join(home, ".emacs.el"), init); filepath.Base(folder) == ".emacs.d" && isThere(dot) {
		init = dot
	}
	if isThere(filepath.Join(m.Home, ".spacemacs")) || isThere(filepath.Join(m.Home, ".spacemacs.d")) {
		return Plan{}, fmt.Errorf("Spacemacs calls code from a function of its own; call this in dotspacemacs/user-config:\n%s", emacsLines(m, folder))
	}
	doom := firstThere(m.env("DOOMDIR", ".config", "doom"), filepath.Join(m.Home, ".doom.d"))
	if config := filepath.Join(doom, "config.el"); isThere(config) {
		init = config
	}
	own := filepath.Join(folder, "quarry")
	edits, err := copied(editors.Emacs, "emacs", own)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Edits: append(edits, Edit{Path: init, part: block{lispBlock, emacsLines(m, folder)}}),
		own:   []string{own},
		Next: []string{
			"restart Emacs; with lsp-mode (from MELPA) ghost text comes when you pause, and TAB accepts it",
			"C-c q e explains a diagnostic, C-c q f fixes it, C-c q a applies the change, C-c q q asks",
			"without lsp-mode, `M-x eglot` in a language that eglot has no other server for has completions alone",
		},
	}, nil
}

// emacsLines goes by what is there when Emacs starts. For eglot quarry comes after all
// others: it runs one server for a buffer, and the language's own is to stay.
func emacsLines(m Machine, folder string) string {
	command := "("
	for _, word := range []string{m.quarry(), "lsp"} {
		command += quoteLisp(word) + " "
	}
	command = strings.TrimSuffix(command, " ") + ")"
	lines := []string{
		"(add-to-list 'load-path " + quoteLisp(filepath.ToSlash(filepath.Join(folder, "quarry"))) + ")",
		"(require 'quarry)",
	}
	if m.quarry() != "quarry" {
		lines = append(lines, "(setq quarry-command '"+command+")")
	}
	return strings.Join(append(lines,
		"(when (locate-library \"lsp-mode\")",
		"  (setq lsp-inline-completion-idle-delay 0.3)",
		"  (with-eval-after-load 'lsp-inline-completion",
		"    (define-key lsp-inline-completion-active-map (kbd \"TAB\") #'lsp-inline-completion-accept))",
		"  (add-hook 'prog-mode-hook #'lsp-deferred))",
		"(with-eval-after-load 'eglot",
		"  (add-to-list 'eglot-server-programs '(prog-mode . "+command+") t))",
		"(unless (keymap-lookup nil \"C-c q\") (keymap-global-set \"C-c q\" 'quarry-map))",
	), "\n")
}

// quoteLisp is s as a string of Emacs Lisp.
func quoteLisp(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func helixConfig(m Machine) string {
	if m.OS == "windows" {
		return filepath.Join(m.roamingAppData(), "helix")
	}
	return filepath.Join(m.configHome(), "helix")
}

func helix(m Machine) (Plan, error) {
	return Plan{
		Edits: []Edit{{Path: filepath.Join(helixConfig(m), "languages.toml"), part: helixServers{
			table: tomlTable{[]string{"language-server", "quarry"}, []tomlValue{
				{"command", quoteTOML(m.quarry())},
				{"args", `["lsp"]`},
			}},
			servers: askHelix(m),
		}}},
		Next: []string{"completions stand in the menu while you type, at once by C-x; `hx --health go` names quarry among the servers"},
	}, nil
}

func zedConfig(m Machine) string {
	if m.OS == "windows" {
		return filepath.Join(m.roamingAppData(), "Zed")
	}
	if m.OS == "darwin" {
		return filepath.Join(m.Home, ".config", "zed")
	}
	return filepath.Join(m.configHome(), "zed")
}

// zed lets Zed's own edit predictions ask quarry, over HTTP on this machine with a token.
func zed(m Machine) (Plan, error) {
	own := settings.Default()
	own.ApplyFile(settings.UserFilePath())
	var plan Plan
	http := own.HTTP
	if http.Address == "" || http.Token == "" {
		if http.Address == "" {
			http.Address = "127.0.0.1:7997"
		}
		if http.Token == "" {
			http.Token = rand.Text()
		}
		// Whoever has the token may ask the server.
		plan.Edits = append(plan.Edits, Edit{Path: settings.UserFilePath(), private: true, part: jsonEntries{
			{[]string{"http", "address"}, http.Address},
			{[]string{"http", "token"}, http.Token},
		}})
	}
	command := m.quarry()
	entries := jsonEntries{
		{[]string{"edit_predictions", "provider"}, "open_ai_compatible_api"},
		{[]string{"edit_predictions", "open_ai_compatible_api"}, jsonObject{
			{"api_url", "http://" + http.Address + "/v1/completions"},
			{"model", "quarry"},
			{"prompt_format", "qwen"}, // how text travels; Zed infers none for Granite
			{"max_output_tokens", 256},
		}},
		{[]string{"context_servers", "quarry"}, jsonObject{{"command", command}, {"args", mcp}}},
	}
	if command != "quarry" {
		entries = append(entries, jsonEntry{[]string{"lsp", "quarry", "binary"}, jsonObject{{"path", command}, {"arguments", []string{"lsp"}}}})
	} else {
		entries = append(entries, jsonEntry{[]string{"lsp", "quarry", "binary", "path"}, mended(command)})
	}
	plan.Edits = append(plan.Edits, Edit{Path: filepath.Join(zedConfig(m), "settings.json"), part: entries})
	folder := filepath.Join(m.dataHome(), "quarry", "zed")
	files, err := copied(editors.Zed, "zed", folder)
	plan.Edits, plan.own = append(plan.Edits, files...), []string{folder}
	plan.Next = []string{
		"in Zed, run `zed: install dev extension` and choose the folder " + folder + ": it starts quarry. Zed builds it, which needs Rust by rustup; after an update of quarry, press Rebuild on its page",
		"when Zed asks for the provider's API key, give it http.token of " + settings.UserFilePath(),
	}
	return plan, err
}

// claudeFolder is claudeFile where the folder is not there: it has the servers, and may be all there is.
func claudeFolder(m Machine) string {
	return firstThere(m.env("CLAUDE_CONFIG_DIR", ".claude"), claudeFile(m))
}

func claudeFile(m Machine) string {
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(m.Home, ".claude.json")
}

func claude(m Machine) (Plan, error) {
	return agentPlan(claudeFile(m), "mcpServers", jsonObject{{"type", "stdio"}, {"command", m.quarry()}, {"args", mcp}, {"env", jsonObject{}}}, "claude mcp list"), nil
}

// agentPlan is an entry in a JSON file of an agent.
func agentPlan(file, servers string, entry jsonObject, check string) Plan {
	return Plan{
		Edits: []Edit{{Path: file, part: jsonEntries{{[]string{servers, "quarry"}, entry}}}},
		Next:  []string{"start the agent again in your repository; `" + check + "` names quarry"},
	}
}

func codexFolder(m Machine) string { return m.env("CODEX_HOME", ".codex") }

func codex(m Machine) (Plan, error) {
	return Plan{
		Edits: []Edit{{Path: filepath.Join(codexFolder(m), "config.toml"), part: tomlTable{[]string{"mcp_servers", "quarry"}, []tomlValue{
			{"command", quoteTOML(m.quarry())},
			{"args", `["mcp"]`},
		}}}},
		Next: []string{"start the agent again in your repository; `codex mcp list` names quarry"},
	}, nil
}

func opencodeConfig(m Machine) string { return filepath.Join(m.configHome(), "opencode") }

func opencode(m Machine) (Plan, error) {
	dir := opencodeConfig(m)
	file := firstThere(filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "config.json"))
	if named := m.Getenv("OPENCODE_CONFIG"); named != "" {
		file = named
	}
	return agentPlan(file, "mcp", jsonObject{{"type", "local"}, {"command", append([]string{m.quarry()}, mcp...)}, {"enabled", true}}, "opencode mcp list"), nil
}

func crushConfig(m Machine) string {
	if dir := m.Getenv("CRUSH_GLOBAL_CONFIG"); dir != "" {
		return dir
	}
	if m.OS == "windows" && m.Getenv("XDG_CONFIG_HOME") == "" {
		return filepath.Join(m.localAppData(), "crush")
	}
	return filepath.Join(m.configHome(), "crush")
}

func crush(m Machine) (Plan, error) {
	plan := agentPlan(filepath.Join(crushConfig(m), "crush.json"), "mcp", jsonObject{{"type", "stdio"}, {"command", m.quarry()}, {"args", mcp}}, "")
	plan.Next = []string{"start the agent again in your repository; its sidebar names quarry among the MCPs"}
	return plan, nil
}
