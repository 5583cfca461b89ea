package completion

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/index/lang"
	"quarry/index/visible"
)

// A step turns an answer into a better one. It is pure: it sees the cursor context and
// the text, and text has Unix line endings.
type step func(s *cursorContext, text string) string

// steps is the chain from what a model wrote to what the user sees. A step
// may cut text that made an earlier one hold back, so the chain runs until
// nothing changes; that makes it idempotent by construction.
var steps = []step{
	fixLeading,
	alignColumn,
	func(s *cursorContext, text string) string { cut, _ := s.scope(text, true); return text[:cut] },
	dropRepetition,
	matchIndent,
	cutRest,
	trimEnd,
	dropUseless,
	dropHidden,
}

// code is the code in what a model wrote.
func (s *cursorContext) code(text string) string {
	return stripFences(s, cutControl(unixLines(text)))
}

// joined is the code in what a model wrote as it goes on behind what is typed, which
// the stop rules read while there is more to come.
func (s *cursorContext) joined(text string) string {
	return alignColumn(s, fixLeading(s, stripEcho(s, s.code(text))))
}

// finish runs the chain over text and answers what to insert, in the
// document's own line endings, and how many bytes of the line's rest it
// replaces. An empty text means there is nothing worth showing.
func finish(s *cursorContext, text string) (insert string, covers int) {
	// Each round that changes something shortens the text or rewrites its
	// indentation, which settles in two rounds. An answer that does not settle
	// is not understood and not shown, nor is one that says again what is typed
	// when that was dropped once.
	const rounds = 8
	dropped := false
	for range rounds {
		before := text
		text = s.code(text)
		said := stripEcho(s, text)
		if said != text && dropped {
			return "", 0
		}
		dropped, text = said != text || dropped, said
		for _, f := range steps {
			if text == "" {
				return "", 0
			}
			text = f(s, text)
		}
		if text == before {
			covers = coveredRest(s, text)
			if s.eol != "\n" {
				text = strings.ReplaceAll(text, "\n", s.eol)
			}
			return text, covers
		}
	}
	return "", 0
}

// dropHidden answers "" for an answer with a control, or a character that turns the
// direction of text or has no look, that the document does not have: nobody would see
// what they accept.
func dropHidden(s *cursorContext, text string) string {
	if _, ok := visible.Added(s.line, text, s.rest, s.above, s.line, s.rest, s.below); ok {
		return ""
	}
	return text
}

// stripFences takes the code out of a Markdown answer. In a comment or a docstring a fence is
// the document's own.
func stripFences(s *cursorContext, text string) string {
	const fence = "```"
	if !strings.Contains(text, fence) || s.lang.ID == "markdown" || s.isDocumentation() {
		return text
	}
	lines := strings.Split(text, "\n")
	open := -1
	for i, line := range lines {
		mark := strings.TrimSpace(line)
		if !strings.HasPrefix(mark, fence) {
			continue
		}
		if open < 0 && (i == 0 || len(mark) > len(fence) || blankLines(lines[:i])) {
			open = i // what stands before it is talk
			continue
		}
		return strings.Join(lines[open+1:i], "\n")
	}
	if open < 0 {
		return text // a fence inside a line: part of the code
	}
	return strings.Join(lines[open+1:], "\n")
}

func blankLines(lines []string) bool {
	for _, l := range lines {
		if !blank(l) {
			return false
		}
	}
	return true
}

// minEcho is the least that is an echo, in characters: "if" may well follow "if", and
// neither "papa" nor "папа" is half of it said twice.
const minEcho = 3

func isShort(text string) bool { return utf8.RuneCountInString(text) < minEcho }

