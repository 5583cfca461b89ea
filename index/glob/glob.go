package glob

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// A Glob is a pattern of a user's. It reads as a line of a .gitignore at the
// root, so that a name without a slash holds in every folder and a folder's name covers
// all that is below; {a,b} stands for either. A leading "./" is nothing; "!" and "#" are letters.
type Glob struct {
	text         string
	alternatives []Pattern
}

var (
	errBrackets = errors.New("[ and { need their closing brackets")
	errMany     = errors.New("the braces stand for too many patterns")
	errEmpty    = errors.New("it is empty")
	errLong     = errors.New("it is longer than 4096 bytes")
)

// longest bounds a glob in bytes: braces within braces are read again at each depth.
const longest = 4096

// maxAlternatives bounds what braces may stand for.
const maxAlternatives = 1000

// Compile reads a glob; one that can match nothing is an error.
func Compile(text string) (Glob, error) { return compileFold(text, false) }

// CompileFold is Compile for paths in lower case.
func CompileFold(text string) (Glob, error) { return compileFold(text, true) }

func compileFold(text string, fold bool) (Glob, error) {
	g := Glob{text: text}
	if len(text) > longest {
		return g, errLong
	}
	lines, err := expand(strings.TrimPrefix(text, "./"))
	if err != nil {
		return g, err
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!") {
			line = `\` + line
		}
		p, ok := Parse(line, fold)
		switch {
		case !ok && strings.Trim(line, "/ ") == "":
			return g, errEmpty
		case !ok:
			return g, errBrackets
		}
		g.alternatives = append(g.alternatives, p)
	}
	return g, nil
}

// CompileAll reads globs that have been checked; those that cannot match are left out.
func CompileAll(texts []string) []Glob {
	var list []Glob
	for _, text := range texts {
		if g, err := Compile(text); err == nil {
			list = append(list, g)
		}
	}
	return list
}

// String is the glob as it was written.
func (g Glob) String() string { return g.text }

// Covers answers whether the glob matches a file or a folder that it lies in.
func (g Glob) Covers(name string) bool {
	for dir := false; name != "" && name != "." && name != "/"; name, dir = path.Dir(name), true {
		at := NameOf(name)
		if slices.ContainsFunc(g.alternatives, func(p Pattern) bool { return p.Match(at, dir) }) {
			return true
		}
	}
	return false
}

// Special answers whether a text has characters that stand for more than themselves.
func Special(text string) bool { return strings.ContainsAny(text, special+"{") }

// expand writes out the braces of a pattern, from left to right. A backslash takes the
// meaning of a brace, a pair without a comma has none, and in brackets braces are letters.
func expand(text string) ([]string, error) {
	open, depth := -1, 0
	var commas []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if _, n := parseSet(text[i+1:], false); n > 0 {
				i += n
			}
		case '{':
			if depth++; depth == 1 {
				open, commas = i, nil
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth > 0 || len(commas) == 0 {
				continue
			}
			tails, err := expand(text[i+1:])
			if err != nil {
				return nil, err
			}
			var all []string
			start := open + 1
			for _, end := range append(commas, i) {
				inner, err := expand(text[start:end])
				if err != nil {
					return nil, err
				}
				if len(all)+len(inner)*len(tails) > maxAlternatives {
					return nil, errMany
				}
				for _, middle := range inner {
					for _, tail := range tails {
						all = append(all, text[:open]+middle+tail)
					}
				}
				start = end + 1
			}
			return all, nil
		}
	}
	if depth > 0 {
		return nil, errBrackets
	}
	return []string{text}, nil
}
