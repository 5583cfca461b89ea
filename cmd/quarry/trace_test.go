package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// traceSecret is in every query, name of a file and line of code that the tests of the trace use.
const traceSecret = "hunter2tomato"

// tracedFolder has five files that answer a question, and state the folder of quarry's state.
func tracedFolder(t *testing.T) (root, state string) {
	t.Helper()
	root, state = t.TempDir(), t.TempDir()
	for i := range 5 {
		writeText(t, filepath.Join(root, fmt.Sprintf("%s%d.py", traceSecret, i)), fmt.Sprintf("def pick_%s_%d(apples):\n    \"\"\"Picks ripe apples, %s.\"\"\"\n    return sum(apples)\n", traceSecret, i, traceSecret))
	}
	return root, state
}

// S3: what an editor and an agent are shown, open and accept is told by figures, and no byte of
// what is kept or exported has anything of a query, a name or code. The settings forbid it.
func TestTrace(t *testing.T) {
	for _, c := range []struct {
		keep, trace string
		want        bool
	}{{"true", "true", true}, {"true", "false", false}, {"false", "true", false}} {
		began := time.Now().Format(time.DateOnly)
		root, state := tracedFolder(t)
		t.Setenv("QUARRY_STATS_KEEP", c.keep)
		t.Setenv("QUARRY_STATS_TRACE", c.trace)
		t.Run("editor", func(t *testing.T) { traceEditor(t, root, state) }) // the servers have ended behind these
		t.Run("agent", func(t *testing.T) { traceAgent(t, root, state) })
		dir, err := engines.StatsDir(state)
		if err != nil {
			t.Fatal(err)
		}
		exported := filepath.Join(t.TempDir(), "trace.jsonl")
		if code, out, errs := answering(t, "", "stats", "--state-dir", state, "--export", exported); code != 0 || !strings.Contains(out, "look at it before you give it to anybody") {
			t.Fatalf("exit code %d: %s%s", code, out, errs)
		}
		noSecretIn(t, dir)
		lines, err := os.ReadFile(exported)
		if err != nil {
			t.Fatal(err)
		}
		if code, out, errs := answering(t, "", "stats", "--state-dir", state, "--export", "-"); code != 0 || out != string(lines) {
			t.Errorf("to standard output: %d, %q, %q", code, out, errs)
		}
		noSecretIn(t, filepath.Dir(exported))
		var stats statsOutput
		if code, out, errs := answering(t, "", "stats", "--state-dir", state, "--json"); code != 0 || json.Unmarshal([]byte(out), &stats) != nil || stats.Traced != c.want {
			t.Fatalf("exit code %d: %s%s", code, out, errs)
		}
		list, err := usage.ReadExport(exported)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(usage.FiguresOf(list))
		if err != nil {
			t.Fatal(err)
		}
		today := time.Now().Format(time.DateOnly)
		if today != began {
			continue // at midnight, and the trace is of two days
		}
		want := `{"from":"` + today + `","to":"` + today + `","searches":[` +
			`{"by":"agent","form":"exact","answers":1,"empty":0,"opened":0,"first":{},"mrr":0,"mrr_shown":0},` +
			`{"by":"agent","form":"words","answers":1,"empty":0,"opened":1,"first":{"3":1},"mrr":0.3333333333333333,"mrr_shown":0.3333333333333333},` +
			`{"by":"editor","form":"code","answers":1,"empty":0,"opened":1,"first":{"1":1},"mrr":1,"mrr_shown":1},` +
			`{"by":"editor","form":"words","answers":2,"empty":0,"opened":1,"first":{"2":1},"mrr":0.5,"mrr_shown":0.25}],` +
			`"ghost":[{"size":"line","engine":"model","shown":1,"accepted":1,"rejected":0,"share":1}]}`
		if !c.want {
			want = `{"from":"","to":"","searches":[],"ghost":[]}`
		}
		if string(got) != want {
			t.Errorf("stats.keep %s, stats.trace %s:\n%s\nwant\n%s", c.keep, c.trace, got, want)
		}
		if now, err := json.Marshal(stats.Trace); err != nil || string(now) != want {
			t.Errorf("quarry stats says %s", now)
		}
		if code, out, errs := answering(t, "", "stats", "--state-dir", state); code != 0 || c.want != strings.Contains(out, "SEARCHES OF") {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		if code, out, errs := answering(t, "", "stats", "--state-dir", state, "--forget", "--yes"); code != 0 {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		if list, err := usage.ReadTrace(dir, time.Now()); err != nil || len(list) > 0 {
			t.Errorf("left: %+v, %v", list, err)
		}
	}
}

// traceEditor has a user search, open what was found, and accept ghost text.
func traceEditor(t *testing.T, root, state string) {
	fake := modeltest.NewServer(t)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{traceSecret + "(values)", " / ", "len(values)", "\n"}}
	})
	ctx, e := serveEditor(t, "vscode", root, "--ollama", fake.URL, "--state-dir", state)
	for st := (lsp.Status{}); st.Model.Phase != "ready"; {
		if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
	}
	search := func(method string, params map[string]any) (names []string) {
		t.Helper()
		var found struct{ Results []struct{ Path string } }
		if err := e.Call(ctx, method, params, &found); err != nil {
			t.Fatal(err)
		}
		for _, r := range found.Results {
			names = append(names, r.Path)
		}
		if len(names) < 4 {
			t.Fatalf("%s finds only %q", method, names)
		}
		return names
	}
	open := func(name string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Open(name, "python", string(raw)); err != nil {
			t.Fatal(err)
		}
	}
	names := search("quarry/search.hybrid", map[string]any{"query": "who picks ripe apples " + traceSecret})
	open(names[1])
	search("quarry/search.lexical", map[string]any{"query": "ripe apples for " + traceSecret})
	names = search("quarry/similar", map[string]any{"code": "def pick_" + traceSecret + "(apples):\n    \"\"\"Picks ripe apples.\"\"\"\n    return sum(apples)\n"})
	// A document that is open already is shown on request.
	_ = e.Call(ctx, "quarry/open.atSpan", map[string]any{"path": names[0], "startLine": 1, "endLine": 1}, nil) // whether the editor can is not looked at

	b, err := e.Open("new.py", "python", "def mean(values):\n    return ")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("return "); err != nil {
		t.Fatal(err)
	}
	if err := e.Complete(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	if b.Ghost == nil {
		t.Fatal("no ghost text")
	}
	if err := e.Accept(b); err != nil {
		t.Fatal(err)
	}
}

