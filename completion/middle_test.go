package completion

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
)

// middleKinds are what a model writes for the middle of a line: the answer, and what is
// typed or what follows said again with it.
var middleKinds = []struct {
	name  string
	model func(typed, middle, rest string) string
	// wrong and dropped are how many of 10,000 answers may make another line than the
	// file's, and how many may not be shown. A word said again in a string is not.
	wrong, dropped int
	// named: of a word of one or two letters nobody can tell.
	named bool
}{
	{"the middle", func(_, middle, _ string) string { return middle }, 15, 10, false},
	{"the middle and the rest of the line", func(_, middle, rest string) string { return middle + rest }, 50, 10, false},
	{"the typed word and the middle", func(typed, middle, _ string) string { return lastWord(typed) + middle }, 20, 1500, true},
}

// middleLanguages are how many middles the sources of this repository have at least.
var middleLanguages = map[string]int{
	"c": 1000, "go": 5000, "java": 100, "javascript": 1000, "lua": 1000, "python": 300, "rust": 100, "shellscript": 1000, "typescript": 1000,
}

// between are the offsets behind the indentation of line at which a word begins or ends.
func between(line string) (at []int) {
	for i := len(leadingSpace(line)) + 1; i < len(line); i++ {
		if isWord(line[i-1]) != isWord(line[i]) {
			at = append(at, i)
		}
	}
	return at
}

// eachSource calls use with the sources of this repository, a random number
// generator of its own for each, and of Go, which is most of it, with one of eight. The
// variable QUARRY_SOURCES names another folder, for a look by hand.
func eachSource(t *testing.T, use func(language, text string, rng *rand.Rand)) {
	t.Helper()
	err := filepath.WalkDir(cmp.Or(os.Getenv("QUARRY_SOURCES"), ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return fs.SkipDir // of others, or built from sources that count by themselves
		}
		l := lang.OfExtension(filepath.Ext(path))
		if !d.Type().IsRegular() || l == nil || middleLanguages[l.ID] == 0 {
			return nil
		}
		name := fnv.New64a()
		fmt.Fprint(name, path)
		rng := rand.New(rand.NewPCG(2, name.Sum64()))
		if l.ID == "go" && rng.IntN(8) > 0 {
			return nil
		}
		source, err := os.ReadFile(path)
		if err == nil {
			use(l.ID, unixLines(string(source)), rng)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// eachMiddle calls use with middles of the lines of the sources of this repository, from
// the one word's edge to another's, and answers how many lines and middles were left out.
func eachMiddle(t *testing.T, use func(language, text string, cut, back, end int)) (short, signs int) {
	t.Helper()
	eachSource(t, func(language, text string, rng *rand.Rand) {
		draws := 3
		if language == "go" {
			draws = 1
		}
		for start := 0; start < len(text); start = lineEnd(text, start) + 1 {
			end := lineEnd(text, start)
			places := between(text[start:end])
			if len(places) < 2 || end-start > 300 {
				short++
				continue
			}
			for range draws {
				from := rng.IntN(len(places) - 1)
				to := from + 1 + rng.IntN(min(8, len(places)-from-1))
				cut, back := start+places[from], start+places[to]
				if wordCount(text[cut:back]) == 0 {
					signs++
					continue
				}
				use(language, text, cut, back, end)
			}
		}
	})
	return short, signs
}

// The middle of a line comes out as it was, also where the answer says what is typed or
// what follows again.
func TestRightMiddlesSurvive(t *testing.T) {
	for _, kind := range middleKinds {
		t.Run(kind.name, func(t *testing.T) {
			all, count := map[string]int{}, map[string]int{} // by the language, and by the verdict too
			wordless := 0
			short, signs := eachMiddle(t, func(language, text string, cut, back, end int) {
				all[language]++
				typed := text[lineStart(text, cut):cut]
				model := kind.model(typed, text[cut:back], text[back:end])
				if word := lastWord(typed); kind.named && (isShort(word) || !startsName(word)) {
					wordless++
					return
				}
				verdict, got := hole{text[:cut] + text[back:], cut, model, text, false}.judge(language)
				count[verdict]++
				count[language+" "+verdict]++
				if verdict != "right" && count[verdict] <= 10 {
					t.Logf("%s, %s: %q|%q, model %q, got %q", language, verdict, typed, text[back:end], model, got)
				}
			})
			judged := count["right"] + count["wrong"] + count["dropped"]
			t.Logf("%d answers: %d wrong, %d dropped; %d lines were too short or too long, %d middles but signs, %d without a typed word", judged,
				count["wrong"], count["dropped"], short, signs, wordless)
			if count["wrong"]*10_000 > judged*kind.wrong || count["dropped"]*10_000 > judged*kind.dropped {
				t.Errorf("of %d answers %d are wrong and %d dropped, want at most %d and %d of 10,000", judged, count["wrong"], count["dropped"], kind.wrong, kind.dropped)
			}
			for _, language := range slices.Sorted(maps.Keys(middleLanguages)) {
				wrong, n := count[language+" wrong"], count[language+" right"]+count[language+" wrong"]+count[language+" dropped"]
				t.Logf("%s: %d of %d wrong", language, wrong, n)
				if all[language] < middleLanguages[language] {
					t.Errorf("%s has only %d middles", language, all[language])
				}
			}
		})
	}
}

// nestedMiddles are middles of line that end in the bracket that closes one within another.
// The outer one is of the line, which balances by itself and has nothing but closers behind
// the middle, or, if above, of a line above, and its bracket follows at once.
func nestedMiddles(line string, above bool) (middles [][2]int) {
	if strings.ContainsAny(line, "'`\"") {
		return nil // the pairs are told without strings
	}
	var open []int
	pair := [2]int{} // closed last, if nothing but blanks stand behind it
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, i)
		case strings.IndexByte(")]}", c) < 0:
			if c == ' ' {
				continue
			}
		case len(open) == 0 && above:
			if pair[1] > 0 {
				middles = append(middles, pair)
			}
		case len(open) == 0 || closerOf(line[open[len(open)-1]]) != c:
			return nil
		default:
			begin := open[len(open)-1] + 1
			if open = open[:len(open)-1]; len(open) > 0 && !above && onlyClosers(line[i+1:]) {
				middles = append(middles, [2]int{begin, i + 1})
			}
			pair = [2]int{begin, i + 1}
			continue
		}
		pair = [2]int{}
	}
	if len(open) > 0 && !above {
		return nil
	}
	return middles
}

