package completion

import "strings"

// blockStyle is how a language marks the extent of a block.
type blockStyle uint8

const (
	braces   blockStyle = iota // { … }
	offside                    // a colon, then indentation
	endWords                   // def … end, if … fi
	markup                     // <a> … </a>
	flat                       // no blocks worth following
)

// language is what prompt, stop rules and post-processing know of one
// language. They work on lines and brackets, not on a grammar, so that a
// language missing here still gets sensible behaviour from [languageFor].
type language struct {
	name string
	// open and close delimit a comment on a line of its own; close is "" for
	// line comments.
	open, close string
	blocks      blockStyle
	// heads are first words that open a block closed by a later line, closers
	// first words that end or continue one (end, else, fi).
	heads, closers []string
	// openers are last words or signs that open a block, besides brackets.
	openers []string
	// braceBelow: the brace of a block may stand on a line of its own.
	braceBelow bool
}

var braceClosers = []string{"else", "catch", "finally"}

var languages = buildLanguages()

func buildLanguages() map[string]*language {
	m := map[string]*language{}
	add := func(l language, ids ...string) {
		for _, id := range ids {
			c := l
			c.name = id
			m[id] = &c
		}
	}
	c := language{open: "//", blocks: braces, closers: braceClosers}
	add(c, "go", "javascript", "javascriptreact", "typescript", "typescriptreact", "rust", "java", "kotlin", "swift", "dart", "zig",
		"proto", "proto3", "protobuf", "groovy", "solidity", "jsonc", "less", "scss", "v", "odin")
	allman := c
	allman.braceBelow = true
	add(allman, "c", "cpp", "cuda-cpp", "objective-c", "objective-cpp", "csharp", "php", "glsl")
	scala := c
	scala.openers = []string{"=", "=>", "then", "yield"}
	add(scala, "scala")
	hash := language{open: "#", blocks: flat}
	add(hash, "yaml", "toml", "makefile", "properties", "dockerfile", "dockercompose", "cmake", "gitignore", "plaintext", "r")
	add(language{open: "#", blocks: braces, closers: braceClosers}, "terraform", "hcl", "perl", "tcl", "nix", "powershell", "awk", "graphql")
	add(language{open: "#", blocks: offside, openers: []string{":"},
		closers: []string{"else", "elif", "except", "finally", "case"}}, "python", "starlark", "nim", "gdscript")
	add(language{open: "#", blocks: endWords,
		heads:   []string{"def", "class", "module", "if", "unless", "while", "until", "case", "begin", "for"},
		openers: []string{"do", "begin", "then"},
		closers: []string{"end", "else", "elsif", "when", "rescue", "ensure", "in"}}, "ruby", "crystal")
	add(language{open: "#", blocks: endWords, openers: []string{"do", "->", "else"},
		closers: []string{"end", "else", "rescue", "after", "catch"}}, "elixir", "julia")
	add(language{open: "--", blocks: endWords,
		heads:   []string{"function", "local function", "if", "for", "while", "repeat"},
		openers: []string{"then", "do", "else", "repeat"},
		closers: []string{"end", "else", "elseif", "until"}}, "lua", "luau")
	add(language{open: "#", blocks: endWords, heads: []string{"case"},
		openers: []string{"then", "do", "else", "{"},
		closers: []string{"fi", "done", "esac", "else", "elif", ";;", "}"}}, "shellscript", "sh", "bash", "zsh", "fish")
	add(language{open: "--", blocks: flat, closers: []string{"end"}}, "sql", "haskell", "elm", "ada", "vhdl")
	add(language{open: "<!--", close: "-->", blocks: markup}, "html", "xml", "svg", "vue", "svelte", "xhtml", "astro")
	add(language{open: "<!--", close: "-->", blocks: flat}, "markdown", "mdx")
	add(language{open: "/*", close: "*/", blocks: braces}, "css")
	add(language{open: "(*", close: "*)", blocks: flat}, "ocaml", "fsharp", "pascal")
	add(language{open: ";", blocks: flat}, "clojure", "lisp", "scheme", "racket", "emacs-lisp", "asm", "ini")
	add(language{open: "%", blocks: flat}, "latex", "tex", "erlang", "matlab")
	add(language{open: "\"", blocks: endWords, closers: []string{"end", "else", "endif", "endfunction", "endfor", "endwhile"}}, "vim")
	return m
}

