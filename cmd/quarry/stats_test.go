package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/budget"
	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/lsp"
	"quarry/model/modeltest"
)

// What editors noted is shown as a table with a line for each day.
func TestStats(t *testing.T) {
	userSettings(t, "{}")
	state := t.TempDir()
	stats := func(more ...string) (int, string) {
		code, out, errs := answering(t, "", append([]string{"stats", "--state-dir", state}, more...)...)
		return code, out + errs
	}
	if code, out := stats(); code != 0 || !strings.Contains(out, "There is nothing yet") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	dir, err := engines.StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	r := usage.New(dir, func(err error) { t.Error(err) })
	r.Keep(true)
	for n := range 4 {
		r.Shown("a.go", "go", "granite4.1:3b", strings.Repeat("x", n)+"!"+strings.Repeat("y", n), 0)
	}
	r.Accepted("a.go", "go")
	r.Shown("b.py", "python", "local", "pass", 0)
	r.Answered(usage.Answer{FirstToken: 200 * time.Millisecond, Queue: 3 * time.Millisecond, Total: 700 * time.Millisecond, Tokens: 11, PromptBytes: 100, ReusedBytes: 80})
	r.Indexed(12 * time.Second)
	r.Memory(100e6, 3.4e9)
	r.Event("memory", "step 2 of 4", true)
	r.Close()
	code, out := stats()
	for _, want := range []string{
		"on this machine alone", "ghost text shown", "█  5\n", "█  1 (20 %)", "LANGUAGE", "go        granite4.1:3b  4      1         25 %", "python    your own code  1      0         0 %",
		"to the first token", "indexing a folder", "12 s", "tokens a second  20", "prompts reused   80 %", "at most 3.4 GB", "at most 100 MB", "1 events (memory 1), when quarry did less", "memory   step 2 of 4",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, without %q:\n%s", code, want, out)
		}
	}
	root := t.TempDir()
	if code, out, errs := answering(t, "", "index", "--workspace", root, "--state-dir", state); code != 0 {
		t.Fatalf("exit code %d:\n%s%s", code, out, errs)
	}
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "8000")
	status := func(more ...string) string {
		t.Helper()
		code, out, errs := answering(t, "", append([]string{"status", "--workspace", root, "--state-dir", state}, more...)...)
		if code != 0 {
			t.Errorf("exit code %d:\n%s%s", code, out, errs)
		}
		return out
	}
	if out := status(); strings.Contains(out, "step 2 of 4") || strings.Contains(out, "undone by") {
		t.Errorf("no quarry runs, and status says\n%s", out)
	}
	ledger, err := budget.Join(filepath.Join(state, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Leave()
	if err := ledger.Write(budget.Note{Step: budget.Context, Server: "this machine:11434", Budget: 8e9}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"today: ghost text shown 5, accepted 1 (20 %)\n", "today: first token after 198 ms, waiting 3.0 ms (p50), 20 tokens a second, 80 % of prompts reused\n",
		"memory: quarry had 100 MB and the models 3.4 GB at most today; quarry and its models may take 8.0 GB\n",
		": one alternative instead of several; half the context window, and less code from other places in prompts\n  → quarry and its models come near the 8.0 GB that they may take together; undone by a smaller model (`quarry setup model`), or a larger memory.budgetMB in your settings\n",
		"memory, since ",
	} {
		if out := status(); !strings.Contains(out, want) {
			t.Errorf("status without %q:\n%s", want, out)
		}
	}
	var now struct {
		Today  usage.Day `json:"today"`
		Budget int64     `json:"memory_budget"`
	}
	if out := status("--json"); json.Unmarshal([]byte(out), &now) != nil || now.Today.Resident != 100e6 || now.Budget != 8e9 {
		t.Errorf("%s", out)
	}
	// What is so is told although nothing of it was noted today, or the opposite.
	again := usage.New(dir, func(err error) { t.Error(err) })
	again.Keep(true)
	again.Event("memory", "all is done again", false)
	again.Close()
	if out := status(); !strings.Contains(out, "memory: one alternative instead of several; half") || strings.Contains(out, "all is done again") {
		t.Errorf("%s", out)
	}
	var done struct {
		Now nowOutput `json:"now"`
	}
	if out := status("--json"); json.Unmarshal([]byte(out), &done) != nil || len(done.Now.Savings) != 2 || done.Now.Savings[1].Undo == "" {
		t.Errorf("%s", out)
	}
	unindexed := []string{"status", "--workspace", t.TempDir(), "--state-dir", state}
	if code, out, errs := answering(t, "", unindexed...); code != 1 || !strings.Contains(out, "memory: one alternative") {
		t.Errorf("without an index: exit code %d: %s%s", code, out, errs)
	}
	ledger.Leave()
	if out := status(); !strings.Contains(out, ": all is done again\n") || strings.Contains(out, "undone by") {
		t.Errorf("%s", out)
	}
	t.Setenv("QUARRY_OLLAMA_URL", "http://192.0.2.2:11434")
	if out := status(); !strings.Contains(out, "is not asked: ") || strings.Contains(out, "on this machine") {
		t.Errorf("another machine that is not allowed: %s", out)
	}
	t.Setenv("QUARRY_OLLAMA_ENABLED", "false")
	if out := status(); !strings.Contains(out, "is not asked, since ollama.enabled is false") {
		t.Errorf("%s", out)
	}
	t.Setenv("QUARRY_OLLAMA_ENABLED", "true")
	t.Setenv("QUARRY_OLLAMA_URL", "http://127.0.0.1:11434")
	var answer statsOutput
	if code, out := stats("--json"); code != 0 || json.Unmarshal([]byte(out), &answer) != nil || len(answer.Days) != usage.KeptDays || !answer.Kept || len(answer.Total.Ghost) != 2 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	t.Setenv("QUARRY_STATS_KEEP", "false")
	if _, out := stats(); !strings.Contains(out, "stats.keep is false") {
		t.Errorf("%s", out)
	}
	if code, out := stats("--forget"); code != 2 || !strings.Contains(out, "--yes") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out := stats("--forget", "--yes"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, out := stats(); !strings.Contains(out, "There is nothing yet") {
		t.Errorf("%s", out)
	}
}

// Events are told although nothing else was noted, and those of memory beside many of a model that comes and goes.
func TestStatsShowWhatWasDoneWithout(t *testing.T) {
	userSettings(t, "{}")
	state := t.TempDir()
	dir, err := engines.StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	r := usage.New(dir, func(err error) { t.Error(err) })
	r.Keep(true)
	r.Event("memory", "step 3 of 4", true)
	for n := range 30 {
		r.Event("model", fmt.Sprintf("away %d", n), true)
	}
	r.Close()
	code, out, errs := answering(t, "", "stats", "--state-dir", state)
	for _, want := range []string{"31 events (memory 1, model 30), when quarry did less", "memory   step 3 of 4\n", "model    away 25\n", "model    away 29\n"} {
		if code != 0 || !strings.Contains(out, want) || strings.Contains(out, "away 24") {
			t.Errorf("exit code %d, without %q:\n%s%s", code, want, out, errs)
		}
	}
}

// An editor's server notes what it showed when it ends, unless the settings say otherwise.
func TestServerKeepsStats(t *testing.T) {
	for keep, want := range map[string]int{"true": 1, "false": 0} {
		state := t.TempDir()
		t.Setenv("QUARRY_STATS_KEEP", keep)
		t.Run(keep, func(t *testing.T) { showOnce(t, state) }) // the server has ended behind it
		dir, err := engines.StatsDir(state)
		if err != nil {
			t.Fatal(err)
		}
		days, err := usage.Read(dir, time.Now())
		n := usage.Total(days)
		if shown, _ := n.ShownAndAccepted(); err != nil || shown != want || n.FirstToken.Count() < want {
			t.Errorf("keep %s: %v, %+v", keep, err, n)
		}
	}
}

// showOnce has a server show the model's ghost text, and looks at what its status says of it.
func showOnce(t *testing.T, state string) {
	fake := modeltest.NewServer(t)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"sum(values)", " / ", "len(values)", "\n"}}
	})
	ctx, e := serveEditor(t, "vscode", t.TempDir(), "--ollama", fake.URL, "--state-dir", state)
	status := func() (st lsp.Status) {
		t.Helper()
		if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	for status().Model.Phase != "ready" {
		// The deadline of ctx ends this.
	}
	b, err := e.Open("a.py", "python", "def mean(values):\n    return ")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("return "); err != nil {
		t.Fatal(err)
	}
	if err := e.Complete(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	if by := status().Completion.By; len(by) != 1 || by[0].Language != "python" || by[0].Shown != 1 || by[0].Engine != "granite4.1:3b" {
		t.Errorf("%+v", by)
	}
}

// What a server does not tell of its models' memory is not said to be nothing.
func TestMemoryThatIsNotTold(t *testing.T) {
	day := func(own, models int64) *usage.Day {
		return &usage.Day{Numbers: usage.Numbers{Resident: own, Models: models}}
	}
	for _, test := range []struct {
		day  *usage.Day
		now  engines.Running
		want []string
	}{
		{day(100e6, 3.4e9), engines.Running{}, []string{"memory: quarry had 100 MB and the models 3.4 GB at most today; quarry and its models may take 8.0 GB"}},
		{day(100e6, 0), engines.Running{Processes: 1, Own: 90e6, Untold: true}, []string{
			"memory: quarry had 100 MB at most today, of models nothing is known; quarry and its models may take 8.0 GB",
			"memory now: 1 quarry process has 90 MB, what the models that they ask have their server does not tell",
		}},
		{day(0, 0), engines.Running{Processes: 2, Own: 90e6, Models: 1e9, Untold: true}, []string{
			"memory: quarry and its models may take 8.0 GB",
			"memory now: 2 quarry processes have 90 MB, the models in memory that they ask 1.0 GB, but for those whose server does not tell",
		}},
		{day(0, 0), engines.Running{Processes: 1, Own: 90e6}, []string{
			"memory: quarry and its models may take 8.0 GB", "memory now: 1 quarry process has 90 MB, the models in memory that they ask 0 MB",
		}},
	} {
		if got := memoryLines(test.day, 8e9, test.now); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
