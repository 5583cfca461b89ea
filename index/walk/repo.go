package walk

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// repository is what git's own files say about ignoring in one work tree.
type repository struct {
	exclude []pattern // .git/info/exclude
	global  []pattern // core.excludesFile
	fold    bool      // core.ignoreCase
}

// gitDir finds the repository data of a work tree: .git, or where a .git file of
// a worktree or submodule points. "" if dir is not the top of a work tree.
func gitDir(dir string) string {
	dot := filepath.Join(dir, ".git")
	info, err := os.Lstat(dot)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		return dot
	}
	text, err := os.ReadFile(dot)
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return target
}

// commonDir is where a linked worktree keeps what it shares with the others.
func commonDir(gitDir string) string {
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	target := strings.TrimSpace(string(text))
	if !filepath.IsAbs(target) {
		target = filepath.Join(gitDir, target)
	}
	return target
}

// Head answers the files whose change tells that another commit was checked out
// in the work tree at dir: none if it is not the top of one.
func Head(dir string) []string {
	git := gitDir(dir)
	if git == "" {
		return nil
	}
	return []string{filepath.Join(git, "HEAD"), filepath.Join(git, "logs", "HEAD")}
}

func openRepository(dir string) *repository {
	git := commonDir(gitDir(dir))
	config := gitConfig{"core.ignorecase": "false"}
	if runtime.GOOS != "linux" {
		config["core.ignorecase"] = "true"
	}
	home, _ := os.UserHomeDir() // without a home there is nothing to read there
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	if xdg != "" {
		config["core.excludesfile"] = filepath.Join(xdg, "git", "ignore")
		config.read(filepath.Join(xdg, "git", "config"))
	}
	if home != "" {
		config.read(filepath.Join(home, ".gitconfig"))
	}
	config.read(filepath.Join(git, "config"))
	r := &repository{}
	switch strings.ToLower(config["core.ignorecase"]) {
	case "true", "yes", "on", "1", "":
		r.fold = true
	}
	excludes := config["core.excludesfile"]
	if rest, ok := strings.CutPrefix(excludes, "~/"); ok && home != "" {
		excludes = filepath.Join(home, rest)
	}
	if text, err := os.ReadFile(filepath.Join(git, "info", "exclude")); err == nil {
		r.exclude = parseIgnore(text, r.fold)
	}
	if excludes != "" {
		if text, err := os.ReadFile(excludes); err == nil {
			r.global = parseIgnore(text, r.fold)
		}
	}
	return r
}

// gitConfig holds keys in lower case. Only sections without a subsection are
// read, which is where the two keys wanted here stand.
type gitConfig map[string]string

func (c gitConfig) read(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			section, line, _ = strings.Cut(rest, "]")
			section, line = strings.ToLower(strings.TrimSpace(section)), strings.TrimSpace(line)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		c[section+"."+strings.ToLower(strings.TrimSpace(key))] = configValue(value)
	}
}

// configValue takes quotes, escapes and a comment off a value.
func configValue(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
