package eval

import (
	"regexp"
	"strings"
)

// firstWord is a line up to the end of its first word.
var firstWord = regexp.MustCompile(`^[^\w\n]*\w+`)

// A Verdict judges what a hole was filled with.
type Verdict struct {
	// Line: all that is shown has the tokens that it had, at least the cursor's line, for
	// a body all of its lines, indented as they were. At a line's end nothing shown is
	// right. Word: up to the end of its first word behind the cursor, where the cursor
	// stands inside a word that word, it has.
	Line bool `json:"line"`
	Word bool `json:"word"`
	// Right is how many lines with text are right before the first wrong one, Wrong how
	// many are shown from there on.
	Right int `json:"right_lines"`
	Wrong int `json:"wrong_lines"`
	// Similar is 1 - edit distance / length of the line, for a body of all of it, 0
	// where nothing is shown.
	Similar float64 `json:"similar"`
	// Repeats: some of what is typed is written again.
	Repeats bool `json:"repeats,omitempty"`
	Shown   bool `json:"shown"`
}

// Judge compares got, what stands behind the cursor with the closers that are
// left of the editor's, with what was taken out.
func (h *TypedHole) Judge(got string) Verdict {
	v := Verdict{Shown: strings.TrimSpace(got) != ""}
	if !v.Shown {
		if h.Kind == AtLineEnd {
			v.Line, v.Word, v.Similar = true, true, 1
		}
		return v
	}
	want, is := h.lines(h.Want), h.lines(got)
	n := 0
	for n < len(want) && n < len(is) && h.sameLine(n, want[n], is[n]) {
		n++
	}
	v.Right = len(fullLines(strings.Join(is[:n], "\n")))
	v.Wrong = len(fullLines(strings.Join(is[n:], "\n")))
	v.Line = n == len(is) && (h.Kind != AtBody || n == len(want))
	v.Word = same(h.Typed+firstWord.FindString(want[0]), h.Typed+firstWord.FindString(is[0]))
	if h.Kind == AtLineEnd {
		v.Word = n > 0
	}
	if h.Kind == AtBody {
		v.Similar = similarity(spaced(got), spaced(h.Want))
	} else {
		v.Similar = similarity(spaced(is[0]), spaced(want[0]))
	}
	v.Repeats = repeats(h.Typed, got, h.Want)
	return v
}

// lines are those that are judged: the cursor's and those with text behind it, for a body
// all with text.
func (h *TypedHole) lines(text string) []string {
	first, rest, _ := strings.Cut(text, "\n")
	if h.Kind == AtBody && strings.TrimSpace(first) == "" {
		return fullLines(rest)
	}
	return append([]string{strings.TrimRight(first, " \t")}, fullLines(rest)...)
}

// sameLine compares the line n of those shown. The indentation of the cursor's own line is
// typed already.
func (h *TypedHole) sameLine(n int, want, is string) bool {
	if n == 0 && !strings.HasPrefix(h.Want, "\n") {
		return same(h.Typed+want, h.Typed+is)
	}
	return same(want, is) && (n == 0 && h.Kind != AtBody || leadingBlanks(want) == leadingBlanks(is))
}

// inBody is what of an answer as it comes stands inside the body that is wanted: the lines
// to the first one that is indented less, at most as many as quarry shows. ended is true
// where such a line, or one more, has begun.
func (h *TypedHole) inBody(raw string) (body string, ended bool) {
	base := leadingBlanks(h.Typed)
	if strings.HasPrefix(h.Want, "\n") {
		base = leadingBlanks(strings.TrimLeft(h.Want, "\n"))
	}
	at, shown := 0, 0
	for line := range strings.SplitAfterSeq(raw, "\n") {
		if full := strings.TrimSpace(line) != ""; full {
			if at > 0 && len(leadingBlanks(line)) < len(base) || shown == maxBodyShown {
				return strings.TrimRight(raw[:at], " \t\n"), true
			}
			shown++
		}
		at += len(line)
	}
	return raw, false
}

// maxBodyShown is as completion.Options.MaxLines is while typing.
const maxBodyShown = 12

// repeats reports whether got writes some of what is typed again that is not wanted again.
// The end of what is typed is written again where that is all that is wrong with an answer
// (resu|ult, ge|get_user), or where a word, a run of signs or more of the line from the
// start of one is: await |await foo(), // |// Add. A further line must not begin with the
// line that is typed.
func repeats(typed, got, want string) bool {
	line := strings.TrimSpace(typed)
	if line == "" {
		return false
	}
	got, want = strings.TrimLeft(got, " \t"), strings.TrimLeft(want, " \t")
	wanted := firstWord.FindString(want)
	for k := 1; k <= len(line); k++ {
		end, rest := line[len(line)-k:], ""
		if end[0] == ' ' || end[0] == '\t' {
			continue
		}
		ok := false
		if rest, ok = strings.CutPrefix(got, end); !ok || strings.HasPrefix(want, end) {
			continue
		}
		// All but what is repeated is what was wanted.
		if wanted != "" && firstWord.FindString(strings.TrimLeft(rest, " \t")) == wanted {
			return true
		}
		at := len(line) - k
		begins := at == 0 || !inWord(line[at]) && (line[at-1] != line[at]) || inWord(line[at]) && !inWord(line[at-1])
		// A bracket or a quote alone may well come again, and so may a letter.
		if !begins || k == 1 && (line[at] != '#' && typed[len(typed)-1] != ' ' || strings.ContainsRune("()[]{}<>\"'`", rune(line[at])) || inWord(line[at])) {
			continue
		}
		if blankBehind := len(strings.TrimRight(typed, " \t")) < len(typed); blankBehind && rest != "" && inWord(end[k-1]) && inWord(rest[0]) {
			continue // in |int
		}
		return true
	}
	_, further, _ := strings.Cut(got, "\n")
	_, wantedFurther, _ := strings.Cut(want, "\n")
	return len(line) >= 3 && beginsLine(further, line) && !beginsLine(wantedFurther, line)
}

// beginsLine reports whether a line of text begins with start.
func beginsLine(text, start string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), start) {
			return true
		}
	}
	return false
}
