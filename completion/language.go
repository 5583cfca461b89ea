package completion

import (
	"strings"

	"quarry/index/lang"
)

// language is what prompt, stop rules and post-processing know of one
// language. They work on lines and brackets, not on a grammar.
type language struct {
	*lang.Language
	// open and shut delimit a comment on a line of its own; shut is "" for
	// line comments.
	open, shut string
}

// languageFor is never without a comment sign: a language that has none gets the hash,
// the sign that most formats share.
func languageFor(id string) language {
	l := language{Language: lang.Of(id), open: "#"}
	c := l.Comment
	switch {
	case c.Open != "" && (len(c.Line) == 0 || l.Blocks.Style == lang.Markup):
		l.open, l.shut = c.Open, c.Shut
	case len(c.Line) > 0:
		l.open = c.Line[0]
	}
	return l
}

// comment writes text as comment lines, each ended by a newline. A close sign
// inside text is broken, so text cannot leave the comment.
func (l language) comment(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(l.open)
		if line != "" {
			b.WriteByte(' ')
			if l.shut != "" {
				line = strings.ReplaceAll(line, l.shut, l.shut[:1]+" "+l.shut[1:])
			}
			b.WriteString(line)
		}
		if l.shut != "" {
			b.WriteByte(' ')
			b.WriteString(l.shut)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// code is line without its trailing comment and white space. It takes a
// comment sign after a blank for a comment even inside a string: the rules
// built on it then see a shorter line, which costs a suggestion and never
// harms one.
func (l language) code(line string) string {
	if l.shut == "" && l.open != "" {
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
func (l language) opensBlock(line string) bool {
	code := l.code(line)
	if code == "" {
		return false
	}
	if l.Blocks.Style != lang.Flat {
		switch code[len(code)-1] {
		case '{', '(', '[':
			return true
		}
	}
	for _, o := range l.Blocks.Openers {
		if endsWithWord(code, o) {
			return true
		}
	}
	word := strings.TrimLeft(code, " \t")
	for _, h := range l.Blocks.Heads {
		// A one-line form (if x then y end) closes itself.
		if startsWithWord(word, h) && !endsWithWord(code, "end") && !endsWithWord(code, "esac") {
			return true
		}
	}
	if l.Blocks.Style == lang.Markup {
		return opensElement(word)
	}
	return l.Blocks.Parameters && strings.HasSuffix(code, "|") && strings.Contains(code, " do |")
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
func (l language) closesBlock(line string) bool {
	code := strings.TrimSpace(line)
	if code == "" {
		return false
	}
	switch code[0] {
	case '}', ')', ']':
		return true
	}
	if l.Blocks.Style == lang.Markup && strings.HasPrefix(code, "</") {
		return true
	}
	for _, c := range l.Blocks.Closers {
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
