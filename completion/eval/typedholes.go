package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/completion"
)

// A CursorKind is where in a line the user has got to when a [TypedHole] is filled.
type CursorKind string

// The places. The first six are all positions of a line of code behind its
// indentation; [Places] counts them.
const (
	InWord           CursorKind = "inside a word"
	WordEnd          CursorKind = "at a word's end"
	AfterBlank       CursorKind = "after a blank"
	AfterPunctuation CursorKind = "after a sign"
	BeforeBlank      CursorKind = "after a sign, before a blank"
	AtLineEnd        CursorKind = "at a line's end"
	InBrackets       CursorKind = "inside closed brackets"
	AtLineStart      CursorKind = "at a line's start"
	AtBody           CursorKind = "before a body"
)

// CursorKinds lists them in the order of reports.
var CursorKinds = []CursorKind{InWord, WordEnd, AfterBlank, AfterPunctuation, BeforeBlank, AtLineEnd, InBrackets, AtLineStart, AtBody}

// quota is how many holes of each kind a half of a language has. Those at the positions of
// a line, 33, are as the positions are: bench/completion.md has both.
var quota = map[CursorKind]int{InWord: 21, WordEnd: 4, AfterBlank: 4, AfterPunctuation: 2, BeforeBlank: 1, AtLineEnd: 1, InBrackets: 3, AtLineStart: 2, AtBody: 2}

// A Half keeps what constants are fitted on apart from what is reported.
type Half string

const (
	Fit  Half = "fit"
	Held Half = "held"
)

// Source is a repository of the suite, as testdata/holes/repositories.json lists it.
type Source struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Half     Half   `json:"half"`
}

// A TypedHole is a document as it is while a line of it is typed: what follows the
// cursor on the line is not written yet, but for the brackets and quotes that an
// editor closes by itself.
type TypedHole struct {
	// ID names the hole from run to run.
	ID       string
	Source   Source
	Kind     CursorKind
	Document completion.Document
	Offset   int
	// Typed is the cursor's line before the cursor, Want what belongs behind it:
	// the rest of the line, at a line's end the next line, for a body all of it.
	// Closers is what the editor has put behind the cursor.
	Typed, Want, Closers string
	// Before is what the document was when its earlier changes were made, the oldest
	// first; none where nothing is known of them.
	Before []string
}

// LoadSuite reads the repositories that list (a file like
// testdata/holes/repositories.json) names, each from its folder in dir.
func LoadSuite(list, dir string) (map[Source]Repository, []Source, error) {
	b, err := os.ReadFile(list)
	if err != nil {
		return nil, nil, fmt.Errorf("read the suite: %w", err)
	}
	var sources []Source
	if err := json.Unmarshal(b, &sources); err != nil {
		return nil, nil, fmt.Errorf("read the suite %s: %w", list, err)
	}
	all := map[Source]Repository{}
	for _, s := range sources {
		docs, err := load(filepath.Join(dir, s.Name))
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w; fetch the trees with testdata/holes/fetch.sh %s", s.Name, err, dir)
		}
		for i := range docs {
			docs[i].Root = "/" + s.Name // prompts name it
		}
		all[s] = Repository{s.Name, withoutCompiled(docs)}
	}
	return all, sources, nil
}

// CutSuite cuts 40 holes into each half of each language, as the quota of places
// says, the repositories of the half by turns. The same trees give the same holes,
// and no line has two.
func CutSuite(trees map[Source]Repository, sources []Source) []TypedHole {
	type part struct {
		language string
		half     Half
	}
	groups := map[part][]Source{}
	var order []part
	for _, s := range sources {
		p := part{s.Language, s.Half}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], s)
	}
	var holes []TypedHole
	taken := map[string]bool{}
	for _, p := range order {
		group := groups[p]
		for _, kind := range CursorKinds {
			for n := range quota[kind] {
				s := group[n%len(group)]
				id := fmt.Sprintf("%s/%s/%d", s.Name, strings.ReplaceAll(string(kind), " ", "-"), n)
				if h, ok := cutTyped(trees[s], s, kind, id, taken); ok {
					holes = append(holes, h)
				}
			}
		}
	}
	return holes
}

// eligible are the documents that holes are cut into.
func eligible(r Repository, language string) []completion.Document {
	var docs []completion.Document
	for _, d := range r.Documents {
		if d.Language == language && strings.Count(d.Text, "\n") >= 30 && !strings.Contains(d.Text, "\r") {
			docs = append(docs, d)
		}
	}
	return docs
}

