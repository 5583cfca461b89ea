package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
)

// What each checker wrote about a few lines, and what an editor would show of it.
func TestCheckersAreRead(t *testing.T) {
	const wrong, warning = agent.SeverityError, agent.SeverityWarning
	for name, c := range map[string]struct {
		output, complaints string
		want               []Diagnostic
	}{
		"go vet": {complaints: "# example.test/stock\n# [example.test/stock]\nvet: ./stock.go:7:17: undefined: strings.TrimSpaces\n./a/b.go:3:2: fmt.Printf format %s has arg n of wrong type int\n", want: []Diagnostic{
			{File: "./stock.go", Line: 7, Column: 17, Severity: wrong, Message: "undefined: strings.TrimSpaces"},
			{File: "./a/b.go", Line: 3, Column: 2, Severity: wrong, Message: "fmt.Printf format %s has arg n of wrong type int"},
		}},
		"tsc": {output: "a.ts(1,7): error TS2322: Type 'number' is not assignable to type 'string'.\na.ts(4,44): error TS2345: Argument of type '{ a: number; }' is not assignable.\n  Property 'b' is missing in type '{ a: number; }'.\n\nFound 2 errors.\n", want: []Diagnostic{
			{File: "a.ts", Line: 1, Column: 7, Severity: wrong, Code: "TS2322", Message: "Type 'number' is not assignable to type 'string'."},
			{File: "a.ts", Line: 4, Column: 44, Severity: wrong, Code: "TS2345", Message: "Argument of type '{ a: number; }' is not assignable.\n  Property 'b' is missing in type '{ a: number; }'."},
		}},
		"mypy": {output: "a.py:5:5:5:7: error: Value of type \"Coroutine[Any, Any, int]\" must be used  [unused-coroutine]\na.py:5:5:5:7: note: Are you missing an await?\na.py:7:12:7:24: error: Name \"x\" is not defined  [name-defined]\n", want: []Diagnostic{
			{File: "a.py", Line: 5, Column: 5, EndLine: 5, EndColumn: 8, Severity: wrong, Code: "unused-coroutine", Message: `Value of type "Coroutine[Any, Any, int]" must be used`},
			{File: "a.py", Line: 7, Column: 12, EndLine: 7, EndColumn: 25, Severity: wrong, Code: "name-defined", Message: `Name "x" is not defined`},
		}},
		"ruff": {output: `[{"code": "F401", "end_location": {"column": 10, "row": 1}, "filename": "/tmp/a.py", "location": {"column": 8, "row": 1}, "message": "` + "`os`" + ` imported but unused"}]`, want: []Diagnostic{
			{File: "/tmp/a.py", Line: 1, Column: 8, EndLine: 1, EndColumn: 10, Severity: warning, Code: "F401", Message: "`os` imported but unused"},
		}},
		"javac": {complaints: "A.java:1: error: cannot find symbol\nclass A { int f() { return g(1); } }\n                           ^\n  symbol:   method g(int)\n  location: class A\nA.java:9: warning: [rawtypes] found raw type: List\n    List x;\n    ^\n1 error\n1 warning\n", want: []Diagnostic{
			{File: "A.java", Line: 1, Column: 28, Severity: wrong, Message: "cannot find symbol\n  symbol:   method g(int)\n  location: class A"},
			{File: "A.java", Line: 9, Column: 5, Severity: warning, Code: "rawtypes", Message: "found raw type: List"},
		}},
		"rustc": {complaints: `{"$message_type":"diagnostic","message":"mismatched types","code":{"code":"E0308","explanation":"..."},"level":"error","spans":[{"file_name":"a.rs","line_start":1,"line_end":1,"column_start":10,"column_end":13,"is_primary":false,"label":"expected because"},{"file_name":"a.rs","line_start":1,"line_end":1,"column_start":17,"column_end":20,"is_primary":true,"label":"expected u32"}],"children":[]}` + "\n" +
			`{"$message_type":"diagnostic","message":"aborting due to 1 previous error","code":null,"level":"error","spans":[]}` + "\n", want: []Diagnostic{
			{File: "a.rs", Line: 1, Column: 17, EndLine: 1, EndColumn: 20, Severity: wrong, Code: "E0308", Message: "mismatched types\nexpected u32"},
		}},
		"gcc": {complaints: `[{"kind": "warning", "locations": [{"finish": {"byte-column": 24, "line": 1, "file": "a.c", "column": 24}, "caret": {"byte-column": 19, "line": 1, "file": "a.c", "column": 19}}], "option": "-Wunused-variable", "children": [], "message": "unused variable ‘unused’"}, {"kind": "error", "locations": [{"caret": {"byte-column": 38, "line": 1, "file": "a.c"}}], "children": [], "message": "expected ‘;’ before ‘}’ token"}]`, want: []Diagnostic{
			{File: "a.c", Line: 1, Column: 19, EndLine: 1, EndColumn: 25, Severity: warning, Code: "-Wunused-variable", Message: "unused variable ‘unused’"},
			{File: "a.c", Line: 1, Column: 38, Severity: wrong, Message: "expected ‘;’ before ‘}’ token"},
		}},
	} {
		if diff := cmp.Diff(c.want, checkers[name].read(c.output, c.complaints)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := checkers[name].read("", "something broke\n"); len(got) != 0 {
			t.Errorf("%s reads %v", name, got)
		}
	}
}

func TestAdded(t *testing.T) {
	of := func(message string, line int) Diagnostic { return Diagnostic{File: "a", Line: line, Message: message} }
	before := []Diagnostic{of("old", 3), of("x is declared on line 12", 9)}
	now := []Diagnostic{of("x is declared on line 14", 11), of("new", 1), of("old", 5)}
	if got := added(before, now); len(got) != 1 || got[0].Message != "new" {
		t.Errorf("%v", got)
	}
	if got := added(before, append(now[2:], of("old", 7))); len(got) != 2 {
		t.Errorf("one more of a sort: %v", got)
	}
	if got := added(before, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestLocation(t *testing.T) {
	const text = "a := f(größe)\nreturn\n"
	for _, c := range []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{Line: 1, Column: 1}, "a"},
		{Diagnostic{Line: 1, Column: 8}, "größe"},
		{Diagnostic{Line: 1, Column: 6, EndLine: 1, EndColumn: 8}, "f("},
		{Diagnostic{Line: 2, Column: 1}, "return"},
		{Diagnostic{Line: 2, Column: 99}, ""},
		{Diagnostic{Line: 99, Column: 1}, ""},
	} {
		start, end := c.d.location(text)
		if got := text[start:end]; got != c.want {
			t.Errorf("%+v is at %q, want %q", c.d, got, c.want)
		}
	}
}