// stripEcho drops what is typed where the answer says it again: the whole line,
// what begins with some name in it and ends in the word at the cursor, or the last
// piece of code where no code has that twice. Within a number or a string the same
// may well come twice (00:00, ff:ff): nothing is dropped there, and an answer of which
// nobody can tell is not shown.
func stripEcho(s *cursorContext, text string) string {
	typed, lead := strings.TrimSpace(s.line), leadingSpace(text)
	if typed == "" {
		return text
	}
	if rest, ok := s.beginsAnew(typed, text); ok {
		return rest
	}
	inWord, literal := isWord(s.line[len(s.line)-1]), s.inLiteral()
	if lead == "" {
		text = text[s.sigilAgain(text, literal):]
	}
	for n := s.signsAgain(lead, text[len(lead):], literal); n > 0; n = s.signsAgain(lead, text[len(lead):], literal) {
		text = text[len(lead)+n:]
		lead = leadingSpace(text)
	}
	for i := 0; i < len(typed) && !isShort(typed[i:]); i++ {
		echo := typed[i:]
		rest, ok := strings.CutPrefix(text[len(lead):], echo)
		switch {
		case !ok || isPattern(echo, rest) || isGroups(echo, rest, literal):
		case i > 0 && strings.HasPrefix(echo, ": "): // the type of a name
			if inWord && !literal && s.lang.Content == lang.Code && isWord(typed[i-1]) && !strings.Contains(typed[:i], " ? ") {
				return rest
			}
		case i > 0:
			if !inWord || lead != "" || isWord(typed[i-1]) || !startsName(echo) && !beginsPath.MatchString(echo) {
				continue
			}
			if literal && (rest == "" || !isWord(rest[0]) || strings.ContainsAny(echo, "0123456789")) {
				return ""
			}
			return rest
		case !holdsName(" " + echo): // a row of numbers goes on with the same ones
		case wordCount(echo) >= 2:
			if inWord || rest == "" || !isWord(rest[0]) || !isWord(echo[len(echo)-1]) {
				return rest
			}
		case inWord && len(lead) != 1, !inWord && declaresAgain(echo, rest):
			return rest
		}
	}
	if lead == "" {
		if n := s.signedAgain(text, literal); n > 0 {
			return text[n:]
		}
		text = text[s.lettersAgain(text):]
	}
	switch echo, again := s.lastPiece(lead, text[len(lead):], literal); again {
	case saidAgain:
		return text[len(lead)+len(echo):]
	case unclear:
		return ""
	}
	return text
}

// signedWord is a word with the signs before it, which an answer says again where it
// completes the word: $HOM and $HOME. A list or a sum may well go on so (1, 2, 23).
var signedWord = regexp.MustCompile(`(?:[$@#%"'\x60\[<]|</|->|\?\.|\.|::|\B--?)[\pL_][\pL\d_]*$|(?:[=!<>:]=|===|!==) ?[\pL\d_]+$`)

// signedAgain is the length of the word at the cursor and the signs before it where text
// says them again and goes on with the word, which stands nowhere near.
func (s *cursorContext) signedAgain(text string, literal bool) int {
	echo := signedWord.FindString(s.line)
	rest, ok := strings.CutPrefix(text, echo)
	if !ok || isShort(echo) || rest == "" || !isWord(rest[0]) || isGroups(echo, rest, literal) || s.isNear(lastWord(s.line)) {
		return 0
	}
	return len(echo)
}

// doubled are operators of two signs and more, none of which any code has twice in a row;
// begun those of which the first sign alone stands before none of them either, as & may
// before &&.
var (
	doubled = []string{"===", "!==", "<=>", ":=", "!=", "==", "<=", ">=", "+=", "-=", "*=", "/=", "=>", "->", "&&", "||", "::", "??"}
	begun   = []string{":=", "!=", "=>", "->", "::"}
)

// signsAgain is how much text, behind the blanks of lead, begins with of an operator that
// is typed, or begun. What a blank parts is not begun (to: ::A), and neither is a name
// from the root behind the colon of a choice, nor a reference behind an operator.
func (s *cursorContext) signsAgain(lead, text string, literal bool) int {
	line := strings.TrimRight(s.line, " \t")
	if literal || line == "" || s.commentSign(line) != "" {
		return 0
	}
	const signs = "=!<>:+-*/&|?"
	for _, operator := range doubled {
		rest, ok := strings.CutPrefix(text, operator)
		if !ok || rest == "" || strings.IndexByte(signs, rest[0]) >= 0 || operator == "&&" && lead != "" && isWord(rest[0]) {
			continue
		}
		said := operator
		if len(line)+len(lead) == len(s.line) && !strings.HasSuffix(line, operator) && slices.Contains(begun, operator) {
			said = operator[:1]
		}
		if said == ":" && strings.HasSuffix(line, " :") {
			continue
		}
		if before, ok := strings.CutSuffix(line, said); ok && (before == "" || strings.IndexByte(signs, before[len(before)-1]) < 0) {
			return len(said)
		}
	}
	return 0
}

