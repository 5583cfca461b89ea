package eval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/completion"
)

// A draft that names the callee brings its signature into the second prompt; one
// that names something else does not.
func TestRounds(t *testing.T) {
	docs := []completion.Document{{Path: "far/away.go", Language: "go", Text: "package far\n\nfunc Quench(thirst int) error { return nil }\n"}}
	for i := range 40 {
		// Many other things that the budget goes to.
		docs = append(docs, completion.Document{Path: fmt.Sprintf("near/n%d.go", i), Language: "go", Text: fmt.Sprintf(
			"package near\n\nfunc Walk%d(path string, depth, width int) error { return nil }\n\nfunc Run%d(path string, depth, width int) error { return nil }\n", i, i)})
	}
	docs = append(docs, completion.Document{Path: "near/main.go", Language: "go", Text: "package near\n\nfunc walkAndRun() error {\n" +
		"\tfirst := 1\n\tsecond := 2\n\treturn Quench(first + second)\n}\n"})
	report, err := Rounds(t.Context(), []Repository{{"r", docs}}, 10, 200, 1)
	if err != nil {
		t.Fatal(err)
	}
	if report.Bodies != 1 || report.Callees != 1 || report.One != 0 {
		t.Errorf("%+v", report)
	}
	if first := report.Two[0]; first.Recall != 1 || first.Answered != 1 {
		t.Errorf("with the body itself as the draft: %+v", first)
	}
	if len(report.Two) != len(corruptions)+1 || !strings.Contains(report.String(), "| the model-free engine's |") {
		t.Errorf("%s", report)
	}
}

func TestBodySpan(t *testing.T) {
	for text, want := range map[string]string{
		"func f() {\n\ta()\n\tb()\n\tc()\n}":                       "\ta()\n\tb()\n\tc()\n",
		"def f(self,\n      b):\n    a()\n    b()\n    c()\n":      "    a()\n    b()\n    c()\n",
		"func f() { return }":                                      "",
		"func f() {\n\ta()\n}":                                     "",
		"def f():\n" + strings.Repeat("    a()\n", maxBodyLines+1): "",
	} {
		from, to, ok := bodySpan(text, 0, len(text))
		if got := text[from:to]; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

func TestCorrupt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const text = "first := second(third) + 12"
	if got := corrupt(text, 0, []string{"x"}, rng); got != text {
		t.Errorf("nothing: %q", got)
	}
	if got := corrupt(text, 1, []string{"x"}, rng); got != "x := x(x) + 12" {
		t.Errorf("all: %q", got)
	}
}
