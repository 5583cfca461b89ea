package ask

import (
	"math"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/pattern"
)

// piece is a piece of evidence under its number.
type piece struct {
	agent.Citation
	Number int
	Text   string // as it is shown
	// numbers are those of the text's lines in the file, 0 for a line that stands for
	// some that are left out.
	numbers []int
	// whole are the lines that were found, the first of which is line first of the file.
	whole []string
	first int
	// selected says that the question is about it.
	selected bool
}

// shown are the lines of the file that are shown.
func (p *piece) shown() (list []agent.Citation) {
	for _, n := range p.numbers {
		if last := len(list) - 1; n > 0 && last >= 0 && list[last].EndLine == n-1 {
			list[last].EndLine = n
		} else if n > 0 {
			list = append(list, agent.Citation{Path: p.Path, StartLine: n, EndLine: n})
		}
	}
	return list
}

// leftOut stands for lines that are not shown.
const leftOut = "..."

// shownLine is a line of a piece and its number in the file.
type shownLine struct {
	text   string
	number int
}

// words are what a question asks about, with what each weighs: the more, the fewer of the
// pieces have it.
type words map[string]float64

// wordsOf weighs the words of a question by the texts that were found.
func wordsOf(question string, texts []string) words {
	w := words{}
	for _, word := range asked(question) {
		stem, having := stemOf(word), 0
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), stem) {
				having++
			}
		}
		w[stem] = math.Log(float64(len(texts)+2) / float64(having+1))
	}
	return w
}

// in is the weight of the words in a text.
func (w words) in(text string) (sum float64) {
	text = strings.ToLower(text)
	for stem, weight := range w {
		if strings.Contains(text, stem) {
			sum += weight
		}
	}
	return sum
}

// narrowed is what of a piece is shown in most bytes: no imports, of a long comment the
// beginning and what has words of the question, and if that is too much the declarations
// that have most of them.
func narrowed(text string, first, most int, w words) (shown string, numbers []int) {
	var lines []shownLine
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, shownLine{line, first + i})
	}
	if len(text) > most {
		lines = withoutPreamble(lines)
		lines = shortComments(lines, w)
	}
	if size(lines) > most {
		lines = bestBlocks(lines, most, w)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.text
		numbers = append(numbers, l.number)
	}
	return strings.Join(out, "\n"), numbers
}

func size(lines []shownLine) (n int) {
	for _, l := range lines {
		n += len(l.text) + 1
	}
	return n
}

var (
	preamble = pattern.Lazy(`^\s*(?:package|import|from|use|using|namespace|#include|#pragma|require|extern crate|module\.exports\b|"use strict"|'use strict')\b|^\s*(?:const|let|var)\s.*=\s*require\(|^\s*#!`)
	remark   = pattern.Lazy(`^\s*(?://|#(?:\s|#|$)|/\*|\*(?:\s|/|$)|--(?:\s|$)|;;)`)
)