// languageFor is never nil: an unknown id is taken for a brace language whose
// comments start with a hash, the sign that most formats share.
func languageFor(id string) *language {
	if l := languages[strings.ToLower(id)]; l != nil {
		return l
	}
	return &language{name: id, open: "#", blocks: braces, closers: braceClosers}
}

// comment writes text as comment lines, each ended by a newline. A close sign
// inside text is broken, so text cannot leave the comment.
func (l *language) comment(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(l.open)
		if line != "" {
			b.WriteByte(' ')
			if l.close != "" {
				line = strings.ReplaceAll(line, l.close, l.close[:1]+" "+l.close[1:])
			}
			b.WriteString(line)
		}
		if l.close != "" {
			b.WriteByte(' ')
			b.WriteString(l.close)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// code is line without its trailing comment and white space. It takes a
// comment sign after a blank for a comment even inside a string: the rules
// built on it then see a shorter line, which costs a suggestion and never
// harms one.
func (l *language) code(line string) string {
	if l.close == "" && l.open != "" {
		if strings.HasPrefix(strings.TrimSpace(line), l.open) {
			return ""
		}
		if i := strings.Index(line, " "+l.open); i >= 0 {
			line = line[:i]
		}
	}
	return strings.TrimRight(line, " \t")
}

// opensBlock reports whether the lines after line stand inside what it opens.
func (l *language) opensBlock(line string) bool {
	code := l.code(line)
	if code == "" {
		return false
	}
	if l.blocks != flat {
		switch code[len(code)-1] {
		case '{', '(', '[':
			return true
		}
	}
	for _, o := range l.openers {
		if endsWithWord(code, o) {
			return true
		}
	}
	word := strings.TrimLeft(code, " \t")
	for _, h := range l.heads {
		// A one-line form (if x then y end) closes itself.
		if startsWithWord(word, h) && !endsWithWord(code, "end") && !endsWithWord(code, "esac") {
			return true
		}
	}
	if l.blocks == markup {
		return opensElement(word)
	}
	return l.name == "ruby" && strings.HasSuffix(code, "|") && strings.Contains(code, " do |")
}

// opensElement: the line ends in the start tag of an element that is not void.
func opensElement(line string) bool {
	i := strings.LastIndexByte(line, '<')
	if i < 0 || !strings.HasSuffix(line, ">") || strings.HasSuffix(line, "/>") {
		return false
	}
	name := strings.ToLower(line[i+1:])
	if name[0] == '/' || name[0] == '!' || name[0] == '?' {
		return false
	}
	if j := strings.IndexAny(name, " \t>"); j >= 0 {
		name = name[:j]
	}
	switch name {
	case "br", "hr", "img", "input", "link", "meta", "area", "base", "col", "embed", "source", "track", "wbr":
		return false
	}
	return true
}

// closesBlock reports whether line, at a block's outer indentation, ends or
// continues that block rather than starting something new.
func (l *language) closesBlock(line string) bool {
	code := strings.TrimSpace(line)
	if code == "" {
		return false
	}
	switch code[0] {
	case '}', ')', ']':
		return true
	}
	if l.blocks == markup && strings.HasPrefix(code, "</") {
		return true
	}
	for _, c := range l.closers {
		if startsWithWord(code, c) {
			return true
		}
	}
	return false
}

func startsWithWord(s, word string) bool {
	rest, ok := strings.CutPrefix(s, word)
	return ok && (rest == "" || !isWord(rest[0]) || !isWord(word[len(word)-1]))
}

func endsWithWord(s, word string) bool {
	rest, ok := strings.CutSuffix(s, word)
	return ok && (rest == "" || !isWord(rest[len(rest)-1]) || !isWord(word[0]))
}

// isWord takes every byte of a non-ASCII rune for a letter.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
