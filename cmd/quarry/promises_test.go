package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bench/security.md names the tests that hold each promise about hostile input, and those that ran
// each attack: they exist, and `make test` runs at least one for each promise.
func TestPromisesAreHeldByTests(t *testing.T) {
	raw, err := os.ReadFile("../../bench/security.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	read := map[string]map[string]bool{} // by folder
	testsOf := func(dir string) map[string]bool {
		if read[dir] == nil {
			read[dir] = readTests(t, dir)
		}
		return read[dir]
	}
	row := regexp.MustCompile(`(?m)^\| (Y\d+) \|[^|]*\|([^|]*)\|`)
	in := regexp.MustCompile("((?:`[^`]*`(?:, )?)+): ([\\w, ]+)")
	seen := map[string]bool{}
	n := 0
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		if seen[m[1]] {
			t.Errorf("%s has two rows", m[1])
		}
		held := 0
		for _, group := range in.FindAllStringSubmatch(m[2], -1) {
			for place := range strings.SplitSeq(group[1], ", ") {
				place = strings.Trim(place, "` ")
				if place == "make test-editors" {
					continue // CI does not run it: it may not be all that holds the promise
				}
				tests := testsOf(place)
				for name := range strings.SplitSeq(group[2], ", ") {
					if !tests[strings.TrimSpace(name)] {
						t.Errorf("%s: `make test` runs no %s in %s", m[1], name, place)
					}
					held++
				}
			}
		}
		seen[m[1]], n = held > 0, n+held
	}
	const promises = 14 // of the specification's part about hostile input
	for i := 1; i <= promises; i++ {
		if id := fmt.Sprintf("Y%d", i); !seen[id] {
			t.Errorf("%s is held by no test", id)
		}
	}
	ran := regexp.MustCompile("`(\\./[\\w./-]+) -run ('[^']*'|[\\w/$]+)`")
	commands := 0
	for line := range strings.Lines(text) {
		for _, m := range ran.FindAllStringSubmatch(line, -1) {
			commands++
			for pattern := range strings.SplitSeq(strings.ReplaceAll(strings.Trim(m[2], "'"), `\|`, "|"), "|") {
				pattern, _, _ = strings.Cut(pattern, "/")
				re, found := regexp.MustCompile(pattern), false
				for name, runs := range testsOf(m[1]) {
					found = found || re.MatchString(name) && (runs || strings.Contains(line, "make test-editors"))
				}
				if !found {
					t.Errorf("`make test` runs nothing like %s in %s", pattern, m[1])
				}
			}
		}
	}
	if n < 50 || commands < 50 {
		t.Errorf("only %d names of tests and %d commands were read", n, commands)
	}
}

// readTests are the tests of a package of this repository; what is true of each is whether
// `make test` runs it.
func readTests(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		built := true
		for _, group := range file.Comments {
			for _, c := range group.List {
				if expr, err := constraint.Parse(c.Text); err == nil && c.Pos() < file.Package {
					built = expr.Eval(func(tag string) bool { return tag != "editors" && tag != "ignore" })
				}
			}
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = built
			}
		}
	}
	return tests
}

// When two changes of one document are merged, a row, a point of a list or a heading may come to
// stand in it twice, and a line of the changelog outside of all groups.
func TestDocumentsSayThingsOnce(t *testing.T) {
	n := 0
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../bench/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n++
			for _, problem := range saidTwice(string(raw)) {
				t.Errorf("%s: %s", filepath.Base(path), problem)
			}
			if filepath.Base(path) != "CHANGELOG.md" {
				continue
			}
			part, group := "", ""
			for line := range strings.Lines(string(raw)) {
				switch {
				case strings.HasPrefix(line, "## "):
					part, group = line, ""
				case strings.HasPrefix(line, "### "):
					group = line
				case strings.HasPrefix(line, "- ") && group == "":
					t.Errorf("CHANGELOG.md: in no group of %s: %.60s", strings.TrimSpace(part), line)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("%d documents were read", n)
	}
	const doubled = "# A\n\n- one\n- two\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 |\n\n## B\n\n```\nx\nx\n```\n\n## C\n\n## B\n"
	if found := saidTwice(doubled); len(found) != 3 {
		t.Errorf("of a point, a row and a heading that stand twice, these are found: %q", found)
	}
}

// saidTwice are the headings that stand twice below the same one, and the lines that stand twice in
// one list or table.
func saidTwice(text string) (found []string) {
	above := [7]string{}
	heads, lines := map[string]bool{}, map[string]bool{}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case fenced:
		case level > 0 && level < len(above):
			above[level] = line
			clear(above[level+1:])
			if key := strings.Join(above[:], "\n"); heads[key] {
				found = append(found, "heading twice: "+line)
			} else {
				heads[key] = true
			}
			clear(lines)
		case strings.TrimSpace(line) == "":
			clear(lines)
		case strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "|"):
			if lines[line] {
				found = append(found, fmt.Sprintf("line twice: %.80s", line))
			}
			lines[line] = true
		}
	}
	return found
}

// bench/mutants.sh breaks the code at places that its list names by their text: each is still
// there, and each mutant has an id of its own.
func TestMutantsAreStillThere(t *testing.T) {
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("the list is of expressions for sed, which is not installed")
	}
	raw, err := os.ReadFile("../../bench/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || fields[0] == "" {
			continue
		}
		if len(fields) != 5 || known[fields[0]] {
			t.Errorf("five fields, and an id that no other has: %s", line)
			continue
		}
		known[fields[0]] = true
		code, err := os.ReadFile(filepath.Join("../..", fields[1]))
		if err != nil {
			t.Errorf("%s: %v", fields[0], err)
			continue
		}
		sed := exec.Command("sed", "-E", fields[2])
		sed.Stdin = bytes.NewReader(code)
		mutant, err := sed.Output()
		if err != nil || bytes.Equal(mutant, code) {
			t.Errorf("%s changes nothing in %s: %s (%v)", fields[0], fields[1], fields[2], err)
		}
	}
	if len(known) < 30 {
		t.Errorf("%d mutants were read", len(known))
	}
}
