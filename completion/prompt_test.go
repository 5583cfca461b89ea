package completion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// goSource is n lines of Go that differ from each other.
func goSource(n int) string {
	var b strings.Builder
	b.WriteString("package sample\n\n")
	for i := range n / 8 {
		fmt.Fprintf(&b, "// step%d adds %d to the running total.\nfunc step%d(total int, names []string) (int, error) {\n"+
			"\tif len(names) < %d {\n\t\treturn 0, fmt.Errorf(\"step %d: too few names\")\n\t}\n\treturn total + %d, nil\n}\n\n", i, i, i, i, i, i)
	}
	return b.String()
}

func TestTemplates(t *testing.T) {
	p := parts{head: "# h\n", prefix: "P\nT", suffix: "S"}
	tests := []struct {
		model string
		chat  bool
		want  string
	}{
		{"granite4.1:3b", false, "<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|>"},
		{"someone/unknown", false, "<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|>"},
		{"granite4:latest", true, "<|start_of_role|>user<|end_of_role|><|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|>" +
			"<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>"},
		{"qwen2.5-coder:1.5b", false, "<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|>"},
		{"Qwen2.5-Coder", true, "<|im_start|>user\n<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|><|im_end|>\n<|im_start|>assistant\n"},
		{"sweep-next-edit:1.5b", true, "<|im_start|>user\n<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|><|im_end|>\n<|im_start|>assistant\n"},
		{"starcoder2:3b", false, "<fim_prefix># h\nP\nT<fim_suffix>S<fim_middle>"},
		{"starcoder2:3b", true, "<fim_prefix># h\nP\nT<fim_suffix>S<fim_middle>"},
		{"codegemma:2b-code", false, "<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|>"},
		{"deepseek-coder:1.3b", false, "<｜fim▁begin｜># h\nP\nT<｜fim▁hole｜>S<｜fim▁end｜>"},
		{"codestral:22b", false, "[SUFFIX]S[PREFIX]# h\nP\nT"},
		{"granite-code:3b", false, "<fim_prefix># h\nP\nT<fim_suffix>S<fim_middle>"},
		{"granite3.3:2b", false, "<fim_prefix># h\nP\nT<fim_suffix>S<fim_middle>"},
		{"granite4:micro", false, "<|fim_prefix|># h\nP\nT<|fim_suffix|>S<|fim_middle|>"},
		{"stable-code:3b", false, "<fim_prefix># h\nP\nT<fim_suffix>S<fim_middle>"},
		{"JetBrains/Mellum-4b", false, "<fim_suffix>S<fim_prefix># h\nP\nT<fim_middle>"},
		{"seed-coder:8b", false, "<[fim-suffix]>S<[fim-prefix]># h\nP\nT<[fim-middle]>"},
		{"zeta-2", false, "<[fim-suffix]>S<[fim-prefix]># h\nP\nT<[fim-middle]>"},
		{"codellama:7b-code", false, "<PRE> # h\nP\nT <SUF>S <MID>"},
		{"codegeex4", false, "<|code_prefix|># h\nP\nT<|code_suffix|>S<|code_middle|>"},
	}
	for _, tt := range tests {
		var byName Choice
		if got := byName.template(tt.model, "").render(p, tt.chat); got != tt.want {
			t.Errorf("%s chat=%v\n got %q\nwant %q", tt.model, tt.chat, got, tt.want)
		}
	}
	chosen := Choice{Template: "starcoder2"}
	if chosen.template("granite4", "granite").Name != "starcoder2" {
		t.Error("the setting does not win over the model's name")
	}
}

