package eval

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/completion/crossfile"
	"quarry/index/systest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestContextOfCobra measures the context of call sites in the module cobra, of
// which go.mod says the version, so that a change of what is found shows in the
// diff. After a change that is meant: go test ./completion/eval -run Cobra -update
func TestContextOfCobra(t *testing.T) {
	systest.NeedProgram(t, "go")
	out, err := exec.Command("go", "mod", "download", "-json", "github.com/spf13/cobra").Output()
	if err != nil {
		t.Fatalf("cobra's source cannot be had: %v\n%s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	docs, err := load(module.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, step := range reaches {
		report, err := Context(t.Context(), []Repository{{"cobra", docs}}, 100, 1024, 1, step.reach)
		if err != nil {
			t.Fatal(err)
		}
		r := report.Overall
		fmt.Fprintf(&b, "%-20s %d sites, unwritten %.2f, written %.2f, names %.2f\n", step.name, r.Sites, r.Unwritten, r.Written, r.Names)
	}
	const golden = "testdata/context.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the context changed; if that is meant, run this test with -update.\ngot\n%s\nwant\n%s", b.String(), want)
	}
}

func TestNamesIn(t *testing.T) {
	snippets := []completion.Snippet{{Text: "func Open(path string) error"}, {Text: "x := Open"}}
	if got := namesIn("return Open(name, path) // 12 a", snippets); got != 0.5 { // not return, name; Open, path
		t.Errorf("share %v", got)
	}
	if got := namesIn("})", snippets); got != 0 {
		t.Errorf("a line without names: %v", got)
	}
}

// The same sites and seed give the same report, whatever the order of maps.
func TestContextIsDeterministic(t *testing.T) {
	var docs []completion.Document
	for i := range 8 {
		docs = append(docs, completion.Document{Path: fmt.Sprintf("p%d/a.go", i), Language: "go", Text: fmt.Sprintf(
			"package p%d\n\nimport \"x/p%d\"\n\ntype T%d struct{ n int }\n\nfunc F%d(t *T%d) int {\n\treturn p%d.F%d(nil)\n}\n", i, (i+1)%8, i, i, i, (i+1)%8, (i+1)%8)})
	}
	var first ContextReport
	for i := range 3 {
		report, err := Context(t.Context(), []Repository{{"r", docs}}, 8, 60, 1, crossfile.Similar)
		if err != nil {
			t.Fatal(err)
		}
		report.Overall.P50, report.Overall.P95 = 0, 0
		if i == 0 {
			first = report
		} else if report.Overall != first.Overall {
			t.Errorf("%+v, then %+v", first.Overall, report.Overall)
		}
	}
}
