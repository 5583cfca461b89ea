// Package cite finds the citations that a text names, path:line or path:line-line,
// and checks each: a model that is to prove what it says invents citations too.
//
// A citation stands if it is in the workspace, has these lines, and the model was shown
// some of them: that it saw another part of the file proves nothing. The text then
// names it in one form. Any other is taken out and counted.
package cite

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/pattern"
)

// Format writes a citation for a text that is shown.
func Format(c agent.Citation) string {
	return Place(c.Path, fmt.Sprintf("%d-%d", c.StartLine, c.EndLine))
}

// Place writes lines of a file: as code if a renderer would take signs of its name for markup, or
// nobody could tell where the name begins. An editor takes code that is wholly path:line or
// path:line-line for a citation.
func Place(name, lines string) string {
	if isPlain(name) || !isCode(name) {
		return name + ":" + lines
	}
	return "`" + name + ":" + lines + "`"
}

// isCode answers whether a name may stand as code: no renderer finds the end of it, or of a link, within.
func isCode(name string) bool {
	return !strings.ContainsAny(name, "`\n\x00") && !strings.Contains(name, "](")
}

// isPlain answers whether a name stands for itself within a sentence of Markdown.
func isPlain(name string) bool {
	inWord := func(c byte) bool {
		return c == '_' || c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
	}
	for i, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune("./+%=-", r):
		case r == '_' && i > 0 && i+1 < len(name) && inWord(name[i-1]) && inWord(name[i+1]):
		default:
			return false
		}
	}
	return true
}

// Files is what citations are checked against; agent.Files has it.
type Files interface {
	// Locate is the absolute path of a file that may be read, by a name as a model
	// writes it.
	Locate(ctx context.Context, name string) (path string, err error)
	// Name is the file's name in citations.
	Name(path string) string
	Text(path string) (string, error)
}

// Parse reads a citation as quarry's tools write it, path:line or path:line-line.
func Parse(location string) (c agent.Citation, ok bool) {
	i := strings.LastIndexByte(location, ':')
	if i <= 0 {
		return agent.Citation{}, false
	}
	first, last, ranged := strings.Cut(location[i+1:], "-")
	start, err := strconv.Atoi(first)
	if err != nil || start < 1 {
		return agent.Citation{}, false
	}
	end := start
	if ranged {
		if end, err = strconv.Atoi(last); err != nil || end < start {
			return agent.Citation{}, false
		}
	}
	return agent.Citation{Path: location[:i], StartLine: start, EndLine: end}, true
}

// Checker checks the citations of one answer. It remembers the files it has looked
// at, so that all of an answer is held against the same texts. It is not safe for
// concurrent use.
type Checker struct {
	files Files
	// shown answers the lines that the model was shown.
	shown func() []agent.Citation
	lines map[string]int    // of files, by name
	names map[string]string // of files, by the name cited
	// odd are the names shown that are not plain: each is checked as one rune, mark and its index.
	odd []string
}

// mark is the first rune that stands for an odd name while a text is checked. It is for private use.
const (
	mark     = '\U000F0000'
	mostOdd  = 0x100
	lastMark = mark + mostOdd - 1
)

// isMark answers whether a rune stands for an odd name.
func isMark(r rune) bool { return r >= mark && r <= lastMark }

// marked puts marks in the place of the odd names that a text cites, of which location would find a
// part at most: a blank, an asterisk or a bracket ends it.
func (c *Checker) marked(text string) string {
	text = strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, text)
	for _, s := range c.shown() {
		if len(c.odd) < mostOdd && strings.Contains(text, s.Path) && !slices.Contains(c.odd, s.Path) && !isPlain(s.Path) && isCode(s.Path) {
			c.odd = append(c.odd, s.Path)
		}
	}
	longest := slices.SortedFunc(slices.Values(c.odd), func(a, b string) int { return len(b) - len(a) })
	for _, name := range longest {
		sign := string(mark + rune(slices.Index(c.odd, name)))
		text = strings.NewReplacer("`"+name+"`:", sign+":", "`"+name+"`#", sign+"#").Replace(text)
		var b strings.Builder
		for {
			at := strings.Index(text, name)
			if at < 0 {
				break
			}
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			behind := text[at+len(name):]
			b.WriteString(strings.TrimSuffix(text[:at], "./"))
			if cited := behind != "" && (behind[0] == ':' || behind[0] == '#'); cited && (strings.HasSuffix(text[:at], "./") || !ofName(before)) {
				b.WriteString(sign)
			} else {
				b.WriteString(strings.TrimPrefix(text[:at], strings.TrimSuffix(text[:at], "./")) + name)
			}
			text = behind
		}
		text = b.String() + text
	}
	return text
}