func TestNeutralise(t *testing.T) {
	for in, want := range map[string]string{
		"<|fim_prefix|>":              "< |fim_prefix|>",
		"<|<|end_of_text|>":           "<|< |end_of_text|>",
		"<fim_middle>x<file_sep>":     "< fim_middle>x< file_sep>",
		"<｜fim▁hole｜>":                "< ｜fim▁hole｜>",
		"[PREFIX] [/INST]":            "[ PREFIX] [ /INST]",
		"<[fim-middle]>x<[u8]>":       "< [fim-middle]>x<[u8]>",
		"a <| b |> c, v[i], <s>x</s>": "a <| b |> c, v[i], <s>x</s>",
		"<|start_of_role|>system":     "< |start_of_role|>system",
		"bad \xff utf8":               "bad \uFFFD utf8",
	} {
		got := neutralise(in)
		if got != want {
			t.Errorf("neutralise(%q) = %q, want %q", in, got, want)
		}
		if again := neutralise(got); again != got {
			t.Errorf("neutralise is not stable on %q", got)
		}
	}
	for _, tm := range templates {
		for _, tag := range append(tm.stops(), tm.between) {
			if tag == "</s>" || tag == "" {
				continue
			}
			text := neutralise(tag)
			if p := tm.clean(parts{text, text, text}); p.head == tag || p.prefix == tag || p.suffix == tag {
				t.Errorf("%s: %s passes the filter", tm.Name, tag)
			}
		}
	}
}

// reread is how many raw tokens of prompt a backend reads that keeps what it has
// in common with the last one.
func reread(last, prompt string) int { return rawTokens(prompt[commonPrefix(last, prompt):]) }

// maxReread is what one request may read again besides the suffix and what was
// typed: the tags, and the token that the last prompt ended in.
const maxReread = 16

// While the user types on one line, all before the place where they began stays
// as it was, whatever the document: the next request reads what was typed and the
// suffix.
func TestTypingKeepsThePrefix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := says()
		e := New(g, Options{ContextTokens: rapid.SampledFrom([]int{600, 2048, 4096}).Draw(rt, "context")})
		defer e.Close()
		text := goSource(rapid.IntRange(0, 800).Draw(rt, "lines"))
		cursor := runeStart(text, rapid.IntRange(0, len(text)).Draw(rt, "cursor"))
		typed := rapid.StringMatching(`[a-z(){}=., ]{1,40}`).Draw(rt, "typed")
		last := ""
		for i := range typed {
			now := cursor + i + 1
			res, err := e.Complete(t.Context(), Request{Key: "k", Document: Document{Path: "a.go", Language: "go", Text: text[:cursor] + typed[:i+1] + text[cursor:]}, Offset: now})
			if err != nil {
				rt.Fatal(err)
			}
			if last != "" && res.Prompt.Text != last {
				if n := reread(last, res.Prompt.Text); n > e.opts.SuffixTokens+1+maxReread {
					rt.Fatalf("keystroke %d: %d tokens are read again\n%q\n%q", i, n, last, res.Prompt.Text)
				}
			}
			last = res.Prompt.Text
		}
	})
}

// Typing on over many lines, what a request reads again is the suffix and what
// was typed since the last one, but where the window moves on.
func TestTypingTraceRereadsTheSuffix(t *testing.T) {
	g := says()
	e := newEngine(t, g, Options{})
	text := goSource(900)
	cursor := strings.Index(text, "func step80") // some 640 lines down
	insert := strings.Repeat("func added(values []int) (sum int) {\n\tfor _, v := range values {\n\t\tif v > limit {\n\t\t\tcontinue\n\t\t}\n"+
		"\t\tsum += v\n\t}\n\treturn sum\n}\n\n// another is documented at some length.\nfunc another() error {\n\treturn nil\n}\n", 8)
	var last string
	moved, asked := 0, 0
	for i := range insert {
		now := cursor + i + 1
		req := Request{Key: "k", Document: Document{Path: "a.go", Language: "go", Text: text[:cursor] + insert[:i+1] + text[cursor:]}, Offset: now}
		prompt := complete(t, e, req).Prompt.Text
		if last != "" && prompt != last {
			asked++
			if reread(last, prompt) > e.opts.SuffixTokens+1+maxReread {
				moved++
			}
		}
		last = prompt
	}
	// The text is some 900 tokens, a quarter of the window's budget 384.
	if asked < 500 || moved > 3 {
		t.Errorf("%d of %d prompts changed before the place where was typed, want 3 at most", moved, asked)
	}
}