// nestedKinds are those of middles that end in a nested closer, with how many of 10,000 may
// come out wrong and not at all, and how many there are at least.
var nestedKinds = []struct {
	name                  string
	above                 bool
	wrong, dropped, least int
}{
	{"around it a bracket of the line", false, 10, 10, 1000},
	{"around it a bracket of a line above", true, 10, 10, 10},
}

// A bracket of the answer that closes one typed stays where the rest of the line closes only
// the one around it, also where the answer says the rest too.
func TestRightClosersSurvive(t *testing.T) {
	for _, nested := range nestedKinds {
		for _, kind := range middleKinds[:2] {
			t.Run(nested.name+", "+kind.name, func(t *testing.T) {
				count := map[string]int{}
				eachSource(t, func(language, text string, rng *rand.Rand) {
					for start := 0; start < len(text); start = lineEnd(text, start) + 1 {
						line := text[start:lineEnd(text, start)]
						for _, middle := range nestedMiddles(line, nested.above) {
							typed := runeStart(line, middle[0]+rng.IntN(middle[1]-middle[0]))
							cut, back, end := start+typed, start+middle[1], start+len(line)
							model := kind.model(line[:typed], text[cut:back], text[back:end])
							verdict, got := hole{text[:cut] + text[back:], cut, model, text, false}.judge(language)
							if count[verdict]++; verdict != "right" && count[verdict] <= 10 {
								t.Logf("%s, %s: %q|%q, model %q, got %q", language, verdict, line[:typed], line[middle[1]:], model, got)
							}
						}
					}
				})
				judged := count["right"] + count["wrong"] + count["dropped"]
				t.Logf("%d answers: %d wrong, %d dropped", judged, count["wrong"], count["dropped"])
				if judged < nested.least {
					t.Errorf("there are only %d answers, want %d", judged, nested.least)
				}
				if count["wrong"]*10_000 > judged*nested.wrong || count["dropped"]*10_000 > judged*nested.dropped {
					t.Errorf("of %d answers %d are wrong and %d dropped, want at most %d and %d of 10,000", judged, count["wrong"], count["dropped"], nested.wrong, nested.dropped)
				}
			})
		}
	}
}

// mixtures are how a source that is indented by blanks may come to have tabs too.
var mixtures = []struct {
	name string
	mix  func(text string) string
	// moved is how many of 10,000 next lines may be indented in another way.
	moved int
}{
	{"eight blanks are a tab", func(text string) string { return indentedBy(text, 8) }, 20},
	{"the second half by tabs", func(text string) string {
		half := lineStart(text, len(text)/2)
		return text[:half] + indentedBy(text[half:], len(indentUnit(text, "")))
	}, 20},
}

// indentedBy is text with a tab for so many blanks that a line begins with.
func indentedBy(text string, blanks int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		width := len(line) - len(body)
		b.WriteString(strings.Repeat("\t", width/blanks) + strings.Repeat(" ", width%blanks) + body)
	}
	return b.String()
}

// The next line keeps its indentation where tabs and blanks are mixed.
func TestMixedIndentationSurvives(t *testing.T) {
	for _, m := range mixtures {
		t.Run(m.name, func(t *testing.T) {
			shown, moved := 0, 0
			eachSource(t, func(language, text string, rng *rand.Rand) {
				if strings.Contains(text, "\n\t") || strings.Contains(text, "```") {
					return
				}
				text = m.mix(text)
				for start := 0; start < len(text); start = lineEnd(text, start) + 1 {
					end := lineEnd(text, start)
					back := lineEnd(text, min(len(text), end+1))
					if rng.IntN(3) > 0 || blank(text[start:end]) || blank(text[end:back]) {
						continue
					}
					_, got := hole{text[:end] + text[back:], end, text[end:back], text, true}.judge(language)
					if got == "" {
						continue
					}
					shown++
					if is, want := leadingSpace(got[1:]), leadingSpace(text[end+1:back]); is != want {
						if moved++; moved <= 10 {
							t.Logf("%s: %q then %q, got %q", language, text[start:end], text[end:back], got)
						}
					}
				}
			})
			t.Logf("%d of %d next lines are indented in another way", moved, shown)
			if shown < 1000 || moved*10_000 > shown*m.moved {
				t.Errorf("%d of %d next lines are indented in another way, want at most %d of 10,000, of 1,000 at least", moved, shown, m.moved)
			}
		})
	}
}
