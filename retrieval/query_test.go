package retrieval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/index/syntax"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want Query
	}{
		{"", Query{Mode: ModeAll}},
		{"  how are\troutes grouped ", Query{Text: "how are routes grouped", Mode: ModeAll}},
		{`say "hello  world" now`, Query{Text: "say hello world now", Phrases: []string{"hello  world"}, Mode: ModeAll}},
		{`"open quote`, Query{Text: "open quote", Phrases: []string{"open quote"}, Mode: ModeAll}},
		{`"" "  "`, Query{Mode: ModeAll}},
		{"path:Internal lang:py parse", Query{Text: "parse", Mode: ModeAll, Filter: Filter{Paths: []string{"internal"}, Languages: []string{"python"}}}},
		{`path:"my folder" x`, Query{Text: "x", Mode: ModeAll, Filter: Filter{Paths: []string{"my folder"}}}},
		{"-path:vendor -lang:go -type:test x", Query{Text: "x", Mode: ModeAll,
			Filter: Filter{NotPaths: []string{"vendor"}, NotLanguages: []string{"go"}, NotTypes: []Type{TypeTest}}}},
		{"symbol:Parse kind:function", Query{Mode: ModeAll, Filter: Filter{Symbols: []string{"Parse"}, Kinds: []syntax.Kind{syntax.KindFunction}}}},
		{"kind:nonsense type:int", Query{Text: "kind:nonsense type:int", Mode: ModeAll}},
		{"lang:sh lang:shell lang:zsh lang:proto lang:protobuf lang:tsx lang:make -lang:YML", Query{Mode: ModeAll, Filter: Filter{
			Languages:    []string{"shellscript", "shellscript", "shellscript", "proto", "proto", "typescriptreact", "makefile"},
			NotLanguages: []string{"yaml"}}}},
		{"std::path: path: x", Query{Text: "std::path: path: x", Mode: ModeAll}},
		{"mode:docs install", Query{Text: "install", Mode: ModeDocs}},
		{"since:2d x", Query{Text: "x", Mode: ModeAll, Filter: Filter{Since: noon.AddDate(0, 0, -2)}}},
		{"since:3h", Query{Mode: ModeAll, Filter: Filter{Since: noon.Add(-3 * time.Hour)}}},
		{"since:1w", Query{Mode: ModeAll, Filter: Filter{Since: noon.AddDate(0, 0, -7)}}},
		{"since:today", Query{Mode: ModeAll, Filter: Filter{Since: time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)}}},
		{"since:2026-01-31", Query{Mode: ModeAll, Filter: Filter{Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}}},
		{"since:soon -since:2d", Query{Text: "since:soon -since:2d", Mode: ModeAll}},
	} {
		got := Parse(c.raw, noon)
		got.Notes = nil // TestNotes has these
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("Parse(%q)\n got %+v\nwant %+v", c.raw, got, c.want)
		}
	}
}

