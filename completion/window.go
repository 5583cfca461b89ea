package completion

import (
	"strings"
	"unicode/utf8"
)

// limits are the shares of a prompt, in raw tokens (see rawTokens).
type limits struct {
	prefix, suffix, snippets int
}

func (l limits) half() limits { return limits{l.prefix / 2, l.suffix / 2, l.snippets / 2} }

// promptWindow is the part of a document that its prompt shows.
//
//	      start           cursor
//	|.lead.|.....prefix.....|....suffix....|
//
// While the user types, start stands still and the prefix grows at its end: a
// backend that keeps the longest common prefix of its last prompt reads what was
// typed and the short suffix, and nothing else again. start moves in jumps of a
// quarter of the budget, to a line's start.
//
// What was typed stands where the model was trained to have it, before the
// cursor. Behind the middle tag it would cost nothing to read, and was there
// until it was measured: models take half a word there for a whole one
// (bench/completion.md).
type promptWindow struct {
	text          string
	start, cursor int
	// lead is what stands for the text before start (lead.go), frozen with it.
	lead   string
	limits limits
	// head is the repository context and style header, frozen with the window.
	head     string
	snippets []Snippet
	// open are the documents that were open when the head was made, versions those of the
	// other files that it has code of, and masked how much was masked in the document.
	open     []Document
	versions map[fileKey]int64
	masked   int
}

// versioned is a ContextSource that tells the versions of files apart; ok is false of a
// file that may not stand in a prompt now.
type versioned interface {
	Version(root, path string) (version int64, ok bool)
}

// freeze makes the head of the snippets.
func (f *promptWindow) freeze(req Request, indent string, found ContextSource) {
	if f.masked != masked(req.Text) {
		f.masked, f.lead = masked(req.Text), leadOf(f.text, f.start, f.limits.prefix/8)
	}
	f.head, f.open = buildHead(req.Document, indent, f.snippets), req.Open
	f.versions = map[fileKey]int64{}
	if index, ok := found.(versioned); ok {
		for _, s := range f.snippets {
			f.versions[s.file()], _ = index.Version(s.Root, s.Path)
		}
	}
}

// masked is how much of a document's text is masked, about: a run of such letters that the
// user wrote does no harm.
func masked(text string) int { return strings.Count(text, "xxxx") }

// outdated answers whether a file that the frozen parts have code of was changed or closed
// since, or nobody may see it any more, or more of the document itself is masked. What is
// wrong with frozen parts is at most a detour for the model, but for one thing: that code
// may be known for a secret, or be excluded, by now.
func (f *promptWindow) outdated(req Request, found ContextSource) bool {
	if f.masked != masked(req.Text) {
		return true
	}
	index, listed := found.(versioned)
	of := func(open []Document, s Snippet) (text string, ok bool) {
		for i := range open {
			if open[i].key() == s.file() {
				return open[i].Text, true
			}
		}
		return "", false
	}
	for _, s := range f.snippets {
		if s.file() == req.key() {
			continue
		}
		was, wasOpen := of(f.open, s)
		is, isOpen := of(req.Open, s)
		if wasOpen && (!isOpen || was != is) {
			return true
		}
		if !isOpen && listed {
			if now, ok := index.Version(s.Root, s.Path); !ok || now != f.versions[s.file()] {
				return true
			}
		}
	}
	return false
}

// advance answers the window for a later text and cursor.
func (f promptWindow) advance(text string, cursor int) promptWindow {
	e := diff(f.text, text)
	next := f
	next.text, next.cursor = text, cursor
	switch {
	case e.oldEnd <= f.start:
		next.start = e.shift(f.start)
	case e.start < f.start:
		next.start = -1
	}
	next.settleStart()
	return next
}

// moved is the number of bytes the cursor went from f to next, beyond what was
// typed, in either direction.
func (f *promptWindow) moved(next *promptWindow) int {
	moved := next.cursor - diff(f.text, next.text).shift(f.cursor)
	return max(moved, -moved)
}

// newPromptWindow is the window of a document seen for the first time.
func newPromptWindow(text string, cursor int, l limits) promptWindow {
	f := promptWindow{text: text, cursor: cursor, limits: l, start: -1}
	f.settleStart()
	return f
}

// settleStart moves start if the prefix outgrew its budget, or if it shrank to a
// small part of it and there is more to show, and else leaves it.
func (f *promptWindow) settleStart() {
	fits := false
	if f.start >= 0 && f.start <= f.cursor {
		used := rawTokens(f.lead) + rawTokens(f.text[f.start:f.cursor])
		fits = used <= f.limits.prefix
		if fits && (f.start == 0 || used >= f.limits.prefix/4) {
			return
		}
	}
	if start := f.roomyStart(); !fits || start < f.start {
		f.start = start
		f.lead = leadOf(f.text, start, f.limits.prefix/8)
	}
}

// roomyStart is a start that leaves a quarter of the budget for what will be
// typed.
func (f *promptWindow) roomyStart() int {
	room, line := f.limits.prefix*3/4, lineStart(f.text, f.cursor)
	if typed := rawTokens(f.text[line:f.cursor]); typed <= room {
		return atDeclaration(f.text, windowStart(f.text, line, room-typed), line, f.limits.prefix/8)
	}
	return runeStart(f.text, f.cursor-room) // no byte makes more than one token
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

// atDeclaration is a line start at or after start, and at most give raw tokens and
// before end, behind a blank line and indented as little as possible: a window
// that begins in the middle of a list of parameters or of a comment reads badly.
func atDeclaration(text string, start, end, give int) int {
	best, least := start, 1<<30
	if start == 0 {
		return 0
	}
	behindBlank := false
	for at := start; at < end && give > 0; {
		line := text[at : at+strings.IndexByte(text[at:end]+"\n", '\n')]
		switch {
		case blank(line):
			behindBlank = true
		case behindBlank && len(leadingSpace(line)) < least:
			best, least = at, len(leadingSpace(line))
			fallthrough
		default:
			behindBlank = false
		}
		give -= rawTokens(line) + 1
		at += len(line) + 1
	}
	return best
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

// followingTokens is how much of what follows the suffix stands in the head. A
// suffix is short, since every request reads it again; the head is read once.
const followingTokens = 320

// following says why such lines stand there.
const following = "what follows in this file"

// following are the bounds of the lines behind the suffix that stand in the head.
func (f *promptWindow) following() (part struct{ start, end int }) {
	part.start = f.cursor + len(suffixOf(f.text, f.cursor, f.limits.suffix))
	part.end = part.start + len(suffixOf(f.text, part.start, min(followingTokens, f.limits.snippets/2)))
	return part
}

// withFollowing puts the document's lines behind the suffix before the snippets
// found: names that a line needs stand there more often than in any other place.
func (f *promptWindow) withFollowing(doc Document, found []Snippet) []Snippet {
	part := f.following()
	text := f.text[part.start:part.end]
	if blank(text) {
		return found
	}
	first := 1 + strings.Count(f.text[:part.start], "\n")
	return append([]Snippet{{
		Root: doc.Root, Path: doc.Path, StartLine: first, EndLine: first + strings.Count(strings.TrimSuffix(text, "\n"), "\n"),
		Text: strings.TrimRight(unixLines(text), "\n"), Why: following,
	}}, found...)
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
