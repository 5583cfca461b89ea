package walk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"quarry/index/glob"
)

// gitConfig is what git's configuration says in one repository, git-config(1): the
// system's file, the user's, the repository's, and what they include.
type gitConfig struct {
	from   *reader
	home   string // "" if there is none
	gitDir string // of the work tree, not shared with others
	// values are by "section.key" in lower case, of sections without a subsection,
	// which is where the keys wanted here stand.
	values map[string]string
	// urls are those of the remotes, nil until a condition asks for them.
	urls []string
	// gathering: this reading is for the urls.
	gathering bool
	// branch is the one that is checked out, "" for none, once a condition asked for it.
	branch      string
	knowsBranch bool
	// real are paths without links, as far as they were asked for; "" where there is none.
	real map[string]string
	// files and text are how many files were looked for, and the bytes that they have.
	files, text int
	// compared are the steps that conditions took, at most.
	compared int
}

// readGitConfig reads the files in git's order: the later has the say.
func readGitConfig(from *reader, gitDir, common string) *gitConfig {
	home := os.Getenv("HOME") // the first place on Windows too, for git
	if home == "" {
		home, _ = os.UserHomeDir() // without a home there is nothing to read there
	}
	c := &gitConfig{from: from, home: home, gitDir: gitDir, values: map[string]string{}, real: map[string]string{}}
	c.readAll(common)
	return c
}

func (c *gitConfig) readAll(common string) {
	if file, ok := os.LookupEnv("GIT_CONFIG_SYSTEM"); ok {
		c.read(file, 0)
	} else if !isTrue(os.Getenv("GIT_CONFIG_NOSYSTEM")) {
		c.read(systemConfig(), 0)
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		c.read(file, 0)
	} else {
		if xdg := c.xdg(); xdg != "" {
			c.read(filepath.Join(xdg, "config"), 0)
		}
		if c.home != "" {
			c.read(filepath.Join(c.home, ".gitconfig"), 0)
		}
	}
	c.read(filepath.Join(common, "config"), 0)
	if isTrue(c.values["extensions.worktreeconfig"]) {
		c.read(filepath.Join(c.gitDir, "config.worktree"), 0)
	}
}

// xdg is git's folder in the user's configuration, "" if there is none.
func (c *gitConfig) xdg() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	if c.home == "" {
		return ""
	}
	return filepath.Join(c.home, ".config", "git")
}

// systemConfig is the file of the git in PATH, which keeps it where it was
// installed to.
var systemConfig = sync.OnceValue(func() string {
	if git, err := exec.LookPath("git"); err == nil && filepath.IsAbs(git) {
		if prefix := filepath.Dir(filepath.Dir(git)); prefix != "/usr" && prefix != "/" {
			return filepath.Join(prefix, "etc", "gitconfig")
		}
	}
	return "/etc/gitconfig"
})

// isTrue reads a boolean as git does.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

// read takes in a file and, where they stand, those that it includes.
func (c *gitConfig) read(file string, depth int) {
	const (
		deepest  = 10 // git's own bound
		mostText = maxRuleFile
		// mostFiles: a file that includes itself twice is read a thousand times within
		// git's bound.
		mostFiles = 100
		mostURLs  = 200 // each is matched against each condition
	)
	if depth > deepest || c.files == mostFiles {
		return
	}
	c.files++ // also where there is none: it is looked for at each question
	text, cut, err := c.from.text(file, true, mostText-c.text)
	if err != nil || cut {
		return
	}
	c.text += len(text)
	eachSetting(string(text), func(section, sub, key, value string) {
		switch {
		case sub == "" && (section != "include" || key != "path"):
			c.values[section+"."+key] = value
		case section == "remote" && key == "url" && c.gathering && len(c.urls) < mostURLs:
			c.urls = append(c.urls, value)
		case key == "path" && (section == "include" && sub == "" || section == "includeif" && c.holds(sub, file)):
			path := c.expand(value, c.home)
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(file), path)
			}
			c.read(path, depth+1)
		}
	})
}

// expand puts the home folder in for "~".
func (c *gitConfig) expand(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.ToSlash(home) + "/" + rest
	}
	return path
}

// holds answers whether the condition of an include is met; file is where it
// stands.
func (c *gitConfig) holds(condition, file string) bool {
	if pattern, ok := strings.CutPrefix(condition, "gitdir:"); ok {
		return c.inGitDir(pattern, file, false)
	}
	if pattern, ok := strings.CutPrefix(condition, "gitdir/i:"); ok {
		return c.inGitDir(pattern, file, true)
	}
	if pattern, ok := strings.CutPrefix(condition, "onbranch:"); ok {
		branch := c.checkedOut()
		return branch != "" && c.matches(wholeFolder(pattern), branch, false)
	}
	if pattern, ok := strings.CutPrefix(condition, "hasconfig:remote.*.url:"); ok && !c.gathering {
		if c.urls == nil {
			all := &gitConfig{from: c.from, home: c.home, gitDir: c.gitDir, values: map[string]string{}, real: c.real, urls: []string{}, gathering: true}
			all.readAll(c.from.commonDir(c.gitDir))
			c.urls = all.urls
		}
		for _, url := range c.urls {
			if c.matches(pattern, url, false) {
				return true
			}
		}
	}
	return false
}

// mostCompared is enough for 50 conditions of 60 letters and as many remotes of 80.
const mostCompared = 1 << 24

