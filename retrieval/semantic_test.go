package retrieval

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cosines is a SemanticQuery that knows each chunk's cosine.
type cosines struct {
	of    map[Key]float32
	asked int // Nearest
}

func (m *cosines) Cosine(key Key) (float32, bool) {
	c, ok := m.of[key]
	return c, ok
}

func (m *cosines) Nearest(k int, among []Key) []Near {
	m.asked++
	if among == nil {
		for key := range m.of {
			among = append(among, key)
		}
	}
	near := []Near{}
	for _, key := range among {
		if c, ok := m.of[key]; ok {
			near = append(near, Near{key, c})
		}
	}
	slices.SortFunc(near, func(a, b Near) int {
		if a.Cosine != b.Cosine {
			return int(1e6 * (b.Cosine - a.Cosine))
		}
		return strings.Compare(string(a.Key[:]), string(b.Key[:]))
	})
	return near[:min(k, len(near))]
}

// means gives the chunks of the documents cosines by the first of the texts they
// contain; "" is any. A chunk that contains none is not embedded.
func means(docs []Document, texts []string, values ...float32) *cosines {
	m := &cosines{of: map[Key]float32{{1}: .99}} // one whose chunk is gone
	for _, d := range docs {
		for _, c := range d.Syntax.Chunks {
			at := slices.IndexFunc(texts, func(t string) bool { return strings.Contains(d.Text[c.Span.Start:c.Span.End], t) })
			if at >= 0 {
				m.of[c.Hash] = values[at]
			}
		}
	}
	return m
}

