package idioms

import (
	"bytes"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for line, want := range map[string][]string{
		"":                      nil,
		"if  err != nil {":      {"if", " ", "err", " ", "!", "=", " ", "nil", " ", "{"},
		`x("a \" b", 'c)`:       {"x", "(", `"a \" b"`, ",", " ", "'", "c", ")"},
		"f①(②).③":               {"f", "①", "(", "②", ")", ".", "③"},
		"größe_2\t= `x`":        {"größe_2", " ", "=", " ", "`x`"},
		"case '\\'', \"\" : \\": {"case", " ", `'\''`, ",", " ", `""`, " ", ":", " ", `\`},
	} {
		if got := Tokens(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for typed, want := range map[string]struct {
		done    string
		partial string
	}{
		"if er":          {"if ", "er"},
		"if err ":        {"if err ", ""},
		"x(":             {"x(", ""},
		`say("half a st`: {"say(", `"half a st`},
	} {
		done, partial := Cut(typed)
		if strings.Join(done, "") != want.done || partial != want.partial {
			t.Errorf("%s: %q and %q, want %+v", typed, done, partial, want)
		}
	}
}

func TestRest(t *testing.T) {
	table := New([]Idiom{
		{Line: "if err != nil {", Sure: 4, Share: 90},
		{Line: "if len(①) == 0 {", Sure: len("if len(①) "), Share: 80},
		{Line: "if len(err) > 0 {", Sure: len("if len(err) "), Share: 71},
		{Above: "①.Lock()", Line: "defer ①.Unlock()", Sure: 0, Share: 75},
		{Line: "self.① = ①", Sure: len("self.① = "), Share: 70},
	})
	for _, tt := range []struct {
		above, typed, want string
	}{
		{"", "if e", "rr != nil {"},
		{"", "\t\tif err", " != nil {"},
		{"", "if err !", "= nil {"},
		{"", "if ", ""}, // not sure yet
		{"", "if err != nil {", ""},
		{"", "if errs", ""},
		{"", "if len(items) ", "== 0 {"},
		{"", "if len(err) ", "> 0 {"}, // what has no slot is nearer
		{"", "if len(", ""},
		{"s.mu.Lock()", "d", ""}, // two names, not one
		{"mu.Lock()", "", "defer mu.Unlock()"},
		{"\tmu.Lock()", "\tdefer ", "mu.Unlock()"},
		{"mu.Lock()", "defer m", ""}, // which name that is nobody knows
		{"mu.RLock()", "", ""},
		{"mu.Lock() // now", "", ""},
		{"", "self.name = ", "name"},
		{"", "self.name = n", ""},
	} {
		if got, share := table.Rest(tt.above, tt.typed, nil); got != tt.want || (got == "") != (share == 0) {
			t.Errorf("%q below %q: %q (%d), want %q", tt.typed, tt.above, got, share, tt.want)
		}
	}
	if rest, _ := (*Table)(nil).Rest("", "if e", nil); rest != "" {
		t.Errorf("no table says %q", rest)
	}
}

// Every table that is shipped can be read, and is what Write writes.
func TestShipped(t *testing.T) {
	files, err := fs.Glob(shipped, "table/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := shipped.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := Write(&again, all); err != nil || again.String() != string(text) {
			t.Errorf("%s is not as it would be written (%v)", name, err)
		}
		for _, i := range all {
			if i.Share < 70 || i.Share > 100 || i.Line == "" || len(i.Line)-i.Sure < 3 {
				t.Errorf("%s: %+v", name, i)
			}
		}
	}
	for language, typed := range map[string]string{"go": "if err !", "python": "def __len__(self) ", "rust": "use anyhow::R", "java": "boolean done = tr", "typescriptreact": "className?"} {
		if rest, _ := Of(language).Rest("", typed, nil); rest == "" {
			t.Errorf("%s: nothing known of %q", language, typed)
		}
	}
	if Of("brainfuck") != nil {
		t.Error("a language without a table has one")
	}
}

// The lines written by hand say something, from a beginning on, and no slot hides in a string.
func TestWrittenByHand(t *testing.T) {
	files, err := fs.Glob(shipped, "own/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		language := strings.TrimSuffix(strings.TrimPrefix(name, "own/"), ".txt")
		met := map[string]bool{}
		text, err := shipped.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if met[line] {
				t.Errorf("%s: %q stands there twice", name, line)
			}
			met[line] = true
		}
		for _, i := range written(language) {
			rest := strings.ReplaceAll(i.Line[i.Sure:], Slot(0), "name")
			if len(strings.TrimSpace(rest)) < 2 || i.Sure == 0 {
				t.Errorf("%s: %+v says nothing, or before anything is typed", name, i)
			}
			for _, token := range append(Tokens(i.Above), Tokens(i.Line)...) {
				if len(token) > len(Slot(0)) && strings.Contains(token, Slot(0)) {
					t.Errorf("%s: %+v has a slot in a string", name, i)
				}
			}
		}
	}
	for language, typed := range map[string]string{
		"c": "#include <st", "cpp": "#include <io", "csharp": "Console.Wr", "go": "func mai", "java": "public static void m", "javascript": "console.l",
		"typescript": "console.l", "kotlin": "override fun onC", "lua": "local fun", "php": "declare(", "python": "if __n", "ruby": "attr_ac", "rust": "fn mai", "shellscript": "#!/b", "swift": "import Found",
	} {
		if rest, _ := Of(language).Rest("", typed, nil); rest == "" {
			t.Errorf("%s: nothing is known of %q", language, typed)
		}
	}
}

// What stands above is not said again, but the next best is.
func TestRestLeavesOutWhatStands(t *testing.T) {
	stands := func(line string) bool { return line == "#include <stdio.h>" }
	if rest, _ := Of("c").Rest("", "#include <st", nil); rest != "dio.h>" {
		t.Errorf("first: %q", rest)
	}
	if rest, _ := Of("c").Rest("", "#include <st", stands); rest == "dio.h>" {
		t.Error("stdio.h is included twice")
	}
	if rest, _ := Of("c").Rest("", "#include <std", stands); rest != "lib.h>" {
		t.Errorf("the next: %q", rest)
	}
}

func TestWordsOf(t *testing.T) {
	for line := range strings.Lines(words) {
		language, _, _ := strings.Cut(line, ":")
		w := WordsOf(language)
		if len(w.Keywords) < 8 || !w.Is(w.Keywords[0]) || w.Is("inventory") {
			t.Errorf("%s: %+v", language, w)
		}
	}
	if !WordsOf("typescriptreact").Is("return") || WordsOf("brainfuck").Is("return") {
		t.Error("the words of a language are another's")
	}
}

func TestReadRefusesWhatIsNone(t *testing.T) {
	for _, text := range []string{"x\tif‸ y\n", "70\tif y\n", "70\n"} {
		if all, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as %+v", text, all)
		}
	}
	want := []Idiom{{"a ①", "b‹ ①", 2, 80}}
	var b bytes.Buffer
	if err := Write(&b, want); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(&b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
}
