package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// validator has short messages, among many files with their words.
func validator(more ...Document) *Index {
	docs := append(more,
		document("check/rules.go", "package check\n\nfunc text(s string) error {\n\tif s == \"\" {\n\t\treturn errors.New(\"Text must not be empty\")\n\t}\n\treturn nil\n}\n"),
		document("io/read.js", "function read(path) {\n  throw new Error(`I/O error reading ${path}`);\n}\n"),
		document("net/join.py", "def join(version):\n    if version < 3:\n        raise ValueError('when running with version < 3, id must be set')\n"),
	)
	for i := range 90 {
		docs = append(docs, document(fmt.Sprintf("text/empty%d.go", i), "package text\n\n// Empty text must be text: empty not. Reading when running, error must be set.\n// It is empty text, text empty, and must not.\n"+
			"func emptyText() { text.Must(empty); text.Empty(text) }\n"))
	}
	ix := New(Options{})
	ix.Apply(changesOf(docs))
	return ix
}

// A message of three or four words is found where it stands in a string, and so is one that
// begins as a question does.
func TestShortMessages(t *testing.T) {
	ix := validator()
	for query, want := range map[string]string{
		"Text must not be empty":                        "check/rules.go",
		"text must not be empty":                        "check/rules.go",
		"must not be empty":                             "check/rules.go",
		"I/O error reading /srv/x: gone":                "io/read.js",
		"when running with version < 3, id must be set": "net/join.py",
	} {
		got, _, a := firstPlace(t, ix, query)
		if got != want || !slices.ContainsFunc(a.Results[0].Reasons, func(r string) bool { return strings.Contains(r, "message") }) {
			t.Errorf("%s: found %v, want %s", query, pathsOf(a)[:min(3, len(a.Results))], want)
		}
	}
	for _, query := range []string{"what must be set when running with version < 3", "empty text must be text", "Reading when running"} {
		if _, _, a := firstPlace(t, ix, query); slices.ContainsFunc(a.Results, func(r Result) bool {
			return slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.Contains(s, "message") })
		}) {
			t.Errorf("%s is taken for a message", query)
		}
	}
}

// What many files have in a string is a phrase and no message; tests, which repeat what the code
// says, are not counted.
func TestPhrasesAreNoMessages(t *testing.T) {
	said := func(format string) (docs []Document) {
		for i := range 5 {
			docs = append(docs, document(fmt.Sprintf(format, i), "package p\n\nvar s = \"Text must not be empty\"\n"))
		}
		return docs
	}
	for format, want := range map[string]bool{"p/p%d.go": false, "p/p%d_test.go": true} {
		ix := validator(said(format)...)
		_, _, a := firstPlace(t, ix, "Text must not be empty")
		if got := slices.ContainsFunc(a.Results[0].Reasons, func(s string) bool { return strings.Contains(s, "message") }); got != want {
			t.Errorf("with %s: a message %t, %v", format, got, pathsOf(a)[:3])
		}
	}
}

func TestStringsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		`a("b c", 'd "e"')`:     `b c|d "e"`,
		`it's not, isn't it`:    ``,
		`x = "a \" b" + "c`:     `a \" b|c`,
		"t`raw \"x\"` 'y":       `raw "x"`,
		`'a' // don't`:          `a`,
		`"`:                     ``,
		`f"{x} of" r'\d' b'\\'`: `{x} of`,
	} {
		var got []string
		eachString(line, func(s string) bool { got = append(got, s); return true })
		if strings.Join(got, "|") != want {
			t.Errorf("%s has %q, want %q", line, got, want)
		}
	}
}
