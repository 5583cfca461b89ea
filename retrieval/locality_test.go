package retrieval

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Where a file stands to the user, and how long ago it was opened, is worth what it was
// weighed to be: the order of two files that hold the same depends on nothing else.
func TestLocalityByPlace(t *testing.T) {
	const decay = .85
	open := make([]string, 6)
	for i := range open {
		open[i] = fmt.Sprintf("open%d/a.go", i)
	}
	near := func(at *Position, p string) float64 {
		sr := &search{sc: new(scratch), snap: newSnapshot(nil, nil, &graph{starts: []uint32{0}}, 0), req: &Request{At: at}}
		sr.sc.candidates = []candidate{{meta: &file{path: p}, node: -1}}
		sr.localities()
		return float64(sr.sc.candidates[0].signals[sigLocality])
	}
	at := &Position{Path: "here/a.go", Open: open, Recent: []string{"recent0/a.go", "recent1/a.go", "recent2/a.go", "here/lately.go", "open3/a.go", "here/a.go"}}
	for p, want := range map[string]float64{
		"here/a.go": 1, "here/b.go": .5, "there/a.go": 0,
		"open0/a.go": .7, "open1/a.go": .7 * decay, "open5/a.go": .7 * math.Pow(decay, 5),
		"recent0/a.go": .5, "recent1/a.go": .5 * decay, "recent2/a.go": .5 * decay * decay,
		"here/lately.go": .5 + .25*math.Pow(decay, 3), "open3/a.go": .7*math.Pow(decay, 3) + .25*math.Pow(decay, 4),
	} {
		if got := near(at, p); math.Abs(got-want) > 1e-5 {
			t.Errorf("%s is near by %.4f, want %.4f", p, got, want)
		}
	}
}

// A file that is open beats one that is not, and the one opened last the others.
func TestOpenFilesComeFirst(t *testing.T) {
	ix := New(Options{})
	var docs []Document
	for _, dir := range []string{"a", "b", "c", "d"} {
		docs = append(docs, document(dir+"/retry.go", "package "+dir+"\n\n// Retry asks again.\nfunc Retry() {}\n"))
	}
	ix.Apply(changesOf(docs))
	a := search1(t, ix, Request{At: &Position{Open: []string{"d/retry.go", "c/retry.go"}}}, "ask again with retry")
	if got := pathsOf(a); len(got) != 4 || got[0] != "d/retry.go" || got[1] != "c/retry.go" {
		t.Errorf("found %q, want the file opened last first, then the other open one", got)
	}
}

// A file that is linked with the current one, as by an import, beats those that are not.
func TestLinkedFilesComeFirst(t *testing.T) {
	ix := New(Options{Linked: true})
	var docs []Document
	var links []Link
	for _, dir := range []string{"a", "b", "c", "d"} { // each is used by one, so that none has a higher rank
		docs = append(docs, document(dir+"/retry.go", "package "+dir+"\n\n// Retry asks again.\nfunc Retry() {}\n"), document("user/"+dir+".go", "package user\n\nfunc use() {}\n"))
		links = append(links, Link{From: "user/" + dir + ".go", To: dir + "/retry.go", Weight: 1})
	}
	ix.Apply(changesOf(docs))
	ix.SetLinks(links)
	a := search1(t, ix, Request{At: &Position{Path: "user/d.go"}}, "ask again with retry")
	if got := pathsOf(a); len(got) != 4 || got[0] != "d/retry.go" || !slices.Contains(a.Results[0].Reasons, "linked with the current file") {
		t.Errorf("found %q, want the linked one first: %q", got, a.Results[0].Reasons)
	}
	if got := pathsOf(search1(t, ix, Request{At: &Position{Path: "main/app.go"}}, "ask again with retry")); got[0] == "d/retry.go" {
		t.Errorf("found %q first elsewhere, too, so that this shows nothing", got)
	}
}

// Of files that are as near as each other the one edited lately comes first, in one package too, and
// where one works in it stays first.
func TestRecencyCountsBesideNearness(t *testing.T) {
	ix := New(Options{})
	var docs []Document
	for _, name := range []string{"a", "b", "c", "d"} {
		docs = append(docs, document("pier/"+name+".go", "package pier\n\n// Retry"+name+" asks again.\nfunc Retry"+name+"() {}\n"))
	}
	ix.Apply(changesOf(docs))
	at := &Position{Path: "pier/d.go", Recent: []string{"pier/c.go", "pier/b.go", "pier/d.go"}}
	a := search1(t, ix, Request{At: at}, "ask again")
	if got := pathsOf(a); len(got) != 4 || got[0] != "pier/d.go" || got[1] != "pier/c.go" || got[2] != "pier/b.go" {
		t.Errorf("found %q, want the current file and those edited lately in their order", got)
	}
	if why := strings.Join(a.Results[1].Reasons, "; "); !strings.Contains(why, "in the folder of the current file, recently edited or viewed") {
		t.Errorf("%s: %s", a.Results[1].Path, why)
	}
	if why := strings.Join(a.Results[0].Reasons, "; "); a.Results[0].Score > 1 {
		t.Errorf("%.3f: %s", a.Results[0].Score, why)
	}
}
