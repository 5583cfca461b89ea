package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// plain is matches one place after the other: it goes back to the last star on a mismatch and, when that star meets
// a slash, to the last "**/": an earlier one could only leave less of the name to
// match, so it is never tried again and the time is polynomial.
func plain(p *program, name string) bool {
	t, n := 0, 0
	starT, starN := -1, 0
	dirsT, dirsN := -1, 0
	for {
		if t == len(p.tokens) {
			if n == len(name) {
				return true
			}
		} else {
			switch tk := p.tokens[t]; tk {
			case tokenRest:
				return true
			case tokenDirs:
				t++
				dirsT, dirsN, starT = t, n, -1
				continue
			case tokenStar:
				t++
				starT, starN = t, n
				continue
			default:
				if n < len(name) && isLetter(tk) && p.takes(tk, name[n]) {
					t, n = t+1, n+1
					continue
				}
			}
		}
		if starT >= 0 && starN < len(name) && name[starN] != '/' {
			starN++
			t, n = starT, starN
			continue
		}
		if dirsT < 0 {
			return false
		}
		slash := strings.IndexByte(name[dirsN:], '/')
		if slash < 0 {
			return false
		}
		dirsN += slash + 1
		t, n, starT = dirsT, dirsN, -1
	}
}

// TestMatchesAsPlain: all places at once are what one after the other are, in names of up to four
// words and patterns of which many match.
func TestMatchesAsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	pieces := []string{"a", "b", "a", "b", "/", "*", "?", "[ab]", "[^a]", "**/", "/**/", "/**", "**", "aaaa", "*a", "a*", `\*`, "[/a]"}
	met := map[bool]int{}
	for range 300_000 {
		var name, pattern strings.Builder
		letters := "aaab/"[:2+r.IntN(4)]
		for range r.IntN([]int{4, 12, 70, 200}[r.IntN(4)]) {
			name.WriteByte(letters[r.IntN(len(letters))])
		}
		for range r.IntN(12) {
			pattern.WriteString(pieces[r.IntN(len(pieces))])
		}
		head := max(0, strings.IndexAny(pattern.String(), special))
		p, ok := compile(pattern.String(), head, false)
		if !ok {
			continue
		}
		got, want := p.matches(&text{s: name.String()}), plain(&p, name.String())
		if got != want {
			t.Fatalf("%q matches %q: %t, and one place after the other: %t", pattern.String(), name.String(), got, want)
		}
		met[got]++
	}
	if met[true] < 10_000 || met[false] < 10_000 {
		t.Errorf("of the names %v match", met)
	}
}

// TestLettersAtTheEnds: what letters at the ends decide needs no places, and they are found once for all
// patterns that do.
func TestLettersAtTheEnds(t *testing.T) {
	name := NameOf("src/" + strings.Repeat("a", 240) + ".go")
	match := func(line string) bool {
		p, ok := Parse(line, false)
		if !ok {
			t.Fatal(line)
		}
		return p.Match(name, false)
	}
	as := strings.Repeat("a", 45)
	for line, want := range map[string]bool{
		"*" + as + "b": false, "b*" + as + "*": false, "**/*" + as + "b": false, "lib/**/*": false, "*.go": true, "*.c": false, "src/*.go": true, "src/**": true, "*": true, "**/*.[ch]": false, "*.?o": true, "**/x": false,
	} {
		if match(line) != want {
			t.Errorf("%s matches: %t", line, !want)
		}
	}
	if name.base.table != nil || name.whole.table != nil {
		t.Error("places are looked for")
	}
	for _, line := range []string{"*" + as + "b*", "*a[b]*"} {
		before := name.base.table
		if match(line) || name.base.table == nil || before != nil && before != name.base.table {
			t.Errorf("%s matches, or finds the places again", line)
		}
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("**/a*[b-d]?/**", "x/abcd/e")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern)*len(name) > 1<<20 {
			return
		}
		for _, head := range []int{0, max(0, strings.IndexAny(pattern, special))} {
			p, ok := compile(pattern, head, false)
			if !ok {
				continue
			}
			if got, want := p.matches(&text{s: name}), plain(&p, name); got != want {
				t.Errorf("%q matches %q: %t, and one place after the other: %t", pattern, name, got, want)
			}
		}
	})
}
