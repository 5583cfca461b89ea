package imports

import (
	"regexp"
	"strings"

	"quarry/agent"
	"quarry/index/lang"
)

// unknown is a name that a tool does not know.
type unknown struct {
	name string
	// at is where it stands in the text.
	at int
	// path is the name with what follows it behind dots or colons: urllib.parse.quote.
	path string
	// member is the second part of path, "" if there is none.
	member string
	// isVague says that the message may just as well mean something that is no import.
	isVague bool
}

// A name in what tools say, and the quotes around it.
const (
	word  = `([\p{L}_$][\p{L}\p{N}_$]*)`
	quote = "[`'\"‘’“”]"
	named = quote + word + quote
)

// messages are what tools say of a name that they do not know, by the family of languages.
var messages = map[string][]*regexp.Regexp{
	"go": forms(
		`(?:undefined|undeclared name|unresolved reference): `+word+`$`, // the compiler, gopls
		`^undefined: `+word+`\b[^.]*$`,
		`use of unresolved (?:identifier|reference) `+named),
	"python": forms(
		`^(?:F821 )?[Uu]ndefined name `+named,                 // pyflakes, ruff
		`^[Nn]ame `+named+` (?:is not|used when not) defined`, // mypy, ty
		`^`+named+` is not defined`,                           // pyright
		`^[Uu]ndefined variable `+named,                       // pylint
		`NameError: name `+named,
		`Could not find name `+named), // pyrefly
	"js": forms(
		`^(?:TS\d+: )?Cannot find (?:name|namespace) `+named,
		`^`+named+` is not defined`, // eslint no-undef
		`^`+named+` refers to a UMD global`,
		`ReferenceError: `+word+` is not defined`,
		`is not defined: `+word+`$`),
	"rust": forms(
		`cannot find (?:type|trait|value|function|struct|macro|derive macro|attribute macro|tuple struct|tuple variant|tuple struct/variant|tuple struct or tuple variant|struct, variant or union type|unit struct, unit variant or constant)[^`+"`"+`]* `+named,
		`use of (?:undeclared|unresolved) (?:type|crate or module|module|module or unlinked crate) `+named,
		`could not find `+named+` in the crate root`),
	"jvm": forms(
		`(?s)cannot find symbol.*symbol:\s+(?:class|variable|interface|method|enum)\s+`+word,
		`^`+named+` cannot be resolved`, `^`+word+` cannot be resolved(?:$| to a)`, // Eclipse
		`^The method `+word+`\([^)]*\) is undefined for the type`,
		`^[Uu]nresolved reference:? `+quote+`?`+word), // Kotlin
	"c": forms(
		`implicit declaration of function `+named,
		`call to undeclared (?:library )?function `+named,
		`implicitly declaring library function `+named,
		`unknown type name `+named,
		`use of undeclared identifier `+named,
		named+` (?:undeclared|was not declared in this scope|does not name a type|has not been declared)`,
		named+` is not a member of `+quote+`std`,
		`no (?:type|member|template) named `+named+` in namespace `+quote+`std`),
}

func forms(list ...string) (out []*regexp.Regexp) {
	for _, l := range list {
		out = append(out, regexp.MustCompile(l))
	}
	return out
}

// unknownIn reads a diagnostic for the name that it does not know, and finds it in the text.
func unknownIn(p agent.Problem) (u unknown, ok bool) {
	family := lang.Family(lang.Canonical(p.Document.Language))
	message := strings.TrimSpace(p.Message)
	for _, m := range messages[family] {
		if groups := m.FindStringSubmatch(message); groups != nil {
			u.name = groups[1]
			break
		}
	}
	if u.name == "" {
		return u, false
	}
	text := p.Document.Text
	from, to := min(p.Start, len(text)), min(max(p.Start, p.End), len(text))
	if u.at = indexWord(text[from:to], u.name); u.at >= 0 {
		u.at += from
	} else { // a tool may mark the whole line, or a place behind the name
		from = strings.LastIndexByte(text[:from], '\n') + 1
		if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
			to += end
		} else {
			to = len(text)
		}
		if u.at = indexWord(text[from:to], u.name); u.at < 0 {
			return u, false
		}
		u.at += from
	}
	if before := strings.TrimRight(text[:u.at], " \t"); isMember(family, before) {
		return u, false
	}
	u.path = pathFrom(text[u.at:])
	if parts := strings.FieldsFunc(u.path, isPathSign); len(parts) > 1 {
		u.member = parts[1]
	}
	// A name alone may be a variable that somebody forgot; one that something is taken from, called
	// or named as a type is what is imported.
	switch after := strings.TrimLeft(text[u.at+len(u.name):], " \t"); {
	case family == "go" && !strings.HasPrefix(after, "."):
		return u, false // a package never stands alone
	case family == "go":
		u.isVague = u.member == "" || !isCapital(u.member)
	case family == "python" || family == "js":
		u.isVague = u.member == "" && !isCapital(u.name) && !strings.HasPrefix(after, "(") && !strings.HasPrefix(text[max(0, u.at-1):], "@")
	}
	return u, true
}

// isMember answers whether a name behind this text is one of something else.
func isMember(family, before string) bool {
	switch {
	case family == "c" && strings.HasSuffix(before, "std::"):
		return false
	case strings.HasSuffix(before, "..."): // spread
		return false
	}
	return strings.HasSuffix(before, ".") || strings.HasSuffix(before, "->") || strings.HasSuffix(before, "::")
}

var dottedPath = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::)[\p{L}_][\p{L}\p{N}_]*)*`)

func pathFrom(text string) string { return dottedPath.FindString(text) }

func isPathSign(r rune) bool { return r == '.' || r == ':' }

func isCapital(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// indexWord is where a name stands in text as a whole word, -1 if nowhere.
func indexWord(text, name string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return -1
		}
		i += at
		if (i == 0 || !isWordByte(text[i-1])) && (i+len(name) == len(text) || !isWordByte(text[i+len(name)])) {
			return i
		}
		at = i + len(name)
	}
}

func isWordByte(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
