package toolcall

import (
	"strings"
	"unicode"
)

// Begin is where a call begins in text or, while text is still being written, may
// turn out to begin: what stands before it can be shown. It is len(text) where
// there is none. It errs on the side of holding back. It reads the text once, or twice
// where fences stand in it.
func Begin(text string) int {
	var f fences
	for i := 0; i < len(text); i++ {
		if f.begins(text, i) {
			return i
		}
	}
	return len(text)
}

// fences are the fences of a text, by where they stand, that begin no call.
type fences map[int]bool

// begins answers whether a call begins at a place of text. A fence begins one if what stands first in
// it does, which may be a fence again: what was found out of those further in is kept, since a text of
// fences alone would otherwise take twice as long with each.
func (f *fences) begins(text string, at int) bool {
	var within []int
	for !(*f)[at] {
		switch rest := text[at:]; rest[0] {
		case '<':
			if begins(rest, openTag) || begins(rest, oldTag) || begins(rest, closeTag) {
				return true
			}
		case '{', '[':
			rest = strings.TrimLeft(rest[1:], " \t\r\n[{")
			if rest == "" || rest[0] == '"' {
				return true
			}
		case '`':
			if !begins(rest, "```") {
				break
			}
			info, body, ended := strings.Cut(strings.TrimPrefix(rest, "```"), "\n")
			inner := strings.TrimSpace(body)
			if !ended || beginsJSON(info) || callFence(info) && inner == "" {
				return true
			}
			if within = append(within, at); !callFence(info) {
				break
			}
			text = strings.TrimRightFunc(text, unicode.IsSpace)
			at = len(text) - len(inner)
			continue
		}
		break
	}
	if len(within) > 0 && *f == nil {
		*f = fences{}
	}
	for _, at := range within {
		(*f)[at] = true
	}
	return false
}

// begins answers whether text begins with mark, as far as it goes.
func begins(text, mark string) bool {
	return strings.HasPrefix(text, mark[:min(len(mark), len(text))])
}
