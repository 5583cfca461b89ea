package token

// stem reduces a lower-case word to its Porter stem in place (M. F. Porter, "An
// algorithm for suffix stripping", Program 14(3), 1980). Words of one or two
// letters and words with anything but a-z are returned as they are.
func stem(w []byte) []byte {
	if len(w) < 3 {
		return w
	}
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	w = step1a(w)
	w = step1b(w)
	if n := len(w); w[n-1] == 'y' && hasVowel(w[:n-1]) {
		w[n-1] = 'i'
	}
	w = replaceLongest(w, step2, 0)
	w = replaceLongest(w, step3, 0)
	w = step4(w)
	if n := len(w); w[n-1] == 'e' {
		if m := measure(w[:n-1]); m > 1 || m == 1 && !endsCVC(w[:n-1]) {
			w = w[:n-1]
		}
	}
	if n := len(w); w[n-1] == 'l' && n > 1 && w[n-2] == 'l' && measure(w) > 1 {
		w = w[:n-1]
	}
	return w
}

type suffixRule struct{ from, to string }

// Within one final letter group the longest suffix stands first.
var (
	step2 = []suffixRule{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
		{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"},
		{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"},
		{"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}, {"logi", "log"},
	}
	step3 = []suffixRule{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
	}
	step4Suffixes = []string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
		"ate", "iti", "ous", "ive", "ize",
	}
)

func step1a(w []byte) []byte {
	n := len(w)
	switch {
	case hasSuffix(w, "sses"), hasSuffix(w, "ies"):
		return w[:n-2]
	case hasSuffix(w, "ss"):
		return w
	case w[n-1] == 's':
		return w[:n-1]
	}
	return w
}

func step1b(w []byte) []byte {
	n := len(w)
	switch {
	case hasSuffix(w, "eed"):
		if measure(w[:n-3]) > 0 {
			return w[:n-1]
		}
		return w
	case hasSuffix(w, "ed") && hasVowel(w[:n-2]):
		w = w[:n-2]
	case hasSuffix(w, "ing") && hasVowel(w[:n-3]):
		w = w[:n-3]
	default:
		return w
	}
	n = len(w)
	switch {
	case hasSuffix(w, "at"), hasSuffix(w, "bl"), hasSuffix(w, "iz"):
		return append(w, 'e')
	case n > 1 && w[n-1] == w[n-2] && consonant(w, n-1) && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z':
		return w[:n-1]
	case measure(w) == 1 && endsCVC(w):
		return append(w, 'e')
	}
	return w
}

func step4(w []byte) []byte {
	best := ""
	for _, s := range step4Suffixes {
		if len(s) > len(best) && hasSuffix(w, s) {
			best = s
		}
	}
	if best == "" {
		return w
	}
	head := w[:len(w)-len(best)]
	if measure(head) < 2 {
		return w
	}
	if best == "ion" {
		if n := len(head); n == 0 || head[n-1] != 's' && head[n-1] != 't' {
			return w
		}
	}
	return head
}

// replaceLongest applies the rule with the longest matching suffix if what
// stands before the suffix has a measure above min.
func replaceLongest(w []byte, rules []suffixRule, min int) []byte {
	var best suffixRule
	for _, r := range rules {
		if len(r.from) > len(best.from) && hasSuffix(w, r.from) {
			best = r
		}
	}
	if best.from == "" {
		return w
	}
	if head := w[:len(w)-len(best.from)]; measure(head) > min {
		return append(head, best.to...)
	}
	return w
}

// measure is Porter's m: the number of vowel-consonant sequences.
func measure(w []byte) int {
	m, i, n := 0, 0, len(w)
	for i < n && consonant(w, i) {
		i++
	}
	for i < n {
		for i < n && !consonant(w, i) {
			i++
		}
		if i == n {
			break
		}
		m++
		for i < n && consonant(w, i) {
			i++
		}
	}
	return m
}

// consonant answers whether w[i] is one; y is after a vowel or at the start.
func consonant(w []byte, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !consonant(w, i-1)
	}
	return true
}

func hasVowel(w []byte) bool {
	for i := range w {
		if !consonant(w, i) {
			return true
		}
	}
	return false
}

// endsCVC is Porter's *o: consonant, vowel, consonant other than w, x or y.
func endsCVC(w []byte) bool {
	n := len(w)
	if n < 3 || !consonant(w, n-3) || consonant(w, n-2) || !consonant(w, n-1) {
		return false
	}
	return w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}

func hasSuffix(w []byte, s string) bool {
	return len(w) >= len(s) && string(w[len(w)-len(s):]) == s
}
