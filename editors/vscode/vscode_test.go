//go:build editors

package vscode_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

var screenshot = flag.String("screenshot", "", "write pictures of the window to this folder: vscode-ghost-text.png, vscode-explanation.png, vscode-change.png")

func TestMain(m *testing.M) {
	if os.Getenv(tapFile) != "" {
		if err := tap(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(editortest.Run(m))
}

// take is editortest.Take as it comes out here: VS Code has closed the brace itself.
var take = strings.TrimSuffix(editortest.Take, "\n")

// TestGhostText types in the real VS Code with the built extension in it, as test/ghost.mjs says.
func TestGhostText(t *testing.T) {
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.Recite(editortest.Shelf+take, r.Prompt)}
	})
	workspace := filepath.Join(t.TempDir(), "stock")
	file := filepath.Join(workspace, "shelf.go")
	editortest.WriteFile(t, file, editortest.Shelf)
	codeServer := made(t)
	url := start(t, codeServer, workspace, model.URL)

	live(t, "ghost.mjs", codeServer, url)
	if got, err := os.ReadFile(file); err != nil || string(got) != editortest.Shelf+take {
		t.Errorf("saved (%v):\n%s\nwant:\n%s", err, got, editortest.Shelf+take)
	}
}

const calls = `declare function area(w: number, h: number): number;
declare function list(of: number[]): void;
declare function say(what: string): void;
declare function each(f: (n: number) => number): void;
declare function first(): void;
declare function pick(f: (n: number) => number): void;
`

// TestBrackets accepts ghost text in calls that VS Code has closed, from a model that closes them, too, as test/brackets.mjs says:
// nothing is closed twice.
func TestBrackets(t *testing.T) {
	var words atomic.Int64
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		before, _, _ := strings.Cut(r.Prompt, "<|fim_suffix|>")
		for typed, answer := range map[string]string{
			"\narea(": "2, 3);", "\nlist([": "4, 5]);", "\nsay(\"": "good day\");",
			"\neach((n) => {": "\n  return n + n;\n});", "\nfirst(": ");\npick(",
			"\npick(": "(n) => {\n  return n * n;\n});",
		} {
			if strings.HasSuffix(before, typed) {
				return modeltest.Answer{Pieces: []string{answer}}
			}
		}
		if strings.HasSuffix(before, "const word = ") {
			return modeltest.Answer{Pieces: []string{fmt.Sprintf("1 + %d;", words.Add(1))}}
		}
		return modeltest.Answer{}
	})
	workspace := filepath.Join(t.TempDir(), "calls")
	file := filepath.Join(workspace, "calls.ts")
	editortest.WriteFile(t, file, calls)
	codeServer := made(t)
	live(t, "brackets.mjs", codeServer, start(t, codeServer, workspace, model.URL))
	want := calls + `
area(2, 3);
list([4, 5]);
say("good day");
first();
each((n) => {
  return n + n;
});
pick((n) => {
  return n * n;
});
const word = `
	if err := has(file, want); err != nil {
		t.Error(err)
	}
}

const shop = `interface Item {
  Name: string;
  Count: number;
}

export function total(items: Item[]): number {
  let n = 0;
  for (const item of items) {
    n += item.Counts;
  }
  return n;
}
`

// shopModel explains and fixes shop.ts, and simplifies it where counts are called field. An answer
// begins when what gate answers is closed, or goes on for each value that comes from it.
func shopModel(t *testing.T, field string, gate func() <-chan struct{}) *modeltest.Server {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Prompt, "<|start_of_role|>") || r.NumPredict() == 1 {
			return modeltest.Answer{} // no ghost text
		}
		text := "Totals are added up item by item.\n\n- `total` adds every Count (shop.ts:6-12)\n- an Item has one (shop.ts:1-4)\n"
		switch {
		case strings.Contains(r.Prompt, "\nExplain it."):
			text = "There is no Counts: the interface Item has Name and Count (shop.ts:1-4), and total adds up what is not there.\n\n" +
				"Fix: write item.Count.\n"
		case strings.Contains(r.Prompt, "\nFix it."):
			text = "The property is named `Count` (shop.ts:1-4).\n```diff\n--- a/shop.ts\n+++ b/shop.ts\n@@\n   for (const item of items) {\n" +
				"-    n += item.Counts;\n+    n += item.Count;\n   }\n```\n"
		case strings.Contains(r.Prompt, "\nSimplify lines"):
			text = "A plainer name for `n` (shop.ts:6-12).\n```diff\n--- a/shop.ts\n+++ b/shop.ts\n@@\n" +
				"-  let n = 0;\n+  let sum = 0;\n   for (const item of items) {\n-    n += item." + field + ";\n+    sum += item." + field + ";\n   }\n-  return n;\n+  return sum;\n```\n"
		}
		return modeltest.Answer{Pieces: strings.SplitAfter(text, " "), Gate: gate()}
	})
	return model
}

