package assist

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pageColumns is how long a line of prose is on a page that is a file. What shows one may cut
// lines at its window's edge, as Helix does, and 80 columns have those of line numbers in them.
const pageColumns = 72

// listItem is the sign that an item of a list begins with, as CommonMark bounds it: whatever a model
// writes, little stands before the words of a line.
var listItem = regexp.MustCompile(`^ {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4}`)

// fold breaks the long lines of paragraphs and lists at blanks. To every renderer the text means the
// same: what a line goes on with begins no block, and code, headings, tables and quotes stay as they are.
func fold(text string, columns int) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		run := fenceOf(bare)
		switch {
		case fence == "" && run != "":
			fence = run
		case fence != "" && strings.HasPrefix(run, fence) && strings.TrimSpace(bare) == run:
			fence = ""
		case fence == "" && foldable(bare):
			out.WriteString(foldLine(bare, columns))
			out.WriteString(line[len(bare):])
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

// fenceOf is the run of signs with which a line begins or ends a block of code, "" if it does not.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, sign := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, sign)
		if run := line[:len(line)-len(rest)]; len(run) >= 3 && (sign == "~" || !strings.Contains(rest, sign)) { // else it is code in a line
			return run
		}
	}
	return ""
}

// foldable is whether a line is one of a paragraph, or of one that an item of a list begins with.
func foldable(line string) bool {
	rest := strings.TrimLeft(line, " ")
	if sign := listItem.FindString(line); sign != "" {
		line = line[len(sign):] // of five blanks the last ones begin code
		rest = line
	}
	return rest != "" && !strings.ContainsAny(rest[:1], "#|> \t") && !strings.HasPrefix(line, "    ")
}

// foldLine breaks a line, what is behind a break as far indented as what it belongs to. A line is as
// long as a model makes it, and is read once.
func foldLine(line string, columns int) string {
	inner := len(line) - len(strings.TrimLeft(line, " "))
	if sign := listItem.FindString(line); sign != "" {
		inner = len(sign)
	}
	var out strings.Builder
	begin, at := 0, -1 // of what is not written yet, and of the last blank in it where it can end
	code := false
	column := 0
	for i, r := range line {
		if r == ' ' && i >= inner && !code && (column <= columns || at < 0) && breaks(line[:i], line[i+1:]) {
			at = i
		}
		if column >= columns && at >= 0 {
			out.WriteString(line[begin:at])
			out.WriteByte('\n')
			out.WriteString(strings.Repeat(" ", inner))
			column = inner - 1 // the blank is left out
			if at < i {
				column += utf8.RuneCountInString(line[at:i])
			}
			begin, at = at+1, -1
		}
		column++
		code = code != (r == '`')
	}
	out.WriteString(line[begin:])
	return out.String()
}

// breaks is whether a line can end between two texts: the blank there is no part of a larger one, and
// the second begins with a letter or with code, and so no block.
func breaks(before, after string) bool {
	first, _ := utf8.DecodeRuneInString(after)
	last, _ := utf8.DecodeLastRuneInString(before)
	return last != ' ' && last != '\\' && (unicode.IsLetter(first) || first == '`' && !strings.HasPrefix(after, "``"))
}
