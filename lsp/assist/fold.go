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

// listItem is the sign that an item of a list begins with.
var listItem = regexp.MustCompile(`^ *(?:[-*+]|\d+[.)]) +`)

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
		if run := line[:len(line)-len(strings.TrimLeft(line, sign))]; len(run) >= 3 {
			return run
		}
	}
	return ""
}

// foldable is whether a line is one of a paragraph or a list.
func foldable(line string) bool {
	rest := strings.TrimLeft(line, " \t")
	if rest == "" || strings.ContainsAny(rest[:1], "#|>") {
		return false
	}
	return !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t")
}

// foldLine breaks a line, what is behind a break as far indented as what it belongs to.
func foldLine(line string, columns int) string {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " ")))
	if sign := listItem.FindString(line); sign != "" {
		indent = strings.Repeat(" ", len(sign))
	}
	var out strings.Builder
	for utf8.RuneCountInString(line) > columns {
		at, column := -1, 0
		for i, r := range line {
			if column > columns && at >= 0 {
				break
			}
			column++
			if r == ' ' && i >= len(indent) && breaks(line[:i], line[i+1:]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		out.WriteString(line[:at])
		out.WriteByte('\n')
		line = indent + line[at+1:]
	}
	out.WriteString(line)
	return out.String()
}

// breaks is whether a line can end between two texts: the blank there is no part of a larger one or of
// code, and the second begins with a letter or with code, and so no block.
func breaks(before, after string) bool {
	first, _ := utf8.DecodeRuneInString(after)
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.TrimSpace(before) != "" && !listSign(before) && last != ' ' && last != '\\' && strings.Count(before, "`")%2 == 0 &&
		(unicode.IsLetter(first) || first == '`' && !strings.HasPrefix(after, "``"))
}

// listSign is whether a text is the sign of a list's item and nothing else.
func listSign(text string) bool { return listItem.FindString(text+" ") == text+" " }
