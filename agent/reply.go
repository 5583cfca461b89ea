package agent

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"quarry/retrieval/workspace"
)

// reply is what a tool answers, with how to shorten it.
type reply struct {
	// count is how many units the answer has: items, or bytes of text.
	count int
	// first is the answer with the first n units, cut where it reads well; first
	// of count is all of it. A larger n never makes a shorter answer.
	first     func(n int) any
	truncated bool
	// paged says that the answer is a part of a list that can be asked for on; skipped is
	// how many of its items stand before this part.
	paged   bool
	skipped int
	// sized says that the call itself said how long the answer is to be.
	sized bool
	// most is the most bytes that the call lets the whole answer have, 0 for no limit of its own.
	most     int
	warnings []string
	// backend is what was asked, and missing what that did not know yet.
	backend []string
	missing *workspace.Missing
	// failure, if not nil, says that the tool did not do what it was asked for;
	// without first there is no data then.
	failure *Failure
}

// items is the reply of a list; wrap makes the answer of its beginning.
func items[T any](list []T, wrap func(list []T) any) reply {
	if list == nil {
		list = []T{} // [] in JSON, not null
	}
	return reply{count: len(list), first: func(n int) any { return wrap(list[:n]) }}
}

// part is the reply of a list's items from offset on, at most limit. A list that may
// go on behind what was looked at has one item more than the part.
func part[T any](list []T, offset, limit int, wrap func(list []T) any) reply {
	rest := list[min(offset, len(list)):]
	r := items(rest[:min(limit, len(rest))], wrap)
	r.paged, r.skipped, r.truncated = true, offset, len(rest) > limit
	return r
}

// from says where a reply is from, and what was missing there.
func (r *reply) from(backend []string, missing *workspace.Missing) {
	r.backend, r.missing = backend, missing
	if missing != nil {
		r.warn("incomplete: " + strings.TrimSuffix(missing.String(), ".") + "; what is not here may still be there")
	}
}

// whole is a reply that is not cut.
func whole(v any) reply { return reply{first: func(int) any { return v }} }

func (r *reply) warn(warnings ...string) { r.warnings = append(r.warnings, warnings...) }

// maxWarnings is how many warnings an answer carries.
const maxWarnings = 8

// bytesPerToken is how many bytes of an answer a token is taken to have, on the careful side:
// which tokenizer an agent's model has nobody knows here.
const bytesPerToken = 3

// seal puts a reply into an envelope of at most MaxResultBytes, and of at most tokens if that
// is not 0. One item is answered whatever the tokens are, within the bytes that the call allows.
func seal(r reply, tokens int) Envelope {
	e := Envelope{OK: r.failure == nil, Meta: Meta{Backend: r.backend, Incomplete: r.missing}}
	for _, w := range r.warnings[:min(len(r.warnings), maxWarnings)] {
		e.Meta.Warnings = append(e.Meta.Warnings, clip(w, maxMessageBytes))
	}
	if r.failure != nil {
		e.Error = failed(r.failure).Error
	}
	if r.first == nil {
		return e
	}
	most := MaxResultBytes
	if r.most > 0 {
		most = min(most, r.most)
	}
	limit := most
	if tokens > 0 {
		limit = min(limit, tokens*bytesPerToken)
	}
	// fits puts the first n units in, and answers whether the envelope is small
	// enough.
	fits := func(n int) bool {
		raw, err := encode(r.first(n))
		if err != nil {
			panic(fmt.Sprintf("encode a tool's answer: %v", err)) // structs of strings and numbers
		}
		e.Data, e.Meta.Bytes, e.Meta.Truncated = raw, len(raw), r.truncated || n < r.count
		if e.Meta.NextOffset = 0; r.paged && e.Meta.Truncated && n > 0 {
			e.Meta.NextOffset = r.skipped + n
		}
		return len(e.String()) <= limit
	}
	if fits(r.count) {
		return e
	}
	n := sort.Search(r.count, func(n int) bool { return !fits(n + 1) })
	if least := min(1, r.count); n <= least && limit < most {
		limit, n = most, least
	} else if n == 0 {
		return failed(tooLarge(most))
	}
	if !fits(n) {
		return failed(tooLarge(most))
	}
	return e
}

func tooLarge(most int) *Failure {
	return Failf(TooLarge, "no part of the answer fits %d bytes; ask for less", most)
}

// cutText is the longest head of text of at most n bytes that ends after a line;
// where the first line is longer, after a character.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i >= 0 {
		return text[:i+1]
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// linesOf are the lines of a text without their ends, whatever these are. An empty
// text has none.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// textReply is the reply of one text; wrap makes the answer of its beginning.
func textReply(text string, wrap func(text string) any) reply {
	return reply{count: len(text), first: func(n int) any { return wrap(cutText(text, n)) }}
}
