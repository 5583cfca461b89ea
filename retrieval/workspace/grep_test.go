package workspace_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// lines are those that a query finds, path:line: text, over all pages.
func (w *world) lines(query string, page int) (list []string) {
	w.t.Helper()
	for offset := 0; ; offset += page {
		answer, err := w.Search(w.t.Context(), retrieval.Request{Query: retrieval.Parse(query, time.Now()), Limit: page, Offset: offset})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range answer.Results {
			list = append(list, fmt.Sprintf("%s:%d: %s", r.Path, r.StartLine, r.Text))
		}
		if answer.Total <= offset+len(answer.Results) {
			return list
		}
	}
}

// Some sources of this package and a page of the documentation are what lines are looked for in: code as it is.
func ownSources(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"grep.go", "search.go", "searchable.go", "names.go", "similar.go", "rerank.go", "../../docs/agents.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.ReplaceAll(name, "../", "up/")] = string(text)
	}
	files["crlf.txt"] = "one retry\r\ntwo\r\nlast retry"
	return files
}

// randomExpressions are n expressions made of pieces of texts.
func randomExpressions(r *rand.Rand, n int, files map[string]string) (list []string) {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		texts = append(texts, files[name])
	}
	piece := func() string {
		for {
			lines := strings.Split(texts[r.IntN(len(texts))], "\n")
			line := strings.Trim(lines[r.IntN(len(lines))], "\r")
			if size := 3 + r.IntN(10); len(line) > size {
				from := r.IntN(len(line) - size)
				if p := line[from : from+size]; isPlain(p) {
					return p
				}
			}
		}
	}
	for len(list) < n {
		a, b := regexp.QuoteMeta(piece()), regexp.QuoteMeta(piece())
		switch r.IntN(10) {
		case 8, 9: // a string and what is around it
			list = append(list, `"`+[]string{a, `[^"]*` + a, `\w+": `, `[^"]*", "` + b, `[^"]*"`, `.*"\)`}[r.IntN(6)])
		case 0:
			list = append(list, a)
		case 1:
			list = append(list, "(?i)"+a)
		case 2:
			list = append(list, a+"|"+b)
		case 3:
			list = append(list, a+`.*[a-z]\w+`)
		case 4:
			list = append(list, "^"+`\s*`+a)
		case 5:
			list = append(list, "(?:"+a+")?"+b)
		case 6:
			list = append(list, a[:1]+`[[:alpha:]]{2,4}$`)
		case 7:
			list = append(list, "(?:"+a+"|(?i:"+b+"))+")
		}
		if _, err := regexp.Compile(list[len(list)-1]); err != nil {
			list = list[:len(list)-1] // a backslash that was cut off
		}
	}
	return list
}

// isPlain answers whether a text is ASCII.
func isPlain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 || r < ' ' }) < 0
}

// asked are the ways to ask for an expression: in quotes, and as it stands where nothing of it
// could be meant otherwise, as a blank at its ends or a filter.
func asked(expr string) []string {
	quoted := []byte(`re:"`)
	for i := 0; i < len(expr); i++ {
		if expr[i] == '"' {
			quoted = append(quoted, '\\')
		}
		quoted = append(quoted, expr[i])
		if expr[i] == '\\' {
			i++ // what it goes with is the next one
			quoted = append(quoted, expr[i])
		}
	}
	ways := []string{string(append(quoted, '"'))}
	if q := retrieval.Parse(expr, time.Now()); expr == strings.TrimSpace(expr) && !q.Narrows() && !q.AllLines && !wholeQuoted.MatchString(expr) {
		ways = append(ways, "re:"+expr)
	}
	return ways
}

var wholeQuoted = regexp.MustCompile(`^"[^"]+"$`)

