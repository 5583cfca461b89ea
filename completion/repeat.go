package completion

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/index/lang"
)

// dropRepetition cuts an answer where it starts to repeat itself or what
// stands above, the way small models fail.
func dropRepetition(s *cursorContext, text string) string {
	text = dropLoop(s, text)
	lines := strings.Split(text, "\n")
	lines = lines[:min(repeatedFrom(lines), brokenOffFrom(lines), s.countedFrom(lines))]
	if copiesAbove(s, lines) {
		return ""
	}
	return strings.Join(lines, "\n")
}

// dropLoop drops the last line if it ends in the same words over and over: one
// round of them is no better than ten.
func dropLoop(s *cursorContext, text string) string {
	start := strings.LastIndexByte(text, '\n') + 1
	line := text[start:]
	if start == 0 {
		line = s.line + line
	}
	if !endsInLoop(s.lang.ID, line) && !endsInCount(s.lang.ID, line) {
		return text
	}
	return text[:max(start-1, 0)]
}

// What makes a loop: that many rounds of at most so many bytes, and that many
// bytes of all. Of 3.8 million lines of Go, Python and Perl 17 end so.
const (
	loopRounds = 6
	loopPiece  = 48
	loopBytes  = 40
	// listRounds is how many elements alike may stand in a row that breaks off, fullRounds
	// how many in one that ends behind an element; countRounds how many terms may count.
	listRounds, fullRounds, countRounds = 8, 16, 8
	// constantRounds is how many values without a name of their own may stand in a row.
	constantRounds = 24
)

var constants = regexp.MustCompile(`\b(?:[Nn]one|nil|[Nn]ull|NULL|[Tt]rue|[Ff]alse|TRUE|FALSE|undefined)\b`)

// endsInLoop reports whether line ends in a loop. Zeros, escapes and rows of
// numbers repeat with good reason, and so does what stands in a string: a round
// has to hold a name, and a blank or a call, outside of one.
func endsInLoop(language, line string) bool {
	for size := 2; size <= loopPiece && size*loopRounds <= len(line); size++ {
		start := len(line) - size
		for start > 0 && line[start-1] == line[start-1+size] {
			start--
		}
		run, round := len(line)-start, line[len(line)-size:]
		if run < size*roundsOf(round, line) || run < loopBytes || !strings.ContainsAny(round, " \t(") || !holdsName(round+round) {
			continue
		}
		if run < size*constantRounds && !holdsName(" "+constants.ReplaceAllString(round+round, "0")) {
			continue
		}
		if strings.ContainsAny(round, "\"'`") || !endsInString(language, line[:start]) {
			return true
		}
	}
	return false
}

// roundsOf is how many rounds at the end of line are a loop.
func roundsOf(round, line string) int {
	comma := strings.LastIndexByte(line, ',')
	if !strings.Contains(round, ",") || comma < 0 {
		return loopRounds
	}
	last, before := strings.TrimSpace(line[comma+1:]), line[:comma]
	if last != "" && last == strings.TrimSpace(before[strings.LastIndexByte(before, ',')+1:]) {
		return fullRounds
	}
	return listRounds
}

var digits = regexp.MustCompile(`\d+`)

