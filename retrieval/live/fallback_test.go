package live

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/index/token"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// unfilled opens an index that does not fill its full-text table, and waits until it is up
// to date.
func unfilled(t *testing.T, files map[string]string) *index.Index {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	source, err := index.Open(index.Config{Dir: dir, StateDir: t.TempDir(), Brief: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := source.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	return source
}

// cold is a workspace that has not read anything of the index yet.
func cold(tb testing.TB, source *index.Index) *Workspace {
	w := &Workspace{Search: retrieval.New(retrieval.Options{}), source: source, semantic: dense.Follow(source.Embedding()), ready: make(chan struct{}), rest: time.NewTimer(restAfter)}
	tb.Cleanup(w.semantic.Close)
	return w
}

func find(tb testing.TB, w *Workspace, query string) retrieval.Answer {
	tb.Helper()
	a, err := w.Find(context.Background(), dense.NewMemory(time.Minute), retrieval.Request{Query: retrieval.Parse(query, time.Now())})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// fill does what the index does when nobody waits.
func fill(tb testing.TB, source *index.Index) {
	tb.Helper()
	for {
		due, err := source.Store().TextDue(context.Background(), 1000)
		if err != nil {
			tb.Fatal(err)
		}
		if len(due) == 0 {
			return
		}
		var a token.Analyzer
		var rows []store.FileText
		for _, d := range due {
			text, err := source.Text(d.Path)
			if err != nil {
				tb.Fatal(err)
			}
			rows = append(rows, store.FileText{ID: d.ID, Terms: string(a.AppendText(nil, text))})
		}
		if err := source.Store().PutText(rows); err != nil {
			tb.Fatal(err)
		}
	}
}

// Until the index is in memory, the full-text table answers, and files that are not in it
// yet are read.
func TestFullTextFallback(t *testing.T) {
	for _, filled := range []bool{false, true} {
		source := unfilled(t, map[string]string{
			"server/router.go": "package server\n\n// Router finds handlers.\ntype Router struct{}\n",
			"client/client.py": "# Dials a router and sends handlers.\ndef dial(router):\n    pass\n",
			"notes.md":         "# Notes\n\nNothing of the kind.\n",
		})
		if filled {
			fill(t, source)
		}
		w := cold(t, source)
		find := func(query string) retrieval.Answer { return find(t, w, query) }
		a := find("where is the Router declared")
		if len(a.Results) != 2 || a.Total != 2 || a.Results[0].Path != "server/router.go" || a.Results[0].Symbol != "Router" ||
			a.Results[0].Score != 1 || a.Results[1].Score >= 1 || a.Results[0].StartLine == 0 || !slices.Equal(a.Backend, []string{"full text"}) {
			t.Errorf("filled %v: answer = %+v", filled, a)
		}
		for query, want := range map[string][]string{
			"lang:python router":      {"client/client.py"},
			"kind:struct router":      {"server/router.go"},
			"-kind:function router":   {"server/router.go"},
			"symbol:dial":             {"client/client.py"},
			"symbol:Pool.dial router": nil,
			`"sends handlers"`:        {"client/client.py"},
			"server":                  {"server/router.go"},
			"zebra":                   nil,
			"":                        nil,
		} {
			var got []string
			for _, r := range find(query).Results {
				got = append(got, r.Path)
			}
			if !slices.Equal(got, want) {
				t.Errorf("filled %v: %q finds %q, want %q", filled, query, got, want)
			}
		}
		if a := find("kind:struct router"); len(a.Results) == 1 && a.Results[0].Kind != "struct" {
			t.Errorf("answer of a kind = %+v", a)
		}
		close(w.ready)
		if a := find("Router"); !slices.Contains(a.Backend, "full text") {
			t.Errorf("memory holds nothing, yet the disk is not asked: %+v", a)
		}
		apply(t, w, "other.go", "package other\n")
		if a := find("Router"); len(a.Results) != 0 || slices.Contains(a.Backend, "full text") {
			t.Errorf("a ready workspace still asks the disk: %+v", a)
		}
	}
}

func apply(t *testing.T, w *Workspace, name, text string) {
	t.Helper()
	file, err := syntax.Analyze("go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w.Search.Apply([]retrieval.Change{{Path: name, Document: &retrieval.Document{Path: name, Language: "go", Text: text, Syntax: file}}})
}

// While more is missing in the table than can be read at a question, the part in memory
// answers: a part of the table would pass for all of it.
func TestMemoryAnswersBeforeTheTableIsFilled(t *testing.T) {
	files := map[string]string{}
	for i := range dueFiles + 1 {
		files[fmt.Sprintf("f%d.go", i)] = "package a // zebra\n"
	}
	source := unfilled(t, files)
	w := cold(t, source)
	apply(t, w, "f0.go", "package a // zebra\n")
	if a := find(t, w, "zebra"); len(a.Results) != 1 || slices.Contains(a.Backend, "full text") {
		t.Errorf("nothing is filled: %+v", a)
	}
	if !w.Behind(t.Context()) {
		t.Error("and nobody is told that it is a part")
	}
	fill(t, source)
	if a := find(t, w, "zebra"); len(a.Results) != 10 || a.Total != readFiles || !slices.Equal(a.Backend, []string{"full text"}) {
		t.Errorf("filled: %+v", a)
	}
}

// BenchmarkFullText asks what answers before the index is in memory, of Go's standard
// library.
func BenchmarkFullText(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	source, err := index.Open(index.Config{Dir: filepath.Join(strings.TrimSpace(string(root)), "src"), StateDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	if err := source.Settle(context.Background()); err != nil {
		b.Fatal(err)
	}
	fill(b, source)
	w := cold(b, source)
	queries := []string{"where are routes grouped", "http server shutdown", "parse a url and its query", "how is garbage collected", "json decoder buffer", "regexp backtrack"}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if a := find(b, w, queries[i%len(queries)]); len(a.Results) == 0 {
			b.Fatal("nothing is found")
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// While memory knows little, declarations are answered from the database: the very name first,
// whatever else has its words, and all that a query for declarations asks for, in any case.
func TestDeclarationsFromDisk(t *testing.T) {
	source := unfilled(t, map[string]string{
		"a.go":     "package shed\n\n// Widget Widget Widget: all of Widget is said here.\nfunc Other() { Widget(); Widget(); Widget() }\n",
		"z.go":     "package shed\n\nfunc Widget() {}\n\ntype Store struct{}\n\nfunc (s Store) Open() {}\n",
		"open.go":  "package shed\n\nfunc Open() {}\n",
		"lower.py": "def widget():\n    pass\n",
	})
	fill(t, source)
	w := cold(t, source)
	for query, want := range map[string][]string{
		"symbol:Widget":             {"z.go", "lower.py"},
		"symbol:widget":             {"lower.py", "z.go"},
		"symbol:Store.Open":         {"z.go"},
		"symbol:Widget lang:python": {"lower.py"},
		"symbol:Open kind:method":   {"z.go"},
		"symbol:Nowhere":            {},
		"Widget":                    {"z.go", "lower.py", "a.go"},
	} {
		a := find(t, w, query)
		got := []string{}
		for _, r := range a.Results {
			got = append(got, r.Path)
		}
		if !slices.Equal(got, want) || a.Total != len(want) || !slices.Contains(a.Backend, "symbols") {
			t.Errorf("%s finds %q of %d by %q, want %q", query, got, a.Total, a.Backend, want)
		}
	}
	if a := find(t, w, "shed"); len(a.Results) > 0 && a.Results[0].Reasons[0] == "declares module shed" {
		t.Errorf("a word that names a package: %+v", a.Results)
	}
}