// always is a gate that stays the same.
func always(gate chan struct{}) func() <-chan struct{} {
	return func() <-chan struct{} { return gate }
}

// TestAssistance has a problem that TypeScript reports explained and fixed, has code simplified, and asks a
// question, as test/assist.mjs says.
func TestAssistance(t *testing.T) {
	now := make(chan struct{})
	close(now)
	model := shopModel(t, "Count", always(now))
	workspace := filepath.Join(t.TempDir(), "shop")
	file := filepath.Join(workspace, "shop.ts")
	editortest.WriteFile(t, file, shop)
	codeServer := made(t)
	live(t, "assist.mjs", codeServer, start(t, codeServer, workspace, model.URL))
	want := strings.NewReplacer("Counts", "Count", "let n", "let sum", "n +=", "sum +=", "return n", "return sum").Replace(shop)
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("saved (%v):\n%s", err, got)
	}
}

// TestTypingThroughAProposal writes a letter while quarry proposes a change of another file, and decides then, as
// test/letter.mjs says.
func TestTypingThroughAProposal(t *testing.T) {
	gate := make(chan struct{})
	workspace := filepath.Join(t.TempDir(), "shop")
	file, letter := filepath.Join(workspace, "shop.ts"), filepath.Join(workspace, "letter.txt")
	editortest.WriteFile(t, file, shop)
	editortest.WriteFile(t, letter, "")
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if text, err := os.ReadFile(letter); err == nil && len(text) > 0 {
				close(gate)
				return
			}
		}
	}()
	codeServer := made(t)
	const written = "Dear reader,\n" + "1 yes\n2 apply\n\n3 ok\n4 me\n"
	live(t, "letter.mjs", codeServer, start(t, codeServer, workspace, shopModel(t, "Count", always(gate)).URL), steps(t, map[string]func() (string, error){
		"unchanged": func() (string, error) { return "", errors.Join(has(file, shop), has(letter, written)) },
	}))
	close(ended)
	<-stopped
	if err := errors.Join(has(file, strings.Replace(shop, "Counts", "Count", 1)), has(letter, written)); err != nil {
		t.Error(err)
	}
}

// TestNothingIsAppliedUnseen has a change proposed that the window does not show as a whole, as test/unseen.mjs says, a
// small window by far not.
func TestNothingIsAppliedUnseen(t *testing.T) {
	var words []string
	line := func(sign string, n int) (text string) {
		for i := range n {
			word := fmt.Sprintf("%s%02d", sign, i)
			words = append(words, word)
			text += word + " "
		}
		return text
	}
	lines := func(sign string, n int) (text string) {
		for range n {
			text += "# " + line(fmt.Sprintf("%s%02dx", sign, len(words)), 1) + "\n"
		}
		return text
	}
	old, added := line("o", 25), line("a", 25)
	head, long, tail := lines("h", 3), lines("r", 40), lines("t", 2)
	tall, towering := "# "+line("w", 200)+"\n", "# "+strings.TrimSpace(line("z", 200))+"\n"
	blank := strings.Repeat("\n", 30)
	before := head + "def purge(n):\n    if n:\n        wipe_all(n)\n    return [] # " + old + "safe()\n" + blank + "def wipe(n):\n" + long + "    return n\n" + blank + "x = 1\n" + tall + "y = 2\n" + tail
	after := "def purge(n):\n    if n:\n    wipe_all(n)\n    return [] # " + added + "launch()\n" + blank + "def wipe(n):\n    return n\n" + towering + blank + "x = 1\ny = 2\n"
	minus := func(text string) string {
		return "-" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n-") + "\n"
	}
	diff := "--- a/purge.py\n+++ b/purge.py\n@@\n" + minus(head) + " def purge(n):\n     if n:\n-        wipe_all(n)\n+    wipe_all(n)\n" +
		"-    return [] # " + old + "safe()\n+    return [] # " + added + "launch()\n@@\n def wipe(n):\n" + minus(long) + "     return n\n+" + towering + "@@\n x = 1\n" + minus(tall) + " y = 2\n" + minus(tail)
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Prompt, "\nSimplify lines") {
			return modeltest.Answer{}
		}
		return modeltest.Answer{Pieces: []string{"Less to read (purge.py:1-3).\n```diff\n" + diff + "```\n"}}
	})
	words = append(words, "safe()", "launch()")
	codeServer := made(t)
	for _, window := range []string{"1200x700", "950x480"} {
		t.Run(window, func(t *testing.T) {
			workspace := filepath.Join(t.TempDir(), "purge")
			file := filepath.Join(workspace, "purge.py")
			editortest.WriteFile(t, file, before)
			live(t, "unseen.mjs", codeServer, start(t, codeServer, workspace, model.URL), "QUARRY_WINDOW="+window, "QUARRY_WORDS="+strings.Join(words, " "))
			if err := has(file, after); err != nil {
				t.Error(err)
			}
		})
	}
}