// 300 expressions find every line of the indexed files that a plain scan finds, and that ripgrep
// finds where there is one.
func TestLinesAreComplete(t *testing.T) {
	files := ownSources(t)
	dir := t.TempDir()
	write(t, dir, files)
	w := open(t, false, dir)
	w.wait("the files", func(texts map[string]string) bool { return len(texts) == len(files) })
	ripgrep, err := exec.LookPath("rg")
	if err != nil {
		t.Log("no rg in PATH: the lines are compared with a plain scan alone")
	}
	found := 0
	for _, expr := range randomExpressions(rand.New(rand.NewPCG(18, 300)), 300, files) {
		re := regexp.MustCompile(expr)
		var want []string
		for _, name := range slices.Sorted(maps.Keys(files)) {
			for i, line := range strings.Split(strings.TrimSuffix(files[name], "\n"), "\n") {
				if line = strings.TrimSuffix(line, "\r"); re.MatchString(line) {
					want = append(want, fmt.Sprintf("%s:%d: %s", name, i+1, line))
				}
			}
		}
		found += len(want)
		for _, query := range asked(expr) {
			if got := w.lines("lines:all "+query, 2000); !slices.Equal(got, want) {
				t.Errorf("%s: %d lines, a scan finds %d", query, len(got), len(want))
			}
		}
		if ripgrep == "" {
			continue
		}
		out, err := exec.CommandContext(t.Context(), ripgrep, "--no-config", "--no-ignore", "--no-unicode", "--crlf", "-n", "--no-heading", "-e", expr, dir).Output()
		if code, ok := err.(*exec.ExitError); err != nil && (!ok || code.ExitCode() != 1) {
			t.Fatalf("rg %s: %v", expr, err)
		}
		if n := strings.Count(string(out), "\n"); n != len(want) {
			t.Errorf("%s: %d lines, ripgrep finds %d", expr, len(want), n)
		}
	}
	if asked(`"a`)[1] != `re:"a` || len(asked(`"a"`)) != 1 {
		t.Error("no expression that begins with a quote is asked as it stands")
	}
	if found < 500 {
		t.Errorf("only %d lines were found: the test shows little", found)
	}
}

func TestSearchOfLines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"barn/harvest.go":      "package barn\n\n// Harvest collects.\nfunc Harvest(n int) int {\n\treturn Harvest(n - 1)\n}\n",
		"barn/harvest_test.go": "package barn\n\nfunc TestHarvest() { Harvest(1) }\n",
		"notes.md":             "When to Harvest\nharvest late\n",
		".gitignore":           "out/\n",
		"out/harvest.go":       "package out\n",
	})
	w := open(t, false, dir)
	w.wait("the files", func(texts map[string]string) bool { return len(texts) == 4 })
	for query, want := range map[string][]string{
		`re:func \w+\(n`:                    {"barn/harvest.go:4: func Harvest(n int) int {"},
		`/func \w+\(n/`:                     {"barn/harvest.go:4: func Harvest(n int) int {"},
		`/Harvest/ -type:test`:              {"barn/harvest.go:3: // Harvest collects.", "notes.md:1: When to Harvest"},
		`re:Harvest\( type:test`:            {"barn/harvest_test.go:3: func TestHarvest() { Harvest(1) }"},
		`re:"Harvest\(n" lang:go`:           {"barn/harvest.go:4: func Harvest(n int) int {"},
		`lines:all harvest lang:markdown`:   {"notes.md:1: When to Harvest", "notes.md:2: harvest late"},
		`lines:all "Harvest" path:notes.md`: {"notes.md:1: When to Harvest"},
		`lines:all "return" re:"Harvest"`:   {"barn/harvest.go:5: \treturn Harvest(n - 1)"},
		`re:Harvest`: {"barn/harvest.go:3: // Harvest collects.", // code comes before what helps it
			"barn/harvest_test.go:3: func TestHarvest() { Harvest(1) }", "notes.md:1: When to Harvest"},
	} {
		for _, page := range []int{1, 100} {
			if got := w.lines(query, page); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d:\n got %q\nwant %q", query, page, got, want)
			}
		}
	}
	answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("re:Harvest", time.Now()), Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if first := answer.Results[0]; len(first.More) != 2 || first.More[0].StartLine != 4 || !slices.Equal(first.Reasons, []string{"3 lines match; lines:all shows each"}) {
		t.Errorf("the other lines of the file: %+v, %q", first.More, first.Reasons)
	}
	if answer.NotSearched["ignored"] == 0 || !slices.Equal(answer.Backend, []string{workspace.BackendLines}) {
		t.Errorf("not searched: %v, backend %q", answer.NotSearched, answer.Backend)
	}
	// What is typed is found before it is saved.
	w.DidOpen(filepath.Join(dir, "notes.md"), "zebra\n")
	if got := w.lines("lines:all zebra", 10); !slices.Equal(got, []string{"notes.md:1: zebra"}) {
		t.Errorf("in an open document: %q", got)
	}
	if answer, err = w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("re:Harvest lang:rust", time.Now())}); err != nil || !answer.NothingLeft {
		t.Errorf("filters that leave nothing: %+v, %v", answer, err)
	}
}

