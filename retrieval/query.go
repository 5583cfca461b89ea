package retrieval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/index/glob"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/token"
	"quarry/retrieval/pattern"
)

// Mode says what a search looks at.
type Mode string

// The modes of the query language.
const (
	ModeAll     Mode = "all"
	ModeCode    Mode = "code"    // source files, their tests included
	ModeDocs    Mode = "docs"    // prose: documentation files and comments
	ModeSymbols Mode = "symbols" // declarations by name
	ModeRecent  Mode = "recent"  // newest files first among those that match
)

// Query is a parsed query.
//
// The language is free text with optional filters, each at the start of a word:
//
//	"quoted text"   the file contains exactly this text (as grep -F; any case
//	                when it has no capital)
//	path:internal   the path contains this, or is covered by it as a glob (path:*_test.go)
//	lang:go         the file's language, by any of its names (lang:sh, lang:tsx)
//	symbol:Parse    a declaration has this name (or its last part)
//	kind:function   a declaration of this kind is near the hit
//	type:test       code, test, doc, config or markup
//	since:3d        changed in the last 3 days (h, d, w), or since:2026-01-31
//	mode:docs       all, code, docs, symbols or recent
//	-path:vendor    any filter but mode and since with a leading minus excludes
//	re:func \w+Error lines that match a regular expression (RE2), which ends before the next
//	                filter, or stands in quotes up to there (re:"a lang:b "); a query of /\w+Error/
//	                or /\w+error/i and filters alone is one, too
//	lines:all       every line that has the rest of the query, or matches it, not one a file
//
// What else stands beside re: or lines:all stands on the same line, as it is. Filters alone ask for all that they leave. A filter with a value it cannot have is
// ordinary text, an open quote ends with the query, and any sequence of bytes is a valid
// query.
type Query struct {
	// Text is what is left without filters, blanks folded; quoted text is part
	// of it.
	Text string
	// Phrases are the quoted texts, each exactly as written.
	Phrases []string
	Filter
	Mode Mode
	// Lines is what a line has to match where lines are asked for, nil elsewhere; all that
	// the query says beside its filters is in it. AllLines asks for each of them, not for
	// one a file.
	Lines    *pattern.Pattern
	AllLines bool
	// Notes say which words look like filters and are none, what would be one, and which
	// filters name what quarry does not know.
	Notes []string
}

// Narrows answers whether the query has anything but text.
func (q *Query) Narrows() bool {
	f := &q.Filter
	return len(f.Paths)+len(f.Languages)+len(f.Symbols)+len(f.Kinds)+len(f.Types)+len(f.NotPaths)+len(f.NotLanguages)+len(f.NotKinds)+len(f.NotTypes) > 0 ||
		!f.Since.IsZero() || q.Mode != ModeAll && q.Mode != ""
}

// Filter restricts which files and chunks may answer. Values of one field are
// alternatives, fields add up.
type Filter struct {
	Paths     []string
	Languages []string
	Symbols   []string
	Kinds     []syntax.Kind
	Types     []Type
	// Since keeps files modified at this time or later; zero keeps all.
	Since time.Time

	NotPaths     []string
	NotLanguages []string
	NotKinds     []syntax.Kind
	NotTypes     []Type
}

// Type is what a file is for, the values of the filter type:.
type Type string

// The types of files.
const (
	TypeCode   Type = "code"
	TypeTest   Type = "test"
	TypeDoc    Type = "doc"
	TypeConfig Type = "config"
	TypeMarkup Type = "markup" // style sheets and pages
)

var kinds = []syntax.Kind{
	syntax.KindFunction, syntax.KindMethod, syntax.KindClass, syntax.KindStruct, syntax.KindInterface, syntax.KindEnum,
	syntax.KindVar, syntax.KindConst, syntax.KindType, syntax.KindModule, syntax.KindField, syntax.KindMacro, syntax.KindSection,
}

// Modes are all of them.
var Modes = []Mode{ModeAll, ModeCode, ModeDocs, ModeSymbols, ModeRecent}

var types = []Type{TypeCode, TypeTest, TypeDoc, TypeConfig, TypeMarkup}