// has is an error unless a file has the text.
func has(file, text string) error {
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		return fmt.Errorf("%s has (%v):\n%s\nwant:\n%s", file, err, got, text)
	}
	return nil
}

// steps are what a session has done here, by name; the environment in which it finds them.
func steps(t *testing.T, do map[string]func() (string, error)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step, ok := do[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		said, err := step()
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		_, _ = io.WriteString(w, said)
	}))
	t.Cleanup(server.Close)
	return "QUARRY_STEPS=" + server.URL
}

// TestTyping runs what is tested without a window.
func TestTyping(t *testing.T) {
	if out, err := exec.Command(node(made(t)), "--test", "test/typing.test.mjs").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNothingIsFetched has a model name a server in every way that Markdown and HTML have to load something from it or
// to lead there, and has its words shown wherever there is a place for them, as test/hostile.mjs says. Nobody asks the server.
func TestNothingIsFetched(t *testing.T) {
	var asked atomic.Int64
	spy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/control" && r.URL.Path != "/favicon.ico" {
			asked.Add(1)
			t.Errorf("somebody asked for %s", r.URL)
		}
	}))
	t.Cleanup(spy.Close)
	words := strings.ReplaceAll("See ![pixel](SPY/a.png?d=code) and [ref] <img src=\"SPY/b.png\"> <iframe src=\"SPY/c\"></iframe> <svg><image href='SPY/d'/></svg> "+
		"[link](SPY/e) [run](command:workbench.action.terminal.new) <SPY/f> SPY/g ![ref] <style>@import url(SPY/h);</style> <script>fetch('SPY/i')</script> "+
		"<video poster=SPY/j></video> It returns about ~10 of `x~ <img src=\"SPY/m.png\">` and ~3 of `y~ SPY/n` calls. ![x](data:image/svg+xml,<svg><image href='SPY/k'/></svg>) (shop.ts:1-4). "+
		"[ticked]`(command:quarry.vscode.applyChange)` [`ticks`](command:quarry.vscode.applyChange) The end of the words [and one that is open", "SPY", spy.URL)
	definition := "\n\n[ref]: " + spy.URL + "/l.png\n\n[name\n\n```text\n]: y\n![z](" + spy.URL + "/o.png)\n```\n"
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		switch {
		case !strings.Contains(r.Prompt, "<|start_of_role|>") || r.NumPredict() == 1:
			return modeltest.Answer{}
		case strings.Contains(r.Prompt, "\nFix it."):
			return modeltest.Answer{Pieces: []string{words + "\n```diff\n--- a/shop.ts\n+++ b/shop.ts\n@@\n   for (const item of items) {\n" +
				"-    n += item.Counts;\n+    n += item.Count;\n   }\n```\n"}}
		}
		return modeltest.Answer{Pieces: strings.SplitAfter(words+definition, " ")}
	})
	workspace := filepath.Join(t.TempDir(), "shop")
	editortest.WriteFile(t, filepath.Join(workspace, "shop.ts"), shop)
	codeServer := made(t)
	live(t, "hostile.mjs", codeServer, start(t, codeServer, workspace, model.URL), "QUARRY_SPY="+spy.URL)
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// live plays a user's session of test/ in the window at url, of which pictures are taken if the flag says so, and answers what it printed.
func live(t *testing.T, session, codeServer, url string, env ...string) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if end, ok := t.Deadline(); ok { // before which everything that was started must have ended
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-time.Minute))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, node(codeServer), filepath.Join("test", session), codeServer, url, chromium)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // then it closes the browser
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = append(os.Environ(), env...)
	if *screenshot != "" {
		cmd.Args = append(cmd.Args, *screenshot)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the user's session: %v; the window as it was then is %s\n%s", err, filepath.Join(os.TempDir(), "quarry-vscode-failed.png"), out)
	}
	return strings.TrimSpace(string(out))
}

