// Package glob matches paths by patterns as .gitignore has them: * and ? stay within a
// component, ** crosses folders, [...] is a set. A [Pattern] is a line of such a
// file, held against git's own reading by the tests of index/walk; a [Glob] is what users write
// in settings, filters and calls of tools, which may have alternatives in braces besides.
//
// Paths are relative and have slashes. All values are immutable but for a [Name], which one
// goroutine uses at a time.
package glob

import (
	"strings"
	"unsafe"
)

// A Pattern is one compiled line of an ignore file, gitignore(5).
type Pattern struct {
	Negated bool // "!": what matches is taken back in
	dirOnly bool // "x/"
	// anchored patterns contain a slash and match the path below the ignore file's
	// folder; the rest match the last component at any depth.
	anchored bool
	// literal is set when nothing in the pattern is special: one comparison does.
	literal string
	program program
}

// Size is about what the pattern holds of memory, in bytes.
func (p *Pattern) Size() int {
	return int(unsafe.Sizeof(*p)) + len(p.literal) + int(unsafe.Sizeof(token(0)))*cap(p.program.tokens) + int(unsafe.Sizeof(byteSet{}))*cap(p.program.sets)
}

// program is what a pattern with special bytes does. Whole files of rules are kept so,
// which strangers write: a token takes four bytes, and no pointer.
type program struct {
	tokens []token
	sets   []byteSet
}

// token is a byte that stands for itself, one of these, or firstSet and the place of a set.
type token uint32

const (
	tokenAny  token = 256 + iota // ?: no slash
	tokenStar                    // * and any ** that is not a whole component: no slash
	tokenDirs                    // **/ at the start of a component: any number of whole ones
	tokenRest                    // ** as the last component: all that follows
	firstSet                     // [...]
)

// longestPath is more than any system takes for a path, in bytes. A pattern that needs
// more matches nothing.
const longestPath = 1 << 17

// byteSet holds bytes; a file of rules may have a third as many sets as bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte) { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) unite(t byteSet) {
	s[0], s[1], s[2], s[3] = s[0]|t[0], s[1]|t[1], s[2]|t[2], s[3]|t[3]
}
func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// Parse compiles a line. ok is false for blank lines and comments, and for
// patterns that git takes but that can match nothing (an unclosed bracket, more than a
// path can have). The pattern keeps line.
func Parse(line string, fold bool) (p Pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimBlanks(line)
	if rest, found := strings.CutPrefix(line, "!"); found {
		p.Negated, line = true, rest
	}
	if rest, found := strings.CutSuffix(line, "/"); found {
		p.dirOnly, line = true, rest
	}
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if !strings.ContainsAny(line, special) {
		p.literal = line
		if fold {
			p.literal = FoldCase(line)
		}
		return p, len(line) <= longestPath
	}
	// git compares what stands before the first special byte by itself and matches
	// the rest anew, so that the rest begins like a component.
	p.program, ok = compile(line, strings.IndexAny(line, special), fold)
	return p, ok
}