// matches is Wildmatch until conditions have taken too long: each of a megabyte of them may be
// compared with each of the remotes, and the users of git have a handful of both.
func (c *gitConfig) matches(pattern, text string, fold bool) bool {
	c.compared += (len(pattern) + 1) * (len(text) + 1)
	return c.compared <= mostCompared && glob.Wildmatch(pattern, text, fold)
}

// checkedOut is the name of the branch that is checked out, "" if there is none.
func (c *gitConfig) checkedOut() string {
	const longest = 4096 // of HEAD in bytes; no system takes a longer path for a file of a branch
	if !c.knowsBranch {
		head, cut, err := c.from.text(filepath.Join(c.gitDir, "HEAD"), true, longest)
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/"); ok && !cut && err == nil {
			c.branch = name
		}
		c.knowsBranch = true
	}
	return c.branch
}

// withoutLinks is EvalSymlinks, asked once for each path.
func (c *gitConfig) withoutLinks(path string) (real string, ok bool) {
	real, ok = c.real[path]
	if !ok {
		real, _ = filepath.EvalSymlinks(path) // "" where there is nothing
		c.real[path] = real
	}
	return real, real != ""
}

func (c *gitConfig) inGitDir(pattern, file string, fold bool) bool {
	home := c.home
	if real, ok := c.withoutLinks(home); ok {
		home = real
	}
	pattern = wholeFolder(c.expand(pattern, home))
	plain := "" // compared as it is, whatever bytes it has
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		real, ok := c.withoutLinks(file)
		if !ok {
			return false
		}
		plain, pattern = filepath.ToSlash(filepath.Dir(real))+"/", rest
	} else if !filepath.IsAbs(pattern) {
		pattern = wholeFolder("**/" + pattern)
	}
	texts := []string{filepath.ToSlash(c.gitDir)}
	if real, ok := c.withoutLinks(c.gitDir); ok {
		texts = append(texts, filepath.ToSlash(real))
	}
	for _, text := range texts {
		if len(text) < len(plain) || text[:len(plain)] != plain && !(fold && strings.EqualFold(text[:len(plain)], plain)) {
			continue
		}
		if c.matches(pattern, text[len(plain):], fold) {
			return true
		}
	}
	return false
}

// wholeFolder lets a pattern with a slash at its end stand for all below.
func wholeFolder(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

// eachSetting parses a file of git's. section and key are in lower case; a key
// without a value is "true". It ends at the first mistake, where git gives up.
func eachSetting(text string, each func(section, sub, key, value string)) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	section, sub := "", ""
	for text != "" {
		switch c := text[0]; {
		case c == '#' || c == ';':
			_, text, _ = strings.Cut(text, "\n")
		case isBlank(c) || c == '\n':
			text = text[1:]
		case c == '[':
			var ok bool
			if section, sub, text, ok = cutSection(text[1:]); !ok {
				return
			}
		case isAlpha(c):
			end := 1
			for end < len(text) && isNameByte(text[end]) {
				end++
			}
			key, value := glob.FoldCase(text[:end]), "true"
			text = strings.TrimLeft(text[end:], " \t")
			if text != "" && text[0] != '\n' {
				var ok bool
				if value, text, ok = cutValue(text); !ok {
					return
				}
			}
			each(section, sub, key, value)
		default:
			return
		}
	}
}

func isBlank(c byte) bool    { return c == ' ' || c >= '\t' && c <= '\r' && c != '\n' }
func isNameByte(c byte) bool { return isAlpha(c) || isDigit(c) || c == '-' }

// cutSection takes `name]` or `name "sub"]` off the text.
func cutSection(text string) (section, sub, rest string, ok bool) {
	end := 0
	for end < len(text) && (isNameByte(text[end]) || text[end] == '.') {
		end++
	}
	section, text = glob.FoldCase(text[:end]), text[end:]
	if rest, ok = strings.CutPrefix(text, "]"); ok || section == "" {
		return section, "", rest, ok
	}
	trimmed := strings.TrimLeft(text, " \t\v\f\r")
	if trimmed == text || !strings.HasPrefix(trimmed, `"`) {
		return "", "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(trimmed); i++ {
		switch c := trimmed[i]; c {
		case '"':
			rest, ok = strings.CutPrefix(trimmed[i+1:], "]")
			return section, b.String(), rest, ok
		case '\n':
			return "", "", "", false
		case '\\':
			if i++; i == len(trimmed) || trimmed[i] == '\n' {
				return "", "", "", false
			}
			b.WriteByte(trimmed[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", "", false
}

// cutValue takes "= value" off the text: quotes, escapes, lines that go on, and a
// comment at the end.
func cutValue(text string) (value, rest string, ok bool) {
	if text[0] != '=' {
		return "", "", false
	}
	var b strings.Builder
	quoted, blanks := false, ""
	flush := func() {
		b.WriteString(blanks)
		blanks = ""
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return b.String(), text[i+1:], !quoted
		case isBlank(c) && !quoted:
			if b.Len() > 0 {
				blanks = text[i-len(blanks) : i+1] // as they stand in a row
			}
		case (c == '#' || c == ';') && !quoted:
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String(), rest, true
		case c == '"':
			flush()
			quoted = !quoted
		case c == '\\':
			flush()
			if i++; i == len(text) {
				return "", "", false
			}
			switch text[i] {
			case '\n':
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			case 'n':
				b.WriteByte('\n')
			case '\\', '"':
				b.WriteByte(text[i])
			default:
				return "", "", false
			}
		default:
			flush()
			b.WriteByte(c)
		}
	}
	return b.String(), "", !quoted
}

func isAlpha(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