// Pages of a ranked search, one behind the other, are what one page has.
func TestPages(t *testing.T) {
	top := t.TempDir()
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	for i := range 9 {
		write(t, []string{one, two}[i%2], map[string]string{fmt.Sprintf("pear%d.go", i): fmt.Sprintf("package pear\n\n// Pear %s\nfunc Pear%d() {}\n", strings.Repeat("grows. ", i+1), i)})
	}
	w := open(t, false, one, two)
	w.wait("the files", func(texts map[string]string) bool { return len(texts) == 9 })
	page := func(offset, limit int) (list []string) {
		answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("how a pear grows", time.Now()), Offset: offset, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Total != 9 {
			t.Errorf("offset %d: total %d", offset, answer.Total)
		}
		for _, r := range answer.Results {
			list = append(list, r.Path)
		}
		return list
	}
	whole := page(0, 9)
	if got := slices.Concat(page(0, 4), page(4, 4), page(8, 4)); len(whole) != 9 || !slices.Equal(got, whole) {
		t.Errorf("pages %q, whole %q", got, whole)
	}
	if got := page(9, 4); len(got) != 0 {
		t.Errorf("behind the last: %q", got)
	}
}

// Where an expression takes too long nothing is said to be found or not.
func TestLinesThatTakeTooLong(t *testing.T) {
	req := retrieval.Request{Query: retrieval.Parse("re:x", time.Now())}
	req.Query.Lines = req.Query.Lines.Within(0)
	files := []workspace.LineFile{{Root: "/r", Path: "a", Name: "a"}, {Root: "/r", Path: "b", Name: "b"}}
	_, err := workspace.LinesIn(t.Context(), files, req, func(workspace.LineFile) (string, error) { return "x\n", nil })
	var unknown *workspace.NotReady
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "0 of 2 files were looked at") {
		t.Errorf("%v", err)
	}
}

// type:code leaves out what is compiled, for lines as for words.
func TestLinesOfCodeAreNotThoseOfCompilers(t *testing.T) {
	source := "export function countApples(basket: string[]): number {\n  return basket.length;\n}\n"
	compiled := "\"use strict\";\nexports.countApples = countApples;\nfunction countApples(basket) {\n  return basket.length;\n}\n"
	dir := t.TempDir()
	write(t, dir, map[string]string{"src/a.ts": source, "src/a.js": compiled, "lib/a.js": compiled, "tool/b.js": "function countApples(market) { return market.total; }\n"})
	w := open(t, false, dir)
	w.wait("the files", func(texts map[string]string) bool { return len(texts) == 4 })
	for query, want := range map[string][]string{
		"lines:all countApples type:code": {"src/a.ts:1: export function countApples(basket: string[]): number {", "tool/b.js:1: function countApples(market) { return market.total; }"},
		"lines:all countApples": {"lib/a.js:2: exports.countApples = countApples;", "lib/a.js:3: function countApples(basket) {", "src/a.js:2: exports.countApples = countApples;",
			"src/a.js:3: function countApples(basket) {", "src/a.ts:1: export function countApples(basket: string[]): number {", "tool/b.js:1: function countApples(market) { return market.total; }"},
	} {
		if got := w.lines(query, 10); !slices.Equal(got, want) {
			t.Errorf("%s: %q", query, got)
		}
	}
}
