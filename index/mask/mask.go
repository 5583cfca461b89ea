// Package mask writes over the tokens and keys that stand in ordinary text, so that
// source with one in it can be indexed and shown to a model without it. Which files
// are secrets as a whole is package walk's to say. All functions are pure.
package mask

import (
	"slices"
	"strings"
)

// Text answers text with the values of tokens and keys in it written over, each
// letter by an x, so that what a token is can still be read from how it begins and
// every offset, line and column stays what it was. It is what index, prompts, results
// and tools see. What is masked already stays as it is.
//
// The rules are few and sure: what an issuer of tokens begins them with and how long
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

// Restore answers with, which is to replace text[start:end], with the values that
// Text has written over there put back in their order: who proposes a change has
// seen only the masked text.
func Restore(text string, start, end int, with string) string {
	spans := Spans(text)
	if len(spans) == 0 {
		return with
	}
	masked := Text(text)
	var b strings.Builder
	for _, s := range spans {
		from, to := max(s.Start, start), min(s.End, end)
		if to-from < leastPart {
			continue
		}
		// What stands before the value says which it is: x's alone may be the user's.
		before := max(start, from-4)
		i := strings.Index(with, masked[before:to])
		if i < 0 {
			continue // the change takes it away
		}
		i += from - before
		b.WriteString(with[:i])
		b.WriteString(text[from:to])
		with = with[i+to-from:]
	}
	return b.String() + with
}

// leastPart is the least of a value that Restore knows again.
const leastPart = 4

// Span is text[Start:End].
type Span struct{ Start, End int }

// Spans are the values that Text writes over, in their order; none lies in another.
func Spans(text string) []Span {
	var list []Span
	list = appendRuns(list, text)
	list = appendKeys(list, text)
	list = appendManifests(list, text)
	list = appendWebKeys(list, text)
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
	word      = bytesOf(letters + digits + "_-")
	alnum     = bytesOf(letters + digits)
	hex       = bytesOf(digits + "abcdef")
	base32    = bytesOf(capitals + "234567")
	base64Set = bytesOf(letters + digits + "+/=")
)

// token is how an issuer writes its tokens: what they begin with, and how many
// letters of which set follow at least and at most.
type token struct {
	prefix string
	body   *set
	least  int
	most   int
}

const unbounded = 1 << 12

// tokens are by their first letter. Each is at least minRun long and consists of
// word's letters.
var tokens = func() (by [256][]token) {
	for _, t := range []token{
		{"AKIA", base32, 16, 16}, {"ASIA", base32, 16, 16}, {"ABIA", base32, 16, 16}, {"ACCA", base32, 16, 16}, // Amazon
		{"AIza", word, 35, 35}, // Google
		{"ghp_", alnum, 36, 36}, {"gho_", alnum, 36, 36}, {"ghu_", alnum, 36, 36}, {"ghs_", alnum, 36, 36}, {"ghr_", alnum, 36, 76}, {"github_pat_", word, 82, 82},
		{"glpat-", word, 20, 64}, {"gldt-", word, 20, 64}, {"glrt-", word, 20, 64}, {"glptt-", hex, 40, 40},
		{"xoxb-", word, 40, 80}, {"xoxp-", word, 40, 80}, {"xoxa-", word, 40, 80}, {"xoxs-", word, 40, 80}, {"xoxr-", word, 40, 80}, {"xapp-1-", word, 60, 110},
		{"sk-ant-", word, 80, 120}, {"sk-proj-", word, 40, 200}, {"sk-svcacct-", word, 40, 200}, {"sk-admin-", word, 40, 200}, {"sk-or-v1-", hex, 64, 64}, {"sk-", alnum, 48, 48},
		{"sk_live_", alnum, 24, 120}, {"rk_live_", alnum, 24, 120}, {"sk_test_", alnum, 24, 120}, {"rk_test_", alnum, 24, 120}, {"whsec_", alnum, 32, 64}, // Stripe
		{"npm_", alnum, 36, 36}, {"pypi-AgEIcHlwaS5vcmc", word, 50, unbounded}, {"rubygems_", hex, 48, 48}, {"dckr_pat_", word, 27, 27},
		{"hf_", alnum, 34, 34}, {"gsk_", alnum, 52, 52}, {"xai-", alnum, 80, 80}, {"nvapi-", word, 60, 80}, // models
		{"dop_v1_", hex, 64, 64}, {"doo_v1_", hex, 64, 64}, {"dor_v1_", hex, 64, 64}, {"dapi", hex, 32, 32}, {"sbp_", hex, 40, 40},
		{"shpat_", hex, 32, 32}, {"shpca_", hex, 32, 32}, {"shppa_", hex, 32, 32}, {"shpss_", hex, 32, 32},
		{"glsa_", word, 41, 41}, {"lin_api_", alnum, 40, 40}, {"figd_", word, 40, 60}, {"PMAK-", word, 59, 59}, {"NRAK-", alnum, 27, 27}, {"sntryu_", hex, 64, 64},
		{"ATATT3xFfGF0", word, 150, unbounded}, {"AGE-SECRET-KEY-1", alnum, 58, 58},
	} {
		by[t.prefix[0]] = append(by[t.prefix[0]], t)
	}
	return by
}()

