package lang

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTable holds every row against what reads it: nothing is forgotten, nothing said
// twice.
func TestTable(t *testing.T) {
	uncommented := list("csv json plaintext") // languages without comments
	claimed := map[string]string{}
	claim := func(id, what, name string) {
		if other, ok := claimed[what+name]; ok {
			t.Errorf("%s and %s both have the %s %s", other, id, what, name)
		}
		claimed[what+name] = id
	}
	lower := regexp.MustCompile(`^[^A-Z\s]+$`)
	last := ""
	for _, l := range All() {
		if l.ID <= last {
			t.Errorf("%s stands after %s", l.ID, last)
		}
		last = l.ID
		claim(l.ID, "name ", l.ID)
		for _, name := range l.Aliases {
			claim(l.ID, "name ", name)
			if other := byExtension[name]; other != nil {
				t.Errorf("%s has the alias %s, which is an extension of %s as well: Find takes extensions by itself", l.ID, name, other.ID)
			}
		}
		for _, name := range l.Extensions {
			claim(l.ID, "extension ", name)
			if !lower.MatchString(name) || strings.HasPrefix(name, ".") {
				t.Errorf("%s: extension %q is not in lower case without a dot", l.ID, name)
			}
			if got := Detect("a."+name, nil); got != l.ID {
				t.Errorf("a.%s is %s, want %s", name, got, l.ID)
			}
		}
		for _, name := range l.Files {
			claim(l.ID, "file ", name)
			if got := Detect("x/"+name, nil); got != l.ID {
				t.Errorf("%s is %s, want %s", name, got, l.ID)
			}
		}
		for _, name := range l.Interpreters {
			claim(l.ID, "interpreter ", name)
			if got := Detect("x", []byte("#!/usr/bin/env -S "+name+" -u\n")); got != l.ID {
				t.Errorf("a script of %s is %s, want %s", name, got, l.ID)
			}
		}
		if l.Blocks == nil {
			t.Errorf("%s: say what its blocks look like, if only that they are flat", l.ID)
		}
		if none := len(l.Comment.Marks()) == 0; none != slices.Contains(uncommented, l.ID) {
			t.Errorf("%s: say how it writes comments, or in this test that it has none", l.ID)
		}
		if (l.Comment.Open == "") != (l.Comment.Shut == "") {
			t.Errorf("%s: a long comment has a beginning and an end", l.ID)
		}
		if name := TestFile("dir/name.x", l.ID); !IsTest(name) {
			t.Errorf("%s: nobody takes %s for a test", l.ID, name)
		}
		for _, name := range slices.Concat([]string{l.ID}, l.Aliases) {
			if !lower.MatchString(name) {
				t.Errorf("%s: the name %q is not in lower case", l.ID, name)
			}
			if got := Canonical(strings.ToUpper(name)); got != l.ID {
				t.Errorf("%s means %s, want %s", name, got, l.ID)
			}
		}
	}
}

// TestCanonical: what users write in a filter, and editors in a document, is a language that files have.
func TestCanonical(t *testing.T) {
	for want, names := range map[string]string{
		"shellscript": "sh bash shell zsh SHELLSCRIPT", "proto": "proto protobuf proto3", "typescriptreact": "tsx typescript.tsx", "makefile": "make mk",
		"csharp": "cs c# c_sharp", "cpp": "c++ hpp cuda-cpp", "kotlin": "kt", "markdown": "md", "yaml": "yml dockercompose", "elixir": "ex", "hcl": "terraform tf",
		"go": "golang", "python": "py", "javascript": "js", "typescript": "ts", "rust": "rs", "ruby": "rb", "viml": "vim", "elisp": "emacs-lisp", "c": "c h",
		PlainText: "text txt", "cobol": "cobol",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := Canonical(name); got != want {
				t.Errorf("%s means %s, want %s", name, got, want)
			}
		}
	}
	if got := Canonical(""); got != PlainText {
		t.Errorf("no name means %s", got)
	}
	if l := Of("cobol"); l.ID != "cobol" || l.Family != "cobol" || l.Blocks.Style != Braced || len(l.Comment.Marks()) != 0 {
		t.Errorf("a language in no row is %+v", l)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"a.h", "#include <stdio.h>\n", "c"},
		{"a.h", "#pragma once\nnamespace a {\n", "cpp"},
		{"a.h", "@interface A\n", "objective-c"},
		{"a.ts", "\ufeff <?xml version=\"1.0\"?>", "xml"},
		{"a.ts", "const a = 1", "typescript"},
		{"A.PY", "", "python"},
		{"Dockerfile.dev", "", "dockerfile"},
		{`src\Makefile`, "", "makefile"},
		{"run", "#!/usr/bin/python3.12\n", "python"},
		{"run", "#!/usr/bin/env A=1 node\n", "javascript"},
		{"run", "#!/bin/unheard-of\n", PlainText},
		{"a.unheard-of", "", PlainText},
	} {
		if got := Detect(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s with %q is %s, want %s", c.name, c.head, got, c.want)
		}
	}
}

