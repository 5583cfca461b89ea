package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/lsp/service"
	"quarry/lsp/service/client"
	"quarry/lsp/service/servicetest"
	"quarry/model/modeltest"
)

// serviceState makes a folder for state, short enough for a socket in it, that all commands of
// the test use, and answers the socket's path.
func serviceState(t *testing.T) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	servicetest.NeedSockets(t, dir)
	t.Setenv("QUARRY_STATE_DIR", dir)
	return filepath.Join(dir, "serve", "socket")
}

// serving runs `quarry serve` in this process. stop ends it and answers its exit code.
func serving(t *testing.T, args ...string) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, stderr := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve", "--log-level", "error"}, args...), strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "quarry: serving at ") {
		t.Fatalf("said %q, %v", line, err)
	}
	go io.Copy(io.Discard, lines)
	ended := false
	stop = func() int {
		ended = true
		cancel()
		return <-code
	}
	t.Cleanup(func() {
		if !ended {
			stop()
		}
	})
	return stop
}

// command runs a command.
func command(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &o, &e)
	return o.String(), e.String(), code
}

// serviceStatus is what quarry serve says of itself.
func serviceStatus(t *testing.T) serveOutput {
	t.Helper()
	out, errs, code := command(t, "serve", "--status", "--json")
	var st serveOutput
	if err := json.Unmarshal([]byte(out), &st); err != nil || code != 0 {
		t.Fatal(out, errs, code, err)
	}
	return st
}

// settled is what a search finds when the index has nothing to read any more: files that are as
// new as the index are read again.
func settled(t *testing.T, root, query string) string {
	t.Helper()
	for {
		out, errs, code := command(t, "search", "--workspace", root, "--ollama", noOllama, "--format", "vimgrep", query)
		if code != 0 || out == "" || t.Context().Err() != nil {
			t.Fatal(code, out, errs)
		}
		if errs == "" {
			return out
		}
	}
}

// timings are what differs from one answer to the next.
var timings = regexp.MustCompile(`in [0-9.]+ ms by|"timings_ms":\{[^}]*\}`)

