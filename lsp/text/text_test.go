package text

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLines(t *testing.T) {
	tests := []struct {
		in    string
		lines []string
		nl    string
	}{
		{"", []string{""}, "\n"},
		{"a", []string{"a"}, "\n"},
		{"a\n", []string{"a", ""}, "\n"},
		{"a\r\nb", []string{"a", "b"}, "\r\n"},
		{"a\rb\r", []string{"a", "b", ""}, "\r"},
		{"\n\r\n\r\r\n", []string{"", "", "", "", ""}, "\n"},
		{"😀\r\nß\nx", []string{"😀", "ß", "x"}, "\r\n"},
	}
	for _, tt := range tests {
		txt := New(tt.in)
		var got []string
		for i := range txt.LineCount() {
			got = append(got, txt.Line(i))
		}
		if diff := cmp.Diff(tt.lines, got); diff != "" {
			t.Errorf("lines of %q (-want +got):\n%s", tt.in, diff)
		}
		if got := txt.Newline(); got != tt.nl {
			t.Errorf("Newline of %q = %q, want %q", tt.in, got, tt.nl)
		}
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	txt := New("a\xffb")
	if got, want := txt.String(), "a\uFFFDb"; got != want {
		t.Errorf("New = %q, want %q", got, want)
	}
	if got, want := txt.Replace(0, 1, "\xc3").String(), "\uFFFD\uFFFDb"; got != want {
		t.Errorf("Replace = %q, want %q", got, want)
	}
}

func TestPositions(t *testing.T) {
	txt := New("a😀é\r\n\r\nend")
	tests := []struct {
		enc          Encoding
		line, char   uint32
		offset       int
		line2, char2 uint32 // what the offset converts back to
	}{
		{UTF16, 0, 0, 0, 0, 0},
		{UTF16, 0, 1, 1, 0, 1},
		{UTF16, 0, 2, 1, 0, 1}, // inside the surrogate pair
		{UTF16, 0, 3, 5, 0, 3},
		{UTF16, 0, 4, 7, 0, 4},
		{UTF16, 0, 99, 7, 0, 4}, // past the end of the line
		{UTF16, 1, 5, 9, 1, 0},
		{UTF16, 2, 3, 14, 2, 3},
		{UTF16, 3, 0, 14, 2, 3}, // the line after the last
		{UTF8, 0, 3, 1, 0, 1},   // inside the rune
		{UTF8, 0, 5, 5, 0, 5},
		{UTF8, 0, 1 << 31, 7, 0, 7},
		{UTF32, 0, 2, 5, 0, 2},
		{UTF32, 0, 3, 7, 0, 3},
		{UTF32, 2, 9, 14, 2, 3},
	}
	for _, tt := range tests {
		got, err := txt.PositionToOffset(Position{tt.line, tt.char}, tt.enc)
		if err != nil || got != tt.offset {
			t.Errorf("%s %d:%d: offset %d, %v; want %d", tt.enc, tt.line, tt.char, got, err, tt.offset)
			continue
		}
		if back := txt.OffsetToPosition(got, tt.enc); back != (Position{tt.line2, tt.char2}) {
			t.Errorf("%s offset %d: position %v, want %d:%d", tt.enc, got, back, tt.line2, tt.char2)
		}
	}
	if _, err := txt.PositionToOffset(Position{4, 0}, UTF16); !errors.Is(err, ErrOutside) {
		t.Errorf("line 4 of 3: error %v, want ErrOutside", err)
	}
}

// alphabet holds what breaks naive code: all three line breaks, and runes of
// one to four bytes.
var alphabet = []rune("ab\r\né漢😀")

// TestReplaceEqualsNew proves the local rescan of Replace equal to a full scan.
func TestReplaceEqualsNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		txt := New(rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 40, -1).Draw(t, "text"))
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			start, end := drawRange(t, txt)
			with := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 6, -1).Draw(t, "with")
			want := New(txt.String()[:start] + with + txt.String()[end:])
			txt = txt.Replace(start, end, with)
			if txt.String() != want.String() {
				t.Fatalf("text %q, want %q", txt.String(), want.String())
			}
			if diff := cmp.Diff(want.starts, txt.starts); diff != "" {
				t.Fatalf("line starts of %q (-want +got):\n%s", txt.String(), diff)
			}
		}
	})
}

