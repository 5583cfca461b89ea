package retrieval

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/token"
)

func newAnalyzer() *token.Analyzer { return new(token.Analyzer) }

// document analyses a text as the index does.
func document(path, text string) Document {
	language := lang.Detect(path[strings.LastIndexByte(path, '/')+1:], []byte(text))
	f, err := syntax.Analyze(language, []byte(text))
	if err != nil {
		panic(err)
	}
	return Document{Path: path, Language: language, Text: text, Modified: noon, Syntax: f}
}

func sampleDocuments() []Document {
	return []Document{
		document("server/router.go", `// Package server routes requests.
package server

// Router matches paths in a radix tree.
type Router struct{ root *node }

// Handle registers a handler for a pattern.
func (r *Router) Handle(pattern string, h Handler) { r.root.insert(pattern, h) }
`),
		document("server/node.go", `package server

// node is a vertex of the radix tree.
type node struct { children []*node; handler Handler }

func (n *node) insert(pattern string, h Handler) {}
`),
		document("server/router_test.go", `package server

import "testing"

func TestRouterHandle(t *testing.T) { new(Router).Handle("/x", nil) }
`),
		document("client/http_client.go", `package client

import "server"

// HTTPClient sends requests and retries them with backoff.
type HTTPClient struct{ retries int }

func (c *HTTPClient) Send(r *server.Router) error { return nil }
`),
		document("config/load.py", `"""Reads settings from a file."""

DEFAULT_TIMEOUT = 30

def load_settings(path):
    """Read settings, or the defaults when the file is missing."""
    return {"timeout": DEFAULT_TIMEOUT}
`),
		document("README.md", "# Sample\n\nA router and a client.\n"),
	}
}

func changesOf(docs []Document) []Change {
	out := make([]Change, len(docs))
	for i := range docs {
		out[i] = Change{docs[i].Path, &docs[i]}
	}
	return out
}

func sampleIndex(t testing.TB) *Index {
	t.Helper()
	ix := New(Options{Project: "sample"})
	ix.Apply(changesOf(sampleDocuments()))
	return ix
}

