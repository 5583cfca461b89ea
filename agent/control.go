package agent

import (
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/walk"
)

// controls are files that make a program do something by themselves, by what they do
// it to: who changes one decides what runs on the user's machine, or in their name.
var controls = []struct {
	what  string
	names []string // lower case, each in all forms of formsOf; with a slash at the end all below a folder of that name, with one within a file in it, with a star first all of that extension, with one last all that begins so
}{
	{"your editor may execute this file's contents", []string{
		".vscode/", ".idea/", ".vs/", ".fleet/", ".zed/", ".helix/", ".devcontainer/", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".gvimrc",
		".cargo/", ".luarc.json", ".luacheckrc", ".neoconf.json", ".ycm_extra_conf.py", ".pylintrc", // language servers run programs and code that these name
		".lazy.lua", ".vimspector.json", ".mvn/", // a debugger, plug-ins and the options of a build that an editor starts
		".nvim/", ".vim/", "_vimrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", ".projectile", "*.sublime-project", "*.sublime-settings", "*.sublime-build", "*.code-workspace", "coc-settings.json", ".kakrc", ".kak/",
		".theia/", ".trae/", ".void/", ".cursor-server/", ".gitpod.yml", ".gitpod/", ".idx/", ".replit", ".codesandbox/", ".stackblitzrc", "devbox.json", ".gdbinit", ".lldbinit", // begun, or debugged, with them
		".bsp/", "rust-analyzer.toml", "rust-toolchain.toml", "rust-toolchain", "hie.yml", ".solargraph.yml", ".rubocop.yml", ".clangd", ".ccls", ".elixir_ls/", ".yarn/sdks/",
		"eslint.config.js", ".prettierrc.js", "prettier.config.js", ".eslintrc", ".settings/", ".run/", ".metals/",
		".stylelintrc.js", "stylelint.config.js", "tailwind.config.js", "postcss.config.js", ".vscode-test.js", "cmakepresets.json", "cmakeuserpresets.json", ".lsp/", ".clj-kondo/", ".emacs", ".emacs.d/", ".config/nvim/",
		".nova/", ".atom/", ".local.vimrc", ".vimrc.local", ".externaltoolbuilders/", ".yarn/releases/", ".yarn/plugins/", // presets, hooks of linters, and what editors begin with
	}},
	{"an assistant may follow or execute this file's contents", []string{
		".claude/", ".cursor/", ".cursorrules", ".continue/", ".windsurf/", ".aider.conf.yml", ".codex/", ".opencode/", ".gemini/", "claude.md", "agents.md", "gemini.md",
		"copilot-instructions.md", ".windsurfrules", ".clinerules", ".clinerules/", "opencode.json", ".kiro/", "claude.local.md", ".roo/", ".roorules", ".roomodes", ".junie/",
		".amazonq/", ".augment/", ".augment-guidelines", ".qwen/", "qwen.md", ".goose/", ".goosehints", "crush.json", "crush.md", ".factory/", ".amp/", "agent.md", "agents.override.md", ".zencoder/", ".aiassistant/", ".cody/",
		"mcp.json", ".agents/", ".agent/", ".trae/", ".warp/", "warp.md", ".tabnine/", ".pearai/", "replit.md", ".openhands/", ".sweep.yml", ".coderabbit.yml", "skill.md", ".lsp.json", ".claude-plugin/", ".kilocoderules", ".rovodev/", ".crush/", ".rules", // the last of Zed's assistant
	}},
	{"your CI executes this file's contents", []string{
		".github/", ".gitea/", ".forgejo/", ".gitlab-ci*", ".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".woodpecker.yml", ".drone.yml", ".drone.star", ".travis.yml", "appveyor*",
		".ci/", ".cirrus.yml", ".semaphore/", "azure-pipelines*", "bitbucket-pipelines*", "jenkinsfile*", ".jenkins/", "buildspec*", "cloudbuild*",
		".build.yml", ".builds/", ".tekton/", ".teamcity/",
		".woodpecker/", ".azure-pipelines/", ".azuredevops/", "wercker.yml", "shippable.yml", ".bazelci/", ".prow.yml", ".prow/", "zuul.yml", ".zuul.d/", "zuul.d/", ".packit.yml",
		"screwdriver.yml", ".kokoro/", "evergreen.yml", ".scrutinizer.yml", "readthedocs.yml", "codemagic.yml", "bitrise.yml", ".harness/", ".gocd.yml",
		".expeditor/", ".cloudbuild/", ".codeql/", "renovate.json", ".renovaterc", "netlify.toml", "vercel.json", "amplify.yml", ".hound.yml", ".platform.app.yml", ".dagger/", "dagger.json", ".cirrus.star",
		".concourse/", "action.yml", ".goreleaser.yml", ".releaserc", "release.config.js", ".mergify.yml", "*.jenkinsfile",
		".taskcluster.yml", ".vela.yml", "circle.yml", ".circleci.yml", ".woodpecker.star", ".drone.jsonnet", ".appveyor/", ".onedev-buildspec.yml", "earthfile", ".dependabot/",
	}},
	{"git or a shell executes this file's contents", []string{
		".hg/hgrc", ".sl/config", ".jj/repo/config.toml", ".husky/", ".githooks/", "githooks/", ".git-hooks/", ".lefthook/", "lefthook.yml", ".pre-commit-config.yml", ".pre-commit-hooks.yml", ".overcommit.yml",
		".yarnrc.yml", ".pnp.js", ".pnpmfile.js", ".lintstagedrc", ".simple-git-hooks.json", ".huskyrc",
		"lefthook-local.yml", "lefthook.toml", "lefthook.json",
		"lint-staged.config.js", "mise.local.toml", ".mise/", "mise.toml", ".tool-versions",
		".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".bash_logout", ".cshrc", ".tcshrc", ".kshrc", ".login", ".logout", ".inputrc", ".xprofile", ".xinitrc", ".tmux.conf", ".screenrc", // of a home that is a repository
		".autoenv", ".autoenv.zsh", ".hooks/", ".commitlintrc.js", "commitlint.config.js", ".czrc", ".cz.toml", ".hgrc", ".pdbrc", ".pythonstartup", ".rprofile", ".irbrc", ".pryrc", ".juliarc.jl", ".ghci", ".psqlrc", ".sqliterc", ".wgetrc", ".curlrc", ".iex.exs",
		"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-merge-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change", "hooks/update", // core.hooksPath may name any folder
		"config.fish", "prek.toml", "husky.config.js", ".lefthookrc", "simple-git-hooks.js", "captainhook.json", "grumphp.yml", ".trunk/", ".config/mise/", ".config/husky/",
	}},
	{"it decides what git does with your files, or what is searched", []string{".gitattributes", ".gitmodules", ".gitignore", ".ignore", ".gitconfig", ".mailmap", ".git-blame-ignore-revs", "codeowners"}},
}

