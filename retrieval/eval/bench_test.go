package eval

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/scan"
)

// The benchmarks search the standard library of the Go that runs them, which
// everybody who can run them has: about 70,000 chunks, and as many again as are
// wanted under another folder's name.

var standardLibrary = sync.OnceValues(func() ([]retrieval.Document, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return scan.Folder(context.Background(), strings.TrimSpace(string(root)), "src")
})

// libraryOf returns documents with about n chunks.
func libraryOf(tb testing.TB, n int) (docs []retrieval.Document, chunks, bytes int) {
	tb.Helper()
	all, err := standardLibrary()
	if err != nil {
		tb.Fatal(err)
	}
	for round := 0; chunks < n; round++ {
		for _, d := range all {
			if chunks >= n {
				break
			}
			if round > 0 {
				d.Path = fmt.Sprintf("copy%d/%s", round, d.Path)
			}
			docs = append(docs, d)
			chunks += len(d.Syntax.Chunks)
			bytes += len(d.Text)
		}
	}
	return docs, chunks, bytes
}

// benchQueries are the questions of the second set and the gate, and names of
// the standard library.
func benchQueries(tb testing.TB) []string {
	tb.Helper()
	out := []string{"ServeHTTP", "http.Client", "Unmarshal", "RWMutex", "parseFiles", "TLSConfig", "ReadAll", "Scanner", "bufio.Writer", "chanrecv"}
	for _, dir := range []string{"../../testdata/rank/questions", gate} {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".json")
			if name == "repos" {
				continue
			}
			qs, err := ReadQuestions(dir, name)
			if err != nil {
				tb.Fatal(err)
			}
			for _, q := range qs {
				out = append(out, q.Query)
			}
		}
	}
	return out
}

func reportLatency(b *testing.B, what string, took []time.Duration) {
	slices.Sort(took)
	for _, p := range []float64{.50, .95, .99} {
		b.ReportMetric(float64(took[int(p*float64(len(took)-1))].Microseconds())/1000, fmt.Sprintf("%sp%d-ms", what, int(p*100)))
	}
}

// loaded builds an index of n chunks and reports the time and the memory it
// takes, without the texts.
func loaded(b *testing.B, n int) (ix *retrieval.Index, report func()) {
	b.Helper()
	docs, chunks, bytes := libraryOf(b, n)
	texts := make(map[string]string, len(docs))
	for i := range docs {
		texts[docs[i].Path] = docs[i].Text
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // the first leaves what pools held
	runtime.ReadMemStats(&before)
	start := time.Now()
	ix = retrieval.New(retrieval.Options{Text: func(path string) (string, error) { return texts[path], nil }})
	changes := make([]retrieval.Change, len(docs))
	for i := range docs {
		changes[i] = retrieval.Change{Path: docs[i].Path, Document: &docs[i]}
	}
	ix.Apply(changes)
	took := time.Since(start)
	changes = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	return ix, func() {
		b.ReportMetric(float64(chunks), "chunks")
		b.ReportMetric(float64(bytes)/1e6, "source-MB")
		b.ReportMetric(took.Seconds(), "load-s")
		b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6, "index-MB")
	}
}

func benchSearch(b *testing.B, n int) {
	ix, report := loaded(b, n)
	queries := benchQueries(b)
	var took []time.Duration
	best := make([]time.Duration, len(queries))
	ask := func(i int) {
		start := time.Now()
		if _, err := ix.Search(context.Background(), retrieval.Request{Query: retrieval.Parse(queries[i], start)}); err != nil {
			b.Fatal(err)
		}
		t := time.Since(start)
		took = append(took, t)
		if best[i] == 0 || t < best[i] {
			best[i] = t
		}
	}
	for i := range queries {
		ask(i) // warm
	}
	took, best = took[:0], make([]time.Duration, len(queries))
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		ask(i % len(queries))
	}
	report()
	reportLatency(b, "", took)
	// On a machine with other work the best of a query's turns is what the search
	// itself takes.
	reportLatency(b, "best-", best)
}

func BenchmarkSearch10k(b *testing.B)  { benchSearch(b, 10_000) }
func BenchmarkSearch100k(b *testing.B) { benchSearch(b, 100_000) }

// BenchmarkApplyOneFile replaces one file of a large index: what an edit costs.
func BenchmarkApplyOneFile(b *testing.B) {
	ix, report := loaded(b, 100_000)
	docs, _, _ := libraryOf(b, 1000)
	var took []time.Duration
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		d := &docs[i%len(docs)]
		ix.Apply([]retrieval.Change{{Path: d.Path, Document: d}})
		took = append(took, time.Since(start))
	}
	report()
	reportLatency(b, "", took)
}