func find(t testing.TB, ix *Index, raw string) Answer {
	t.Helper()
	a, err := ix.Search(context.Background(), Request{Query: Parse(raw, noon), Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	a.Timings = Timings{}
	return a
}

func pathsOf(a Answer) []string {
	out := []string{}
	for _, r := range a.Results {
		out = append(out, r.Path)
	}
	return out
}

func TestSearchFindsFirst(t *testing.T) {
	ix := sampleIndex(t)
	for raw, want := range map[string]string{
		"Router":                              "server/router.go",
		"type Router":                         "server/router.go",
		"router":                              "server/router.go",
		"radix tree vertex":                   "server/node.go",
		"how are failed requests retried":     "client/http_client.go",
		"httpclient":                          "client/http_client.go",
		"http client":                         "client/http_client.go",
		"HTTPCleint":                          "client/http_client.go", // misspelled
		"load_sett":                           "config/load.py",        // prefix
		"loadSettings":                        "config/load.py",        // other case
		"where are the default settings read": "config/load.py",
		"tests of the router":                 "server/router_test.go",
		"path:client requests":                "client/http_client.go",
		"lang:python timeout":                 "config/load.py",
		"type:doc router":                     "README.md",
		"kind:method registers":               "server/router.go",
		"symbol:node":                         "server/node.go",
		"EFAULT_TIM":                          "config/load.py", // part of a name
		`kind:method "insert"`:                "server/node.go", // a call of it comes first elsewhere
		`"new(Router)"`:                       "server/router_test.go",
		`radix "vertex of the"`:               "server/node.go",
		"mode:docs testing":                   "", // only code has it
		"mode:docs client":                    "README.md",
		"Router.Handle":                       "server/router.go",
		"-path:router.go -type:test Router":   "client/http_client.go",
		"mode:symbols settings":               "config/load.py",
	} {
		got := find(t, ix, raw)
		if first := append(pathsOf(got), "")[0]; first != want {
			t.Errorf("%q found %q, want %s first", raw, pathsOf(got), want)
		}
	}
}

func TestResultsExplainThemselves(t *testing.T) {
	a := find(t, sampleIndex(t), "Router")
	r := a.Results[0]
	if r.Symbol != "Router" || r.Kind != syntax.KindStruct || r.StartLine > 5 || r.EndLine < 5 {
		t.Errorf("result = %+v", r)
	}
	if r.Reasons[0] != "declares struct Router" {
		t.Errorf("reasons = %q", r.Reasons)
	}
	if r.Score <= 0 || r.Score > 1 {
		t.Errorf("score = %v", r.Score)
	}
	for _, want := range []string{"lexical", "symbols", "path", "graph"} {
		if !slices.Contains(a.Backend, want) {
			t.Errorf("backend %q lacks %s", a.Backend, want)
		}
	}
	for _, r := range a.Results {
		if r.Path == "server/router_test.go" && r.Reasons[len(r.Reasons)-1] != "ranked lower: test" {
			t.Errorf("a test does not say why it is low: %q", r.Reasons)
		}
	}
}

// A declaration that answers both a word and a name of the query is said once.
func TestReasonsAreSaidOnce(t *testing.T) {
	for _, query := range []string{"router_match", "Router routes requests", "type:code Router requests", "which Router matches", "NewRouter router"} {
		for _, r := range find(t, sampleIndex(t), query).Results {
			for i, reason := range r.Reasons {
				if slices.Contains(r.Reasons[:i], reason) {
					t.Errorf("%s: %s has the reasons %q", query, r.Path, r.Reasons)
				}
			}
		}
	}
	// So are two declarations of one name.
	ix := New(Options{})
	ix.Apply(changesOf([]Document{document("retry.py", "def retry_count():\n    return 1\n\n\ndef retry_count():\n    return 2\n")}))
	for _, query := range []string{"retry_count", "type:tst retry_count"} {
		if r := find(t, ix, query).Results[0].Reasons; strings.Count(strings.Join(r, "\n"), "declares function retry_count") != 1 {
			t.Errorf("%s: reasons %q", query, r)
		}
	}
}

// The core of a library has a sigil that its users' questions leave out.
func TestSigilsAreLeftOut(t *testing.T) {
	docs := []Document{
		document("core/schemas.ts", "export class $ZodType { parse(x: unknown) { return x } }\n"),
		document("util/other.ts", "export function makeZodType(x: unknown) { return x }\n"),
		document("lib/cart.php", "<?php\nclass Cart { private $total; function add($price) { $this->total += $price; } }\n"),
	}
	ix := New(Options{})
	ix.Apply(changesOf(docs))
	for query, want := range map[string]string{"ZodType": "$ZodType", "$ZodType": "$ZodType", "zodtype": "$ZodType"} {
		a := search1(t, ix, Request{}, query)
		if len(a.Results) == 0 || a.Results[0].Path != "core/schemas.ts" || a.Results[0].Symbol != want {
			t.Errorf("%s found %+v", query, a.Results)
		}
	}
}

func TestLocality(t *testing.T) {
	ix := sampleIndex(t)
	at := func(path string) []string {
		a, err := ix.Search(context.Background(), Request{Query: Parse("requests", noon), At: &Position{Path: path}})
		if err != nil {
			t.Fatal(err)
		}
		return pathsOf(a)
	}
	if got := at("server/router.go"); got[0] != "server/router.go" {
		t.Errorf("in server: %q", got)
	}
	if got := at("client/other.go"); got[0] != "client/http_client.go" {
		t.Errorf("in client: %q", got)
	}
}

func TestFolderAPersonIsIn(t *testing.T) {
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("core/stock.go", "package core\n\n// A shelf is empty when nothing lies on it.\nvar a int\n"),
		document("testdata/shop/stock.go", "package shop\n\n// The shelf is empty at night.\nvar b int\n"),
		document("testdata/shop/other/deep.go", "package other\n\n// Some shelf, empty or not.\nvar c int\n"),
	}))
	from := func(folder string) Answer {
		a, err := ix.Search(context.Background(), Request{Query: Parse("empty shelf", noon), At: &Position{Folder: folder}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if got := pathsOf(from("")); got[0] != "core/stock.go" {
		t.Errorf("at the top: %q", got)
	}
	a := from("testdata/shop")
	if got := pathsOf(a); !strings.HasPrefix(got[0], "testdata/shop/") {
		t.Errorf("in testdata/shop: %q", got)
	}
	for _, r := range a.Results {
		near := slices.Contains(r.Reasons, "in the current folder")
		if lower := strings.Contains(strings.Join(r.Reasons, " "), "ranked lower"); near != strings.HasPrefix(r.Path, "testdata/") || near && lower {
			t.Errorf("reasons of %s: %q", r.Path, r.Reasons)
		}
	}
	for _, r := range from("testdata/sho").Results {
		if slices.Contains(r.Reasons, "in the current folder") {
			t.Errorf("%s is near a folder whose name its own only begins with", r.Path)
		}
	}
}

func TestSince(t *testing.T) {
	docs := sampleDocuments()
	docs[0].Modified = noon.AddDate(0, 0, -10)
	ix := New(Options{})
	ix.Apply(changesOf(docs))
	if got := pathsOf(find(t, ix, "since:2d Router")); slices.Contains(got, docs[0].Path) || len(got) == 0 {
		t.Errorf("since:2d found %q", got)
	}
	docs[1].Modified = noon.AddDate(0, 0, 1)
	ix.Apply(changesOf(docs[1:2]))
	if got := pathsOf(find(t, ix, "mode:recent radix tree")); got[0] != docs[1].Path {
		t.Errorf("mode:recent found %q", got)
	}
}

func TestEmptyQuery(t *testing.T) {
	if got := find(t, sampleIndex(t), ""); len(got.Results) != 0 {
		t.Errorf("an empty query found %q", pathsOf(got))
	}
	if got := find(t, New(Options{}), "router"); len(got.Results) != 0 {
		t.Errorf("an empty index found %q", pathsOf(got))
	}
}

// Filters alone list what they leave.
func TestBrowse(t *testing.T) {
	docs := sampleDocuments()
	for i := range docs {
		docs[i].Modified = noon.Add(time.Duration(i) * time.Minute)
	}
	ix := New(Options{})
	ix.Apply(changesOf(docs))
	var newest []string
	for _, d := range slices.Backward(docs) {
		newest = append(newest, d.Path)
	}
	if got := pathsOf(find(t, ix, "mode:recent")); !slices.Equal(got, newest) {
		t.Errorf("mode:recent lists %q, want %q", got, newest)
	}
	for query, want := range map[string]func(Result) bool{
		"lang:go": func(r Result) bool { return strings.HasSuffix(r.Path, ".go") },
		"path:server/ -type:test": func(r Result) bool {
			return strings.HasPrefix(r.Path, "server/") && !strings.HasSuffix(r.Path, "_test.go")
		},
		"kind:method path:server/": func(r Result) bool { return r.Kind == syntax.KindMethod },
		"since:1h":                 func(Result) bool { return true },
	} {
		a := find(t, ix, query)
		if len(a.Results) == 0 || a.Total != len(a.Results) {
			t.Errorf("%s lists %d of %d files", query, len(a.Results), a.Total)
		}
		for _, r := range a.Results {
			if !want(r) || r.Score <= 0 || r.Score > 1 {
				t.Errorf("%s lists %+v", query, r)
			}
		}
	}
	if a := find(t, ix, "symbol:Router"); len(a.Results) != 1 || a.Results[0].Symbol != "Router" || !strings.HasPrefix(a.Results[0].Reasons[0], "declares") {
		t.Errorf("symbol:Router lists %+v", a.Results)
	}
	for query, nothing := range map[string]bool{"path:nowhere": true, "lang:cobol router": true, "path:server zzzzzz": false, "router": false} {
		if a := find(t, ix, query); a.NothingLeft != nothing {
			t.Errorf("%s: nothing left is %v", query, a.NothingLeft)
		}
	}
	if a := find(t, New(Options{}), "lang:go"); len(a.Results) != 0 {
		t.Errorf("an empty index lists %q", pathsOf(a))
	}
	if a := search1(t, ix, Request{Limit: 1}, "lang:go"); len(a.Results) != 1 || a.Total < 3 {
		t.Errorf("%d of %d files", len(a.Results), a.Total)
	}
}

// A result is shown by a declaration of the kind that was asked for, also where a plain word of
// the question names one of another kind.
func TestKindsAreKept(t *testing.T) {
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("farm.py", "class Sheep:\n    pass\n\n\ndef count_sheep(flock):\n    return len(flock)\n"),
		document("other.py", "def other():\n    pass\n"),
	}))
	for query, want := range map[string]string{
		"count sheep kind:function": "count_sheep function", "sheep in a field kind:function": "count_sheep function", "sheep in a field -kind:class": "count_sheep function",
		"sheep in a field kind:class": "Sheep class", "sheep in a field": "Sheep class",
	} {
		a := find(t, ix, query)
		if len(a.Results) == 0 || a.Results[0].Symbol+" "+string(a.Results[0].Kind) != want {
			t.Errorf("%s: %+v, want %s", query, a.Results, want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sampleIndex(t).Search(ctx, Request{Query: Parse("router", noon)}); err == nil {
		t.Error("a cancelled search succeeded")
	}
}

var words = strings.Fields(`router handle request parse config load node tree insert client server retry backoff timeout user session
	cache store query index token stream reader writer buffer error result option default value key map list`)

// randomDocument draws a small Go file.
func randomDocument(random *rand.Rand, path string) Document {
	var b strings.Builder
	word := func() string { return words[random.IntN(len(words))] }
	fmt.Fprintf(&b, "// Package %s has %s and %s.\npackage %s\n\n", word(), word(), word(), word())
	for range 1 + random.IntN(4) {
		name := word() + strings.ToUpper(word()[:1]) + word()
		fmt.Fprintf(&b, "// %s does %s with %s.\nfunc %s(%s int) { %s(%s) }\n\n", name, word(), word(), name, word(), word(), word())
	}
	return document(path, b.String())
}

// However an index came to be, it answers like one built at once, to the last bit: with
// its segments as edits left them, and after they were merged.
func TestIncrementalEqualsRebuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		state := map[string]Document{}
		ix := New(Options{})
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			var changes []Change
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				p := fmt.Sprintf("dir%d/%s.go", random.IntN(3), words[random.IntN(12)])
				if random.IntN(4) == 0 {
					delete(state, p)
					changes = append(changes, Change{Path: p})
					continue
				}
				d := randomDocument(random, p)
				state[p] = d
				changes = append(changes, Change{p, &d})
			}
			ix.Apply(changes)
		}
		var docs []Document
		for _, d := range state {
			docs = append(docs, d)
		}
		slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.Path, b.Path) })
		fresh := New(Options{})
		fresh.Apply(changesOf(docs))
		query := func(ix *Index, raw string) Answer {
			a, err := ix.Search(context.Background(), Request{Query: Parse(raw, noon), Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			a.Timings = Timings{}
			return a
		}
		rebuilt := mergeAll(fresh)
		for name, other := range map[string]*Index{"merged": mergeAll(ix), "edited": relinked(ix)} {
			for _, raw := range []string{"router handle", "parse config error", "sessionCache", `"does"`, "lang:go tree", "since:100d", "rout"} {
				if a, b := query(other, raw), query(rebuilt, raw); !reflect.DeepEqual(a, b) {
					t.Fatalf("%q\n%s  %+v\nrebuilt %+v", raw, name, a, b)
				}
			}
			sameDeclarations(t, other.Current(), rebuilt.Current())
			for _, limit := range []int{1, 3, 100} {
				for _, part := range []string{"r", "pa", "sess"} {
					if a, b := other.Current().Declared(part, nil, limit), rebuilt.Current().Declared(part, nil, limit); !reflect.DeepEqual(a, b) {
						t.Fatalf("declared %q, %d: %s %+v, rebuilt %+v", part, limit, name, a, b)
					}
				}
				code := "func parseConfig(error int) { routerHandle(cache) }"
				if a, b := other.Current().Similar(code, "", limit), rebuilt.Current().Similar(code, "", limit); !reflect.DeepEqual(a, b) {
					t.Fatalf("similar: %s %+v, rebuilt %+v", name, a, b)
				}
				if a, b := other.Current().FindSimilar(SimilarRequest{Code: code, Limit: limit}), rebuilt.Current().FindSimilar(SimilarRequest{Code: code, Limit: limit}); !reflect.DeepEqual(a, b) {
					t.Fatalf("find similar: %s %+v, rebuilt %+v", name, a, b)
				}
			}
		}
	})
}

