package syntax

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/index/lang"
)

var update = flag.Bool("update", false, "write the goldens of testdata/syntax instead of comparing")

const fixtures = "../../testdata/syntax"

// TestFixtures compares what each language's fixture yields with its golden.
func TestFixtures(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			language, src := fixture(t, dir)
			seen[language] = true
			f, err := Analyze(language, src)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(f, src)
			golden := filepath.Join(fixtures, dir, "facts.golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("facts of %s differ from %s (go test -update rewrites it):\n%s", dir, golden, firstDifference(got, string(want)))
			}
		})
	}
	for name := range languages {
		if !seen[name] && name != "javascriptreact" {
			t.Errorf("%s has a grammar and no fixture", name)
		}
	}
}

func fixtureDirs(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range entries {
		dirs = append(dirs, e.Name())
	}
	return dirs
}

func fixture(t testing.TB, dir string) (language string, src []byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(fixtures, dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return lang.Detect(name, src), src
	}
	t.Fatalf("no fixture in %s", dir)
	return "", nil
}

// describe prints facts for people.
func describe(f *File, src []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "language %s\n", f.Language)
	if f.Doc != "" {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(f.Doc, "\n", "\n# "))
	}
	for _, s := range f.Symbols {
		fmt.Fprintf(&b, "\n%s %s", s.Kind, s.Name)
		if s.Container != "" {
			fmt.Fprintf(&b, " in %s", s.Container)
		}
		fmt.Fprintf(&b, "  %d-%d\n", s.Span.StartLine, s.Span.EndLine)
		fmt.Fprintf(&b, "  | %s\n", s.Signature)
		if s.Doc != "" {
			fmt.Fprintf(&b, "  # %s\n", strings.ReplaceAll(s.Doc, "\n", "\n  # "))
		}
		if got := string(src[s.NameSpan.Start:s.NameSpan.End]); got != s.Name {
			fmt.Fprintf(&b, "  NAME SPAN HOLDS %q\n", got)
		}
	}
	if len(f.Imports) > 0 {
		b.WriteString("\nimports\n")
	}
	for _, i := range f.Imports {
		fmt.Fprintf(&b, "  %d %q", i.Span.StartLine, i.Path)
		if i.Alias != "" {
			fmt.Fprintf(&b, " as %s", i.Alias)
		}
		if i.Names != nil {
			fmt.Fprintf(&b, " names %s", strings.Join(i.Names, ", "))
		}
		b.WriteByte('\n')
	}
	if len(f.Refs) > 0 {
		b.WriteString("\nreferences\n")
	}
	for _, r := range f.Refs {
		fmt.Fprintf(&b, "  %d %s %s", r.Span.StartLine, r.Kind, r.Name)
		if r.Qualifier != "" {
			fmt.Fprintf(&b, " of %s", r.Qualifier)
		}
		if r.From >= 0 {
			fmt.Fprintf(&b, "  (%s)", f.Symbols[r.From].Name)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nchunks\n")
	for _, c := range f.Chunks {
		fmt.Fprintf(&b, "  %d-%d %s %d bytes", c.Span.StartLine, c.Span.EndLine, c.Content, c.Span.End-c.Span.Start)
		for i, s := range c.Symbols {
			if i == 5 {
				b.WriteString(" …")
				break
			}
			fmt.Fprintf(&b, " %s", f.Symbols[s].Name)
		}
		b.WriteByte('\n')
	}
	for _, e := range f.Errors {
		fmt.Fprintf(&b, "\nERROR at line %d: %q\n", e.StartLine, src[e.Start:e.End])
	}
	return b.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			expected := "the end"
			if i < len(w) {
				expected = w[i]
			}
			return fmt.Sprintf("line %d\n got  %s\n want %s", i+1, g[i], expected)
		}
	}
	return fmt.Sprintf("%d lines are missing, from %q", len(w)-len(g), w[len(g)])
}
