package completion

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// dropRepetition cuts an answer where it starts to repeat itself or what
// stands above, the way small models fail.
func dropRepetition(s *cursorContext, text string) string {
	text = dropLoop(s, text)
	lines := strings.Split(text, "\n")
	lines = lines[:min(repeatedFrom(lines), countedFrom(lines))]
	if copiesAbove(s, lines) {
		return ""
	}
	return strings.Join(lines, "\n")
}

// dropLoop drops the last line if it ends in the same words over and over: one
// round of them is no better than ten.
func dropLoop(s *cursorContext, text string) string {
	start := strings.LastIndexByte(text, '\n') + 1
	line := text[start:]
	if start == 0 {
		line = s.line + line
	}
	if !endsInLoop(s.lang.ID, line) {
		return text
	}
	return text[:max(start-1, 0)]
}

// What makes a loop: that many rounds of at most so many bytes, and that many
// bytes of all. Of 3.8 million lines of Go, Python and Perl 17 end so.
const (
	loopRounds = 6
	loopPiece  = 48
	loopBytes  = 40
	// constantRounds is how many values without a name of their own may stand in a row.
	constantRounds = 24
)

var constants = regexp.MustCompile(`\b(?:[Nn]one|nil|[Nn]ull|NULL|[Tt]rue|[Ff]alse|TRUE|FALSE|undefined)\b`)

// endsInLoop reports whether line ends in a loop. Zeros, escapes and rows of
// numbers repeat with good reason, and so does what stands in a string: a round
// has to hold a name, and a blank or a call, outside of one.
func endsInLoop(language, line string) bool {
	for size := 2; size <= loopPiece && size*loopRounds <= len(line); size++ {
		start := len(line) - size
		for start > 0 && line[start-1] == line[start-1+size] {
			start--
		}
		run, round := len(line)-start, line[len(line)-size:]
		if run < size*loopRounds || run < loopBytes || !strings.ContainsAny(round, " \t(") || !holdsName(round+round) {
			continue
		}
		if run < size*constantRounds && !holdsName(" "+constants.ReplaceAllString(round+round, "0")) {
			continue
		}
		if strings.ContainsAny(round, "\"'`") || !endsInString(language, line[:start]) {
			return true
		}
	}
	return false
}

// holdsName: a word in text, behind its first byte, is a name and no number.
func holdsName(text string) bool {
	for i := 1; i < len(text); i++ {
		if !isWord(text[i-1]) && startsName(text[i:]) {
			return true
		}
	}
	return false
}

func startsName(text string) bool { return isWord(text[0]) && (text[0] < '0' || text[0] > '9') }

// countedLines is how many lines that only count up are a loop.
const countedLines = 5

// countedFrom is the index of the line behind the first of a row of lines, each
// like the one before but for words that count up: const b = 1, const c = 1.
// That line is worth showing; how far to count, the answer does not know.
func countedFrom(lines []string) int {
	row := 1
	for i := 1; i < len(lines); i++ {
		if !countsUp(lines[i-1], lines[i]) {
			row = 1
		} else if row++; row == countedLines {
			return i - row + 2
		}
	}
	return len(lines)
}

// countsUp: next is line with at least one of its words, a letter or one that
// ends in a number, the next of its kind, and all else the same.
func countsUp(line, next string) bool {
	line, next = strings.TrimSpace(line), strings.TrimSpace(next)
	counted := false
	for line != "" && next != "" {
		a, b := firstWord(line), firstWord(next)
		switch {
		case a == b:
		case a == "" || !isWord(a[0]) || successor(a) != b:
			return false
		default:
			counted = true
		}
		line, next = line[len(a):], next[len(b):]
	}
	return counted && line == next
}

// firstWord is the word that text begins with, or its first byte.
func firstWord(text string) string {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return text[:max(n, 1)]
}

// successor is what follows word when one counts: c after b, x10 after x9, ""
// where nothing does.
func successor(word string) string {
	stem := strings.TrimRight(word, "0123456789")
	if stem == word {
		if len(word) == 1 && word[0] < 0x80 {
			return string(word[0] + 1)
		}
		return ""
	}
	n, err := strconv.Atoi(word[len(stem):])
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s%0*d", stem, len(word)-len(stem), n+1)
}

// repeatedFrom is the index of the first line from which on the lines repeat
// the ones just before: the same line again, or a block of up to six lines.
// Lines that say little (braces, a lone keyword) repeat with good reason.
func repeatedFrom(lines []string) int {
	for i := 1; i < len(lines); i++ {
		for size := 1; size <= 6 && size <= i; size++ {
			if i+size > len(lines) {
				break
			}
			if sameLines(lines[i-size:i], lines[i:i+size]) {
				return i
			}
		}
	}
	return len(lines)
}

// sameLines compares both sides trimmed, and wants something said in them.
func sameLines(a, b []string) bool {
	words := 0
	for i := range a {
		x := strings.TrimSpace(a[i])
		if x != strings.TrimSpace(b[i]) {
			return false
		}
		words += wordCount(x)
	}
	return words >= 2
}

// copiesAbove: the answer is nothing but the lines just above the cursor
// again, two of them at least, or one that says a lot.
func copiesAbove(s *cursorContext, lines []string) bool {
	if s.mode == fillLine || len(lines) == 0 {
		return false
	}
	full := append([]string{s.line + lines[0]}, lines[1:]...)
	if blank(full[0]) {
		full = full[1:]
	}
	for len(full) > 0 && blank(full[len(full)-1]) {
		full = full[:len(full)-1]
	}
	above := strings.Split(strings.TrimRight(s.above, " \t\n"), "\n")
	if len(full) == 0 || len(above) < len(full) {
		return false
	}
	if len(full) == 1 && wordCount(full[0]) < 4 || !holdsName("\n"+strings.Join(full, "\n")) {
		return false // rows of numbers are alike
	}
	return sameLines(above[len(above)-len(full):], full)
}

// copiesBelow: text makes the cursor's line what the one below says already. In
// a run of equal lines, where the one above says it too, one more is wanted.
func copiesBelow(s *cursorContext, text string) bool {
	line, _, more := strings.Cut(text, "\n")
	if blank(line) {
		return false // what is added are the lines after the cursor's
	}
	line = s.line + line
	if !more {
		line += s.rest[coveredRest(s, text):]
	}
	below, said := s.firstBelow(), strings.TrimSpace(line)
	return strings.TrimRight(said, ";") == strings.TrimRight(strings.TrimSpace(below), ";") && said != strings.TrimSpace(s.lastAbove()) && holdsName(" "+said) &&
		(s.mode == fillBlock || s.indentWidth(line) == s.indentWidth(below))
}