// The same with so many chunks that the nearest in meaning are chosen by their codes first,
// where files became shorter or went: what is gone takes no place of what is left.
func TestMeaningDoesNotRememberWhatIsGone(t *testing.T) {
	const files = 2000
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 2))
		state := map[string]Document{}
		ix := New(Options{})
		path := func(i int) string { return fmt.Sprintf("dir%d/file%d.go", i%7, i) }
		var changes []Change
		for i := range files {
			d := randomDocument(random, path(i))
			state[d.Path] = d
			changes = append(changes, Change{d.Path, &d})
		}
		ix.Apply(changes)
		for range 10 {
			changes = nil
			for range 40 {
				p := path(random.IntN(files))
				d, ok := state[p]
				if !ok || random.IntN(4) == 0 {
					delete(state, p)
					changes = append(changes, Change{Path: p})
					continue
				}
				d = document(p, d.Text[:len(d.Text)/2])
				state[p] = d
				changes = append(changes, Change{p, &d})
			}
			ix.Apply(changes)
		}
		fresh := New(Options{})
		fresh.Apply(changesOf(slices.Collect(maps.Values(state))))
		rebuilt, edited := mergeAll(fresh), relinked(ix)
		if n := rebuilt.Current().liveChunks; n < 1000 {
			t.Fatalf("%d chunks: all are compared", n)
		}
		if n := edited.Current().chunks - edited.Current().liveChunks; n == 0 {
			t.Fatal("nothing is gone")
		}
		for _, raw := range []string{"retry a request after a timeout", "read the next token", "who keeps a session of a user", "where are options parsed", "write what is buffered", "walk the tree"} {
			query := Parse(raw, noon)
			got, err := edited.Search(t.Context(), Request{Query: query, Limit: files})
			want, wrong := rebuilt.Search(t.Context(), Request{Query: query, Limit: files})
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			got.Timings, want.Timings = Timings{}, Timings{}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, %q: %d found and %+v\nrebuilt %d and %+v", seed, raw, got.Total, got.Results[0], want.Total, want.Results[0])
			}
		}
	}
}