// endsInCount reports whether line ends in a row of terms, each like the one before but
// for numbers that count: a[0] + a[1] + a[2].
func endsInCount(language, line string) bool {
	var numbers []int
	for _, d := range digits.FindAllString(line, -1) {
		n, err := strconv.Atoi(d)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	plain := digits.ReplaceAllString(line, "0")
	for size := 4; len(numbers) >= countRounds && size <= loopPiece && size*countRounds <= len(plain); size++ {
		start := len(plain) - size
		for start > 0 && plain[start-1] == plain[start-1+size] {
			start--
		}
		run, round := len(plain)-start, plain[len(plain)-size:]
		each := strings.Count(round, "0")
		if run < size*countRounds || run < loopBytes || each == 0 || !strings.ContainsAny(round, "+-*/|&.") || strings.Contains(round, ",") ||
			!holdsName(round+round) || endsInString(language, line[:len(line)-run]) {
			continue
		}
		if row := numbers[len(numbers)-strings.Count(plain[start:], "0"):]; counts(row, each) {
			return true
		}
	}
	return false
}

// counts: each number of row is as far from the one so many before it as that is from the
// one before that, and some are not the same.
func counts(row []int, each int) bool {
	moved := false
	for i := each; i < len(row); i++ {
		by := row[i] - row[i-each]
		if i >= 2*each && by != row[i-each]-row[i-2*each] {
			return false
		}
		moved = moved || by != 0
	}
	return moved
}

// holdsName: a word in text, behind its first byte, is a name and no number.
func holdsName(text string) bool {
	for i := 1; i < len(text); i++ {
		if !isWord(text[i-1]) && startsName(text[i:]) {
			return true
		}
	}
	return false
}

func startsName(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return first == '_' || unicode.IsLetter(first)
}

// countedLines is how many lines, or rounds of up to countedRound lines, that only count
// are a loop.
const countedLines, countedRound = 5, 3

// countedFrom is the index of the line behind the first of a row of lines, or of rounds of
// them, each like the one before but for words that count: const b = 1, const c = 1. That
// one is worth showing; how far to count, the answer does not know. The members of a type
// and the elements of a list are no such row.
func (s *cursorContext) countedFrom(lines []string) int {
	full := append([]string{s.line + lines[0]}, lines[1:]...)
	for i := range full {
		for size := 1; size <= countedRound && size <= i; size++ {
			row := 0 // lines up to this one that are as those of the round before
			var steps [][]int
			counted := false
			for j := i; j >= size; j-- {
				by, ok := countSteps(full[j-size], full[j])
				if !ok || row >= size && !slices.Equal(by, steps[row-size]) {
					break
				}
				steps = append(steps, by)
				counted = counted || slices.ContainsFunc(by, func(n int) bool { return n != 0 })
				row++
			}
			if begin := i - row - size + 1; counted && row == (countedLines-1)*size && !s.isMember(full, begin, size) {
				return begin + size
			}
		}
	}
	return len(lines)
}

// countSteps is how far each word of next is from that of line, ok if all else is the
// same: a letter, or what ends in a number, may be the next of its kind, the one before,
// and a number any other.
func countSteps(line, next string) (by []int, ok bool) {
	line, next = strings.TrimSpace(line), strings.TrimSpace(next)
	for line != "" && next != "" {
		a, b := firstWord(line), firstWord(next)
		n, ok := stepTo(a, b)
		if !ok {
			return nil, false
		}
		by = append(by, n)
		line, next = line[len(a):], next[len(b):]
	}
	return by, line == next
}

// stepTo is how far b is from a when one counts: 1 from b to c, 10 from x10 to x20.
func stepTo(a, b string) (by int, ok bool) {
	if a == b {
		return 0, true
	}
	stem := strings.TrimRight(a, "0123456789")
	if stem == a || stem != strings.TrimRight(b, "0123456789") {
		by = int(b[0]) - int(a[0])
		return by, len(a) == 1 && len(b) == 1 && startsName(a) && isWord(a[0]) && isWord(b[0]) && (by == 1 || by == -1)
	}
	x, err := strconv.Atoi(a[len(stem):])
	y, err2 := strconv.Atoi(b[len(stem):])
	return y - x, err == nil && err2 == nil
}

var typeBody = regexp.MustCompile(`^\s*(?:[\w@]+\s+)*?(?:class|struct|enum|interface|union|record|type|message|trait|object|data)\b`)

// isMember: the rounds of lines from begin on are the elements of a list, the members of a
// type or the cases of a choice, which may well count.
func (s *cursorContext) isMember(lines []string, begin, size int) bool {
	line := s.lang.code(lines[begin])
	if said := strings.TrimSpace(line); size == 1 && (s.lang.Content != lang.Code || strings.HasSuffix(said, ",") || startsWithWord(said, "case") || startsWithWord(said, "when")) {
		return true
	}
	above := strings.Split(s.above, "\n")
	above = append(above[:max(len(above)-1, 0)], lines[:begin]...)
	for _, head := range slices.Backward(above) {
		if blank(head) || s.indentWidth(head) >= s.indentWidth(line) {
			continue
		}
		head = s.lang.code(head)
		body := strings.TrimRight(head, "{ \t")
		return typeBody.MatchString(head) && (!strings.HasSuffix(body, ")") && !strings.HasSuffix(body, "=>")) ||
			startsWithWord(strings.TrimSpace(head), "class") || strings.HasSuffix(head, "(") || strings.HasSuffix(head, "[")
	}
	return false
}

// firstWord is the word that text begins with, or its first byte.
func firstWord(text string) string {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return text[:max(n, 1)]
}

// repeatedFrom is the index of the first line from which on the lines repeat
// the ones just before: the same line again, or a block of up to twelve lines.
// Lines that say little (braces, a lone keyword) repeat with good reason, and
// rows of numbers once.
func repeatedFrom(lines []string) int {
	for i := 1; i < len(lines); i++ {
		for size := 1; size <= repeatedBlock && size <= i; size++ {
			if i+size > len(lines) {
				break
			}
			if !sameLines(lines[i-size:i], lines[i:i+size]) {
				continue
			}
			if holdsName("\n"+strings.Join(lines[i:i+size], "\n")) || i+2*size <= len(lines) && sameLines(lines[i:i+size], lines[i+size:i+2*size]) {
				return i
			}
		}
	}
	return len(lines)
}

// repeatedBlock is the longest block that is looked for again, brokenLines and brokenWords
// the least of it that says so where the answer breaks off in it.
const repeatedBlock, brokenLines, brokenWords = 12, 4, 8

// brokenOffFrom is the index of the last lines, if they begin the block just before them
// again.
func brokenOffFrom(lines []string) int {
	for size := brokenLines + 1; size <= repeatedBlock; size++ {
		for i := size; i <= len(lines)-brokenLines && i < 2*size; i++ {
			if n := len(lines) - i; n < size && sameLines(lines[i-size:i-size+n], lines[i:]) && wordCount(strings.Join(lines[i:], " ")) >= brokenWords {
				return i
			}
		}
	}
	return len(lines)
}

// sameLines compares both sides trimmed, and wants something said in them.
func sameLines(a, b []string) bool {
	words := 0
	for i := range a {
		x := strings.TrimSpace(a[i])
		if x != strings.TrimSpace(b[i]) {
			return false
		}
		words += wordCount(x)
	}
	return words >= 2
}

// copiesAbove: the answer is nothing but the lines just above the cursor
// again, two of them at least, or one that says a lot.
func copiesAbove(s *cursorContext, lines []string) bool {
	if s.mode == fillLine || len(lines) == 0 {
		return false
	}
	full := append([]string{s.line + lines[0]}, lines[1:]...)
	if blank(full[0]) {
		full = full[1:]
	}
	for len(full) > 0 && blank(full[len(full)-1]) {
		full = full[:len(full)-1]
	}
	above := strings.Split(strings.TrimRight(s.above, " \t\n"), "\n")
	if len(full) == 0 || len(above) < len(full) {
		return false
	}
	if len(full) == 1 && wordCount(full[0]) < 4 || !holdsName("\n"+strings.Join(full, "\n")) {
		return false // rows of numbers are alike
	}
	return sameLines(above[len(above)-len(full):], full)
}

// copiesBelow: text makes the cursor's line what one of those below says already: the
// next, or the one after, if what stands between is about other things. In a run of equal
// lines, where the one above says it too, one more is wanted; and the word that ends a block
// may well stand above the one that ends the block around it.
func copiesBelow(s *cursorContext, text string) bool {
	line, _, more := strings.Cut(text, "\n")
	if blank(line) {
		return false // what is added are the lines after the cursor's
	}
	line = s.line + line
	if !more {
		line += s.rest[coveredRest(s, text):]
	}
	said := s.statement(line)
	if !holdsName(" "+said) || said == s.statement(s.lastAbove()) {
		return false
	}
	same := func(below string) bool {
		indented := s.indentWidth(line) - s.indentWidth(below)
		return said == s.statement(below) && (indented == 0 || s.mode == fillBlock && (indented < 0 || !s.lang.closesBlock(line)))
	}
	if same(s.firstBelow()) {
		return true
	}
	next, after := s.codeBelow()
	return same(next) || blank(s.line) && same(after) && wordCount(said) >= 2 && !leaves[firstWord(said)] && s.indentWidth(after) == s.indentWidth(next) && !sharesName(next, after)
}

// leaves are the words of statements that the same block may well have several of.
var leaves = wordSet("break continue goto raise return throw yield")

// statement is what line says, without its indentation, its comment and the sign at its end.
func (s *cursorContext) statement(line string) string {
	code := s.lang.code(line)
	if code == "" {
		code = line // a comment says that
	}
	return strings.TrimRight(strings.TrimSpace(code), ";,")
}

// codeBelow are the first two lines below the cursor's that are neither blank nor a
// comment.
func (s *cursorContext) codeBelow() (next, after string) {
	for line := range strings.SplitSeq(s.below, "\n") {
		switch {
		case s.lang.code(line) == "", s.lang.Comment.Open != "" && strings.HasPrefix(strings.TrimSpace(line), s.lang.Comment.Open):
		case next == "":
			next = line
		default:
			return next, line
		}
	}
	return next, ""
}

// sharesName: a name stands in both lines.
func sharesName(a, b string) bool {
	names := map[string]bool{}
	for b != "" {
		word := firstWord(b)
		names[word] = startsName(word)
		b = b[len(word):]
	}
	for a != "" {
		word := firstWord(a)
		if names[word] {
			return true
		}
		a = a[len(word):]
	}
	return false
}

// onceWords begin or join something, so that none follows itself.
var onceWords = wordSet(`and as async await break case catch class const continue def defer del delete elif else enum export extends
	fn for foreach from func function global if implements import in include insert instanceof interface is lambda let match namespace new
	mut nonlocal or package private protected public raise return select static struct switch then throw trait try update use using val
	var when where while with yield`)

// shortWords are those that are too short for most rules, and begin no name when they follow their first letter.
var shortWords = wordSet("do echo if is my of print pub")

// beginsStatement tells that nothing but blanks, a brace or else stands before the word at the cursor.
func (s *cursorContext) beginsStatement(word string) bool {
	before := strings.TrimSuffix(s.line, word)
	return before != s.line && strings.Trim(strings.TrimSuffix(strings.TrimRight(before, " \t"), "else"), " \t{};") == ""
}

// beginsPath begins a path relative to a file or a folder.
var beginsPath = regexp.MustCompile(`^\.{1,2}/[\pL\d_]`)

// argument is what may follow the word that a statement begins with.
var argument = regexp.MustCompile(`^ (?:[\pL\d_$"'*&(-]|/[^/*])`)

// beginsTwice tells of a line of one word, a keyword or a command, that the answer says again
// before what it is about: assert, pub, echo. A field may be called as its type is, but hardly has
// anything behind it; and what the file says twice may be said so again, as "long long" is.
func (s *cursorContext) beginsTwice(line, word, rest string) bool {
	return s.lang.Content == lang.Code && s.lang.ID != "sql" && strings.TrimSpace(line) == word && strings.ToLower(word) == word && word != "long" &&
		argument.MatchString(rest) && !s.says(word+" "+word)
}

// again tells whether an answer begins with what is typed.
type again uint8

const (
	goesOn again = iota
	saidAgain
	unclear // so that it had better not be shown
)

// lastPiece is what text begins with of the last piece of code typed, if no code has
// that twice: a keyword, the sign of a comment, the left side of an assignment, what a
// member is of, the base of a number; and the first letters of a longer word. lead are the
// blanks before text.
func (s *cursorContext) lastPiece(lead, text string, literal bool) (string, again) {
	line := strings.TrimRight(s.line, " \t")
	if line == "" || text == "" {
		return "", goesOn
	}
	if sign := s.commentSign(line); sign != "" && strings.HasPrefix(text, sign) {
		if next := text[len(sign):]; next == "" || next[0] == ' ' || isWord(next[0]) && s.lang.Content != lang.Prose {
			return sign, saidAgain
		}
	}
	word, next := lastWord(line), firstWord(text)
	switch {
	case len(line) < len(s.line):
		if next != word || word == "" {
			break
		}
		if onceWords[strings.ToLower(word)] {
			return word, saidAgain
		}
		if word == "not" && !literal {
			return "", unclear // two make a truth value of what follows
		}
		if !literal && s.beginsTwice(line, word, text[len(word):]) {
			return word, saidAgain
		}
	case lead == "" && word != "" && strings.HasPrefix(text, numberAt(line)):
		if number := numberAt(line); !literal && !isPattern(number, text[len(number):]) {
			return "", unclear
		}
	case lead == "" && word != "" && isShort(word) && startsName(word) && strings.HasPrefix(next, word) && !s.hasWord(word+next):
		if is := s.wordAgain(word, next, literal); is != goesOn {
			return word, is
		}
	}
	if base := basedInt.FindString(line); base != "" && strings.HasPrefix(text, base) && (!literal || base[1]|0x20 == 'x') {
		return base, saidAgain
	}
	for _, piece := range []*regexp.Regexp{assigned, qualifier, compound} {
		echo := strings.TrimRight(piece.FindString(line), " \t")
		if isShort(echo) || !strings.HasPrefix(text, echo) || strings.HasSuffix(echo, "::=") || s.says(echo+echo) || !startsName(strings.TrimLeft(echo, ".$")) {
			continue
		}
		switch rest := text[len(echo):]; {
		case isGroups(echo, rest, literal):
		case strings.HasPrefix(rest, echo), literal && endsInString(s.lang.ID, line):
			return "", unclear
		default:
			return echo, saidAgain
		}
	}
	return "", goesOn
}

// wordAgain judges a word of one or two letters before next, which begins with them.
// Hardly a word begins with the same two letters twice, but for those of scripts that have
// no capitals, and mostly no blanks between words.
func (s *cursorContext) wordAgain(word, next string, literal bool) again {
	letters := []rune(word)
	switch {
	case next == word:
		if onceWords[word] || !literal && len(letters) > 1 && s.hasWord(word) { // db, and then db.Query
			return saidAgain
		}
	case !literal && len(word) == 1 && s.beginsStatement(word) && (onceWords[next] || shortWords[next]): // } else i, and then if
		return saidAgain
	case isGroups(word, next, literal), literal && isShort(next), strings.ToUpper(word) == strings.ToLower(word):
	case len(letters) > 1 && isPattern(word, next[len(word):]):
	case s.hasWord(next):
		if literal {
			return unclear
		}
		return saidAgain
	case len(letters) < 2 || isShort(next):
	case strings.Contains(next, "_") || strings.ToLower(next[len(word):]) != next[len(word):]:
		return saidAgain
	default: // rerender and cocoa are words; far more often it is the word said again
		return unclear
	}
	return goesOn
}
