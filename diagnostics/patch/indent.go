package patch

import "strings"

// indentation turns the indentation of a hunk's lines into the document's.
type indentation struct {
	same map[string]string // as seen on lines of both
	// more and less is what all the document's lines have in front, or lack, by
	// the hunk's; one of them is "".
	more, less string
	shifted    bool
	// width is how many blanks a tab of the other side is worth, 0 if unknown.
	width int
	tabs  bool // the document has the tabs
}

func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

// indentation compares the indentation of the hunk's old lines with that of the
// document's. It is nil if one of the hunk's stands for two of the document's:
// then the hunk's lines are not the document's.
func (m *match) indentation(src *source) *indentation {
	in := &indentation{same: map[string]string{}}
	first := true
	for i, l := range m.body {
		if m.at[i] < 0 || l.blank() {
			continue
		}
		mine, theirs := indentOf(l.text), indentOf(src.lines[m.at[i]].text)
		if was, ok := in.same[mine]; ok && was != theirs {
			return nil
		}
		in.same[mine] = theirs
		more, less := shift(mine, theirs)
		if first {
			in.more, in.less, in.shifted = more, less, more+less != "" || mine == theirs
			first = false
		} else if more != in.more || less != in.less || more+less == "" && mine != theirs {
			in.shifted = false
		}
		in.learn(mine, theirs)
	}
	return in
}

// shift is what theirs has in front of mine, or mine of theirs.
func shift(mine, theirs string) (more, less string) {
	if more, ok := strings.CutSuffix(theirs, mine); ok {
		return more, ""
	}
	if less, ok := strings.CutSuffix(mine, theirs); ok {
		return "", less
	}
	return "", ""
}

// mostWidth is how many blanks a tab or a step of them may be worth. A line that stands a thousand
// blanks in says nothing of steps, and each tab of what is added would be as long.
const mostWidth = 32

// learn finds what a tab is worth.
func (in *indentation) learn(mine, theirs string) {
	tabs := func(s string) int { return strings.Count(s, "\t") }
	width, isTabs := 0, true
	switch {
	case tabs(theirs) > 0 && tabs(mine) == 0 && mine != "":
		width = len(mine) / tabs(theirs)
	case tabs(mine) > 0 && tabs(theirs) == 0 && theirs != "":
		width, isTabs = len(theirs)/tabs(mine), false
	default:
		return
	}
	if width <= mostWidth {
		in.width, in.tabs = width, isTabs
	}
}

// apply is an added line with the document's indentation.
func (in *indentation) apply(s string) string {
	mine := indentOf(s)
	rest := s[len(mine):]
	if theirs, ok := in.same[mine]; ok {
		return theirs + rest
	}
	if in.shifted {
		if less, ok := strings.CutPrefix(mine, in.less); ok {
			return in.more + less + rest
		}
	}
	if in.width > 0 {
		return retab(mine, in.width, in.tabs) + rest
	}
	return s
}

func retab(indent string, width int, tabs bool) string {
	if !tabs {
		return strings.ReplaceAll(indent, "\t", strings.Repeat(" ", width))
	}
	blanks := len(strings.ReplaceAll(indent, "\t", strings.Repeat(" ", width)))
	return strings.Repeat("\t", blanks/width) + strings.Repeat(" ", blanks%width)
}

// habit is how a document indents: with tabs, or with so many blanks.
type habit struct {
	tabs, blanks int // lines that begin so
	width        int // the smallest step of blanks
}

func habitOf(lines []string) habit {
	h := habit{}
	for _, l := range lines {
		indent := indentOf(l)
		if len(indent) == len(l) {
			continue
		}
		switch {
		case strings.HasPrefix(indent, "\t"):
			h.tabs++
		case len(indent) > 1: // one blank is a comment's star, not a step
			h.blanks++
			if h.width == 0 || len(indent) < h.width {
				h.width = len(indent)
			}
		}
	}
	return h
}

// adapt gives added lines the document's kind of indentation where all of it is
// of the one kind and all of theirs of the other.
func (h habit) adapt(added []string) []string {
	theirs := habitOf(added)
	var width int
	switch {
	case h.tabs > 0 && h.blanks == 0 && theirs.blanks > 0 && theirs.tabs == 0:
		width = theirs.width
	case h.blanks > 0 && h.tabs == 0 && theirs.tabs > 0 && theirs.blanks == 0:
		width = h.width
	default:
		return added
	}
	if width > mostWidth {
		return added
	}
	out := make([]string, len(added))
	for i, l := range added {
		indent := indentOf(l)
		out[i] = retab(indent, width, h.tabs > 0) + l[len(indent):]
	}
	return out
}
