package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// dialect writes files of functions, or of a table's elements, for the property
// below.
type dialect struct {
	name       string
	language   string
	open       string // format of a function's head, with its name
	line       string // format of a statement, with a number and filler
	close      string
	head, tail string // what all the functions stand in
}

var dialects = []dialect{
	{"go", "go", "// F%[1]d does it.\nfunc F%[1]d() {\n", "\tcall(%d, %q)\n", "}\n\n", "package p\n\n", ""},
	{"python", "python", "def f%[1]d(a):\n    \"\"\"Does it.\"\"\"\n", "    call(%d, %q)\n", "\n\n", "", ""},
	{"typescript", "typescript", "export function f%[1]d(): void {\n", "  call(%d, %q);\n", "}\n\n", "", ""},
	{"rust", "rust", "/// Does it.\nfn f%[1]d() {\n", "    call(%d, %q);\n", "}\n\n", "", ""},
	{"markdown", "markdown", "## Part %[1]d\n\n", "Sentence %d says %s.\n\n", "", "", ""},
	{"zig", "zig", "fn f%[1]d() void {\n", "    call(%d, %q);\n", "}\n\n", "", ""},
	{"objects", "json", "  {\n    \"id\": %[1]d,\n", "    \"k%d\": %q,\n", "    \"last\": true\n  },\n", "[\n", "  {}\n]\n"},
	{"items", "yaml", "  -\n    name: n%[1]d\n", "    k%d: %q\n", "", "items:\n", ""},
	{"routes", "typescript", "  {\n    path: '/p%[1]d',\n", "    k%d: %q,\n", "  },\n", "export const routes = [\n", "];\n"},
	{"cases", "go", "\t{\n\t\tname: \"case %[1]d\",\n", "\t\tk%d: %q,\n", "\t},\n", "package p\n\nvar cases = []map[string]string{\n", "}\n"},
	{"dictionaries", "python", "    {\n        'name': 'case %[1]d',\n", "        'k%d': %q,\n", "    },\n", "CASES = [\n", "]\n"},
}

// write returns the text and where function i lies in it.
func (d dialect) write(bodies [][]string, i int) (text []byte, start, end int) {
	var b bytes.Buffer
	b.WriteString(d.head)
	for n, lines := range bodies {
		if n == i {
			start = b.Len()
		}
		fmt.Fprintf(&b, d.open, n)
		for _, line := range lines {
			b.WriteString(line)
		}
		b.WriteString(d.close)
		if n == i {
			end = b.Len()
		}
	}
	b.WriteString(d.tail)
	return b.Bytes(), start, end
}

// TestEditChangesItsChunkOnly: after an edit inside one function every chunk
// that did not hold a part of it is still there, or has become one with the
// function's chunk; and no chunk is new but those the function is in and the
// neighbours its chunk has let go.
func TestEditChangesItsChunkOnly(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				statement := rapid.Custom(func(t *rapid.T) string {
					return fmt.Sprintf(d.line, rapid.IntRange(0, 1000).Draw(t, "n"), strings.Repeat("w ", rapid.IntRange(0, 30).Draw(t, "filler")))
				})
				bodies := rapid.SliceOfN(rapid.SliceOfN(statement, 1, 60), 2, 40).Draw(t, "bodies")
				edited := rapid.IntRange(0, len(bodies)-1).Draw(t, "edited")
				before, start, end := d.write(bodies, edited)
				old := outside(t, d, before, start, end)

				bodies[edited] = rapid.SliceOfN(statement, 1, 60).Draw(t, "new body")
				after, start, end := d.write(bodies, edited)
				now := outside(t, d, after, start, end)

				old.mustBeIn(t, now, "lost")
				now.mustBeIn(t, old, "new")
			})
		})
	}
}

// TestCutsOutliveTheLimitOfSections: a file with one key more than has a file of
// settings is data, whose keys nobody looks for; its chunks are the same but for the
// last.
func TestCutsOutliveTheLimitOfSections(t *testing.T) {
	write := func(keys int) *File {
		var b strings.Builder
		b.WriteString("{\n")
		for i := range keys {
			fmt.Fprintf(&b, "  \"key%d\": %q,\n", i, strings.Repeat("w ", i%30))
		}
		f, err := Analyze("json", []byte(b.String()+"  \"last\": true\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	settings, data := write(maxSections-1), write(maxSections)
	if len(settings.Symbols) == 0 || len(data.Symbols) != 0 {
		t.Fatalf("%d and %d sections on both sides of the limit", len(settings.Symbols), len(data.Symbols))
	}
	if len(settings.Chunks) < 3 || len(settings.Chunks) != len(data.Chunks) {
		t.Fatalf("%d chunks became %d", len(settings.Chunks), len(data.Chunks))
	}
	for i, c := range settings.Chunks[:len(settings.Chunks)-1] {
		if c.Hash != data.Chunks[i].Hash {
			t.Errorf("chunk %d: %+v became %+v", i, c.Span, data.Chunks[i].Span)
		}
	}
}

// cut is a chunked text, with the chunks that hold a part of the edited
// function apart.
type cut struct {
	others  map[[16]byte]string
	touched []string
}

func outside(t *rapid.T, d dialect, src []byte, start, end int) cut {
	f, err := Analyze(d.language, src)
	if err != nil {
		t.Fatal(err)
	}
	checkChunks(t, f, src, languages[d.language] == nil)
	c := cut{others: map[[16]byte]string{}}
	for _, chunk := range f.Chunks {
		text := string(src[chunk.Span.Start:chunk.Span.End])
		if int(chunk.Span.Start) < end && int(chunk.Span.End) > start {
			c.touched = append(c.touched, text)
		} else {
			c.others[chunk.Hash] = text
		}
	}
	return c
}

func (c cut) mustBeIn(t *rapid.T, other cut, what string) {
	for hash, text := range c.others {
		if _, ok := other.others[hash]; ok {
			continue
		}
		inTouched := false
		for _, whole := range other.touched {
			inTouched = inTouched || strings.Contains(whole, text)
		}
		if !inTouched {
			t.Fatalf("%s:\n%s", what, text)
		}
	}
}

// TestChunksAreOfUsefulSize checks on a long file that most text is in chunks
// near the size that retrieves best.
func TestChunksAreOfUsefulSize(t *testing.T) {
	d := dialects[0]
	var bodies [][]string
	for i := range 300 {
		var body []string
		for j := range 2 + i*7%19 {
			body = append(body, fmt.Sprintf(d.line, j, "some argument or other"))
		}
		bodies = append(bodies, body)
	}
	src, _, _ := d.write(bodies, 0)
	f, err := Analyze(d.language, src)
	if err != nil {
		t.Fatal(err)
	}
	small := 0
	for _, c := range f.Chunks {
		if n := int(c.Span.End - c.Span.Start); n < 300 {
			small += n
		}
	}
	mean := len(src) / len(f.Chunks)
	if mean < 750 || mean > 1500 {
		t.Errorf("chunks have %d bytes on average, not 750 to 1500", mean)
	}
	if small*20 > len(src) {
		t.Errorf("%d of %d bytes are in chunks under 300 bytes", small, len(src))
	}
	t.Logf("%d chunks, %d bytes on average, %d bytes of %d in small ones", len(f.Chunks), mean, small, len(src))
}
