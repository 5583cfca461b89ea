// Package idioms knows how lines of code usually end, by language: "if err" in Go
// by " != nil {". Where neither a model nor the user's own code has an answer, as in
// the first small file of an empty folder, it has one for what everybody writes.
//
// A [Table] is shipped as text ([Of]). Its lines were learned from public repositories by
// package learn (folder table), none that fewer than four of them wrote, or written by hand
// (folder own): those that begin a program in each language. A name that differs from place
// to place is a slot, so "x.Lock()" is followed by "defer x.Unlock()" whatever x is. Words
// that need no line around them are in [Words].
//
// Everything is read-only and safe for concurrent use.
package idioms

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// An Idiom is a line that many wrote, and from where on it is sure to be that line.
type Idiom struct {
	// Above is the line above, "" if it does not matter; Line is the line without its
	// indentation. A name that differs is a slot, [Slot], the same one for the same name.
	Above, Line string
	// Sure is how much of Line has to be typed, in bytes.
	Sure int
	// Share is how many in a hundred who typed that wrote the rest of Line.
	Share int
}

// firstSlot stands for the first name that differs, the signs after it for the next.
const (
	firstSlot = '①'
	MaxSlots  = 9
)

// Slot is the sign of the n-th name that differs, from 0.
func Slot(n int) string { return string(rune(firstSlot + n)) }

// isSlot answers which slot s begins with.
func isSlot(s string) (n int, ok bool) {
	r, _ := utf8.DecodeRuneInString(s)
	return int(r - firstSlot), r >= firstSlot && r < firstSlot+MaxSlots
}

// Table are the idioms of one language.
type Table struct {
	// byFirst has the entries by the first token of the line, those that begin with a
	// slot under "".
	byFirst map[string][]entry
	// firsts are its keys in order.
	firsts []string
}

type entry struct {
	above, line []string
	sure, share int
}

// New makes a Table.
func New(all []Idiom) *Table {
	t := &Table{byFirst: map[string][]entry{}}
	for _, i := range all {
		e := entry{Tokens(i.Above), Tokens(i.Line), i.Sure, i.Share}
		if len(e.line) == 0 {
			continue
		}
		first := e.line[0]
		if _, slot := isSlot(first); slot {
			first = ""
		}
		t.byFirst[first] = append(t.byFirst[first], e)
		if e.sure == 0 { // it may be offered before anything is typed
			t.byFirst[" "] = append(t.byFirst[" "], e)
		}
	}
	t.firsts = slices.Sorted(maps.Keys(t.byFirst))
	return t
}

// Rest is how the line that typed begins usually goes on, and how often of a hundred
// times it does; "" if that is not known. above is the line above it. Indentation does
// not matter. said, which may be nil, tells the lines that stand somewhere above and are
// not written twice, as that of an import.
func (t *Table) Rest(above, typed string, said func(line string) bool) (rest string, share int) {
	if t == nil {
		return "", 0
	}
	typed = strings.TrimLeft(typed, " \t")
	done, partial := Cut(typed)
	over := Tokens(strings.TrimSpace(above))
	literal := -1
	consider := func(entries []entry) {
		for _, e := range entries {
			text, matched, ok := e.rest(over, done, partial)
			if !ok || matched < literal || matched == literal && e.share <= share {
				continue
			}
			if said != nil && said(typed+text) {
				continue
			}
			rest, share, literal = text, e.share, matched
		}
	}
	switch {
	case len(done) > 0:
		consider(t.byFirst[done[0]])
		consider(t.byFirst[""])
	case partial == "":
		consider(t.byFirst[" "])
	default:
		for _, first := range t.firsts {
			if first != " " && strings.HasPrefix(first, partial) {
				consider(t.byFirst[first])
			}
		}
	}
	return rest, share
}

// rest is what e says comes after the tokens done and the first letters of another,
// and how many of its own words stand before.
func (e entry) rest(above, done []string, partial string) (text string, literal int, ok bool) {
	if len(done) >= len(e.line) || len(e.above) > 0 && len(e.above) != len(above) {
		return "", 0, false
	}
	var names [MaxSlots]string
	match := func(pattern, tokens []string) bool {
		for i, p := range pattern {
			n, slot := isSlot(p)
			switch {
			case !slot && p != tokens[i], slot && !Nameable(tokens[i]), slot && names[n] != "" && names[n] != tokens[i]:
				return false
			case slot:
				names[n] = tokens[i]
			default:
				literal++
			}
		}
		return true
	}
	if !match(e.above, above[:len(e.above)]) || !match(e.line[:len(done)], done) {
		return "", 0, false
	}
	at := len(strings.Join(e.line[:len(done)], "")) + len(partial)
	next, ok := strings.CutPrefix(e.line[len(done)], partial)
	if !ok || at < e.sure {
		return "", 0, false
	}
	var b strings.Builder
	for i, token := range e.line[len(done):] {
		if n, slot := isSlot(token); slot {
			if names[n] == "" || i == 0 && partial != "" {
				return "", 0, false
			}
			token = names[n]
		} else if i == 0 {
			token = next
		}
		b.WriteString(token)
	}
	return b.String(), literal, b.Len() > 0
}

