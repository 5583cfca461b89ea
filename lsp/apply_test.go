package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/lsp/headless"
)

// fixing is a core that proposes p for whatever it is asked, of files in dir.
func fixing(p func(d agent.Document) agent.Proposal) *core {
	return &core{indexed: true, assistant: assistant{fix: func(_ context.Context, problem agent.Problem) (agent.Proposal, error) {
		return p(problem.Document), nil
	}}}
}

// beginFix runs quarry.fix on the first diagnostic of b.
func beginFix(t *testing.T, e *headless.Editor, b *headless.Buffer) {
	t.Helper()
	d := b.Diagnostics[0]
	err := e.Execute(soon(t), "quarry.fix", map[string]any{
		"uri": b.URI, "range": e.Range(b, d.Start, d.End), "diagnostic": map[string]any{"message": d.Message},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func attend(t *testing.T, e *headless.Editor, user headless.Prompter) {
	t.Helper()
	if err := e.Attend(soon(t), user); err != nil {
		t.Fatal(err)
	}
}

// ended waits for the result of the job under title, as the user reads it.
func ended(t *testing.T, e *headless.Editor, result string) {
	t.Helper()
	err := e.Await(soon(t), func() bool {
		for _, p := range e.Progressed() {
			if s := string(p.Value); strings.Contains(s, `"kind":"end"`) && strings.Contains(s, result) {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("no job ended with %q: %s", result, e.Progressed())
	}
}

// cancelJob cancels the job whose progress has title in it, once there is one: it
// may begin to do what one waits for before its progress is shown.
func cancelJob(t *testing.T, e *headless.Editor, title string) {
	t.Helper()
	titled := func(p headless.Progress) bool { return strings.Contains(string(p.Value), title) }
	if err := e.Await(soon(t), func() bool { return slices.ContainsFunc(e.Progressed(), titled) }); err != nil {
		t.Fatalf("no progress of %q: %s", title, e.Progressed())
	}
	all := e.Progressed()
	token := all[slices.IndexFunc(all, titled)].Token
	if err := e.Notify("window/workDoneProgress/cancel", map[string]any{"token": token}); err != nil {
		t.Fatal(err)
	}
}

// A command's change goes through workspace/applyEdit, and what the editor says
// of it is checked.
func TestWhatTheEditorSaysOfAChangeIsChecked(t *testing.T) {
	propose := func(d agent.Document) agent.Proposal { return replace(d, "foo", "bar") }
	t.Run("an editor lies", func(t *testing.T) {
		t.Parallel()
		e := edit(t, "helix", fixing(propose))
		e.Lies = true
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		agree(t, e)
		awaitShown(t, e, "ask again: the editor reported a change, but a.go is unchanged")
	})
	t.Run("an editor applies something else", func(t *testing.T) {
		t.Parallel()
		e := edit(t, "helix", fixing(propose))
		e.Lies = true
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		attend(t, e, headless.AcceptPrompt)
		attend(t, e, headless.AcceptPrompt)
		if err := e.Await(soon(t), func() bool { return e.Waiting() > 0 }); err != nil { // its change is on the way
			t.Fatal(err)
		}
		if err := e.Replace(b, 0, 7, "PACKAGE"); err != nil {
			t.Fatal(err)
		}
		attend(t, e, nil)
		awaitShown(t, e, "a.go differs from the proposal; check it before you save")
	})
	t.Run("the document moves on the way", func(t *testing.T) {
		t.Parallel()
		e := edit(t, "helix", fixing(propose))
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		attend(t, e, headless.AcceptPrompt)
		attend(t, e, headless.AcceptPrompt)
		// The server has sent its change when the user types.
		if err := e.Await(soon(t), func() bool { return e.Waiting() > 0 }); err != nil {
			t.Fatal(err)
		}
		if err := e.Replace(b, 0, 0, "// "); err != nil {
			t.Fatal(err)
		}
		attend(t, e, nil)
		awaitShown(t, e, "check it before you save")
		if got := b.Text.String(); got != "// "+source {
			t.Errorf("the text is %q", got)
		}
	})
	t.Run("the change comes after the answer", func(t *testing.T) {
		t.Parallel()
		e := edit(t, "helix", fixing(propose))
		e.Lies = true
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		agree(t, e)
		if err := e.Replace(b, 0, b.Text.Len(), strings.ReplaceAll(fixed, "\r\n", "\n")); err != nil { // with line endings of its own
			t.Fatal(err)
		}
		ended(t, e, "applied")
		if shown := e.Shown(); len(shown) > 0 {
			t.Errorf("shown: %q", shown)
		}
	})
}

func TestChangesOfOtherFiles(t *testing.T) {
	other := func(d agent.Document) string { return filepath.Join(filepath.Dir(d.Path), "other.go") }
	write := func(o *headless.Options) {
		for name, text := range map[string]string{"other.go": "foo é foo\n", "latin.go": "foo \xe9 foo\n", ".env": "SECRET=foo\n"} {
			if err := os.WriteFile(filepath.Join(o.Root, name), []byte(text), 0o600); err != nil {
				panic(err)
			}
		}
	}
	// change is a proposal for a file that is not open.
	change := func(path, old string, at int) agent.Proposal {
		return agent.Proposal{Title: "Change", Files: []agent.FileChange{{
			Path: path, Base: agent.HashText(old), Edits: []agent.TextEdit{{Start: at, End: at + 3, New: "bar"}},
		}}}
	}
	create := func(path string) agent.Proposal {
		return agent.Proposal{Title: "Create", Files: []agent.FileChange{{
			Path: path, Base: agent.HashText(""), Create: true, Edits: []agent.TextEdit{{New: "package a\n"}},
		}}}
	}
	outside := t.TempDir()
	for _, tt := range []struct {
		name    string
		propose func(agent.Document) agent.Proposal
		caps    string // "" for Helix' own
		file    string
		want    string // of the file, if it is applied
		refused string
	}{
		{name: "not open", file: "other.go", want: "foo é bar\n",
			propose: func(d agent.Document) agent.Proposal { return change(other(d), "foo é foo\n", 7) }},
		{name: "plain changes", file: "other.go", want: "foo é bar\n", caps: `{"workspace":{"applyEdit":true}}`,
			propose: func(d agent.Document) agent.Proposal { return change(other(d), "foo é foo\n", 7) }},
		{name: "changed on disk", refused: "other.go changed, so nothing",
			propose: func(d agent.Document) agent.Proposal { return change(other(d), "foo e foo\n", 7) }},
		{name: "new", file: "sub/new.go", want: "package a\n",
			propose: func(d agent.Document) agent.Proposal {
				return create(filepath.Join(filepath.Dir(d.Path), "sub", "new.go"))
			}},
		{name: "new, but the editor creates none", refused: "this editor cannot create files", caps: `{"workspace":{"applyEdit":true}}`,
			propose: func(d agent.Document) agent.Proposal {
				return create(filepath.Join(filepath.Dir(d.Path), "new.go"))
			}},
		{name: "new, but there already", refused: "other.go: file already exists",
			propose: func(d agent.Document) agent.Proposal { return create(other(d)) }},
		{name: "new and open already", refused: "a.go changed, so nothing",
			propose: func(d agent.Document) agent.Proposal { return create(d.Path) }},
		{name: "a secret", refused: "cannot change",
			propose: func(d agent.Document) agent.Proposal {
				return change(filepath.Join(filepath.Dir(d.Path), ".env"), "SECRET=foo\n", 7)
			}},
		{name: "a new secret", refused: "cannot create",
			propose: func(d agent.Document) agent.Proposal {
				return create(filepath.Join(filepath.Dir(d.Path), ".env.local"))
			}},
		{name: "outside", refused: "cannot change",
			propose: func(agent.Document) agent.Proposal {
				return change(filepath.Join(outside, "x.go"), "foo\n", 0)
			}},
		{name: "new outside", refused: "cannot create",
			propose: func(agent.Document) agent.Proposal { return create(filepath.Join(outside, "x.go")) }},
		{name: "out by dots", refused: "cannot create",
			propose: func(d agent.Document) agent.Proposal {
				return create(filepath.Dir(d.Path) + "/../x.go")
			}},
		{name: "in .git", refused: "cannot create",
			propose: func(d agent.Document) agent.Proposal {
				return create(filepath.Join(filepath.Dir(d.Path), ".git", "hooks", "post-commit"))
			}},
		{name: "edits that overlap", refused: "overlap or lie outside the text",
			propose: func(d agent.Document) agent.Proposal {
				p := replace(d, "foo", "bar")
				p.Files[0].Edits = append(p.Files[0].Edits, p.Files[0].Edits[0])
				return p
			}},
		{name: "edits past the end", refused: "overlap or lie outside the text",
			propose: func(d agent.Document) agent.Proposal {
				p := replace(d, "foo", "bar")
				p.Files[0].Edits[0].End = len(d.Text) + 1
				return p
			}},
		{name: "not UTF-8", refused: "not UTF-8 throughout",
			propose: func(d agent.Document) agent.Proposal {
				return change(filepath.Join(filepath.Dir(d.Path), "latin.go"), "foo \xe9 foo\n", 0)
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			options := []func(*headless.Options){write}
			if tt.caps != "" {
				options = append(options, capabilities(tt.caps))
			}
			e := edit(t, "helix", fixing(tt.propose), options...)
			b := problemAt(t, e, "a.go")
			beginFix(t, e, b)
			if tt.refused != "" {
				awaitShown(t, e, tt.refused)
				if n := e.Waiting(); n > 0 {
					t.Errorf("the user was asked about it")
				}
				return
			}
			agree(t, e)
			got := e.Buffer(tt.file)
			if got == nil || got.Text.String() != tt.want {
				t.Fatalf("%s is not %q: %+v; shown %q", tt.file, tt.want, got, e.Shown())
			}
			awaitShown(t, e, "quarry: Applied, not saved; undo there: "+tt.file) // it is out of sight
			if shows := slices.ContainsFunc(e.Documents(), func(u string) bool { return sameFile(u, got.URI) }); shows != strings.HasSuffix(tt.name, "new") {
				t.Errorf("it was put before the user: %v", shows)
			}
		})
	}
}

// A change of several files names those that the editor leaves unsaved: each is undone by itself.
func TestChangeOfTwoFilesNamesThem(t *testing.T) {
	c := fixing(func(d agent.Document) agent.Proposal {
		p := replace(d, "foo", "bar")
		p.Files = append(p.Files, agent.FileChange{
			Path: filepath.Join(filepath.Dir(d.Path), "other.go"), Base: agent.HashText("foo\n"), Edits: []agent.TextEdit{{End: 3, New: "bar"}},
		})
		return p
	})
	e := edit(t, "helix", c, func(o *headless.Options) {
		if err := os.WriteFile(filepath.Join(o.Root, "other.go"), []byte("foo\n"), 0o600); err != nil {
			panic(err)
		}
	})
	beginFix(t, e, problemAt(t, e, "a.go"))
	agree(t, e)
	awaitShown(t, e, "quarry: Applied, not saved; undo in each: a.go, other.go")
}

// Edits keep the line endings around them, whatever the encoding.
func TestPositionsOfEdits(t *testing.T) {
	for _, encoding := range []string{"utf-8", "utf-16", "utf-32"} {
		c := fixing(func(d agent.Document) agent.Proposal {
			p := replace(d, "😀", "😀😀\r\n")
			at := strings.Index(d.Text, "1)")
			p.Files[0].Edits = append(p.Files[0].Edits, agent.TextEdit{Start: at, End: at, New: "é"}, agent.TextEdit{Start: len(d.Text), End: len(d.Text), New: "// end\r\n"})
			return p
		})
		e := edit(t, "vscode", c, capabilities(`{"general":{"positionEncodings":["`+encoding+`"]},"workspace":{"workspaceEdit":{"documentChanges":true}}}`))
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		agree(t, e)
		want := "package a\r\n\r\n// 😀😀\r\n\r\nvar x = foo(é1)\r\n// end\r\n"
		if diff := cmp.Diff(want, b.Text.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", encoding, diff)
		}
	}
}

// Quarry ends although a user has not decided: edit's clean-up waits for it.
func TestEndingWhileTheUserDecides(t *testing.T) {
	e := edit(t, "helix", fixing(func(d agent.Document) agent.Proposal { return replace(d, "foo", "bar") }))
	beginFix(t, e, problemAt(t, e, "a.go"))
	if err := e.Await(soon(t), func() bool { return e.Waiting() > 0 }); err != nil {
		t.Fatal(err)
	}
}