// S2: with a service a command answers what it answers without one, byte for byte but for the
// times.
func TestSearchByServiceIsTheSame(t *testing.T) {
	serviceState(t)
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "lsp"))); err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(root, ".git", "HEAD"), "ref: refs/heads/main\n")
	model := modeltest.NewServer(t)
	model.SetModels(modeltest.Model{Name: "letters"})
	model.ScriptEmbed(countLetters)
	for _, embeds := range []bool{false, true} {
		ollama := noOllama
		if embeds {
			ollama = model.URL
		}
		with := []string{"--ollama", ollama, "--embedding-model", "letters"}
		index := append([]string{"index"}, with...)
		if embeds {
			index = append(index, "--embed")
		}
		t.Chdir(root)
		if out, errs, code := command(t, index...); code != 0 {
			t.Fatal(out, errs)
		}
		settled(t, root, "foo")
		stop := serving(t, with...)
		if embeds { // what is to be embedded is: the service has its vectors before it is compared
			awaitEmbedded(t, root)
		}
		for _, test := range []struct {
			in   string // folder
			args []string
		}{
			{"", []string{"foo"}},
			{"", []string{"--json", "foo"}},
			{"", []string{"RouterGroup"}},
			{"", []string{"Stream"}},
			{"", []string{"--json", "-k", "3", "how are messages framed"}},
			{"wire", []string{"how are messages framed"}},
			{"document", []string{"--json", "open documents", "-k", "20", "--offset", "2"}},
			{"", []string{`"Content-Length"`, "type:test"}},
			{"", []string{"--mode", "lexical", "cancel a request"}},
			{"", []string{"--mode", "semantic", "cancel a request"}},
			{"", []string{"--mode", "symbols", "serve"}},
			{"", []string{"symbol:Serve"}},
			{"", []string{"--json", "symbol:NoSuchThing"}},
			{"", []string{`re:func \w+Error`}},
			{"", []string{"--json", `lines:all "TODO"`}},
			{"", []string{"lines:all re:func -type:test", "--offset", "10"}},
			{"", []string{"kind:interface", "path:search"}},
			{"", []string{"path:nowhere", "x"}},
			{"", []string{"zzqqxx"}},
			{"", []string{"lang:nolanguage", "stream"}},
			{"", []string{"--json", "mode:docs", "settings"}},
			{"", []string{"what", "is", "this", "repository", "about"}},
			{"", []string{"--format", "vimgrep", "stream"}},
			{"", []string{"--format", "quickfix", "stream"}},
			{"", []string{"--format", "sarif", "stream"}},
			{"", []string{"--similar", "wire/outbox.go:20-60"}},
			{"", []string{"--json", "--similar", "wire/outbox.go:20-60", "--", "-path:wire", "lang:go"}},
			{"", []string{"-k", "500", "stream"}}, // more than a service answers
			{"", []string{"--mode", "nonsense", "x"}},
			{"", []string{""}},
		} {
			t.Chdir(filepath.Join(root, test.in))
			args := slices.Concat([]string{"search"}, with, test.args)
			t.Setenv("QUARRY_SERVICE_ENABLED", "false")
			out, errs, code := command(t, args...)
			before := serviceStatus(t).Service.Answered
			t.Setenv("QUARRY_SERVICE_ENABLED", "true")
			servedOut, servedErrs, servedCode := command(t, args...)
			said := func(text string) string { return timings.ReplaceAllString(text, "in T") }
			if said(out) != said(servedOut) || errs != servedErrs || code != servedCode {
				t.Errorf("%q in %q: exit %d and %d\n%s%s\nby the service\n%s%s", test.args, test.in, code, servedCode, out, errs, servedOut, servedErrs)
			}
			asks := code == 0 && !slices.Contains(test.args, "500")
			if got := serviceStatus(t).Service.Answered - before; asks && got < 3 { // hello, the search, the status' hello
				t.Errorf("%q was not asked of the service (%d requests)", test.args, got)
			}
		}
		// What was written a moment ago is found.
		t.Chdir(root)
		for i := range 3 {
			name := fmt.Sprintf("fresh%d_%t.go", i, embeds)
			writeText(t, filepath.Join(root, name), fmt.Sprintf("package lsp\n\n// Quince%d%t is new.\nfunc Quince%[1]d%[2]t() {}\n", i, embeds))
			if out, errs, code := command(t, slices.Concat([]string{"search"}, with, []string{"--format", "vimgrep", fmt.Sprintf("Quince%d%t", i, embeds)})...); code != 0 || !strings.Contains(out, name) {
				t.Errorf("%s: %d %s%s", name, code, out, errs)
			}
		}
		if st := serviceStatus(t); !st.Running || !slices.Equal(st.Service.Open, []string{root}) {
			t.Errorf("%+v", st)
		}
		if code := stop(); code != cli.ExitOK {
			t.Errorf("exit code %d", code)
		}
	}
}

