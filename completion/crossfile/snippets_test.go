package crossfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/index/lang"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// folder is a Workspace of the texts it holds; it refuses those in excluded.
type folder struct {
	index    *retrieval.Index            // of /w
	more     map[string]*retrieval.Index // of other folders
	texts    map[string]string
	excluded map[string]bool
}

func (f *folder) Text(path string) (string, error) {
	rel, err := filepath.Rel("/w", path)
	if err != nil || f.excluded[rel] {
		return "", errors.New("excluded")
	}
	return f.texts[filepath.ToSlash(rel)], nil
}

func (f *folder) Allows(_, path string) bool { return !f.excluded[path] }

func (f *folder) Searchable() []*workspace.Searchable {
	list := []*workspace.Searchable{{Root: "/w", Snapshot: f.index.Current()}}
	for root, ix := range f.more {
		list = append(list, &workspace.Searchable{Root: root, Snapshot: ix.Current()})
	}
	return list
}

func (f *folder) Similar(text, _, except string, k int) (list []workspace.SimilarChunk) {
	for _, p := range f.index.Current().Similar(text, except, k) {
		list = append(list, workspace.SimilarChunk{Root: "/w", SimilarChunk: p})
	}
	return list
}

// over is a Source with texts.
func over(t *testing.T, files map[string]string) (*Source, *folder) {
	t.Helper()
	f := &folder{index: retrieval.New(retrieval.Options{}), texts: files, excluded: map[string]bool{}}
	s := New(f, Similar)
	for name, text := range files {
		put(t, f.index, name, text)
	}
	return s, f
}

// ask is the context at the cursor ‸.
func ask(ctx context.Context, s *Source, name, marked string) []completion.Snippet {
	at, text := strings.Index(marked, "‸"), strings.Replace(marked, "‸", "", 1)
	return s.Context(ctx, completion.ContextQuery{
		Document: completion.Document{Root: "/w", Path: name, Language: lang.Detect(name, nil), Text: text},
		Offset:   at, Shown: [2]int{0, len(text)}, Tokens: 1000,
	})
}

const typeFile = `package shop

// Order is what a customer wants.
type Order struct {
	Item  string
	Count int
}

/*
 * Price is what one of it costs.
 */
func Price(item string) int { return len(item) }
`

func TestTypesWithFieldsAndDocs(t *testing.T) {
	s, f := over(t, map[string]string{"shop/order.go": typeFile})
	const doc = "package shop\n\nfunc total(o Order) int {\n\treturn Price(‸)\n}\n"
	list := ask(t.Context(), s, "shop/total.go", doc)
	if len(list) < 2 || list[0].Text != "// Price is what one of it costs.\nfunc Price(item string) int" || list[0].StartLine != 9 {
		t.Errorf("what is called: %+v", list)
	}
	want := completion.Snippet{
		Root: "/w", Path: "shop/order.go", StartLine: 3, EndLine: 7, Why: "declaration of Order",
		Text: "// Order is what a customer wants.\ntype Order struct {\n\tItem  string\n\tCount int\n}",
	}
	if !slices.Contains(list, want) {
		t.Errorf("the type: %+v", list)
	}
	for _, sn := range list {
		if sn.Text == "Order: Count int" {
			t.Error("a field is there twice")
		}
	}
	// The text changed since: the signature is still true.
	f.texts["shop/order.go"] = "package shop\n"
	for _, sn := range ask(t.Context(), s, "shop/total.go", doc) {
		if strings.Contains(sn.Text, "\n") {
			t.Errorf("a text that is gone is shown: %+v", sn)
		}
	}
}

func handler(n int) string {
	return fmt.Sprintf("package web\n\nfunc handle%d(w http.ResponseWriter, r *http.Request) {\n\tcart, err := sessions.Load(r)\n"+
		"\tif err != nil {\n\t\thttp.Error(w, err.Error(), http.StatusBadRequest)\n\t\treturn\n\t}\n\trender(w, cart.Items%d)\n}\n", n, n)
}

const unfinished = "package web\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tcart, err := sessions.Load(r)\n\tif err != nil {\n\t\t‸\n}\n"