// relinked is the index as it is, with a fresh graph.
func relinked(ix *Index) *Index {
	s := *ix.Current()
	s.graph = namedGraph(&s, true)
	out := New(Options{})
	out.current.Store(&s)
	return out
}

// mergeAll is the index with all segments merged and a fresh graph.
func mergeAll(ix *Index) *Index {
	old := ix.Current()
	merged := newSnapshot([]*segment{mergeSegments(old.segments, old.dead)}, []bitset{nil}, nil, 1)
	merged.graph = namedGraph(merged, true)
	out := New(Options{})
	out.current.Store(merged)
	return out
}

// Whatever a plain scan finds is found, and nothing else.
func TestLiteralsAreContained(t *testing.T) {
	alphabet := []string{"ab", "Ba", "b_", "x.y", " ", "\n", "é", "\xff", "(", "=="}
	draw := func(t *rapid.T, label string, most int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, most).Draw(t, label), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := map[string]string{}
		var docs []Document
		for i := range rapid.IntRange(1, 8).Draw(t, "files") {
			p := fmt.Sprintf("f%d.txt", i)
			texts[p] = draw(t, "text", 60)
			docs = append(docs, document(p, texts[p]))
		}
		lit := draw(t, "literal", 4)
		if strings.TrimSpace(lit) == "" {
			t.Skip("a blank phrase is no phrase")
		}
		ix := New(Options{})
		ix.Apply(changesOf(docs))
		a, err := ix.Search(context.Background(), Request{Query: Parse(`"`+lit+`"`, noon), Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := pathsOf(a)
		slices.Sort(got)
		want := []string{}
		for p, text := range texts {
			if strings.Contains(text, lit) || lit == foldASCII(lit) && strings.Contains(foldASCII(text), lit) {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%q found %q, a scan finds %q", lit, got, want)
		}
	})
}

func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = foldByte(c)
	}
	return string(b)
}