// awaitEmbedded waits until the service has embedded all of a folder.
func awaitEmbedded(t *testing.T, root string) {
	t.Helper()
	c, err := client.Dial(t.Context(), serviceStatus(t).Socket, client.Options{Hello: client.Hello{Roots: []string{root}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := c.Search(t.Context(), client.Search{Query: "how are messages framed", Current: true})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(answer.Backend, "vectors") {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the service has no vectors")
		}
	}
}

// patience is what helloWithin and servedWithin are outside of tests.
var patience = [2]time.Duration{helloWithin, servedWithin}

// A command waits for a service no longer than docs/service.md says.
// proposalID is what differs from one answer of a tool to the next.
var proposalID = regexp.MustCompile(`"proposal_id":"[A-Z0-9]+"`)

// S2: the agents of a repository share the service's index: each tool answers as without one,
// and goes on when the service ends.
func TestAgentsShareAService(t *testing.T) {
	helloWithin = 10 * time.Second
	t.Cleanup(func() { helloWithin = 50 * time.Millisecond })
	serviceState(t)
	root := t.TempDir()
	writeText(t, filepath.Join(root, ".git", "HEAD"), "ref: refs/heads/main\n")
	writeText(t, filepath.Join(root, "go.mod"), "module farm\n")
	writeText(t, filepath.Join(root, "a.go"), "package farm\n\n// Harvest picks apples.\nfunc Harvest(n int) int { return n }\n\nfunc Farm() { Harvest(1) }\n")
	writeText(t, filepath.Join(root, "deep", "b.go"), "package deep\n\nfunc Sow() { Harvest() }\n\nfunc Harvest() {}\n")
	writeText(t, filepath.Join(root, ".env"), "KEY=tomato-soup\n")
	t.Chdir(root)
	if out, errs, code := command(t, "index", "--ollama", noOllama); code != 0 {
		t.Fatal(out, errs)
	}
	agent := func(enabled string) func(string, map[string]any) string {
		t.Setenv("QUARRY_SERVICE_ENABLED", enabled)
		_, call := connectAgent(t, sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), "")
		call("repo_overview", nil) // the first call waits until the project is open
		return call
	}
	calls := []struct {
		tool string
		args map[string]any
	}{
		{"search_code", map[string]any{"query": "harvest"}}, {"search_symbols", map[string]any{"query": "Harvest"}},
		{"search_regex", map[string]any{"pattern": "^func"}}, {"search_text", map[string]any{"query": "apples"}},
		{"get_references", map[string]any{"symbol_id": "a.go#Harvest"}}, {"get_callers", map[string]any{"symbol_id": "a.go#Harvest"}},
		{"get_outline", map[string]any{"path": "a.go"}}, {"list_files", nil}, {"repo_overview", nil},
		{"read_file", map[string]any{"path": "a.go"}}, {"read_file", map[string]any{"path": ".env"}}, {"read_file", map[string]any{"path": "gone.go"}},
		{"rename_symbol", map[string]any{"symbol_id": "a.go#Harvest", "new_name": "Reap"}},
		{"apply_unified_diff", map[string]any{"diff": "--- a/a.go\n+++ b/a.go\n@@ -6 +6 @@\n-func Farm() { Harvest(1) }\n+func Farm() { Harvest(2) }\n"}},
	}
	alone := agent("false")
	var want []string
	for _, c := range calls {
		want = append(want, proposalID.ReplaceAllString(alone(c.tool, c.args), ""))
	}
	stop := serving(t, "--ollama", noOllama)
	one, two := agent("true"), agent("true")
	before := serviceStatus(t).Service
	if len(before.Clients) != 2 || before.Clients[0].Client != "quarry mcp" || len(before.Open) != 1 {
		t.Errorf("the service has the clients %+v and the folders %q", before.Clients, before.Open)
	}
	same := func(when string, call func(string, map[string]any) string) {
		t.Helper()
		for i, c := range calls {
			if got := proposalID.ReplaceAllString(call(c.tool, c.args), ""); got != want[i] {
				t.Errorf("%s: %s %v answers\n%s\nwithout it\n%s", when, c.tool, c.args, got, want[i])
			}
		}
	}
	same("one agent", one)
	same("another agent", two)
	if now := serviceStatus(t).Service; now.Answered < before.Answered+int64(2*len(calls)) {
		t.Errorf("the service answered %d requests, and %d before", now.Answered, before.Answered)
	}
	stop()
	one("repo_overview", nil)
	same("after the service", one)
}

func TestPatienceWithAService(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "service.md"))
	if err != nil {
		t.Fatal(err)
	}
	if patience != [2]time.Duration{50 * time.Millisecond, time.Second} || !strings.Contains(string(page), "within 50 ms") || !strings.Contains(string(page), "takes longer than a second") {
		t.Errorf("a command waits %v", patience)
	}
}

