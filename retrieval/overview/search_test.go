package overview_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/retrieval"
	"quarry/retrieval/overview"
	"quarry/retrieval/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ferry = map[string]string{
	"README.md":             "# Ferry\n\nFerry books places on boats across the harbour.\n\n## Tests\n\nRun `make test`.\n\n## Licence\n",
	"Makefile":              "build: ## build bin/ferry\n\tgo build ./cmd/ferry\ntest: ## run the tests\n\tgo test ./...\n",
	"go.mod":                "module ferry\n\nrequire example.org/tide v1.2.3\n",
	"cmd/ferry/main.go":     "// Command ferry serves bookings.\npackage main\n\nfunc main() { serve() }\n",
	"booking/booking.go":    "// Package booking keeps who crosses when.\npackage booking\n\nfunc Reserve() {}\n",
	"booking/start.go":      "package booking\n\nfunc Start() { Reserve() }\n",
	"booking/other.go":      "package booking\n\nfunc Other() { Reserve() }\n",
	"booking/start_test.go": "package booking\n\nfunc TestStart() { Reserve() }\n",
}

// project is a workspace of folders, each with the files of ferry.
func project(t *testing.T, names ...string) *workspace.Workspace {
	t.Helper()
	top := t.TempDir()
	var roots []string
	for _, name := range names {
		root := filepath.Join(top, name)
		roots = append(roots, root)
		for file, text := range ferry {
			write(t, root, file, text)
		}
	}
	return workspaceOf(t, roots...)
}

// Questions about the whole are answered by what speaks for it.
func TestAnswer(t *testing.T) {
	w := project(t, "ferry")
	for _, c := range []struct {
		question string
		first    string
		want     map[string]string // file: what its reasons say
	}{
		{"what is this repository about", "README.md", map[string]string{"README.md": "folders: booking/ 4 files, cmd/ 1 files"}},
		{"how is it laid out", "README.md", map[string]string{"README.md": "folders: booking/ 4 files", "booking/booking.go": "booking/ (4 files): Package booking keeps who crosses when."}},
		{"where do I start", "README.md", map[string]string{"README.md": "describes the whole", "cmd/ferry/main.go": "a program or package begins here: func main()", "booking/booking.go": "Reserve is used in 3 files"}},
		{"how do I run the tests", "Makefile", map[string]string{"Makefile": "`make test`: run the tests, tests: booking/ 1 files", "README.md": "says so under Tests"}},
		{"run the test suite", "Makefile", map[string]string{"README.md": "says so under Tests", "go.mod": "`go test ./...`"}},
		{"what is the entry point", "cmd/ferry/main.go", map[string]string{"README.md": "describes the whole"}},
		{"what does ferry do", "README.md", map[string]string{"README.md": "says what this is for"}},
		{"how do I build this project", "Makefile", map[string]string{"Makefile": "`make build`"}},
		{"what does it depend on", "go.mod", map[string]string{"go.mod": "needs example.org/tide"}},
	} {
		answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(c.question, time.Now())})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Results) < len(c.want) || answer.Results[0].Path != c.first || !slices.Contains(answer.Backend, workspace.BackendProject) {
			t.Fatalf("%s: %+v", c.question, answer)
		}
		seen := map[string]bool{}
		for i, r := range answer.Results {
			if seen[r.Path] {
				t.Errorf("%s: %s is there twice", c.question, r.Path)
			}
			seen[r.Path] = true
			if want, ok := c.want[r.Path]; ok && (i > len(c.want) || !strings.Contains(strings.Join(r.Reasons, ", "), want)) {
				t.Errorf("%s: %d is %s, because %q", c.question, i+1, r.Path, r.Reasons)
			}
		}
		for path := range c.want {
			if !seen[path] {
				t.Errorf("%s: %s is not among the results", c.question, path)
			}
		}
	}
	first, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("where does a booking start", time.Now())})
	if err != nil || slices.Contains(first.Backend, workspace.BackendProject) {
		t.Errorf("a question about a part: %q, %v", first.Backend, err)
	}
}