func TestParseLines(t *testing.T) {
	for _, c := range []struct {
		raw              string
		all              bool
		matches, doesNot string // lines
		text, note       string // of what is no search of lines
	}{
		{raw: `re:func \w+Error lang:go`, matches: "func newError(", doesNot: "func New("},
		{raw: `lang:go re:func \w+Error`, matches: "func newError(", doesNot: "func New("},
		{raw: `re:"two  blanks " lang:go`, matches: "two  blanks X", doesNot: "two  blanks", note: "between the quotes"},
		{raw: `re:" a lang:go"`, matches: "is a lang:go", doesNot: "a lang:go", note: `re:\" a lang:go"`},
		{raw: `re:"say \"hi\""`, matches: `say "hi"`, doesNot: "say hi", note: "between the quotes"},
		{raw: `re:"runtime"`, matches: "runtime", doesNot: "run", note: `re:\"runtime"`},
		{raw: `re:\"runtime"`, matches: `"runtime"`, doesNot: "runtime"},
		{raw: `re:"one" re:"two"`, matches: "two, one", doesNot: "one", note: "between the quotes"},
		{raw: `re:"error":\s*\d+`, matches: `{"error":  17}`, doesNot: "error"},
		{raw: `re:"github.com/\w+`, matches: `import "github.com/quarry`, doesNot: "github.com/quarry"},
		{raw: `re:"[^"]*%v"`, matches: `"is %v"`, doesNot: "is %v"},
		{raw: `re:"name":\s*"\w+"`, matches: `"name": "x"`, doesNot: `name: x`},
		{raw: `re:"two  blanks" x`, matches: `"two  blanks" x`, doesNot: "two  blanks x", note: "is read with its quotes"},
		{raw: `re:"two" "more"`, matches: `"two" "more"`, doesNot: "two more", note: "is read with its quotes"},
		{raw: `/error/i lang:go`, matches: "newERROR(", doesNot: "err"},
		{raw: `/a\/b/i`, matches: "A/B", doesNot: "ab"},
		{raw: `/x/gi`, text: "/x/gi", note: "/x/gi is looked for as text: behind /expression/ stands nothing or i"},
		{raw: `/usr/lib/i`, text: "/usr/lib/i"},
		{raw: `/a\/b/ path:x`, matches: "a/b", doesNot: "a b"},
		{raw: `/usr/lib/`, matches: "in /usr/lib now", doesNot: "/usr/bin"},
		{raw: `lines:all Retry budget`, all: true, matches: "the Retry budget", doesNot: "the retry budget"},
		{raw: `lines:all "kill -9"`, all: true, matches: "KILL -9", doesNot: "kill"},
		{raw: `re:Kill lines:all`, all: true, matches: "Killed", doesNot: "killed"},
		{raw: `/usr/lib`, text: "/usr/lib"},
		{raw: `/usr/ and /var/`, text: "/usr/ and /var/"},
		{raw: `re: your mail`, text: "re: your mail"},
		{raw: `re:( x`, text: "re:( x", note: "re:( x is looked for as text: it is not a regular expression of RE2"},
		{raw: `/* x */`, text: "/* x */", note: "is looked for as text"},
		{raw: `lines:some x`, text: "lines:some x", note: "lines:some is looked for as text: lines: takes all"},
		{raw: `lines:all`, all: true, note: "lines:all needs a text"},
		{raw: `re:a\nb`, matches: "", doesNot: "a", note: "matches nothing"},
		{raw: `re:a kind:function`, matches: "a", doesNot: "b", note: "do not narrow lines"},
	} {
		q := Parse(c.raw, noon)
		if notes := strings.Join(q.Notes, " "); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q", c.raw, notes)
		}
		if (q.Lines == nil) == (c.doesNot != "") || q.AllLines != c.all || q.Text != c.text {
			t.Errorf("%s: %+v", c.raw, q)
			continue
		}
		matches := func(line string) (found bool) {
			if err := q.Lines.Start().Lines(t.Context(), line+"\n", func(int, string) bool { found = true; return true }); err != nil {
				t.Error(err)
			}
			return found
		}
		if q.Lines != nil && (c.matches != "" && !matches(c.matches) || matches(c.doesNot)) {
			t.Errorf("%s: matches %q %t, %q %t", c.raw, c.matches, matches(c.matches), c.doesNot, matches(c.doesNot))
		}
	}
}

// What a query makes of itself does not grow with what is repeated in it.
func TestRepetitionIsBounded(t *testing.T) {
	q := Parse(strings.Repeat(`"a" `, 900), noon)
	if len(q.Phrases) != 1 || len(q.Notes) > 0 {
		t.Errorf("%d phrases, notes %q", len(q.Phrases), q.Notes)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, `"a%d" `, i)
	}
	if q = Parse(many.String(), noon); len(q.Phrases) != maxPhrases || len(q.Notes) != 1 {
		t.Errorf("%d phrases, notes %q", len(q.Phrases), q.Notes)
	}
	many.Reset()
	for i := range 400 {
		fmt.Fprintf(&many, "re:(%d ", i)
	}
	size := 0
	for _, n := range Parse(many.String(), noon).Notes {
		size += len(n)
	}
	if size == 0 || size > maxNotes*(maxNote+len("…")) {
		t.Errorf("%d bytes of notes", size)
	}
}

