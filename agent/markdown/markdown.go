// Package markdown writes what a model, a tool or a repository said as Markdown that shows
// it as text: paragraphs, headings, lists, emphasis and code, and nothing that fetches,
// links, draws, runs or hides. Renderers differ in what else they take for a link, so that
// every address is made code, and what begins a link, an image, HTML, an entity or a
// table is written as an entity. What a reader of the source sees changes as little
// as that allows.
package markdown

import (
	"fmt"
	"regexp"
	"strings"

	"quarry/index/lang"
	"quarry/index/visible"
)

// Render writes the words of a model, which may be cut off anywhere.
func Render(text string) string {
	var out strings.Builder
	lines := strings.Split(seen(text), "\n")
	for i := 0; i < len(lines); i++ {
		if i > 0 {
			out.WriteByte('\n')
		}
		fence, language, opens := opening(lines[i])
		end := i + 1
		if !opens {
			// A paragraph, as far as a link or an emphasis can reach.
			for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
				if _, _, opens := opening(lines[end]); opens {
					break
				}
				end++
			}
			out.WriteString(write(lines[i:end]...))
			i = end - 1
			continue
		}
		// A block of code is written anew, at the beginning of the line, so that nobody
		// can read its bounds in another way.
		for end < len(lines) && !closes(lines[end], fence) {
			end++
		}
		code := strings.Join(lines[i+1:min(end, len(lines))], "\n")
		if end == len(lines) { // it is cut off, or was never closed
			code = strings.TrimSuffix(code, "\n")
		}
		out.WriteString(Code(language, code))
		i = end
	}
	return out.String()
}

// Inline writes a line that a tool, a repository or a model gave, to stand within one
// of quarry's own. All of a paragraph that others gave is written at once, and between no
// asterisks of quarry's: an emphasis that begins in one text may end in the code of another.
func Inline(text string) string {
	return write(visible.Text(strings.Join(strings.Fields(text), " ")))
}

// Cell is Inline for a cell of one of quarry's own tables.
func Cell(text string) string {
	if !strings.Contains(text, `\|`) {
		return strings.ReplaceAll(Inline(text), "|", `\|`)
	}
	// A bar behind a backslash cannot stand in the code of a cell, and ends it wherever it
	// stands, so that there is no code around one.
	text = visible.Text(strings.Join(strings.Fields(text), " "))
	w := writer{strict: true, math: strings.Count(text, "$") > 1}
	for i, part := range strings.Split(text, "|") {
		if i > 0 {
			w.WriteString("&#124;")
		}
		w.line(part)
	}
	return w.String()
}

// Code is code in a fence longer than any in it. The language is written if it is one of
// code: what calls itself mermaid, math or geojson is drawn by one renderer or another,
// with the images and links that it names.
func Code(language, code string) string {
	fence := Fence(code)
	if _, known := lang.Find(language); !known && !plain[language] || maps[strings.ToLower(language)] {
		language = ""
	}
	return fence + language + "\n" + seen(code) + "\n" + fence
}