// Y10: an agent's call goes on without a service that greets and then hangs, or says what no service
// does, whatever it says.
func TestAgentsLeaveAServiceThatHangs(t *testing.T) {
	socket := serviceState(t)
	root := t.TempDir()
	writeText(t, filepath.Join(root, ".git", "HEAD"), "ref: refs/heads/main\n")
	writeText(t, filepath.Join(root, "a.go"), "package farm\n\nfunc Harvest() {}\n")
	t.Chdir(root)
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	times := [3]time.Duration{helloWithin, aliveEvery, aliveWithin}
	t.Cleanup(func() { helloWithin, aliveEvery, aliveWithin = times[0], times[1], times[2] })
	helloWithin, aliveEvery, aliveWithin = 10*time.Second, time.Millisecond, 10*time.Millisecond
	endless := func(head, piece string) func(net.Conn) {
		return func(conn net.Conn) {
			_, err := io.WriteString(conn, head)
			for err == nil {
				_, err = io.WriteString(conn, piece)
			}
		}
	}
	for name, then := range map[string]func(net.Conn){
		"hangs":                 func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"hangs up":              func(net.Conn) {},
		"a header without end":  endless("", strings.Repeat("a", 1<<16)),
		"headers without end":   endless("", strings.Repeat("A: b\r\n", 1<<12)),
		"a long message":        endless("Content-Length: 1000000000\r\n\r\n", strings.Repeat("[", 1<<16)),
		"messages without end":  endless("", strings.Repeat("Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"quarry/x\"}", 1<<8)),
		"questions without end": endless("", strings.Repeat("Content-Length: 45\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"quarry/x\"}", 1<<8)),
		"what is no answer":     endless("Content-Length: 39\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"xyz\"}", "\r\n"),
		"HTTP":                  endless("HTTP/1.1 400 Bad Request\r\n\r\n", "<html>"),
	} {
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		greeted := make(chan bool, 9)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				in := bufio.NewReader(conn)
				welcome := fmt.Sprintf(`{"protocol":1,"jsonrpc":"2.0","id":1,"result":{"protocol":1,"version":%q,"process":1,"roots":[],"methods":[]}}`, cli.Version())
				for _, answer := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(welcome), welcome), ""} {
					var n int
					if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &n); err == nil {
						_, _ = io.CopyN(io.Discard, in, int64(n))
						_, _ = io.WriteString(conn, answer)
					}
				}
				greeted <- true
				then(conn)
				conn.Close()
			}
		}()
		t.Run(name, func(t *testing.T) {
			_, call := connectAgent(t, sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), "")
			for range 2 {
				if got := call("get_symbol_definition", map[string]any{"symbol_id": "a.go#Harvest"}); !strings.Contains(got, "func Harvest() {}") {
					t.Errorf("answered %s", got)
				}
			}
		})
		listener.Close()
		<-ended
		if len(greeted) != 1 {
			t.Errorf("%s: %d connections were greeted and asked", name, len(greeted))
		}
	}
}