// withoutPreamble leaves out what a file begins with before it declares something: its
// licence, package and imports.
func withoutPreamble(lines []shownLine) []shownLine {
	end, depth := 0, 0
	for i := 0; i < len(lines); {
		line := lines[i].text
		switch comment := commentEnd(lines, i); {
		case depth > 0 || preamble().MatchString(line):
			depth += strings.Count(line, "(") + strings.Count(line, "{") - strings.Count(line, ")") - strings.Count(line, "}")
			i++
			end = i
			continue
		case comment > i:
			i = comment
			if i < len(lines) && blank(lines[i].text) {
				end = i // what stands apart tells of the file
			}
			continue
		case blank(line):
			i++
			continue
		}
		break
	}
	for end < len(lines) && blank(lines[end].text) {
		end++
	}
	if end == len(lines) {
		return lines // there is nothing else
	}
	return lines[end:]
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// longComment is how many lines of a comment are shown, of a longer one half of these
// and those that have words of the question.
const longComment = 4

// shortComments leaves out of long comments, and texts in three quotes, what does not
// tell of the question.
func shortComments(lines []shownLine, w words) (kept []shownLine) {
	for i := 0; i < len(lines); {
		end := commentEnd(lines, i)
		comment := lines[i:max(end, i+1)]
		i += len(comment)
		if len(comment) <= longComment {
			kept = append(kept, comment...)
			continue
		}
		for j, l := range comment {
			if j < longComment/2 || j == len(comment)-1 || w.in(l.text) > 0 {
				kept = append(kept, l)
			}
		}
	}
	return kept
}

// commentEnd is the index behind the comment that begins at i, i if none does.
func commentEnd(lines []shownLine, i int) int {
	line := strings.TrimSpace(lines[i].text)
	for _, quotes := range []string{`"""`, "'''"} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, "rRuU"), quotes); ok {
			if strings.Contains(rest, quotes) {
				return i + 1
			}
			for j := i + 1; j < len(lines); j++ {
				if strings.Contains(lines[j].text, quotes) {
					return j + 1
				}
			}
			return len(lines)
		}
	}
	if strings.HasPrefix(line, "/*") && !strings.Contains(line, "*/") {
		for j := i + 1; j < len(lines); j++ {
			if strings.Contains(lines[j].text, "*/") {
				return j + 1
			}
		}
		return len(lines)
	}
	j := i
	for j < len(lines) && remark().MatchString(lines[j].text) {
		j++
	}
	return j
}

