package syntax

import (
	"bytes"
	"strings"
	"testing"
)

// TestChunksOfFixturesCover checks on every fixture, repeated to make it long,
// what chunks promise on any text.
func TestChunksOfFixturesCover(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			language, src := fixture(t, dir)
			src = bytes.Repeat(append(src, '\n'), 1+8000/len(src))
			f, err := Analyze(language, src)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Chunks) < 3 {
				t.Errorf("%d bytes give %d chunks", len(src), len(f.Chunks))
			}
			checkChunks(t, f, src, false)
		})
	}
}

// checkChunks verifies order, coverage, size and symbols.
func checkChunks(t interface {
	Helper()
	Errorf(string, ...any)
}, f *File, src []byte, overlapping bool) {
	t.Helper()
	at := uint32(0)
	for i, c := range f.Chunks {
		s := c.Span
		if s.Start >= s.End || int(s.End) > len(src) {
			t.Errorf("chunk %d: range %d-%d of %d bytes", i, s.Start, s.End, len(src))
			return
		}
		if s.Start < at && !overlapping {
			t.Errorf("chunk %d starts at %d, before the end %d of the one before", i, s.Start, at)
		}
		if s.Start > at && len(bytes.TrimSpace(src[at:s.Start])) > 0 {
			t.Errorf("no chunk holds %q", src[at:s.Start])
		}
		at = s.End
		if text := src[s.Start:s.End]; len(text) > maxChunk && (bytes.Contains(text, []byte("\n")) || len(text) > maxLine) {
			t.Errorf("chunk %d is %d bytes long", i, len(text))
		}
		if want := uint32(bytes.Count(src[:s.Start], []byte("\n"))) + 1; s.StartLine != want {
			t.Errorf("chunk %d starts on line %d, not %d", i, want, s.StartLine)
		}
		if want := uint32(bytes.Count(src[:s.End-1], []byte("\n"))) + 1; s.EndLine != want {
			t.Errorf("chunk %d ends on line %d, not %d", i, want, s.EndLine)
		}
		for _, symbol := range c.Symbols {
			if n := f.Symbols[symbol].NameSpan.Start; n < s.Start || n >= s.End {
				t.Errorf("chunk %d lists %s, whose name stands at %d", i, f.Symbols[symbol].Name, n)
			}
		}
	}
	if len(bytes.TrimSpace(src[at:])) > 0 {
		t.Errorf("no chunk holds the end %q", src[at:])
	}
}

// TestLongLines has files of one line, as tools write them, and one that nests as
// deep as it is long: reading the line for each node of it took minutes.
func TestLongLines(t *testing.T) {
	for language, src := range map[string]string{
		"javascript": strings.Repeat("a;", 1<<18) + "\nb;\n",
		"c":          "package p\nvar x = " + strings.Repeat("&", 1<<18) + "b " + strings.Repeat("/**/", 1<<16) + "\n",
	} {
		if f := checkFile(t, language, []byte(src)); len(f.Chunks) < len(src)/maxChunk {
			t.Errorf("%s: %d chunks of %d bytes", language, len(f.Chunks), len(src))
		}
	}
}