// Each way of saying how the tests are run and how it is built comes before the README, the
// plainest first; of the README what stands under such a heading.
func TestCommands(t *testing.T) {
	many := ""
	for i := range 20 {
		many += fmt.Sprintf("other%c:\n\techo\n", 'a'+i)
	}
	readme := "Ferry\n=====\n\nBooks places.\n\nInstallation\n------------\n\nPut it there.\n\nTesting\n-------\n\nAsk for a boat.\n"
	ci := "jobs:\n  ci:\n    steps:\n      - run: pip install pytest build\n      - run: |\n          cd src\n          rake compile\n      - name: tests\n        run: bundle exec rspec\n"
	for name, c := range map[string]struct {
		files        map[string]string
		tests, build string // the first place
	}{
		"a target behind many":    {map[string]string{"Makefile": many + "testloop:\n\tx\nserve-coverage:\n\tx\nall: x\nbuild:\n\tx\ntest:\n\tx\n", "README.rst": readme}, "Makefile:48", "Makefile:46"},
		"a script":                {map[string]string{"package.json": "{\n \"scripts\": {\n  \"lint\": \"x\",\n  \"test\": \"jest\",\n  \"build\": \"tsc\"\n }\n}\n", "README.rst": readme}, "package.json:4", "package.json:5"},
		"continuous integration":  {map[string]string{".github/workflows/ruby.yml": ci, "README.rst": readme}, ".github/workflows/ruby.yml:9", ".github/workflows/ruby.yml:7"},
		"no more than the README": {map[string]string{"README.rst": readme, "main.rb": "puts 1\n"}, "README.rst:11", "README.rst:6"},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			write(t, root, file, text)
		}
		w := workspaceOf(t, root)
		for question, want := range map[string]string{"how do I run the tests": c.tests, "how do I build it": c.build} {
			answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(question, time.Now())})
			if err != nil || len(answer.Results) == 0 {
				t.Fatalf("%s, %s: %+v, %v", name, question, answer, err)
			}
			if r := answer.Results[0]; fmt.Sprintf("%s:%d", r.Path, r.StartLine) != want {
				t.Errorf("%s, %s: %s:%d because %q, want %s", name, question, r.Path, r.StartLine, r.Reasons, want)
			}
		}
	}
}

// A program that a shell runs is where a project begins, and a template is not.
func TestEntries(t *testing.T) {
	root := t.TempDir()
	write(t, root, "README.md", "# Ferry\n\nBooks places.\n")
	write(t, root, "bin/ferry", "#!/usr/bin/env ruby\nrequire 'ferry'\n")
	write(t, root, "templates/start.sh.erb", "#!/bin/sh\nmain() {\n  echo\n}\nmain\n")
	answer, err := workspaceOf(t, root).Search(t.Context(), retrieval.Request{Query: retrieval.Parse("what is the entry point", time.Now())})
	if err != nil || len(answer.Results) == 0 || answer.Results[0].Path != "bin/ferry" {
		t.Fatalf("%+v, %v", answer.Results, err)
	}
	for _, r := range answer.Results {
		if strings.Contains(strings.Join(r.Reasons, ""), "begins here") && r.Path != "bin/ferry" {
			t.Errorf("%s: %q", r.Path, r.Reasons)
		}
	}
}

func write(t *testing.T, root, file, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func workspaceOf(t *testing.T, roots ...string) *workspace.Workspace {
	t.Helper()
	w := workspace.New(workspace.Options{StateDir: t.TempDir(), Project: overview.Answer})
	t.Cleanup(w.Close)
	w.SetRoots(roots)
	if missing, err := w.Await(t.Context()); missing != nil || err != nil {
		t.Fatalf("not indexed: %v, %v", missing, err)
	}
	return w
}

// In a workspace of several folders each speaks for itself.
func TestAnswerOverFolders(t *testing.T) {
	w := project(t, "ferry", "bridge")
	answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("how do I run the tests", time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	roots := map[string]int{}
	for _, r := range answer.Results {
		if r.Path == "Makefile" && len(r.Reasons) > 0 && strings.Contains(r.Reasons[0], "make test") {
			roots[filepath.Base(r.Root)]++
		}
	}
	if roots["ferry"] != 1 || roots["bridge"] != 1 {
		t.Errorf("Makefiles by folder: %v in %+v", roots, answer.Results)
	}
}

// unlearned is a workspace whose searches do not know all yet.
type unlearned struct{ *workspace.Workspace }

func (unlearned) Learned(context.Context) (*workspace.Missing, error) {
	return &workspace.Missing{Doing: "loading"}, nil
}

// The first question waits for where programs begin, and what is told without all that searches
// know is said to be a part.
func TestWaitsForDeclarations(t *testing.T) {
	root, kept := project(t, "ferry").Roots()[0], t.TempDir()
	for _, state := range []string{t.TempDir(), kept, kept} {
		w := workspace.New(workspace.Options{StateDir: state, WaitLimit: time.Minute})
		w.SetRoots([]string{root})
		o, err := overview.Make(t.Context(), w, "")
		if err != nil {
			t.Fatal(err)
		}
		if o.Missing != nil || !slices.ContainsFunc(o.Entries, func(n overview.Note) bool { return n.Path == "cmd/ferry/main.go" }) {
			t.Errorf("missing %v, entries %+v", o.Missing, o.Entries)
		}
		if o, err = overview.Make(t.Context(), unlearned{w}, ""); err != nil || o.Missing == nil || o.Missing.Doing != "loading" {
			t.Errorf("searches know a part, and missing is %+v, %v", o.Missing, err)
		}
		w.Close()
	}
}
