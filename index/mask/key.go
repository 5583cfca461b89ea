package mask

import "strings"

// keyLabel ends the line that opens a private key: PEM (RFC 7468), OpenPGP.
const keyLabel = "PRIVATE KEY"

// appendKeys finds the bodies of private keys, wherever they stand: in a string with
// escapes, in YAML, in a comment. Only what follows the opening line as a body does
// is one: code that looks for such lines has none.
func appendKeys(list []Span, text string) []Span {
	for at := 0; ; {
		i := strings.Index(text[at:], keyLabel)
		if i < 0 {
			return list
		}
		i += at
		at = i + len(keyLabel)
		if !strings.Contains(text[max(0, i-40):i], "-----BEGIN ") {
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimPrefix(text[at:], " BLOCK"), "-----")
		if !ok {
			continue
		}
		var body []Span
		if body, at = keyBody(text, len(text)-len(rest)); len(body) > 0 {
			list = append(list, body...)
		}
	}
}

const (
	// leastKey is shorter than the key of any curve in base64.
	leastKey = 44
	// leastLine is shorter than any line of a body but the last.
	leastLine = 16
)

// keyBody are the lines of a body that begins at i, and where it ends; none if what
// stands there is no body.
func keyBody(text string, i int) (body []Span, end int) {
	total := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i += 2
			continue
		case !base64Set[c]:
			if strings.IndexByte(" \t\r\n\"'`,#*|>", c) < 0 {
				return enough(body, total), i
			}
			i++
			continue
		}
		start := i
		for i < len(text) && base64Set[text[i]] {
			i++
		}
		run := text[start:i]
		switch {
		case i < len(text) && (text[i] == ':' || text[i] == '-') && total == 0: // a header, as in "Proc-Type: 4,ENCRYPTED"
			for i < len(text) && text[i] != '\n' && text[i] != '\\' {
				i++
			}
		case strings.Trim(run, "+=") == "": // strings are joined
		case len(run) < leastLine && (total < leastLine || !closes(text[i:])):
			return enough(body, total), i
		default:
			body, total = append(body, Span{start, i}), total+len(run)
		}
	}
	return enough(body, total), i
}

// closes answers whether the line that ends a key is near.
func closes(rest string) bool {
	i := strings.Index(rest[:min(len(rest), 100)], "-----END ")
	return i >= 0 && strings.ContainsAny(rest[:i+1], "\n\\\"'- ")
}

func enough(body []Span, total int) []Span {
	if total < leastKey {
		return nil
	}
	return body
}

// appendManifests finds the values of Kubernetes's Secrets in YAML: those below
// data and stringData of a document whose kind is Secret.
func appendManifests(list []Span, text string) []Span {
	const kind = "kind: Secret"
	for at := 0; ; {
		i := strings.Index(text[at:], kind)
		if i < 0 {
			return list
		}
		i += at
		at = i + len(kind)
		start := strings.LastIndexByte(text[:i], '\n') + 1
		indent := text[start:i]
		if strings.Trim(indent, " ") != "" || strings.TrimSpace(lineAt(text, at)) != "" {
			continue // "kind: SecretStore", or words about it
		}
		first, last := mapping(text, start, indent)
		list = appendValues(list, text, first, last, indent)
		at = max(at, last)
	}
}

// lineAt is the rest of the line from i.
func lineAt(text string, i int) string {
	line, _, _ := strings.Cut(text[i:], "\n")
	return line
}

// mapping is the part of text around the line at start whose lines are indented as
// deep as that or deeper.
func mapping(text string, start int, indent string) (first, last int) {
	inside := func(line string) bool {
		line = strings.TrimRight(line, "\r")
		return line == "" || strings.HasPrefix(line, indent) && !strings.HasPrefix(line, "---")
	}
	first = start
	for first > 0 {
		before := strings.LastIndexByte(text[:first-1], '\n') + 1
		if !inside(text[before : first-1]) {
			break
		}
		first = before
	}
	last = start
	for last < len(text) {
		line := lineAt(text, last)
		if !inside(line) {
			break
		}
		last = min(len(text), last+len(line)+1)
	}
	return first, last
}

