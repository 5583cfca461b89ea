package agent

import "testing"

// Y13: files that a program runs by itself, and those that only look like them.
func TestDanger(t *testing.T) {
	dangerous := []string{
		".vscode/tasks.json", ".vscode/settings.json", "web/.vscode/launch.json", ".VSCode/Tasks.json", ".nvim.lua", "sub/.exrc", ".dir-locals.el", ".idea/workspace.xml", ".zed/tasks.json",
		".helix/languages.toml", "x.code-workspace", ".cargo/config.toml", "sub/.luarc.json", ".pylintrc", ".yarnrc.yml", ".devcontainer/devcontainer.json", ".mcp.json", ".claude/settings.json", "CLAUDE.md", "AGENTS.md", ".cursor/mcp.json",
		".github/workflows/x.yml", ".github/actions/a/action.yml", ".github/copilot-instructions.md", ".gitlab-ci.yml", "Jenkinsfile", ".circleci/config.yml", "azure-pipelines.yml", ".ci/run", ".drone.yml",
		".husky/pre-commit", ".githooks/post-checkout", "githooks/pre-push", ".pre-commit-config.yaml", "lefthook.yml", ".mise.toml",
		"lefthook-local.yml", ".lintstagedrc.json", "lint-staged.config.mjs", "mise.local.toml", ".huskyrc", "azure-pipelines.yaml", ".woodpecker.yaml", ".travis.yaml", ".tekton/push.yaml", ".teamcity/settings.kts",
		".windsurfrules", ".clinerules/a.md", "opencode.json", ".kiro/hooks/a.json", "CLAUDE.local.md", ".roo/rules/a.md", ".nvim/init.lua", "_vimrc", ".ignore",
		".sublime-project/x.sublime-project", "x.sublime-build", "coc-settings.json", ".vim/coc-settings.json", ".gitpod.yml", ".idx/dev.nix", ".replit", "devbox.json", ".gdbinit", ".bsp/sbt.json", "rust-toolchain.toml", "hie.yaml", ".eslintrc.js",
		"eslint.config.mjs", ".prettierrc.cjs", ".amazonq/rules/a.md", "QWEN.md", ".goosehints", "crush.json", "mcp.json", ".trae/rules/x.md", ".agents/skills/x.md", ".woodpecker/a.yml", "wercker.yml", ".zuul.d/x.yaml", ".readthedocs.yaml",
		"codemagic.yaml", "renovate.json", "netlify.toml", ".bashrc", "home/.zshenv", "commitlint.config.js", ".hgrc", "captainhook.json",
		".vscode./tasks.json", ".vscode /tasks.json", ".github::$INDEX_ALLOCATION/workflows/x.yml", ".huſky/pre-commit", ".vs\u200ccode/tasks.json", "Jenkinsfile. .", ".gitattributes:x", // of disks that fold names
		".Rprofile", "analysis/.Rprofile", ".irbrc", ".pryrc", ".luacheckrc", ".neoconf.json", "sub/.ycm_extra_conf.py", ".ghci", ".iex.exs", ".psqlrc",
		"tools/git/pre-commit", "scripts/hooks/pre-push", "hooks/commit-msg", ".config/hooks/update", ".settings/org.eclipse.core.externaltools.prefs", ".run/Build.run.xml", ".metals/metals.conf", "action.yml", "actions/setup/action.yaml",
		".eslintrc.json", "web/.eslintrc", ".goreleaser.yml", ".goreleaser.yaml", ".releaserc", ".releaserc.json", "release.config.js",
		".hg/hgrc", ".jj/repo/config.toml", ".lazy.lua", ".roomodes", ".drone.star", ".mvn/extensions.xml", ".mvn/jvm.config", "sub/.vimspector.json",
		"bitbucket-pipelines.yaml", ".bitrise.yml", "renovate.json5", ".huskyrc.ts", ".lsp/config.edn", ".clj-kondo/hooks/a.clj", "CMakePresets.json", "CMakeUserPresets.json", ".emacs", ".emacs.d/init.el", ".config/nvim/init.lua", ".gitlab-ci.yaml",
		".mergify.yml", "x.jenkinsfile", "Jenkinsfile.release", "ci/Jenkinsfile.groovy", "Jenkinsfile-nightly", "azure-pipelines-dev.yml", ".gitlab-ci.deploy.yml", ".lefthookrc", ".lefthookrc.toml", "husky.config.ts", ".lsp.json", ".claude-plugin/plugin.json", ".rules", ".sl/config", ".concourse/pipeline.yml",
		".vscode-test.mjs", ".bash_logout", ".cshrc", ".tcshrc", ".zlogout", ".eslintrc.cjs", ".eslintrc.yaml", "eslint.config.mts", ".stylelintrc.cjs", ".releaserc.mjs", "release.config.ts", ".lintstagedrc.cjs", "commitlint.config.cjs", ".appveyor.yml", "appveyor.yml",
		".crush.json", ".rust-analyzer.toml", ".luarc.jsonc", ".pre-commit-config.yml", ".simple-git-hooks.cjs", "simple-git-hooks.cjs", ".lefthook-local.yml", ".screwdriver.yaml", "zuul.yaml", ".zuul.yml", "cloudbuild.yml", "buildspec-test.yaml", "lefthook.json",
		".taskcluster.yml", ".vela.yaml", "circle.yml", ".circleci.yml", ".woodpecker.star", ".drone.jsonnet", ".appveyor/a.ps1", "Earthfile", ".dependabot/config.yml", ".config/mise/config.toml", ".config/husky/init.sh", ".onedev-buildspec.yml",
		".nova/Tasks/a.json", ".local.vimrc", ".vimrc.local", ".externalToolBuilders/a.launch", ".yarn/releases/yarn-4.cjs", ".yarn/plugins/p.cjs", ".kilocoderules", ".rovodev/a.md", ".crush/a.json",
		".gitattributes", "sub/.gitattributes", ".gitmodules", ".gitignore", ".github/CODEOWNERS",
	}
	for _, name := range dangerous {
		if Danger(name) == "" {
			t.Errorf("%s is not known as dangerous", name)
		}
	}
	for _, name := range []string{
		"main.go", "src/hooks/useFetch.ts", "hooks/handler.go", "Makefile", "package.json", "vscode/extension.ts", "editor/vscode.go", "docs/github/intro.md", "ci/main.go", "gitattributes.go", "README.md",
		"hooks/pre_commit.go", "src/hooks/update.ts", "update", "settings/a.go", "run/main.go", "docs/pre-commit.md", "metals/gold.go", "src/action.ts", "release.go", "webhooks/update",
		"internal/claude.go", "cargo/config.go", "Cargo.toml", "agents/agents.go", "jenkins/jenkinsfile.go", "a.github", "x/.vscodeignore", "lib/idea/x.kt",
		"firestore.rules", "config.in", "a.out", "dev.profile", "src/eslint.ts", "prettier.ts", "gitpod.go", "docs/mcp.md", "toolchain.toml", "clangd/main.cpp", "profile.R", "irbrc.rb", "hg/hgrc.go", "lazy.lua", "drone.star", "mvn/extensions.xml", "neoconf.json", "ghci.hs",
		"jenkinsfile.py", "docs/Jenkinsfile.md", "renovate.ts", "emacs.go", "nvim/init.lua", "lsp/config.edn", "cmake/presets.json", "bitrise.go", "azure-pipelines.ts", "huskyrc.ts", "src/lsp.json", "gitlab-ci.go", "vscode-test.mjs", "action.js", "mergify.ts", "pipelines.yml", "mise/config.toml", "husky/dog.go", "vela.go", "yarn/releases.md", "circle.go", "src/login", "rc.yml", ".rc/x.go", "config/nvim.lua",
	} {
		if what := Danger(name); what != "" {
			t.Errorf("%s is taken for a file of which %s", name, what)
		}
	}
	if got, want := Dangers([]string{"a.go", ".vscode/tasks.json"}), "Careful, .vscode/tasks.json: your editor may execute this file's contents."; got != want {
		t.Errorf("Dangers = %q, want %q", got, want)
	}
}
