package completion

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// edited is a journal that has seen the versions of documents of one folder, by path.
func edited(t *testing.T, versions ...string) (*journal, Request) {
	t.Helper()
	j, req := &journal{}, Request{}
	for i, v := range versions {
		path, text, _ := strings.Cut(v, ":\n")
		req = Request{Key: path, Document: Document{Root: "/w", Path: path, Language: "go", Text: text}, Version: int32(i)}
		j.note(req, time.Unix(1000, 0))
	}
	return j, req
}

var filler = strings.Repeat("\tstep(1, 2, 3)\n", 10)

// What is shown of the last edits, and what is not.
func TestLastEdits(t *testing.T) {
	const now = 1001
	for _, tt := range []struct {
		name     string
		versions []string
		open     []string // files that are open beside the last one
		offset   int
		want     []string
	}{
		{"another file", []string{"a.go:\nfunc f(a int)\n", "a.go:\nfunc f(ctx C, a int)\n", "b.go:\nf(1)\n"}, []string{"a.go"}, 0,
			[]string{"func f(ctx C, a int)"}},
		{"keystrokes are one", []string{"a.go:\nx\n", "a.go:\nxy\n", "a.go:\nxyz\n", "a.go:\nxyz\nw\n", "b.go:\n"}, []string{"a.go"}, 0, []string{"xyz\nw"}},
		{"known for a secret once it was named", []string{"a.go:\nvar x = \"c2VjcmV0\"\n", "a.go:\nvar key = \"xxxxxxxx\"\n", "b.go:\n"}, []string{"a.go"}, 0, []string{"var key = \"xxxxxxxx\""}},
		{"undone", []string{"a.go:\nx\n", "a.go:\nxy\n", "a.go:\nx\n", "b.go:\n"}, []string{"a.go"}, 0, nil},
		{"blanks only", []string{"a.go:\nx\n", "a.go:\nx\n\n\n", "b.go:\n"}, []string{"a.go"}, 0, nil},
		{"a file that is not open, or not to be shown", []string{"a.go:\nx\n", "a.go:\ny\n", "b.go:\n"}, nil, 0, nil},
		{"at the cursor", []string{"a.go:\nx\n", "a.go:\nxy\n"}, nil, 2, nil},
		{"elsewhere in the document", []string{"a.go:\nx\n" + filler, "a.go:\nxy\n" + filler}, nil, 3 + len(filler), []string{"xy"}},
		{"two places, then lines above them", []string{
			"a.go:\ntop\n" + filler + "first\n" + filler + "second\n", "a.go:\ntop\n" + filler + "first!\n" + filler + "second\n",
			"a.go:\ntop\n" + filler + "first!\n" + filler + "second!\n", "a.go:\nabove()\ntop\n" + filler + "first!\n" + filler + "second!\n", "b.go:\n",
		}, []string{"a.go"}, 0, []string{"above()", "first!", "second!"}},
		{"a file that was formatted", []string{"a.go:\n" + strings.Repeat("x\n", 900), "a.go:\n" + strings.Repeat("\tx\n", 900), "b.go:\n"}, []string{"a.go"}, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, req := edited(t, tt.versions...)
			req.Offset = tt.offset
			for _, path := range tt.open {
				req.Open = append(req.Open, j.seen["/w\x00"+path].Document)
			}
			var got []string
			for _, sn := range j.snippets(req, time.Unix(now, 0)) {
				if got = append(got, sn.Text); sn.Why != lastEdit {
					t.Errorf("why: %q", sn.Why)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for i := range req.Open {
				req.Open[i].Text += "and what was typed since"
			}
			if stale := j.snippets(req, time.Unix(now, 0)); len(req.Open) > 0 && len(stale) != 0 {
				t.Errorf("of documents that went on since: %+v", stale)
			}
			if late := j.snippets(req, time.Unix(now, 0).Add(editsFor)); len(late) != 0 {
				t.Errorf("ten minutes later: %+v", late)
			}
			for _, v := range tt.versions {
				path, _, _ := strings.Cut(v, ":\n")
				j.forget(path)
			}
			if len(j.changes)+len(j.seen) != 0 {
				t.Errorf("kept of closed documents: %+v", j)
			}
		})
	}
	j, req := edited(t, "a.go:\nx\n", "a.go:\ny\n", "b.go:\n")
	req.Root, req.Open = "/other", []Document{{Root: "/w", Path: "a.go"}}
	if got := j.snippets(req, time.Unix(now, 0)); len(got) != 0 {
		t.Errorf("in another folder of the workspace: %+v", got)
	}
}

// The first change of a document is known, though no request came before it, and those of
// open documents that no request is for; of a name changed in some places, each place.
func TestFirstChangesAreKnown(t *testing.T) {
	body := "func f(a int) {\n" + filler + "}\n" + filler
	doc := func(path, opened, text string) Document {
		return Document{Root: "/w", Path: path, Language: "go", Opened: opened, Text: text}
	}
	changed := doc("a.go", body, strings.ReplaceAll(body, "a int", "ctx C, a int"))
	b := Request{Key: "b", Document: doc("b.go", "f(1)\n", "f(1)\n"), Offset: 2}
	b.Open = []Document{changed}
	for name, before := range map[string][]Request{
		"no request in it":      nil,
		"a request behind it":   {{Key: "a", Document: changed, Offset: 3}},
		"a request far from it": {{Key: "a", Document: changed, Offset: len(changed.Text)}},
	} {
		j := &journal{}
		for _, req := range append(before, b) {
			j.note(req, time.Unix(1000, 0))
		}
		if got := j.snippets(b, time.Unix(1001, 0)); len(got) != 1 || got[0].Text != "func f(ctx C, a int) {" || got[0].StartLine != 1 {
			t.Errorf("%s: %+v", name, got)
		}
		j.note(Request{Key: "b", Document: b.Document}, time.Unix(1002, 0))
		if got := j.snippets(b, time.Unix(1003, 0)); len(before) == 0 && len(got) != 0 {
			t.Errorf("%s: of a closed document %+v", name, got)
		}
	}

	j := &journal{}
	was := "use(old)\n" + filler + filler + "use(old)\n" + filler + filler + "use(old)\n"
	b.Open = []Document{doc("a.go", was, strings.ReplaceAll(was, "old", "fresh"))}
	j.note(b, time.Unix(1000, 0))
	if got := j.snippets(b, time.Unix(1001, 0)); len(got) != 3 || got[0].Text != "use(fresh)" {
		t.Errorf("a name changed everywhere: %+v", got)
	}
	j = &journal{}
	b.Open = []Document{doc("a.go", strings.Repeat("x\ny\n", 400), strings.Repeat("\tx\ny\n", 400))}
	if j.note(b, time.Unix(1000, 0)); len(j.changes) != 0 {
		t.Errorf("a file that was formatted: %+v", j.changes)
	}
}

// However a document changes, what its journal holds is where it says, whole lines, and
// putting back what was there before gives the document as it was.
func TestJournalFollowsTheText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var lines []string
		for i := range 60 {
			lines = append(lines, fmt.Sprintf("line %d of the document", i))
		}
		text := strings.Join(lines, "\n")
		first := text
		j := &journal{}
		note := func(version int) {
			j.note(Request{Key: "k", Document: Document{Text: text}, Version: int32(version)}, time.Unix(1000, 0))
		}
		note(0)
		for version := range rapid.IntRange(1, keptEdits).Draw(rt, "edits") {
			from := rapid.IntRange(0, len(text)).Draw(rt, "from")
			to := min(len(text), from+rapid.IntRange(0, 60).Draw(rt, "removed"))
			text = text[:from] + rapid.SampledFrom([]string{"", "x", "two\nlines", "\n", "\r\n", "é"}).Draw(rt, "added") + text[to:]
			note(version + 1)
			back := text
			changes := slices.Clone(j.changes)
			slices.SortFunc(changes, func(a, b change) int { return b.start - a.start })
			for i, c := range changes {
				if c.start < 0 || c.end > len(text) || c.start > c.end || i > 0 && c.end > changes[i-1].start {
					rt.Fatalf("changes %+v of %d bytes", changes, len(text))
				}
				back = back[:c.start] + c.before + back[c.end:]
			}
			if back != first {
				rt.Fatalf("put back:\n%q\nwas:\n%q\nchanges %+v", back, first, changes)
			}
		}
	})
}

// The head holds the last edits, behind code of other places, frozen with it.
func TestPromptShowsTheLastEdits(t *testing.T) {
	e := newEngine(t, says("x"), Options{Context: &finder{found: []Snippet{openSnippet}}})
	a := at0(t, "a", "a.go", "func f(a int)‸\n")
	complete(t, e, a)
	a.Text, a.Version = "func f(ctx C, a int)\n", 1
	complete(t, e, a)
	b := at0(t, "b", "b.go", "f(‸\n")
	b.Open = []Document{a.Document}
	const head = "// store/open.go\n// func Open(path string) (*Store, error)\n// a.go\n// func f(ctx C, a int)\n// b.go, go, indent tabs\n"
	first := complete(t, e, b)
	if !strings.Contains(first.Prompt.Text, head) {
		t.Errorf("the prompt begins %q", first.Prompt.Text)
	}
	b.Text, b.Offset, b.Version = "f(c\n", 3, 1
	if res := complete(t, e, b); !strings.Contains(res.Prompt.Text, head) {
		t.Errorf("while typing it begins %q", res.Prompt.Text)
	}
}
