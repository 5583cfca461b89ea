package imports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"quarry/agent"
	"quarry/diagnostics/imports"
	"quarry/diagnostics/patch"
	"quarry/index/lang"
	"quarry/retrieval/workspace"
)

// Each file of testdata is a workspace, with commands before the files:
//
//	document FILE       what the diagnostic is about
//	says MESSAGE        what a tool says; \n is a line's end
//	at TEXT             it marks this text where the document has it last
//	crlf, no-end        the document's lines end so; its last one has no end
//	offer TITLE         the offers, in their order; none if there is no such line
//	certain             the first needs no second opinion
//
// The file "want" is the document with the first offer.
func TestImports(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := readCase(t, archive)
			found := c.find(t)
			var offers []string
			for _, o := range found.Candidates {
				offers = append(offers, o.Title())
			}
			if !slices.Equal(offers, c.offers) {
				t.Fatalf("offers are\n%s\nwant\n%s", strings.Join(offers, "\n"), strings.Join(c.offers, "\n"))
			}
			if found.Certain != c.certain {
				t.Errorf("certain is %v, want %v", found.Certain, c.certain)
			}
			if len(offers) == 0 {
				return
			}
			got := agent.ApplyEdits(c.text, found.Candidates[0].Edits)
			if got != c.want {
				t.Errorf("with the first offer the document is\n%s\nwant\n%s", got, c.want)
			}
			if crlf := strings.Count(got, "\r\n"); c.crlf && crlf != strings.Count(got, "\n") {
				t.Errorf("%d of %d lines end in CRLF", crlf, strings.Count(got, "\n"))
			}
			// What was offered passes the checks of changes, and is not offered again.
			for _, o := range found.Candidates {
				_, err := patch.New(c.space).For(c.document(), nil).Changes(t.Context(), []agent.FileEdits{{Path: c.path, Edits: o.Edits}})
				if err != nil {
					t.Errorf("%s: %v", o.What, err)
				}
			}
			c.text = got
			if again := c.find(t); len(again.Candidates) > 0 {
				t.Errorf("the mended document is offered %s", again.Candidates[0].What)
			}
		})
	}
}

type importCase struct {
	root, path, text, message, at, want string
	crlf, certain                       bool
	offers                              []string
	space                               *workspace.Workspace
}

func readCase(t *testing.T, archive *txtar.Archive) *importCase {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &importCase{root: root}
	noEnd := false
	for line := range strings.Lines(string(archive.Comment)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "document":
			c.path = filepath.Join(root, filepath.FromSlash(rest))
		case "says":
			c.message = strings.ReplaceAll(rest, `\n`, "\n")
		case "at":
			c.at = rest
		case "crlf":
			c.crlf = true
		case "no-end":
			noEnd = true
		case "offer":
			c.offers = append(c.offers, rest)
		case "certain":
			c.certain = true
		case "#", "":
		default:
			t.Fatalf("unknown command %q", verb)
		}
	}
	for _, f := range archive.Files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		text := string(f.Data)
		if f.Name == "want" || path == c.path {
			if noEnd {
				text = strings.TrimSuffix(text, "\n")
			}
			if c.crlf {
				text = strings.ReplaceAll(text, "\n", "\r\n")
			}
		}
		switch {
		case f.Name == "want":
			c.want = text
			continue
		case path == c.path:
			c.text = text
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.space = workspace.New(workspace.Options{StateDir: t.TempDir(), WaitLimit: 5 * time.Minute}) // 40,000 includes take long where the machine is busy
	t.Cleanup(c.space.Close)
	c.space.SetRoots([]string{root})
	if missing, err := c.space.Learned(t.Context()); err != nil || missing != nil {
		t.Fatalf("the index is not whole: %v, %v", missing, err)
	}
	return c
}

func (c *importCase) document() agent.Document {
	return agent.Document{Path: c.path, Language: lang.Detect(filepath.Base(c.path), []byte(c.text)), Text: c.text}
}