func TestTests(t *testing.T) {
	for _, name := range list("a/b_test.go test_a.py a.test.ts a.spec.js a_spec.rb FooTest.java FooTests.cs FooSpec.scala FooTestCase.php conftest.py tests.py a.test-d.ts x.bench.ts") {
		if !IsTest(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range list("contest.java a.go testing.go latest.py inspect.js specs/a.go attestation.ts") {
		if IsTest(name) {
			t.Errorf("%s is one", name)
		}
	}
	for name, want := range map[string]string{
		"a/b.go go": "a/b_test.go", "a/b.py python": "a/test_b.py", "a/b.tsx typescriptreact": "a/b.test.tsx", "B.java java": "BTest.java", "b.rb ruby": "b_spec.rb",
		"a/b_test.go go": "a/b_test.go", "b.x unheard-of": "b_test.x",
	} {
		file, language, _ := strings.Cut(name, " ")
		if got := TestFile(file, language); got != want {
			t.Errorf("the tests of %s are in %s, want %s", file, got, want)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for _, c := range []struct {
		language, name, signature string
		member, want              bool
	}{
		{"go", "Open", "func Open()", false, true}, {"go", "open", "func open()", false, false}, {"go", "Ärger", "func Ärger()", true, true},
		{"python", "read", "def read()", true, true}, {"python", "_read", "def _read()", true, false},
		{"elixir", "run", "defp run(x)", true, false}, {"lua", "run", "local function run()", false, false}, {"ruby", "run", "private def run", true, false},
		{"typescriptreact", "Button", "export function Button()", false, true}, {"javascript", "icon", "function icon()", false, false},
		{"typescript", "draw", "draw(): void", true, true}, {"typescript", "draw", "private draw(): void", true, false}, {"javascriptreact", "#draw", "#draw()", true, false},
		{"rust", "run", "pub fn run()", false, true}, {"rust", "run", "pub(crate) fn run()", false, false},
		{"java", "Door", "public class Door", false, true}, {"java", "Door", "class Door", false, false}, {"swift", "run", "open func run()", true, true},
		{"scala", "run", "def run: Int", true, true}, {"scala", "run", "private def run: Int", true, false}, {"kotlin", "run", "internal fun run()", false, false},
		{"php", "run", "function run()", false, true}, {"c", "run", "static int run(void)", false, false}, {"cpp", "run", "int run()", false, true},
		{"yaml", "run", "run: x", false, false}, {"go", "", "", false, false},
	} {
		if got := Of(c.language).IsPublic(c.name, c.signature, c.member); got != c.want {
			t.Errorf("%s: %q is public: %v", c.language, c.signature, got)
		}
	}
}

func TestPassesOn(t *testing.T) {
	for _, name := range list("a/b.rs a.proto a/__init__.py a/__init__.pyi web/index.ts index.d.ts index.jsx index.cjs") {
		if !PassesOn(name) {
			t.Errorf("%s keeps its imports to itself", name)
		}
	}
	for _, name := range list("a/b.py a.go web/button.ts index.php init.lua index.html README") {
		if PassesOn(name) {
			t.Errorf("%s passes its imports on", name)
		}
	}
}

// A name that only some versions of Python take for themselves may be a project's own.
func TestPythonLibrary(t *testing.T) {
	for _, table := range [][]string{pythonLibrary, pythonSometimes} {
		if !slices.IsSorted(table) || len(slices.Compact(slices.Clone(table))) != len(table) {
			t.Errorf("not sorted, or something twice: %v", table)
		}
	}
	for module, want := range map[string][2]bool{
		"json": {true, true}, "os.path": {true, true}, "zoneinfo": {true, true}, "tomllib": {true, true}, "atexit": {true, true},
		"imp": {true, false}, "distutils.core": {true, false}, "compression": {true, false},
		"jsonschema": {false, false}, "": {false, false}, "numpy.json": {false, false},
	} {
		if is, sure := PythonLibrary(module); is != want[0] || sure != want[1] {
			t.Errorf("%q is of the library: %v, surely: %v", module, is, sure)
		}
	}
	for _, module := range pythonSometimes {
		if _, sure := PythonLibrary(module); sure {
			t.Errorf("%s is in both tables", module)
		}
	}
}