// A service that is of no use is as if there were none, and nobody hears of it.
func TestSearchWithoutAUsefulService(t *testing.T) {
	socket := serviceState(t)
	root := barn(t)
	t.Chdir(root)
	want := settled(t, root, "apples")
	// answers is a service that answers each message with what is said of it; "" closes the
	// connection, and what there is no more of is never answered.
	answers := func(list ...string) func(net.Conn) {
		return func(conn net.Conn) {
			in := bufio.NewReader(conn)
			for _, answer := range list {
				var n int
				if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &n); err != nil {
					return
				}
				if _, err := io.CopyN(io.Discard, in, int64(n)); err != nil || answer == "" {
					return
				}
				fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(answer), answer)
			}
			_, _ = io.Copy(io.Discard, in)
		}
	}
	welcome := func(version string) string {
		return fmt.Sprintf(`{"protocol":1,"jsonrpc":"2.0","id":1,"result":{"protocol":1,"version":%q,"process":1,"roots":[],"methods":[]}}`, version)
	}
	failed := func(code int) string {
		return fmt.Sprintf(`{"protocol":9,"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no","data":{"service":9,"client":1}}}`, code)
	}
	result := func(text string) string { return `{"protocol":1,"jsonrpc":"2.0","id":2,"result":` + text + `}` }
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	patient := [2]time.Duration{helloWithin, servedWithin}
	defer func() { helloWithin, servedWithin = patient[0], patient[1] }()
	for name, test := range map[string]struct {
		serve func(net.Conn)
		hangs bool // it is waited for
	}{
		"hangs":                   {answers(), true},
		"hangs behind hello":      {answers(welcome(cli.Version())), true},
		"hangs up":                {func(net.Conn) {}, false},
		"hangs up behind hello":   {answers(welcome(cli.Version()), ""), false},
		"garbage":                 {func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, false},
		"garbage behind hello":    {answers(welcome(cli.Version()), "{"), false},
		"another version":         {answers(welcome("0.0.1"), result(`{"results":[],"backend":["lies"]}`)), false},
		"another protocol":        {answers(failed(client.CodeOtherProtocol)), false},
		"other settings":          {answers(failed(client.CodeOtherSettings)), false},
		"an error":                {answers(welcome(cli.Version()), `{"protocol":1,"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}`), false},
		"no answer of a search's": {answers(welcome(cli.Version()), result(`"x"`)), false},
		"incomplete":              {answers(welcome(cli.Version()), result(`{"results":[],"backend":[],"incomplete":{"doing":"indexing"}}`)), false},
	} {
		helloWithin, servedWithin = patient[0], patient[1]
		if test.hangs {
			helloWithin, servedWithin = 200*time.Millisecond, 10*time.Millisecond
		}
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				test.serve(conn)
				conn.Close()
			}
		}()
		if out, errs, code := command(t, "search", "--ollama", noOllama, "--format", "vimgrep", "apples"); out != want || errs != "" || code != 0 {
			t.Errorf("%s: exit %d, %s%s", name, code, out, errs)
		}
		listener.Close()
		<-ended
	}
	writeText(t, socket, "no socket")
	if out, errs, code := command(t, "search", "--ollama", noOllama, "--format", "vimgrep", "apples"); out != want || errs != "" || code != 0 {
		t.Errorf("a file: exit %d, %s%s", code, out, errs)
	}
	if out, errs, code := command(t, "serve"); code != cli.ExitFailed || !strings.Contains(errs, "in the way, and no socket: remove it") {
		t.Errorf("serve at a file: exit %d, %s%s", code, out, errs)
	}
}