// A cursor far along a line that is longer than the window keeps its start too.
func TestWindowInALongLine(t *testing.T) {
	l := limits{prefix: 400, suffix: 60}
	text := "{" + strings.Repeat(`"name":"value",`, 4000)
	f := newPromptWindow(text, len(text), l)
	moves := 0
	for range 600 {
		text += "x"
		g := f.advance(text, len(text))
		if g.start != f.start {
			moves++
		}
		if got := rawTokens(text[g.start:g.cursor]); got > l.prefix || got < 16 {
			t.Fatalf("a prefix of %d tokens, budget %d", got, l.prefix)
		}
		f = g
	}
	if moves > 2 {
		t.Errorf("the window start moved %d times over 600 keystrokes", moves)
	}
	if back := f.advance(text, 30000); back.start > 30000 || rawTokens(text[back.start:30000]) < 16 {
		t.Errorf("a jump back: the prefix is %q", text[back.start:30000])
	}
}

// Edits above the window move it along; moving the cursor a little keeps its
// start; outgrowing the budget moves it by much, not by a line.
func TestWindow(t *testing.T) {
	text := goSource(2000)
	l := limits{prefix: 400, suffix: 60}
	cursor := strings.Index(text, "func step200")
	f := newPromptWindow(text, cursor, l)
	if f.start == 0 || text[f.start-1] != '\n' {
		t.Fatalf("start %d is not at a line's start", f.start)
	}
	if got := rawTokens(text[f.start:f.cursor]); got > l.prefix*3/4 || got < l.prefix/2 {
		t.Errorf("a fresh prefix has %d of %d tokens", got, l.prefix)
	}
	above := "// a licence\n" + text
	g := f.advance(above, cursor+len("// a licence\n"))
	if above[g.start:g.cursor] != text[f.start:f.cursor] || f.moved(&g) != 0 {
		t.Errorf("an edit above changed the prefix (moved %d)", f.moved(&g))
	}
	changes, start := 0, f.start
	for i := range 200 {
		line := fmt.Sprintf("\tcall(%d, argument)\n", i)
		text = text[:cursor] + line + text[cursor:]
		cursor += len(line)
		f = f.advance(text, cursor)
		if f.start != start {
			changes++
			start = f.start
		}
		if got := rawTokens(text[f.start:f.cursor]); got > l.prefix {
			t.Fatalf("prefix of %d tokens, budget %d", got, l.prefix)
		}
	}
	if changes == 0 || changes > 25 {
		t.Errorf("the window start moved %d times over 200 lines", changes)
	}
	far := f.advance(text, 10)
	if far.start != 0 || f.moved(&far) < 1000 {
		t.Errorf("a jump to the top: start %d, moved %d", far.start, f.moved(&far))
	}
}

// anyText draws documents that try to break a prompt: tags and their halves,
// invalid UTF-8, every line ending, very long lines.
func anyText() *rapid.Generator[string] {
	pieces := []string{"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_", "middle|>", "<fim_suffix>", "[PRE", "FIX]", "[SUFFIX]",
		"<｜fim▁end｜>", "\x00infill\x00", "<|end_of_text|>", "<|start_of_role|>", "<|", "|>", "\r\n", "\n", "\r", "\xff\xfe", "é", "日本", "😀", "\x00", "\t", " ",
		"func f() {", "}", "return x", strings.Repeat("long ", 400), strings.Repeat("x", 3000), "-->", "*/"}
	return rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(rt, "pieces"), "")
	})
}

// Nothing in a document, its path, its language or a snippet can put a control
// token into the prompt, make it longer than the window, or make it invalid.
func TestHostileDocuments(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tm := rapid.SampledFrom(templates).Draw(rt, "template")
		chat := rapid.Bool().Draw(rt, "chat")
		text := anyText().Draw(rt, "text")
		hostile := anyText().Draw(rt, "snippet")
		g := says()
		e := New(g, Options{
			Template: Choice{Template: tm.Name}, Chat: chat, ContextTokens: rapid.IntRange(1, 5000).Draw(rt, "context"),
			Context: staticContext{{Path: "<|fim_middle|>\n.go", StartLine: 1, EndLine: 2, Text: hostile}},
		})
		defer e.Close()
		language := rapid.SampledFrom([]string{"go", "html", "css", "python", "nonsense", "<|fim_suffix|>", "a\nb"}).Draw(rt, "language")
		req := Request{Key: "k", Document: Document{Path: "a/[PREFIX]<|fim_middle|>.x", Language: language, Text: text}, Offset: rapid.IntRange(-5, len(text)+5).Draw(rt, "cursor")}
		for range 3 { // the window's later use too
			res, err := e.Complete(t.Context(), req)
			if err != nil {
				rt.Fatal(err)
			}
			prompt := res.Prompt.Text
			if !utf8.ValidString(prompt) {
				rt.Fatalf("invalid UTF-8 in %q", prompt)
			}
			if got, want := control.FindAllString(prompt, -1), control.FindAllString(tm.render(parts{}, chat), -1); !slices.Equal(got, want) {
				rt.Fatalf("control tokens %q, want %q in\n%q", got, want, prompt)
			}
			if n := strings.Count(prompt, tm.between); tm.between != "" && n != 1 {
				rt.Fatalf("%d of what stands between prefix and suffix in\n%q", n, prompt)
			}
			if n := scaled(rawTokens(prompt), e.meter.factor()) + e.opts.MaxTokens; n > e.opts.ContextTokens {
				rt.Fatalf("%d tokens for a window of %d", n, e.opts.ContextTokens)
			}
			at := runeStart(req.Text, min(max(req.Offset, 0), len(req.Text)))
			req.Text = req.Text[:at] + "é" + req.Text[at:]
			req.Offset = at + len("é")
		}
	})
}

