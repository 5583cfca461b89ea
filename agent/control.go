package agent

import (
	"path"
	"strings"

	"quarry/index/walk"
)

// controls are files that make a program do something by themselves, by what they do
// it to: who changes one decides what runs on the user's machine, or in their name.
var controls = []struct {
	what  string
	names []string // lower case; with a slash at the end all below a folder of that name, with one within a file in it, with a star all of that extension
}{
	{"your editor may execute this file's contents", []string{
		".vscode/", ".idea/", ".vs/", ".fleet/", ".zed/", ".helix/", ".devcontainer/", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".gvimrc",
		".cargo/", ".luarc.json", ".luarc.jsonc", ".luacheckrc", ".neoconf.json", ".ycm_extra_conf.py", ".pylintrc", // language servers run programs and code that these name
		".lazy.lua", ".vimspector.json", ".mvn/", // a debugger, plug-ins and the options of a build that an editor starts
		".nvim/", ".vim/", "_vimrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", ".projectile", "*.sublime-project", "*.sublime-settings", "*.sublime-build", "*.code-workspace", "coc-settings.json", ".kakrc", ".kak/",
		".theia/", ".trae/", ".void/", ".cursor-server/", ".gitpod.yml", ".gitpod/", ".idx/", ".replit", ".codesandbox/", ".stackblitzrc", "devbox.json", ".gdbinit", ".lldbinit", // begun, or debugged, with them
		".bsp/", "rust-analyzer.toml", ".rust-analyzer.toml", "rust-toolchain.toml", "rust-toolchain", "hie.yaml", ".solargraph.yml", ".rubocop.yml", ".clangd", ".ccls", ".elixir_ls/", ".yarn/sdks/",
		".eslintrc.js", ".eslintrc.cjs", "eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".prettierrc.js", ".prettierrc.cjs", ".prettierrc.mjs", "prettier.config.js", ".eslintrc", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml", ".settings/", ".run/", ".metals/", "prettier.config.mjs", "prettier.config.cjs",
		"prettier.config.ts", ".stylelintrc.js", ".stylelintrc.cjs", "stylelint.config.js", "stylelint.config.mjs", "stylelint.config.cjs", "tailwind.config.js", "tailwind.config.ts", "postcss.config.js",
	}},
	{"an assistant may follow or execute this file's contents", []string{
		".mcp.json", ".claude/", ".cursor/", ".cursorrules", ".continue/", ".windsurf/", ".aider.conf.yml", ".codex/", ".opencode/", ".gemini/", "claude.md", "agents.md", "gemini.md",
		"copilot-instructions.md", ".windsurfrules", ".clinerules", ".clinerules/", "opencode.json", "opencode.jsonc", ".kiro/", "claude.local.md", ".roo/", ".roorules", ".roomodes", ".junie/",
		".amazonq/", ".augment/", ".augment-guidelines", ".qwen/", "qwen.md", ".goose/", ".goosehints", "crush.json", ".crush.json", "crush.md", ".factory/", ".amp/", "agent.md", "agents.override.md", ".zencoder/", ".aiassistant/", ".cody/",
		"mcp.json", ".agents/", ".agent/", ".trae/", ".warp/", "warp.md", ".tabnine/", ".pearai/", "replit.md", ".openhands/", ".sweep.yaml", ".coderabbit.yaml", "skill.md",
	}},
	{"your CI executes this file's contents", []string{
		".github/", ".gitea/", ".forgejo/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".woodpecker.yml", ".drone.yml", ".drone.star", ".travis.yml", ".appveyor.yml", "appveyor.yml",
		".ci/", ".cirrus.yml", ".semaphore/", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".jenkins/", "buildspec.yml", "cloudbuild.yaml",
		"azure-pipelines.yaml", ".woodpecker.yaml", ".drone.yaml", ".build.yml", ".builds/", ".tekton/", ".travis.yaml", "cloudbuild.yml", "buildspec.yaml", ".teamcity/",
		".woodpecker/", ".azure-pipelines/", ".azuredevops/", "wercker.yml", ".shippable.yml", "shippable.yml", ".bazelci/", ".prow.yaml", ".prow/", ".zuul.yaml", "zuul.yaml", ".zuul.d/", "zuul.d/", ".packit.yaml", ".packit.yml",
		".screwdriver.yaml", "screwdriver.yaml", ".kokoro/", ".evergreen.yml", "evergreen.yml", ".scrutinizer.yml", ".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yml", "codemagic.yaml", "bitrise.yml", ".harness/", ".gocd.yaml",
		".expeditor/", ".cloudbuild/", ".codeql/", "renovate.json", ".renovaterc", ".renovaterc.json", "netlify.toml", "vercel.json", "amplify.yml", ".hound.yml", ".platform.app.yaml", ".dagger/", "dagger.json", ".cirrus.star",
		"action.yml", "action.yaml", ".goreleaser.yml", ".goreleaser.yaml", ".releaserc", ".releaserc.json", ".releaserc.yml", ".releaserc.yaml", ".releaserc.js", ".releaserc.cjs", ".releaserc.mjs", "release.config.js", "release.config.cjs", "release.config.mjs",
	}},
	{"git or a shell executes this file's contents", []string{
		".hg/hgrc", ".jj/repo/config.toml", ".husky/", ".githooks/", "githooks/", ".git-hooks/", ".lefthook/", "lefthook.yml", ".lefthook.yml", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".overcommit.yml",
		".yarnrc.yml", ".pnp.cjs", ".pnpmfile.cjs", ".lintstagedrc", ".simple-git-hooks.json", ".simple-git-hooks.js", ".huskyrc", ".huskyrc.json", ".huskyrc.js",
		"lefthook-local.yml", ".lefthook-local.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lintstagedrc.json", ".lintstagedrc.yml", ".lintstagedrc.yaml", ".lintstagedrc.js", ".lintstagedrc.mjs",
		".lintstagedrc.cjs", "lint-staged.config.js", "lint-staged.config.mjs", "lint-staged.config.cjs", "lint-staged.config.ts", "mise.local.toml", ".mise.local.toml", ".mise/", ".mise.toml", "mise.toml", ".tool-versions",
		".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".inputrc", ".xprofile", ".xinitrc", ".tmux.conf", ".screenrc", // of a home that is a repository
		".autoenv", ".autoenv.zsh", ".hooks/", ".commitlintrc.js", "commitlint.config.js", "commitlint.config.mjs", "commitlint.config.cjs", "commitlint.config.ts", ".czrc", ".cz.toml", ".hgrc", ".pdbrc", ".pythonstartup", ".rprofile", ".irbrc", ".pryrc", ".juliarc.jl", ".ghci", ".psqlrc", ".sqliterc", ".wgetrc", ".curlrc", ".iex.exs",
		"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-merge-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change", "hooks/update", // core.hooksPath may name any folder
		"config.fish", ".pre-commit-config.yml", "prek.toml", ".huskyrc.yml", ".huskyrc.yaml", "husky.config.js", ".simple-git-hooks.cjs", "simple-git-hooks.js", "simple-git-hooks.cjs", "captainhook.json", "grumphp.yml", ".trunk/",
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
	for _, c := range controls {
		for _, control := range c.names {
			folder, isFolder := strings.CutSuffix(control, "/")
			switch {
			case isFolder && strings.Contains("/"+name, "/"+folder+"/"), base == control, strings.HasSuffix("/"+name, "/"+control), control[0] == '*' && path.Ext(base) == control[1:]:
				return c.what
			}
		}
	}
	return ""
}