// Tokens splits a line: words, strings with their quotes, single signs, and one blank
// for any number.
func Tokens(line string) []string {
	var tokens []string
	for line != "" {
		n, token := 1, ""
		switch c := line[0]; {
		case c == ' ' || c == '\t':
			n, token = len(line)-len(strings.TrimLeft(line, " \t")), " "
		case startsSlot(line):
			n = len(Slot(0))
		case isWord(c):
			for n < len(line) && isWord(line[n]) && !startsSlot(line[n:]) {
				n++
			}
		case c == '"' || c == '\'' || c == '`':
			if end := stringEnd(line); end > 0 {
				n = end
			}
		}
		if token == "" {
			token = line[:n]
		}
		tokens, line = append(tokens, token), line[n:]
	}
	return tokens
}

// Cut splits what is typed of a line into whole tokens and the word or string that may
// go on.
func Cut(typed string) (done []string, partial string) {
	done = Tokens(typed)
	for i, token := range done {
		if len(token) == 1 && strings.Contains("\"'`", token) { // a string without its end
			return done[:i], strings.Join(done[i:], "")
		}
	}
	if n := len(done); n > 0 && isWord(done[n-1][0]) {
		return done[:n-1], done[n-1]
	}
	return done, ""
}

// stringEnd is the length of the string that line begins with, 0 if it does not end.
func stringEnd(line string) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case line[0]:
			return i + 1
		}
	}
	return 0
}

func startsSlot(s string) bool {
	_, ok := isSlot(s)
	return ok
}

// Nameable: a slot can stand for token.
func Nameable(token string) bool { return isWord(token[0]) || len(token) > 1 }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

//go:embed table own
var shipped embed.FS

// includes are the languages whose lines written by hand are another's too.
var includes = map[string]string{"cpp": "c", "typescript": "javascript"}

// ownShare is taken for the share of a line written by hand: learned ones, which are counted,
// come first.
const ownShare = 70

var (
	mu     sync.Mutex
	tables = map[string]*Table{} // guarded by mu
)

// Of is the shipped table of a language, by its LSP identifier, nil if there is none.
func Of(language string) *Table {
	language = strings.TrimSuffix(language, "react") // typescriptreact
	mu.Lock()
	defer mu.Unlock()
	t, ok := tables[language]
	if !ok {
		if all := append(written(language), learned(language)...); len(all) > 0 {
			t = New(all)
		}
		tables[language] = t
	}
	return t
}

// learned are the idioms of a language in folder table, written those in folder own.
func learned(language string) []Idiom {
	f, err := shipped.Open("table/" + language + ".txt")
	if err != nil {
		return nil // there is none
	}
	defer f.Close()
	return mustRead(f)
}

func written(language string) []Idiom {
	text, err := shipped.ReadFile("own/" + language + ".txt")
	if err != nil {
		return nil
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		fmt.Fprintf(&b, "%d\t%s", ownShare, line)
	}
	all := mustRead(strings.NewReader(b.String()))
	if base := includes[language]; base != "" {
		all = append(all, written(base)...)
	}
	return all
}

func mustRead(r io.Reader) []Idiom {
	all, err := Read(r)
	if err != nil {
		panic(err) // a test reads every table
	}
	return all
}

// sureSign stands in a table's line before what is sure.
const sureSign = "‸"

// Write writes idioms as lines: the share, the line above if it matters, the line.
func Write(w io.Writer, all []Idiom) error {
	b := bufio.NewWriter(w)
	for _, i := range all {
		above := i.Above
		if above != "" {
			above += "\t"
		}
		if _, err := fmt.Fprintf(b, "%d\t%s%s%s%s\n", i.Share, above, i.Line[:i.Sure], sureSign, i.Line[i.Sure:]); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Read reads what [Write] wrote.
func Read(r io.Reader) ([]Idiom, error) {
	var all []Idiom
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		share, rest, _ := strings.Cut(lines.Text(), "\t")
		above, line, two := strings.Cut(rest, "\t")
		if !two {
			above, line = "", rest
		}
		percent, err := strconv.Atoi(share)
		typed, after, ok := strings.Cut(line, sureSign)
		if err != nil || !ok {
			return nil, fmt.Errorf("read idioms: %q is not a share, the line above, and a line with %s", lines.Text(), sureSign)
		}
		all = append(all, Idiom{above, typed + after, len(typed), percent})
	}
	return all, lines.Err()
}
