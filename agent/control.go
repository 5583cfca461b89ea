package agent

import (
	"path"
	"strings"
)

// controls are files that make a program do something by themselves, by what they do
// it to: who changes one decides what runs on the user's machine, or in their name.
var controls = []struct {
	what  string
	names []string // lower case; with a slash at the end all below a folder of that name
}{
	{"your editor may run what stands in it", []string{
		".vscode/", ".idea/", ".vs/", ".fleet/", ".zed/", ".helix/", ".devcontainer/", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".gvimrc",
		".cargo/", ".luarc.json", ".pylintrc", // language servers run programs and code that these name
		".nvim/", ".vim/", "_vimrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", ".projectile", ".sublime-project", ".code-workspace",
	}},
	{"an assistant may follow or run what stands in it", []string{
		".mcp.json", ".claude/", ".cursor/", ".cursorrules", ".continue/", ".windsurf/", ".aider.conf.yml", ".codex/", ".opencode/", ".gemini/", "claude.md", "agents.md", "gemini.md",
		"copilot-instructions.md", ".windsurfrules", ".clinerules", ".clinerules/", "opencode.json", "opencode.jsonc", ".kiro/", "claude.local.md", ".roo/", ".roorules", ".junie/",
	}},
	{"your CI runs what stands in it", []string{
		".github/", ".gitea/", ".forgejo/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".woodpecker.yml", ".drone.yml", ".travis.yml", ".appveyor.yml", "appveyor.yml",
		".ci/", ".cirrus.yml", ".semaphore/", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".jenkins/", "buildspec.yml", "cloudbuild.yaml",
		"azure-pipelines.yaml", ".woodpecker.yaml", ".drone.yaml", ".build.yml", ".builds/", ".tekton/", ".travis.yaml", "cloudbuild.yml", "buildspec.yaml", ".teamcity/",
	}},
	{"git or a shell runs what stands in it", []string{
		".husky/", ".githooks/", "githooks/", ".git-hooks/", ".lefthook/", "lefthook.yml", ".lefthook.yml", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".overcommit.yml",
		".yarnrc.yml", ".pnp.cjs", ".pnpmfile.cjs", ".lintstagedrc", ".simple-git-hooks.json", ".simple-git-hooks.js", ".huskyrc", ".huskyrc.json", ".huskyrc.js",
		"lefthook-local.yml", ".lefthook-local.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lintstagedrc.json", ".lintstagedrc.yml", ".lintstagedrc.yaml", ".lintstagedrc.js", ".lintstagedrc.mjs",
		".lintstagedrc.cjs", "lint-staged.config.js", "lint-staged.config.mjs", "lint-staged.config.cjs", "lint-staged.config.ts", "mise.local.toml", ".mise.local.toml", ".mise/", ".mise.toml", "mise.toml", ".tool-versions",
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
	name = strings.ToLower(name) // some disks take one for the other
	base := path.Base(name)
	for _, c := range controls {
		for _, control := range c.names {
			folder, isFolder := strings.CutSuffix(control, "/")
			switch {
			case isFolder && strings.Contains("/"+name, "/"+folder+"/"),
				!isFolder && (base == control || strings.HasPrefix(control, ".") && path.Ext(base) == control):
				return c.what
			}
		}
	}
	return ""
}
