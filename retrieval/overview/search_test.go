package overview_test

import (
	"context"
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
	"README.md":             "# Ferry\n\nFerry books places on boats across the harbour.\n\n## Tests\n\nRun `make test`.\n",
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
			path := filepath.Join(root, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := workspace.New(workspace.Options{StateDir: t.TempDir(), Project: overview.Answer})
	t.Cleanup(w.Close)
	w.SetRoots(roots)
	if missing, err := w.Await(t.Context()); missing != nil || err != nil {
		t.Fatalf("not indexed: %v, %v", missing, err)
	}
	return w
}

// Questions about the whole are answered by what speaks for it.
func TestAnswer(t *testing.T) {
	w := project(t, "ferry")
	for _, c := range []struct {
		question string
		want     map[string]string // file: what its reasons say
	}{
		{"what is this repository about", map[string]string{"README.md": "folders: booking/ 4 files, cmd/ 1 files"}},
		{"how is it laid out", map[string]string{"README.md": "folders: booking/ 4 files", "booking/booking.go": "booking/ (4 files): Package booking keeps who crosses when."}},
		{"where do I start", map[string]string{"README.md": "describes the whole", "cmd/ferry/main.go": "a program or package begins here: func main()", "booking/booking.go": "Reserve is used in 3 files"}},
		{"how do I run the tests", map[string]string{"README.md": "tests: booking/ 1 files", "Makefile": "`make test`: run the tests"}},
		{"how do I build this project", map[string]string{"Makefile": "`make build`"}},
		{"what does it depend on", map[string]string{"go.mod": "needs example.org/tide"}},
	} {
		answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(c.question, time.Now())})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Results) < len(c.want) || answer.Results[0].Path != "README.md" || !slices.Contains(answer.Backend, workspace.BackendProject) {
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