// Fence is a fence that nothing in the texts closes. They are read once: a file may have a line of
// a hundred thousand backticks, and so may an answer.
func Fence(texts ...string) string {
	longest := 2
	for _, text := range texts {
		run := 0
		for i := range len(text) {
			if run++; text[i] != '`' {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	return strings.Repeat("`", longest+1)
}

// writer writes lines outside blocks of code.
type writer struct {
	strings.Builder
	// doubtful is set where code holds what would be a link outside. Renderers that look
	// for the end of a link or an emphasis first see it there, so that in a paragraph
	// with such code none may begin: that is what strict asks for.
	doubtful, strict bool
	// math is set where two dollars could be the ends of a formula, which may hide words.
	math bool
	// open is where the first bracket stands that nothing closes, -1 if there is none.
	open int
}

// write writes the lines of a paragraph.
func write(lines ...string) string {
	var w writer
	if w.lines(lines); w.doubtful {
		w = writer{strict: true}
		w.lines(lines)
	}
	return w.String()
}

func (w *writer) lines(lines []string) {
	w.math = strings.Count(strings.Join(lines, ""), "$") > 1
	for i, line := range lines {
		if i > 0 {
			w.WriteByte('\n')
		}
		if rule := ruled.FindStringSubmatch(line); rule != nil {
			w.WriteString(rule[1] + "&#45;" + rule[2][1:])
		} else {
			w.line(line)
		}
	}
}

// seen is a text of which everything can be seen, whatever its lines end with.
func seen(text string) string {
	return visible.Text(strings.NewReplacer("\r\n", "\n", "\r", `\x0d`).Replace(text))
}

var (
	// plain are the names of text and of what programs write, which package lang lacks.
	plain = map[string]bool{"text": true, "txt": true, "diff": true, "patch": true, "console": true}
	// maps are JSON that GitHub draws.
	maps = map[string]bool{"geojson": true, "topojson": true}
	// ruled is a line that could make a table of the lines around it, whose cells end
	// within what is code elsewhere.
	ruled = regexp.MustCompile(`^([ \t|:>]*)(-[ \t|:-]*)$`)
)

// opening answers the fence that a line begins a block of code with.
func opening(line string) (fence, language string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return "", "", false
	}
	rest := strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(rest, "`") {
		return "", "", false // code within a line
	}
	language, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	return line[:len(line)-len(rest)], language, true
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

const schemes = "mailto|xmpp|tel|command|javascript|vbscript|data|vscode|vscode-insiders|file"

// address finds what some renderer makes a link of by itself: anything with a scheme
// and slashes, schemes that need none, www., an address without a scheme, and mail.
var address = regexp.MustCompile("(?i)[a-z][a-z0-9+.-]*://[^\\s`]*" +
	"|//[^\\s`/][^\\s`]*" +
	"|\\b(?:" + schemes + "):[^\\s`]+" +
	"|www\\.[^\\s`]+" +
	"|[\\w.+$&,:;=-][\"\\w.+$&,:;=-]*@" + host + "(?:\\." + host + ")+")

// host is a part of a mail's address between dots. VS Code's preview takes any letter and sign for
// one of its letters, whatever its script.
const host = "(?:[\\w$+=^|~-]|[^\\x00-\\x7f\\pZ\\pP\\pC])+"

// scheme begins an address that needs no slashes.
var scheme = regexp.MustCompile("(?i)^(?:" + schemes + "):[^\\s`]+")

// marks are what a line may have before its words: those of lists and quotes, and a box to tick.
var marks = regexp.MustCompile(`^(?:[ \t>*+-]|\d+[.)]|\[[ xX]\])*`)

// line writes one line outside blocks of code. A bracket that it begins with, and that nothing
// closes in it, could be the first of a link's definition. VS Code's renderer looks for the end of
// the name there in all that follows, and where a block of code has that, the block's beginning is
// gone, and its lines are no code.
func (w *writer) line(line string) {
	part := writer{strict: w.strict, math: w.math, open: -1}
	part.spans(line)
	w.doubtful = w.doubtful || part.doubtful
	text := part.String()
	if at := part.open; at >= 0 && at == len(marks.FindString(text)) {
		w.WriteString(text[:at] + "&#91;")
		text = text[at+1:]
	}
	w.WriteString(text)
}

// spans writes the words and the code of a line.
func (w *writer) spans(line string) {
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			w.words(line)
			return
		}
		w.words(line[:at])
		line = line[at:]
		run := len(line) - len(strings.TrimLeft(line, "`"))
		end := closingRun(line[run:], run)
		if end < 0 {
			w.escaped(line[:run])
			line = line[run:]
			continue
		}
		w.code(line[:run+end+run])
		line = line[run+end+run:]
	}
}

// closingRun is where the next run of exactly n backticks begins, -1 if none does.
func closingRun(line string, n int) int {
	for at := 0; ; {
		next := strings.IndexByte(line[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		run := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if run == n {
			return at
		}
		at += run
	}
}

// code writes a code span, its backticks apart from those before it.
func (w *writer) code(span string) {
	if strings.HasSuffix(w.String(), "`") {
		w.WriteByte(' ')
	}
	w.doubtful = w.doubtful || closing.MatchString(span) || tag.MatchString(span) || address.MatchString(span)
	if bracket.MatchString(span) {
		w.open = -1
	}
	w.WriteString(span)
}

// bracket is code with one that no backslash stands before.
var bracket = regexp.MustCompile(`^(?:\\(?s:.)|[^\[\]\\])*[\[\]]`)

// dunder is a name between two underscores on each side, within a path, lines behind it, or a selector: as
// `pkg/__init__.py` and `self.__init__` are meant, and no emphasis.
var dunder = regexp.MustCompile(`[\w./-]*\b__[a-zA-Z0-9]+(?:_[a-zA-Z0-9]+)*__\b(?:[\w/.-]*\w)?(?::\d+(?:-\d+)?)?`)

// words writes text outside code. What was found ahead is kept until it is passed: looking for it
// anew behind each address would take the square of a text's length.
func (w *writer) words(text string) {
	url, name := ahead{find: address}, ahead{find: dunder}
	for at := 0; at < len(text); {
		url.begin(text, at)
		name.begin(text, at)
		from, to := url.at, url.end
		if here := scheme.FindString(text[at:]); here != "" {
			from, to = at, at+len(here) // it may begin here even within a word, since what stands before is written
		}
		if name.at < len(text) && name.end <= from {
			w.escaped(text[at:name.at])
			w.code("`" + text[name.at:name.end] + "`")
			at, name.known = name.end, false
			continue
		}
		w.escaped(text[at:from])
		if from == len(text) {
			return
		}
		found := text[from:to]
		if trimmed := strings.TrimRight(found, ".,;:!?'\"*_~)]}>|\\"); trimmed != "" {
			found = trimmed
		}
		w.code("`" + found + "`")
		at = from + len(found)
	}
}

// ahead is the next match of find in a text, at its length if there is none.
type ahead struct {
	find    *regexp.Regexp
	at, end int
	known   bool
}

// begin looks for the next match from at on, unless the one that is known still lies there.
func (a *ahead) begin(text string, at int) {
	if a.known && a.at >= at {
		return
	}
	a.known, a.at, a.end = true, len(text), len(text)
	if found := a.find.FindStringIndex(text[at:]); found != nil {
		a.at, a.end = at+found[0], at+found[1]
	}
}

// escaped writes as entities what would begin something else than text, and only that:
// `a[i]` and `x < y` stay as they are. Where a backslash does, one renderer or another
// still takes the character for the beginning of code or a link when it looks for the
// end of an emphasis.
func (w *writer) escaped(text string) {
	for i := 0; i < len(text); i++ {
		before, next := byte(0), byte(0)
		if i > 0 {
			before = text[i-1]
		}
		if i+1 < len(text) {
			next = text[i+1]
		}
		special := false
		switch c := text[i]; c {
		case '`':
			special = true
		case '\\': // what follows the words may be the backtick of a code span
			special = next == 0 || strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", next) >= 0
		case '[':
			special = w.strict || next == '^' // a footnote
		case ']':
			special = next == '(' || next == '[' || next == ':'
		case '<':
			special = next == '/' || next == '!' || next == '?' || next|32 >= 'a' && next|32 <= 'z'
		case '&':
			special = entity.MatchString(text[i:])
		case '$':
			special = w.math
		case '_': // within a word it is one of its letters
			special = w.strict && !(isLetter(before) && isLetter(next))
		case '*':
			special = w.strict && next != ' ' // which begins an item of a list
		case '~': // a fence; and VS Code's renderer takes what is struck out, by one sign or two, before code
			w.WriteByte('\\')
		}
		if special {
			fmt.Fprintf(w, "&#%d;", text[i])
			continue
		}
		switch text[i] {
		case '[':
			if w.open < 0 {
				w.open = w.Len()
			}
		case ']':
			w.open = -1
		}
		w.WriteByte(text[i])
	}
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// closing ends the words of a link or footnote.
var closing = regexp.MustCompile(`\][(\[:]`)

var tag = regexp.MustCompile(`<[a-zA-Z/!?]`)

var entity = regexp.MustCompile(`^&#?\w+;`)
