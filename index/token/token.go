// Package token cuts code and prose into the terms of the lexical index. The
// index and the query go through the same analyzer, which is what makes a
// question in plain words meet an identifier:
//
//	"HTTPServer.listenAll(routes)"  ->  httpserver http server listenall listen all rout
//
// An identifier of several words yields itself, lower-cased and unstemmed, unless it
// is very long, and then the stem of each of its words; a single word yields its stem
// alone.
// Words are cut at underscores and hyphens, at changes of case and between
// letters and digits. Stop words are kept: dropping them is the query's
// business, since "with" is noise in a question and a name in code.
package token

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word that is analysed, in bytes, and the longest
// identifier that is a term itself. Longer words are data (base64, hashes, minified
// code), never searched for; the literal signal still finds them.
const maxWord = 64

// Of a longer run of word characters the words are analysed if it is an identifier:
// the names of tests are sentences. Its words have meanWord bytes on average, with
// separators; those of base64, base32 and hexadecimal, cut where an identifier would
// be, have 2 to 3.
const (
	maxRun   = 256
	meanWord = 4
)

// An Analyzer cuts text into terms. It holds scratch buffers: the zero value is
// ready, it is not safe for concurrent use, and reusing one saves allocations.
type Analyzer struct {
	lower []byte // the identifier being cut, in lower case
	stem  []byte
	cuts  []int
	// rendered holds what AppendText writes for a run of word characters, at the
	// place of the run's hash: source repeats its identifiers, and stemming them is
	// ten times a look-up. A run that comes later takes the place, so that nothing grows
	// or starts anew.
	rendered []rendering
	seed     maphash.Seed
}

// rendering is a run of word characters with its terms behind it, each followed by
// a blank.
type rendering struct {
	text string
	run  int // the length of the run
}

// renderings is how many places there are, a power of two; twice as many gain
// nothing.
const renderings = 1 << 14

// Terms calls emit for each term of text in order. The slice passed to emit is
// valid only during the call. Bytes that are not UTF-8 separate words.
func (a *Analyzer) Terms(text string, emit func(term []byte)) {
	Runs(text, func(run string) { a.run(run, emit) })
}

// run emits the terms of one run.
func (a *Analyzer) run(run string, emit func(term []byte)) {
	if r, _ := utf8.DecodeRuneInString(run); ideographic(r) {
		a.ideographs(run, emit)
	} else {
		a.identifier(run, emit)
	}
}

// Runs calls visit for each run of word characters in text, the pieces that
// Terms analyses one by one: analysing every distinct run once gives the terms
// of the whole text at a fraction of the cost.
func Runs(text string, visit func(run string)) {
	for start, end := nextRun(text, 0); start < end; start, end = nextRun(text, end) {
		visit(text[start:end])
	}
}

// nextRun returns where the first run at or after i starts and ends; at the end of
// the text it is empty.
func nextRun(text string, i int) (start, end int) {
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if !asciiWord[c] {
				i++
				continue
			}
		} else if r, n := utf8.DecodeRuneInString(text[i:]); !wordRune(r, n) {
			i += n
			continue
		} else if ideographic(r) {
			end := i + n
			for end < len(text) {
				r, n := utf8.DecodeRuneInString(text[end:])
				if !ideographic(r) {
					break
				}
				end += n
			}
			return i, end
		}
		end := wordEnd(text, i)
		if end-i <= maxWord || isName(text[i:end]) {
			return i, end
		}
		i = end
	}
	return i, i
}

// isName tells a long identifier from data.
func isName(run string) bool {
	if len(run) > maxRun {
		return false
	}
	words, start, prev := 1, 0, classNone
	for i, r := range run {
		c := classOf(r)
		if c != prev && prev != classNone && !(prev == classUpper && c == classLower) && prev != classSeparator {
			words++
			start = i
		}
		if i-start >= maxWord {
			return false
		}
		prev = c
	}
	return len(run) >= meanWord*words
}

// AppendText appends the terms of text to dst, each followed by a blank: the
// form the full-text table stores.
func (a *Analyzer) AppendText(dst []byte, text string) []byte {
	write := func(term []byte) {
		dst = append(dst, term...)
		dst = append(dst, ' ')
	}
	if a.rendered == nil {
		a.rendered, a.seed = make([]rendering, renderings), maphash.MakeSeed()
	}
	for i, end := nextRun(text, 0); i < end; i, end = nextRun(text, end) {
		run := text[i:end]
		if len(run) > maxWord { // names of tests and ideographs, which repeat seldom
			a.run(run, write)
			continue
		}
		known := &a.rendered[maphash.String(a.seed, run)%renderings]
		if known.text[:known.run] != run {
			start := len(dst)
			dst = append(dst, run...)
			a.run(run, write)
			*known = rendering{string(dst[start:]), len(run)}
			dst = dst[:start]
		}
		dst = append(dst, known.text[known.run:]...)
	}
	return dst
}

// Words appends the lower-cased words of one identifier to dst: "parseURLPath"
// gives parse, url, path. Unlike Terms it neither stems nor drops short words
// nor cuts at digits (v2 is a word), so joining the words gives back the
// identifier without its separators.
func (a *Analyzer) Words(dst []string, identifier string) []string {
	Runs(identifier, func(run string) {
		a.cut(run, false)
		for k := 0; k+1 < len(a.cuts); k++ {
			if w := trimSeparators(a.lower[a.cuts[k]:a.cuts[k+1]]); len(w) > 0 {
				dst = append(dst, string(w))
			}
		}
	})
	return dst
}

