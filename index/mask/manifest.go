package mask

import "strings"

// appendManifests finds the values of Kubernetes's Secrets, in YAML and in JSON: those
// below data and stringData of a mapping whose kind is Secret.
func appendManifests(list []Span, text string) []Span {
	const kind = "kind"
	block, flow := 0, 0 // what is before was looked at, so that no text is twice
	for at := 0; ; {
		i := strings.Index(text[at:], kind)
		if i < 0 {
			return list
		}
		i += at
		at = i + len(kind)
		start, end, written, ok := saysKind(text, i, at)
		if !ok {
			continue // "kind: SecretStore", or words about it
		}
		indent := column(text[:start])
		if rest := strings.TrimLeft(text[end:], " \t\r"); indent >= 0 && start >= block && (rest == "" || rest[0] == '\n' || rest[0] == '#') {
			first, last := mapping(text, block, start-indent, indent)
			list = appendValues(list, text, first, last, indent, declared(text, first, start-indent, last, indent), written)
			block = last
			continue
		}
		if open := enclosing(text, max(flow, start-farBrace), start); open >= 0 {
			list, flow = appendMembers(list, text, open, written)
		} else {
			flow = max(flow, start)
		}
	}
}

// saysKind answers whether text[i:j], the word kind, is a key whose value is Secret, and
// where that begins and ends, with its quotes. written: the value has quotes, so that in flow
// style this is JSON or a program, where what has none is code.
func saysKind(text string, i, j int) (start, end int, written, ok bool) {
	start = i
	if i > 0 && word[text[i-1]] {
		return 0, 0, false, false
	}
	quotes := "\"'\\"
	start = len(strings.TrimRight(text[:i], quotes))
	rest := strings.TrimLeft(text[j:min(len(text), j+64)], quotes)
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
	if !ok {
		return 0, 0, false, false
	}
	rest = strings.TrimLeft(rest, " \t")
	written = rest != "" && strings.IndexByte(quotes, rest[0]) >= 0
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"+quotes), "Secret")
	if !ok {
		return 0, 0, false, false
	}
	rest = strings.TrimLeft(rest, "\"'")
	if rest != "" && word[rest[0]] {
		return 0, 0, false, false
	}
	return start, min(len(text), j+64) - len(rest), written, true
}

// column is how deep what follows before stands, -1 unless its line has nothing before
// it but blanks and the dash of a list.
func column(before string) int {
	const deepest = 200
	line := before[max(0, len(before)-deepest):]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if len(line) == deepest || strings.Trim(line, " -") != "" || strings.Contains(line, "--") {
		return -1
	}
	return len(line)
}

// lineAt is the rest of the line from i.
func lineAt(text string, i int) string {
	line, _, _ := strings.Cut(text[i:], "\n")
	return line
}

// content is how deep a line's first word stands, and whether an item of a list begins
// with it.
func content(line string) (indent int, item bool) {
	for indent < len(line) && (line[indent] == ' ' || line[indent] == '-' && (indent+1 == len(line) || line[indent+1] == ' ')) {
		item = item || line[indent] == '-'
		indent++
	}
	return indent, item
}

// mapping is the part of text[from:] around the line at start whose lines stand as deep
// as indent or deeper, in one item of a list and in one block of a page's code.
func mapping(text string, from, start, indent int) (first, last int) {
	inside := func(line string) bool {
		line = strings.TrimRight(line, "\r")
		rest := strings.TrimLeft(line, " ")
		at := len(line) - len(rest)
		return line == "" || at >= indent && !strings.HasPrefix(line, "---") && (at > indent || !isFence(rest))
	}
	begins := func(line string) bool { // an item
		at, item := content(line)
		return item && at == indent
	}
	first = start
	for first > from && !begins(lineAt(text, first)) {
		before := strings.LastIndexByte(text[:first-1], '\n') + 1
		if line := text[before : first-1]; !inside(line) && !begins(line) {
			break
		}
		first = before
	}
	last = min(len(text), start+len(lineAt(text, start))+1)
	for last < len(text) {
		line := lineAt(text, last)
		if !inside(line) {
			break
		}
		last = min(len(text), last+len(line)+1)
	}
	return first, last
}

