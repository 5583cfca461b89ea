package eval

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/diagnostics/imports"
)

// putting offers to put a line where it says, and a wrong import besides.
type putting struct {
	line  string
	above string
}

func (p putting) Find(_ context.Context, problem agent.Problem) imports.Found {
	at := max(0, strings.Index(problem.Document.Text, p.above))
	edit := func(line string) imports.Candidate {
		return imports.Candidate{What: line, Files: 1, Edits: []agent.TextEdit{{Start: at, End: at, New: line + "\n"}}}
	}
	return imports.Found{Candidates: []imports.Candidate{edit("import wrong"), edit(p.line)}, Certain: true}
}

func TestImportsAreJudged(t *testing.T) {
	const text = "import os\nfrom re import compile\n\n\ndef f():\n    total = 1\n    print(total)\n    return os.getcwd(), compile('a')\n"
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Repository{Name: "one", Language: "python", Half: "fit"}
	trials := func(finder Finder) map[string]ImportTrial {
		list, err := Imports(t.Context(), r, root, finder, 10)
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]ImportTrial{}
		for _, trial := range list {
			by[trial.Statement] = trial
		}
		return by
	}
	got := trials(putting{"import os", "from re"})
	if one := got["import os"]; !one.Exact || !one.Written || len(one.Names) != 1 || one.Names[0].Rank != 2 {
		t.Errorf("the import that was there is judged %+v", one)
	}
	if one := got["from re import compile"]; one.Exact || one.Names[0].Rank != 0 {
		t.Errorf("another import is judged %+v", one)
	}
	if one := got["total = 1"]; !one.Declaration || one.Names[0].Rank != 0 {
		t.Errorf("a variable is judged %+v", one)
	}
	got = trials(putting{"import os", "\n\ndef"})
	if one := got["import os"]; one.Exact || !one.Written || one.Names[0].Rank != 2 || one.Differs == "" {
		t.Errorf("the import in another place is judged %+v", one)
	}
	report := SumImports(slices.Collect(func(yield func(ImportTrial) bool) {
		for _, one := range got {
			yield(one)
		}
	}))
	want := ImportScore{Statements: 2, Written: 1, Names: 2, Offered: 2, Three: 1, AllOffers: 4, WrongOffers: 3, Certain: 2, CertainLess: 2, Declarations: 1, DeclarationOffers: 1, DeclarationCertain: 1}
	score := report.Scores["python fit"]
	score.Interval, score.Median, score.Slowest, score.seconds = [2]float64{}, 0, 0, nil
	if !reflect.DeepEqual(score, want) {
		t.Errorf("the score is %+v, want %+v", score, want)
	}
	if !strings.Contains(report.String(), "python fit") {
		t.Errorf("the table lacks a row:\n%s", report)
	}
}