// maxQuery is how much of a query is read, in bytes: many times what anybody types,
// and what a pasted stack trace says first.
const maxQuery = 4 << 10

// Clip is the part of a query that is read. It ends at a blank if there is one. Of a stack
// it is the message and the innermost frames.
func Clip(raw string) string {
	if len(raw) <= maxQuery {
		return raw
	}
	if stack, _, ok := readStack(raw, maxQuery); ok {
		return stack
	}
	return clipTo(raw, maxQuery)
}

// clipTo is what a text of at most size bytes begins with. It ends between words if it can.
func clipTo(raw string, size int) string {
	if len(raw) <= size {
		return raw
	}
	end := max(size, 0)
	for end > max(size-utf8.UTFMax, 0) && !utf8.RuneStart(raw[end]) {
		end--
	}
	raw = raw[:end]
	if i := strings.LastIndexAny(raw, " \t\n"); i > 0 {
		raw = raw[:i]
	}
	return raw
}

// clipFront is what a text of more than size bytes ends with, from a line's beginning if it can.
func clipFront(raw string, size int) string {
	start := len(raw) - size
	for start < len(raw) && !utf8.RuneStart(raw[start]) {
		start++
	}
	raw = raw[start:]
	if i := strings.IndexByte(raw, '\n'); i >= 0 {
		raw = raw[i+1:]
	}
	return raw
}

// Parse reads a query. now resolves relative times.
func Parse(raw string, now time.Time) Query {
	q := Query{Mode: ModeAll}
	if stack, cut, ok := readStack(raw, maxQuery); ok {
		if raw = stack; cut {
			q.say("only the message and the innermost frames of the stack were read")
		}
	} else if short := clipTo(raw, maxQuery); len(short) < len(raw) {
		raw = short
		q.say(fmt.Sprintf("only the first %d KB of the query were read", maxQuery>>10))
	}
	var text, unquoted, expressions []string
	for raw = strings.TrimLeftFunc(raw, unicode.IsSpace); raw != ""; raw = strings.TrimLeftFunc(raw, unicode.IsSpace) {
		if raw[0] == '"' {
			phrase, rest := cutQuoted(raw)
			raw = rest
			if strings.TrimSpace(phrase) != "" {
				q.phrase(phrase)
				text = append(text, strings.Fields(phrase)...)
			}
			continue
		}
		expr, rest, note, ok := cutExpression(raw, len(text) == 0, now)
		if ok {
			_, err := pattern.Compile(expr)
			if err == nil {
				expressions, raw = append(expressions, expr), rest
				if note != "" {
					q.say(note)
				}
				continue
			}
			note = fmt.Sprintf("%s is looked for as text: %v", raw[:len(raw)-len(rest)], err)
		}
		if note != "" {
			q.say(note)
		}
		word, rest := cutWord(raw)
		raw = rest
		if !q.filter(word, now) {
			text, unquoted = append(text, word), append(unquoted, word)
			q.note(word)
		}
	}
	q.Text = strings.Join(text, " ")
	q.forLines(expressions, strings.Join(unquoted, " "))
	return q
}