const (
	// minToken is the shortest token, Amazon's.
	minToken = 20
	// minRun is the shortest name of assigned.
	minRun = 10
)

// appendRuns finds the runs of word's letters that are long enough, tokens and
// names to which keys are assigned. It looks at one letter of minRun where there is
// none.
func appendRuns(list []Span, text string) []Span {
	for i := 0; i+minRun <= len(text); {
		probe := i + minRun - 1
		if !word[text[probe]] {
			i = probe + 1
			continue
		}
		start, end := probe, probe+1
		for start > i && word[text[start-1]] {
			start--
		}
		for end < len(text) && word[text[end]] {
			end++
		}
		if end-start >= minToken {
			if s, ok := tokenAt(text, min(start+escape(text[:start], text[start]), end-1), end); ok {
				list = append(list, s)
			}
		}
		if end-start >= minRun && (text[end-1] == 'y' || text[end-1] == 'Y') {
			list = appendAssigned(list, text, start, end)
		}
		i = end + 1
	}
	return list
}

// escape is how many letters behind before, the first of which is next, belong to an
// escape that ends in it: "\nghp_...", "\u0022ghp_...", %3Dghp_....
func escape(before string, next byte) int {
	switch {
	case strings.HasSuffix(before, "%"):
		return 2
	case !strings.HasSuffix(before, `\`):
		return 0
	case next == 'u':
		return 5
	case next == 'x':
		return 3
	}
	return 1
}

// tokenAt judges one run.
func tokenAt(text string, start, end int) (s Span, ok bool) {
	run := text[start:end]
	for _, t := range tokens[run[0]] {
		body, found := strings.CutPrefix(run, t.prefix)
		if found && len(body) >= t.least && len(body) <= t.most && consists(body, t.body) && random(body) && !worded(body) {
			return Span{start + len(t.prefix), end}, true
		}
	}
	before := text[max(0, start-12):start]
	switch {
	case strings.HasPrefix(run, "eyJ"):
		return webToken(text, start, end)
	case strings.HasSuffix(before, "SG.") && len(run) == 22 && end+44 <= len(text) && text[end] == '.' && consists(text[end+1:end+44], word) && random(run):
		return Span{start, end + 44}, true // SendGrid
	case strings.HasSuffix(before, "hvs.") && len(run) >= 90 && random(run):
		return Span{start, end}, true // Vault
	case len(run) == 35 && strings.HasPrefix(run, "AA") && random(run) && botID(before):
		return Span{start, end}, true // Telegram
	}
	return s, false
}

// botID answers whether 8 to 10 digits and a colon end before.
func botID(before string) bool {
	id, ok := strings.CutSuffix(before, ":")
	n := len(id) - len(strings.TrimRight(id, digits))
	return ok && n >= 8 && n <= 10
}

func consists(s string, of *set) bool {
	for i := range len(s) {
		if !of[s[i]] {
			return false
		}
	}
	return true
}

// random answers whether a value may be drawn by chance: no example, no keys of a
// keyboard in their order, no letter again and again.
func random(value string) bool {
	if strings.Contains(value, "EXAMPLE") || strings.Contains(value, "example") {
		return false
	}
	var has set
	distinct, same, rising := 0, 1, 1
	for i := range len(value) {
		c := value[i]
		if !has[c] {
			has[c] = true
			distinct++
		}
		if i == 0 {
			continue
		}
		same++
		if c != value[i-1] {
			same = 1
		}
		rising++
		if c != value[i-1]+1 {
			rising = 1
		}
		if same == 6 || rising == 6 {
			return false
		}
	}
	return distinct >= min(len(value)/2, 8)
}

// worded answers whether a value is made of words, as the names of functions and the
// examples of manuals are: parts of small letters or of digits with dashes between
// them, or words each of which may begin with a capital.
func worded(value string) bool {
	parts := strings.FieldsFunc(value, func(r rune) bool { return r == '-' || r == '_' })
	plain := len(parts) > 2
	for _, p := range parts {
		plain = plain && (strings.Trim(p, smalls) == "" || strings.Trim(p, digits) == "")
	}
	if plain || strings.ContainsAny(value, digits) {
		return plain
	}
	for _, p := range parts {
		for len(p) > 0 {
			n := len(p[1:]) - len(strings.TrimLeft(p[1:], smalls))
			if n == 0 {
				return false
			}
			p = p[1+n:]
		}
	}
	return true
}
