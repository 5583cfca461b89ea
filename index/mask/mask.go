// Package mask writes over the tokens and keys that stand in ordinary text, so that
// source with one in it can be indexed and shown to a model without it. Which files
// are secrets as a whole is package walk's to say. All functions are pure.
package mask

import "slices"

// Text answers text with the values of tokens and keys in it written over, each
// letter by an x, so that what a token is can still be read from how it begins and
// every offset, line and column stays what it was. It is what index, prompts, results
// and tools see. What is masked already stays as it is.
//
// The rules are sure: what an issuer of tokens begins them with and how long
// it makes them, signed web tokens, the body of a private key, the values of a
// Kubernetes Secret, and a handful of assignments. Words such as "password" prove nothing and are no rule.
// bench/security.md has how often they err.
func Text(text string) string {
	spans := Spans(text)
	if len(spans) == 0 {
		return text
	}
	masked := []byte(text)
	for _, s := range spans {
		cover(masked[s.Start:s.End])
	}
	return string(masked)
}

// In is Text in place.
func In(text []byte) {
	for _, s := range Spans(string(text)) {
		cover(text[s.Start:s.End])
	}
}

// cover writes over what a value consists of; blanks, line ends and letters of more
// than a byte stay, so that columns do in every encoding.
func cover(value []byte) {
	for i, c := range value {
		if c > ' ' && c < 0x7f {
			value[i] = 'x'
		}
	}
}

// Span is text[Start:End].
type Span struct{ Start, End int }

// Spans are the values that Text writes over, in their order; none lies in another.
func Spans(text string) []Span { return spans(text, 0) }

// spans are those of a text that stands in base64 or hexadecimal digits depth times over.
func spans(text string, depth int) []Span {
	var list []Span
	list = appendRuns(list, text)
	list = appendBroken(list, text)
	list = appendSigned(list, text)
	list = appendSecretsOfIDs(list, text)
	long := longRuns(text)
	list = appendKeys(list, text, long)
	list = appendManifests(list, text)
	list = appendWebKeys(list, text)
	list = appendNumbers(list, text)
	list = appendGems(list, text)
	list = appendEncoded(list, text, long, depth)
	list = appendHexadecimal(list, text, depth)
	slices.SortFunc(list, func(a, b Span) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(list, func(s Span) bool { // a token in the value of a Secret
		inside := s.End <= end
		end = max(end, s.End)
		return inside
	})
}

// A set is of bytes.
type set [256]bool

func bytesOf(chars string) *set {
	s := &set{}
	for i := range len(chars) {
		s[chars[i]] = true
	}
	return s
}

const (
	digits   = "0123456789"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	smalls   = "abcdefghijklmnopqrstuvwxyz"
	letters  = capitals + smalls
)

var (
	word        = bytesOf(letters + digits + "_-")
	separator   = bytesOf("_-")
	alnum       = bytesOf(letters + digits)
	alpha       = bytesOf(letters)
	hex         = bytesOf(digits + "abcdef")
	hexDash     = bytesOf(digits + "abcdef-")
	base32      = bytesOf(capitals + "234567")
	base64Set   = bytesOf(letters + digits + "+/=")
	base64Plain = bytesOf(letters + digits + "+/")
)