// A second service says which one runs, and --status what it serves.
func TestServeSaysThatOneRuns(t *testing.T) {
	socket := serviceState(t)
	if out, _, code := command(t, "serve", "--status"); code != 0 || out != "No quarry serve runs. `quarry serve` starts one, at "+socket+".\n" {
		t.Errorf("%d %s", code, out)
	}
	if st := serviceStatus(t); st.Running || st.Socket != socket || st.Service != nil {
		t.Errorf("%+v", st)
	}
	stop := serving(t, "--ollama", noOllama)
	if out, errs, code := command(t, "serve"); code != 0 || out != "" || !strings.HasPrefix(errs, fmt.Sprintf("quarry serve runs already: process %d at %s;", os.Getpid(), socket)) {
		t.Errorf("a second: %d %s%s", code, out, errs)
	}
	root := barn(t)
	c, err := client.Dial(t.Context(), socket, client.Options{Hello: client.Hello{Client: "an \x1b[31magent", Roots: []string{root}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if answer, err := c.Search(t.Context(), client.Search{Query: "apples", Current: true}); err != nil || len(answer.Results) == 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	out, errs, code := command(t, "serve", "--status")
	if code != 0 || errs != "" || strings.Contains(out, "\x1b") {
		t.Errorf("%d %q%s", code, out, errs)
	}
	for _, want := range []string{fmt.Sprintf("quarry serve runs: process %d, version %s, protocol 1, since ", os.Getpid(), cli.Version()), "socket            " + socket, "folders open      " + root, "agent: " + root} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
	if code := stop(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Lstat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
	t.Setenv("QUARRY_SERVICE_SOCKET", "relative")
	for _, args := range [][]string{{"serve"}, {"serve", "--status"}} {
		if _, errs, code := command(t, args...); code != cli.ExitFailed || !strings.Contains(errs, "service.socket is \"relative\": set it to an absolute path") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	settled(t, root, "apples")
}

// A service that holds the socket and does not answer is named with its process.
func TestServeNamesOneThatDoesNotAnswer(t *testing.T) {
	socket := serviceState(t)
	held, err := service.Listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := command(t, "serve"); code != cli.ExitFailed || !strings.Contains(errs, fmt.Sprintf("does not answer as it should: end its process, %d,", os.Getpid())) {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := command(t, "serve", "--workspace", t.TempDir()); code != cli.ExitUsage || !strings.Contains(errs, "whose clients say which folders") {
		t.Errorf("%d %s", code, errs)
	}
}

// What the user excludes while a service runs is not found by the next client.
func TestServeFollowsTheSettings(t *testing.T) {
	serviceState(t)
	config := t.TempDir()
	clitest.UserConfig(t, config)
	root := barn(t)
	serving(t, "--ollama", noOllama)
	search := func() string {
		t.Helper()
		before := serviceStatus(t).Service.Answered
		out, errs, code := command(t, "search", "--workspace", root, "--ollama", noOllama, "--format", "vimgrep", "apples")
		if code != 0 {
			t.Fatal(out, errs)
		}
		if got := serviceStatus(t).Service.Answered - before; got < 3 {
			t.Errorf("the service was asked %d times", got)
		}
		return out
	}
	if out := search(); !strings.Contains(out, "barn/a.go") || !strings.Contains(out, "notes.md") {
		t.Error(out)
	}
	writeText(t, filepath.Join(config, "quarry", "settings.json"), `{"index":{"exclude":["notes.md"]}}`)
	if out := search(); !strings.Contains(out, "barn/a.go") || strings.Contains(out, "notes.md") {
		t.Error(out)
	}
	idle := serviceStatus(t).Service.Answered
	idle = serviceStatus(t).Service.Answered - idle // what asking for it counts
	writeText(t, filepath.Join(config, "quarry", "settings.json"), `{"service":{"enabled":false}}`)
	before := serviceStatus(t).Service.Answered
	if out, errs, code := command(t, "search", "--workspace", root, "--ollama", noOllama, "--format", "vimgrep", "apples"); code != 0 || !strings.Contains(out, "notes.md") {
		t.Error(out, errs)
	}
	if got := serviceStatus(t).Service.Answered - before; got != idle {
		t.Errorf("a service that is not wanted was asked: %d, and %d without a search", got, idle)
	}
}

// lines hands on what a command writes, line by line.
func lines(t *testing.T, args ...string) (next func() string, ended func() (code int)) {
	t.Helper()
	out, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), args, strings.NewReader(""), w, w)
		w.Close()
	}()
	in := bufio.NewReader(out)
	return func() string {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Errorf("%q ended: %v", args, err)
			}
			return line
		}, func() int {
			rest, err := io.ReadAll(in)
			if err != nil {
				t.Error(err)
			}
			t.Logf("%s", rest)
			return <-code
		}
}

// S2: a user pairs another machine by a code, searches from there, and revokes it.
func TestDevicesOfTheCommandLine(t *testing.T) {
	serviceState(t)
	root, other := t.TempDir(), t.TempDir()
	writeText(t, filepath.Join(root, "barn.go"), "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n}\n")
	writeText(t, filepath.Join(other, "else.go"), "package other\n\n// Harvest is another's.\nfunc Harvest() {}\n")
	if out, errs, code := command(t, "serve", "devices"); code != 0 || !strings.Contains(out, "No device is paired") {
		t.Error(out, errs, code)
	}
	if _, errs, code := command(t, "serve", "pair", "laptop"); code == 0 || !strings.Contains(errs, "quarry serve --websocket") {
		t.Error(errs, code)
	}
	for _, address := range []string{"nowhere", "192.168.1.5", ":"} {
		if _, errs, code := command(t, "serve", "--websocket", address); code != cli.ExitUsage {
			t.Error(address, errs, code)
		}
	}
	stop := serving(t, "--websocket", "127.0.0.1:0", "--ollama", noOllama)
	next, ended := lines(t, "serve", "pair", "laptop", "--root", root)
	code := strings.Fields(next())[1]
	address := strings.Fields(next())[1]
	if st := serviceStatus(t); !slices.Equal(st.Service.Addresses, []string{address}) {
		t.Errorf("%+v, paired at %s", st.Service, address)
	}
	wrong := "AAAA-AAAA-AAAA-AAAA"
	if _, errs, code := command(t, "serve", "join", address, wrong); code == 0 || !strings.Contains(errs, "the code is wrong, old or used") {
		t.Error(errs, code)
	}
	if _, errs, code := command(t, "serve", "join", address, code, "--as", "../desk"); code == 0 || !strings.Contains(errs, "no name for a service") {
		t.Error(errs, code)
	}
	out, errs, exit := command(t, "serve", "join", address, code, "--as", "desk")
	if exit != 0 || !strings.Contains(out, "paired as laptop") || !strings.Contains(out, "quarry search --at desk") {
		t.Fatal(out, errs, exit)
	}
	if exit := ended(); exit != 0 {
		t.Error(exit)
	}
	if _, errs, code := command(t, "serve", "join", "192.0.2.1:7417", wrong, "--as", "desk"); code != cli.ExitFailed || !strings.Contains(errs, `"desk" is the service at `+address+" already: take another name by --as") {
		t.Error("another service takes the name, and the key, of one: ", errs, code)
	}
	for want, args := range map[string][]string{
		"desk\n:4\n":                               {"search", "--at", ""},
		"vimgrep\nquickfix\nsarif\n:4\n":           {"search", "--format", ""},
		"hybrid\nlexical\nsemantic\nsymbols\n:4\n": {"search", "--mode", ""},
		"debug\ninfo\nwarn\nerror\n:4\n":           {"search", "--log-level", ""},
		"laptop\n:4\n":                             {"serve", "revoke", ""},
		":4\n":                                     {"serve", "revoke", "laptop", ""},
	} {
		if out, errs, exit := command(t, append([]string{"__complete"}, args...)...); out != want {
			t.Errorf("%v: %q, %s, %d", args, out, errs, exit)
		}
	}
	out, errs, exit = command(t, "search", "--at", "desk", "ripe apples")
	if exit != 0 || !strings.Contains(out, "barn.go:") || !strings.Contains(out, "func Harvest") || strings.Contains(out, "else.go") {
		t.Error(out, errs, exit)
	}
	if out, errs, exit := command(t, "search", "--at", "desk", "--json", "Harvest"); exit != 0 || !strings.Contains(out, `"barn.go"`) {
		t.Error(out, errs, exit)
	}
	for _, args := range [][]string{{"--at", "nobody", "apples"}, {"--at", "desk", "--format", "vimgrep", "apples"}, {"--at", "desk", ""}, {"--at", "desk", "--mode", "loud", "apples"}} {
		if out, errs, exit := command(t, append([]string{"search"}, args...)...); exit == 0 || errs == "" {
			t.Error(args, out, errs, exit)
		}
	}
	if out, errs, exit := command(t, "serve", "devices"); exit != 0 || !strings.Contains(out, "laptop") || !strings.Contains(out, root) {
		t.Error(out, errs, exit)
	}
	if out, errs, exit := command(t, "serve", "revoke", "laptop"); exit != 0 || !strings.Contains(out, "Revoked: laptop") {
		t.Error(out, errs, exit)
	}
	if _, errs, exit := command(t, "search", "--at", "desk", "ripe apples"); exit == 0 || !strings.Contains(errs, "was revoked") {
		t.Error(errs, exit)
	}
	if exit := stop(); exit != 0 {
		t.Error(exit)
	}
	if _, errs, exit := command(t, "search", "--at", "desk", "ripe apples"); exit == 0 || !strings.Contains(errs, "no quarry serve runs: start one there by `quarry serve --websocket "+address+"`\n") {
		t.Error(errs, exit)
	}
	if _, errs, exit := command(t, "search", "--at", "nobody", "ripe apples"); exit == 0 || !strings.HasSuffix(errs, "no service is called \"nobody\" here: `quarry serve join ADDRESS CODE --as nobody` pairs this machine with it\n") {
		t.Error(errs, exit)
	}
	if _, errs, exit := command(t, "serve", "join", "[::1]:1", wrong); exit != cli.ExitFailed || strings.Contains(errs, "is no name") {
		t.Error("an address of which no name can be made: ", errs, exit)
	}
}
