package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tracer is the trace of a recorder of a clock that the test sets.
func tracer(t *testing.T, dir string, now *time.Time) (*Recorder, *Trace) {
	t.Helper()
	r := recorder(t, dir, now)
	r.trace.clock = r.clock
	r.trace.Keep(true)
	return r, r.trace
}

// S3: what was opened of an answer is noted by rank, whatever happens in between.
func TestTraceOfAnswers(t *testing.T) {
	ten := make([]string, 10)
	for i := range ten {
		ten[i] = fmt.Sprintf("/w/%d.go", i+1)
	}
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.Local)
	pass := func(d time.Duration) { now = now.Add(d) }
	for name, c := range map[string]struct {
		do   func(tr *Trace)
		want string
	}{
		"opened, in order and once": {func(tr *Trace) {
			tr.Shown(ByEditor, FormWords, "where is it", 1, ten)
			for _, p := range []string{"/w/3.go", "/w/other.go", "/w/1.go", "/w/3.go"} {
				tr.Opened(ByEditor, p)
			}
		}, `[{"by":"editor","form":"words","words":3,"shown":10,"opened":[3,1]}]`},
		"rejected": {func(tr *Trace) {
			tr.Shown(ByEditor, FormName, "Open", 1, ten[:2])
			pass(time.Minute)
			tr.Shown(ByEditor, FormName, "Opened", 1, ten[:1])
			tr.Opened(ByEditor, "/w/1.go")
		}, `[{"by":"editor","form":"name","words":1,"shown":2},{"by":"editor","form":"name","words":1,"shown":1,"opened":[1]}]`},
		"typed on": {func(tr *Trace) {
			for _, q := range []string{"o", "op", "ope", "op"} {
				tr.Shown(ByEditor, FormName, q, 1, ten)
				pass(time.Second)
			}
			tr.Opened(ByEditor, "/w/2.go")
			tr.Shown(ByEditor, FormName, "open", 1, ten)
		}, `[{"by":"editor","form":"name","words":1,"shown":10,"opened":[2]},{"by":"editor","form":"name","words":1,"shown":10}]`},
		"code is not typed on": {func(tr *Trace) {
			tr.Shown(ByEditor, FormName, "open", 1, ten)
			tr.Shown(ByEditor, FormCode, "", 1, ten)
			tr.Shown(ByEditor, FormName, "open", 1, ten)
		}, `[{"by":"editor","form":"name","words":1,"shown":10},{"by":"editor","form":"code","shown":10},{"by":"editor","form":"name","words":1,"shown":10}]`},
		"pages": {func(tr *Trace) {
			tr.Shown(ByAgent, FormWords, "a b", 1, ten[:4])
			tr.Shown(ByAgent, FormWords, "a b", 5, ten[4:8])
			tr.Opened(ByAgent, "/w/7.go")
			tr.Shown(ByAgent, FormWords, "a b", 10, ten[9:])
			tr.Opened(ByAgent, "/w/10.go")
			tr.Opened(ByAgent, "")
			tr.Shown(ByAgent, FormWords, "another", 5, ten) // its first page is not known
			tr.Opened(ByAgent, "/w/1.go")
		}, `[{"by":"agent","form":"words","words":2,"shown":10,"opened":[7,10]}]`},
		"too late": {func(tr *Trace) {
			tr.Shown(ByEditor, FormExact, "\"a\"", 1, ten)
			pass(openedWithin)
			tr.Opened(ByEditor, "/w/1.go")
		}, `[{"by":"editor","form":"exact","words":1,"shown":10}]`},
		"each asker by itself": {func(tr *Trace) {
			tr.Shown(ByEditor, FormWords, "a b", 1, ten)
			tr.Shown(ByAgent, FormCode, "", 1, ten)
			tr.Opened(ByAgent, "/w/2.go")
			tr.Opened(ByEditor, "/w/1.go")
			tr.Shown(ByAgent, FormRegexp, "", 1, nil)
		}, `[{"by":"agent","form":"code","shown":10,"opened":[2]},{"by":"agent","form":"regexp","shown":0},{"by":"editor","form":"words","words":2,"shown":10,"opened":[1]}]`},
		"bounds": {func(tr *Trace) {
			tr.Shown(ByEditor, FormWords, strings.Repeat("word ", 50), 1, slices.Repeat([]string{"/x"}, 500))
			tr.Opened(ByEditor, "/x")
		}, `[{"by":"editor","form":"words","words":9,"shown":100,"opened":[1]}]`},
		"nothing is kept": {func(tr *Trace) {
			tr.Shown(ByEditor, FormWords, "a b", 1, ten)
			tr.Keep(false)
			tr.Opened(ByEditor, "/w/1.go")
			tr.Shown(ByEditor, FormWords, "c d", 1, ten)
			tr.Keep(true)
			tr.Opened(ByEditor, "/w/1.go")
		}, `null`},
		"what was not written when it became so": {func(tr *Trace) {
			tr.Shown(ByEditor, FormWords, "a b", 1, ten)
			pass(time.Minute)
			tr.Shown(ByEditor, FormWords, "c d", 1, ten)
			tr.Keep(false)
		}, `null`},
	} {
		dir := filepath.Join(t.TempDir(), "stats")
		r, tr := tracer(t, dir, &now)
		c.do(tr)
		r.Close()
		tr.Shown(ByEditor, FormWords, "after it was closed", 1, ten)
		list, err := ReadTrace(dir, now)
		if err != nil {
			t.Fatal(err)
		}
		var answers []TracedAnswer
		for _, p := range list {
			answers = append(answers, p.Answers...)
		}
		slices.SortStableFunc(answers, func(a, b TracedAnswer) int { return strings.Compare(string(a.By), string(b.By)) })
		if got, err := json.Marshal(answers); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s, %v", name, got, c.want, err)
		}
	}
}

