package setup

import (
	"bytes"
	"strings"
)

// part is what quarry has in a file of somebody else's. Text outside of it stays byte for
// byte.
type part interface {
	// put answers text with the part in it, the same text if it is there already, and
	// what taking it out must know.
	put(text []byte) ([]byte, []kept, error)
	// format is the key of takers that takes the part out.
	format() string
}

// takers take out what was put into a file, by its format. They need no more than the
// record, since what a plan asks of the machine may have changed.
var takers = map[string]func(text []byte, of []kept) ([]byte, error){
	"json":     takeJSON,
	"toml":     takeTOML,
	"helix":    takeHelix,
	"lisp":     takeBlock(lispBlock),
	"markdown": takeBlock(markdownBlock),
	"whole":    func([]byte, []kept) ([]byte, error) { return nil, nil },
}

// kept is what is remembered of one entry that was put into a file.
type kept struct {
	// Key is where it is.
	Key []string `json:"key"`
	// Made is how many of Key's first elements were there before.
	Made int `json:"made"`
	// Was is the text that it replaced; none if it was added.
	Was string `json:"was,omitempty"`
}

func equalKeys(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// whole is a file that is quarry's alone.
type whole []byte

func (w whole) put([]byte) ([]byte, []kept, error) { return w, nil, nil }

func (w whole) format() string { return "whole" }

// byteOrderMark begins files that some editors of Windows write.
var byteOrderMark = []byte("\ufeff")

// cutMark takes the mark off the text of a file, so that offsets in the rest are a parser's.
func cutMark(text []byte) (rest, mark []byte) {
	if rest, ok := bytes.CutPrefix(text, byteOrderMark); ok {
		return rest, byteOrderMark
	}
	return text, nil
}

// splice replaces text[from:to].
func splice(text []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(text)-(to-from)+len(with))
	out = append(out, text[:from]...)
	out = append(out, with...)
	return append(out, text[to:]...)
}

// newline is what ends the lines of text.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart is where the line of offset at begins.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is where the line after the one of offset at begins.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// indentAt is the blanks that the line of offset at begins with.
func indentAt(text []byte, at int) string {
	line := text[lineStart(text, at):at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// lineOf is the number of the line of offset at, from 1.
func lineOf(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

const blanks = " \t\r\n"

// trimEnd is the offset after the last character before at that is no blank.
func trimEnd(text []byte, at int) int { return len(bytes.TrimRight(text[:at], blanks)) }

// startsLine reports whether only blanks precede offset at in its line.
func startsLine(text []byte, at int) bool {
	return len(bytes.TrimLeft(text[lineStart(text, at):at], " \t")) == 0
}

// cutLines takes out whole lines, and the empty line before them.
func cutLines(text []byte, from, to int) []byte {
	if above := lineStart(text, max(0, from-1)); from > 0 && len(bytes.TrimSpace(text[above:from])) == 0 {
		from = above
	}
	return splice(text, from, to, "")
}

// appendLines puts lines at the end, an empty line before them.
func appendLines(text []byte, lines string) []byte {
	nl := newline(text)
	lines = strings.ReplaceAll(lines+"\n", "\n", nl)
	if len(text) > 0 {
		if text[len(text)-1] != '\n' {
			lines = nl + lines
		}
		lines = nl + lines
	}
	return splice(text, len(text), len(text), lines)
}