// staticContext is a ContextSource that always finds the same.
type staticContext []Snippet

func (s staticContext) Context(context.Context, ContextQuery) []Snippet { return s }

// A vocabulary of single bytes, as a tiny test model has, fits after one look.
func TestMeterLearns(t *testing.T) {
	g := says("x")
	g.count = func(p string) int { return len(p) }
	e := newEngine(t, g, Options{ContextTokens: 2048})
	text := goSource(3000)
	req := Request{Key: "k", Document: Document{Path: "a.go", Language: "go", Text: text}, Offset: len(text) / 2}
	complete(t, e, req)
	req.Text = text[:req.Offset] + "\n" + text[req.Offset:] // not the cached answer
	for range 3 {
		res := complete(t, e, req)
		if n := len(res.Prompt.Text) + e.opts.MaxTokens; n > 2048 {
			t.Errorf("%d tokens for a window of 2048", n)
		}
	}
}

func TestCommonEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b\n", strings.Repeat("c", 700)}), 0, 40).Draw(rt, "pieces"), "")
		i := rapid.IntRange(0, len(text)).Draw(rt, "i")
		j := rapid.IntRange(i, len(text)).Draw(rt, "j")
		insert := rapid.StringMatching(`[abc]{0,5}`).Draw(rt, "insert")
		after := text[:i] + insert + text[j:]
		e := diff(text, after)
		if e.start > e.oldEnd || e.start > e.newEnd {
			rt.Fatalf("edit %+v", e)
		}
		if got := text[:e.start] + after[e.start:e.newEnd] + text[e.oldEnd:]; got != after {
			rt.Fatalf("edit %+v does not make %q of %q", e, after, text)
		}
		if e.oldEnd-e.start > j-i {
			rt.Fatalf("edit %+v is larger than [%d, %d)", e, i, j)
		}
	})
}

func TestIndentUnit(t *testing.T) {
	for _, tt := range []struct{ language, text, want string }{
		{"go", "func f() {\n\tx()\n}\n", "\t"},
		{"go", "", "\t"},
		{"python", "def f():\n  if x:\n    y\n", "  "},
		{"python", "def f():\n    if x:\n        y\n", "    "},
		{"java", "/**\n * doc\n */\nclass A {\n    int x;\n}\n", "    "},
		{"typescript", "", "    "},
		{"ruby", "def a\n  b\nend\r\ndef c\n  d\nend\n", "  "},
	} {
		if got := indentUnit(tt.text, tt.language); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.language, tt.text, got, tt.want)
		}
	}
}