// Searches and changes at once are safe, and a search sees one state.
func TestConcurrent(t *testing.T) {
	ix := sampleIndex(t)
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a, err := ix.Search(context.Background(), Request{Query: Parse("stamp", noon), Limit: 100})
				if err != nil {
					t.Error(err)
					return
				}
				if n := len(a.Results); n != 0 && n != 2 {
					t.Errorf("saw %d of the two files that change together", n)
					return
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		a, b := document("a.go", "package a // stamp"), document("b.go", "package b // stamp")
		changes := []Change{{"a.go", &a}, {"b.go", &b}}
		if i%3 == 0 {
			changes = []Change{{Path: "a.go"}, {Path: "b.go"}}
		}
		other := randomDocument(random, fmt.Sprintf("other%d.go", i%20))
		ix.Apply(append(changes, Change{other.Path, &other}))
	}
	close(stop)
	readers.Wait()
}

func TestDeterministic(t *testing.T) {
	ix := sampleIndex(t)
	for _, raw := range []string{"router", "handler for requests", `"node"`} {
		first := find(t, ix, raw)
		for range 5 {
			if again := find(t, ix, raw); !reflect.DeepEqual(first, again) {
				t.Fatalf("%q answered\n%+v\nthen\n%+v", raw, first, again)
			}
		}
	}
}

