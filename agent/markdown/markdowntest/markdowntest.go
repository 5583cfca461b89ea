// Package markdowntest renders Markdown as an editor or a browser would, for tests that what a
// repository or a model says stays text.
package markdowntest

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"quarry/index/visible"
)

// Rendered is what a CommonMark renderer with all of GitHub's extensions makes of
// Markdown, HTML let through.
func Rendered(t testing.TB, source string) string {
	t.Helper()
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(
		// By itself this renderer takes a backtick for a part of an address, even one that
		// opens code; GitHub's rules do not, nor does any editor.
		extension.NewLinkify(extension.WithLinkifyEmailRegexp(regexp.MustCompile(`^[\w.+-]+@[\w-]+(?:\.[\w-]+)+`))),
		extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote, extension.DefinitionList,
	), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := md.Convert([]byte(source), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// allowed are the elements of text and code; that a list's item has a box does no harm.
var (
	element = regexp.MustCompile(`<[^>]*>`)
	allowed = regexp.MustCompile(`^</?(?:p|h[1-6]|ul|ol|li|blockquote|pre|code|em|strong|del|br|hr|dl|dt|dd|table|thead|tbody|tr|th|td)(?: ?/)?>$|^<ol start="\d+">$|^<code class="language-[\w+#.-]*">$|^<input(?: checked="")? disabled="" type="checkbox"(?: /)?>$`)
)

// drawn finds blocks of code that some renderer shows as something else.
var drawn = regexp.MustCompile(`class="language-(?i:mermaid|math|katex|latex-math|geojson|topojson|stl|dot|graphviz|plantuml|puml|vega|vega-lite|wavedrom|d2|abc|flow|sequence|chart|echarts)"`)

// codeOrTilde are code spans, what a backslash makes text of, and tildes.
var codeOrTilde = regexp.MustCompile("`+|\\\\~|~+")

// struckOut is a run of tildes in text without blocks of code, outside of code spans, with no backslash before it, "" if there is none.
// The renderer above takes code before what is struck out; marked, which VS Code has, looks
// for the end of the latter first, and tears open the code that has it.
func struckOut(source string) string {
	for source != "" {
		m := codeOrTilde.FindStringIndex(source)
		if m == nil {
			return ""
		}
		found := source[m[0]:m[1]]
		source = source[m[1]:]
		switch {
		case found[0] == '~':
			return found
		case found[0] == '`':
			for at := 0; ; { // its other end, in the same line
				end := strings.Index(source[at:], found)
				if end < 0 || strings.Contains(source[:at+end], "\n") {
					break
				}
				at += end
				run := len(source[at:]) - len(strings.TrimLeft(source[at:], "`"))
				if at += run; run == len(found) {
					source = source[at:]
					break
				}
			}
		}
	}
	return ""
}

var (
	opens      = regexp.MustCompile("^`{3,}")
	begins     = regexp.MustCompile(`^(?:[ \t>*+-]|\d+[.)]|\[[ xX]\])*`)
	definition = regexp.MustCompile(`^\[(?:\\(?s:.)|[^\[\]\\])+\]:`)
)

// outside calls see with each line outside of blocks of code, and with all of the source from there on.
func outside(source string, see func(line, rest string)) {
	fence := ""
	for at := 0; at < len(source); {
		line, _, _ := strings.Cut(source[at:], "\n")
		if fence != "" {
			if line == fence {
				fence = ""
			}
		} else if fence = opens.FindString(line); fence == "" || strings.Contains(line[len(fence):], "`") {
			fence = ""
			see(line, source[at:])
		}
		at += len(line) + 1
	}
}

// defined is where a line outside of blocks of code begins with what marked takes for the name in
// the definition of a link, "" if none does. Unlike the renderer above it does not look at what
// stands in that name, which may be the beginning of a block of code.
func defined(source string) (name string) {
	outside(source, func(line, rest string) {
		if rest = rest[len(begins.FindString(line)):]; name == "" && definition.MatchString(rest) {
			name = rest
		}
	})
	return name
}

// Harmless fails the test if Markdown links, fetches, draws, hides or has HTML.
func Harmless(t testing.TB, source string) {
	t.Helper()
	for i, r := range source {
		if visible.Hidden(r) {
			t.Errorf("%q hides %q", source, source[i:])
			break
		}
	}
	var words strings.Builder
	outside(source, func(line, _ string) { words.WriteString(line + "\n") })
	if strike := struckOut(words.String()); strike != "" {
		t.Fatalf("%q\nhas a tilde that marked takes for the beginning of what is struck out: %q", source, strike)
	}
	if name := defined(source); name != "" {
		t.Fatalf("%q\nhas what marked takes for the definition of a link: %q", source, name)
	}
	out := Rendered(t, source)
	if d := drawn.FindString(out); d != "" {
		t.Fatalf("%q\nbecomes  %q\nwith     %s", source, out, d)
	}
	for _, e := range element.FindAllString(out, -1) {
		if !allowed.MatchString(e) {
			t.Fatalf("%q\nbecomes  %q\nwith     %s", source, out, e)
		}
	}
}