func TestSimilarCode(t *testing.T) {
	files := map[string]string{}
	for n := range 6 {
		files[fmt.Sprintf("web/h%d.go", n)] = handler(n)
	}
	s, f := over(t, files)
	similar := func(ctx context.Context) (list []completion.Snippet) {
		for _, sn := range ask(ctx, s, "web/new.go", unfinished) {
			if sn.Why == "similar code" {
				list = append(list, sn)
			}
		}
		return list
	}
	list := similar(t.Context())
	if len(list) == 0 || len(list) > similarSnippets {
		t.Fatalf("%d passages", len(list))
	}
	for _, sn := range list {
		lines := strings.Split(files[sn.Path], "\n")[sn.StartLine-1 : sn.EndLine]
		if !strings.Contains(sn.Text, "http.Error(w") || sn.Text != strings.Join(dedent(lines), "\n") {
			t.Errorf("%+v", sn)
		}
	}
	if !slices.Equal(list, similar(t.Context())) {
		t.Error("the same question has another answer")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if list := similar(done); len(list) != 0 {
		t.Errorf("after the deadline: %+v", list)
	}
	// A file that the workspace refuses is not shown, however alike.
	for name := range files {
		f.excluded[name] = true
	}
	if list := similar(t.Context()); len(list) != 0 {
		t.Errorf("excluded: %+v", list)
	}
}

func TestSimilarCodeOfOneFile(t *testing.T) {
	var b strings.Builder
	b.WriteString("package web\n")
	for n := range 12 {
		b.WriteString(strings.TrimPrefix(handler(n), "package web\n") + "\n" + strings.Repeat("// Something else.\n", 20))
	}
	s, _ := over(t, map[string]string{"web/all.go": b.String()})
	count := 0
	for _, sn := range ask(t.Context(), s, "web/new.go", unfinished) {
		if sn.Why == "similar code" {
			count++
		}
	}
	if count == 0 || count > similarPerFile {
		t.Errorf("%d passages of one file", count)
	}
}

func TestReach(t *testing.T) {
	files := map[string]string{
		"a/near.go": "package a\n\nfunc Near() {}\n",
		"b/used.go": "package b\n\nfunc Used() {}\n",
		"c/far.go":  "package c\n\nfunc Far() {}\n",
	}
	const doc = "package a\n\nimport \"x/b\"\n\nfunc f() {\n\tNear()\n\tb.Used()\n\tFar()\n\t‸\n}\n"
	for reach, want := range map[Reach]string{
		Folder: "Near", Imports: "Near Used", Repository: "Near Used Far", Similar: "Near Used Far",
	} {
		_, f := over(t, files)
		s := New(f, reach)
		var names []string
		for _, sn := range ask(t.Context(), s, "a/new.go", doc) {
			if sn.Why == "similar code" {
				continue
			}
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(sn.Text, "func "), "()"))
		}
		slices.Sort(names)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(names, wanted) {
			t.Errorf("reach %d: %q, want %q", reach, names, wanted)
		}
	}
}

