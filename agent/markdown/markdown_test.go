package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/agent/markdown/markdowntest"
)

func TestRender(t *testing.T) {
	for text, want := range map[string]string{
		// What people and models write stays as it is.
		"It calls `Open` in store.go:12-14, so a[i] and x < y || i<10 are **fine** in foo_bar.": "It calls `Open` in store.go:12-14, so a[i] and x < y || i<10 are **fine** in foo_bar.",
		"# Cause\n\n- one\n  - two\n1. three\n> four":                                           "# Cause\n\n- one\n  - two\n1. three\n> four",
		"Fix & test; 100 % of a\\b.":                                                            "Fix & test; 100 % of a\\b.",
		"x\n```go\na[0](b) <img> & `c`\n```\ny":                                                 "x\n```go\na[0](b) <img> & `c`\n```\ny",
		"- x\n  ```\n  y\n  ```":                                                                "- x\n```\n  y\n```",
		"~~~\n```\n~~~":                                                                         "````\n```\n````",
		"```go\nnot closed yet":                                                                 "```go\nnot closed yet\n```",
		"```x\" onclick=\"y\nz\n```":                                                            "```\nz\n```",
		"``a ` b`` and ```c```":                                                                 "``a ` b`` and ```c```",
		// Names are no emphasis, and those in code leave the words around them as they are.
		"**so** in `blog/[slug].ts:1-2`, __init__ and self.__init__() of pkg/__init__.py.": "**so** in `blog/[slug].ts:1-2`, `__init__` and `self.__init__`() of `pkg/__init__.py`.",
		// What loads, links, runs or hides stands there as text.
		"[a `x](http://e)` *b*\n**c** `List<T>`\n\n**d**": "&#91;a `x](http://e)` &#42;b&#42;\n&#42;&#42;c&#42;* `List<T>`\n\n**d**",
		"![pixel](https://evil.example/p.png?d=x)":        "!&#91;pixel&#93;(`https://evil.example/p.png?d=x`)",
		"[run](command:workbench.action.terminal)":        "&#91;run&#93;(`command:workbench.action.terminal`)",
		"[open](file:///etc/passwd) [a][b] [c]: d":        "&#91;open&#93;(`file:///etc/passwd`) &#91;a&#93;&#91;b] &#91;c&#93;: d",
		"<img src=x> </p> <!-- y --> <?php List<T>":       "&#60;img src=x> &#60;/p> &#60;!-- y --> &#60;?php List&#60;T>",
		"<https://evil.example> www.evil.example.":        "<`https://evil.example`> `www.evil.example`.",
		"**https://evil.example** //evil.example/x":       "&#42;&#42;`https://evil.example`&#42;* `//evil.example/x`",
		"mail a.b@evil.example, mailto:a":                 "mail `a.b@evil.example`, `mailto:a`",
		"&#x202e; &lt; AT&T &amp":                         "&#38;#x202e; &#38;lt; AT&T &amp",
		"a@é.com, b@пример.рф c;\"@e.com a@b+😀.com":       "`a@é.com`, `b@пример.рф` `c;\"@e.com` `a@b+😀.com`",
		"@e.f, a @b.c \"@d/e.f\" a@b":                     "@e.f, a @b.c \"@d/e.f\" a@b",
		"\\[x](y) \\`z\\\\":                               "&#92;[x&#93;(y) &#92;&#96;z&#92;&#92;",
		"Makefile:3-4 and Dockerfile:1, file:/etc/passwd": "Makefile:3-4 and Dockerfile:1, `file:/etc/passwd`",
		// The definition of a link whose name ends in code, as VS Code's renderer reads it.
		"[x\n```\n]: y\n![i](http://e)\n```":                                   "&#91;x\n```\n]: y\n![i](http://e)\n```",
		"> - 1. [ ] [a\\b `\\]` [x](y)\n\nz\n~~~\nc\n\n]: y\n~~~":              "> - 1. [ ] &#91;a\\b `\\]` [x&#93;(y)\n\nz\n```\nc\n\n]: y\n```",
		"[0, 1) and [2, 3)\n[a] [b\n[`]` c":                                    "&#91;0, 1) and [2, 3)\n[a] [b\n[`]` c",
		"` ![a](b)":                                                            "&#96; ![a&#93;(b)",
		"`code`https://evil.example`code`":                                     "`code` `https://evil.example` `code`",
		"|a|b|\n|-|-|\n`x | ![i](http://e) |`":                                 "|a|b|\n|&#45;|-|\n`x | ![i](http://e) |`",
		"```mermaid\ngraph TD\nA@{ img: \"https://evil.example/x.png\" }\n```": "```\ngraph TD\nA@{ img: \"https://evil.example/x.png\" }\n```",
		"~~~ MATH\n\\href{https://evil.example}{x}\n~~~ ":                      "```\n\\href{https://evil.example}{x}\n```",
		"```geojson {cmd=true}\n{}\n```":                                       "```\n{}\n```",
		"```C++\na\n```\n```console\n$ a\n```":                                 "```C++\na\n```\n```console\n$ a\n```",
		"costs $5, $\\phantom{hidden}$ and $$\\tiny x$$":                       "costs &#36;5, &#36;\\phantom{hidden}&#36; and &#36;&#36;\\tiny x&#36;&#36;",
		"it costs $5 and `$a` `$b`":                                            "it costs &#36;5 and `$a` `$b`",
		"it costs $5\n\nor $6":                                                 "it costs $5\n\nor $6",
		"|a|\n---\n:-\n- -":                                                    "|a|\n&#45;--\n:&#45;\n&#45; -",
		"[a `x](http://e)` b_c _d_":                                            "&#91;a `x](http://e)` b_c &#95;d&#95;",
		"about ~10 of `x~ ![p[q]](http://e)` in ~/x":                           "about \\~10 of `x~ ![p[q]](http://e)` in \\~/x",
		"- ~~~\n\\~a~~ $(sync~spin) www.e.x$(sync~spin)":                       "- \\~\\~\\~\n&#92;\\~a\\~\\~ &#36;(sync\\~spin) `www.e.x$(sync~spin`)",
		"\x1b[2J \u202e \u200b \u009b":                                         "\\x1b[2J \\u202e \\u200b \\u009b",
		"`\u202e`\n```\n\u2066\n```":                                           "`\\u202e`\n```\n\\u2066\n```",
	} {
		if got := Render(text); got != want {
			t.Errorf("Render(%q)\n  = %q\nwant %q", text, got, want)
		}
	}
}