// A sigil is what a name begins with, once; in says where that is so, everywhere if nil.
type sigil struct {
	sign string
	// quoted: it means the same in a string.
	quoted bool
	in     func(l language) bool
}

var sigils = []sigil{
	{"</", true, nil},
	{"${", true, nil},
	{"#{", true, nil},
	{"@", false, func(l language) bool { return l.ID != "ruby" }}, // which has @@a
	{"$", true, func(l language) bool {
		return slices.Contains([]string{"php", "powershell", "fish", "shellscript"}, l.Family)
	}},
	{"<", false, func(l language) bool { return l.Blocks.Style == lang.Markup || l.Family == "js" }},
}

// sigilAgain is the length of the sigil typed, or of the sign that the line begins with,
// where text says it again before a name: </ and </div>, # and #include. A document that
// has it twice may want it so.
func (s *cursorContext) sigilAgain(text string, literal bool) int {
	if s.lang.Content == lang.Prose {
		return 0
	}
	again := func(sign string) bool {
		rest, ok := strings.CutPrefix(text, sign)
		before, typed := strings.CutSuffix(s.line, sign)
		return ok && typed && rest != "" && !strings.HasSuffix(before, sign) && !s.says(sign+sign) &&
			(startsName(rest) || sign == "#" && rest[0] == '[')
	}
	for _, g := range sigils {
		before := strings.TrimRight(strings.TrimSuffix(s.line, g.sign), " \t")
		shifts := g.sign == "<" && before != "" && (isWord(before[len(before)-1]) && lastWord(before) != "return" || strings.HasSuffix(before, ")"))
		if (g.in == nil || g.in(s.lang)) && (g.quoted || !literal) && !shifts && again(g.sign) {
			return len(g.sign)
		}
	}
	switch typed := strings.TrimSpace(s.line); {
	case typed == "#", typed == "." && strings.HasSuffix(s.lang.ID, "css"):
		if again(typed) {
			return 1
		}
	}
	return 0
}

// lettersAgain is how many letters of the word at the cursor text says again: without them
// it completes a word that stands near, with them one that does not (pro|ocess). A number has none.
func (s *cursorContext) lettersAgain(text string) int {
	begun := lastWord(s.line)
	end := 0
	for end < len(text) && isWord(text[end]) {
		end++
	}
	if utf8.RuneCountInString(begun) < 2 || isShort(text[:end]) || !startsName(begun) || s.isNear(begun+text[:end]) { // digits say nothing
		return 0
	}
	for n := min(len(begun), end); n > 0; n-- {
		if strings.HasSuffix(begun, text[:n]) && s.isNear(begun+text[n:end]) {
			return n
		}
	}
	return 0
}

// isNear: word stands in the lines around the cursor's.
func (s *cursorContext) isNear(word string) bool {
	return containsWord(s.above, word) || containsWord(s.below, word)
}

// hasWord: the document has word, as a whole, but for where the cursor stands in it.
func (s *cursorContext) hasWord(word string) bool {
	return s.isNear(word) || containsWord(strings.TrimSuffix(s.line, lastWord(s.line)), word)
}

func containsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if from = i + len(word); (i == 0 || !isWord(text[i-1])) && (from == len(text) || !isWord(text[from])) {
			return true
		}
	}
}

// inLiteral: the cursor is in a string, in a colour, or in a file of values without
// quotes.
func (s *cursorContext) inLiteral() bool {
	word := len(s.line) - len(lastWord(s.line))
	return s.lang.Content != lang.Code || word > 0 && s.line[word-1] == '#' || endsInString(s.lang.ID, s.line)
}

// isGroups: echo and the blank-free beginning of rest are one literal of digits in groups:
// a time, an address, a key. Names of a to f alone are code where a dot joins them.
func isGroups(echo, rest string, literal bool) bool {
	end := 0
	for end < len(rest) && (isWord(rest[end]) || strings.IndexByte(".:-", rest[end]) >= 0) {
		end++
	}
	all := echo + rest[:end]
	return strings.Trim(all, "0123456789abcdefABCDEF_.:-") == "" && (literal || strings.Contains(echo, ":"))
}

