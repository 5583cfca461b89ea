package syntaxcheck_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/completion"
	"quarry/completion/syntaxcheck"
)

// writes is a model that always writes the same.
type writes string

func (w writes) Model() string { return "fixed" }
func (w writes) Ready() error  { return nil }
func (w writes) Generate(_ context.Context, _ string, _ int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	emit(string(w), 0)
	return 0, nil
}

// calls are the lines of calls in a block, with arguments from first to last.
func calls(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "        call%d(%d);\n", i*i%7, i)
	}
	return b.String()
}

// inside is a document with method, whose lines hold the cursor, among 80 others.
func inside(head, other, method, foot string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range 80 {
		if i == 40 {
			b.WriteString(method)
		}
		fmt.Fprintf(&b, other, i)
	}
	return b.String() + foot
}

func TestCheckWithRealGrammars(t *testing.T) {
	for _, tt := range []struct{ name, language, doc, model, want string }{
		{"sound", "go", "package p\n\nfunc f() {\n\t‸\n}\n", "if a {\n\t\tb()\n\t}", "if a {\n\t\tb()\n\t}"},
		{"broken second line", "go", "package p\n\nfunc f() {\n\t‸\n}\n", "a()\n\tb := := 1", "a()"},
		{"broken", "go", "package p\n\nfunc f() {\n\t‸\n}\n", "b := := 1", ""},
		{"the head of a long module", "ruby", "# x\nm‸\n  class A\n" + strings.Repeat("    def a\n      b(1)\n    end\n\n", 80) + "  end\nend\n", "odule Foo", "odule Foo"},
		{"no head of a long module", "ruby", "# x\nm‸\n  class A\n" + strings.Repeat("    def a\n      b(1)\n    end\n\n", 80) + "  end\nend\n", "odule )(", ""},
		{"completes what is broken", "go", "package p\n\nfunc f() {\n\tx := ‸\n}\n", "1", "1"},
		{"python", "python", "def f():\n    ‸\n", "return )", ""},
		{"typescript", "typescript", "function f() {\n  ‸\n}\n", "return { a: 1 };", "return { a: 1 };"},
		{"a call the editor closed", "go", "package p\n\nfunc (s *S) f() {\n\ts.mu.Lock(‸)\n}\n", ")\n\tdefer s.mu.Unlock()\n}\n", ")\n\tdefer s.mu.Unlock()"},
		{"a call the editor closed, then nonsense", "go", "package p\n\nfunc f() {\n\tg(‸)\n}\n", ")\n\tb := := 1", ""},
		{"arguments and a body", "typescript", "it('adds', ‸)\n", "() => {\n  expect(1 + 1).toBe(2);\n});\n", "() => {\n  expect(1 + 1).toBe(2);\n});"},
		{"cut off in a value", "javascript", "class A {\n  save() {\n    this.a = 1;\n    ‸\n  }\n}\n", "this._state = {\n      a: this.a,\n      b: this.b,\n", "this._state = {\n      a: this.a,\n      b: this.b,\n    };"},
		{"cut off in a line", "javascript", "function f() {\n  ‸\n}\n", "return {\n    a: this.a,\n    b: thi", "return {\n    a: this.a,\n  }"},
		{"cut off in a call's function", "typescript", "‸\n", "it('adds', () => {\n  const a = 1;\n  expect(a).toBe(2)\n", "it('adds', () => {\n  const a = 1;\n  expect(a).toBe(2)\n})"},
		{"cut off in two blocks", "go", "package p\n\nfunc f() {\n\t‸\n}\n", "for a {\n\t\tif b {\n\t\t\tc()\n", "for a {\n\t\tif b {\n\t\t\tc()\n\t\t}\n\t}"},
		{"cut off by the limit on lines", "rust", "fn f() {\n    ‸\n}\n", "if a {\n" + calls(1, 16) + "    }\n", "if a {\n" + calls(1, 10) + "    }"},
		{"cut off behind a block's first line", "go", "package p\n\nfunc f() {\n\t‸\n}\n", "a()\n\tfor b {\n", "a()"},
		{"cut off in CRLF", "go", "package p\r\n\r\nfunc f() {\r\n\t‸\r\n}\r\n", "if a {\n\t\tb()\n", "if a {\r\n\t\tb()\r\n\t}"},
		{"cut off, and wrong", "go", "package p\n\nfunc f() {\n\t‸\n}\n", "if a {\n\t\tb := := 1\n", ""},
		{"in a long literal", "javascript", inside("module.exports = {\n", "  m%[1]d(...args) {\n    return this.accept.m%[1]d(...args);\n  },\n\n", "  f(...args) {\n    retur‸\n  },\n\n", "};\n"), "n this.accept.f(...args);", "n this.accept.f(...args);"},
		{"wrong in a long literal", "javascript", inside("module.exports = {\n", "  m%[1]d(...args) {\n    return this.accept.m%[1]d(...args);\n  },\n\n", "  f(...args) {\n    ‸\n  },\n\n", "};\n"), "return ((this;", ""},
		{"a macro once more", "cpp", "DEFINE_OBJECT (map)\nDEFINE_OBJECT (plan)\nDEFINE_VALUE‸\nDEFINE_VALUE (glyph)\nDEFINE_VALUE (position)\n\nstatic int f () { return 1; }\n", " (feature)", " (feature)"},
		{"the line above in other words, not closed", "go", "package p\n\nfunc f() {\n\tg(a)\n\tg‸\n}\n", "(b", ""},
		{"no grammar", "unheard-of", "a ‸\n", "b((", "b(("},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trees := syntaxcheck.New()
			e := completion.New(writes(tt.model), completion.Options{Syntax: trees})
			defer e.Close()
			cursor := strings.Index(tt.doc, "‸")
			text := strings.Replace(tt.doc, "‸", "", 1)
			res, err := e.Complete(t.Context(), completion.Request{
				Key: "k", Document: completion.Document{Path: "f", Language: tt.language, Text: text}, Offset: cursor,
			})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(res.Items) > 0 {
				got = res.Items[0].Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			e.Forget("k")
			e.Close() // what a request began beside its answer is over
			if _, ok := trees.Candidate("k", text); ok {
				t.Error("a forgotten document still has a tree")
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	line := "\tif v, err := compute(total, names); err != nil {\n\t\treturn fmt.Errorf(\"step: %w\", err)\n\t}\n"
	body := "package p\n\nfunc f() error {\n" + strings.Repeat(line, 330)
	text := body + "\t\n" + strings.Repeat(line, 3) + "}\n"
	trees := syntaxcheck.New()
	trees.Document("k", "go", text)
	begin := time.Now()
	for i := 0; b.Loop(); i++ {
		typed := body + "\t" + strings.Repeat("x", i%9) + "\n" + strings.Repeat(line, 3) + "}\n"
		trees.Document("k", "go", typed)
		trees.Candidate("k", body+"\tcall(a, b)\n"+strings.Repeat(line, 3)+"}\n")
	}
	b.ReportMetric(float64(time.Since(begin).Microseconds())/float64(b.N)/1000, "ms/check")
}