// bestBlocks are the blocks of a piece that have most of the question's words, as many as
// there is room for, in their order.
func bestBlocks(lines []shownLine, most int, w words) (kept []shownLine) {
	blocks := blocksOf(lines)
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	scores := make([]float64, len(blocks))
	for i, b := range blocks {
		var text strings.Builder
		for j := 0; j < len(b); {
			comment := max(commentEnd(b, j), j)
			for _, l := range b[j:max(comment, j+1)] {
				text.WriteString(l.text + "\n")
			}
			if comment == j && !blank(b[j].text) {
				scores[i] = 1 // it is not a comment alone
			}
			j = max(comment, j+1)
		}
		scores[i] *= w.in(text.String())
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	chosen := make([][]shownLine, len(blocks))
	// Of what is inside of a type its first line is shown too.
	inside := len(blocks) > 1 && hasMembers().MatchString(lines[0].text) && indentOf(lines[0].text) < indentOf(blocks[1][0].text)
	if inside {
		most -= len(lines[0].text) + 1
	}
	for n, i := range order {
		b := blocks[i]
		for len(b) > 0 && (size(b) > most || blank(b[len(b)-1].text)) {
			b = b[:len(b)-1] // its beginning
		}
		if n == 0 && len(b) == 0 {
			first := blocks[i][0]
			first.text = strings.ToValidUTF8(first.text[:min(len(first.text), most)], "")
			b = []shownLine{first}
		}
		if n > 0 && (scores[i] == 0 || len(b) < 3 && size(b) < size(blocks[i])-4) {
			continue
		}
		chosen[i] = b
		most -= size(b) + len(leftOut) + 1
	}
	if inside && len(chosen[0]) == 0 && most > 0 {
		chosen[0] = blocks[0][:1]
	}
	for i, b := range chosen {
		if len(b) == 0 {
			continue
		}
		switch n := len(kept); {
		case n > 0 && b[0].number-kept[n-1].number <= 3 && chosen[i-1] != nil: // blank lines alone are
			kept = append(kept, shownLine{"", b[0].number - 1})
		case n > 0:
			kept = append(kept, shownLine{leftOut, 0})
		}
		kept = append(kept, b...)
	}
	return kept
}

// blocksOf parts lines where one that is indented no more than the first begins behind a
// blank line, of a type as little as any of its members, and before the comment of one that
// declares something.
func blocksOf(lines []shownLine) (blocks [][]shownLine) {
	head := codeFrom(lines, 0)
	least := math.MaxInt
	if head < len(lines) && !hasMembers().MatchString(lines[head].text) {
		least = indentOf(lines[head].text)
	}
	for _, l := range lines[min(head+1, len(lines)):] {
		if !blank(l.text) {
			least = min(least, indentOf(l.text))
		}
	}
	start := 0
	for i := 1; i < len(lines); i++ {
		if !blank(lines[i-1].text) || blank(lines[i].text) {
			continue
		}
		code := codeFrom(lines, i)
		if indentOf(lines[i].text) <= least || code < len(lines) && declaring().MatchString(lines[code].text) {
			blocks, start = append(blocks, lines[start:i]), i
		}
	}
	return append(blocks, lines[start:])
}

// codeFrom is the index of the first line from i on that is no comment, no decorator and
// not blank.
func codeFrom(lines []shownLine, i int) int {
	for i < len(lines) {
		comment := commentEnd(lines, i)
		if body := strings.TrimSpace(lines[i].text); comment == i && body != "" && !strings.HasPrefix(body, "@") {
			return i
		}
		i = max(comment, i+1)
	}
	return i
}

// hasMembers matches a line that begins a type or a name space.
var hasMembers = pattern.Lazy(`^\s*(?:[\w@]+\s+)*?(?:class|struct|interface|enum|trait|impl|object|module|namespace|record|union)\b`)

// declaring matches a line that begins a function or type in most languages.
var declaring = pattern.Lazy(`^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|final|abstract|async|unsafe|virtual|override|inline|const)\s+)*(?:func|function|def|fn|class|struct|interface|enum|trait|impl|type|fun|object|module|get|set)\b`)

// declares matches what stands before a name in a line that declares it, and defines what
// stands behind it, in most languages.
var (
	declares = pattern.Lazy(`(?:\b(?:func|function|def|fn|class|struct|interface|enum|trait|impl|type|const|let|var|val|fun|module|object|public|private|protected|static|void|int|bool|boolean|string|String|float|double|long|auto)\b[^=;{(]*[^\pL\pN_]|^\s*|\)\s*)$`)
	defines  = pattern.Lazy(`^\s*(?:[({<:=\[]|$)`)
)

// has answers whether a piece has a name, and the line of the piece, from 1, that
// declares it, 0 if none does.
func (p *piece) has(name string) (has bool, line int) {
	for i, text := range strings.Split(p.Text, "\n") {
		if !strings.Contains(text, name) {
			continue
		}
		for _, at := range word().FindAllStringIndex(text, -1) {
			if text[at[0]:at[1]] != name {
				continue
			}
			has = true
			if defines().MatchString(text[at[1]:]) && declares().MatchString(text[:at[0]]) {
				return true, i + 1
			}
		}
	}
	return has, 0
}

// from is the place of what a line of the text declares, and its lines with the comment
// above it: to the next line
// that is indented no more and closes nothing, at most wholePiece lines; all that is shown
// where line is 0, as far as that goes.
func (p *piece) from(line int) (place agent.Citation, lines string) {
	begin, end := p.StartLine-p.first, p.EndLine-p.first+1
	if line > 0 {
		begin = p.numbers[line-1] - p.first
		end = begin + 1 + declared(p.whole[begin:])
	}
	end = min(end, begin+wholePiece)
	for end > begin+1 && blank(p.whole[end-1]) {
		end--
	}
	place = p.Citation
	place.StartLine, place.EndLine = p.first+begin, p.first+end-1
	for line > 0 && begin > 0 && aboveCode().MatchString(p.whole[begin-1]) {
		begin--
	}
	return place, strings.Join(p.whole[begin:end], "\n")
}

// aboveCode matches a line of what belongs to the code below it, a comment or a decorator.
var aboveCode = pattern.Lazy(`^\s*(?://|#|/\*|\*|--|;;|@)`)

// declared is how many lines behind the first belong to what that one declares.
func declared(lines []string) int {
	depth := indentOf(lines[0])
	for i, line := range lines[1:] {
		body := strings.TrimSpace(line)
		switch {
		case body == "", indentOf(line) > depth, body == "{", strings.HasPrefix(body, ")") && strings.Trim(body, "})];, ") != "":
		case strings.Trim(body, "})];, ") == "", body == "end":
			return i + 1
		default:
			return i
		}
	}
	return len(lines) - 1
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
