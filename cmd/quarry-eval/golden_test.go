package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/diagnostics/golden"
	"quarry/model/modeltest"
)

var update = flag.Bool("update", false, "write the golden suite's report anew")

// goldenScript is a model that says for each task what the script has for it.
type goldenScript struct {
	turns map[string][]string // by task

	mu      sync.Mutex
	task    string // guarded by mu
	n       int    // turns given; guarded by mu
	missing string // the first task that ran out of turns; guarded by mu
}

func (s *goldenScript) begin(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task, s.n = task, 0
}

func (s *goldenScript) answer(r modeltest.Request) modeltest.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.NumPredict() == 1 || s.task == "" { // a step of a long prompt, or the canary
		return modeltest.Answer{Pieces: []string{" "}}
	}
	turns := s.turns[s.task]
	if len(turns) > 0 && !strings.Contains(r.Prompt, "<|start_of_role|>") {
		return modeltest.Answer{Pieces: turns[:1]} // a completion, and its alternatives
	}
	if s.n >= len(turns) {
		s.missing = s.task
		return modeltest.Answer{ErrorLine: "the script has no more turns for " + s.task}
	}
	s.n++
	return modeltest.Answer{Pieces: strings.SplitAfter(turns[s.n-1], " ")}
}

// Q4: the golden suite with a scripted model. What it scores is the plumbing, the
// checks and the parsing: whatever the model says, no place that is shown is
// invented, and nothing is shown that nothing proves.
func TestGoldenSuite(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "golden")
	suite, err := golden.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(suite.Tasks) != 30 {
		t.Errorf("the suite has %d tasks, 30 are asked for", len(suite.Tasks))
	}
	script := &goldenScript{turns: map[string][]string{}}
	archive, err := txtar.ParseFile(filepath.Join(dir, "script.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		script.turns[f.Name] = strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n----\n")
	}
	server := modeltest.NewServer(t)
	server.Script(script.answer)
	c := clitest.Core(t, server.URL, filepath.Join(dir, "workspace"))
	var outcomes []golden.Outcome
	var report strings.Builder
	for _, task := range suite.Tasks {
		script.begin(task.ID)
		out, err := runTask(t.Context(), slowly{c, 10 * time.Minute}, suite, task, 10*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, out)
		word := strings.TrimSpace(strings.SplitN(progressOf(out), " s ", 2)[1])
		fmt.Fprintf(&report, "%-20s %s\n", task.ID, word)
	}
	if script.missing != "" {
		t.Errorf("the script has too few turns for %s", script.missing)
	}
	sum := golden.Sum(outcomes)
	if sum.All.Hallucinated > 0 || sum.All.Invalid > 0 || sum.All.Applied < sum.All.Changes {
		t.Errorf("what must not be shown was:\n%s", sum.Table())
	}
	got := report.String() + "\n" + sum.Table()
	file := filepath.Join(dir, "scripted.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-update if it is meant)\n%s", diff)
		for _, o := range outcomes {
			t.Logf("%s: %q", o.ID, o.Text)
		}
	}
}

// goldenKept runs `quarry-eval golden` with kept answers.
func goldenKept(t *testing.T, args ...string) (code int, report golden.Report, complaints string) {
	t.Helper()
	var out, stderr bytes.Buffer
	args = append([]string{"golden", "--suite", filepath.Join("..", "..", "testdata", "golden"), "--model", "stand-in:1.5b", "--json"}, args...)
	if code = run(t.Context(), args, strings.NewReader(""), &out, &stderr); code == cli.ExitOK {
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	return code, report, stderr.String()
}

// What a model answered once is judged again without it, and what is lacking is written down as it would be asked.
func TestGoldenAnswersAreKept(t *testing.T) {
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: "stand-in:1.5b"})
	t.Setenv("OLLAMA_HOST", server.URL)
	const choice = `{"answer": "The method Reserve takes stock out.", "best": 1}`
	var asked atomic.Int64
	server.Script(func(r modeltest.Request) modeltest.Answer {
		switch {
		case r.NumPredict() == 1:
			return modeltest.Answer{Pieces: []string{" "}}
		case strings.Contains(r.Prompt, "pieces of code"):
			asked.Add(1)
			return modeltest.Answer{Pieces: strings.SplitAfter(choice, " ")}
		}
		return modeltest.Answer{ErrorLine: "nobody was to ask this"}
	})
	dir := t.TempDir()
	answers, missing, only := filepath.Join(dir, "answers"), filepath.Join(dir, "missing"), "where-go-reserve,where-py-week"
	code, first, complaints := goldenKept(t, "--answers", answers, "--only", only)
	if q := first.Questions; code != cli.ExitOK || asked.Load() != 2 || q.Answerable != 2 || q.Right != 1 || q.Offered != 2 {
		t.Fatalf("%d, asked %d times: %+v\n%s", code, asked.Load(), first, complaints)
	}
	server.Stop()
	code, again, complaints := goldenKept(t, "--answers", answers, "--only", only, "--missing", missing)
	for i := range again.Outcomes {
		again.Outcomes[i].Seconds = first.Outcomes[i].Seconds
	}
	if diff := cmp.Diff(first.Outcomes, again.Outcomes); code != cli.ExitOK || diff != "" || !strings.Contains(complaints, "2 tasks, 0 without an answer") {
		t.Errorf("%d: %s\n%s", code, diff, complaints)
	}
	code, other, complaints := goldenKept(t, "--answers", answers, "--only", "where,complete", "--missing", missing)
	if code != cli.ExitOK || len(other.Outcomes) != 2+1 { // of one question nothing is found
		t.Errorf("%d: %+v\n%s", code, other.Outcomes, complaints)
	}
	lines, err := os.ReadFile(missing)
	if err != nil || strings.Count(string(lines), "\n") != 12-2-1 || !strings.Contains(string(lines), `"Format"`) {
		t.Errorf("%v: %s", err, lines)
	}
	if code, _, complaints := goldenKept(t, "--missing", missing); code != cli.ExitUsage || !strings.Contains(complaints, "--answers") {
		t.Errorf("%d: %s", code, complaints)
	}
}
