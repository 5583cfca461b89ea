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
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point) ||
		r == '\ufffc' || r == '\U0001d159' || // the place of an object, and a note without a head
		r >= 0xe0100 && r <= 0xe01ef // a selector stands for any byte
}

// hiddenAt is Hidden of r at text[i:], where some have a look only beside others: a
// selector changes the sign or letter before it, and an empty cell of Braille is a
// part of a drawing.
func hiddenAt(text string, i int, r rune) bool {
	if Hidden(r) || r < 0x180b || r != '\u2800' && filled[r] == nil && !unicode.Is(unicode.Variation_Selector, r) {
		return Hidden(r)
	}
	before, after := around(text, i, r)
	if script := filled[r]; script != nil {
		return !unicode.Is(script, before)
	}
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
func Added(before, text, after string, olds ...string) (added rune, ok bool) {
	return In(olds...).Added(before, text, after)
}

// Olds are texts that others take the place of. They are read once, and only where one of these
// has what is hidden.
type Olds struct {
	texts []string
	has   []uint64 // a bit for each character that is in texts
}

// In makes Olds.
func In(texts ...string) *Olds { return &Olds{texts: texts} }

// Added is the first character of text that is hidden and in none of the olds: who accepts
// text would not see it. What is ordinary where it stands, between what is before text and
// after it, is none.
func (o *Olds) Added(before, text, after string) (added rune, ok bool) {
	const far = 64 // bytes, more than what decides on a character
	cut := len(before) - min(len(before), far)
	for cut < len(before) && !utf8.RuneStart(before[cut]) {
		cut++
	}
	head := before[cut:]
	whole := head + text + after[:min(len(after), far)]
	for i, r := range text {
		if at := len(head) + i; hiddenAt(whole, at, r) && !ordinary(whole, at, r) && !o.contain(r) {
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

// filled are signs without a look of their own that stand within words and numbers of one script.
var filled = map[rune]*unicode.RangeTable{'\U00016fe4': unicode.Khitan_Small_Script, '\U0001107f': unicode.Brahmi}

// cursive are the scripts whose letters join or stack, so that texts say where they do, or do not.
var cursive = []*unicode.RangeTable{
	unicode.Adlam, unicode.Arabic, unicode.Balinese, unicode.Bengali, unicode.Chakma, unicode.Devanagari, unicode.Grantha, unicode.Gujarati, unicode.Gurmukhi,
	unicode.Hanifi_Rohingya, unicode.Javanese, unicode.Kaithi, unicode.Kannada, unicode.Khmer, unicode.Khojki, unicode.Malayalam, unicode.Mandaic, unicode.Manichaean,
	unicode.Meetei_Mayek, unicode.Modi, unicode.Mongolian, unicode.Myanmar, unicode.Newa, unicode.Nko, unicode.Oriya, unicode.Phags_Pa, unicode.Saurashtra,
	unicode.Sharada, unicode.Sinhala, unicode.Sundanese, unicode.Syriac, unicode.Tai_Tham, unicode.Tamil, unicode.Telugu, unicode.Tibetan, unicode.Tirhuta,
}

// unspaced are the scripts that write no blanks, so that texts say where a line may end.
var unspaced = []*unicode.RangeTable{unicode.Balinese, unicode.Javanese, unicode.Khmer, unicode.Lao, unicode.Myanmar, unicode.Tai_Tham, unicode.Thai}

// ordinary answers whether r, hidden at text[i:], is what texts of its script have there:
// what joins letters or signs and keeps them from joining, where a line may end, the form of
// a letter, the tags of a flag. A form feed is one alone in its line.
func ordinary(text string, i int, r rune) bool {
	before, after := around(text, i, r)
	switch {
	case r == '\f':
		rest := text[i+1:]
		return (i == 0 || before == '\n') && (rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n"))
	case r == '\u200b':
		return unicode.In(before, unspaced...) && unicode.In(after, unspaced...)
	case r == '\u200d' && (before == '\ufe0f' || isSign(before)):
		return isSign(after) // emoji
	case r == '\u200d': // also at a word's end
		return unicode.In(letterOf(text[:i]), cursive...)
	case r == '\u200c': // also between a word of another script and its ending
		shows := unicode.In(before, unicode.L, unicode.M, unicode.N) && unicode.In(after, unicode.L, unicode.M, unicode.N) && !Hidden(before) && !Hidden(after)
		return shows && (unicode.In(letterOf(text[:i]), cursive...) || unicode.In(after, cursive...))
	case r == '\u180e':
		return unicode.Is(unicode.Mongolian, before) && unicode.Is(unicode.Mongolian, after)
	case r >= 0x13430 && r <= 0x1343f:
		return unicode.Is(unicode.Egyptian_Hieroglyphs, before)
	case r >= 0xe0020 && r <= 0xe007f:
		return isFlag(text, i)
	case r >= 0xe0100 && r <= 0xe01ef:
		return unicode.Is(unicode.Han, before) // as names are written
	}
	return false
}

func isSign(r rune) bool {
	return r > 0xa0 && r != utf8.RuneError && !Hidden(r) && unicode.Is(unicode.S, r)
}

// letterOf is the letter that a text ends with, whatever marks stand on it.
func letterOf(text string) rune {
	for {
		r, n := utf8.DecodeLastRuneInString(text)
		if n == 0 || !unicode.Is(unicode.Inherited, r) || Hidden(r) {
			return r
		}
		text = text[:len(text)-n]
	}
}

// flags are those that are written with tags behind a black flag: of England, Scotland and Wales.
var flags = []string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

func tagged(letters string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, letters) + "\U000e007f"
}

// isFlag answers whether the tag at text[i:] is one of a flag's.
func isFlag(text string, i int) bool {
	const black = "\U0001f3f4"
	const longest = len(black) + 6*4 // bytes, up to its last tag
	from := max(0, i-longest)
	start := strings.LastIndex(text[from:i], black)
	if start < 0 {
		return false
	}
	start += from + len(black)
	return slices.ContainsFunc(flags, func(flag string) bool { return i < start+len(flag) && strings.HasPrefix(text[start:], flag) })
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
