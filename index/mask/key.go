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
	// leastString is shorter than the strings that a program puts a key together of.
	leastString = 32
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
		case strings.IndexByte(" \t\r\n\"'`,#*|>", c) >= 0:
			i++
			continue
		}
		start := i
		for i < len(text) && base64Set[text[i]] {
			i++
		}
		run := text[start:i]
		switch {
		case i < len(text) && (text[i] == ':' || text[i] == '-') && run != "" && total == 0: // a header, as in "Proc-Type: 4,ENCRYPTED"
			for i < len(text) && text[i] != '\n' && text[i] != '\\' {
				i++
			}
		case run != "" && strings.Trim(run, "+=") == "": // strings are joined
		case run == "", len(run) < leastLine && (total < leastLine || !closes(text[i:])):
			if i = nextString(text, start); i < 0 {
				return enough(body, total), start
			}
		default:
			body, total = append(body, Span{start, i}), total+len(run)
		}
	}
	return enough(body, total), i
}

// nextString is where the next string begins if it may be a line of a key that a
// program joins with what it has, -1 if it is not: `" . "...`, `; key += "...`,
// .append("...
func nextString(text string, i int) int {
	const near = 80
	for {
		rest := text[i:min(len(text), i+near)]
		quote := strings.IndexAny(rest, "\"'`")
		if quote < 0 || strings.Count(rest[:quote], "\n") > 1 || strings.Contains(rest[:quote], "-----") {
			return -1
		}
		start := i + quote + 1
		end := start
		for end < len(text) && base64Set[text[end]] {
			end++
		}
		run := text[start:end]
		switch {
		case end == len(text) || strings.IndexByte("\"'`\\", text[end]) < 0:
			return -1
		case len(run) >= leastString && mixed(run):
			return start
		case len(run) >= leastLine && closes(text[end:]): // the last line
			return start
		case run == "" && end+2 < len(text) && text[end] == '\\' && text[end+2] == text[start-1]: // a string of the line's end alone
			i = end + 3
		default:
			return -1
		}
	}
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

// assigned are names whose values are keys if they look it: length letters of the
// set, by chance.
var assigned = []struct {
	name   string
	of     *set
	length int
}{
	{"ecret_access_key", base64Set, 40}, {"ecretAccessKey", base64Set, 40}, {"ECRET_ACCESS_KEY", base64Set, 40}, {"ecret-access-key", base64Set, 40}, // Amazon
	{"AccountKey", base64Set, 88}, {"SharedAccessKey", base64Set, 44}, // Azure
	{"PrivateKey", base64Set, 44}, {"PresharedKey", base64Set, 44}, // WireGuard
}

// issued are names that say whose key their value is, in small letters and without what
// separates words: the issuer draws length letters of the set. Where dashes is set, it is
// a UUID.
var issued = []struct {
	name   string
	of     *set
	length int
	dashes bool
}{
	{"twilioauthtoken", hex, 32, false}, {"datadogapikey", hex, 32, false}, {"ddapikey", hex, 32, false}, {"datadogappkey", hex, 40, false}, {"ddappkey", hex, 40, false},
	{"cloudflareapikey", hex, 37, false}, {"cloudflareapitoken", word, 40, false}, {"cfapitoken", word, 40, false}, {"fastlyapitoken", word, 32, false}, {"fastlyapikey", word, 32, false},
	{"sentryauthtoken", hex, 64, false}, {"circletoken", hex, 40, false}, {"circlecitoken", hex, 40, false}, {"snyktoken", hexDash, 36, true}, {"herokuapikey", hexDash, 36, true},
	{"oktaapitoken", word, 42, false}, {"oktatoken", word, 42, false}, {"mailgunapikey", hex, 32, false},
	{"cohereapikey", alnum, 40, false}, {"mistralapikey", alnum, 32, false}, {"deepgramapikey", hex, 40, false},
}

// plainName is a name in small letters without what separates its words.
var plainName = strings.NewReplacer("_", "", "-", "")

// appendIssued judges what is assigned to a name that says whose key it is.
func appendIssued(list []Span, text string, start, end int) []Span {
	const longest = 40
	name := text[max(start, end-longest):end]
	if len(name) < minRun {
		return list
	}
	if tail := strings.ToLower(name[len(name)-3:]); tail != "key" && tail != "ken" {
		return list
	}
	name = plainName.Replace(strings.ToLower(name))
	for _, k := range issued {
		if !strings.HasSuffix(name, k.name) {
			continue
		}
		from, to := valueAfter(text, end, end+k.length+12)
		value := text[from:to]
		if len(value) != k.length || !consists(value, k.of) || !random(value) || worded(value) {
			continue
		}
		if k.of != hex && !k.dashes && !mixed(value) || k.dashes && !isUUID(value) {
			continue
		}
		return append(list, Span{from, to})
	}
	return list
}

// isUUID answers whether letters of hexDash are one.
func isUUID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

// signed are the keys of Azure's services, which bear their service's sign: so many letters
// of base64 stand before it and after it.
var signed = []struct {
	sign          string
	before, after int
}{
	{"+ASt", 76, 8}, {"+ABa", 76, 8}, {"ACDb", 76, 8}, // Storage, Batch, Cosmos DB
	{"+AEh", 33, 7}, {"+ASb", 33, 7}, {"+ARm", 33, 7}, {"AIoT", 33, 7}, // Event Hubs, Service Bus, Relay, IoT
	{"+ACR", 42, 6}, {"AzSe", 42, 6}, {"AzFu", 44, 8}, // Container Registry, Search, Functions
}

// appendSigned finds such keys, whatever name they are assigned to.
func appendSigned(list []Span, text string) []Span {
	for _, k := range signed {
		for at := 0; ; {
			i := strings.Index(text[at:], k.sign)
			if i < 0 {
				break
			}
			i += at
			at = i + len(k.sign)
			from, to := i-k.before, at+k.after
			if from < 0 || to > len(text) || from > 0 && base64Set[text[from-1]] && text[from-1] != '=' || to < len(text) && base64Set[text[to]] {
				continue
			}
			if key := text[from:to]; consists(strings.TrimRight(key, "="), base64Plain) && mixed(key) {
				list = append(list, Span{from, to})
			}
		}
	}
	return list
}

// appendAssigned judges what is assigned to the name text[start:end].
func appendAssigned(list []Span, text string, start, end int) []Span {
	list = appendIssued(list, text, start, end)
	for _, a := range assigned {
		if strings.HasSuffix(text[start:end], a.name) {
			from, to := valueAfter(text, end, end+a.length+12)
			if value := text[from:to]; len(value) == a.length && consists(value, a.of) && mixed(value) {
				list = append(list, Span{from, to})
			}
		}
	}
	return list
}

// keyNumbers are the members of a JSON Web Key that are private (RFC 7518).
var keyNumbers = map[string]bool{"d": true, "p": true, "q": true, "dp": true, "dq": true, "qi": true, "k": true}

// farMember is how far from the member "kty" another of the same key may stand.
const farMember = 1 << 13

// appendWebKeys finds the private members of JSON Web Keys, in JSON or as a program
// writes an object.
func appendWebKeys(list []Span, text string) []Span {
	done := 0
	for at := 0; ; {
		i := strings.Index(text[at:], "kty")
		if i < 0 {
			return list
		}
		i += at
		at = i + len("kty")
		if i > 0 && word[text[i-1]] || at < len(text) && word[text[at]] {
			continue
		}
		last := min(len(text), i+farMember)
		for j := max(done, i-farMember); j < last; j++ {
			if c := text[j]; c != ':' && c != '=' {
				continue
			}
			end := len(strings.TrimRight(text[:j], "\"'\\ \t"))
			start := end
			for start > 0 && word[text[start-1]] && end-start < 3 {
				start--
			}
			if !keyNumbers[text[start:end]] {
				continue
			}
			from, to := valueAfter(text, end, last)
			j = max(j, to-1)
			if value := text[from:to]; len(value) >= 32 && consists(value, word) && mixed(value) && !worded(value) {
				list = append(list, Span{from, to})
			}
		}
		done = last
	}
}

// mixed is random for base64, where nothing else says that it is a key.
func mixed(value string) bool {
	return strings.ContainsAny(value, digits) && strings.ContainsAny(value, capitals) && strings.ContainsAny(value, smalls) && random(value)
}

// valueAfter is the value assigned to the name that ends at i, no further than last;
// empty if there is none.
func valueAfter(text string, i, last int) (from, to int) {
	from = i
	for from < len(text) && from < i+10 && strings.IndexByte("\"'\\ \t:=>,([", text[from]) >= 0 {
		from++
	}
	if from == i {
		return i, i
	}
	to = from
	for to < min(len(text), last) && (word[text[to]] || base64Set[text[to]]) {
		to++
	}
	return from, to
}
