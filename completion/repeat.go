package completion

import "strings"

// dropRepetition cuts an answer where it starts to repeat itself or what
// stands above, the way small models fail.
func dropRepetition(s *site, text string) string {
	text = cutLoop(text)
	lines := strings.Split(text, "\n")
	if n := repeatedFrom(lines); n < len(lines) {
		lines = lines[:n]
		text = strings.Join(lines, "\n")
	}
	if copiesAbove(s, lines) {
		return ""
	}
	return text
}

// cutLoop ends a line at the first of at least eight repetitions of a few
// signs at its end, if there is a letter among them or it goes on for long.
func cutLoop(text string) string {
	const most = 24 // longest repeated piece
	for size := 1; size <= most && size*8 <= len(text); size++ {
		end := len(text)
		piece := text[end-size:]
		if blank(piece) || strings.Contains(piece, "\n") {
			continue
		}
		n := 1
		for end-(n+1)*size >= 0 && text[end-(n+1)*size:end-n*size] == piece {
			n++
		}
		if n >= 8 && (wordCount(piece) > 0 || n*size >= 80) {
			return text[:end-(n-1)*size]
		}
	}
	return text
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
func copiesAbove(s *site, lines []string) bool {
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
	if len(full) == 1 && wordCount(full[0]) < 4 {
		return false
	}
	return sameLines(above[len(above)-len(full):], full)
}
