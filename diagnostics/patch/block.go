package patch

import (
	"regexp"
	"strings"
)

// Small models that miscount the markers of a diff can copy lines: a block has the lines
// to be searched for and what takes their place. It is read as a hunk whose first and
// last lines are context as far as both sides have them, and placed like one.

var (
	searchLine  = regexp.MustCompile(`^<{5,9} ?(?:SEARCH|ORIGINAL|OLD)\s*$`)
	middleLine  = regexp.MustCompile(`^={5,9}\s*$`)
	replaceLine = regexp.MustCompile(`^>{5,9} ?(?:REPLACE|UPDATED|NEW)?\s*$`)
)

// blocks finds the search and replace blocks of an answer; there are no files if it has
// none.
func blocks(text string) ([]*fileDiff, *Refusal) {
	r := &reader{}
	lines := strings.Split(strings.ReplaceAll(unescaped(text), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if !searchLine.MatchString(lines[i]) {
			continue
		}
		if named := nameBefore(lines[:i]); named != "" || r.file == nil {
			r.startFile(name{}, cleanName(named))
		}
		middle := following(lines, i+1, middleLine)
		end := following(lines, middle+1, replaceLine)
		if end == len(lines) {
			return nil, refuse(Incomplete, "a block breaks off; write <<<<<<< SEARCH, the lines as they are, =======, the lines as they are to be, >>>>>>> REPLACE")
		}
		r.file.hunks = append(r.file.hunks, blockHunk(lines[i+1:middle], lines[middle+1:end]))
		i = end
	}
	return merged(r.files), nil
}

// following is the index of the next line of a form, or the number of lines.
func following(lines []string, from int, form *regexp.Regexp) int {
	for i := from; i < len(lines); i++ {
		if form.MatchString(lines[i]) {
			return i
		}
	}
	return len(lines)
}

func blockHunk(old, new []string) *hunk {
	shorter := min(len(old), len(new))
	first, last := 0, 0
	for first < shorter && old[first] == new[first] {
		first++
	}
	for last < shorter-first && old[len(old)-1-last] == new[len(new)-1-last] {
		last++
	}
	h := &hunk{}
	add := func(op byte, lines []string) {
		for _, l := range lines {
			h.add(bodyLine{op: op, text: l})
		}
	}
	add(' ', old[:first])
	add('-', old[first:len(old)-last])
	add('+', new[first:len(new)-last])
	add(' ', old[len(old)-last:])
	return h
}