// Stem returns the Porter stem of a lower-case word.
func (a *Analyzer) Stem(word string) string {
	a.stem = stem(append(a.stem[:0], word...))
	return string(a.stem)
}

// identifier emits the terms of one run of word characters.
func (a *Analyzer) identifier(run string, emit func([]byte)) {
	a.cut(run, true)
	words := 0
	for k := 0; k+1 < len(a.cuts); k++ {
		if len(trimSeparators(a.lower[a.cuts[k]:a.cuts[k+1]])) > 0 {
			words++
		}
	}
	if words == 0 {
		return
	}
	if words > 1 && len(run) <= maxWord {
		a.stem = a.stem[:0]
		for _, c := range a.lower {
			if c != '_' {
				a.stem = append(a.stem, c)
			}
		}
		emit(a.stem)
	}
	for k := 0; k+1 < len(a.cuts); k++ {
		w := trimSeparators(a.lower[a.cuts[k]:a.cuts[k+1]])
		if len(w) == 0 {
			continue
		}
		// One-letter words and digits of a longer identifier (the T of TValue,
		// the 2 of OAuth2) match everything and mean nothing; alone they stay. A
		// letter also belongs to the word after it: OAuth2Scope has oauth and auth.
		if len(w) == 1 && words > 1 {
			if words > 2 && k+2 < len(a.cuts) && w[0] > '9' {
				if next := a.lower[a.cuts[k+1]:a.cuts[k+2]]; next[0] > '9' && next[0] != '_' {
					emit(a.lower[a.cuts[k]:a.cuts[k+2]])
				}
			}
			continue
		}
		a.stem = stem(append(a.stem[:0], w...))
		emit(a.stem)
	}
}

// cut fills lower with run in lower case and cuts with the word boundaries in
// it. Boundaries: after and before '_', lower|Upper, letter|digit, and
// UPPER|Upperlower. Without digits, digits belong to the letters before them.
func (a *Analyzer) cut(run string, digits bool) {
	a.lower = a.lower[:0]
	a.cuts = append(a.cuts[:0], 0)
	prev := classNone
	start := 0      // of the current word, in lower
	upperRun := 0   // capitals at the end of the current word
	lastUpper := -1 // where the last capital starts, in lower
	for i := 0; i < len(run); {
		r, n := rune(run[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(run[i:])
		}
		cl := classOf(r)
		if cl == classDigit && !digits && (prev == classLower || prev == classUpper) {
			a.lower = utf8.AppendRune(a.lower, r)
			i += n
			continue
		}
		at := len(a.lower)
		switch {
		case prev == classNone || at == start:
		case cl == prev && cl != classUpper:
		case cl == classUpper && prev == classUpper:
		case cl == classLower && prev == classUpper:
			if upperRun > 1 {
				a.cuts = append(a.cuts, lastUpper)
				start = lastUpper
			}
		default:
			a.cuts = append(a.cuts, at)
			start = at
		}
		if cl == classUpper {
			if prev != classUpper || at == start {
				upperRun = 0
			}
			upperRun++
			lastUpper = at
		}
		prev = cl
		if r < utf8.RuneSelf {
			if cl == classUpper {
				r += 'a' - 'A'
			}
			a.lower = append(a.lower, byte(r))
		} else {
			a.lower = utf8.AppendRune(a.lower, unicode.ToLower(r))
		}
		i += n
	}
	a.cuts = append(a.cuts, len(a.lower))
}

// ideographs emits the terms of a run of ideographic characters, which is
// written without blanks: each pair of neighbours, or the character if it is
// alone.
func (a *Analyzer) ideographs(run string, emit func([]byte)) {
	prev := -1
	for i, r := range run {
		if prev >= 0 {
			a.stem = append(a.stem[:0], run[prev:i+utf8.RuneLen(r)]...)
			emit(a.stem)
		}
		prev = i
	}
	if prev == 0 {
		a.stem = append(a.stem[:0], run...)
		emit(a.stem)
	}
}

type class byte

const (
	classNone class = iota
	classLower
	classUpper
	classDigit
	classSeparator
)

func classOf(r rune) class {
	switch {
	case r >= 'a' && r <= 'z':
		return classLower
	case r >= 'A' && r <= 'Z':
		return classUpper
	case r >= '0' && r <= '9':
		return classDigit
	case r == '_':
		return classSeparator
	case unicode.IsUpper(r):
		return classUpper
	case unicode.IsDigit(r):
		return classDigit
	}
	return classLower
}

// wordEnd returns the end of the run of word characters that starts at i.
func wordEnd(text string, i int) int {
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if !asciiWord[c] {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !wordRune(r, n) || ideographic(r) {
			break
		}
		i += n
	}
	return i
}

func wordRune(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return asciiWord[byte(r)]
	}
	return !(r == utf8.RuneError && size == 1) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func ideographic(r rune) bool {
	return r >= 0x3040 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0xAC00 && r <= 0xD7A3)
}

func trimSeparators(w []byte) []byte {
	for len(w) > 0 && w[0] == '_' {
		w = w[1:]
	}
	for len(w) > 0 && w[len(w)-1] == '_' {
		w = w[:len(w)-1]
	}
	return w
}

var asciiWord = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	return t
}()
