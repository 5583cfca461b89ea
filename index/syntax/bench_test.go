package syntax

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	sitter "github.com/smacker/go-tree-sitter"
)

// benchmarkText is a text of at least 64 KB in a language: its fixture,
// repeated, or for Go real files of the distribution.
func benchmarkText(b *testing.B, dir string) (string, []byte) {
	b.Helper()
	if dir == "go" {
		name := filepath.Join(runtime.GOROOT(), "src", "net", "http", "server.go")
		src, err := os.ReadFile(name)
		if err != nil {
			b.Skipf("no Go source to read: %v", err)
		}
		return "go", src
	}
	language, src := fixture(b, dir)
	return language, bytes.Repeat(append(src, '\n'), 1+64_000/len(src))
}

// BenchmarkAnalyze is the cost of a file in the index without the database;
// compare with BenchmarkParse, which is tree-sitter alone.
func BenchmarkAnalyze(b *testing.B) {
	for _, dir := range fixtureDirs(b) {
		b.Run(dir, func(b *testing.B) {
			language, src := benchmarkText(b, dir)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Analyze(language, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, dir := range fixtureDirs(b) {
		language, src := benchmarkText(b, dir)
		l := languageFor(language)
		if l == nil {
			continue
		}
		b.Run(dir, func(b *testing.B) {
			p := sitter.NewParser()
			defer p.Close()
			p.SetLanguage(l.grammar.Language())
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				tree, err := p.ParseCtx(context.Background(), nil, src)
				if err != nil {
					b.Fatal(err)
				}
				tree.Close()
			}
		})
	}
}

// BenchmarkUpdate is a keystroke in the middle of an open document.
func BenchmarkUpdate(b *testing.B) {
	language, src := benchmarkText(b, "go")
	middle := len(src) / 2
	middle += bytes.IndexByte(src[middle:], '\n')
	next := bytes.Join([][]byte{src[:middle], src[middle:]}, []byte(" "))
	tree, err := Parse(language, src)
	if err != nil {
		b.Fatal(err)
	}
	defer tree.Close()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		updated, err := tree.Update(next)
		if err != nil {
			b.Fatal(err)
		}
		updated.Close()
	}
}