// beginsAnew is what follows the typed line where the answer says that on a line of its
// own again, because it was not finished.
func (s *cursorContext) beginsAnew(typed, text string) (rest string, ok bool) {
	body := strings.TrimLeft(text, " \t\n")
	if !strings.Contains(text[:len(text)-len(body)], "\n") || !blank(s.rest) || s.lang.Content != lang.Code || !isWord(s.line[len(s.line)-1]) {
		return "", false
	}
	rest, ok = strings.CutPrefix(body, typed)
	if !ok || rest == "" || !startsName(lastWord(typed)) {
		return "", false
	}
	if wordCount(typed) == 1 {
		return rest, againAlone.MatchString(rest) && startsName(typed)
	}
	return rest, startsName(rest)
}

// againAlone is what follows a name that would be no statement alone.
var againAlone = regexp.MustCompile(`^(?: (?:[:+*/-]?=)[^=]|\()`)

// isPattern: echo is not said again but goes on, as in aaaa or in bla before blabla.
func isPattern(echo, rest string) bool {
	_, n := utf8.DecodeRuneInString(echo)
	return strings.HasPrefix(rest, echo) || strings.Trim(echo, echo[:n]) == ""
}

// declaresAgain tells of a line of one word, which the answer says again before rest,
// whether it is the type of what rest declares. A field may well be called as its type
// is, so a name of one more word has to follow; and "long long" is a type.
func declaresAgain(echo, rest string) bool {
	declared := strings.TrimLeft(rest, " *&")
	return strings.ToLower(echo) != echo && strings.HasPrefix(rest, " ") && declared != "" && startsName(declared)
}

var (
	// assigned is a name with a sign behind which its value stands.
	assigned = regexp.MustCompile(`[\pL\d_$.]+\s*(?:[:+*/|&-]?=|:)\s*$`)
	// qualifier is a name, or several, whose member follows.
	qualifier = regexp.MustCompile(`(?:[\pL\d_$]+(?:\(\))?(?:\?\.|\.|::|->))+$`)
	basedInt  = regexp.MustCompile(`\b0[xXbBoO][\da-fA-F_]*$`)
	// compound is a name that goes on behind its hyphen, item the mark of one in a list.
	compound = regexp.MustCompile(`(?:[\pL_]+-)+$`)
	item     = regexp.MustCompile(`^\s*(?:[-*+>]|\d+[.)])$`)
	number   = regexp.MustCompile(`\b\d[\d_]*(?:\.\d*)?$`)
)

// numberAt is the number that line ends in, of two signs at least and not all the same; a
// newline, which no line has, if there is none.
func numberAt(line string) string {
	number := number.FindString(line)
	if len(number) < 2 || strings.Trim(number, number[:1]) == "" {
		return "\n"
	}
	return number
}

// commentSign is the sign of a comment, or of a line in one, that line ends with and that
// stands behind a blank or nothing.
func (s *cursorContext) commentSign(line string) string {
	sign := line[strings.LastIndexAny(line, " \t")+1:]
	if s.lang.Content == lang.Prose && item.MatchString(line) {
		return sign
	}
	if sign == "" || strings.ContainsFunc(sign, func(r rune) bool { return r >= 0x80 || isWord(byte(r)) }) || endsInString(s.lang.ID, line) {
		return ""
	}
	if above := strings.TrimSpace(s.lastAbove()); sign == "*" && len(sign) == len(strings.TrimSpace(line)) {
		if above == "*" || strings.HasPrefix(above, "* ") || strings.HasPrefix(above, "/*") && !strings.HasSuffix(above, "*/") {
			return sign
		}
	}
	for _, open := range append([]string{s.lang.Comment.Open}, s.lang.Comment.Line...) {
		if open != "" && strings.HasPrefix(sign, open) && strings.IndexByte("\"'`", open[0]) < 0 {
			return sign
		}
	}
	return ""
}

// lastWord is the word that line ends with, "" if it ends with none.
func lastWord(line string) string {
	start := len(line)
	for start > 0 && isWord(line[start-1]) {
		start--
	}
	return line[start:]
}

