package retrieval

import (
	"slices"
	"testing"
)

const drawn = `package shapes

func fillRect(canvas *Canvas, pixel Color, width, height int) {
	for x := range width {
		canvas.draw(x, height, pixel)
	}
}
`

// What shares no word with a question is found if it is what programmers call the thing,
// and in a workspace of a few files the nearest of what has nothing to do with it is not.
func TestLexiconAdmitsWhatStandsOut(t *testing.T) {
	const question = "forgot my password"
	ix := New(Options{})
	ix.Apply(changesOf([]Document{document("a/shapes.go", drawn), document("b/pixels.go", drawn), document("c/frame.go", drawn)}))
	if got := pathsOf(find(t, ix, question)); len(got) > 0 {
		t.Errorf("in code that draws, %q found %q", question, got)
	}
	ix.Apply(changesOf([]Document{document("d/creds.go", `package creds

func verifyHash(login, salt, secret string) (token string, err error) {
	return authenticate(login, bcrypt(secret, salt))
}
`)}))
	a := find(t, ix, question)
	if got := pathsOf(a); !slices.Equal(got, []string{"d/creds.go"}) {
		t.Errorf("%q found %q, want the code that logs in alone", question, got)
	} else if !slices.Contains(a.Results[0].Reasons, "close in meaning") || !slices.Contains(a.Backend, BackendLexicon) {
		t.Errorf("it was found by %q, says %q", a.Results[0].Reasons, a.Backend)
	}
}

// What stands out does not hang on how chunks lie in segments.
func TestStandsOutIsOfTheChunksAlone(t *testing.T) {
	var docs []Document
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		docs = append(docs, document(name+"/x.go", "package "+name+"\n\nfunc "+name+"Token(password string) {}\n"))
	}
	floors := map[float32]bool{}
	for _, n := range []int{1, 2, 6} {
		ix := New(Options{})
		for part := range slices.Chunk(docs, n) {
			ix.Apply(changesOf(part))
		}
		sr := &search{snap: ix.Current(), query: analyzed{words: []string{"password"}}}
		floor, clear := sr.askLexicon().(lexiconQuery).standsOut()
		if floor >= clear {
			t.Errorf("to stand out takes %.3f, clearly %.3f", floor, clear)
		}
		floors[floor] = true
	}
	if len(floors) != 1 {
		t.Errorf("one code, in different segments, has the floors %v", floors)
	}
}

// What a chunk's cosine is, is the same whether it is asked for by its key or by its place, with
// copies of it under other names, in other segments, and with some that are gone.
func TestCosineByPlace(t *testing.T) {
	for _, n := range []int{1, 3, 9} { // files a segment
		var docs []Document
		for _, name := range []string{"a", "token", "password", "b", "login", "c", "salt", "d", "e"} {
			docs = append(docs, document(name+"/x.go", drawn), document(name+"/y.go", "package y\n\nfunc "+name+"Token(password string) {}\n"))
		}
		ix := New(Options{})
		for part := range slices.Chunk(docs, n) {
			ix.Apply(changesOf(part))
		}
		ix.Apply([]Change{{Path: docs[2].Path}, {Path: docs[9].Path}})
		s := ix.Current()
		sr := &search{snap: s, query: analyzed{words: []string{"password"}}}
		q, asked := sr.askLexicon().(lexiconQuery), 0
		for k, seg := range s.segments {
			for c := range seg.chunks {
				if s.dead[k].has(int(seg.chunks[c].file)) {
					continue
				}
				asked++
				want, wantOK := q.Cosine(seg.textKeys[c])
				if got, ok := q.cosineOf(s.chunkBase[k] + uint32(c)); got != want || ok != wantOK || !ok {
					t.Errorf("%d files a segment, chunk %d of %s: %v, %t, want %v, %t", n, c, seg.files[seg.chunks[c].file].path, got, ok, want, wantOK)
				}
			}
		}
		if asked < len(docs)-2 {
			t.Errorf("only %d chunks were asked for", asked)
		}
	}
}
