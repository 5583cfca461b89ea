package eval

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"quarry/completion"
)

// A CursorKind is where in a line the user has got to when a [TypedHole] is filled.
type CursorKind string

// The places, and how many of every 32 holes begin there. Two of three positions
// of a line of code lie inside a word, one of eight behind a blank.
const (
	InWord           CursorKind = "inside a word"
	AfterBlank       CursorKind = "after a blank"
	AfterPunctuation CursorKind = "after a sign"
	InBrackets       CursorKind = "inside closed brackets"
	AtLineStart      CursorKind = "at a line's start"
	AtBody           CursorKind = "before a body"
)

// Places lists them in the order of reports.
var CursorKinds = []CursorKind{InWord, AfterBlank, AfterPunctuation, InBrackets, AtLineStart, AtBody}

var quota = map[CursorKind]int{InWord: 19, AfterBlank: 4, AfterPunctuation: 2, InBrackets: 3, AtLineStart: 2, AtBody: 2}

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
	// the rest of the line, for a body all of it. Closers is what the editor has
	// put behind the cursor.
	Typed, Want, Closers string
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
		all[s] = Repository{s.Name, docs}
	}
	return all, sources, nil
}

// CutSuite cuts 32 holes into each half of each language, as the quota of places
// says, the repositories of the half by turns. The same trees give the same holes.
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
	for _, p := range order {
		group := groups[p]
		for _, kind := range CursorKinds {
			for n := range quota[kind] {
				s := group[n%len(group)]
				id := fmt.Sprintf("%s/%s/%d", s.Name, strings.ReplaceAll(string(kind), " ", "-"), n)
				if h, ok := cutTyped(trees[s], s, kind, id); ok {
					holes = append(holes, h)
				}
			}
		}
	}
	return holes
}

