package completions

import "strings"

// CursorContext is where code is wanted: the text before the cursor and the text after it, as
// much of both as the client sends.
type CursorContext struct{ Prefix, Suffix string }

const (
	// maxTyped is how much longer or shorter a text may be than the place says: what
	// was typed or deleted since the editor last told of it.
	maxTyped = 4096
	// leastAnchor is how much of a place must be in a text that has moved on, blanks
	// aside, for it to be that place.
	leastAnchor = 24
	// maxHead is how many lines of a client's own may stand before the text: minuet-ai.nvim
	// says the language and the indentation there, as comments.
	maxHead = 2
)

// In finds the place in text, and returns the text with what the place says and the
// offset of the cursor in it. The place may be newer than text, since an editor asks
// for a completion while it still tells of the keystroke: then the last lines before
// the cursor and the first after it are the place's.
func (p CursorContext) In(text string) (now string, offset int, ok bool) {
	if !strings.Contains(p.Prefix+p.Suffix, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n") // an editor that keeps files so asks so
	}
	for n := 0; ; n++ {
		if now, offset, ok := p.within(text); ok || n == maxHead {
			return now, offset, ok
		}
		_, rest, more := strings.Cut(p.Prefix, "\n")
		if p.Prefix = rest; !more || len(strings.TrimSpace(p.Prefix+p.Suffix)) < leastAnchor {
			return "", 0, false
		}
	}
}

// within is In of exactly this place.
func (p CursorContext) within(text string) (now string, offset int, ok bool) {
	if at := strings.Index(text, p.Prefix+p.Suffix); at >= 0 && p.Prefix+p.Suffix != "" {
		return text, at + len(p.Prefix), true
	}
	head := p.Prefix
	for range 3 {
		head = head[:strings.LastIndexByte(strings.TrimSuffix(head, "\n"), '\n')+1]
		tail := p.Suffix
		for range 2 {
			if now, offset, ok := p.between(head, tail, text); ok {
				return now, offset, true
			}
			newline := strings.IndexByte(tail, '\n')
			if newline < 0 {
				break
			}
			tail = tail[newline:]
			if tail == p.Suffix { // it begins with the line end
				tail = tail[1:]
			}
		}
	}
	return "", 0, false
}

// between writes the place over what text has between head and tail.
func (p CursorContext) between(head, tail, text string) (now string, offset int, ok bool) {
	if len(strings.TrimSpace(head))+len(strings.TrimSpace(tail)) < leastAnchor {
		return "", 0, false
	}
	start := strings.Index(text, head)
	if start < 0 {
		return "", 0, false
	}
	gap := strings.Index(text[start+len(head):], tail)
	if tail == "" {
		gap = len(text) - start - len(head)
	}
	if gap < 0 || gap > maxTyped {
		return "", 0, false
	}
	end := start + len(head) + gap + len(tail)
	return text[:start] + p.Prefix + p.Suffix + text[end:], start + len(p.Prefix), true
}

// Clue is the longest line of the place, to look for it by.
func (p CursorContext) Clue() string {
	clue := ""
	for line := range strings.Lines(p.Prefix + p.Suffix) {
		for _, part := range strings.Split(strings.TrimSpace(line), `"`) { // a quoted query ends there
			if len(part) > len(clue) {
				clue = part
			}
		}
	}
	return clue
}
