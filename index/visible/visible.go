// Package visible shows characters that a reader would not see, or that would do
// something to what shows them: controls, and what Unicode has for the direction of
// text and for nothing at all. What comes from a repository, a model or a tool goes
// through it before a terminal, an editor's message or a log gets it.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden answers whether a character is a control but newline and tab, turns the
// direction of text, or has no look of its own, whatever stands around it.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0:
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // signs of Arabic and Syriac that do show
	}
	return unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		r >= 0xe0100 && r <= 0xe01ef // a selector stands for any byte
}

// hiddenAt is Hidden of r at text[i:], where some have a look only beside others: a
// selector changes the sign or letter before it, and an empty cell of Braille is a
// part of a drawing.
func hiddenAt(text string, i int, r rune) bool {
	if Hidden(r) || r < 0x180b || r != '\u2800' && !unicode.Is(unicode.Variation_Selector, r) {
		return Hidden(r)
	}
	before, after := around(text, i, r)
	switch {
	case r == '\u2800':
		return !isBraille(before) && !isBraille(after)
	case r == '\ufe0f' && after == '\u20e3':
		return !strings.ContainsRune("0123456789#*", before) // the sign of a key
	case before == '\u2139':
		return false // a letter that is a sign, too
	}
	return before < 0xa0 || before == '\u2800' || before == utf8.RuneError || Hidden(before) || unicode.Is(unicode.Variation_Selector, before) ||
		!unicode.In(before, unicode.S, unicode.P, unicode.Han, unicode.Mongolian, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean)
}

// isBraille is false of the empty cell: cells that are all empty draw nothing.
func isBraille(r rune) bool { return r > '\u2800' && r <= '\u28ff' }

// around are the characters before and after r, at text[i:]; of empty cells of Braille,
// those around all of them.
func around(text string, i int, r rune) (before, after rune) {
	head, tail := text[:i], text[i+utf8.RuneLen(r):]
	if r == '\u2800' {
		const far = 3 << 8 // bytes: a drawing has no wider gap
		head, tail = strings.TrimRight(head[max(0, len(head)-far):], "\u2800"), strings.TrimLeft(tail[:min(len(tail), far)], "\u2800")
	}
	before, _ = utf8.DecodeLastRuneInString(head)
	after, _ = utf8.DecodeRuneInString(tail)
	return before, after
}

// Added is Olds.Added of one text.
func Added(text string, olds ...string) (added rune, ok bool) { return In(olds...).Added(text) }

// Olds are texts that others take the place of. They are read once, and only where one of these
// has what is hidden.
type Olds struct {
	texts []string
	has   []uint64 // a bit for each character that is in texts
}

// In makes Olds.
func In(texts ...string) *Olds { return &Olds{texts: texts} }

// Added is the first character of text that is hidden and in none of the olds: who accepts
// text would not see it. What joins two letters or signs of a
// script that is written so, and a form feed, are none.
func (o *Olds) Added(text string) (added rune, ok bool) {
	for i, r := range text {
		if !hiddenAt(text, i, r) || r == '\f' || joins(text, i, r) {
			continue
		}
		if !o.contain(r) {
			return r, true
		}
	}
	return 0, false
}

func (o *Olds) contain(r rune) bool {
	if o.has == nil {
		o.has = make([]uint64, unicode.MaxRune/64+1)
		for _, text := range o.texts {
			for _, r := range text {
				o.has[r/64] |= 1 << (r % 64)
			}
		}
		o.texts = nil
	}
	return o.has[r/64]&(1<<(r%64)) != 0
}

// joins is whether r, at text[i:], is a joiner, or keeps two from joining, between
// characters beyond ASCII that do show.
func joins(text string, i int, r rune) bool {
	if r != '\u200c' && r != '\u200d' {
		return false
	}
	before, after := around(text, i, r)
	shows := func(r rune) bool { return r > 0x7f && r != utf8.RuneError && !Hidden(r) }
	return shows(before) && shows(after)
}

// Text writes what is hidden, and bytes that are no UTF-8, as a Go string has it:
// \x1b, \u202e. A line's end with a carriage return stays.
func Text(s string) string {
	return replaced(s, func(b *strings.Builder, r rune, raw byte) {
		switch {
		case r == utf8.RuneError || r < 0x80:
			fmt.Fprintf(b, `\x%02x`, raw)
		case r > 0xffff:
			fmt.Fprintf(b, `\U%08x`, r)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	})
}

// JSON writes what is hidden in a JSON document so that it decodes to the same text.
func JSON(s string) string {
	return replaced(s, func(b *strings.Builder, r rune, _ byte) {
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	})
}

// replaced calls write for each character that is hidden, and for each byte that is
// part of none.
func replaced(s string, write func(b *strings.Builder, r rune, raw byte)) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if broken := r == utf8.RuneError && n == 1; (broken || hiddenAt(s, i, r)) && !(r == '\r' && strings.HasPrefix(s[i+1:], "\n")) {
			b.WriteString(s[done:i])
			write(&b, r, s[i])
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}