func TestRankFusionAndDiversity(t *testing.T) {
	ix := sampleIndex(t)
	for _, req := range []Request{
		{Query: Parse("router radix tree", noon), Fusion: FusionRank},
		{Query: Parse("router radix tree", noon), Diversity: .5},
	} {
		a, err := ix.Search(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Results) < 2 || a.Results[0].Path != "server/router.go" {
			t.Errorf("fusion %q diversity %v: %q", req.Fusion, req.Diversity, pathsOf(a))
		}
		seen := map[string]bool{}
		for _, r := range a.Results {
			if seen[r.Path] || r.Score < 0 || r.Score > 1 {
				t.Errorf("result %+v repeats or is out of range", r)
			}
			seen[r.Path] = true
		}
	}
}

func TestApplyIsQuickForOneFile(t *testing.T) {
	ix := sampleIndex(t)
	random := rand.New(rand.NewPCG(5, 6))
	var docs []Document
	for i := range 200 {
		docs = append(docs, randomDocument(random, fmt.Sprintf("pkg%d/f%d.go", i%10, i)))
	}
	ix.Apply(changesOf(docs))
	before := ix.Current()
	d := randomDocument(random, "pkg1/new.go")
	ix.Apply([]Change{{d.Path, &d}})
	after := ix.Current()
	if before.segments[0] != after.segments[0] {
		t.Error("one small change rebuilt the whole index")
	}
	if after.Generation != before.Generation+1 {
		t.Errorf("generation %d after %d", after.Generation, before.Generation)
	}
}

// Small segments are merged, large ones are not, and those of which nothing is left go
// wherever they stand.
func TestCompact(t *testing.T) {
	of := func(chunks int) *segment {
		return &segment{chunks: make([]chunk, chunks), files: []file{{path: fmt.Sprint(chunks), endChunk: uint32(chunks)}, {path: "other"}}, vectors: &lexiconVectors{}}
	}
	all := bitset{}.with(0).with(1)
	large, half := of(maxMerged), of(maxMerged/2+1)
	for _, c := range []struct {
		name     string
		segments []*segment
		dead     []bitset
		want     []*segment
	}{
		{"two large ones", []*segment{large, large}, make([]bitset, 2), []*segment{large, large}},
		{"more than one may have", []*segment{half, half}, make([]bitset, 2), []*segment{half, half}},
		{"a small one behind a large one", []*segment{large, of(1)}, make([]bitset, 2), []*segment{large, of(1)}},
		{"nothing left in the middle", []*segment{large, of(9), half}, []bitset{nil, all, nil}, []*segment{large, half}},
		{"nothing left at all", []*segment{large, half}, []bitset{all, all}, nil},
	} {
		got, dead := compact(c.segments, c.dead)
		if len(got) != len(c.want) || len(dead) != len(got) || !slices.EqualFunc(got, c.want, func(a, b *segment) bool { return len(a.chunks) == len(b.chunks) && len(a.files) == len(b.files) }) {
			t.Errorf("%s: %d segments are left", c.name, len(got))
		}
	}
	ix := New(Options{})
	for i := range 5 {
		d := document(fmt.Sprintf("f%d.go", i), "package f\n")
		ix.Apply([]Change{{d.Path, &d}})
	}
	if n := len(ix.Current().segments); n > 3 {
		t.Errorf("5 files in %d segments", n)
	}
}
