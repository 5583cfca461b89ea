package patch

import "strings"

// line is one line of a document: its text without the ending, and the ending.
type line struct {
	text string
	eol  string // "\n", "\r\n", or "" for a last line without one
}

// source is a document cut into lines. Lines end where the tools and the diffs
// end them: at a line feed.
type source struct {
	lines  []line
	starts []int // byte offset of each line, and the text's length at the end
	bom    int   // length of a byte order mark at the beginning
}

const byteOrderMark = "\uFEFF"

func cut(text string) *source {
	s := &source{}
	if strings.HasPrefix(text, byteOrderMark) {
		s.bom = len(byteOrderMark)
	}
	for at := s.bom; at < len(text); {
		s.starts = append(s.starts, at)
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			s.lines = append(s.lines, line{text: text[at:]})
			break
		}
		l := line{text[at : at+end], "\n"}
		if strings.HasSuffix(l.text, "\r") {
			l = line{l.text[:end-1], "\r\n"}
		}
		s.lines = append(s.lines, l)
		at += end + 1
	}
	s.starts = append(s.starts, len(text))
	return s
}

// ended says whether the last line has an ending; an empty text is to end in
// one.
func (s *source) ended() bool {
	return len(s.lines) == 0 || s.lines[len(s.lines)-1].eol != ""
}

// eolNear is the line ending for text that takes the place of lines from..to:
// theirs, else that of the line above, else that of the one below.
func (s *source) eolNear(from, to int) string {
	for _, i := range []int{from, from - 1, to} {
		if i >= 0 && i < len(s.lines) && s.lines[i].eol != "" {
			return s.lines[i].eol
		}
	}
	return "\n"
}
