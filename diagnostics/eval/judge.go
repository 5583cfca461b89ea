package eval

import (
	"regexp"
	"slices"
	"strings"

	"quarry/index/syntax"
)

// token is a name or number, or one other character that is no blank.
var token = regexp.MustCompile(`[\pL\pN_]+|[^\s\pL\pN_]`)

// kept answers whether a fixed file has lost nothing outside the broken place. The place
// is what remains of the original's tokens without those that the broken file begins and
// ends with as well; all others must be in the fixed file, in their order.
func kept(original, broken, fixed string) bool {
	was, is := token.FindAllString(original, -1), token.FindAllString(broken, -1)
	shorter := min(len(was), len(is))
	first := 0
	for first < shorter && was[first] == is[first] {
		first++
	}
	last := 0
	for last < shorter-first && was[len(was)-1-last] == is[len(is)-1-last] {
		last++
	}
	// Matching from both ends leaves the fixed place in the middle, so that a token
	// that stands there does not count for one that is lost behind it.
	made := token.FindAllString(fixed, -1)
	at := 0
	for _, want := range was[:first] {
		i := slices.Index(made[at:], want)
		if i < 0 {
			return false
		}
		at += i + 1
	}
	end := len(made)
	for _, want := range slices.Backward(was[len(was)-last:]) {
		for end--; end >= at && made[end] != want; end-- {
		}
		if end < at {
			return false
		}
	}
	return true
}

// silencers tell a checker to say nothing.
var silencers = []string{
	"noqa", "type: ignore", "type:ignore", "@ts-ignore", "@ts-expect-error", "@ts-nocheck", "eslint-disable", "#[allow", "#![allow", "#[expect",
	"@SuppressWarnings", "#pragma", "__attribute__((unused", "[[maybe_unused]]", "nolint", "if TYPE_CHECKING", "pyright:", "mypy:",
}

// silences answers whether a fixed file silences a checker where the original did not.
func silences(original, fixed string) bool {
	return slices.ContainsFunc(silencers, func(s string) bool { return strings.Count(fixed, s) > strings.Count(original, s) })
}

// parses answers whether a fixed file has no more syntax errors than the original.
func parses(language, original, fixed string) bool {
	before, ok := syntax.ParseErrors(language, []byte(original))
	if !ok {
		return false
	}
	now, ok := syntax.ParseErrors(language, []byte(fixed))
	return ok && len(now) <= len(before)
}

// names answers whether an explanation has a word of each group; case says nothing, and
// a word of letters does not count inside another.
func names(text string, groups [][]string) bool {
	text = strings.ToLower(text)
	for _, group := range groups {
		if !slices.ContainsFunc(group, func(word string) bool { return holdsWord(text, strings.ToLower(word)) }) {
			return false
		}
	}
	return len(groups) > 0
}

func holdsWord(text, word string) bool {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], word)
		if i < 0 || word == "" {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || !wordByte(text[at-1]) || !wordByte(word[0])) && (end == len(text) || !wordByte(text[end]) || !wordByte(word[len(word)-1])) {
			return true
		}
	}
}
