package syntax

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/index/lang"
)

// checkFile verifies what holds of the result for any bytes whatever.
func checkFile(t *testing.T, language string, src []byte) *File {
	t.Helper()
	f, err := Analyze(language, src)
	if err != nil {
		t.Fatal(err)
	}
	checkChunks(t, f, src, languageFor(language) == nil)
	for _, s := range f.Symbols {
		if s.Name == "" || !utf8.ValidString(s.Name+s.Container+s.Signature+s.Doc) {
			t.Errorf("symbol %+v", s)
		}
		if s.Span.Start > s.NameSpan.Start || s.NameSpan.End > s.Span.End || int(s.Span.End) > len(src) {
			t.Errorf("%s: name at %v outside of its extent %v", s.Name, s.NameSpan, s.Span)
		}
		if len(s.Signature) > maxSignature+len(s.Name)+len(" … ") || len(s.Doc) > maxDoc {
			t.Errorf("%s: %d bytes of signature, %d of doc", s.Name, len(s.Signature), len(s.Doc))
		}
	}
	for _, r := range f.Refs {
		if r.From >= len(f.Symbols) || int(r.Span.End) > len(src) || r.Name == "" {
			t.Errorf("reference %+v", r)
		}
	}
	return f
}

func FuzzAnalyze(f *testing.F) {
	names := slices.Sorted(maps.Keys(languages))
	names = append(names, "zig", "haskell", lang.PlainText)
	for _, dir := range fixtureDirs(f) {
		language, src := fixture(f, dir)
		f.Add(uint8(slices.Index(names, language)), src)
		f.Add(uint8(slices.Index(names, language)), bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")))
		f.Add(uint8(slices.Index(names, language)), src[:len(src)/2])
	}
	f.Fuzz(func(t *testing.T, language uint8, src []byte) {
		checkFile(t, names[int(language)%len(names)], src)
	})
}

func TestAnalyzeTakesAnyText(t *testing.T) {
	fixture := map[string]string{
		"empty":         "",
		"blank":         " \n\n\t\n",
		"bom":           "\xef\xbb\xbfpackage p\n\nfunc F() {}\n",
		"crlf":          strings.ReplaceAll("// A does.\nfunc A() {\n\tb()\n}\n", "\n", "\r\n"),
		"lone cr":       "a\rb\rc",
		"no newline":    "x",
		"invalid utf-8": "func \xff\xfe() { \xc3\x28 }\n# \xf0\x9f\n",
		"invalid name":  "const a\xff = 1\nfn \xfe() void {}\nfunc f() int { return \xf4",
		"made-up name":  "A(A A={(0",
		"long line":     "short\n" + strings.Repeat("x", maxChunk-2) + "\nshort\n",
		"astral":        "func 𝔸() { \"😀\" }\n",
		"huge line":     "x = [" + strings.Repeat("1234567, ", 2_000) + "]\n",
		"huge word":     strings.Repeat("é", 10_000),
		"deep":          strings.Repeat("(", 5_000) + strings.Repeat(")", 5_000),
		"open braces":   strings.Repeat("{\n", 5_000),
		"staircase":     staircase(300),
		"binary":        string(binary()),
		"equal lines":   strings.Repeat("value, value, value\n", 500),
	}
	for _, language := range append(slices.Sorted(maps.Keys(languages)), "zig", "haskell", lang.PlainText) {
		t.Run(language, func(t *testing.T) {
			for name, src := range fixture {
				f := checkFile(t, language, []byte(src))
				if blank := strings.TrimSpace(src) == ""; blank != (len(f.Chunks) == 0) {
					t.Errorf("%s: %d chunks", name, len(f.Chunks))
				}
				if f.Language != language {
					t.Errorf("%s: language %q", name, f.Language)
				}
			}
		})
	}
}

// staircase is a text of lines each indented deeper than the one before.
func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// binary is every byte but NUL, in no order.
func binary() []byte {
	var out []byte
	for i := range 5_000 {
		out = append(out, byte(1+i*i*7%255))
	}
	return out
}

func TestLineEndingsKeepTheFacts(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		language, src := fixture(t, dir)
		if language == "dockerfile" {
			continue // its grammar knows no continued line that ends in CR LF
		}
		lf := checkFile(t, language, src)
		crlf := checkFile(t, language, bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")))
		var want, got []string
		for _, s := range lf.Symbols {
			want = append(want, string(s.Kind)+" "+s.Container+"."+s.Name+" | "+s.Doc)
		}
		for _, s := range crlf.Symbols {
			got = append(got, string(s.Kind)+" "+s.Container+"."+s.Name+" | "+s.Doc)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: with CRLF\n%s", dir, firstDifference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
}