// isFence answers whether a line opens or closes a block of code in Markdown.
func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// declared is the part of text[first:last] that surely belongs to the mapping with the kind at
// start. Where a program or a page has manifests one after another, what is around one may be
// another's.
func declared(text string, first, start, last, indent int) (s Span) {
	member := func(line string) bool { // or deeper, or a list, a comment, a template's
		at, _ := content(line)
		line = strings.TrimRight(line, " \t\r")
		if at > indent || at >= len(line) || line[at] == '#' || strings.HasPrefix(line[at:], "{{") {
			return true
		}
		key, _, _ := strings.Cut(line[at:], ":")
		key = strings.Trim(key, "\"' ")
		return key != "kind" && key != "" && strings.Trim(key, letters+digits+"_-./") == ""
	}
	s = Span{start, min(last, start+len(lineAt(text, start))+1)}
	for s.Start > first {
		before := strings.LastIndexByte(text[:s.Start-1], '\n') + 1
		if !member(text[before : s.Start-1]) {
			break
		}
		s.Start = before
	}
	for s.End < last {
		line := lineAt(text, s.End)
		if !member(line) {
			break
		}
		s.End = min(last, s.End+len(line)+1)
	}
	return s
}

// appendValues finds the values of a Secret between first and last: all in the part that is
// declared one, and elsewhere those that look like one.
func appendValues(list []Span, text string, first, last, indent int, sure Span, written bool) []Span {
	inData, begins, name, literal := false, false, "", -1 // how deep the member stands whose value is the lines below
	for i := first; i < last; {
		line := lineAt(text[:last], i)
		start := i
		i += len(line) + 1
		at, item := content(line)
		declared := start >= sure.Start && start < sure.End
		if !declared {
			literal = -1
		} else if value := strings.TrimSpace(line); literal >= 0 && value != "" {
			if from := strings.Index(line, value); from > literal {
				if !fills(value) && !stands(value) {
					list = append(list, Span{start + from, start + from + len(value)})
				}
				continue
			}
			literal = -1
		}
		switch {
		case at < indent || at == len(line) || strings.TrimSpace(line) == "" || line[at] == '#':
			continue
		case at == indent:
			own, _, _ := strings.Cut(line[at:], "#")
			key, rest, _ := strings.Cut(own, ":")
			key, rest = strings.Trim(key, " \"'"), strings.TrimSpace(rest)
			inData = key == "data" || key == "stringData"
			begins = inData
			if inData && strings.HasPrefix(rest, "{") {
				list = appendPairs(list, text, start+strings.IndexByte(line, '{'), written)
				inData = false
			}
			continue
		case begins && item && !declared:
			inData = false // data of another kind, as an ExternalSecret has: a Secret's are no list
		}
		if begins = false; !inData {
			continue
		}
		value, quoted := line, true // a line that goes on with a value in quotes
		if key, after, ok := strings.Cut(line, ":"); ok && (strings.TrimSpace(after) == "" || after[0] == ' ') {
			value, name, quoted = after, key, false
		}
		value = strings.TrimLeft(value, " \t")
		from := start + len(line) - len(value)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			from++
			quoted = true
			value = unquoted(value)
		} else {
			value, _, _ = strings.Cut(value, " #")
			value = strings.TrimRight(value, " \t\r")
		}
		if !declared {
			if looksSecret(name, value) && isValue(name, value, false) {
				list = append(list, Span{from, from + len(value)})
			}
		} else if header := strings.TrimPrefix(strings.TrimPrefix(value, "|"), ">"); !quoted && header != value && strings.Trim(header, "+-123456789") == "" {
			literal = at
		} else if isValue(name, value, quoted) {
			list = append(list, Span{from, from + len(value)})
		}
	}
	return list
}

// unquoted is what stands between the quotes that value begins with, and those that close it. Where
// something follows them that is no comment, somebody has typed a quote into the value: the last
// closes it then, or the line's end.
func unquoted(value string) string {
	quote := value[0]
	end := 1
	for end < len(value) && (value[end] != quote || doubled(value, end)) {
		if value[end] == '\\' && quote == '"' || value[end] == quote {
			end++
		}
		end++
	}
	if end < len(value) && isComment(value[end+1:]) {
		return value[1:end]
	}
	if end = strings.LastIndexByte(value[1:], quote); end >= 0 {
		return value[1 : 1+end]
	}
	return strings.TrimRight(value[1:], " \t\r")
}

// doubled answers whether the single quote at i is one of two that stand for one.
func doubled(value string, i int) bool {
	return value[0] == '\'' && strings.HasPrefix(value[i:], "''")
}

