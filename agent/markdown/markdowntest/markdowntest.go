// Package markdowntest renders Markdown as an editor or a browser would, for tests that what a
// repository or a model says stays text.
package markdowntest

import (
	"bytes"
	"regexp"
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
	allowed = regexp.MustCompile(`^</?(?:p|h[1-6]|ul|ol|li|blockquote|pre|code|em|strong|del|br|hr|dl|dt|dd)(?: ?/)?>$|^<ol start="\d+">$|^<code class="language-[\w+#.-]*">$|^<input(?: checked="")? disabled="" type="checkbox"(?: /)?>$`)
)

// drawn finds blocks of code that some renderer shows as something else.
var drawn = regexp.MustCompile(`class="language-(?i:mermaid|math|katex|latex-math|geojson|topojson|stl|dot|graphviz|plantuml|puml|vega|vega-lite|wavedrom|d2|abc|flow|sequence|chart|echarts)"`)

// Harmless fails the test if Markdown links, fetches, draws, hides or has HTML.
func Harmless(t testing.TB, source string) {
	t.Helper()
	for i, r := range source {
		if visible.Hidden(r) {
			t.Errorf("%q hides %q", source, source[i:])
			break
		}
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
