package retrieval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// countTokens stands for a tokenizer: four bytes a token, at least one a line.
func countTokens(s string) int { return max(strings.Count(s, "\n"), (len(s)+3)/4) }

func drawExcerpt(t *rapid.T, label string, path *rapid.Generator[string], most int) Excerpt {
	n := rapid.IntRange(0, most).Draw(t, label+" lines")
	line := rapid.SampledFrom([]string{"", "x", "\treturn f(y)", "func f() {", "}", "// é 取得", strings.Repeat("long ", 30)})
	e := Excerpt{Path: path.Draw(t, label+" path"), StartLine: rapid.IntRange(1, 50).Draw(t, label+" start"), Why: label}
	for range n {
		e.Text += line.Draw(t, label+" line") + "\n"
	}
	e.Cuts = rapid.SliceOfN(rapid.IntRange(1, 50+most), 0, 6).Draw(t, label+" cuts")
	slices.Sort(e.Cuts)
	return e
}

func drawMaterial(t *rapid.T) Material {
	path := rapid.SampledFrom([]string{"a.go", "b/c.go", "d.py"})
	var m Material
	if rapid.Bool().Draw(t, "has here") {
		here := drawExcerpt(t, "here", path, 80)
		here.StartLine = 1
		m.Here, m.HereLine = &here, rapid.IntRange(0, 90).Draw(t, "cursor")
	}
	list := func(label string, most int) (out []Excerpt) {
		for i := range rapid.IntRange(0, most).Draw(t, label) {
			out = append(out, drawExcerpt(t, fmt.Sprint(label, i), path, 12))
		}
		return out
	}
	m.Signatures, m.Chunks, m.Summaries = list("signature", 4), list("chunk", 20), list("summary", 3)
	return m
}

func TestPackKeepsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMaterial(t)
		b := Budget{Bytes: rapid.IntRange(0, 4000).Draw(t, "bytes"), Tokens: rapid.IntRange(0, 1000).Draw(t, "tokens"),
			Chunks: rapid.IntRange(0, 5).Draw(t, "chunks"), PerFile: rapid.IntRange(0, 3).Draw(t, "per file")}
		pieces := Pack(m, b, countTokens)
		if again := Pack(m, b, countTokens); !reflect.DeepEqual(pieces, again) {
			t.Fatal("packed twice, got two answers")
		}
		bytes, tokens, chunks := 0, 0, 0
		perFile := map[string]int{}
		order := map[PieceKind]int{PieceHere: 0, PieceSignature: 1, PieceChunk: 2, PieceSummary: 3}
		last, lastChunk := 0, -1
		for i, p := range pieces {
			bytes += len(p.String())
			tokens += countTokens(p.String())
			if order[p.Kind] < last {
				t.Fatalf("%s comes after %s", p.Kind, pieces[i-1].Kind)
			}
			last = order[p.Kind]
			if strings.TrimSpace(p.Text) == "" || p.EndLine < p.StartLine {
				t.Fatalf("empty piece %+v", p)
			}
			if want := fmt.Sprintf("%s:%d-%d\n", p.Path, p.StartLine, p.EndLine); !strings.HasPrefix(p.String(), want) {
				t.Fatalf("piece %q lacks its citation", p.String())
			}
			if n := strings.Count(strings.TrimSuffix(p.Text, "\n"), "\n") + 1; p.Kind != PieceSummary && n != p.EndLine-p.StartLine+1 {
				t.Fatalf("%s has %d lines", p.Ref(), n)
			}
			for _, o := range pieces[:i] {
				if p.Kind != PieceSummary && o.Kind != PieceSummary && o.Path == p.Path && p.StartLine <= o.EndLine && o.StartLine <= p.EndLine {
					t.Fatalf("%s overlaps %s", p.Ref(), o.Ref())
				}
			}
			if p.Kind == PieceChunk {
				chunks++
				perFile[p.Path]++
				lastChunk = checkChunk(t, m.Chunks, lastChunk, p)
			}
		}
		mostChunks, mostPerFile := b.Chunks, b.PerFile
		if mostChunks == 0 {
			mostChunks = 12
		}
		if mostPerFile == 0 {
			mostPerFile = 2
		}
		if bytes > b.Bytes || tokens > b.Tokens || chunks > mostChunks {
			t.Fatalf("%d bytes of %d, %d tokens of %d, %d chunks of %d", bytes, b.Bytes, tokens, b.Tokens, chunks, mostChunks)
		}
		for path, n := range perFile {
			if n > mostPerFile {
				t.Fatalf("%d chunks of %s, at most %d", n, path, mostPerFile)
			}
		}
	})
}