func (c *importCase) find(t *testing.T) imports.Found {
	t.Helper()
	p := agent.Problem{Location: agent.Location{Document: c.document()}, Severity: agent.SeverityError, Message: c.message}
	if c.at == "" {
		t.Fatal("the case does not say where (at)")
	}
	if p.Start = strings.LastIndex(c.text, c.at); p.Start < 0 {
		t.Fatalf("the document has no %q", c.at)
	}
	p.End = p.Start + len(c.at)
	return imports.New(c.space).Find(t.Context(), p)
}

// What ends before it looks finds nothing.
func TestCancelled(t *testing.T) {
	c := readCase(t, txtar.Parse([]byte("document a.go\nsays undefined: strings\nat strings.ToUpper\n-- a.go --\npackage a\n\nvar x = strings.ToUpper(\"\")\n-- b.go --\npackage a\n\nimport \"strings\"\n\nvar y = strings.ToUpper(\"\")\n")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at := strings.Index(c.text, c.at)
	p := agent.Problem{Location: agent.Location{Document: c.document(), Start: at, End: at + len(c.at)}, Message: c.message}
	if found := imports.New(c.space).Find(ctx, p); len(found.Candidates) > 0 {
		t.Errorf("found %v", found)
	}
}

// leaving is a workspace whose asker leaves as soon as one thing is asked of it.
type leaving struct {
	imports.Workspace
	leave func()
	at    string
	asked map[string]int
}

func (w *leaving) ask(what string) {
	if w.asked[what]++; what == w.at {
		w.leave()
	}
}

func (w *leaving) Allows(root, path string) bool {
	w.ask("Allows")
	return w.Workspace.Allows(root, path)
}

func (w *leaving) Text(path string) (string, error) {
	w.ask("Text")
	return w.Workspace.Text(path)
}

// Who leaves while many files are looked at is worked for no longer.
func TestLeaving(t *testing.T) {
	for name, tt := range map[string]struct{ document, says, at, file, each string }{
		"imports":         {"a.java", "Zork cannot be resolved to a type", "Zork", "class D { Zork z; }\n", "-- E%d.java --\nimport a%[1]d.Zork;\nclass E%[1]d {}\n"},
		"declarations":    {"a.py", "undefined name 'Zork'", "Zork", "Zork()\n", "-- p%d/__init__.py --\n-- p%[1]d/m.py --\nclass Zork:\n    pass\n"},
		"system's header": {"a.c", "implicit declaration of function 'zork'", "zork", "int f(void) { return zork(); }\n", "-- b%d.c --\n#include <zork.h>\nint f%[1]d(void) { return zork(); }\n"},
		"exports":         {"a.js", "Cannot find name 'zork'.", "zork", "zork();\n", "-- b%d.js --\nexport function zork() {}\n"},
	} {
		var files strings.Builder
		for i := range 6 {
			fmt.Fprintf(&files, tt.each, i)
		}
		c := readCase(t, txtar.Parse([]byte("document "+tt.document+"\nsays "+tt.says+"\nat "+tt.at+"\n-- "+tt.document+" --\n"+tt.file+files.String())))
		at := strings.LastIndex(c.text, c.at)
		p := agent.Problem{Location: agent.Location{Document: c.document(), Start: at, End: at + len(c.at)}, Message: c.message}
		for _, when := range []string{"Allows", "Text"} {
			ctx, cancel := context.WithCancel(t.Context())
			w := &leaving{Workspace: c.space, leave: cancel, at: when, asked: map[string]int{}}
			found := imports.New(w).Find(ctx, p)
			left := ctx.Err() != nil
			cancel()
			if when == "Allows" && !left {
				t.Errorf("%s: nothing was asked for, so that this shows nothing", name)
			}
			if left && (w.asked[when] > 1 || len(found.Candidates) > 0) {
				t.Errorf("%s: after they left, %s was asked %d times in all, and found %v", name, when, w.asked[when], found.Candidates)
			}
		}
	}
}

// A file with more imports than people write is not looked at closely, neither where a name is
// missing nor as an example of how to import it: the work would grow with their square.
func TestManyImports(t *testing.T) {
	var names []string
	for i := range 1001 {
		names = append(names, fmt.Sprintf("a%d", i))
	}
	const user = "-- b.py --\nfrom m import zork\nzork()\n"
	for _, tt := range []struct {
		name, document, other string
		offers                int
	}{
		{"some", strings.Repeat("import abc\n", 200) + "\nzork()\n", user, 1},
		{"many", strings.Repeat("import abc\n", 201) + "\nzork()\n", user, 0},
		{"many names", "from n import " + strings.Join(names, ", ") + "\n\nzork()\n", user, 0},
		{"many in the example", "import abc\n\nzork()\n", "-- b.py --\n" + strings.Repeat("import abc\n", 5000) + "from m import zork\nzork()\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := readCase(t, txtar.Parse([]byte("document a.py\nsays undefined name 'zork'\nat zork\n-- a.py --\n"+tt.document+tt.other)))
			if found := c.find(t); len(found.Candidates) != tt.offers {
				t.Errorf("%d offers, want %d", len(found.Candidates), tt.offers)
			}
		})
	}
}

// A module whose name would end its string, and one that is no file of the workspace, are not
// written into code.
func TestModulesThatAreNoPath(t *testing.T) {
	const (
		js = "document a.js\nsays Cannot find name 'zork'.\nat zork\n-- a.js --\nzork();\n"
		py = "document a.py\nsays undefined name 'Zork'\nat Zork\n-- a.py --\nZork()\n"
		c  = "document a.c\nsays implicit declaration of function 'zork'\nat zork\n-- a.c --\nint f(void) { return zork(); }\n"
	)
	for name, files := range map[string]string{
		"a file's name with code":      js + "-- ex';evil();'.js --\nexport function zork() {}\n",
		"a path of the machine":        js + "-- b.js --\nimport {zork} from '/etc/passwd';\nzork();\n",
		"a file's name, of Python":     py + "-- pkg/a=1.py --\nclass Zork:\n    pass\n",
		"a comment, of Python":         py + "-- pkg/__init__.py --\n-- pkg/a#b.py --\nclass Zork:\n    pass\n",
		"an asterisk, of Python":       py + "-- pkg/__init__.py --\n-- pkg/a*b.py --\nclass Zork:\n    pass\n",
		"two files' names, of Python":  py + "-- pkg/a,os.py --\nclass Zork:\n    pass\n",
		"a header that ends its quote": c + "-- a\"b.h --\nint zork(void);\n",
		"a header that begins comment": c + "-- x*.h --\nint zork(void);\n",
	} {
		t.Run(name, func(t *testing.T) {
			archive := txtar.Parse([]byte(files))
			if runtime.GOOS == "windows" && slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return strings.ContainsAny(f.Name, `*"`) }) {
				t.Skip("Windows has no files of such names")
			}
			if found := readCase(t, archive).find(t); len(found.Candidates) > 0 {
				t.Errorf("offers %s", found.Candidates[0].Title())
			}
		})
	}
}

// A file of C with more includes than people write says nothing of a name, and is not searched for
// each of them.
func TestManyIncludes(t *testing.T) {
	var includes strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&includes, "#include <h%05d.h>\n", i)
	}
	use := "#include <string.h>\nint f%s(void) { return strlen(\"a\"); }\n"
	large := includes.String() + use
	files := fmt.Sprintf("-- d.c --\n#include <stdio.h>\n\nint g(void) { return strlen(\"a\"); }\n-- a.c --\n"+large+"-- b.c --\n"+large, "a", "b")
	for name, tt := range map[string]struct {
		more   string
		offers int
	}{
		"alone":       {"", 0},
		"among usual": {fmt.Sprintf("-- c.c --\n"+use+"-- e.c --\n"+use, "c", "e"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := readCase(t, txtar.Parse([]byte("document d.c\nsays implicit declaration of function 'strlen'\nat strlen\n"+files+tt.more)))
			if found := c.find(t); len(found.Candidates) != tt.offers {
				t.Errorf("%d offers, want %d", len(found.Candidates), tt.offers)
			}
		})
	}
}