// cutExpression splits `re:expression rest` and, where it may be the whole of a query beside
// filters, `/expression/ rest`. A note says how it was read where it may have been meant otherwise.
func cutExpression(raw string, first bool, now time.Time) (expr, rest, note string, ok bool) {
	isFilter := func(word string) bool { return (&Query{}).filter(word, now) }
	if after, ok := strings.CutPrefix(raw, "re:"); ok {
		quoted, behind, isQuoted := cutWholeQuoted(after)
		if word, _ := cutWord(behind); isQuoted && (word == "" || isFilter(word) || strings.HasPrefix(word, "re:")) {
			note = fmt.Sprintf(`re:"%s" is read as the expression between the quotes; re:\"%s" looks for the quotes, too`, quoted, quoted)
			return quoted, behind, note, true
		}
		end := 0
		for rest = after; rest != "" && !isBlank(after[0]); {
			word, behind := cutWord(rest)
			if end > 0 && isFilter(word) {
				break
			}
			end = len(after) - len(behind)
			rest = strings.TrimLeftFunc(behind, unicode.IsSpace)
		}
		if isQuoted {
			note = fmt.Sprintf(`re:%s is read with its quotes, as more follows them`, after[:end])
		}
		return after[:end], after[end:], note, end > 0
	}
	if !first || raw[0] != '/' {
		return "", "", "", false
	}
	end, flags := 1, 0
	for ; end < len(raw); end++ {
		if raw[end] == '/' {
			if flags = flagsBehind(raw, end); flags >= 0 {
				break
			}
		}
		if raw[end] == '\\' {
			end++
		}
	}
	if end >= len(raw) || end == 1 {
		return "", "", "", false
	}
	for _, word := range strings.Fields(raw[end+1+flags:]) {
		if !isFilter(word) {
			return "", "", "", false
		}
	}
	expr, rest = strings.ReplaceAll(raw[1:end], `\/`, "/"), raw[end+1+flags:]
	switch given := raw[end+1 : end+1+flags]; {
	case given == "":
	case given == "i":
		expr = "(?i)" + expr
	default:
		return "", "", fmt.Sprintf("%s is looked for as text: behind /expression/ stands nothing or i, for letters in any case", raw[:end+1+flags]), false
	}
	return expr, rest, "", true
}

// flagsBehind is how many letters follow the slash that ends an expression, -1 if it does not end
// there: a path with another slash has no flags.
func flagsBehind(raw string, slash int) int {
	n := 0
	for rest := raw[slash+1:]; n < len(rest) && !isBlank(rest[n]); n++ {
		if !strings.ContainsRune("gimsuvy", rune(rest[n])) || strings.Contains(strings.ReplaceAll(raw[1:slash], `\/`, ""), "/") {
			return -1
		}
	}
	return n
}

// cutWholeQuoted splits `"expression" rest`, where the quote that it begins with has its partner
// before a blank or the end, and no other quote stands between but one behind a backslash.
func cutWholeQuoted(raw string) (quoted, rest string, ok bool) {
	if !strings.HasPrefix(raw, `"`) {
		return "", "", false
	}
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			rest = raw[i+1:]
			return raw[1:i], strings.TrimLeftFunc(rest, unicode.IsSpace), i > 1 && (rest == "" || isBlank(rest[0]))
		}
	}
	return "", "", false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// forLines makes of a query for lines the pattern that they match: the expressions, and all
// else that it says as it stands.
func (q *Query) forLines(expressions []string, unquoted string) {
	if len(expressions) == 0 && !q.AllLines {
		return
	}
	for _, p := range q.Phrases {
		expressions = append(expressions, pattern.Text(p))
	}
	if unquoted != "" {
		expressions = append(expressions, pattern.Text(unquoted))
	}
	lines, err := pattern.Compile(expressions...)
	switch {
	case len(expressions) == 0:
		q.say("lines:all needs a text, or re: and a regular expression")
	case err != nil:
		q.say("the lines are looked for as text: " + err.Error())
	default:
		q.Lines, q.Text, q.Phrases = lines, "", nil
		if len(q.Symbols)+len(q.Kinds)+len(q.NotKinds) > 0 || q.Mode == ModeSymbols {
			q.say("symbol:, kind: and mode:symbols do not narrow lines")
		}
		if lines.NamesLineEnd() {
			q.say(`lines are matched one by one, so that \n matches nothing`)
		}
	}
}

// cutQuoted splits `"text" rest`; without a closing quote all of it is text.
func cutQuoted(raw string) (phrase, rest string) {
	if end := strings.IndexByte(raw[1:], '"'); end >= 0 {
		return raw[1 : 1+end], raw[end+2:]
	}
	return raw[1:], ""
}

// cutWord takes a word up to the next blank; the value of a filter may be
// quoted (path:"my folder").
func cutWord(raw string) (word, rest string) {
	if i := strings.Index(raw, `:"`); i > 0 && isFilterKey(raw[:i]) {
		if phrase, rest := cutQuoted(raw[i+1:]); phrase != "" {
			return raw[:i+1] + phrase, rest
		}
	}
	end := strings.IndexFunc(raw, unicode.IsSpace)
	if end < 0 {
		return raw, ""
	}
	return raw[:end], raw[end:]
}

