package completion

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/index/visible"
)

// fill is one case of post-processing: a document with its cursor at ‸, what
// the model wrote, and the lines of the document that stand between (and
// instead of) the cursor's afterwards; "=" means nothing is shown.
type fill struct {
	name, language, doc, model, want string
}

func (f fill) run(t *testing.T) string {
	t.Helper()
	req := at(t, "f", f.language, f.doc)
	s := newCursorContext(req.Document, req.Offset, indentUnit(req.Text, f.language), 12)
	text, covers := finish(s, f.model)
	if text == "" {
		return "="
	}
	end := lineEnd(req.Text, req.Offset)
	if req.Offset+covers > end {
		t.Errorf("the range leaves the line: %d bytes", covers)
	}
	again, coversAgain := finish(s, text)
	if again != text || coversAgain != covers {
		t.Errorf("not idempotent: %q (%d), then %q (%d)", text, covers, again, coversAgain)
	}
	return apply(req.Text, Item{Text: text, Start: req.Offset, End: req.Offset + covers})
}

var fills = []fill{
	// What is sent must not come back.
	{"control token", "go", "x := ‸\n", "1<|fim_suffix|>\ny", "x := 1\n"},
	{"role token", "python", "x = ‸\n", "1<|end_of_text|><|start_of_role|>user", "x = 1\n"},
	{"starcoder token", "java", "int x = ‸;\n", "1<file_sep>a.java", "int x = 1;\n"},
	{"only a token", "c", "int x = ‸\n", "<|end_of_text|>", "="},

	// What nobody would see: controls, another direction, no look at all.
	{"escape", "go", "x := ‸\n", "\"\x1b[2J\"", "="},
	{"clipboard", "go", "x := ‸\n", "1 // \x1b]52;c;eA==\a", "="},
	{"zero byte", "python", "x = ‸\n", "1\x00", "="},
	{"backspace", "python", "x = ‸\n", "1 # a\b\b", "="},
	{"one of eight bits", "python", "x = ‸\n", "1 # \u009b2J", "="},
	{"turned around", "go", "if ‸ {\n}\n", "a /* \u202e\u2066 */", "="},
	{"no width", "go", "x := ‸\n", "admin\u200b", "="},
	{"tags", "go", "x := ‸\n", "1 // \U000e0041\U000e0042", "="},
	{"selector", "go", "x := ‸\n", "1 // a\U000e0101", "="},
	{"no character", "go", "x := ‸\n", "admin\ufffe", "="},
	{"filler of another script", "go", "x := ‸\n", "admin\U00016fe4", "="},
	{"joiner that joins nothing", "javascript", "x = ‸\n", "пар\u200dоль", "="},
	{"place of an object", "go", "x := ‸\n", "1 // \ufffc", "="},
	{"form feed within a line", "python", "if x:\n    ‸\n", "y()\f", "="},
	{"emoji of several", "go", "x := ‸\n", "\"👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 1\ufe0f\u20e3\"", "x := \"👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 1\ufe0f\u20e3\"\n"},
	{"words of scripts that join", "go", "x := ‸\n", "\"APIهای می\u200cخواهم അവന്\u200d ක්\u200dෂ\"", "x := \"APIهای می\u200cخواهم അവന്\u200d ක්\u200dෂ\"\n"},
	{"a word that goes on", "go", "// می‸\nx := 1\n", "\u200cخواهم", "// می\u200cخواهم\nx := 1\n"},
	{"what the document has", "go", "// می\u200cخواهم\nx := ‸\n", "\"نمی\u200cدانم\"", "// می\u200cخواهم\nx := \"نمی\u200cدانم\"\n"},
	{"letters and signs of all kinds", "go", "x := ‸\n", "\"é 漢字 עברית 👍 ☂️ a\u00a0b\"", "x := \"é 漢字 עברית 👍 ☂️ a\u00a0b\"\n"},

	// Markdown around code.
	{"fence", "python", "x = ‸\n", "```python\n1\n```\nThis sets x.", "x = 1\n"},
	{"talk, then fence", "go", "func f() {\n\t‸\n}\n", "Here is the code:\n```go\nreturn\n```", "func f() {\n\treturn\n}\n"},
	{"closing fence only", "ruby", "x = ‸\n", "1\n```", "x = 1\n"},
	{"fence in Markdown", "markdown", "Run:\n\n‸\n", "```sh\nmake\n```", "Run:\n\n```sh\nmake\n```\n"},

	// The join with what was typed.
	{"echo of the line", "python", "def add(a, b):\n    return a ‸\n", "return a + b", "def add(a, b):\n    return a + b\n"},
	{"echo of the line, in a word", "go", "\tvar res‸\n", "\tvar result string", "\tvar result string\n"},
	{"echo of the line, without its indentation", "go", "\tvar res‸\n", "var result string", "\tvar result string\n"},
	{"echo of the line, in its last word", "python", "from starlette imp‸\n", "from starlette import x", "from starlette import x\n"},
	{"echo of a comment", "go", "\t// Add th‸\n", "\t// Add the endpoint to the list.", "\t// Add the endpoint to the list.\n"},
	{"echo of a name", "go", "\tx := strings.Repl‸\n", "strings.ReplaceAll(a, b, c)", "\tx := strings.ReplaceAll(a, b, c)\n"},
	{"echo of the last name", "go", "\tx := strings.Repl‸\n", "ReplaceAll(a, b, c)", "\tx := strings.ReplaceAll(a, b, c)\n"},
	{"echo of a word", "javascript", "  return‸\n", "  return a + b;", "  return a + b;\n"},
	{"echo of a type", "c", "int f(\n    PUCHAR ‸\n", "PUCHAR *out,", "int f(\n    PUCHAR *out,\n"},
	{"no echo of a type of two words", "c", "void f(void) {\n    long ‸\n}\n", "long n = 0;", "void f(void) {\n    long long n = 0;\n}\n"},
	{"no echo of a field as its type", "go", "type a struct {\n\tConfig ‸\n}\n", "Config", "type a struct {\n\tConfig Config\n}\n"},
	{"echo of an assignment", "python", "result = ‸\n", "result = f(1)", "result = f(1)\n"},
	{"no echo of a comparison", "javascript", "ok = a == ‸\n", "a == b", "ok = a == a == b\n"},
	{"echo and nothing else", "go", "\tdefer mu.Unlock‸\n", "mu.Unlock", "="},
	{"the last letter again", "javascript", "  this.processedArgs = 1;\n  x = this.pr‸\n", "rocessedArgs;", "  this.processedArgs = 1;\n  x = this.processedArgs;\n"},
	{"the last letters again", "go", "\tresult := f()\n\tuse(resu‸)\n", "sult, 1", "\tresult := f()\n\tuse(result, 1)\n"},
	{"a short word again", "go", "\tget_user()\n\tge‸\n", "get_user()", "\tget_user()\n\tget_user()\n"},
	{"a letter that comes twice", "go", "\tprocess()\n\tx := pres‸\n", "sure()", "\tprocess()\n\tx := pressure()\n"},
	{"a letter that comes twice in a name near", "go", "\tpressure()\n\tpresure()\n\tx := pres‸\n", "sure()", "\tpressure()\n\tpresure()\n\tx := pressure()\n"},
	{"the type again", "typescript", "  f: (a: string, b: number‸\n", ": number) => R", "  f: (a: string, b: number) => R\n"},
	{"a word that may come twice", "go", "\tConfig ‸\n", "Config", "\tConfig Config\n"},
	{"a blank and the word again", "go", "\tConfig‸\n", " Config", "\tConfig Config\n"},
	{"nested calls", "go", "\tx := Box(‸\n", "Box(1))", "\tx := Box(Box(1))\n"},
	{"two letters twice", "python", "pa‸\n", "pa = 1", "papa = 1\n"},
	{"a row of the same numbers", "python", "    2, 2, 2, ‸\n", "2, 2, 2, 2,", "    2, 2, 2, 2, 2, 2, 2,\n"},
	{"digits twice", "python", "x = 100‸\n", "1000", "="}, // 1000 and 1001000 are both likely
	{"two blanks", "typescript", "const x = ‸\n", " 1;", "const x = 1;\n"},
	{"indentation twice", "python", "def f():\n    ‸\n", "    return 1", "def f():\n    return 1\n"},
	{"a blank too many", "javascript", "function test() {\n  ‸\n}\n", " const x = 1;", "function test() {\n  const x = 1;\n}\n"},
	{"a blank too many, unit known", "typescript", "function a() {\n  b();\n}\nfunction c() {\n  ‸\n}\n", " d();", "function a() {\n  b();\n}\nfunction c() {\n  d();\n}\n"},
	{"a blank too many at the margin", "go", "var a = 1\n‸\n", " var b = 2", "var a = 1\nvar b = 2\n"},
	{"all of the indentation, some is there", "python", "class A:\n    def f(self):\n    ‸\n", "        return 1", "class A:\n    def f(self):\n        return 1\n"},
	{"the indentation that is missing", "python", "class A:\n    def f(self):\n    ‸\n", "    return 1", "class A:\n    def f(self):\n        return 1\n"},
	{"stars of a comment", "java", "class A {\n    /**\n    ‸\n", " * Adds one.", "class A {\n    /**\n     * Adds one.\n"},
	{"stars at the margin", "c", "/*\n‸\n", " * Adds one.", "/*\n * Adds one.\n"},
	{"blanks before a line break", "go", "\tx := 1‸\n}\n", "   \n\ty := 2", "\tx := 1\n\ty := 2\n}\n"},
	{"one column off", "javascript", "function test() {\n    ‸\n}\n", "doSomething();\n     doAnother();", "function test() {\n    doSomething();\n    doAnother();\n}\n"},
	{"one column off from the start", "javascript", "function test() {\n    ‸\n}\n", " doSomething();\n     doAnother();", "function test() {\n    doSomething();\n    doAnother();\n}\n"},
	{"a block one column off", "javascript", "function test() {\n    a();\n    ‸\n}\n", "if (x) {\n         b();\n     }", "function test() {\n    a();\n    if (x) {\n        b();\n    }\n}\n"},
	{"a body one column short", "python", "def f(x):\n    a()\n    if x‸\n", ":\n       b()\n       c()", "def f(x):\n    a()\n    if x:\n        b()\n        c()\n"},
	{"one column off with tabs", "go", "func f() {\n\ta()\n\t‸\n}\n", "b()\n\t c()", "func f() {\n\ta()\n\tb()\n\tc()\n}\n"},
	{"aligned with a bracket", "python", "    ‸\n", "x = (a,\n     b)", "    x = (a,\n     b)\n"},
	{"stars aligned", "java", "class A {\n    ‸\n}\n", "/**\n     * Adds.\n     */", "class A {\n    /**\n     * Adds.\n     */\n}\n"},
	{"deeper on purpose", "python", "x = [\n‸\n]\n", "    1,", "x = [\n    1,\n]\n"},
	{"mid-word", "rust", "let value = comp‸\n", "ute(1);", "let value = compute(1);\n"},
	{"mid-word with word after", "go", "x := get‸Name()\n", "User", "x := getUserName()\n"},

	// What stands after the cursor on the line.
	{"rest repeated", "go", "fmt.Println(‸, name)\n", "\"a\", name)", "fmt.Println(\"a\", name)\n"},
	{"closer repeated", "javascript", "foo(‸)\n", "a, b)", "foo(a, b)\n"},
	{"own brackets kept", "javascript", "foo(‸)\n", "bar()", "foo(bar())\n"},
	{"own and outer", "javascript", "foo(‸)\n", "bar())", "foo(bar())\n"},
	{"closer and semicolon", "java", "foo(‸);\n", "a, b);", "foo(a, b);\n"},
	{"quote closed", "python", "x = \"‸\"\n", "abc\"", "x = \"abc\"\n"},
	{"through the quote", "go", "fmt.Println(\"‸\")\n", "hi\", x)", "fmt.Println(\"hi\", x)\n"},
	{"through the bracket", "go", "func f(‸)\n", "a int) error {\n\treturn nil\n}", "func f(a int) error {\n\treturn nil\n}\n"},
	{"bracket of a block", "typescript", "it('x', () => {‸})\n", "\n    expect(1)\n})", "it('x', () => {\n    expect(1)\n})\n"},
	{"a finished call goes on", "typescript", "foo.bar(‸)\n", ")\nbaz();\nqux();", "foo.bar()\nbaz();\n"},
	{"a finished call goes on, with its semicolon", "typescript", "foo.bar(‸);\n", ");\nbaz();\nqux();\n", "foo.bar();\nbaz();\n"},
	{"a finished call and a block", "go", "\tfoo()‸\n", "\n\tif ok {\n\t\tbar()\n\t} else {\n\t\tbaz()\n\t}\n\tqux()", "\tfoo()\n\tif ok {\n\t\tbar()\n\t} else {\n\t\tbaz()\n\t}\n"},
	{"a finished call and a loop", "python", "    foo()‸\n", "\n    for x in xs:\n        bar(x)\n        baz(x)\n    qux()", "    foo()\n    for x in xs:\n        bar(x)\n        baz(x)\n"},
	{"a finished call and a brace below", "c", "    foo();‸\n", "\n    if (x)\n    {\n        bar();\n    }\n    baz();", "    foo();\n    if (x)\n    {\n        bar();\n    }\n"},
	{"a finished call and a call of several lines", "python", "    foo()‸\n", "\n    bar(\n        1,\n    )\n    baz()", "    foo()\n    bar(\n        1,\n    )\n"},
	{"a finished call and a chain", "rust", "    foo();‸\n", "\n    let x = bar()\n        .baz()\n        .qux();\n    quux();", "    foo();\n    let x = bar()\n        .baz()\n        .qux();\n"},
	{"a finished call and the head of what stands below", "javascript", "  foo();‸\n    bar();\n  }\n", "\n  if (ok) {\n    baz();\n  }", "  foo();\n  if (ok) {\n    bar();\n  }\n"},
	{"the head of what stands below", "go", "\tif ok‸\n\t\tfoo()\n\t}\n", " {\n\t\tbar()\n\t}", "\tif ok {\n\t\tfoo()\n\t}\n"},
	{"the bracket of what stands below", "go", "var‸\n\ta = 1\n)\n", " (\n\tb = 2\n)", "var (\n\ta = 1\n)\n"},
	{"a label and what it begins", "c", "    case 1:‸\n    }\n", "\n        foo();\n        break;\n    case 2:", "    case 1:\n        foo();\n        break;\n    }\n"},
	{"an element goes on", "javascript", "  a: 1,‸\n", "\n  b: 2,\n  c: 3,", "  a: 1,\n  b: 2,\n"},
	{"a finished call goes on to the end of its block", "go", "func f() {\n\tfoo()‸\n", "\n\tbar()\n}\n", "func f() {\n\tfoo()\n\tbar()\n}\n"},
	{"a finished call in a block", "go", "func (s *S) f() {\n\ts.mu.Lock(‸)\n}\n", ")\n\tdefer s.mu.Unlock()\n}", "func (s *S) f() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n}\n"},
	{"a finished call before what is there", "go", "func f() {\n\tmu.Lock(‸)\n\tdefer mu.Unlock()\n}\n", ")\n\tdefer mu.Unlock()\n}", "="},
	{"a call and its semicolon", "java", "foo.bar(‸)\n", ");\nbaz();", "foo.bar();\n"},
	{"an argument ends the call", "go", "\tfoo(‸)\n", "a)\n\tbar(b)", "\tfoo(a)\n"},
	{"a block in closed brackets", "javascript", "  it('x', ‸)\n", "() => {\n    a();\n  });\n  b();", "  it('x', () => {\n    a();\n  });\n"},
	{"a block behind closed brackets", "go", "\tif ok(‸)\n", "x) {\n\t\treturn\n\t}\n\ty()", "\tif ok(x) {\n\t\treturn\n\t}\n"},
	{"a block behind a closed string", "ruby", "  it \"‸\"\n", "works\" do\n    a\n  end\n  b", "  it \"works\" do\n    a\n  end\n"},
	{"a body behind its parameters", "c", "void f(‸)\n", "int x)\n{\n    g();\n}", "void f(int x)\n{\n    g();\n}\n"},
	{"arguments on lines of their own", "python", "x = foo(‸)\n", "\n    a,\n    b,\n)\ny", "x = foo(\n    a,\n    b,\n)\n"},
	{"an element of a list", "python", "x = [a, ‸],\n", "b],\ny = 1", "x = [a, b],\n"},
	{"no line break in a string", "python", "x = \"‸\"\n", "\nfoo()", "="},
	{"only the closers", "go", "\tfoo(bar(‸))\n", "))", "="},
	{"partial overlap", "python", "f(‸, key=lambda v: v.name)\n", "xs, key=lambda", "f(xs, key=lambda v: v.name)\n"},
	{"word in the middle kept", "c", "a = ‸ + b;\n", "b", "a = b + b;\n"},
	{"equal to the rest", "c", "a = ‸b;\n", "b;", "="},
	{"html attribute", "html", "<a href=\"‸\">x</a>\n", "/home\">x</a>", "<a href=\"/home\">x</a>\n"},
	{"one line only inside a line", "rust", "let x = ‸; // why\n", "1;\nlet y = 2;", "let x = 1; // why\n"},

	// Lines that follow already.
	{"next line again", "go", "func f() {\n\ta := 1\n\t‸\n\treturn a\n}\n", "a++\n\treturn a\n}", "func f() {\n\ta := 1\n\ta++\n\treturn a\n}\n"},
	{"only the next line", "go", "func f() {\n\t‸\n\treturn nil\n}\n", "return nil", "="},
	{"the typed line becomes the next", "python", "        s‸\n        self.routes.append(route)\n", "elf.routes.append(route)", "="},
	{"the typed line becomes the next, inside it", "go", "\tx := foo(‸)\n\tx := foo(a)\n", "a", "="},
	{"the typed word becomes the next", "javascript", "  ret‸\n  return a + b;\n", "urn a + b;", "="},
	{"one word becomes the next", "c", "        bre‸\n        break;\n", "ak;", "="},
	{"the block below a second time", "go", "func f() error {\n\tif‸\n\tif err != nil {\n\t\treturn err\n\t}\n}\n",
		" err != nil {\n\t\treturn err\n\t}", "="},
	{"the block below on an empty line", "go", "func f() error {\n\t‸\n\n\tif err != nil {\n\t\treturn err\n\t}\n}\n",
		"if err != nil {\n\t\treturn err\n\t}", "="},
	{"a run of equal lines", "go", "\tnext(a)\n\tne‸\n\tnext(a)\n", "xt(a)", "\tnext(a)\n\tnext(a)\n\tnext(a)\n"},
	{"the same, elsewhere", "python", "    for x in xs:\n        i ‸\n    i += 1\n", "+= 1", "    for x in xs:\n        i += 1\n    i += 1\n"},
	{"a row of zeros", "go", "\t0, 1,\n\t‸\n\t0,\n", "0,", "\t0, 1,\n\t0,\n\t0,\n"},
	{"closer below", "go", "if x {\n\t‸\n}\n", "f()\n}", "if x {\n\tf()\n}\n"},
	{"end below", "ruby", "def f\n  ‸\nend\n", "x + 1\nend", "def f\n  x + 1\nend\n"},
	{"block open, closer below", "java", "if (x) {‸\n}\n", "\n    f();\n}", "if (x) {\n    f();\n}\n"},
	{"an empty block, closer below", "go", "func f(a‸\n}\n", " int) {\n}", "func f(a int) {\n}\n"},
	{"an empty block", "go", "func f(a‸\n\nfunc g() {\n}\n", " int) {\n}", "func f(a int) {\n}\n\nfunc g() {\n}\n"},
	{"closer missing below", "java", "class A {\n    void f() {\n        ‸\n", "g();\n    }", "class A {\n    void f() {\n        g();\n    }\n"},
	{"a brace that Python has not", "python", "def f(x):\n    ‸\n", "return x\n}", "def f(x):\n    return x\n"},
	{"a brace behind a Python block", "python", "def f(x):\n    if x‸\n", ":\n        return x\n    }\n}", "def f(x):\n    if x:\n        return x\n"},
	{"a brace behind a Python def", "python", "‸\n", "def f(x):\n    return x\n}", "def f(x):\n    return x\n"},
	{"a brace that Python has", "python", "x = {\n    ‸\n", "'a': 1,\n    'b': 2,\n}", "x = {\n    'a': 1,\n    'b': 2,\n}\n"},
	{"brace below", "javascript", "function f() {\n    ‸\n}\n", "return 1;\n}", "function f() {\n    return 1;\n}\n"},
	{"catch below", "javascript", "try {\n  ‸\n} catch (e) {\n  log(e);\n}\n", "a();\n} catch (e) {\n  log(e);\n}\n}", "try {\n  a();\n} catch (e) {\n  log(e);\n}\n"},
	{"chained calls", "javascript", "function f(x) {\n  ‸\n}\n", "const y = x.trim()\n    .split(\",\")\n    .map(g);\n  return y;\n}", "function f(x) {\n  const y = x.trim()\n    .split(\",\")\n    .map(g);\n  return y;\n}\n"},
	{"parameters on lines of their own", "python", "def f(‸\n", "\n    a,\n    b,\n):\n    return a + b\n\ndef g():", "def f(\n    a,\n    b,\n):\n    return a + b\n"},
	{"brace of an inner block", "c", "void f() {\n    ‸\n}\n", "if (a) {\n        b();\n    }\n}", "void f() {\n    if (a) {\n        b();\n    }\n}\n"},

	// Scope.
	{"statement ends", "go", "\tx := ‸\n", "1\n\ty := 2", "\tx := 1\n"},
	{"block opened and closed", "go", "\tif err ‸\n", "!= nil {\n\t\treturn err\n\t}\n\tmore()", "\tif err != nil {\n\t\treturn err\n\t}\n"},
	{"else goes on", "go", "\tif a ‸\n", "{\n\t\tb()\n\t} else {\n\t\tc()\n\t}\n\td()", "\tif a {\n\t\tb()\n\t} else {\n\t\tc()\n\t}\n"},
	{"python block", "python", "def f(x):\n    if x ‸\n", "> 1:\n        return x\n    return 0", "def f(x):\n    if x > 1:\n        return x\n"},
	{"python dedent", "python", "def f(x):\n    ‸\n", "return x\n\ndef g():\n    pass", "def f(x):\n    return x\n"},
	{"python next def", "python", "def f(x):‸\n", "\n    return x\n\n\ndef g():\n    pass", "def f(x):\n    return x\n"},
	{"ruby block", "ruby", "  items.each ‸\n", "do |i|\n    puts i\n  end\n  other", "  items.each do |i|\n    puts i\n  end\n"},
	{"lua function", "lua", "local function f(‸\n", "a)\n  return a\nend\nprint(f(1))", "local function f(a)\n  return a\nend\n"},
	{"bash if", "shellscript", "if [ -f x ]; ‸\n", "then\n  cat x\nfi\necho done", "if [ -f x ]; then\n  cat x\nfi\n"},
	{"elixir do", "elixir", "  def f(x) ‸\n", "do\n    x + 1\n  end\n\n  def g", "  def f(x) do\n    x + 1\n  end\n"},
	{"html element", "html", "<ul‸\n", ">\n  <li>a</li>\n</ul>\n<p>x</p>", "<ul>\n  <li>a</li>\n</ul>\n"},
	{"css rule", "css", ".a ‸\n", "{\n  color: red;\n}\n.b {\n}", ".a {\n  color: red;\n}\n"},
	{"php method", "php", "    public function f(‸\n", "$a)\n    {\n        return $a;\n    }\n", "    public function f($a)\n    {\n        return $a;\n    }\n"},
	{"csharp braces below", "csharp", "    void F()‸\n", "\n    {\n        G();\n    }\n    void H()", "    void F()\n    {\n        G();\n    }\n"},
	{"yaml key", "yaml", "a:\n  b: ‸\n", "1\n  c: 2", "a:\n  b: 1\n"},
	{"comment line", "go", "// parse reads ‸\n", "one line.\nfunc parse() {", "// parse reads one line.\n"},
	{"string", "swift", "print(\"hello ‸\n", "world\")\nexit(0)", "print(\"hello world\")\n"},
	{"two blank lines", "rust", "fn f() {\n    ‸\n}\n", "a();\n\n\n    b();", "fn f() {\n    a();\n}\n"},
	{"too many lines", "go", "\tx := []int{‸\n", "\n" + strings.Repeat("\t\t1, 2,\n\t\t3, 4,\n", 20), "\tx := []int{\n\t\t1, 2,\n\t\t3, 4,\n"},

	// Repetition.
	{"same line again", "python", "x = 1\n‸\n", "call(a, b)\ncall(a, b)\ncall(a, b)", "x = 1\ncall(a, b)\n"},
	{"the line above again", "go", "func f() {\n\tsend(ctx, request, answer)\n\t‸\n}\n", "send(ctx, request, answer)", "="},
	{"the line above again, as far as it is typed", "go", "func f() {\n\tsend(ctx, request, answer)\n\tse‸\n}\n", "nd(ctx, request, answer)", "="},
	{"three words of the line above again", "go", "func f() {\n\tsend(ctx, request)\n\t‸\n}\n", "send(ctx, request)", "func f() {\n\tsend(ctx, request)\n\tsend(ctx, request)\n}\n"},
	{"same block again", "go", "func f() {\n\t‸\n}\n", "a.one()\n\tb.two()\n\ta.one()\n\tb.two()", "func f() {\n\ta.one()\n\tb.two()\n}\n"},
	{"calls loop", "kotlin", "val x = ‸\n", "a" + strings.Repeat(".b()", 12), "="},
	{"words loop", "javascript", "let foo = ‸\n", "foo = foo = foo = foo = foo = foo = foo =", "="},
	{"words loop, cut inside one", "javascript", "let foo = ‸\n", strings.Repeat("foo = ", 12) + "fo", "="},
	{"parameters loop", "go", "func f(‸\n", "a int, " + strings.Repeat("number, ", 10), "="},
	{"words loop in a string", "python", "x = '‸\n", strings.Repeat("na na ", 12), "x = '" + strings.TrimRight(strings.Repeat("na na ", 12), " ") + "\n"},
	{"words loop behind a string", "sql", "x = 'it''s' ‸\n", strings.Repeat("or a ", 12), "="},
	{"words loop behind lifetimes", "rust", "fn f<'a>(x: &'a str) -> ‸\n", strings.Repeat("dyn Any ", 12), "="},
	{"words loop in a string's placeholder", "javascript", "x = `${‸\n", strings.Repeat("a + ", 12), "="},
	{"a later line loops", "go", "func f() {\n\t‸\n}\n", "a(1)\n\tb(" + strings.Repeat("x, ", 16), "func f() {\n\ta(1)\n}\n"},
	{"talk loops", "python", "# ‸\n", "This is " + strings.Repeat("very ", 10), "="},
	{"lines count up", "javascript", "const a = 1;\n‸\n", "const b = 1;\nconst c = 1;\nconst d = 1;\nconst e = 1;\nconst f = 1;\nconst g = 1;",
		"const a = 1;\nconst b = 1;\n"},
	{"lines with numbers count up", "go", "func f() {\n\tx8 = y[8]\n\t‸\n}\n", "x9 = y[9]\n\tx10 = y[10]\n\tx11 = y[11]\n\tx12 = y[12]\n\tx13 = y[13]",
		"func f() {\n\tx8 = y[8]\n\tx9 = y[9]\n}\n"},
	{"four lines count up", "javascript", "‸\n", "f(1);\nf(2);\nf(3);\nf(4);", "f(1);\nf(2);\nf(3);\nf(4);\n"},

	// What repeats with good reason: numbers, words, strings.
	{"ten digits", "python", "LIMIT = ‸\n", "1000000000", "LIMIT = 1000000000\n"},
	{"thirteen digits", "javascript", "let veryLargeNumber = ‸\n", "1000000000000", "let veryLargeNumber = 1000000000000\n"},
	{"two lines of digits", "javascript", "let veryLargeNumber = ‸\n", "1000000000\nlet superLargeNumber = 1000000000000", "let veryLargeNumber = 1000000000\n"},
	{"digits before a bracket", "go", "\ttime.Sleep(‸)\n", "1000000000)", "\ttime.Sleep(1000000000)\n"},
	{"digits as an argument", "javascript", "setTimeout(cb, ‸)\n", "100000000)", "setTimeout(cb, 100000000)\n"},
	{"a mask", "go", "var mask = ‸\n", "0xFFFFFFFF", "var mask = 0xFFFFFFFF\n"},
	{"zeros", "c", "int mask = ‸\n", "0x00000000;", "int mask = 0x00000000;\n"},
	{"bits", "python", "m = ‸\n", "0b11111111", "m = 0b11111111\n"},
	{"a colour", "css", "  color: ‸;\n", "#00000000;", "  color: #00000000;\n"},
	{"a UUID", "go", "\tid := \"‸\"\n", "00000000-0000-0000-0000-000000000000\"", "\tid := \"00000000-0000-0000-0000-000000000000\"\n"},
	{"a UUID without quotes", "yaml", "id: ‸\n", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa", "id: aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"},
	{"escapes", "python", "x = b\"‸\"\n", strings.Repeat("\\x00", 16) + "\"", "x = b\"" + strings.Repeat("\\x00", 16) + "\"\n"},
	{"verbs", "go", "\ts := fmt.Sprintf(\"‸\")\n", strings.Repeat("%02x", 8) + "\")", "\ts := fmt.Sprintf(\"" + strings.Repeat("%02x", 8) + "\")\n"},
	{"verbs with blanks", "c", "printf(\"‸\");\n", strings.Repeat("%d, ", 16) + "%d\");", "printf(\"" + strings.Repeat("%d, ", 16) + "%d\");\n"},
	{"ten zeros", "go", "\tx := []int{‸}\n", strings.Repeat("0, ", 9) + "0}", "\tx := []int{" + strings.Repeat("0, ", 9) + "0}\n"},
	{"ten ones", "sql", "VALUES (‸)\n", strings.Repeat("1, ", 10) + "2)", "VALUES (" + strings.Repeat("1, ", 10) + "2)\n"},
	{"a row of bytes", "c", "    ‸\n", strings.Repeat("0x00, ", 16), "    " + strings.TrimRight(strings.Repeat("0x00, ", 16), " ") + "\n"},
	{"rule kept", "markdown", "‸\n", "----------", "----------\n"},
	{"goes on as above", "javascript", "hello();\nhello();\nhello();\n‸\n", "hello();\nhello();\nhello();\nhello();", "="},
	{"rows of numbers", "javascript", "const m = [\n  ‸\n];\n", "[1, 0, 0],\n  [1, 0, 0],\n  [0, 0, 1],\n];\n", "const m = [\n  [1, 0, 0],\n  [1, 0, 0],\n  [0, 0, 1],\n];\n"},
	{"a row of numbers as above", "go", "\t0x00, 0x00, 0x00, 0x00,\n\t‸\n", "0x00, 0x00, 0x00, 0x00,", "\t0x00, 0x00, 0x00, 0x00,\n\t0x00, 0x00, 0x00, 0x00,\n"},
	{"copies above", "go", "\ta.one(x)\n\tb.two(y)\n\t‸\n", "a.one(x)\n\tb.two(y)", "="},
	{"closers repeat with reason", "go", "\t\tif x ‸\n", "{\n\t\t\tif y {\n\t\t\t\tz()\n\t\t\t}\n\t\t}", "\t\tif x {\n\t\t\tif y {\n\t\t\t\tz()\n\t\t\t}\n\t\t}\n"},

	// Style.
	{"spaces to tabs", "go", "func f() {\n\ta()\n\tif x ‸\n}\n", "{\n        b()\n    }", "func f() {\n\ta()\n\tif x {\n\t\tb()\n\t}\n}\n"},
	{"tabs to spaces", "python", "def a():\n  b()\n\ndef f(x):\n  if x‸\n", ":\n\t\treturn 1", "def a():\n  b()\n\ndef f(x):\n  if x:\n    return 1\n"},
	{"tabs near, spaces far", "go", "const t = `\n" + strings.Repeat("  if x\n    y\n", 300) + "`\n\n" + strings.Repeat("func f() {\n\ta()\n}\n\n", 120) + "func g(‸\n",
		") {\n\tb()\n}", "const t = `\n" + strings.Repeat("  if x\n    y\n", 300) + "`\n\n" + strings.Repeat("func f() {\n\ta()\n}\n\n", 120) + "func g() {\n\tb()\n}\n"},
	{"CRLF", "go", "func f() {\r\n\tif x ‸\r\n}\r\n", "{\n\t\ta()\n\t}", "func f() {\r\n\tif x {\r\n\t\ta()\r\n\t}\r\n}\r\n"},
	{"lone CR", "go", "func f() {\r\tif x ‸\r}\r", "{\n\t\ta()\n\t}", "func f() {\r\tif x {\r\t\ta()\r\t}\r}\r"},
	{"trailing blanks", "c", "x = ‸\n", "1;  \n\n", "x = 1;\n"},
	{"blank", "c", "x = ‸\n", "  \n \n", "="},
	{"empty document", "go", "‸", "package main", "package main"},
	{"no final newline", "go", "package ‸", "main\n\nimport \"fmt\"", "package main"},
	{"astral", "python", "s = \"😀 ‸\"\n", "smile\"", "s = \"😀 smile\"\n"},

	// Placeholders of strings: the editor closes them, and so does the model.
	{"placeholder in a call", "python", "print(f\"hello {‸}\")\n", "a.name}\")", "print(f\"hello {a.name}\")\n"},
	{"placeholder and more", "python", "x = f\"{‸}\"\n", "a} and {b}\"", "x = f\"{a} and {b}\"\n"},
	{"index in a placeholder", "python", "log(f\"a {x[‸]}\")\n", "0]}\")", "log(f\"a {x[0]}\")\n"},
	{"string in a placeholder", "python", "x = f\"{d[‸]}\"\n", "'a']}\"", "x = f\"{d['a']}\"\n"},
	{"placeholder of a template", "typescript", "const s = `x ${‸}`;\n", "a}`;", "const s = `x ${a}`;\n"},
	{"template in a call", "javascript", "  console.log(`x ${‸}`);\n", "a}`);\n}", "  console.log(`x ${a}`);\n"},
	{"template in markup", "typescriptreact", "const A = () => <div className={`a ${‸}`}>x</div>;\n", "b}`}>x</div>;", "const A = () => <div className={`a ${b}`}>x</div>;\n"},
	{"variable of a shell", "shellscript", "echo \"${‸}\"\n", "a}\"", "echo \"${a}\"\n"},
	{"placeholder in Kotlin", "kotlin", "    println(\"a ${‸}\")\n", "x}\")\n}", "    println(\"a ${x}\")\n"},
	{"placeholder in C#", "csharp", "        G($\"a {‸}\");\n", "x}\");", "        G($\"a {x}\");\n"},
	{"placeholder in Swift", "swift", "print(\"a \\(‸)\")\n", "x)\")", "print(\"a \\(x)\")\n"},
	{"lifetimes", "rust", "fn f<'a>(x: &'a str‸)\n", ", y: &'a str) -> &'a str {\n    x\n}", "fn f<'a>(x: &'a str, y: &'a str) -> &'a str {\n    x\n}\n"},
	{"type argument", "go", "\tx := g[‸]()\n", "int](1)", "\tx := g[int]()\n"},
	{"condition that goes on", "javascript", "if (x‸) {\n", ".y) && (z", "if (x.y) && (z) {\n"},
	{"colour", "css", "  color: #fff‸;\n", "fff;", "  color: #ffffff;\n"},
	{"word that goes on", "javascript", "const a = \"bla‸\";\n", "blabla\";", "const a = \"blablabla\";\n"},
	{"short word known alone", "go", "\terr := f()\n\treturn er‸\n", "err", "\terr := f()\n\treturn err\n"},
	{"short word and a type", "go", "var n int64\n\nfunc f(in‸\n", " int64) {", "var n int64\n\nfunc f(in int64) {\n"},
	{"short word that begins another", "go", "\terrand := f()\n\treturn er‸\n", "rand", "\terrand := f()\n\treturn errand\n"},
	{"member of a member", "javascript", "a = node.node.b;\nx = node.‸\n", "node.next;", "a = node.node.b;\nx = node.node.next;\n"},

	// What a reviewer tried.
	{"0.333", "python", "x = ‸\n", "0.33333333333333333333333333333333333333333333", "x = 0.33333333333333333333333333333333333333333333\n"},
	{"uuid caps", "java", "String s = \"‸\";\n", "AAAAAAAA-AAAA-AAAA-AAAA-AAAAAAAAAAAA\"", "String s = \"AAAAAAAA-AAAA-AAAA-AAAA-AAAAAAAAAAAA\";\n"},
	{"x00 run bare", "c", "char s[] = \"‸\";\n", strings.Repeat("\\x00", 40), "char s[] = \"" + strings.Repeat("\\x00", 40) + "\";\n"},
	{"string of words", "go", "s := \"‸\"\n", strings.Repeat("spam ", 12) + "\"", "s := \"" + strings.Repeat("spam ", 12) + "\"\n"},
	{"template string", "javascript", "const s = `‸`;\n", strings.Repeat("na ", 20) + "batman`", "const s = `" + strings.Repeat("na ", 20) + "batman`;\n"},
	{"css vars", "css", "  transition: ‸;\n", "0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s", "  transition: 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s, 0s;\n"},
	{"None row", "python", "    t = (‸)\n", "None, None, None, None, None, None, None, None, None)", "    t = (None, None, None, None, None, None, None, None, None)\n"},
	{"nil row go", "go", "\treturn ‸\n", "nil, nil, nil, nil, nil, nil, nil, nil, nil", "\treturn nil, nil, nil, nil, nil, nil, nil, nil, nil\n"},
	{"false row", "c", "static bool t[] = {‸};\n", "false, false, false, false, false, false, false, false", "static bool t[] = {false, false, false, false, false, false, false, false};\n"},
	{"question marks sql", "python", "q = \"insert values (‸)\"\n", strings.Repeat("?, ", 20) + "?)\"", "q = \"insert values (" + strings.Repeat("?, ", 20) + "?)\"\n"},
	{"sizeof chain", "c", "n = ‸;\n", "sizeof(int) + sizeof(int) + sizeof(int) + sizeof(int) + sizeof(int) + sizeof(int) + sizeof(int)", "="},
	{"word repeats inside", "go", "x := aaaaaaaa‸\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "x := aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"},
	{"pattern loop same name value counts", "javascript", "‸\n", "add(1);\nadd(2);\nadd(3);\nadd(4);\nadd(5);\nadd(6);", "add(1);\n"},
	{"blank lines looped", "python", "‸\n", "print(a)\n\nprint(a)\n\nprint(a)\n\nprint(a)", "print(a)\n"},
	{"echo mid word self", "python", "        self.conn‸\n", "self.connect(host)", "        self.connect(host)\n"},
	{"echo dotted whole", "java", "    System.out.pri‸\n", "System.out.println(x);", "    System.out.println(x);\n"},
	{"echo func", "go", "func (s *Server) Han‸\n", "func (s *Server) Handle() {\n}", "func (s *Server) Handle() {\n}\n"},
	{"echo two letters", "go", "\tif‸\n", "if err != nil {", "\tif err != nil {\n"},
	{"echo two letters fn", "rust", "fn‸\n", "fn main() {}", "fn main() {}\n"},
	{"echo if+blank", "javascript", "  if ‸\n", "if (a) {", "  if (a) {\n"},
	{"echo let", "rust", "    let ‸\n", "let x = 1;", "    let x = 1;\n"},
	{"echo const", "typescript", "const ‸\n", "const x = 1;", "const x = 1;\n"},
	{"echo return+blank", "c", "    return ‸\n", "return 0;", "    return 0;\n"},
	{"echo import+blank", "python", "import ‸\n", "import os", "import os\n"},
	{"echo def+blank", "python", "def ‸\n", "def f(x):\n    return x", "def f(x):\n    return x\n"},
	{"echo after blank dotted", "python", "    x = self.‸\n", "self.name", "    x = self.name\n"},
	{"echo after dot", "go", "\tfmt.‸\n", "fmt.Println(a)", "\tfmt.Println(a)\n"},
	{"echo number partial", "c", "int x = 0x1‸;\n", "0x1F", "int x = 0x1F;\n"},
	{"echo string", "python", "x = \"hello wo‸\"\n", "hello world\"", "x = \"hello world\"\n"},
	{"echo in string word", "go", "s := \"conne‸\"\n", "connection\"", "s := \"connection\"\n"},
	{"echo comment word", "python", "# Return the val‸\n", "value of x", "# Return the value of x\n"},
	{"echo comment from #", "python", "    # Ret‸\n", "# Return it", "    # Return it\n"},
	{"echo $var", "php", "    $resul‸\n", "$result = 1;", "    $result = 1;\n"},
	{"echo @decorator", "python", "@prop‸\n", "@property", "@property\n"},
	{"echo kebab css", "css", "  background-co‸\n", "background-color: red;", "  background-color: red;\n"},
	{"echo :: rust", "rust", "    std::col‸\n", "std::collections::HashMap", "    std::collections::HashMap\n"},
	{"echo tag", "html", "<div cla‸\n", "<div class=\"a\">", "<div class=\"a\">\n"},
	{"echo with indentation differing", "python", "    res‸\n", "        result = 1", "    result = 1\n"},
	{"echo unicode", "python", "größ‸\n", "größe = 1", "größe = 1\n"},
	{"echo utf last", "python", "x = größ‸\n", "größe", "x = größe\n"},
	{"legit self repeat", "python", "    self.a = self‸\n", ".a", "    self.a = self.a\n"},
	{"C macro", "c", "#define FOO ‸\n", "FOO_BAR", "#define FOO FOO_BAR\n"},
	{"struct X X", "c", "typedef struct Node ‸\n", "Node;", "typedef struct Node Node;\n"},
	{"kotlin class", "java", "    Foo ‸\n", "Foo foo = new Foo();", "    Foo foo = new Foo();\n"},
	{"java ctor decl", "java", "    Foo ‸\n", "foo = new Foo();", "    Foo foo = new Foo();\n"},
	{"assign echo +=", "go", "\tsum += ‸\n", "sum * 2", "\tsum += sum * 2\n"},
	{"assign echo == js", "javascript", "  a.b = ‸\n", "a.b = c;", "  a.b = c;\n"},
	{"walrus", "go", "\tx := ‸\n", "x := 1", "\tx := 1\n"},
	{"kw arg", "python", "    f(key=‸)\n", "key=1", "    f(key=1)\n"},
	{"becomes 2nd below after blank", "go", "func f() {\n\tret‸\n\n\treturn nil\n}\n", "urn nil", "="},
	{"becomes below w/ closer auto", "javascript", "  foo(‸)\n  foo(a, b);\n", "a, b);", "="},
	{"becomes below w/o semicolon", "javascript", "  foo(‸)\n  foo(a, b);\n", "a, b)", "="},
	{"dup line + more", "python", "    x = f‸\n    x = foo(a)\n    return x\n", "oo(a)\n    return x", "="},
	{"dup 2 lines below from next", "python", "    a = 1\n    ‸\n    b = 2\n    c = 3\n", "b = 2\n    c = 3", "="},
	{"2 spaces one off", "typescript", "function f() {\n  g();\n  ‸\n}\n", "a();\n   b();", "function f() {\n  g();\n  a();\n  b();\n}\n"},
	{"2 spaces one short", "typescript", "function f() {\n  g();\n  ‸\n}\n", "if (a) {\n   b();\n }", "function f() {\n  g();\n  if (a) {\n    b();\n  }\n}\n"},
	{"body one off then dedent", "python", "def f():\n    ‸\n", "for x in y:\n         a(x)\n         if b:\n             c()", "def f():\n    for x in y:\n        a(x)\n        if b:\n            c()\n"},
	{"leading nl", "go", "func f() {‸\n}\n", "\n\n\treturn\n}", "func f() {\n\treturn\n}\n"},
	{"leading tabs vs spaces", "python", "def f():\n    ‸\n", "\treturn 1", "def f():\n    return 1\n"},
	{"leading blanks mixed", "python", "x = ‸\n", "\t1", "x = 1\n"},
	{"call stmt go", "go", "\tfmt.Println(‸)\n}\n", "\"a\")\n\tx := 1", "\tfmt.Println(\"a\")\n}\n"},
	{"nested closers", "go", "\tfoo(bar(‸))\n", "x), y)", "\tfoo(bar(x), y)\n"},
	{"nested closers, obj", "javascript", "foo({‸})\n", " a: 1, b: [1, 2] })", "foo({ a: 1, b: [1, 2] })\n"},
	{"quote in paren", "python", "print(\"‸\")\n", "a\", end=\"\")", "print(\"a\", end=\"\")\n"},
	{"index", "java", "int x = arr[‸];\n", "i];", "int x = arr[i];\n"},
	{"f-string", "python", "x = f\"{‸}\"\n", "a.b}\"", "x = f\"{a.b}\"\n"},
	{"template literal", "typescript", "const s = `${‸}`;\n", "a}`;", "const s = `${a}`;\n"},
	{"arrow body", "typescript", "xs.map(‸);\n", "(x) => {\n  return x + 1;\n});", "xs.map((x) => {\n  return x + 1;\n});\n"},
	{"rust char", "rust", "let c = '‸';\n", "a';", "let c = 'a';\n"},
	{"generic closer", "typescript", "const m = new Map<‸>();\n", "string, number>();", "const m = new Map<string, number>();\n"},
	{"cpp template", "cpp", "std::vector<‸> v;\n", "int> v;", "std::vector<int> v;\n"},
	{"escaped quote", "go", "s := \"‸\"\n", "a \\\"b\\\" c\"", "s := \"a \\\"b\\\" c\"\n"},
	{"apostrophe in string", "python", "x = \"‸\"\n", "it's\"", "x = \"it's\"\n"},
	{"apostrophe comment", "go", "// it doesn‸\n", "'t matter", "// it doesn't matter\n"},
	{"smiley string", "python", "x = \"‸\"\n", ":) and (:\"", "x = \":) and (:\"\n"},
	{"closer comment", "c", "    foo(‸); // x\n", "a); // x", "    foo(a); // x\n"},
	{"rest brace", "go", "func f() {‸}\n", "\n\treturn\n}", "func f() {\n\treturn\n}\n"},
	{"dict closers", "python", "d = {\"a\": ‸}\n", "1, \"b\": 2}", "d = {\"a\": 1, \"b\": 2}\n"},
	{"python def autoclosed", "python", "def f(‸):\n    pass\n", "a, b):", "def f(a, b):\n    pass\n"},
	{"if auto-closed then block js", "javascript", "if (‸) {\n}\n", "a > b) {", "if (a > b) {\n}\n"},
	{"sql quote", "sql", "SELECT '‸';\n", "it''s';", "SELECT 'it''s';\n"},
	{"regex", "javascript", "x.replace(/‸/g, '')\n", "\\(a\\)", "x.replace(/\\(a\\)/g, '')\n"},
	{"ruby interp", "ruby", "puts \"#{‸}\"\n", "x}\"", "puts \"#{x}\"\n"},
	{"lua", "lua", "print(‸)\n", "a)\nprint(b)", "print(a)\n"},

	// The head of a block whose brace stands on the next line already.
	{"head above its brace", "c", "int f(int ‸)\n{\n    return a;\n}\n", "a)\n{\n    return a;\n}\n", "int f(int a)\n{\n    return a;\n}\n"},
	{"head above its brace, cut", "cpp", "bool reta‸\n{\n  int b;\n  c ();\n}\n", "in (int a)\n{\n  int b;\n", "bool retain (int a)\n{\n  int b;\n  c ();\n}\n"},
	{"last parameter above the brace", "c", "int\nf (int a,\n   int ‸\n{\n    return a;\n}\n", "b)\n{\n    return a;\n}\n", "int\nf (int a,\n   int b)\n{\n    return a;\n}\n"},
	{"if above its brace", "cpp", "void f ()\n{\n  if (a ‸\n  {\n    g ();\n  }\n}\n", "== b)\n  {\n    g ();\n  }\n}\n", "void f ()\n{\n  if (a == b)\n  {\n    g ();\n  }\n}\n"},
	{"list above its brace", "cpp", "entry ‸\n  {\n    {1, 2},\n  };\n", "entries[] =\n  {\n    {1, 2},\n  };\n", "entry entries[] =\n  {\n    {1, 2},\n  };\n"},
	{"class above its brace", "csharp", "class A ‸\n{\n    int a;\n}\n", ": B\n{\n    int a;\n}\n", "class A : B\n{\n    int a;\n}\n"},
	{"method above its brace", "java", "  void f(‸)\n  {\n    g();\n  }\n", "int a)\n  {\n    g();\n  }\n", "  void f(int a)\n  {\n    g();\n  }\n"},
	{"function above its brace", "php", "function f(‸)\n{\n    return 1;\n}\n", "$a)\n{\n    return 1;\n}\n", "function f($a)\n{\n    return 1;\n}\n"},
	{"head of a new block", "c", "int f(int ‸)\n\nint g(void)\n{\n}\n", "a)\n{\n    return a;\n}\n", "int f(int a)\n{\n    return a;\n}\n\nint g(void)\n{\n}\n"},

	// What the editor closed is outside of what the answer closes first.
	{"placeholder before the quote", "javascript", "f(\n  `of ${a‸`\n);\n", ".join(', ')}.`,\n);\n", "f(\n  `of ${a.join(', ')}.`,\n);\n"},
	{"placeholder and quote of Python", "python", "    x = f(f\"of {a‸\")\n", ".b}.\", c)\n", "    x = f(f\"of {a.b}.\", c)\n"},
	{"index before the bracket", "c", "    f(a[‸)\n", "0], b);\n", "    f(a[0], b);\n"},
	{"list before the bracket", "ruby", "f([‸)\n", "1, 2], b).c\n", "f([1, 2], b).c\n"},
	{"bash", "shellscript", "echo \"$(‸)\"\n", "date)\"", "echo \"$(date)\"\n"},

	// Short words, and signs before a word or alone, are said again as longer ones are.
	{"two letters and a short word", "python", "x = ge‸\n", "get(x)", "="},
	{"two letters and a short member", "javascript", "  y.ge‸\n", "get(x);", "="},
	{"two letters of a comment", "go", "// Add th‸\n", "the endpoint", "="},
	{"two letters before a sign", "rust", "let r = re‸;\n", "res;", "="},
	{"two letters of a declaration", "rust", "pu‸\n", "pub fn a() {}", "="},
	{"two letters of a key", "typescript", "f({ na‸ })\n", "name: 1 })", "="},
	{"two letters in a string", "go", "\tf(\"no‸\")\n", "not found\")", "="},
	{"two letters that stand twice", "python", "mimic = 1\nx = mi‸\n", "mic", "mimic = 1\nx = mimic\n"},
	{"variable of a shell, again", "shellscript", "echo $HOM‸\n", "$HOME", "echo $HOME\n"},
	{"member behind an arrow", "c", "  p->nex‸\n", "->next = 0;", "  p->next = 0;\n"},
	{"chain of members", "c", "  p->next‸\n", "->next = 0;", "  p->next->next = 0;\n"},
	{"chain of a short member", "c", "  q->n = 0;\n  p->n‸\n", "->name = 0;", "  q->n = 0;\n  p->n->name = 0;\n"},
	{"member of $this", "php", "    $this->nam‸\n", "->name = 1;", "    $this->name = 1;\n"},
	{"option", "shellscript", "ls --al‸\n", "--all", "ls --all\n"},
	{"key in quotes", "json", "{ \"val‸\" }\n", "\"value\"", "{ \"value\" }\n"},
	{"link", "markdown", "See [doc‸\n", "[docs](docs.md)", "See [docs](docs.md)\n"},
	{"number compared", "go", "\tif x == 20‸ {\n\t}\n", "== 200 {", "\tif x == 200 {\n\t}\n"},
	{"list that goes on", "python", "x = f(1, 2‸)\n", ", 23)", "x = f(1, 2, 23)\n"},
	{"operator", "go", "\tx :=‸\n", ":= 1", "\tx := 1\n"},
	{"operator before a blank", "go", "\tx := ‸\n", ":= 1", "\tx := 1\n"},
	{"comparison", "go", "\tif err !=‸ {\n\t}\n", "!= nil {", "\tif err != nil {\n\t}\n"},
	{"half an operator", "cpp", "std:‸\n", "::string s;", "std::string s;\n"},
	{"longer operator", "javascript", "ok = a ==‸\n", "= b", "ok = a === b\n"},
	{"rule of a page", "markdown", "==‸\n", "====", "======\n"},
	{"type of a branch", "javascript", "x = a ? b ? c: d‸\n", ": d;", "x = a ? b ? c: d: d;\n"},
}

func TestFinish(t *testing.T) {
	languages := map[string]bool{}
	for _, f := range slices.Concat(fills, reviewed) {
		languages[f.language] = true
		t.Run(f.language+"/"+f.name, func(t *testing.T) {
			if got := f.run(t); got != f.want {
				t.Errorf("\n got %q\nwant %q", got, f.want)
			}
		})
	}
	if len(languages) < 8 {
		t.Errorf("only %d languages are covered", len(languages))
	}
}

// The stream is stopped only where the rules would cut anyway: a stopped
// stream and the whole answer end up the same.
func TestStopAgreesWithFinish(t *testing.T) {
	for _, f := range slices.Concat(fills, reviewed) {
		t.Run(f.language+"/"+f.name, func(t *testing.T) {
			for _, lead := range []string{"", " ", "  ", "   ", "    ", "     ", "\t", "\n", "\n ", " \n"} {
				if strings.Contains(lead, "\n") && strings.Contains(f.model, "```") {
					continue // talk before a fence has left the block when the fence comes
				}
				f.stopsWhereItEnds(t, lead+f.model)
			}
		})
	}
}

// stopsWhereItEnds streams model letter by letter.
func (f fill) stopsWhereItEnds(t *testing.T, model string) {
	t.Helper()
	req := at(t, "f", f.language, f.doc)
	s := newCursorContext(req.Document, req.Offset, indentUnit(req.Text, f.language), 12)
	st, kept := stopper{cursorContext: s}, ""
	for _, r := range model {
		keep, more := st.feed(string(r))
		if kept = st.text.String()[:keep]; !more {
			break
		}
	}
	whole, covers := finish(s, model)
	stopped, coversStopped := finish(s, kept)
	if whole != stopped || covers != coversStopped {
		t.Errorf("%q: whole %q (%d), stopped %q (%d)", model, whole, covers, stopped, coversStopped)
	}
}

// What goes on in a literal, however it repeats, is shown as it is or not at all, wherever
// the cursor stands in it.
func TestLiteralsAreKept(t *testing.T) {
	places := []struct{ language, before, after string }{
		{"python", "x = '", "'"}, {"go", "\ts := \"", "\""}, {"yaml", "at: ", ""}, {"toml", "a = \"", "\""}, {"java", "    f(\"", "\", b);"},
		{"kotlin", "val a = \"\"\"", "\"\"\""}, {"css", "  color: #", ";"}, {"c", "    x = 0x", ";"}, {"rust", "    let a = ", ";"}, {"ruby", "x = [", "]"},
		{"javascript", "  y[", "] = 1;"}, {"csv", "", ""}, {"elixir", "  @doc \"\"\"", "\"\"\""},
	}
	rapid.Check(t, func(rt *rapid.T) {
		group := rapid.StringMatching(rapid.SampledFrom([]string{`[0-9]{1,4}`, `[0-9a-f]{1,8}`, `[0-9A-F]{2}`, `0{1,4}|f{1,4}|1{1,4}`, `─{1,6}|哈{1,2}|✅{1,3}`}).Draw(rt, "kind"))
		groups := rapid.SliceOfN(group, 1, 3).Draw(rt, "groups")
		for range rapid.IntRange(0, 3).Draw(rt, "times") {
			groups = append(groups, groups[:min(len(groups), 4)]...)
		}
		place := rapid.SampledFrom(places).Draw(rt, "place")
		signs := []string{"", ".", ":", "-", "_", "::"}
		switch place.language {
		case "css", "c":
			signs = []string{""}
		case "rust", "ruby":
			signs = []string{"", "_", ".."}
			groups = rapid.SliceOfN(rapid.SampledFrom([]string{"1", "10", "255", "1010", "0"}), 1, 4).Draw(rt, "numbers")
		case "javascript":
			signs = []string{""}
			groups = rapid.SliceOfN(rapid.SampledFrom([]string{"1", "10", "255", "1010", "0"}), 1, 4).Draw(rt, "numbers")
		}
		if groups[0][0] >= 0x80 {
			signs = []string{""} // 哈::哈 is a name
		}
		literal := strings.Join(groups, rapid.SampledFrom(signs).Draw(rt, "sign"))
		whole := place.before + literal + place.after
		for cursor := len(place.before); cursor <= len(place.before)+len(literal); cursor++ {
			for _, closed := range []string{"", place.after} {
				doc := Document{Path: "f", Language: place.language, Text: "\n" + whole[:cursor] + closed + "\n"}
				s := newCursorContext(doc, 1+cursor, "    ", 12)
				got, covers := finish(s, whole[cursor:])
				if got == "" {
					continue
				}
				if now := strings.Trim(apply(doc.Text, Item{Text: got, Start: 1 + cursor, End: 1 + cursor + covers}), "\n"); now != whole {
					rt.Fatalf("%s: %q and %q before %q make %q", place.language, whole[:cursor], whole[cursor:], closed, now)
				}
			}
		}
	})
}

// Whatever the document and the model write, the chain settles, stays in the
// line, never shows a control token and speaks the document's line endings.
func TestFinishProperties(t *testing.T) {
	ids := []string{"go", "python", "ruby", "html", "lua", "shellscript", "markdown", "typescript", "css", "unheard-of"}
	code := rapid.Custom(func(rt *rapid.T) string {
		pieces := []string{"\n", "\n", "\n    ", "\n\t", "\n\t\t", "if x {", "}", ")", "(", "\"", "'", "end", "def f", ":", "foo(a, b)", "return x",
			" ", "  ", ",", ";", "```", "```go", "<|fim_middle|>", "<div>", "</div>", "é", "😀", "\r\n", "\r", "else", "a", "\\", "\xff",
			"\n     ", "\n   ", "\n * ", "/**", "foo = ", "0, ", " == ", ":=", "::", "$fo", "->ba", "x1 = 1", "x2 = 1", "foo", "\u202e", "\x1b", "\u200b"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(rt, "pieces"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := code.Draw(rt, "text")
		doc := Document{Path: "f", Language: rapid.SampledFrom(ids).Draw(rt, "language"), Text: text}
		cursor := runeStart(text, rapid.IntRange(0, len(text)).Draw(rt, "cursor"))
		s := newCursorContext(doc, cursor, indentUnit(text, doc.Language), rapid.IntRange(1, 20).Draw(rt, "lines"))
		answer, before := code.Draw(rt, "answer"), *s
		got, covers := finish(s, answer)
		if *s != before {
			rt.Fatalf("the context changed: %+v", *s)
		}
		if got == "" {
			return
		}
		if again, c := finish(s, got); again != got || c != covers {
			rt.Fatalf("%q (%d), then %q (%d)", got, covers, again, c)
		}
		if control.MatchString(got) {
			rt.Fatalf("a control token in %q", got)
		}
		for _, r := range got {
			if visible.Hidden(r) && !strings.ContainsRune(text, r) {
				rt.Fatalf("%q hides %U, which %q does not have", got, r, text)
			}
		}
		if covers < 0 || covers > len(s.rest) {
			rt.Fatalf("covers %d of %d bytes", covers, len(s.rest))
		}
		if unixLines(got) != strings.ReplaceAll(got, s.eol, "\n") {
			rt.Fatalf("line endings of %q, want %q", got, s.eol)
		}
	})
}