// TestPositionsAgainstUTF16 compares with the standard library's own encoder.
func TestPositionsAgainstUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		txt := New(rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 40, -1).Draw(t, "text"))
		offset, _ := drawRange(t, txt)
		p := txt.OffsetToPosition(offset, UTF16)
		start, end := txt.LineBounds(int(p.Line))
		if inLine := min(offset, end); int(p.Character) != len(utf16.Encode([]rune(txt.String()[start:inLine]))) {
			t.Fatalf("%q offset %d: character %d", txt.String(), offset, p.Character)
		}
		for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
			back, err := txt.PositionToOffset(txt.OffsetToPosition(offset, enc), enc)
			if err != nil || back != min(offset, end) {
				t.Fatalf("%s: %q offset %d comes back as %d, %v", enc, txt.String(), offset, back, err)
			}
		}
	})
}

// TestPositionsInLongLines compares what is read eight bytes at a time with a count of each rune.
func TestPositionsInLongLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOfN(rapid.SampledFrom([]rune("abcdefghijklmnopqrstuvwé漢😀")), 0, 60, -1).Draw(t, "line")
		txt := New("first\n" + line + "\nlast")
		for _, enc := range []Encoding{UTF16, UTF32} {
			units := 0
			for i, r := range line {
				at := len("first\n") + i
				if p := txt.OffsetToPosition(at, enc); p != (Position{1, uint32(units)}) {
					t.Fatalf("%s: byte %d of %q is %+v, want character %d", enc, i, line, p, units)
				}
				if back, err := txt.PositionToOffset(Position{1, uint32(units)}, enc); back != at || err != nil {
					t.Fatalf("%s: character %d of %q is at %d, want %d; %v", enc, units, line, back, at, err)
				}
				if units++; enc == UTF16 && r > 0xFFFF {
					units++
				}
			}
		}
	})
}

func TestAfterEqualsReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		txt := New(rapid.StringOfN(rapid.SampledFrom([]rune("ab\né😀")), 0, 20, -1).Draw(t, "text"))
		at, _ := drawRange(t, txt)
		insert := rapid.StringOfN(rapid.SampledFrom([]rune("ab\né😀")), 0, 8, -1).Draw(t, "insert")
		for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
			want := txt.Replace(at, at, insert).OffsetToPosition(at+len(insert), enc)
			if got := txt.OffsetToPosition(at, enc).After(insert, enc); got != want {
				t.Fatalf("%s: %q at %d of %q ends at %v, want %v", enc, insert, at, txt.String(), got, want)
			}
		}
	})
}

func drawRange(t *rapid.T, txt Text) (start, end int) {
	var bounds []int
	for i := range txt.String() {
		bounds = append(bounds, i)
	}
	bounds = append(bounds, txt.Len())
	a := rapid.IntRange(0, len(bounds)-1).Draw(t, "start")
	b := rapid.IntRange(a, len(bounds)-1).Draw(t, "end")
	return bounds[a], bounds[b]
}

func FuzzPositionToOffset(f *testing.F) {
	f.Add("a😀\r\nb", uint32(0), uint32(2))
	f.Add("", uint32(1), uint32(0))
	f.Fuzz(func(t *testing.T, s string, line, char uint32) {
		txt := New(s)
		for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
			offset, err := txt.PositionToOffset(Position{line, char}, enc)
			if err != nil {
				continue
			}
			if offset < 0 || offset > txt.Len() {
				t.Fatalf("offset %d outside %d bytes", offset, txt.Len())
			}
			if strings.ToValidUTF8(txt.String()[:offset], "") != txt.String()[:offset] {
				t.Fatalf("offset %d splits a rune of %q", offset, txt.String())
			}
		}
	})
}

func BenchmarkReplace(b *testing.B) {
	for _, lines := range []int{100, 1000, 20000} {
		txt := New(strings.Repeat("	result = append(result, value) // forty\n", lines))
		start, _ := txt.LineBounds(lines / 2)
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				txt.Replace(start, start, "x")
			}
		})
	}
}