// trimBlanks removes the blanks at the end of a line that no backslash protects.
func trimBlanks(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// special are the bytes that stand for more than themselves.
const special = `*?[\`

// Wildmatch is git's function of that name, for whole paths.
func Wildmatch(pattern, name string, fold bool) bool {
	p, ok := compile(pattern, 0, fold)
	if fold {
		name = FoldCase(name)
	}
	return ok && p.matches(&text{s: name})
}

// compile reads a pattern; a component begins at head and behind each slash. ok is false
// if it can match nothing.
func compile(s string, head int, fold bool) (p program, ok bool) {
	letters := 0 // that a match has at least
	p.tokens = make([]token, 0, min(len(s), 2*longestPath))
	for i := 0; i < len(s) && letters <= longestPath; i++ {
		t := token(s[i])
		switch t {
		case '\\':
			if i++; i == len(s) {
				return program{}, false
			}
			t = token(s[i])
		case '?':
			t = tokenAny
		case '[':
			set, n := parseSet(s[i+1:], fold)
			if n == 0 {
				return program{}, false
			}
			t = firstSet + token(len(p.sets))
			p.sets = append(p.sets, set)
			i += n
		case '*':
			start := i
			for i+1 < len(s) && s[i+1] == '*' {
				i++
			}
			whole := i > start && (start == head || s[start-1] == '/')
			switch {
			case whole && i+1 == len(s):
				t = tokenRest
			case whole && s[i+1] == '/':
				t = tokenDirs
				i++
			default:
				t = tokenStar
			}
		default:
			if fold {
				t = token(lower(s[i]))
			}
		}
		switch {
		case t != tokenStar && t != tokenDirs && t != tokenRest:
			letters++
		case len(p.tokens) > 0 && p.tokens[len(p.tokens)-1] == t:
			continue // twice any number of folders is any number
		}
		p.tokens = append(p.tokens, t)
	}
	return p, letters <= longestPath
}

// FoldCase makes what differs in case alone equal, as git does: in ASCII only.
func FoldCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c |= 32
	}
	return c
}

// capitals are A to Z in the second word of a byteSet; a to z are 32 places above.
const capitals = (1<<26 - 1) << 1

// lower are the small letters of the capitals in a set, upper the other way round.
func (s *byteSet) lower() byteSet { return byteSet{1: s[1] & capitals << 32} }
func (s *byteSet) upper() byteSet { return byteSet{1: s[1] >> 32 & capitals} }

// below are the bytes below one.
func below(c int) (s byteSet) {
	for i := range s {
		s[i] = 1<<min(64, max(0, c-64*i)) - 1
	}
	return s
}

var classes = map[string]byteSet{
	"alnum":  setOf(func(c byte) bool { return isAlpha(c) || isDigit(c) }),
	"alpha":  setOf(isAlpha),
	"blank":  setOf(func(c byte) bool { return c == ' ' || c == '\t' }),
	"cntrl":  setOf(func(c byte) bool { return c < ' ' || c == 127 }),
	"digit":  setOf(isDigit),
	"graph":  setOf(func(c byte) bool { return c > ' ' && c < 127 }),
	"lower":  setOf(func(c byte) bool { return c >= 'a' && c <= 'z' }),
	"print":  setOf(func(c byte) bool { return c >= ' ' && c < 127 }),
	"punct":  setOf(func(c byte) bool { return c > ' ' && c < 127 && !isAlpha(c) && !isDigit(c) }),
	"space":  setOf(func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }),
	"upper":  setOf(func(c byte) bool { return c >= 'A' && c <= 'Z' }),
	"xdigit": setOf(func(c byte) bool { return isDigit(c) || c|32 >= 'a' && c|32 <= 'f' }),
}

func setOf(in func(byte) bool) (s byteSet) {
	for c := range 256 {
		if in(byte(c)) {
			s.add(byte(c))
		}
	}
	return s
}

func isAlpha(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseSet reads a bracket expression after its "[". n is its length with the
// closing bracket, 0 if it is malformed. Where case is folded, git's [A-C] takes the
// letters of either case, but its [ABC] and its \A none.
func parseSet(s string, fold bool) (set byteSet, n int) {
	i, negated := 0, false
	end := 0 // the next "]" behind a "[:": a line may have half as many of these as bytes
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(s) {
			return set, 0
		}
		if s[i] == ']' && !first {
			break
		}
		if strings.HasPrefix(s[i:], "[:") {
			if from := i + 2; end < from {
				n := strings.IndexByte(s[from:], ']')
				if n < 0 {
					return set, 0
				}
				end = from + n
			}
			if name := s[i+2 : end]; strings.HasSuffix(name, ":") {
				in, known := classes[name[:len(name)-1]]
				if !known {
					return set, 0
				}
				set.unite(in)
				if fold { // both cases of a letter stand for it
					set.unite(in.upper())
					set.unite(in.lower())
				}
				i = end + 1
				continue
			}
		}
		lo, next := setByte(s, i)
		hi, ranged := lo, next < len(s) && s[next] == '-' && next+1 < len(s) && s[next+1] != ']'
		if ranged {
			hi, next = setByte(s, next+1)
		}
		if next > len(s) {
			return set, 0
		}
		set.add(lo) // git's range from z to a holds the z
		if ranged {
			between := below(int(hi) + 1)
			for i, word := range below(int(lo)) {
				between[i] &^= word
			}
			set.unite(between)
			if fold {
				set.unite(between.lower())
			}
		}
		i = next
	}
	if negated {
		for i := range set {
			set[i] = ^set[i]
		}
	}
	set['/'>>6] &^= 1 << ('/' & 63)
	return set, i + 1
}

// setByte reads one character of a set; next is past the end if there is none.
func setByte(s string, i int) (c byte, next int) {
	if s[i] == '\\' {
		i++
	}
	if i >= len(s) {
		return 0, len(s) + 1
	}
	return s[i], i + 1
}