// cutTyped looks for a hole by a random sequence that the id alone determines.
func cutTyped(r Repository, s Source, kind CursorKind, id string) (TypedHole, bool) {
	var docs []completion.Document
	for _, d := range r.Documents {
		if d.Language == s.Language && strings.Count(d.Text, "\n") >= 30 && !strings.Contains(d.Text, "\r") {
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 {
		return TypedHole{}, false
	}
	var seed [32]byte
	copy(seed[:], id)
	rng := rand.New(rand.NewChaCha8(seed))
	for range 20_000 {
		d := docs[rng.IntN(len(docs))]
		lines := strings.SplitAfter(d.Text, "\n")
		n := rng.IntN(len(lines))
		line := strings.TrimRight(lines[n], "\n")
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if code := line[indent:]; len(line) > 160 || isComment(code) || strings.HasPrefix(code, "*") || !strings.ContainsFunc(code, isLetter) {
			continue
		}
		start := len(strings.Join(lines[:n], ""))
		h := TypedHole{ID: id, Source: s, Kind: kind}
		at, end := 0, start+len(line)
		switch kind {
		case AtLineStart:
			at = indent
		case AtBody:
			body := bodyBelow(lines[n:])
			if body == "" {
				continue
			}
			at, end = len(line), end+len(body)
			if rng.IntN(2) == 0 { // Enter was pressed
				first := strings.TrimLeft(body, "\n")
				at += len(body) - len(first) + len(leadingBlanks(first))
			}
		default:
			var ok bool
			if at, ok = cursorIn(line, indent, kind, rng); !ok {
				continue
			}
		}
		if kind == InBrackets {
			closers, ok := closersAt(line, at)
			if !ok || closers == "" {
				continue
			}
			h.Closers = closers
		}
		h.Offset = start + at
		h.Want = strings.TrimRight(d.Text[h.Offset:end], " \t")
		h.Typed = d.Text[strings.LastIndexByte(d.Text[:h.Offset], '\n')+1 : h.Offset]
		h.Document = completion.Document{Root: d.Root, Path: d.Path, Language: d.Language, Text: d.Text[:h.Offset] + h.Closers + d.Text[end:]}
		if strings.TrimSpace(h.Want) != "" {
			return h, true
		}
	}
	return TypedHole{}, false
}

// cursorIn chooses an offset of the line's code with such a place.
func cursorIn(line string, indent int, kind CursorKind, rng *rand.Rand) (int, bool) {
	var fits []int
	for i := indent + 1; i < len(line); i++ {
		before, after := line[i-1], line[i]
		if after == ' ' || after == '\t' || after >= 0x80 || before >= 0x80 {
			continue
		}
		ok := false
		switch kind {
		case InWord:
			ok = inWord(before) && inWord(after)
		case AfterBlank:
			ok = before == ' ' || before == '\t'
		case AfterPunctuation:
			ok = !inWord(before) && before != ' ' && before != '\t'
		case InBrackets:
			ok = true
		}
		if ok {
			fits = append(fits, i)
		}
	}
	if len(fits) == 0 {
		return 0, false
	}
	return fits[rng.IntN(len(fits))], true
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

// bodyBelow is the block that the first line opens, two to eight lines that are
// indented further, with the line break before it and none behind; "" if it opens
// none.
func bodyBelow(lines []string) string {
	opener := strings.TrimRight(lines[0], "\n")
	if last := opener[len(opener)-1]; last != '{' && last != ':' {
		return ""
	}
	width := len(leadingBlanks(opener))
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && len(leadingBlanks(lines[n])) > width {
		n++
	}
	if n < 3 || n > 9 || isComment(strings.TrimSpace(lines[1])) {
		return ""
	}
	return "\n" + strings.TrimSuffix(strings.Join(lines[1:n], ""), "\n")
}

func leadingBlanks(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// firstWord is a line up to the end of its first word.
var firstWord = regexp.MustCompile(`^[^\w\n]*\w+`)

// A Verdict judges what a hole was filled with.
type Verdict struct {
	// Line: the line has the tokens it had. Word: up to the end of its first word
	// behind the cursor, where the cursor stands inside a word that word, it has.
	Line bool `json:"line"`
	Word bool `json:"word"`
	// Similar is 1 - edit distance / length of the line, 0 where nothing is shown.
	Similar float64 `json:"similar"`
	// Repeats: what is typed of the line, or of its last word, is written again.
	Repeats bool `json:"repeats,omitempty"`
	Shown   bool `json:"shown"`
}

// Judge compares got, what stands behind the cursor with the closers that are
// left of the editor's, with what was taken out.
func (h *TypedHole) Judge(got string) Verdict {
	v := Verdict{Shown: strings.TrimSpace(got) != ""}
	if !v.Shown {
		return v
	}
	want, is := h.line(h.Want), h.line(got)
	v.Line = same(h.Typed+want, h.Typed+is)
	v.Word = same(h.Typed+firstWord.FindString(want), h.Typed+firstWord.FindString(is))
	v.Similar = similarity(spaced(is), spaced(want))
	v.Repeats = repeats(h.Typed, is) && !repeats(h.Typed, want)
	return v
}

// line is the line that is judged: the cursor's, for a body its first.
func (h *TypedHole) line(text string) string {
	if h.Kind == AtBody {
		text = strings.TrimLeft(text, " \t\n")
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, " \t")
}

// repeats reports whether text begins with the line that is typed, or with the word
// that is begun.
func repeats(typed, text string) bool {
	line, text := strings.TrimSpace(typed), strings.TrimSpace(text)
	word := line[len(line)-len(lastWord(line)):]
	if strings.HasSuffix(typed, " ") || strings.HasSuffix(typed, "\t") {
		word = ""
	}
	return len(line) >= 3 && strings.HasPrefix(text, line) || len(word) >= 3 && strings.HasPrefix(text, word)
}

func lastWord(s string) string {
	i := len(s)
	for i > 0 && inWord(s[i-1]) {
		i--
	}
	return s[i:]
}