// isComment answers whether a line has nothing more in rest than a comment.
func isComment(rest string) bool {
	words := strings.TrimLeft(rest, " \t\r")
	return words == "" || words[0] == '#' && len(words) < len(rest)
}

// isValue answers whether a member of a Secret is one. All are, but for what a template fills in,
// switches, and, unless their name calls them a secret, ports and hosts.
func isValue(name, value string, quoted bool) bool {
	switch {
	case value == "" || fills(value) || stands(value) || switches[strings.ToLower(value)]:
		return false
	case !quoted && (strings.ContainsAny(value[:1], "|>{[<#&*!") || strings.ContainsAny(value, "`{}\\")):
		return false
	}
	return saysSecret(name) || !isPort(value) && !isHost(name, value) && !isSetting(name, value)
}

// isMember answers whether a value of a mapping in flow style is one. Without quotes it may be a
// program's name of something, and is its code where the mapping's kind has quotes.
func isMember(name, value string, quoted, written bool) bool {
	said := strings.Contains(value, "://") || looksSecret(name, value)
	if written {
		said = strings.HasSuffix(value, "=")
	}
	return (quoted || said) && isValue(name, value, quoted)
}

// looksSecret answers whether a value is what its name calls a secret, or long and drawn by chance.
func looksSecret(name, value string) bool {
	return len(value) >= minToken && consists(value, base64Set) && mixed(value) || len(value) >= leastValue && saysSecret(name) && value[0] != '$'
}