// traceAgent has an agent search and read what was found.
func traceAgent(t *testing.T, root, state string) {
	_, call := connectMCP(t, sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), "", "--workspace", root, "--state-dir", state)
	var found struct {
		Data struct{ Results []struct{ At string } }
	}
	if err := json.Unmarshal([]byte(call("codebase_search", map[string]any{"query": "who picks ripe apples " + traceSecret})), &found); err != nil || len(found.Data.Results) < 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	path, _, _ := strings.Cut(found.Data.Results[2].At, ":")
	call("read_file", map[string]any{"path": path})
	call("search_text", map[string]any{"query": `"ripe apples, ` + traceSecret + `"`})
}

// noSecretIn holds that no file below dir has any part of the secret.
func noSecretIn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for i := range len(traceSecret) - 4 {
			if bytes.Contains(bytes.ToLower(raw), []byte(traceSecret[i:i+5])) {
				t.Errorf("%s holds %q:\n%s", path, traceSecret[i:i+5], raw)
				break
			}
		}
		if info, infoErr := e.Info(); infoErr != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" { // which has no modes
			t.Errorf("%s: %v, %v", path, info.Mode(), infoErr)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// What is shown while stats.trace is false is not noted, nor is what was not written when it became so;
// what is shown after is.
func TestTheTraceIsLive(t *testing.T) {
	servers := startLiveServers(t)
	path := userSettings(t, "{}")
	withoutHost(t)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "")
	root, state := tracedFolder(t)
	budget := 900_000
	t.Run("server", func(t *testing.T) { // it has ended behind it
		var w *liveServer
		for n, trace := range []bool{true, false, true} {
			budget++
			raw, err := json.Marshal(values{"ollama.url": servers.usual.URL, "memory.budgetMB": budget, "stats.trace": trace})
			if err != nil {
				t.Fatal(err)
			}
			if err := settings.ReplaceFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if w == nil {
				w = startLive(t, servers, root, state)
			}
			for st := (lsp.Status{}); st.Memory.BudgetBytes != uint64(budget)*1_000_000; st = w.status() {
				// The deadline of w.ctx ends this.
			}
			for i := range n + 1 {
				if err := w.e.Call(w.ctx, "quarry/search.hybrid", map[string]any{"query": fmt.Sprintf("%d ripe apples of %d", i, n)}, nil); err != nil {
					t.Error(err)
				}
			}
		}
	})
	dir, err := engines.StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	list, err := usage.ReadTrace(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if f := usage.FiguresOf(list); len(f.Searches) != 1 || f.Searches[0].Answers != 3 {
		t.Errorf("written: %+v", f.Searches)
	}
}