func TestWhatIsBeingCalled(t *testing.T) {
	for text, want := range map[string]string{
		"x := open(a, b(1), ": "open", "open(f(": "f", "open()": "", "if (": "", "a.b.call(": "call", "list[": "list", "": "",
	} {
		if got, _ := calling(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestEnclosing(t *testing.T) {
	lines := strings.Split("class A:\n    def far(self):\n        pass\n\n    def f(self, store):\n        for x in y:\n            a()\n            b()", "\n")
	heads := enclosing(lines, 7)
	for i, want := range []bool{true, false, false, false, true, true, false, false} {
		if heads[i] != want {
			t.Errorf("line %q: %v", lines[i], heads[i])
		}
	}
}

// What a test declares comes behind the same of the code it tests, but for a test.
func TestTestsComeBehind(t *testing.T) {
	s, _ := over(t, map[string]string{
		"app/z_store.py":    "class Store:\n    def close(self): pass\n",
		"app/test_store.py": "class FakeStore:\n    def close(self): pass\n",
	})
	for name, want := range map[string]string{"app/main.py": "app/z_store.py", "app/test_main.py": "app/test_store.py"} {
		for _, sn := range ask(t.Context(), s, name, "def run(store):\n    store.close‸\n") {
			if strings.HasSuffix(sn.Text, "def close(self)") {
				if sn.Path != want {
					t.Errorf("%s: first is the one of %s", name, sn.Path)
				}
				break
			}
		}
	}
}

// A member says what it is a member of, by the line that opens that.
func TestMembersSayWithin(t *testing.T) {
	s, _ := over(t, map[string]string{
		"store.py": "class Store(Base):\n    def fetch(self, key):\n        return key\n",
		"store.go": "package p\n\ntype Store struct{}\n\nfunc (s *Store) Fetch(key string) string { return key }\n",
		"store.rs": "pub struct Depot;\n\nimpl Depot {\n    pub fn fetch(&self, key: &str) -> u32 { 0 }\n}\n",
	})
	for _, tt := range []struct{ file, text, signature, within string }{
		{"a.py", "x = store.fetch‸\n", "def fetch(self, key)", "class Store(Base):"},
		{"a.rs", "fn f(d: Depot) {\n    d.fetch‸\n}\n", "pub fn fetch(&self, key: &str) -> u32", "impl Depot {"},
		{"a.go", "package p\n\nvar x = s.Fetch‸\n", "func (s *Store) Fetch(key string) string", ""},
	} {
		met := false
		for _, sn := range ask(t.Context(), s, tt.file, tt.text) {
			if strings.HasSuffix(sn.Text, tt.signature) {
				met = true
				if sn.Within != tt.within {
					t.Errorf("%s: within %q, want %q", tt.signature, sn.Within, tt.within)
				}
			}
		}
		if !met {
			t.Errorf("%s is not found", tt.signature)
		}
	}
}

// What the document itself declares outside the prompt's window stands in the
// context, first what the code at the cursor names, and nothing of the window does.
func TestOwnFileBeyondTheWindow(t *testing.T) {
	const below = "\nfunc signer(key string, rounds int) int { return rounds }\n\nfunc unused() {}\n"
	const window = "package shop\n\nfunc near() int { return 1 }\n\nfunc total() int {\n\treturn near() + signer(‸)\n}\n"
	text := strings.Replace(window, "‸", "", 1) + below
	s, _ := over(t, map[string]string{"shop/total.go": text})
	q := completion.ContextQuery{
		Document: completion.Document{Root: "/w", Path: "shop/total.go", Language: "go", Text: text},
		Offset:   strings.Index(window, "‸"), Tokens: 1000,
	}
	for _, tt := range []struct {
		shown int
		want  []string
	}{
		{len(text) - len(below), []string{"func signer(key string, rounds int) int", "func unused()"}},
		{len(text), nil},
	} {
		q.Shown = [2]int{0, tt.shown}
		var got []string
		for _, sn := range s.Context(t.Context(), q) {
			got = append(got, sn.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("with %d bytes shown: %q, want %q", tt.shown, got, tt.want)
		}
	}
}

// Many types have a method of one signature: two of them show that.
func TestSameSignaturesAreFolded(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		files[fmt.Sprintf("shop/t%d.go", i)] = fmt.Sprintf("package shop\n\ntype T%d struct{}\n\nfunc (T%d) Only%d() {}\n", i, i, i)
		files[fmt.Sprintf("shop/J%d.java", i)] = fmt.Sprintf("class J%d {\n  public String toString() { return \"\"; }\n}\n", i)
	}
	s, _ := over(t, files)
	same := 0
	for _, sn := range ask(t.Context(), s, "shop/Main.java", "class Main {\n  void run() {\n    show(new J1().toString(‸));\n  }\n}\n") {
		if sn.Text == "public String toString()" {
			same++
		}
	}
	if same != sameText {
		t.Errorf("one signature stands there %d times, want %d", same, sameText)
	}
}

// A signature stands as it does in code: a decorator on a line of its own, what opens a
// type's body, and its doc's first sentence as a comment, or none.
func TestSignaturesAreCode(t *testing.T) {
	s, _ := over(t, map[string]string{
		"page.py": "class Page:\n    @property\n    def title(self) -> str:\n        return ''\n\n@app.route('/a(b)', methods=[get()])\n@cached\ndef shown():\n    pass\n",
		"log.go": "package p\n\ntype Logger struct {\n\tlevel int\n" + strings.Repeat("\tother int\n", 30) + "}\n\n" +
			"// logAll logs all that there is, on\n// however many lines its own doc stands. And more.\nfunc logAll(x int) {\n}\n\n" +
			"// logLong is " + strings.Repeat("very ", 60) + "long.\nfunc logLong() {\n}\n",
		"Page.java": "class Page {\n  @Override public String title() { return \"\"; }\n}\n",
	})
	for _, tt := range []struct{ file, text, want string }{
		{"a.py", "x = page.title‸\n", "@property\ndef title(self) -> str"},
		{"a.py", "x = shown(‸\n", "@app.route('/a(b)', methods=[get()])\n@cached\ndef shown()"},
		{"a.go", "package p\n\nfunc f(l Logger) {\n\tl.level‸\n}\n", "level int"},
		{"a.go", "package p\n\nfunc f() {\n\tlogAll(‸)\n}\n", "// logAll logs all that there is, on however many lines its own doc stands.\nfunc logAll(x int)"},
		{"a.go", "package p\n\nfunc f() {\n\tlogLong(‸)\n}\n", "func logLong()"},
		{"A.java", "class A {\n  String f(Page p) { return p.title(‸); }\n}\n", "@Override\npublic String title()"},
	} {
		var texts []string
		for _, sn := range ask(t.Context(), s, tt.file, tt.text) {
			if texts = append(texts, sn.Text); sn.Text == "level int" && sn.Within != "type Logger struct {" {
				t.Errorf("a field within %q", sn.Within)
			}
		}
		if !slices.Contains(texts, tt.want) {
			t.Errorf("%q has no %q", texts, tt.want)
		}
	}
}

// What the code at the cursor names comes first, then similar code, then what merely
// stands in the same folder.
func TestSimilarCodeComesBeforeTheUnlikely(t *testing.T) {
	_, f := over(t, map[string]string{
		"web/unlikely.go": "package web\n\nfunc unlikely() {\n\tone(); two(); three(); four(); five()\n}\n",
		"web/alike.go":    handler(1),
		"web/named.go":    "package web\n\nfunc loadCart() {}\n",
	})
	var got []string
	for _, sn := range ask(t.Context(), New(f, Similar), "web/new.go", strings.Replace(unfinished, "‸", "load‸", 1)) {
		if sn.Why == "similar code" {
			sn.Text = sn.Why
		}
		got = append(got, sn.Text)
	}
	named, similar, unlikely := slices.Index(got, "func loadCart()"), slices.Index(got, "similar code"), slices.Index(got, "func unlikely()")
	if named < 0 || similar < named || unlikely < similar {
		t.Errorf("in the order %q", got)
	}
}
