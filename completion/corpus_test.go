package completion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tree is the Files of one folder of the workspace, "/w".
type tree struct {
	texts map[string]string
	left  map[string]bool // out by a rule
	read  []string        // in order
	each  func()          // called for each file that is read, if not nil
	early bool            // nobody knows yet which files there are
}

func (f *tree) Paths(root string) ([]string, bool) {
	if root != "/w" || f.early {
		return nil, false
	}
	return slices.Sorted(maps.Keys(f.texts)), true
}

func (f *tree) Allows(_, path string) bool { return !f.left[path] }

func (f *tree) FileText(_, path string) (string, error) {
	f.read = append(f.read, path)
	if f.each != nil {
		f.each()
	}
	if f.texts[path] == "" {
		return "", errors.New("not to be read")
	}
	return f.texts[path], nil
}

// Nothing is read before the model-free engine is asked; then the files nearest to the
// document are read first, and once.
func TestRepositoryIsReadWhenAsked(t *testing.T) {
	files := &tree{texts: map[string]string{
		"a/b/near.go": "\tserver.Near(mux, beside)\n", "a/up.go": "\tserver.Up(mux, above)\n", "z/far.go": "\tserver.Far(mux, away)\n",
		"a/b/data.json": "{}\n", "a/b/secret.go": "",
	}}
	r := NewRepository(files)
	e := newEngine(t, nil, Options{Repository: r})
	ask := func(ctx context.Context, call string) string {
		t.Helper()
		req := at(t, "a/b/doc.go", "go", "\t"+call+"‸\n")
		req.Root, req.Manual = "/w", true
		res, err := e.Complete(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Items) == 0 {
			return ""
		}
		return res.Items[0].Text
	}
	r.Changed("/w", "a/up.go", "\tserver.Up(mux, unasked)\n")
	if len(files.read) != 0 || r.corpus != nil {
		t.Errorf("read before anybody asked: %q", files.read)
	}
	for call, want := range map[string]string{"server.Near(mux, ": "beside)", "server.Up(mux, ": "above)", "server.Far(mux, ": "away)"} {
		if got := ask(t.Context(), call); got != want {
			t.Errorf("%s%q, want %q", call, got, want)
		}
	}
	var first []string
	for _, p := range files.read {
		if !slices.Contains(first, p) { // what cannot be read is tried again
			first = append(first, p)
		}
	}
	if want := []string{"a/b/data.json", "a/b/near.go", "a/b/secret.go", "a/up.go", "z/far.go"}; !slices.Equal(first, want) {
		t.Errorf("read %q, want %q", first, want)
	}
	before := len(files.read)
	r.Changed("/w", "a/up.go", "\tserver.Up(mux, changed)\n")
	if got := ask(t.Context(), "server.Up(mux, "); got != "changed)" || len(files.read) != before {
		t.Errorf("after a change: %q, %d files read again", got, len(files.read)-before)
	}
	r.Remove("/w", "a/up.go")
	if got := ask(t.Context(), "server.Up(mux, "); got == "changed)" {
		t.Errorf("after it went: %q", got)
	}
}

// A request that is overtaken stops reading, and the next one goes on.
func TestRepositoryGoesOnWhereItStopped(t *testing.T) {
	files := &tree{texts: map[string]string{"x/one.go": "\tone(1)\n", "x/two.go": "\ttwo(2)\n", "y/three.go": "\tthree(3)\n"}}
	r := NewRepository(files)
	ctx, cancel := context.WithCancel(t.Context())
	files.each = cancel
	d := &Request{Document: Document{Root: "/w", Path: "x/doc.go"}}
	r.read(ctx, d)
	if len(files.read) != 1 {
		t.Fatalf("read %q after the request was overtaken", files.read)
	}
	r.read(t.Context(), d)
	slices.Sort(files.read)
	if want := []string{"x/one.go", "x/two.go", "y/three.go"}; !slices.Equal(files.read, want) {
		t.Errorf("read %q, want %q", files.read, want)
	}
	// A document of another folder has the files beside it, though the corpus is full.
	r.corpus.limit = r.corpus.used
	files.texts["z/late.go"] = "\tlate(4)\n"
	r.read(t.Context(), &Request{Document: Document{Root: "/w", Path: "z/doc.go"}})
	if _, ok := r.corpus.byKey[fileKey{"/w", "z/late.go"}]; !ok || r.corpus.used > r.corpus.limit {
		t.Errorf("beside the document: known %v, %d tokens of %d", ok, r.corpus.used, r.corpus.limit)
	}
}