func isFilterKey(s string) bool {
	switch strings.TrimPrefix(s, "-") {
	case "path", "lang", "symbol", "kind", "type", "since", "mode", "lines":
		return true
	}
	return false
}

// cutFilter splits what has the form of a filter. path::Path is Rust.
func cutFilter(word string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(word, ":")
	return key, value, ok && value != "" && value[0] != ':' && isFilterKey(key)
}

const (
	// maxPhrases is how many quoted texts of a query count.
	maxPhrases = 32
	// maxNotes is how many notes a query has, and maxNote how long one is, in bytes.
	maxNotes, maxNote = 8, 300
)

// say adds a note, once.
func (q *Query) say(note string) {
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "") + "…"
	}
	if len(q.Notes) < maxNotes && !slices.Contains(q.Notes, note) {
		q.Notes = append(q.Notes, note)
	}
}

// phrase takes a quoted text in.
func (q *Query) phrase(text string) {
	switch {
	case slices.Contains(q.Phrases, text):
	case len(q.Phrases) == maxPhrases:
		q.say(fmt.Sprintf("only the first %d quoted texts of the query count", maxPhrases))
	default:
		q.Phrases = append(q.Phrases, text)
	}
}

// note says of a word with the form of a filter why it is none.
func (q *Query) note(word string) {
	key, _, ok := cutFilter(word)
	if !ok {
		return
	}
	takes := ""
	switch key, not := strings.CutPrefix(key, "-"); {
	case not && key != "kind" && key != "type":
		takes = "a minus goes before path:, lang:, kind: and type: only"
	case key == "kind":
		takes = "kind: takes " + oneOf(kinds)
	case key == "type":
		takes = "type: takes " + oneOf(types)
	case key == "lines":
		takes = "lines: takes all"
	case key == "mode":
		takes = "mode: takes " + oneOf(Modes)
	case key == "since":
		takes = "since: takes a time such as 3h, 2d, 1w, today, yesterday or 2026-01-31"
	}
	q.say(word + " is looked for as text: " + takes)
}