// isCode reports whether holes may be cut into a line.
func isCode(line string) bool {
	code := strings.TrimLeft(line, " \t")
	return len(line) <= 160 && !isComment(code) && !strings.HasPrefix(code, "*") && strings.ContainsFunc(code, isLetter)
}

// seedOf is the seed of the random sequence of a hole: of all of its id.
func seedOf(id string) [32]byte { return sha256.Sum256([]byte(id)) }

// cutTyped looks for a hole by a random sequence that the id alone determines, on lines
// that are not taken.
func cutTyped(r Repository, s Source, kind CursorKind, id string, taken map[string]bool) (TypedHole, bool) {
	docs := eligible(r, s.Language)
	if len(docs) == 0 {
		return TypedHole{}, false
	}
	rng := rand.New(rand.NewChaCha8(seedOf(id)))
	for range 20_000 {
		d := docs[rng.IntN(len(docs))]
		lines := strings.SplitAfter(d.Text, "\n")
		n := rng.IntN(len(lines))
		h, ok := cutLine(d, lines, n, kind, rng)
		if !ok {
			continue
		}
		var places []string // of the lines of the hole
		for i := n; i <= strings.Count(d.Text[:h.Offset], "\n")+strings.Count(h.Want, "\n"); i++ {
			places = append(places, fmt.Sprint(d.Root, "\x00", d.Path, "\x00", i))
		}
		if slices.ContainsFunc(places, func(p string) bool { return taken[p] }) {
			continue
		}
		for _, p := range places {
			taken[p] = true
		}
		h.ID, h.Source, h.Kind = id, s, kind
		return h, true
	}
	return TypedHole{}, false
}

// cutLine cuts a hole of a kind into the line n of a document.
func cutLine(d completion.Document, lines []string, n int, kind CursorKind, rng *rand.Rand) (h TypedHole, ok bool) {
	line := strings.TrimRight(lines[n], "\n")
	if !isCode(line) {
		return h, false
	}
	start := len(strings.Join(lines[:n], ""))
	at, end := 0, start+len(line)
	switch kind {
	case AtLineStart:
		at = len(leadingBlanks(line))
	case AtLineEnd:
		next := ""
		if n+1 < len(lines) {
			next = strings.TrimRight(lines[n+1], "\n")
		}
		if !isCode(next) || leadingBlanks(next) != leadingBlanks(line) || strings.TrimRight(line, " \t") != line {
			return h, false
		}
		at, end = len(line), end+1+len(next)
	case AtBody:
		body := bodyBelow(lines[n:])
		if body == "" {
			return h, false
		}
		at, end = len(line), end+len(body)
		if rng.IntN(2) == 0 { // Enter was pressed
			first := strings.TrimLeft(body, "\n")
			at += len(body) - len(first) + len(leadingBlanks(first))
		}
	default:
		if at, ok = cursorIn(line, kind, rng); !ok {
			return h, false
		}
	}
	if kind == InBrackets {
		closers, ok := closersAt(line, at)
		if !ok || closers == "" {
			return h, false
		}
		h.Closers = closers
	}
	h.Offset = start + at
	h.Want = strings.TrimRight(d.Text[h.Offset:end], " \t")
	h.Typed = d.Text[strings.LastIndexByte(d.Text[:h.Offset], '\n')+1 : h.Offset]
	h.Document = completion.Document{Root: d.Root, Path: d.Path, Language: d.Language, Text: d.Text[:h.Offset] + h.Closers + d.Text[end:]}
	return h, strings.TrimSpace(h.Want) != ""
}

// kindAt is what kind of place the offset at of a line is, behind its indentation; "" where
// no user stops, between blanks and inside a letter of several bytes.
func kindAt(line string, at int) CursorKind {
	before := line[at-1]
	if at == len(line) {
		return AtLineEnd
	}
	after := line[at]
	beforeBlank, afterBlank := after == ' ' || after == '\t', before == ' ' || before == '\t'
	switch {
	case before >= 0x80 || after >= 0x80 || beforeBlank && afterBlank:
		return ""
	case afterBlank:
		return AfterBlank
	case inWord(before) && inWord(after):
		return InWord
	case inWord(before):
		return WordEnd
	case beforeBlank:
		return BeforeBlank
	}
	return AfterPunctuation
}