// A model may say one address after the other: each is looked for once. Where all that is left was
// looked through behind each, 192 KB of it took a quarter of an hour.
func TestWordsAreReadOnce(t *testing.T) {
	for _, piece := range []string{"a@a.a", "a.b@c.d ", "ftp://a.b ", "//a.b ", "www.a ", "file:a ", "__a__ ", "a/__a__:1-2 x@y.z ", "__a__:1file:a "} {
		text := strings.Repeat(piece, 192<<10/len(piece)) + "__z__"
		if got := Render(text); !strings.HasSuffix(got, "`__z__`") && piece[len(piece)-1] == ' ' {
			t.Errorf("%q many times ends with %q", piece, got[max(0, len(got)-40):])
		}
	}
	// A line of backticks in a block of code was looked for with one more and one more: 192 KB took ten seconds.
	ticks := strings.Repeat("`", 2<<20)
	if got, fence := Render("~~~\n"+ticks+"\n~~~"), ticks+"`"; got != fence+"\n"+ticks+"\n"+fence {
		t.Errorf("%d backticks become %d letters", len(ticks), len(got))
	}
	// What is found ahead is what would be found from there.
	for text, want := range map[string]string{
		"__a__:1file:b":             "`__a__:1` `file:b`",
		"__a__:1__c__":              "`__a__:1` `__c__`",
		"x@y.z/__init__.py __a__ @": "`x@y.z` `/__init__.py` `__a__` @",
		"a@b.c http://d/ xy":        "`a@b.c` `http://d/` xy",
	} {
		if got := Render(text); got != want {
			t.Errorf("Render(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestInline(t *testing.T) {
	for text, want := range map[string]string{
		"undefined: foo":                         "undefined: foo",
		"missing\n# [a](https://evil.example)\t": "missing # &#91;a&#93;(`https://evil.example`)",
		"cannot use `x` as <T>\u202e":            "cannot use `x` as &#60;T>\\u202e",
	} {
		if got := Inline(text); got != want {
			t.Errorf("Inline(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"it has none | at all":             `it has none \| at all`,
		"`a|b.go:1-2`":                     "`a\\|b.go:1-2`",
		`[x] *b* http://e\|y`:              "&#91;x] &#42;b* `http://e`&#92;&#124;y",
		"`a\\|![p](http://e)`":             "&#96;a&#92;&#124;!&#91;p&#93;(`http://e`)&#96;",
		"*`a` \\| ``b* ![p](http://e)`` $": "&#42;`a` &#92;&#124; ``b* ![p](http://e)`` $",
	} {
		if got := Cell(text); got != want {
			t.Errorf("Cell(%q)\n  = %q\nwant %q", text, got, want)
		}
	}
}

func harmless(t *testing.T, text string) {
	t.Helper()
	row := "|a|b|\n|-|-|\n|" + Cell(text) + "|x|\n"
	for _, source := range []string{Render(text), "# " + Inline(text) + "\n\n" + Render(text) + "\n\n---\n\nx\n", row} {
		if markdowntest.Harmless(t, source); t.Failed() {
			t.Fatalf("written of %q", text)
		}
	}
}

// pieces are what attacks are made of.
var pieces = []string{
	"![", "[", "]", "](", "](http://e.example/x)", "][", "]:", "(", ")", "<", ">", "<img src=x>", "<a href=http://e.example>", "</a>", "<!--", "-->", "<?", "<![CDATA[", "http://e.example/p.png",
	"https://", "//e.example", "www.e.example", "a@e.example", "mailto:", "command:x", "javascript:alert(1)", "file:///x", "data:image/png;base64,x", "xmpp:a@e.example", "`", "``", "```", "````", "~~~", "\n", "\n\n", "\n- ", "\n  ", "\n    ",
	"\n> ", "\n1. ", "\n# ", "\n---\n", "\n===\n", "|", "|-|-|", "|---|", ":-", "---", "\n|a|b|\n|-|-|\n", "\\", "\\\\", "\\[", "\\`", "&#91;", "&lt;", "&", "*", "**", "_", "~~", "[^1]", "[^1]:", "[x]: http://e.example", "[x]", "\t", " ", "a", "x.go:3-4", "\u202e", "\x1b",
	"~", " ~", "~a", "^", "==", `\|`, `\~`, "`x~ ![p[q]](http://e.example/x)`", "www.e.example~", "``a`b``",
	"]: y\n", "\n[x", "\n```\n]: y\n![i](http://e.example)\n```\n", "`\\]`",
	"\r", "\r\n", "\x00", "\xff", "é", "'", "\"", "!", "$", "$$", ":", "[ ] ", "\n: ", "ftp://e.example", "HTTP://E.example", "_http://e.example", "<http://e.example>", "<script>", "\n<div>\n", "{", "}", "\n```mermaid\n", "\n~~~ math\n", "\n```Dot\n",
}

// A9: no text, however it is put together, becomes a link, an image or HTML.
func TestNothingBecomesALinkOrAnImage(t *testing.T) {
	const attempts = 3_000
	random := rand.New(rand.NewPCG(1, 2))
	for range attempts {
		var b strings.Builder
		for range 1 + random.IntN(14) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		harmless(t, b.String())
	}
	if !strings.Contains(markdowntest.Rendered(t, "![a](http://e.example/x) www.e.example <b>x</b>"), "<img") {
		t.Error("the renderer makes no images, so that this test shows nothing")
	}
}

func FuzzRender(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Add("|a|\n---\n`b ![i](http://e.example) | c`")
	f.Fuzz(harmless)
}