// switches are values that hide nothing.
var switches = map[string]bool{"true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "null": true, "~": true}

// fills answers whether a template or the environment writes a value, or the reader has to.
func fills(value string) bool {
	rest := strings.TrimPrefix(value, "$")
	return strings.Contains(value, "{{") || strings.Contains(value, "${") || strings.Contains(value, "$(") ||
		rest != value && strings.Trim(rest, capitals+digits+"_") == "" || value[0] == '<' && value[len(value)-1] == '>'
}

// stands answers whether something stands in a value's place, as pages have it: what was left out,
// a name for what the reader has to write, or the line around a certificate.
func stands(value string) bool {
	const yours, dashes = len("your_"), "-----"
	if isElided(strings.Trim(value, "[]()<>")) {
		return true
	}
	if head := value[:min(len(value), yours)]; len(value) > yours && strings.EqualFold(head[:yours-1], "your") && strings.IndexByte("_- ", head[yours-1]) >= 0 {
		return strings.Trim(value, letters+"_- ") == ""
	}
	return strings.HasPrefix(value, dashes) && strings.HasSuffix(value, " CERTIFICATE"+dashes)
}

// isElided answers whether a value was cut at its beginning or end, or is too short without what
// was left out of it: a password may have three dots in it.
func isElided(value string) bool {
	const longest = 8
	for _, left := range []string{"...", "…"} {
		before, after, found := strings.Cut(value, left)
		if found && (before == "" || after == "" || len(before)+len(after) <= longest) {
			return true
		}
	}
	return false
}

// isSetting answers whether a value is the word that a name such as type or ssl-mode wants: short, of
// small letters, and not one that base64 may be.
func isSetting(name, value string) bool {
	const longest = 20
	return len(value) <= longest && hasWord(name, settingWords) && strings.IndexByte(smalls, value[0]) >= 0 && consists(value, slug)
}

var (
	settingWords = wordsOf("type project mode sslmode region zone environment env stage driver dialect engine provider scheme protocol format namespace level adapter")
	slug         = bytesOf(smalls + digits + "-_")
)

func isPort(value string) bool { return len(value) <= 5 && strings.Trim(value, digits) == "" }

// isHost answers whether a value is the name or the number of a host, with a scheme and a port at
// most: an address with a user, a path or a query may have a secret in it, and so may two words
// with a dot between them, unless the second is a domain or something says what they are.
func isHost(name, value string) bool {
	host := strings.TrimPrefix(strings.TrimPrefix(value, "http://"), "https://")
	said := host != value || hasWord(name, hostWords)
	host = strings.TrimSuffix(host, "/")
	if before, port, ok := strings.Cut(host, ":"); ok && port != "" && isPort(port) {
		host, said = before, true
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || strings.Trim(l, smalls+digits+"-") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	return host == "localhost" || len(labels) == 4 && strings.Trim(host, digits+".") == "" || len(labels) > 1 && strings.Trim(last, smalls) == "" && (said || domains[last])
}

var (
	// hostWords are those of a name that says that its value is a host.
	hostWords = wordsOf("host hostname hosts url uri endpoint addr address server domain site origin broker brokers issuer registry dns")
	// domains are those that most hosts of today's, and the private ones of clusters and offices, are in.
	domains = wordsOf(`com org net edu gov mil int info biz io dev app ai co me cloud tech online site xyz us uk de fr es it nl be ch at se no dk fi pl cz pt ie ru ua tr gr ro hu
		eu jp cn kr in tw hk sg au nz ca br mx ar cl za il local internal intern lan home corp private localdomain svc cluster consul test example invalid`)
)

func wordsOf(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// leastValue is shorter than a password that keeps anybody out.
const leastValue = 7

func saysSecret(name string) bool {
	small := strings.ToLower(name)
	for _, part := range []string{"pass", "pwd", "secret", "token", "key", "credential", "auth"} {
		if strings.Contains(small, part) {
			return true
		}
	}
	return hasWord(name, secretWords)
}

// secretWords say the same where they are a word of a name: "pin" is in "mapping", too.
var secretWords = wordsOf("pw pin")

// hasWord answers whether a name has one of the words: db_pw, dbPw, DB-PW.
func hasWord(name string, of map[string]bool) bool {
	for i := 0; i < len(name); {
		start := i
		for i < len(name) && alpha[name[i]] && (i == start || name[i] >= 'a' || name[i-1] < 'a') {
			i++
		}
		if of[strings.ToLower(name[start:i])] {
			return true
		}
		if i == start {
			i++
		}
	}
	return false
}

// farBrace is how far a brace may be from what it encloses.
const farBrace = 1 << 16

// enclosing is where the brace is that is open at i, -1 if there is none from first on.
func enclosing(text string, first, i int) int {
	depth := 0
	for i--; i >= first; i-- {
		switch text[i] {
		case '}':
			depth++
		case '{':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// appendMembers finds the values of a Secret that opens at the brace at open, and where
// it ends.
func appendMembers(list []Span, text string, open int, written bool) (_ []Span, end int) {
	var opened []int
	end = eachPair(text, open, func(key string, from, _ int) {
		if (key == "data" || key == "stringData") && text[from] == '{' {
			opened = append(opened, from)
		}
	})
	for _, from := range opened {
		list = appendPairs(list, text, from, written)
	}
	return list, end
}

// appendPairs finds those of the mapping at open.
func appendPairs(list []Span, text string, open int, written bool) []Span {
	eachPair(text, open, func(key string, from, to int) {
		if isMember(key, text[from:to], strings.IndexByte("\"'", text[from-1]) >= 0, written) {
			list = append(list, Span{from, to})
		}
	})
	return list
}

// eachPair calls f for each key of the mapping that opens at open, in JSON or in YAML's
// flow style, with where its value is: without quotes, or at its brace. It answers
// where the mapping ends, or what is none stops it.
func eachPair(text string, open int, f func(key string, from, to int)) (end int) {
	last := min(len(text), open+farBrace)
	depth, key, isKey := 0, "", true
	for i := open; i < last; {
		from, to := i, i+1
		switch c := text[i]; c {
		case '{', '[':
			if depth == 1 && key != "" {
				f(key, i, i+1)
			}
			depth, isKey, key = depth+1, true, ""
			i++
			continue
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			i++
			continue
		case ',':
			isKey, key = true, ""
			i++
			continue
		case ':':
			isKey = false
			i++
			continue
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case '"', '\'':
			from = i + 1
			for to = from; to < last && text[to] != c; to++ {
				if text[to] == '\\' && c == '"' {
					to++
				}
			}
			to = min(to, last)
			i = to + 1
		case '\\': // a quote that is escaped itself
			quote := text[i:min(last, i+2)]
			n := strings.Index(text[min(last, i+2):last], quote)
			if n < 0 || quote == `\n` || quote == `\t` || quote == `\r` {
				i += 2
				continue
			}
			from, to = i+2, i+2+n
			i = to + 2
		default:
			for to < last && strings.IndexByte(",{}[]:\n\"", text[to]) < 0 || to < last && text[to] == ':' && to+1 < last && text[to+1] != ' ' && !isKey {
				to++
			}
			i = to
			to = from + len(strings.TrimRight(text[from:to], " \t\r"))
		}
		switch {
		case depth != 1:
		case isKey:
			key = text[from:to]
		case key != "":
			f(key, from, to)
			key = ""
		}
	}
	return last
}