// says: the document has text.
func (s *cursorContext) says(text string) bool {
	return strings.Contains(s.above, text) || strings.Contains(s.below, text) || strings.Contains(s.line, text)
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// fixLeading repairs the join of the typed text and the answer: a blank
// on both sides, or indentation that is there already.
func fixLeading(s *cursorContext, text string) string {
	lead := leadingSpace(text)
	body := text[len(lead):]
	switch {
	case body == "":
		return text
	case body[0] == '\n':
		first := len(body) - len(strings.TrimLeft(body, " \t\n"))
		return body[strings.LastIndexByte(body[:first], '\n'):] // one line on
	case lead == "":
		return text
	case blank(s.line):
		return s.missingIndent(lead) + body
	case leadingSpace(s.line[len(s.line)-1:]) != "":
		return body
	}
	return text
}

// missingIndent is what of lead, an answer's own indentation, belongs behind the
// blanks of a line that has nothing else.
func (s *cursorContext) missingIndent(lead string) string {
	want, has := s.expectedIndent(), s.indentWidth(s.line+"x")
	width, total := s.indentWidth(lead+"x"), s.indentWidth(s.line+lead+"x")
	switch {
	case s.line == "":
		if width == want+1 && s.lang.Blocks.Style != lang.Flat && openBrackets(s.lastAbove()) <= 0 {
			return strings.TrimSuffix(lead, " ")
		}
		return lead // deeper on purpose
	case has < want && total == want:
		return lead
	case has < want && width == want:
		return strings.TrimPrefix(lead, s.line) // all of it, not what is missing
	}
	return ""
}

// matchIndent rewrites the indentation of the answer's lines in the
// document's style: tabs for groups of spaces or the other way round. An answer
// that is indented as the lines next to it are stays as it is.
func matchIndent(s *cursorContext, text string) string {
	if !strings.Contains(text, "\n") && !(blank(s.line) && text != "" && (text[0] == ' ' || text[0] == '\t')) {
		return text
	}
	lines := strings.Split(text, "\n")
	first := 1
	if blank(s.line) {
		first = 0
	}
	if s.eights || s.indentedAlike(lines[first:]) {
		return text
	}
	if s.unit != "\t" {
		for i := first; i < len(lines); i++ {
			lead := leadingSpace(lines[i])
			if strings.Contains(lead, "\t") {
				lines[i] = strings.ReplaceAll(lead, "\t", s.unit) + lines[i][len(lead):]
			}
		}
		return strings.Join(lines, "\n")
	}
	width := 0
	for _, line := range lines[first:] {
		if n := len(line) - len(strings.TrimLeft(line, " ")); n > 1 && (width == 0 || n < width) {
			width = n
		}
	}
	if width == 0 {
		return text
	}
	if width > 8 || width%4 == 0 {
		width = 4
	}
	for i := first; i < len(lines); i++ {
		body := strings.TrimLeft(lines[i], " ")
		n := len(lines[i]) - len(body)
		lines[i] = strings.Repeat("\t", n/width) + strings.Repeat(" ", n%width) + body
	}
	return strings.Join(lines, "\n")
}

// indentedAlike: lines are indented by tabs or by blanks as the cursor's line is or, where
// that is not, the next one above or below.
func (s *cursorContext) indentedAlike(lines []string) bool {
	near := s.indentSigns()
	for _, line := range lines {
		if lead := leadingSpace(line); len(lead) > 1 || lead == "\t" {
			if strings.IndexByte(near, lead[0]) < 0 || strings.Contains(lead, " \t") {
				return false
			}
		}
	}
	return true
}

// indentSigns are the signs that the lines next to the cursor are indented by.
func (s *cursorContext) indentSigns() string {
	sign := func(line string) string {
		if lead := leadingSpace(line); !blank(line) && (len(lead) > 1 || lead == "\t") {
			return lead[:1]
		}
		return ""
	}
	if own := sign(s.line); own != "" {
		return own
	}
	above, below := "", ""
	for line := range strings.SplitSeq(s.below, "\n") {
		if below = sign(line); below != "" {
			break
		}
	}
	for end := len(s.above); end > 0 && above == ""; end = max(lineStart(s.above, end)-1, 0) {
		above = sign(s.above[lineStart(s.above, end):end])
	}
	return above + below
}

// alignColumn moves each line after the first that is one column off to where it
// belongs: the level that the line before leads to, or one that an earlier line has. What
// it does to a line no later one changes, so the stop rules may read what there is.
func alignColumn(s *cursorContext, text string) string {
	step := s.indentWidth(s.unit + "x")
	first, more, ok := strings.Cut(text, "\n")
	first = s.line + first
	if !ok || s.eights || step < 2 || blank(first) || s.indentWidth(first)%step != 0 || s.lang.Blocks.Style == lang.Flat && s.lang.ID != "yaml" {
		return text
	}
	read := first // so far, aligned
	last, levels, off := first, []int{s.indentWidth(first)}, 0
	lines := strings.Split(more, "\n")
	for i, line := range lines {
		width := s.indentWidth(line)
		label := accessLabel.MatchString(line) // Google's style has it one column in, whatever the step
		if blank(line) || label || width%step == 0 {
			if !blank(line) && !label {
				last, levels, off = line, atLevel(levels, width), 0
			}
			read += "\n" + line
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "*") || s.alignsOtherwise(read) {
			break
		}
		level, found := 0, false
		for _, l := range s.levelsAt(last, levels, step, s.lang.closesBlock(line)) {
			if by := width - l; (by == 1 || by == -1) && (!found || by == off) {
				level, found = l, true
			}
		}
		if !found {
			break
		}
		off = width - level
		lines[i] = strings.Repeat(s.unit, level/step) + strings.TrimLeft(line, " \t")
		last, levels = lines[i], atLevel(levels, level)
		read += "\n" + lines[i]
	}
	return text[:len(text)-len(more)] + strings.Join(lines, "\n")
}

// accessLabel is the line of C++ that says who may use the members below it.
var accessLabel = regexp.MustCompile(`^[ \t]*(?:public|protected|private)(?: slots)?:\s*$`)

// levelsAt are the levels at which the line after last may stand, the likeliest first.
func (s *cursorContext) levelsAt(last string, levels []int, step int, closes bool) (list []int) {
	n := len(levels) - 1
	opens := s.lang.opensBlock(last) || s.lang.ID == "yaml" && strings.HasSuffix(strings.TrimRight(last, " \t"), ":")
	switch {
	case opens && !closes:
		list = append(list, levels[n]+step, levels[n])
	case opens || !closes:
		list = append(list, levels[n])
	}
	for i := n - 1; i >= 0; i-- {
		list = append(list, levels[i])
	}
	if closes && !opens {
		list = append(list, levels[n])
	}
	return list
}

// atLevel is levels with the given one as the last.
func atLevel(levels []int, level int) []int {
	n := 0
	for n < len(levels) && levels[n] < level {
		n++
	}
	return append(levels[:n:n], level)
}

// alignsOtherwise: the line after text stands in a string, or is aligned with what stands
// behind a bracket.
func (s *cursorContext) alignsOtherwise(text string) bool {
	open := eachMark(s.lang.ID, text, func(mark) {})
	return innermostString(open) >= 0 || slices.ContainsFunc(open, func(o opening) bool {
		return o.sign != '{' && !blank(text[o.at+1:lineEnd(text, o.at)])
	})
}

// trimEnd drops blank lines and blanks at the end. Before code that follows on
// the line one blank may be meant, before a bracket its indentation.
func trimEnd(s *cursorContext, text string) string {
	trimmed := strings.TrimRight(text, " \t\n")
	tail := text[len(trimmed):]
	if tail == "" || blank(s.rest[coveredRest(s, text):]) {
		return trimmed
	}
	if i := strings.LastIndexByte(tail, '\n'); i >= 0 {
		return trimmed + tail[i:]
	}
	if tail[0] == ' ' && s.rest[0] != ' ' {
		return trimmed + " "
	}
	return trimmed
}

// dropUseless answers "" for what is blank, for lone closing brackets that
// say nothing, and for what the document says already.
func dropUseless(s *cursorContext, text string) string {
	body := strings.TrimSpace(text)
	if body == "" || body == strings.TrimSpace(s.rest) && !s.closesMore(text) || copiesBelow(s, text) {
		return ""
	}
	return text
}
