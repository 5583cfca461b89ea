//go:build unix

package syntax

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/index/lang"
)

// BenchmarkTree reads every file of a source tree that has a grammar: the
// folder named by QUARRY_BENCH_TREE, else the Go distribution's net, go and
// crypto. It reports tree-sitter alone (parse) and all of Analyze, by the time of
// the processor too: that says the same on a busy machine.
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
			language := lang.Detect(name, src[:min(len(src), 8000)])
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
		defer reportProcessor(b, size, processorTime(b))
		for b.Loop() {
			for _, f := range files {
				if tree, _ := languageFor(f.language).grammar.Parse(nil, f.src, parseLimit(len(f.src))); tree != nil {
					tree.Close()
				}
			}
		}
	})
	b.Run("analyze", func(b *testing.B) {
		b.SetBytes(size)
		defer reportProcessor(b, size, processorTime(b))
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

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func reportProcessor(b *testing.B, size int64, start time.Duration) {
	used := processorTime(b) - start
	b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "cpu-MB/s")
}