func TestPathFilter(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"internal", "a/internal/b.go", true},
		{"internal", "a/b.go", false},
		{"./a", "a/b.go", true},
		{"*_test.go", "a/b_test.go", true},
		{"*_test.go", "a/b.go", false},
		{"a/*.go", "x/a/b.go", true},
		{"a/*.go", "a/b/c.go", false},
		{"a/**/*.go", "a/b/c.go", true},
		{"a/**", "a/b/c.go", true},
		{"z/**", "a/b/c.go", false},
		{"**/c.go", "a/b/c.go", true},
		{"/a.go", "a.go", true},
		{"/a.go", "b/ca.go", false},
		{`src\flask`, "src/flask/app.py", true},
		{`src\*.py`, "src/app.py", true},
		{"[", "a/[b.go", true},
		{"[", "a/b.go", false},
		{"app/[id]/page.tsx", "web/app/[id]/page.tsx", true},
		{"cmd/*/x/**", "cmd/aa/x/m.go", true},
		{"cmd/**/x/**", "cmd/bb/x/y/n.go", true},
		{"cmd/**/x/**", "cmd/bb/y/n.go", false},
		{"**/*.{go,tsx}", "a/b.tsx", true},
		{"*.{go,tsx}", "a/b.ts", false},
		{"/cmd/*", "cmd/a/b.go", true},
		{"/cmd/*", "x/cmd/a/b.go", false},
	} {
		if got := pathFilter(c.pattern)(c.path); got != c.want {
			t.Errorf("path:%s keeps %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestClassify(t *testing.T) {
	an := newAnalyzer()
	for text, want := range map[string]string{
		"ServeHTTP":                 "symbol servehttp",
		"Sinatra::Base":             "symbol sinatra.base",
		"ctx.Value()":               "symbol ctx.value",
		"_private":                  "symbol _private",
		"func Parse":                "symbol parse",
		"ptr->next":                 "symbol ptr.next",
		"how routes are grouped":    "text",
		"what does parseURL accept": "text parseurl",
		"use render_template here":  "text render_template",
		"res.send body":             "text res.send",
		"radix tree":                "text",
		"...":                       "text",
		"3.14":                      "text",
	} {
		q := analyzeQuery(an, text, "")
		got := string(q.class)
		for _, n := range q.names {
			got += " "
			if n.owner != "" {
				got += n.owner + "."
			}
			got += strings.ToLower(n.written)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestNotes(t *testing.T) {
	for raw, want := range map[string]string{
		"kind:banana x":   "kind:banana is looked for as text: kind: takes function, method,",
		"-type:x":         "-type:x is looked for as text: type: takes code, test, doc, config or markup",
		"lang:pyhton x":   "quarry knows no language pyhton: did you mean lang:python?",
		"-lang:Sweden x":  "quarry knows no language Sweden",
		"lang:zzzz x":     "quarry knows no language zzzz",
		"lang:sh lang:C#": "",
		"mode:loud":       "mode: takes all, code, docs, symbols or recent",
		"since:soon":      "since: takes a time such as 3h",
		"-since:3d":       "-since:3d is looked for as text: a minus goes before path:",
		"-symbol:x":       "a minus goes before",
		"since:99999w":    "",
		"path::Path":      "",
		"std::path::Path": "",
		"kind: x":         "",
		"a:b lang:go":     "",
	} {
		q := Parse(raw, noon)
		if got := strings.Join(q.Notes, "\n"); want == "" && got != "" || !strings.Contains(got, want) || len(q.Notes) > 1 {
			t.Errorf("notes of %s are %q", raw, got)
		}
	}
	if q := Parse("path::Path", noon); q.Text != "path::Path" || len(q.Paths) > 0 {
		t.Errorf("Rust's path::Path is %+v", q)
	}
	if q := Parse("since:99999w", noon); q.Since.IsZero() || q.Since.After(noon.AddDate(-1000, 0, 0)) {
		t.Errorf("since %v", q.Since)
	}
}

func TestLongQueryIsCut(t *testing.T) {
	q := analyzeQuery(newAnalyzer(), strings.Repeat("alpha beta gamma delta ", 5000)+"omega", "")
	if len(q.terms) > 4*maxWords {
		t.Errorf("%d terms", len(q.terms))
	}
	if q := analyzeQuery(newAnalyzer(), strings.Repeat("the ", 5000), ""); len(q.terms) != 2 { // the, thethe
		t.Errorf("terms of stop words = %v", q.terms)
	}
}

// Of a query as long as a file only the beginning is read, cut between words and
// letters, and the user is told.
func TestVeryLongQueryIsClipped(t *testing.T) {
	for name, long := range map[string]string{
		"words": strings.Repeat("a ", 200_000), "one word": strings.Repeat("é", 200_000), "a phrase": `"` + strings.Repeat("b c ", 100_000) + `"`,
		"filters": strings.Repeat("path:x ", 60_000), "no text": strings.Repeat("\xff", 400_000),
	} {
		q := Parse(long, time.Time{})
		size := len(q.Text)
		for _, s := range append(q.Phrases, q.Paths...) {
			size += len(s)
		}
		if size > 2*maxQuery || !slices.ContainsFunc(q.Notes, func(n string) bool { return strings.Contains(n, "first 4 KB") }) {
			t.Errorf("%s: %d bytes are read, notes %q", name, size, q.Notes)
		}
		if name == "one word" && !utf8.ValidString(q.Text) {
			t.Errorf("%s is cut within a letter", name)
		}
	}
	if short := strings.Repeat("a", maxQuery); Clip(short) != short || len(Parse(short, time.Time{}).Notes) > 0 {
		t.Error("a query of 4 KB is clipped")
	}
}

func TestStopWordsLeaveSomething(t *testing.T) {
	an := newAnalyzer()
	if q := analyzeQuery(an, "how does the of", ""); len(q.terms) == 0 {
		t.Error("a query of stop words lost all its terms")
	}
	q := analyzeQuery(an, "how does the router work", "")
	if len(q.words) != 1 || q.words[0] != "router" {
		t.Errorf("words = %q", q.words)
	}
}

func TestWordsBehindAPreposition(t *testing.T) {
	an := newAnalyzer()
	for text, want := range map[string]string{
		"cookie store for Plug.Session":                   "plug session",
		"how is the lockfile read in a workspace of many": "workspace many",
		"for a cookie store":                              "", // nothing stands before it
		"routes and routes of a router":                   "router",
		"routes by routes":                                "",
		"radix tree":                                      "",
		"what is it for":                                  "",
	} {
		q := analyzeQuery(an, text, "")
		var late []string
		for i, w := range q.raw {
			if q.late.has(i) {
				late = append(late, w)
			}
		}
		if got := strings.Join(late, " "); got != want {
			t.Errorf("late words of %q are %q, want %q", text, got, want)
		}
	}
}

// Any sequence of bytes is a valid query, and what is parsed holds together.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`a "b c" path:x -lang:go`, `"`, `path:"`, "since:9999999w kind:\xff", "-path:", "mode:all mode:", "symbol:::", "a\x00b"} {
		f.Add(s)
	}
	ix := New(Options{})
	ix.Apply(changesOf(sampleDocuments()))
	f.Fuzz(func(t *testing.T, raw string) {
		q := Parse(raw, noon)
		if again := Parse(raw, noon); !reflect.DeepEqual(q, again) {
			t.Fatalf("Parse(%q) differs between calls", raw)
		}
		for _, p := range q.Phrases {
			if _, _, ok := readStack(raw, maxQuery); !ok && !strings.Contains(raw, p) {
				t.Fatalf("phrase %q is not in %q", p, raw)
			}
		}
		if a, err := ix.Search(t.Context(), Request{Query: q}); err != nil || a.Results == nil {
			t.Fatalf("Search(%q) = %+v, %v", raw, a, err)
		}
	})
}
