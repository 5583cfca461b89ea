// Package visible shows characters that a reader would not see, or that would do
// something to what shows them: controls, and what Unicode has for the direction of
// text and for nothing at all. What comes from a repository, a model or a tool goes
// through it before a terminal, an editor's message or a log gets it.
package visible

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden answers whether a character is a control but newline and tab, turns the
// direction of text, or has no look of its own.
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

// Added is the first character of text that is hidden and in none of olds: who accepts
// text would not see it. What joins two letters or signs of a
// script that is written so, and a form feed, are none.
func Added(text string, olds ...string) (added rune, ok bool) {
	for i, r := range text {
		if !Hidden(r) || r == '\f' || joins(text, i, r) {
			continue
		}
		if !slices.ContainsFunc(olds, func(old string) bool { return strings.ContainsRune(old, r) }) {
			return r, true
		}
	}
	return 0, false
}

// joins is whether r, at text[i:], is a joiner, or keeps two from joining, between
// characters beyond ASCII that do show.
func joins(text string, i int, r rune) bool {
	if r != '\u200c' && r != '\u200d' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
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
		if broken := r == utf8.RuneError && n == 1; (broken || Hidden(r)) && !(r == '\r' && strings.HasPrefix(s[i+1:], "\n")) {
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