// A rule may be newer than what was learned: nothing is copied from a file that it leaves
// out.
func TestNothingIsCopiedFromWhatIsLeftOut(t *testing.T) {
	const line = "\tserver.Register(mux, secretly, handler)\n"
	files := &tree{texts: map[string]string{"a/x.go": line + line + line}, left: map[string]bool{}}
	e := newEngine(t, nil, Options{Repository: NewRepository(files)})
	ask := func() []Item {
		req := at0(t, "a/a.go", "a/a.go", "func f() {\n\tserver.Register(‸\n}\n")
		req.Root, req.Manual = "/w", true
		return complete(t, e, req).Items
	}
	if got := ask(); len(got) == 0 || !strings.Contains(got[0].Text, "secretly") {
		t.Fatalf("learned: %+v", got)
	}
	files.left["a/x.go"] = true
	for _, it := range ask() {
		if strings.Contains(it.Text, "secretly") {
			t.Errorf("copied: %q", it.Text)
		}
	}
}

// Who completes before the index is open has the files as soon as it is.
func TestRepositoryIsReadOnceItIsKnown(t *testing.T) {
	const line = "\tserver.Register(mux, gladly, handler)\n"
	files := &tree{texts: map[string]string{"a/x.go": line}, early: true}
	e := newEngine(t, nil, Options{Repository: NewRepository(files)})
	ask := func() []Item {
		req := at0(t, "a/a.go", "a/a.go", "func f() {\n\tserver.Register(‸\n}\n")
		req.Root, req.Manual = "/w", true
		return complete(t, e, req).Items
	}
	if got := ask(); len(got) > 0 {
		t.Fatalf("of no file: %+v", got)
	}
	files.early = false
	if got := ask(); len(got) == 0 || !strings.Contains(got[0].Text, "gladly") {
		t.Errorf("once it is known: %+v", got)
	}
}

// Who asks once reads a bounded number of files: those most like the code at the cursor, and
// then the nearest.
func TestBriefRepositoryReadsLittle(t *testing.T) {
	const alike = "z/far/alike.go"
	files := &tree{texts: map[string]string{alike: "\tserver.Register(mux, gladly, handler)\n"}}
	for i := range 60 {
		files.texts[fmt.Sprintf("a/%02d.go", i)] = strings.Repeat("\tother(a, b, c, d, e)\n", 1000)
	}
	var asked string
	e := newEngine(t, nil, Options{Repository: NewBriefRepository(files, func(root, path, text string) []string {
		asked = text
		return []string{alike}
	})})
	ask := func() []Item {
		req := at0(t, "a/a.go", "a/a.go", "one\n"+strings.Repeat("\n", linesAround)+"\tserver.Register(‸\n}\n")
		req.Root, req.Manual = "/w", true
		return complete(t, e, req).Items
	}
	if got := ask(); len(got) == 0 || !strings.Contains(got[0].Text, "gladly") {
		t.Errorf("%+v", got)
	}
	if strings.Contains(asked, "one") || !strings.Contains(asked, "server.Register(") {
		t.Errorf("compared with %q", asked)
	}
	const each = 13 * 1000 // tokens
	if n := len(files.read); n > 2+briefTokens/each || files.read[0] != alike {
		t.Errorf("%d files were read, %q first", n, files.read[0])
	}
	before := len(files.read)
	if ask(); len(files.read) > before {
		t.Errorf("read again: %q", files.read[before:])
	}
}

// Of places that agree alike the nearest files' count first, whatever was read first, and a
// full corpus drops the farthest: also for a document of another folder that is asked for later.
func TestNearestFilesAreLookedAtFirst(t *testing.T) {
	files := &tree{texts: map[string]string{}}
	for _, folder := range []string{"a/b/", "a/", "m/", "z/y/", "z/"} {
		for i := range 40 {
			word := strings.ReplaceAll(strings.Trim(folder, "/"), "/", "")
			files.texts[fmt.Sprintf("%s%02d.go", folder, i)] = fmt.Sprintf("func %s%d() {\n\tserver.Register(mux, %s)\n}\n", word, i, word)
		}
	}
	r := NewRepository(files)
	e := newEngine(t, nil, Options{Repository: r})
	for _, c := range []struct{ path, want string }{{"a/b/doc.go", "ab)"}, {"z/y/doc.go", "zy)"}, {"m/doc.go", "m)"}, {"a/doc.go", "a)"}} {
		req := at(t, c.path, "go", "\tserver.Register(mux, ‸\n")
		req.Root, req.Manual = "/w", true
		if got := complete(t, e, req).Items; len(got) == 0 || got[0].Text != c.want {
			t.Errorf("%s: %+v, want %q", c.path, got, c.want)
		}
	}
	r.corpus.limit = r.corpus.used
	r.Add("/w", "a/new.go", "func n() {\n\tserver.Register(mux, new)\n}\n")
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(files.texts)), func(p string) bool {
		_, known := r.corpus.byKey[fileKey{"/w", p}]
		return known
	})
	if len(gone) != 1 || strings.HasPrefix(gone[0], "a/") {
		t.Errorf("beside a/doc.go %q went for a new file", gone)
	}
}