// Dangers names the files among a proposal's that are dangerous to change, and says
// why; "" if there are none.
func Dangers(names []string) string {
	var list []string
	for _, name := range names {
		if what := Danger(name); what != "" {
			list = append(list, name+": "+what)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "Careful, " + strings.Join(list, "; ") + "."
}

// Danger says what a program does with a file of this name, a path with slashes, "" if
// nothing that its text does not do.
func Danger(name string) string {
	name = walk.Fold(name) // some disks take one for the other
	base := path.Base(name)
	forms := formsOf(base)
	for _, c := range controls {
		for _, control := range c.names {
			folder, isFolder := strings.CutSuffix(control, "/")
			stem, isStem := strings.CutSuffix(control, "*")
			switch {
			case isFolder && strings.Contains("/"+name, "/"+folder+"/"), slices.Contains(forms, control), strings.HasSuffix("/"+name, "/"+control),
				control[0] == '*' && path.Ext(base) == control[1:], isStem && begins(base, stem):
				return c.what
			}
		}
	}
	return ""
}

// sameExts are extensions of which a program that takes one takes the other.
var sameExts = map[string]string{".yaml": ".yml", ".json5": ".json", ".jsonc": ".json", ".cjs": ".js", ".mjs": ".js", ".ts": ".js", ".mts": ".js", ".cts": ".js"}

// formsOf are the names of controls that a file's name may be another spelling of: with an
// extension of the same kind, with a dot in front, and of settings that may have an extension
// (.huskyrc.ts).
func formsOf(base string) []string {
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	if same := sameExts[ext]; same != "" {
		ext = same
	}
	forms := []string{base, stem + ext, strings.TrimPrefix(base, "."), strings.TrimPrefix(stem+ext, ".")}
	if strings.HasPrefix(stem, ".") && strings.HasSuffix(stem, "rc") && (ext == ".js" || ext == ".json" || ext == ".yml" || ext == ".toml") {
		forms = append(forms, stem)
	}
	return forms
}

// begins answers whether a name is stem, or goes on with a word and is no program of another kind:
// Jenkinsfile.release, azure-pipelines-dev.yml.
func begins(base, stem string) bool {
	rest, ok := strings.CutPrefix(base, stem)
	if !ok {
		rest, ok = strings.CutPrefix(base, "."+stem)
	}
	l := lang.OfExtension(path.Ext(base))
	return ok && (rest == "" || strings.IndexByte(".-_", rest[0]) >= 0 && (l == nil || l.ID == "yaml" || l.ID == "groovy"))
}