// Members of a type stand below the line that opens it, once, and the type's own
// line is not written twice; a snippet that the last prompt had keeps its place.
func TestHeadGroupsMembers(t *testing.T) {
	doc := Document{Path: "a.py", Language: "python"}
	class := Snippet{Path: "m.py", Text: "class Store(Base)"}
	read := Snippet{Path: "m.py", Text: "def read(self)", Within: "class Store(Base)"}
	write := Snippet{Path: "m.py", Text: "stores\ndef write(self)", Within: "class Store(Base)"}
	drop := Snippet{Path: "m.py", Text: "def drop(self)", Within: "class Cache"}
	free := Snippet{Path: "m.py", Text: "def free()"}
	py := languageFor("python")
	for _, tt := range []struct {
		name        string
		found, last []Snippet
		want        string
	}{
		{"grouped", []Snippet{read, drop, free, write}, nil,
			"# m.py\n# class Store(Base)\n#   def read(self)\n#   stores\n#   def write(self)\n# class Cache\n#   def drop(self)\n# def free()\n"},
		{"the type is there", []Snippet{class, read}, nil, "# m.py\n# class Store(Base)\n#   def read(self)\n"},
		{"as before", []Snippet{read, free, write}, []Snippet{write}, "# m.py\n# class Store(Base)\n#   stores\n#   def write(self)\n#   def read(self)\n# def free()\n"},
	} {
		got := buildHead(doc, "  ", pick(py, tt.found, tt.last, 1000))
		got, _, _ = strings.Cut(got, "# a.py")
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// A window that begins in the middle of a file has the file's imports and the lines
// that open the blocks around it before it, and begins at a declaration where one
// is near.
func TestLead(t *testing.T) {
	long := strings.Repeat("    x = compute(x)\n", 30)
	for _, tt := range []struct{ name, text, want string }{
		{"Python", "\"\"\"Doc.\"\"\"\nimport os\nfrom a.b import (\n    c,\n    d,\n)\n\nclass Store(Base):\n    size = 1\n\n    def read(self):\n" + strings.ReplaceAll(long, "    ", "        ") + "‸        return x\n",
			"import os\nfrom a.b import (\n    c,\n    d,\n)\n\nclass Store(Base):\n    def read(self):\n"},
		{"Go", "// Package p.\npackage p\n\nimport (\n\t\"fmt\"\n)\n\nfunc f() {\n\tfor {\n" + strings.ReplaceAll(long, "    ", "\t\t") + "‸\t\tx++\n",
			"package p\nimport (\n\t\"fmt\"\n)\n\nfunc f() {\n\tfor {\n"},
		{"C", "#include <stdio.h>\n\nint main(void)\n{\n" + long + "‸    return x;\n", "#include <stdio.h>\n\nint main(void)\n{\n"},
		{"a top-level line", "const fs = require('fs');\nvar a = 1;\n‸var b = 2;\n", "const fs = require('fs');\n\n"},
		{"nothing to lose", "x = 1\n‸y = 2\n", ""},
	} {
		at := strings.Index(tt.text, "‸")
		text := strings.Replace(tt.text, "‸", "", 1)
		if got := leadOf(text, at, 200); got != tt.want {
			t.Errorf("%s:\n%q\nwant\n%q", tt.name, got, tt.want)
		}
	}
	if got := leadOf("import os\nimport sys\nx = 1\n", 20, 3); got != "import os\n\n" {
		t.Errorf("a small budget: %q", got)
	}
	if got := leadOf("import os\nx = 1\n", 0, 99); got != "" {
		t.Errorf("the whole file is shown: %q", got)
	}

	text := "import os\n\n" + strings.Repeat("def f(\n    a,\n    b,\n):\n    return a + b\n\n\n", 200)
	f := newPromptWindow(text, len(text), limits{prefix: 400, suffix: 60})
	if !strings.HasPrefix(text[f.start:], "def f(") || f.lead != "import os\n\n" {
		t.Errorf("the window begins %q behind %q", text[f.start:f.start+20], f.lead)
	}
	typed := f.advance(text+"def g(", len(text)+6)
	if typed.start != f.start || typed.lead != f.lead {
		t.Errorf("typing moved the window to %d, %q", typed.start, typed.lead)
	}
}

// Only a name that says it is taken for a model that fills in the middle.
func TestCompletesByItsName(t *testing.T) {
	for name, want := range map[string]bool{
		"qwen2.5-coder:7b": true, "Qwen3-Coder:30b": true, "granite4.1:8b": true, "starcoder2:3b": true, "codellama:7b-code": true, "deepseek-coder-v2:16b": true, "codestral:22b": true,
		"qwen3:8b": false, "qwen2.5-vl:7b": false, "llama3.2:3b": false, "gemma3:4b": false, "mine:1b": false, "": false,
	} {
		if got := Completes(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