// appendValues finds the values of a Secret between first and last: what a name calls
// a secret, and what is long and drawn by chance. A Secret has names of hosts, too.
func appendValues(list []Span, text string, first, last int, indent string) []Span {
	inData, named := false, false
	for i := first; i < last; {
		line := lineAt(text[:last], i)
		start := i
		i += len(line) + 1
		own, ok := strings.CutPrefix(line, indent)
		switch {
		case strings.TrimSpace(line) == "" || !ok:
			continue
		case own[0] != ' ':
			key := strings.TrimRight(own, " \r")
			inData = key == "data:" || key == "stringData:"
			continue
		case !inData:
			continue
		}
		value := line
		if name, after, ok := strings.Cut(line, ":"); ok && (strings.TrimSpace(after) == "" || after[0] == ' ') {
			value, named = after, saysSecret(name)
		}
		value = strings.TrimLeft(value, " \t\"'")
		from := start + len(line) - len(value)
		value = strings.TrimRight(value, " \t\r\"'")
		long := len(value) >= minToken && consists(value, base64Set) && mixed(value)
		if long || named && len(value) >= leastValue && !strings.ContainsAny(value[:1], "|>{$<#") && !strings.ContainsAny(value, "`{}\\") {
			list = append(list, Span{from, from + len(value)})
		}
	}
	return list
}

// leastValue is shorter than a password that keeps anybody out.
const leastValue = 7

func saysSecret(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"pass", "pwd", "secret", "token", "key", "credential", "auth"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// assigned are names whose values are keys if they look it: length letters of the
// set, by chance.
var assigned = []struct {
	name   string
	of     *set
	length int
}{
	{"ecret_access_key", base64Set, 40}, {"ecretAccessKey", base64Set, 40}, {"ECRET_ACCESS_KEY", base64Set, 40}, {"ecret-access-key", base64Set, 40}, // Amazon
	{"AccountKey", base64Set, 88},                                  // Azure
	{"PrivateKey", base64Set, 44}, {"PresharedKey", base64Set, 44}, // WireGuard
}

// keyNumbers are the members of a JSON Web Key that are private (RFC 7518).
var keyNumbers = []string{`"d"`, `"p"`, `"q"`, `"dp"`, `"dq"`, `"qi"`, `"k"`}

// appendAssigned judges what is assigned to the name text[start:end].
func appendAssigned(list []Span, text string, start, end int) []Span {
	for _, a := range assigned {
		if strings.HasSuffix(text[start:end], a.name) {
			from, to := valueAfter(text, end)
			if value := text[from:to]; len(value) == a.length && consists(value, a.of) && mixed(value) {
				list = append(list, Span{from, to})
			}
		}
	}
	return list
}

// appendWebKeys finds the private members of JSON Web Keys.
func appendWebKeys(list []Span, text string) []Span {
	if !strings.Contains(text, `"kty"`) {
		return list
	}
	for _, name := range keyNumbers {
		for at := 0; ; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			at += i + len(name)
			from, to := valueAfter(text, at)
			if value := text[from:to]; len(value) >= 32 && consists(value, word) && mixed(value) {
				list = append(list, Span{from, to})
			}
		}
	}
	return list
}

// mixed is random for base64, where nothing else says that it is a key.
func mixed(value string) bool {
	return strings.ContainsAny(value, digits) && strings.ContainsAny(value, capitals) && strings.ContainsAny(value, smalls) && random(value)
}

// valueAfter is the value assigned to the name that ends at i, empty if there is none.
func valueAfter(text string, i int) (from, to int) {
	from = i
	for from < len(text) && from < i+8 && strings.IndexByte("\"' \t:=>,([", text[from]) >= 0 {
		from++
	}
	if from == i {
		return i, i
	}
	to = from
	for to < len(text) && (word[text[to]] || base64Set[text[to]]) {
		to++
	}
	return from, to
}