func oneOf[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = string(x)
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// filter takes word in as a filter and answers whether it was one.
func (q *Query) filter(word string, now time.Time) bool {
	key, value, ok := cutFilter(word)
	if !ok {
		return false
	}
	key, not := strings.CutPrefix(key, "-")
	switch key {
	case "path":
		add(&q.Paths, &q.NotPaths, not, strings.ToLower(value))
	case "lang":
		name := lang.Canonical(strings.ToLower(value))
		if _, ok := lang.Find(name); !ok { // an editor may still call a document's language so
			q.say("quarry knows no language " + value + unlessMeant(name))
		}
		add(&q.Languages, &q.NotLanguages, not, name)
	case "symbol":
		if not {
			return false
		}
		q.Symbols = append(q.Symbols, value)
	case "kind":
		kind := syntax.Kind(strings.ToLower(value))
		if !slices.Contains(kinds, kind) {
			return false
		}
		add(&q.Kinds, &q.NotKinds, not, kind)
	case "type":
		t := Type(strings.ToLower(value))
		if !slices.Contains(types, t) {
			return false
		}
		add(&q.Types, &q.NotTypes, not, t)
	case "since":
		since, ok := parseSince(value, now)
		if !ok || not {
			return false
		}
		q.Since = since
	case "mode":
		m := Mode(strings.ToLower(value))
		if not || !slices.Contains(Modes, m) {
			return false
		}
		q.Mode = m
	case "lines":
		if not || value != "all" {
			return false
		}
		q.AllLines = true
	}
	return true
}

// unlessMeant asks whether a known language of a similar name was meant.
func unlessMeant(name string) string {
	const most = 2 // edits
	rows, best, meant := new(editRows), min(most, len(name)/2)+1, ""
	for _, l := range lang.All() {
		for _, known := range append([]string{l.ID}, l.Aliases...) {
			if edits := rows.distance(name, known, best-1); edits < best {
				best, meant = edits, known
			}
		}
	}
	if meant == "" {
		return ""
	}
	return ": did you mean lang:" + meant + "?"
}

func add[T any](yes, no *[]T, not bool, v T) {
	if not {
		yes = no
	}
	*yes = append(*yes, v)
}

// parseSince reads a date, "today", "yesterday", or a number with h, d or w.
func parseSince(value string, now time.Time) (time.Time, bool) {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch value {
	case "today":
		return day, true
	case "yesterday":
		return day.AddDate(0, 0, -1), true
	}
	if t, err := time.ParseInLocation(time.DateOnly, value, now.Location()); err == nil {
		return t, true
	}
	n, err := strconv.ParseUint(value[:len(value)-1], 10, 32)
	if err != nil {
		return time.Time{}, false
	}
	n = min(n, 1_000_000) // hours, days or weeks: before there was any code
	switch value[len(value)-1] {
	case 'h':
		return now.Add(-time.Duration(n) * time.Hour), true
	case 'd':
		return now.AddDate(0, 0, -int(n)), true
	case 'w':
		return now.AddDate(0, 0, -7*int(n)), true
	}
	return time.Time{}, false
}

// Keeps answers whether a file with this path, language and time of change may
// answer. The filters that speak of declarations are not asked.
func (f *Filter) Keeps(path, language string, modified time.Time) bool {
	return f.files()(path, language, classOf(path, "").typeOf(), modified)
}

// KeepsLines answers whether the lines of a file may answer a query for lines. The filters that
// speak of declarations are not asked.
func (q *Query) KeepsLines() func(path, language string, modified time.Time) bool {
	keeps := q.files()
	return func(path, language string, modified time.Time) bool {
		kind := classOf(path, "").typeOf()
		switch {
		case q.Mode == ModeCode && kind != TypeCode && kind != TypeTest, q.Mode == ModeDocs && kind != TypeDoc:
			return false
		}
		return keeps(path, language, kind, modified)
	}
}

// Terms are the index terms a query's text is looked up by, without stop words.
func (q *Query) Terms() []string {
	var an token.Analyzer
	a := analyzeQuery(&an, textOf(q), "")
	out := make([]string, 0, len(a.terms))
	for _, t := range a.terms {
		if !t.joined {
			out = append(out, t.text)
		}
	}
	return out
}

// files reads the filters that speak of files, for many of them.
func (f *Filter) files() func(p, language string, kind Type, modified time.Time) bool {
	yes, no := pathFilters(f.Paths), pathFilters(f.NotPaths)
	return func(p, language string, kind Type, modified time.Time) bool {
		if len(f.Languages) > 0 && !slices.Contains(f.Languages, language) || slices.Contains(f.NotLanguages, language) {
			return false
		}
		if len(f.Types) > 0 && !slices.Contains(f.Types, kind) || slices.Contains(f.NotTypes, kind) {
			return false
		}
		if !f.Since.IsZero() && modified.Before(f.Since) {
			return false
		}
		if len(yes) == 0 && len(no) == 0 {
			return true
		}
		lower := strings.ToLower(p)
		match := func(filter func(string) bool) bool { return filter(lower) }
		return (len(yes) == 0 || slices.ContainsFunc(yes, match)) && !slices.ContainsFunc(no, match)
	}
}

func pathFilters(patterns []string) []func(path string) bool {
	var filters []func(path string) bool
	for _, p := range patterns {
		filters = append(filters, pathFilter(p))
	}
	return filters
}

// pathFilter answers whether a pattern in lower case occurs in a path, whose root is a
// slash, or as a glob covers it from any folder on. Folders may be called [id], so both are tried.
func pathFilter(pattern string) func(path string) bool {
	pattern = strings.TrimPrefix(strings.ReplaceAll(pattern, `\`, "/"), "./") // as Windows has it
	in := func(path string) bool { return strings.Contains("/"+path, pattern) }
	if !glob.Special(pattern) {
		return in
	}
	below := pattern
	if !strings.HasPrefix(below, "/") {
		below = "**/" + below
	}
	g, err := glob.CompileFold(below)
	if err != nil {
		return in
	}
	return func(path string) bool { return g.Covers(path) || in(path) }
}