// made is the folder of editors/codeserver.sh, made if it is missing.
func made(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../codeserver.sh", "make")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// vsix is the extension that make vscode builds.
var vsix = filepath.Join("dist", "quarry.vsix")

// start runs code-server on workspace with the extension and the server under test, and returns its address.
func start(t *testing.T, codeServer, workspace, ollama string) string {
	t.Helper()
	return serve(t, codeServer, workspace, vsix, filepath.Join(editortest.QuarryFolder, "quarry"), "OLLAMA_HOST="+ollama)
}

// serve is start with an extension, packed or a folder, a server and an environment.
func serve(t *testing.T, codeServer, workspace, extension, server string, env ...string) string {
	t.Helper()
	data := t.TempDir()
	editortest.WriteFile(t, filepath.Join(data, "User", "settings.json"), userSettings(`"chat.disableAIFeatures": true`))
	return serveUser(t, data, codeServer, workspace, extension, server, env...)
}

// userSettings are the user's settings of the tests, which keep the window to what is tested, and more of them.
func userSettings(more string) string {
	return `{
		` + more + `,
		"editor.wordBasedSuggestions": "off",
		"editor.minimap.enabled": false,
		"files.autoSave": "off",
		"workbench.colorTheme": "Default Dark Modern",
		"workbench.startupEditor": "none",
		"workbench.secondarySideBar.defaultVisibility": "hidden"
	}`
}

// serveUser is serve for the user whose files are in the folder data.
func serveUser(t *testing.T, data, codeServer, workspace, extension, server string, env ...string) string {
	t.Helper()
	extensions := t.TempDir()
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(node(codeServer), append([]string{
			filepath.Join(codeServer, "node_modules", "code-server", "out", "node", "entry.js"),
			"--user-data-dir", data, "--extensions-dir", extensions,
		}, args...)...)
		cmd.Env = append(append(os.Environ(), "HOME="+data), env...)
		return cmd
	}
	if filepath.Ext(extension) != ".vsix" {
		if err := os.CopyFS(filepath.Join(extensions, filepath.Base(extension)), os.DirFS(extension)); err != nil {
			t.Fatal(err)
		}
	} else if out, err := run("--install-extension", extension).CombinedOutput(); err != nil {
		t.Fatalf("install the extension, which make vscode builds: %v\n%s", err, out)
	}
	// VS Code takes PATH from a login shell, so the binary is named.
	editortest.WriteFile(t, filepath.Join(data, "Machine", "settings.json"), fmt.Sprintf(`{"quarry.path": %q}`, server))
	cmd := run("--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-workspace-trust", "--disable-telemetry",
		"--disable-update-check", "--disable-getting-started-override", workspace)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts others, which end with the group
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, said := make(chan string, 1), &strings.Builder{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(said, lines.Text())
			if url := listening.FindString(lines.Text()); url != "" {
				select {
				case address <- url:
				default: // said before
				}
			}
		}
	}()
	t.Cleanup(func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Errorf("end code-server: %v", err)
		}
		<-read         // all that held its output is gone, so nothing writes to the folders to be removed
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Logf("code-server said:\n%s", said)
		}
	})
	select {
	case url := <-address:
		return url
	case <-time.After(time.Minute):
		t.Fatal("code-server does not say where it listens")
		return ""
	}
}

var listening = regexp.MustCompile(`http://127\.0\.0\.1:[1-9]\d*`)

// node is the Node of code-server, newer than the machine's.
func node(codeServer string) string { return filepath.Join(codeServer, "node_modules", ".bin", "node") }