// ofName answers whether a rune before a name is more of it.
func ofName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-", r)
}

// unmarked puts the names back.
func (c *Checker) unmarked(text string) string {
	if !strings.ContainsFunc(text, isMark) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isMark(r) {
			b.WriteString(c.odd[r-mark])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// NewChecker makes a checker. shown answers the lines that the model was shown, in
// any order, by the files' names; it is called for every citation, since more may be
// shown meanwhile.
func NewChecker(files Files, shown func() []agent.Citation) *Checker {
	return &Checker{files: files, shown: shown, lines: map[string]int{}, names: map[string]string{}}
}

// Checked is a text whose citations stand.
type Checked struct {
	Text string
	// Citations are the text's citations, each once, in order.
	Citations []agent.Citation
	// Removed is how many were taken out.
	Removed int
}

// location matches what may be a citation: a path, and lines as path:1-2, path:L1-L2,
// path:1:2 (line and column), path#L1-L2 or path#L1C2-L3C4. For citations in words see worded. A path has no blanks; brackets are
// part of it within a folder's name only, [id] and (group), since citations stand
// in brackets.
var location = pattern.Lazy(`((?:\b[a-zA-Z]:[\\/])?(?:/\[[\pL\pN_.-]+\]|/\([\pL\pN_.-]+\)|[\pL\pN_.@+~$%=\\/\x{F0000}-\x{F00FF}-])+)[:：#][lL]?(-?\d{1,7})(?:(?:[:cC]\d{1,5})?[-‐-―−][lL]?(-?\d{1,7})(?:[:cC]\d{1,5})?|[:cC]\d{1,5}\b)?`)

// address matches a citation in a URI, or in one whose scheme is left out: no file that the
// model was shown has one. A host may be a number in brackets. The port of a server is no lines,
// since a path stands before those.
var address = pattern.Lazy(`(?://[^\s/()\[\]<>"'` + "`" + `]+\.[^\s/()\[\]<>"'` + "`" + `]*/|//\[[^\s/()\[\]<>"'` + "`" + `]*\][^\s/()\[\]<>"'` + "`" + `]*/|[a-zA-Z][a-zA-Z0-9+.-]*:(?://[^\s/()\[\]<>"'` + "`" + `]*(?:\[[^\s/()\[\]<>"'` + "`" + `]*\][^\s/()\[\]<>"'` + "`" + `]*)?/|/[^\s/()\[\]<>"'` + "`" + `]))[^\s()\[\]<>"'` + "`" + `]*?[:：#][lL]?-?\d{1,7}(?:[-‐-―−:][lL]?-?\d{1,7})*`)

// link matches a Markdown link or image to an address or to lines, whose words may have brackets in
// brackets.
var link = pattern.Lazy(`\[((?:[^\[\]\n]|\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])*)\]\(\s*<?([a-zA-Z][a-zA-Z0-9+.-]*:[^\s()]*|[^\s()]*[:：#][lL]?-?\d[^\s()]*)[^()\n]*\)`)

// scheme begins an address.
var scheme = pattern.Lazy(`^[a-zA-Z][a-zA-Z0-9+.-]+:[^0-9]`)

// worded is a citation in words, as models write it who were asked for the short form:
// a path, then "lines 3-9", in brackets or not.
var worded = pattern.Lazy("`?([\\pL\\pN_.@+~\\\\/-]*\\pL)`?(?:,? (?:at |on )?|:)" +
	`(?:\((?i:lines?|ln):? (\d{1,7})(?: ?(?:[-‐-―−]|to|and) ?(\d{1,7}))?\)|(?i:lines?|ln):? (\d{1,7})(?: ?(?:[-‐-―−]|to) ?(\d{1,7}))?)`)

// unworded gives worded citations their short form. What only might be a path is
// left as it is.
func unworded(text string) string {
	if !strings.Contains(text, "ine") && !strings.Contains(text, "ln") {
		return text
	}
	return worded().ReplaceAllStringFunc(text, func(match string) string {
		m := worded().FindStringSubmatch(match)
		if !likeAPath(m[1]) {
			return match
		}
		location := m[1] + ":" + m[2] + m[4]
		if last := m[3] + m[5]; last != "" {
			location += "-" + last
		}
		return location
	})
}

// odd is a citation behind a name with an extension whose signs or digits are not those that tools
// write: wide ones, "..", a wave, a comma, two colons.
var odd = pattern.Lazy(`(\.[a-zA-Z][a-zA-Z0-9]{0,5})(?:::|[:：∶︰#])([lL]?[0-9０-９]{1,7})(?:(?:[-‐-―−~～…,]|\.{2,3})([lL]?[0-9０-９]{1,7}))?`)

// quoted is a citation whose name alone is quoted or emphasized.
var quoted = pattern.Lazy("(`|\\*{1,2})([\\pL\\pN_.@+~\\\\/-]*\\.[a-zA-Z][a-zA-Z0-9]{0,5})(?:`|\\*{1,2})[:：∶︰#]([lL]?[0-9０-９]{1,7}(?:(?:[-‐-―−~～…]|\\.{2,3})[lL]?[0-9０-９]{1,7})?)")

// linesOf is a citation in words that begins with the lines.
var linesOf = pattern.Lazy("(?i:\\blines?) (\\d{1,7})(?: ?(?:[-‐-―−]|to|and) ?(\\d{1,7}))?(?:,? (?:of|in|from) `?([\\pL\\pN_.@+~\\\\/-]*\\.[a-zA-Z][a-zA-Z0-9]{0,5})\\b`?| \\(`?([\\pL\\pN_.@+~\\\\/-]*\\.[a-zA-Z][a-zA-Z0-9]{0,5})`?\\))")

// loose is a citation behind a name with an extension whose lines stand apart from it, or behind an
// escaped colon: "a.go, L3-L9", "a.go: 3-9", "a.go (3-9)", "a.go%3A3", "a.go:[3-9]",
// "a.go § 3". A number alone in
// brackets may be a call's.
var loose = pattern.Lazy("([\\pL\\pN_.@+~\\\\/-]*\\.[a-zA-Z][a-zA-Z0-9]{0,5})`?" +
	`(?:,? ?\(?[lL](\d{1,7})(?: ?[-‐-―−] ?[lL]?(\d{1,7}))?\b\)?|(?:: | \()(\d{1,7}) ?[-‐-―−] ?(\d{1,7})\b\)?|\((\d{1,7})[-‐-―−](\d{1,7})\)|%(?:3[aA]|23[lL]?)(\d{1,7})(?:[-‐-―−](\d{1,7}))?\b|:[\[{](\d{1,7})(?:[-‐-―−](\d{1,7}))?[\]}]| ?§§? ?(\d{1,7})(?:[-‐-―−](\d{1,7}))?\b)`)

// digitsOf makes wide digits those of ASCII.
var digitsOf = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")

// unseen are letters without width that may stand within a name.
var unseen = strings.NewReplacer("\u200b", "", "\u2060", "", "\ufeff", "")

// unseenIn is a word with such letters.
var unseenIn = pattern.Lazy(`[^\s\x{200b}\x{2060}\x{feff}]*[\x{200b}\x{2060}\x{feff}]\S*`)

// named is what a word has that may be a part of a citation: an extension, or lines.
var named = pattern.Lazy(`\.[a-zA-Z]|[:：∶︰#][lL]?[0-9０-９]`)

// plain gives citations in other forms the one that is checked.
func plain(text string) string {
	text = unseenIn().ReplaceAllStringFunc(text, func(word string) string {
		if seen := unseen.Replace(word); named().MatchString(seen) {
			return seen
		}
		return word // for its reader to see
	})
	text = quoted().ReplaceAllString(text, "$2:$3")
	text = odd().ReplaceAllStringFunc(text, func(at string) string {
		m := odd().FindStringSubmatch(at)
		location := m[1] + ":" + digitsOf.Replace(m[2])
		if m[3] != "" {
			location += "-" + digitsOf.Replace(m[3])
		}
		return location
	})
	text = loose().ReplaceAllStringFunc(text, func(at string) string {
		m := loose().FindStringSubmatch(at)
		if !likeAPath(m[1]) || strings.HasSuffix(m[1], ".js") && unicode.IsUpper(rune(m[1][0])) && m[2] == "" { // Node.js (18-20)
			return at
		}
		location := m[1] + ":" + m[2] + m[4] + m[6] + m[8] + m[10] + m[12]
		if last := m[3] + m[5] + m[7] + m[9] + m[11] + m[13]; last != "" {
			location += "-" + last
		}
		return location
	})
	return linesOf().ReplaceAllStringFunc(text, func(at string) string {
		m := linesOf().FindStringSubmatch(at)
		name := m[3] + m[4]
		if !likeAPath(name) {
			return at
		}
		if m[2] == "" {
			return name + ":" + m[1]
		}
		return name + ":" + m[1] + "-" + m[2]
	})
}

// Check checks the citations of a text.
func (c *Checker) Check(ctx context.Context, text string) Checked {
	var out Checked
	var b strings.Builder
	text = unworded(plain(c.marked(strings.ReplaceAll(text, hole, `\x00`))))
	text = link().ReplaceAllStringFunc(text, func(l string) string {
		m := link().FindStringSubmatch(l)
		// A page of the web that is linked is no citation: only a place is one.
		if m[1] != m[2] && (!scheme().MatchString(m[2]) || address().MatchString(m[2])) {
			out.Removed++
		}
		return m[1]
	})
	text = address().ReplaceAllStringFunc(text, func(at string) string {
		if len(at) > 2 && at[1] == ':' { // a drive of Windows
			return at
		}
		out.Removed++
		return hole
	})
	done := 0
	for _, m := range location().FindAllStringSubmatchIndex(text, -1) {
		name := c.unmarked(text[m[2]:m[3]])
		if !strings.ContainsFunc(name, unicode.IsLetter) || strings.HasPrefix(name, "//") && strings.HasSuffix(text[:m[0]], ":") {
			continue // a time, a ratio, an address
		}
		end := m[1]
		last := ""
		if m[6] >= 0 {
			last = text[m[6]:m[7]]
		}
		found, ok := c.resolve(ctx, name, text[m[4]:m[5]], last)
		switch {
		case ok:
			b.WriteString(text[done:m[0]])
			place := Format(found)
			if line := b.String(); strings.Count(line[strings.LastIndexByte(line, '\n')+1:], "`")%2 == 1 { // within code
				place = strings.Trim(place, "`")
			}
			b.WriteString(place)
			out.add(found)
		case likeAPath(strings.TrimPrefix(name, "//")):
			b.WriteString(text[done:m[0]])
			b.WriteString(hole)
			out.Removed++
		default:
			b.WriteString(text[done:end])
		}
		done = end
	}
	b.WriteString(text[done:])
	out.Text = c.unmarked(b.String())
	if out.Removed > 0 {
		out.Text = closeHoles(out.Text)
	}
	return out
}

func (out *Checked) add(c agent.Citation) {
	for _, other := range out.Citations {
		if other == c {
			return
		}
	}
	out.Citations = append(out.Citations, c)
}

// likeAPath answers whether a name that is no file's was meant as one: it has a
// folder, or is the name of source code. What is left ("example.com:443") is
// prose.
func likeAPath(name string) bool {
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") { // .env
		return true
	}
	return lang.Detect(name, nil) != lang.PlainText || path.Ext(name) == ".txt" || ofKey().MatchString(name)
}

// ofKey is the name of a file that holds a key. No model is shown one, and no code has a field of
// such a name, as it has of others that secrets have: row.key, process.env.
var ofKey = pattern.Lazy(`^(?i:id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?(?:\.[a-z]+)?|[^:]+\.(?:pem|p12|pfx|ppk|jks|kdbx?|keystore|truststore|p8|pk8|pkcs12|keytab|ovpn|tfvars|tfstate|gpg|pgp|asc))$`)

// resolve finds the citation that a citation means. One that reaches beyond what was
// shown stands: models round to a whole function whose middle they saw.
func (c *Checker) resolve(ctx context.Context, name, first, last string) (agent.Citation, bool) {
	start, err := strconv.Atoi(first)
	if err != nil || start < 1 {
		return agent.Citation{}, false
	}
	end := start
	if last != "" {
		if end, err = strconv.Atoi(last); err != nil || end < start {
			return agent.Citation{}, false
		}
	}
	shown := c.shown()
	name, ok := c.file(ctx, name, shown)
	if !ok || end > c.lines[name] {
		return agent.Citation{}, false
	}
	overlaps := func(s agent.Citation) bool { return s.Path == name && s.StartLine <= end && start <= s.EndLine }
	if !slices.ContainsFunc(shown, overlaps) {
		return agent.Citation{}, false
	}
	return agent.Citation{Path: name, StartLine: start, EndLine: end}, true
}

// file is the name of the file that a citation means; its lines are then known. A
// part of a path that only one of the files shown ends in means that file.
func (c *Checker) file(ctx context.Context, cited string, shown []agent.Citation) (name string, ok bool) {
	if name, ok := c.names[cited]; ok {
		return name, true
	}
	var wanted string
	if at, err := c.files.Locate(ctx, cited); err == nil {
		wanted = c.files.Name(at)
	} else {
		wanted = only(shown, strings.TrimPrefix(path.Clean(strings.ReplaceAll(cited, `\`, "/")), "/"))
	}
	if !slices.ContainsFunc(shown, func(s agent.Citation) bool { return s.Path == wanted }) {
		return "", false // not remembered: it may be shown later
	}
	at, err := c.files.Locate(ctx, wanted)
	if err != nil {
		return "", false
	}
	text, err := c.files.Text(at)
	if err != nil {
		return "", false
	}
	name = c.files.Name(at)
	c.lines[name] = countLines(text)
	c.names[cited] = name
	return name, true
}

// only is the one file of citations whose name ends in suffix, at a folder; "" if there
// is none or there are several.
func only(places []agent.Citation, suffix string) string {
	found := ""
	for _, p := range places {
		n := p.Path
		if n == suffix || strings.HasSuffix(n, "/"+suffix) {
			if found != "" && found != n {
				return ""
			}
			found = n
		}
	}
	return found
}

// countLines counts lines as editors do, but for the empty one behind the last
// line break.
func countLines(text string) int {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	n := strings.Count(text, "\n") + strings.Count(text, "\r")
	if text != "" && !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\r") {
		n++
	}
	return n
}

// hole stands where a citation was taken out.
const hole = "\x00"

var holes = []struct {
	find func() *regexp.Regexp
	put  string
}{
	{pattern.Lazy("`\x00`|\"\x00\"|'\x00'|<\x00>|\\*+\x00\\*+"), hole},
	{pattern.Lazy(`\x00(?:[ \t]*(?:,|;|&|and|or)[ \t]*\x00)+`), hole},
	{pattern.Lazy(`[\[(][ \t]*(?:(?i:see also|see|in|from|at|by|of|as|per|e\.g\.|cf\.)[ \t]*:?[ \t]*)?\x00[ \t]*[\])]`), hole},
	{pattern.Lazy(`([\[(])[ \t]*\x00[ \t]*(?:,|;|&|and|or)[ \t]*`), "$1"},
	{pattern.Lazy(`[ \t]*(?:,|;|&|\band|\bor)[ \t]*\x00`), ""},
	{pattern.Lazy(`(?:^|(?:[,;])?[ \t]+)(?:(?i:see also|see|in|from|at|by|of|as|per)[ \t]+)?\x00`), ""},
	{pattern.Lazy(`^\x00[ \t]*(?:,|;|:|and|or|-|–|—)[ \t]*`), ""},
	{pattern.Lazy(hole), ""},
}

// closeHoles takes out what stood around a citation and says nothing without it:
// brackets, commas, a preposition.
func closeHoles(text string) string {
	for _, h := range holes {
		text = h.find().ReplaceAllString(text, h.put)
	}
	return text
}