func search1(t *testing.T, ix *Index, req Request, raw string) Answer {
	t.Helper()
	req.Query = Parse(raw, noon)
	a, err := ix.Search(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMeaning(t *testing.T) {
	ix := sampleIndex(t)
	docs := sampleDocuments()
	m := means(docs, []string{"load_settings", "HTTPClient sends", ""}, .8, .4, .1)
	for _, c := range []struct {
		name, query string
		req         Request
		want        []string // first
		backend     string   // the last, "" if nobody asked the model
	}{
		{"no word of it is anywhere", "zzz yyy", Request{}, []string{"config/load.py"}, BackendVectors},
		{"by ranks", "zzz yyy", Request{Fusion: FusionRank}, []string{"config/load.py"}, BackendVectors},
		{"alone", "radix tree vertex", Request{Signals: SignalsSemantic}, []string{"config/load.py", "client/http_client.go"}, BackendVectors},
		{"a name, alone", "Router", Request{Signals: SignalsSemantic}, []string{"config/load.py"}, BackendVectors},
		{"a name", "Router", Request{}, []string{"server/router.go"}, ""},
		{"words alone", "radix tree vertex", Request{Signals: SignalsLexical}, []string{"server/node.go"}, ""},
		{"of one language", "lang:go zzz yyy", Request{}, []string{"client/http_client.go"}, BackendVectors},
		{"of one folder", "path:server/ zzz yyy", Request{Signals: SignalsSemantic}, nil, BackendVectors},
		{"of nothing", "lang:cobol zzz yyy", Request{}, []string{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.asked = 0
			c.req.Semantic = m
			a := search1(t, ix, c.req, c.query)
			got := pathsOf(a)
			if c.want != nil && (len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) || len(c.want) == 0 && len(got) > 0) {
				t.Errorf("found %q, want %q first", got, c.want)
			}
			for _, p := range got {
				if strings.HasPrefix(c.query, "path:server/") && !strings.HasPrefix(p, "server/") || strings.HasPrefix(c.query, "lang:go") && !strings.HasSuffix(p, ".go") {
					t.Errorf("found %s", p)
				}
			}
			spoke := slices.Contains(a.Backend, BackendVectors) || slices.Contains(a.Backend, BackendSomeVectors)
			if spoke != (c.backend != "") || c.backend != "" && !slices.Contains(a.Backend, c.backend) {
				t.Errorf("backend %q, want %q", a.Backend, c.backend)
			}
			if c.req.Signals == SignalsSemantic && slices.Contains(a.Backend, "lexical") {
				t.Errorf("backend %q of a search by meaning alone", a.Backend)
			}
			if c.backend == "" && c.query != "lang:cobol zzz yyy" && m.asked > 0 {
				t.Error("the model was asked")
			}
		})
	}
	if a := search1(t, ix, Request{Semantic: m}, "zzz yyy"); a.Results[0].Reasons[0] != "close in meaning" || a.Results[0].Symbol != "load_settings" {
		t.Errorf("first result %+v", a.Results[0])
	}
}

// While some chunks have no vector, the answer says so and finds them by words.
func TestMeaningOfSomeChunks(t *testing.T) {
	ix := sampleIndex(t)
	m := means(sampleDocuments(), []string{"load_settings"}, .8)
	a := search1(t, ix, Request{Semantic: m}, "radix tree vertex")
	if got := pathsOf(a); got[0] != "server/node.go" || !slices.Contains(got, "config/load.py") || !slices.Contains(a.Backend, BackendSomeVectors) {
		t.Errorf("found %q by %q", got, a.Backend)
	}
	if a := search1(t, ix, Request{Semantic: means(sampleDocuments(), []string{"DEFAULT_TIMEOUT = 30"}, .8), Signals: SignalsSemantic}, "zzz"); len(a.Results) != 1 || !slices.Contains(a.Backend, BackendVectors) {
		t.Errorf("found %q by %q, all of whose chunks are embedded", pathsOf(a), a.Backend)
	}
	none := search1(t, ix, Request{Semantic: &cosines{}}, "radix tree vertex")
	without := search1(t, ix, Request{}, "radix tree vertex")
	if got, want := fmt.Sprint(none.Results, none.Backend), fmt.Sprint(without.Results, without.Backend); got != want {
		t.Errorf("with no vectors at all\n%s\nwithout a model\n%s", got, want)
	}
}

// In a file, meaning leads to the place that the words do not name.
func TestMeaningChoosesThePlace(t *testing.T) {
	var b strings.Builder
	b.WriteString("package queue\n")
	for _, name := range []string{"Fill", "Drain", "Abort", "Flush"} {
		fmt.Fprintf(&b, "\n// %s works on the queue.\nfunc (q *Queue) %s() {\n%s}\n", name, name, strings.Repeat("\tq.step(q.items, q.items)\n", 60))
	}
	d := document("queue/queue.go", b.String())
	ix := New(Options{})
	ix.Apply(changesOf([]Document{d}))
	m := means([]Document{d}, []string{") Abort()", ""}, .7, .2)
	if a := search1(t, ix, Request{Semantic: m}, "throw away what the queue has"); a.Results[0].Symbol != "Queue.Abort" {
		t.Errorf("found %+v", a.Results[0])
	}
}

// Keys survive merges of segments and replaced files.
func TestKeysOfASnapshot(t *testing.T) {
	ix := New(Options{})
	docs := sampleDocuments()
	for i := range docs {
		ix.Apply([]Change{{docs[i].Path, &docs[i]}})
	}
	ix.Apply([]Change{{Path: docs[0].Path}})
	s := ix.Current()
	for i, d := range docs {
		for _, c := range d.Syntax.Chunks {
			var at []string
			s.withKey(c.Hash, func(chunk uint32) {
				f := s.file(s.fileOfChunk(chunk))
				at = append(at, f.path)
				if s.keyOf(chunk) != c.Hash {
					t.Errorf("a chunk of %s has another key than it was found by", f.path)
				}
			})
			want := []string{d.Path}
			if i == 0 {
				want = nil
			}
			if !slices.Equal(at, want) {
				t.Errorf("a chunk of %s is found in %q", d.Path, at)
			}
		}
	}
}

// A guess by how large a key is finds what bisecting finds, however the keys are spread.
func TestFirstWithKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesOf := rapid.Byte()
		if rapid.Bool().Draw(t, "uneven") {
			bytesOf = rapid.SampledFrom([]byte{0, 1, 255})
		}
		key := rapid.Custom(func(t *rapid.T) (k Key) {
			copy(k[:], rapid.SliceOfN(bytesOf, 9, 9).Draw(t, "key"))
			return k
		})
		s := &segment{textKeys: rapid.SliceOfN(key, 0, 300).Draw(t, "keys")}
		s.sortKeys()
		for _, k := range append(slices.Clone(s.textKeys), Key{}, key.Draw(t, "other"), Key(bytes.Repeat([]byte{255}, 16))) {
			want, _ := slices.BinarySearchFunc(s.byText, k, func(c uint32, k Key) int { return bytes.Compare(s.textKeys[c][:], k[:]) })
			if got := s.firstWithKey(k); got != want {
				t.Fatalf("%x: %d, want %d", k, got, want)
			}
		}
	})
}