// cursorIn chooses an offset of the line's code with such a place.
func cursorIn(line string, kind CursorKind, rng *rand.Rand) (int, bool) {
	var fits []int
	for i := len(leadingBlanks(line)) + 1; i < len(line); i++ {
		if is := kindAt(line, i); is == kind || kind == InBrackets && is != "" {
			fits = append(fits, i)
		}
	}
	if len(fits) == 0 {
		return 0, false
	}
	return fits[rng.IntN(len(fits))], true
}

// A Place is how many holes are at a kind of place, and how many positions of the lines
// that holes may be cut into are such places.
type Place struct {
	Kind      CursorKind `json:"place"`
	Holes     int        `json:"holes"`
	Positions int        `json:"positions"`
}

// Places counts both for the places that are positions of a line.
func Places(trees map[Source]Repository, sources []Source, holes []TypedHole) []Place {
	counted := map[CursorKind]int{}
	for _, s := range sources {
		for _, d := range eligible(trees[s], s.Language) {
			for line := range strings.Lines(d.Text) {
				line = strings.TrimRight(line, " \t\n")
				if !isCode(line) {
					continue
				}
				for at := len(leadingBlanks(line)) + 1; at <= len(line); at++ {
					counted[kindAt(line, at)]++
				}
			}
		}
	}
	var list []Place
	for _, kind := range CursorKinds {
		if counted[kind] > 0 {
			n := 0
			for _, h := range holes {
				if h.Kind == kind {
					n++
				}
			}
			list = append(list, Place{kind, n, counted[kind]})
		}
	}
	return list
}

// Order puts holes in an order by chance of which every beginning has languages and kinds
// of place in about the shares that all have: a seeded shuffle of the holes of one half,
// language and kind, dealt out evenly from a start by chance.
func Order(holes []TypedHole) []TypedHole {
	type stratum struct {
		half     Half
		language string
		kind     CursorKind
	}
	rng := rand.New(rand.NewChaCha8(seedOf("order")))
	groups := map[stratum][]TypedHole{}
	var order []stratum
	for _, h := range holes {
		key := stratum{h.Source.Half, h.Source.Language, h.Kind}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], h)
	}
	type dealt struct {
		hole TypedHole
		at   float64
	}
	var all []dealt
	for _, key := range order {
		group, first := groups[key], rng.Float64()
		rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		for i, h := range group {
			all = append(all, dealt{h, (float64(i) + first) / float64(len(group))})
		}
	}
	slices.SortStableFunc(all, func(a, b dealt) int { return cmp.Compare(a.at, b.at) })
	out := make([]TypedHole, len(all))
	for i := range all {
		out[i] = all[i].hole
	}
	return out
}

// closersAt is what an editor that closes brackets has put behind at, ok false
// where the line itself does not close what stands open there.
func closersAt(line string, at int) (closers string, ok bool) {
	pairs := map[byte]byte{'(': ')', '[': ']', '{': '}'}
	var open []byte
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		if i == at {
			b := []byte(closers)
			if quote != 0 {
				b = append(b, quote)
			}
			for j := len(open) - 1; j >= 0; j-- {
				b = append(b, open[j])
			}
			closers = string(b)
		}
		switch c := line[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case pairs[c] != 0:
			open = append(open, pairs[c])
		case len(open) > 0 && c == open[len(open)-1]:
			open = open[:len(open)-1]
		case c == ')' || c == ']' || c == '}':
			return "", false
		}
	}
	return closers, quote == 0 && len(open) == 0
}

// bodyBelow is the whole block that the first line opens, two to eight lines that are
// indented further, with the line break before it and none behind; "" if it opens
// none.
func bodyBelow(lines []string) string {
	opener := strings.TrimRight(lines[0], "\n")
	if last := opener[len(opener)-1]; last != '{' && last != ':' {
		return ""
	}
	width := len(leadingBlanks(opener))
	full, end := 0, 1
	for n := 1; n < len(lines) && full <= 8; n++ {
		if strings.TrimSpace(lines[n]) == "" {
			continue
		}
		if len(leadingBlanks(lines[n])) <= width {
			break
		}
		full, end = full+1, n+1
	}
	if full < 2 || full > 8 || strings.TrimSpace(lines[1]) == "" || isComment(strings.TrimSpace(lines[1])) {
		return ""
	}
	return "\n" + strings.TrimSuffix(strings.Join(lines[1:end], ""), "\n")
}

func leadingBlanks(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }
