package syntax

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
			p.SetLanguage(l.grammar())
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

// BenchmarkTree reads every file of a source tree that has a grammar: the
// folder named by QUARRY_BENCH_TREE, else the Go distribution's net, go and
// crypto. It reports tree-sitter alone (parse) and all of Analyze.
func BenchmarkTree(b *testing.B) {
	dirs := []string{os.Getenv("QUARRY_BENCH_TREE")}
	if dirs[0] == "" {
		src := filepath.Join(runtime.GOROOT(), "src")
		dirs = []string{filepath.Join(src, "net"), filepath.Join(src, "go"), filepath.Join(src, "crypto")}
	}
	type file struct {
		language string
		src      []byte
	}
	var files []file
	var size int64
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			src, err := os.ReadFile(name)
			language := Detect(name, src[:min(len(src), 8000)])
			if err != nil || languageFor(language) == nil || len(src) > 1_000_000 || strings.Contains(name, "testdata") {
				return nil
			}
			files = append(files, file{language, src})
			size += int64(len(src))
			return nil
		})
		if err != nil {
			b.Skipf("no source tree to read: %v", err)
		}
	}
	b.Logf("%d files, %d bytes", len(files), size)
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			for _, f := range files {
				if tree := parse(languageFor(f.language), nil, f.src); tree != nil {
					tree.Close()
				}
			}
		}
	})
	b.Run("analyze", func(b *testing.B) {
		b.SetBytes(size)
		var chunks, errors int
		for b.Loop() {
			chunks, errors = 0, 0
			for _, f := range files {
				result, err := Analyze(f.language, f.src)
				if err != nil {
					b.Fatal(err)
				}
				chunks += len(result.Chunks)
				errors += len(result.Errors)
			}
		}
		b.ReportMetric(float64(size)/float64(chunks), "bytes/chunk")
		b.ReportMetric(float64(errors), "errors")
	})
}