// checkChunk finds the excerpt a chunk piece came from, after the one before,
// and answers its place: chunks keep their order and end at the excerpt's end or
// before a cut, blank lines aside.
func checkChunk(t *rapid.T, chunks []Excerpt, after int, p Piece) int {
	for i := after + 1; i < len(chunks); i++ {
		e := chunks[i]
		if e.Why != p.Why {
			continue
		}
		if e.Path != p.Path || e.StartLine != p.StartLine || !strings.HasPrefix(e.Text+"\n", p.Text) {
			t.Fatalf("piece %+v is no head of %+v", p, e)
		}
		lines := strings.Split(e.Text, "\n")
		next := p.EndLine + 1
		for next-e.StartLine < len(lines) && strings.TrimSpace(lines[next-e.StartLine]) == "" && !slices.Contains(e.Cuts, next) {
			next++
		}
		if next <= e.endLine() && !slices.Contains(e.Cuts, next) {
			t.Fatalf("%s ends before line %d, which is no cut of %v", p.Ref(), next, e.Cuts)
		}
		return i
	}
	t.Fatalf("piece %+v is out of order or of no excerpt", p)
	return 0
}

func TestPackWindow(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	here := Excerpt{Path: "a.go", StartLine: 1, Text: b.String(), Cuts: []int{240, 245}}
	huge := Budget{Bytes: 1 << 20, Tokens: 1 << 20}
	p := Pack(Material{Here: &here, HereLine: 500}, huge, countTokens)
	if len(p) != 1 || p[0].StartLine != 240 || p[0].EndLine != 633 {
		t.Fatalf("window %s, want lines 240 (a cut) to 633", p[0].Ref())
	}
	p = Pack(Material{Here: &here, HereLine: 1}, huge, countTokens)
	if p[0].StartLine != 1 || p[0].EndLine != 400 {
		t.Errorf("window at the top %s", p[0].Ref())
	}
	p = Pack(Material{Here: &here, HereLine: 1000}, huge, countTokens)
	if p[0].EndLine != 1000 {
		t.Errorf("window at the end %s", p[0].Ref())
	}
	small := Pack(Material{Here: &here, HereLine: 500}, Budget{Bytes: 300, Tokens: 1000}, countTokens)
	if len(small) != 1 || small[0].StartLine > 500 || small[0].EndLine < 500 {
		t.Errorf("small window %v does not hold the cursor", small)
	}
}

// Six tenths of the budget are for the window while there is other material, all of it where
// there is none (R7).
func TestPackWindowLeavesRoom(t *testing.T) {
	here := Excerpt{Path: "a.go", StartLine: 1, Text: strings.Repeat("123456789\n", 300)}
	chunk := Excerpt{Path: "b.go", StartLine: 1, Text: strings.Repeat("987654321\n", 300)}
	window := func(m Material) int {
		for _, p := range Pack(m, Budget{Bytes: 1000, Tokens: 1 << 20}, countTokens) {
			if p.Kind == PieceHere {
				return len(p.Text)
			}
		}
		return 0
	}
	if got := window(Material{Here: &here, HereLine: 150}); got < 900 || got > 1000 {
		t.Errorf("alone the window has %d of 1000 bytes", got)
	}
	if got := window(Material{Here: &here, HereLine: 150, Chunks: []Excerpt{chunk}}); got < 550 || got > 600 {
		t.Errorf("beside a chunk the window has %d of 1000 bytes, want just under 600", got)
	}
}

func TestPackLeavesOutCopies(t *testing.T) {
	body := func(name string) string {
		return "func " + name + "(in io.Reader, out io.Writer) error {\n\tb, err := io.ReadAll(in)\n\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n" +
			"\tsum := 0\n\tfor _, c := range b {\n\t\tsum += int(c)\n\t}\n\t_, err = fmt.Fprintln(out, sum, len(b))\n\treturn err\n}\n"
	}
	m := Material{Chunks: []Excerpt{
		{Path: "a.go", StartLine: 1, Text: body("sum")},
		{Path: "copy/a.go", StartLine: 1, Text: body("total")},
		{Path: "b.go", StartLine: 1, Text: "func other() {}\n"},
	}}
	var got []string
	for _, p := range Pack(m, Budget{Bytes: 10_000, Tokens: 10_000}, countTokens) {
		got = append(got, p.Path)
	}
	if want := []string{"a.go", "b.go"}; !slices.Equal(got, want) {
		t.Errorf("packed %v, want %v", got, want)
	}
}

// Without a limit of the caller's, twelve chunks and two of a file are all (R7).
func TestPackDefaults(t *testing.T) {
	words := strings.Fields("open close read write seek list walk copy move link sync lock wait fork kill bind send dial")
	for name, want := range map[string]struct{ chunks, files, packed int }{
		"many files": {18, 18, 12},
		"one file":   {18, 1, 2},
		"nine files": {18, 9, 12},
		"four files": {18, 4, 8},
	} {
		t.Run(name, func(t *testing.T) {
			var m Material
			for i := range want.chunks {
				m.Chunks = append(m.Chunks, Excerpt{
					Path: fmt.Sprintf("f%d.go", i%want.files), StartLine: 1 + 10*i,
					Text: fmt.Sprintf("func %s() error { return %s.%s(%d) }\n", words[i], words[(i+5)%18], words[(i+11)%18], i),
				})
			}
			if got := Pack(m, Budget{Bytes: 1 << 20, Tokens: 1 << 20}, countTokens); len(got) != want.packed {
				t.Errorf("packed %d chunks of %d files, want %d", len(got), want.files, want.packed)
			}
		})
	}
}
