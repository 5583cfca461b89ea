package completion

import (
	"strings"
	"unicode/utf8"
)

// limits are the shares of a prompt, in raw tokens (see rawTokens). prefix
// includes the typed part.
type limits struct {
	prefix, suffix, snippets int
}

// typedBytes is how much may stand in the typed part. No byte makes more than
// one token, so it always fits.
func (l limits) typedBytes() int { return min(maxTypedBytes, l.prefix) }

func (l limits) half() limits { return limits{l.prefix / 2, l.suffix / 2, l.snippets / 2} }

// frame is the part of a document's prompt that stays put between keystrokes.
//
//	start          anchor      cursor
//	|....prefix.....|...typed...|....suffix....|
//
// While the person types, start and anchor stand still and what they type
// grows after the middle tag, several lines of it if need be; so a backend that
// keeps the longest common prefix of its last prompt computes the new tokens
// only. start moves in jumps of a quarter of the budget, to a line's start.
type frame struct {
	text                  string
	start, anchor, cursor int
	limits                limits
	// head is the repository context and style header, frozen with the frame.
	head     string
	snippets []Snippet
}

// The typed part moves into the prefix when it grows past these: the model
// was trained on middles of a few lines.
const (
	maxTypedBytes = 600
	maxTypedLines = 8
)

// advance answers the frame for a later text and cursor.
func (f frame) advance(text string, cursor int) frame {
	e := diff(f.text, text)
	next := f
	next.text, next.cursor = text, cursor
	sameSuffix := e.newEnd <= cursor && len(text)-cursor == len(f.text)-f.cursor
	switch {
	case e.start >= f.anchor:
	case e.oldEnd <= f.start:
		next.start, next.anchor = e.shift(f.start), e.shift(f.anchor)
	case e.start >= f.start:
		next.anchor = -1
	default:
		next.start, next.anchor = -1, -1
	}
	if next.anchor < 0 || !sameSuffix || next.anchor > cursor || cursor-next.anchor > f.limits.typedBytes() ||
		strings.Count(text[next.anchor:cursor], "\n") > maxTypedLines {
		next.anchor = lineAnchor(text, cursor, f.limits.typedBytes())
	}
	next.settleStart()
	return next
}

// moved is the number of bytes the cursor went from f to next, beyond what was
// typed, in either direction.
func (f *frame) moved(next *frame) int {
	moved := next.cursor - diff(f.text, next.text).shift(f.cursor)
	return max(moved, -moved)
}

// newFrame is the frame of a document seen for the first time.
func newFrame(text string, cursor int, l limits) frame {
	f := frame{text: text, cursor: cursor, limits: l, start: -1, anchor: lineAnchor(text, cursor, l.typedBytes())}
	f.settleStart()
	return f
}

// settleStart moves start if the prefix outgrew its budget or shrank to a
// small part of it, and else leaves it.
func (f *frame) settleStart() {
	if f.start >= 0 && f.start <= f.anchor {
		used := rawTokens(f.text[f.start:f.cursor])
		if used <= f.limits.prefix && (f.start == 0 || used >= f.limits.prefix/4) {
			return
		}
	}
	typed := rawTokens(f.text[f.anchor:f.cursor])
	f.start = windowStart(f.text, f.anchor, f.limits.prefix*3/4-typed)
}

// windowStart is the earliest line start (within a very long line, rune start)
// from which text up to end is at most budget raw tokens.
func windowStart(text string, end, budget int) int {
	start, used := end, 0
	for start > 0 {
		line := strings.LastIndexByte(text[:start-1], '\n') + 1
		used += rawTokens(text[line:start])
		if used > budget {
			if start == end { // the one line before end is too long by itself
				return runeStart(text, max(line, end-max(budget, 0)))
			}
			return start
		}
		start = line
	}
	return 0
}

// lineAnchor is the start of the cursor's line. In a very long line it is a
// multiple of half of most bytes after that, so that it too moves in steps.
func lineAnchor(text string, cursor, most int) int {
	start := lineStart(text, cursor)
	if over := cursor - start - most; over > 0 {
		step := max(most/2, 1)
		start = runeStart(text, min(start+(over/step+1)*step, cursor))
	}
	return start
}

// suffixOf is the text after the cursor within the budget, whole lines where
// more than one fits. It depends on nothing before the cursor.
func suffixOf(text string, cursor, budget int) string {
	end, used := cursor, 0
	for budget > 0 && end < len(text) {
		next := len(text)
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			next = end + i + 1
		}
		if next-end > 16*budget { // far over, and too long to measure whole
			next = runeStart(text, end+16*budget)
		}
		cost := rawTokens(text[end:next])
		if used+cost > budget {
			if end == cursor { // not even the rest of this line fits
				end = runeStart(text, min(next, cursor+2*budget))
				for rawTokens(text[cursor:end]) > budget {
					end = runeStart(text, cursor+(end-cursor)*3/4)
				}
			}
			break
		}
		used += cost
		end = next
	}
	return text[cursor:end]
}

// runeStart is the last rune boundary at or before i.
func runeStart(s string, i int) int {
	for back := 0; i > 0 && i < len(s) && !utf8.RuneStart(s[i]) && back < utf8.UTFMax; back++ {
		i--
	}
	return i
}

// lineStart and lineEnd are the bounds of the line at offset at: after the last
// line break before it, and before the next one. A line ends at \n, \r\n or \r.
func lineStart(text string, at int) int {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	return start + strings.LastIndexByte(text[start:at], '\r') + 1
}

func lineEnd(text string, at int) int {
	end := len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	if i := strings.IndexByte(text[at:end], '\r'); i >= 0 {
		end = at + i
	}
	return end
}

// edit is the smallest replacement that makes one text of another.
type edit struct{ start, oldEnd, newEnd int }

// shift moves an offset of the old text to the new one; offsets inside the
// replaced part go to its end.
func (e edit) shift(at int) int {
	switch {
	case at < e.start:
		return at
	case at < e.oldEnd:
		return e.newEnd
	default:
		return at + e.newEnd - e.oldEnd
	}
}

func diff(before, after string) edit {
	p := commonPrefix(before, after)
	s := commonSuffix(before[p:], after[p:])
	return edit{p, len(before) - s, len(after) - s}
}

// block is what the two scans compare at once: equality of long strings is one
// vectorised comparison, byte by byte it is 20 times slower.
const block = 512

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[i:i+block] == b[i:i+block] {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[len(a)-i-block:len(a)-i] == b[len(b)-i-block:len(b)-i] {
		i += block
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
