package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/index/walk"
	"quarry/lsp/settings"
)

// searchFolder is a workspace with two files.
func searchFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"router.go": "package tiny\n\n// Router matches paths in a radix tree.\ntype Router struct{}\n\n// Handle registers a handler.\nfunc (r *Router) Handle(p string) {}\n",
		"retry.go":  "package tiny\n\n// Retry calls f again after a growing pause.\nfunc Retry(f func() error) error { return f() }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func quarry(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--state-dir", filepath.Join(t.TempDir(), "state"))
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestSearchCommand(t *testing.T) {
	ws := searchFolder(t)
	code, out, errs := quarry(t, "search", "--workspace", ws, "--json", "-k", "1", "radix", "tree")
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		Results []map[string]any   `json:"results"`
		Backend []string           `json:"backend"`
		Timings map[string]float64 `json:"timings_ms"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got.Results) != 1 || got.Results[0]["path"] != "router.go" || len(got.Backend) == 0 || got.Timings["search"] <= 0 && runtime.GOOS != "windows" { // whose clock moves in steps
		t.Errorf("answer = %s", out)
	}
	for _, field := range []string{"path", "start_line", "end_line", "symbol", "kind", "score", "reasons", "more"} {
		if _, ok := got.Results[0][field]; !ok {
			t.Errorf("a result lacks %s: %s", field, out)
		}
	}

	code, out, _ = quarry(t, "search", "--workspace", ws, "Retry")
	if code != cli.ExitOK || !strings.HasPrefix(out, "retry.go:") || !strings.Contains(out, "declares function Retry") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d, printed:\n%s", code, out)
	}
	code, out, _ = quarry(t, "search", "--workspace", ws, "lang:rust Retry")
	if code != cli.ExitOK || !strings.Contains(out, "Nothing found") {
		t.Errorf("exit %d, printed:\n%s", code, out)
	}
	if !strings.Contains(out, "leave out every file") {
		t.Errorf("printed %q", out)
	}
	code, out, errs = quarry(t, "search", "--workspace", ws, "kind:function lang:go kind:functoin")
	if code != cli.ExitOK || !strings.Contains(errs, "\nkind:functoin is looked for as text: kind: takes function,") {
		t.Errorf("exit %d, %q, printed:\n%s", code, errs, out)
	}
	code, out, _ = quarry(t, "search", "--workspace", ws, "kind:function since:1d")
	if code != cli.ExitOK || !strings.Contains(out, "retry.go:") || !strings.Contains(out, "\n  changed 2") {
		t.Errorf("filters alone: exit %d, printed:\n%s", code, out)
	}
	if code, _, errs := quarry(t, "search", "--workspace", ws, "-path:x Retry"); code != cli.ExitUsage || !strings.Contains(errs, "put -- before") {
		t.Errorf("a query that begins with a minus: exit %d, %q", code, errs)
	}
	for _, args := range [][]string{{"search"}, {"search", " "}, {"search", `""`}, {"search", "--mode", "magic", "x"}, {"search", "-k", "0", "x"}} {
		if code, _, errs := quarry(t, append(args, "--workspace", ws)...); code != cli.ExitUsage || errs == "" {
			t.Errorf("%q: exit %d, %q", args, code, errs)
		}
	}
	code, out, errs = quarry(t, "search", "--workspace", ws, "--similar", filepath.Join(ws, "router.go")+":3-4", "--json")
	got.Results = nil
	if err := json.Unmarshal([]byte(out), &got); code != cli.ExitOK || err != nil || len(got.Results) == 0 || got.Results[0]["path"] != "retry.go" {
		t.Errorf("similar: exit %d, %s%s", code, out, errs)
	}
	if code, out, _ = quarry(t, "search", "--workspace", ws, "--similar", filepath.Join(ws, "router.go")+":3-4", "-k", "1"); code != cli.ExitOK || strings.Contains(out, "--offset") || strings.Contains(out, "1 of 1 ") == strings.Contains(out, "use -k for more") {
		t.Errorf("similar, the first: exit %d, %s", code, out)
	}
	if code, out, _ = quarry(t, "search", "--workspace", ws, "--similar", filepath.Join(ws, "router.go")+":3-4", "lang:rust"); code != cli.ExitOK || !strings.Contains(out, "Nothing found") {
		t.Errorf("similar in another language: exit %d, %s", code, out)
	}
	for _, location := range []string{"router.go", "router.go:0-2", "router.go:3-2", "router.go:x", ":1-2"} {
		if code, _, errs := quarry(t, "search", "--workspace", ws, "--similar", location); code != cli.ExitUsage || !strings.Contains(errs, "FILE:START-END") {
			t.Errorf("--similar %s: exit %d, %q", location, code, errs)
		}
	}
	if code, out, errs := quarry(t, "search", "--workspace", ws, "--mode", "semantic", "which url is served"); code != cli.ExitOK || !strings.Contains(out, "router.go") {
		t.Errorf("semantic without embeddings: exit %d, %q, %q", code, out, errs)
	}
}

func TestHighlighter(t *testing.T) {
	dir := t.TempDir()
	key := "ghp_" + "NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnA"
	for name, text := range map[string]string{"a.go": "one\r\ntwo\nthree\nfour\nthe routers handle\nsix\nseven\n", "key.py": "router = '" + key + "'\n", ".env": "router=x\n", "inside/b.go": "router\n"} {
		writeText(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	outside := filepath.Join(t.TempDir(), "b.go")
	writeText(t, outside, "the routers of somebody else\n")
	if err := os.Symlink(outside, filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	files, err := walk.Open(filepath.Join(dir), walk.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	h := highlighter{screen: screen{colour: true}, terms: []string{"router", "handl"}}
	from, lines := h.excerpt(files, "a.go", 1, 7)
	if from != 4 && from != 5 || len(lines) == 0 || !strings.Contains(strings.Join(lines, "\n"), "the routers handle") {
		t.Errorf("excerpt from %d: %q", from, lines)
	}
	if got, want := h.mark("the routers handle it"), "the "+cli.Bold+"routers"+cli.Reset+" "+cli.Bold+"handle"+cli.Reset+" it"; got != want {
		t.Errorf("mark = %q, want %q", got, want)
	}
	if _, lines := h.excerpt(files, "a.go", 90, 95); len(lines) != 0 {
		t.Errorf("lines past the end: %q", lines)
	}
	for _, name := range []string{"missing.go", "link.go", ".env", "../" + filepath.Base(filepath.Dir(outside)) + "/b.go", "inside"} {
		if _, lines := h.excerpt(files, name, 1, 5); lines != nil {
			t.Errorf("lines of %s: %q", name, lines)
		}
	}
	if _, lines := h.excerpt(files, "key.py", 1, 1); len(lines) != 1 || !strings.HasPrefix(lines[0], "router = 'ghp_x") {
		t.Errorf("a token is shown: %q", lines)
	}
}

// A folder that changed is brought up to date before the answer, and that is said; one that
// did not is searched without a word.
func TestSearchSaysWhatItRead(t *testing.T) {
	ws, state := searchFolder(t), t.TempDir()
	ask := func(args ...string) (out, errs string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append(args, "--workspace", ws, "--state-dir", state), strings.NewReader(""), &stdout, &stderr); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, &stderr)
		}
		return stdout.String(), stderr.String()
	}
	change := func(text string) {
		t.Helper()
		name := filepath.Join(ws, "retry.go")
		when := time.Now().Add(-time.Duration(len(text)) * time.Hour) // too young a time is not believed
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, when, when), os.Chtimes(filepath.Join(ws, "router.go"), when, when)); err != nil {
			t.Fatal(err)
		}
		<-time.After(walk.Racy) // nor is that of a change just made
	}
	change("package tiny\n\nfunc Retry() {}\n")
	ask("index")
	if out, errs := ask("search", "Retry"); !strings.Contains(out, "retry.go:3") || errs != "" {
		t.Errorf("an unchanged folder: %q, printed\n%s", errs, out)
	}
	change("package tiny\n\nfunc Retry() {}\n\nfunc Again() {}\n")
	if out, errs := ask("search", "Again"); !strings.Contains(out, "retry.go:5") || !strings.Contains(errs, "brought the index up to date; files read: ") {
		t.Errorf("a changed folder: %q, printed\n%s", errs, out)
	}
	change("package tiny\n\nfunc Retry() {}\n\nfunc Again() {}\n\nfunc Once() {}\n")
	if out, errs := ask("search", "--json", "Once"); !strings.Contains(out, `"updated":`) || errs != "" {
		t.Errorf("in JSON: %q, printed\n%s", errs, out)
	}
	if out, _ := ask("search", "--json", "Once"); strings.Contains(out, `"updated":`) {
		t.Errorf("an unchanged folder in JSON:\n%s", out)
	}
}

// A search that finds nothing says what it could not look into, as search_symbols does; a search
// for places says it beside them.
func TestSearchSaysWhatIsLeftOut(t *testing.T) {
	ws := t.TempDir()
	writeAll(t, ws, map[string]string{
		"small.go": "package p\n\nfunc Small() {}\n",
		"huge.go":  "package p\n\nfunc Huge() {}\n" + strings.Repeat("// x\n", 1<<19),
		"min.js":   "function min(){" + strings.Repeat("a=1;", 1<<15) + "}",
	})
	const want = "only indexed files were looked at, not what is left out (folders count once): minified 1, too large 1; `quarry status` gives examples\n"
	for _, query := range []string{"symbol:Huge", "zyzzyva", "/no such line/"} {
		if code, out, errs := quarry(t, "search", "--workspace", ws, query); code != cli.ExitOK || !strings.HasSuffix(out, "\n"+want) {
			t.Errorf("search %s: exit %d, %q, printed\n%s", query, code, errs, out)
		}
	}
	if code, out, errs := quarry(t, "search", "--workspace", ws, "symbol:Small"); code != cli.ExitOK || strings.Contains(out+errs, "only indexed") {
		t.Errorf("what is found: exit %d, %q, printed\n%s", code, errs, out)
	}
	if code, out, errs := quarry(t, "search", "--workspace", ws, "--format", "vimgrep", "symbol:Huge"); code != cli.ExitOK || out != "" || !strings.Contains(errs, want) {
		t.Errorf("for other programs: exit %d, %q, printed\n%s", code, errs, out)
	}
}

// Settings that cannot be read leave nothing out of a search: that is said.
func TestSearchSaysThatSettingsAreIgnored(t *testing.T) {
	home := t.TempDir()
	clitest.UserConfig(t, home)
	t.Setenv("HOME", home)
	name := settings.UserFilePath()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(`{"index":{"exclude":["private"]};}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"search", "Retry"}, {"status"}} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), append(command, "--workspace", searchFolder(t), "--state-dir", t.TempDir(), "--ollama", noOllama), strings.NewReader(""), &stdout, &stderr)
		if strings.Count(stderr.String(), "ignored setting") != 1 {
			t.Errorf("%v: %s", command, &stderr)
		}
	}
}