// Ghost text counts by its kind at first, whatever is left of it when it is accepted.
func TestTraceOfGhostText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stats")
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.Local)
	r, _ := tracer(t, dir, &now)
	r.Shown("a.go", "go", "granite4.1:3b", "return nil, err", 0)
	r.Shown("a.go", "go", "granite4.1:3b", "nil, err", 7)
	r.Shown("a.go", "go", "granite4.1:3b", "err", 12)
	r.Accepted("a.go", "go")
	r.Shown("a.go", "go", "granite4.1:3b", "if x {\n\treturn\n}", 0)
	r.Shown("a.go", "go", "local", "Close", 0)
	r.Accepted("a.go", "go")
	r.Shown("b.go", "go", "another-model", "  name()\n", 0)
	r.Close()
	list, err := ReadTrace(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	got := FiguresOf(list).String()
	want := `2026-03-31 to 2026-03-31

GHOST TEXT OF  BY     SHOWN  ACCEPTED  REJECTED  SHARE
word           local  1      1         0         1.000
line           model  1      1         0         1.000
lines          model  1      0         1         0.000
word           model  1      0         1         0.000
`
	if got != want {
		t.Errorf("%s", got)
	}
}

// S3: no byte of the trace, or of what is exported of it, is of a query, a name or code.
func TestTraceHasNoText(t *testing.T) {
	const secret = "hunter2-tomato-soup"
	dir := filepath.Join(t.TempDir(), "stats")
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.Local)
	r, tr := tracer(t, dir, &now)
	for i, form := range []Form{FormWords, FormName, FormExact, FormRegexp, FormCode} {
		path := fmt.Sprintf("/home/%s/%s%d.go", secret, secret, i)
		tr.Shown(ByEditor, form, secret+" "+secret, 1, []string{path, "/" + secret})
		tr.Opened(ByEditor, path)
		tr.Opened(ByEditor, "/"+secret+"/elsewhere")
		now = now.Add(time.Hour)
	}
	r.Shown("/"+secret+".go", secret, secret, secret+"\n"+secret, 0)
	r.Accepted("/"+secret+".go", secret)
	r.Shown("/"+secret+".go", secret, "local", secret, 0)
	r.Close()

	// Somebody, or a later quarry, has written more than there may be.
	file := filepath.Join(dir, traceFolder, "2026-03-31.jsonl")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(raw, []byte("\n"))
	noText(t, raw, secret)
	more := `{"date":"` + secret + `","query":"` + secret + `","answers":[{"by":"editor","form":"` + secret + `","shown":1},{"by":"` + secret + `","form":"name","shown":1},{"by":"editor","form":"name","shown":3,"opened":[2],"query":"` + secret + `"},` +
		`{"by":"editor","form":"name","shown":-1},{"by":"editor","form":"name","shown":1,"opened":[2,3]},{"by":"editor","form":"name","shown":9,"opened":[104]},{"by":"editor","form":"name","shown":9,"opened":[1,1]},{"by":"editor","form":"name","shown":9,"words":104}],` +
		`"ghost":[{"size":"` + secret + `","engine":"local","shown":1},{"size":"word","engine":"` + secret + `","shown":1},{"size":"word","engine":"local","shown":-1}]}` + "\n" + secret + "\n{}\n"
	if err := os.WriteFile(file, append(raw, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := ReadTrace(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Export(&out, list); err != nil {
		t.Fatal(err)
	}
	noText(t, out.Bytes(), secret)
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != lines+1 || !strings.HasSuffix(out.String(), `{"date":"2026-03-31","answers":[{"by":"editor","form":"name","shown":3,"opened":[2]}]}`+"\n") {
		t.Errorf("%d lines of %d:\n%s", n, lines, out.String())
	}
	exported := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(exported, append(out.Bytes(), more...), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := ReadExport(exported)
	if err != nil {
		t.Fatal(err)
	}
	if err := Export(&out, again); err != nil {
		t.Fatal(err)
	}
	noText(t, out.Bytes(), secret)
	noText(t, []byte(FiguresOf(again).String()), secret)
}

// noText holds that nothing of a secret stands in a text, and no word but the trace's own.
func noText(t *testing.T, text []byte, secret string) {
	t.Helper()
	for i := range len(secret) - 4 {
		if bytes.Contains(text, []byte(secret[i:i+5])) {
			t.Fatalf("%q is in the trace:\n%s", secret[i:i+5], text)
		}
	}
}

// The trace of a month is bounded, whatever is written, and the user's alone.
func TestTraceIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stats")
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.Local)
	first := now
	for range 40 {
		r, tr := tracer(t, dir, &now)
		for range 10 {
			for range 2000 {
				tr.Shown(ByAgent, FormWords, "a b", 1, []string{"/x"})
				tr.Opened(ByAgent, "/x")
			}
			if n := len(tr.now.Answers); n > maxUnwritten {
				t.Fatalf("%d answers wait in memory", n)
			}
			tr.flush()
		}
		r.Close()
		now = now.AddDate(0, 0, 1)
	}
	now = now.AddDate(0, 0, -1)
	total := int64(0)
	entries, err := os.ReadDir(filepath.Join(dir, traceFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if hasModes && info.Mode().Perm()&0o077 != 0 || info.Size() > maxTraceDay || info.Size() < maxTraceDay/2 {
			t.Errorf("%s: %v, %d bytes", e.Name(), info.Mode(), info.Size())
		}
		total += info.Size()
	}
	if len(entries) != KeptDays || total > 8<<20 || entries[0].Name() != first.AddDate(0, 0, 10).Format(dateForm)+extension {
		t.Errorf("%d days with %d bytes, from %s", len(entries), total, entries[0].Name())
	}
	if info, err := os.Stat(filepath.Join(dir, traceFolder)); err != nil || hasModes && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	// Reading it alone removes what is too old.
	if list, err := ReadTrace(dir, now.AddDate(0, 2, 0)); err != nil || len(list) > 0 {
		t.Errorf("%d parts, %v", len(list), err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, traceFolder)); err != nil || len(entries) > 0 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	r, tr := tracer(t, dir, &now)
	tr.Shown(ByEditor, FormWords, "a b", 1, nil)
	r.Close()
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFigures(t *testing.T) {
	got := FiguresOf([]Traced{
		{Date: "2026-03-02", Answers: []TracedAnswer{{ByEditor, FormWords, 3, 10, []int{2, 1}}, {ByEditor, FormWords, 3, 10, nil}, {ByEditor, FormWords, 4, 0, nil}, {ByAgent, FormName, 1, 5, []int{1}}}, Ghost: []TracedGhost{{GhostKind{"line", "model"}, 3, 0}}},
		{Date: "2026-03-01", Answers: []TracedAnswer{{ByEditor, FormWords, 3, 20, []int{11}}}, Ghost: []TracedGhost{{GhostKind{"line", "model"}, 1, 1}, {GhostKind{"word", "local"}, 0, 1}}},
	}).String()
	want := `2026-03-01 to 2026-03-02

SEARCHES OF  BY      ANSWERS  EMPTY  OPENED  FIRST AT 1  2-3  4-10  LATER  MRR    MRR OF ALL
name         agent   1        0      1       1           0    0     0      1.000  1.000
words        editor  4        1      2       0           1    0     1      0.295  0.197

GHOST TEXT OF  BY     SHOWN  ACCEPTED  REJECTED  SHARE
word           local  0      1         0         0.000
line           model  4      1         3         0.250
`
	if got != want {
		t.Errorf("%s", got)
	}
	if got := FiguresOf(nil).String(); got != "The trace has nothing yet.\n" {
		t.Error(got)
	}
}
