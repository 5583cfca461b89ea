package retrieval

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"quarry/index/snapshot"
)

// stored writes a snapshot to a file and opens that.
func stored(t *testing.T, s *Snapshot) *snapshot.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snapshot")
	n, sections, _ := s.Sections()
	if err := snapshot.Write(path, StoredVersion, n, sections); err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Open(path, StoredVersion)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sameAnswers compares two indexes by every kind of question.
func sameAnswers(t *testing.T, got, want *Index) {
	t.Helper()
	for _, q := range []string{"router", "retries with backoff", "HTTPClient", "load settings lang:python", "kind:struct client", "setings", "symbol:Send", "path:server", "type:doc router", "", "number 7"} {
		if a, b := find(t, got, q), find(t, want, q); !reflect.DeepEqual(a, b) {
			t.Errorf("%q\ngot  %+v\nwant %+v", q, a, b)
		}
	}
	for _, name := range []string{"Send", "router", "load", "Clint", "stamp"} {
		if a, b := got.Current().Declared(name, nil, 10), want.Current().Declared(name, nil, 10); !reflect.DeepEqual(a, b) {
			t.Errorf("declared %q: %+v, want %+v", name, a, b)
		}
	}
	sameDeclarations(t, got.Current(), want.Current())
	code := "func (c *HTTPClient) Send(r *server.Router) error"
	if a, b := got.Current().Similar(code, "", 5), want.Current().Similar(code, "", 5); !reflect.DeepEqual(a, b) {
		t.Errorf("similar: %+v, want %+v", a, b)
	}
	if a, b := got.Current().FindSimilar(SimilarRequest{Code: code}), want.Current().FindSimilar(SimilarRequest{Code: code}); !reflect.DeepEqual(a, b) {
		t.Errorf("find similar: %+v, want %+v", a, b)
	}
}

// sameDeclarations compares what completion asks of two snapshots.
func sameDeclarations(t interface{ Errorf(string, ...any) }, got, want *Snapshot) {
	describe := func(s *Snapshot, ids []DeclarationID) (list []string) {
		for _, id := range ids {
			d := s.Signature(id)
			text := fmt.Sprintf("%s:%d-%d %s %s.%s %q used by %d:", s.Path(d.File), d.Line, d.End, d.Kind, d.Container, d.Name, s.SignatureText(id), s.UsedBy(d.Name))
			s.Around(id, 2, func(id DeclarationID, away int) { text += fmt.Sprint(" ", s.Signature(id).Name, away) })
			list = append(list, text)
		}
		slices.Sort(list)
		return list
	}
	names := map[string]bool{"nobody": true, "": true}
	folders := map[string]bool{"none": true}
	for _, s := range []*Snapshot{got, want} {
		for dir := range s.Folders() {
			folders[dir] = true
		}
		for _, p := range s.Paths() {
			f, _ := s.FileAt(p)
			for d := range s.DeclaredIn(f) {
				names[s.Signature(d).Name] = true
			}
		}
	}
	for name := range names {
		if a, b := describe(got, got.DeclarationsOf(name)), describe(want, want.DeclarationsOf(name)); !slices.Equal(a, b) {
			t.Errorf("declarations of %q\ngot  %q\nwant %q", name, a, b)
		}
		if a, b := describe(got, got.MembersOf(name)), describe(want, want.MembersOf(name)); !slices.Equal(a, b) {
			t.Errorf("members of %q\ngot  %q\nwant %q", name, a, b)
		}
	}
	files := func(s *Snapshot, dir string) (list []string) {
		for _, f := range s.FilesIn(dir) {
			list = append(list, fmt.Sprint(s.Path(f), s.Language(f), slices.Sorted(s.Uses(f)), s.Imports(f), describe(s, slices.Collect(s.DeclaredIn(f)))))
		}
		return list
	}
	for dir := range folders {
		if a, b := files(got, dir), files(want, dir); !slices.Equal(a, b) {
			t.Errorf("in %s\ngot  %q\nwant %q", dir, a, b)
		}
	}
}

// What is kept in a file answers as what it was made of, and goes on changing as it does.
func TestStoredIndexAnswersTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edit := func(n int) Change {
		p := fmt.Sprintf("pkg%d/file%d.go", random.IntN(3), random.IntN(6))
		if random.IntN(4) == 0 {
			return Change{Path: p}
		}
		d := document(p, fmt.Sprintf("package pkg\n\n// number %d of the routers\nfunc stamp%d(c *HTTPClient) { Send(%d) }\n", n, n, n))
		return Change{p, &d}
	}
	for round := range 20 {
		ix := sampleIndex(t)
		ix.SetLinks([]Link{{"client/http_client.go", "server/router.go", 1}})
		for n := range random.IntN(12) {
			ix.Apply([]Change{edit(n)})
		}
		links := []Link{{"pkg1/file1.go", "server/router.go", 1}, {"client/http_client.go", "server/router.go", 2}}
		ix.SetLinks(links)
		want := New(Options{Project: "sample"})
		old := ix.Current()
		want.current.Store(newSnapshot([]*segment{mergeSegments(old.segments, old.dead)}, []bitset{nil}, old.graph, 1))

		f := stored(t, ix.Current())
		got := New(Options{Project: "sample", Text: nil})
		if err := got.Restore(f.Sections, f); err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Current().segments { // texts are not kept; the scan of them is another test's
			for i := range s.files {
				at, _ := want.Current().segments[0].fileAt(s.files[i].path)
				s.files[i].text = want.Current().segments[0].files[at].text
			}
		}
		sameAnswers(t, got, want)

		// What changes while the file is written stays on top of it.
		old = ix.Current()
		_, pieces, paths := old.Sections()
		sections := slices.Collect(pieces)
		if len(paths) != old.files-old.dead[0].count()-deadElsewhere(old) {
			t.Errorf("round %d: %d paths", round, len(paths))
		}
		more := []Change{edit(100), edit(101)}
		live := New(Options{Project: "sample"})
		live.current.Store(old)
		live.linked, live.links = true, links
		live.Apply(more)
		if ok, err := live.Swap(old, sections, nil); err != nil {
			t.Fatal(err)
		} else if ok {
			again := New(Options{Project: "sample"})
			if err := again.Restore(sections, nil); err != nil {
				t.Fatal(err)
			}
			again.Apply(more)
			for _, x := range []*Index{live, again} {
				x.SetLinks(links)
				x.options.Text = func(string) (string, error) { return "", nil }
			}
			sameAnswers(t, live, again)
		}
	}
}

func deadElsewhere(s *Snapshot) (n int) {
	for _, d := range s.dead[1:] {
		n += d.count()
	}
	return n
}

// Sections that are none, or of an index cut short, are refused.
func TestRestoreRefusesWhatItDoesNotKnow(t *testing.T) {
	n, pieces, _ := sampleIndex(t).Current().Sections()
	sections := slices.Collect(pieces)
	if len(sections) != n {
		t.Fatalf("%d sections, %d announced", len(sections), n)
	}
	for i := range sections {
		spoilt := append([][]byte(nil), sections...)
		spoilt[i] = bytes.Repeat([]byte{0xff}, 8)
		ix := New(Options{})
		_ = ix.Restore(spoilt, nil) // what a checksum would have told; it must not end the process
	}
	ix := New(Options{})
	if err := ix.Restore(sections[1:], nil); err == nil || ix.Current().Files() != 0 {
		t.Error("took sections of another kind")
	}
}
