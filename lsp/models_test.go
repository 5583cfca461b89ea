package lsp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/lsp"
	"quarry/lsp/headless"
)

// runs runs a command with texts as its arguments.
func runs(t *testing.T, e *headless.Editor, command string, args ...string) {
	t.Helper()
	if err := e.Call(soon(t), "workspace/executeCommand", map[string]any{"command": command, "arguments": args}, nil); err != nil {
		t.Fatal(err)
	}
}

// reads waits for a page that has all of some texts.
func reads(t *testing.T, e *headless.Editor, texts ...string) {
	t.Helper()
	page := ""
	err := e.Await(soon(t), func() bool {
		var err error
		page, err = e.Page()
		return err == nil && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(page, text) })
	})
	if err != nil {
		t.Fatalf("no page with %q: %s", texts, page)
	}
}

// doneTo is what was done to models.
func (c *core) doneTo() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.done)
}

// What `quarry model list`, `catalogue` and `verify` print, an editor shows.
func TestModelsAreShown(t *testing.T) {
	e := edit(t, "neovim", &core{})
	runs(t, e, lsp.CommandList)
	reads(t, e, "| one | 2.1 GB | Q4_K_M | no | completion |", "| two |", "# Left of downloads\n\n- of a download: parts of three: `quarry model clean` removes it\n", "For this machine: three; it fits.", "| three | completion | 2.1 GB | 3.5 GB | Apache-2.0 | the first |")
	runs(t, e, lsp.CommandVerify, "two")
	reads(t, e, "# two", "- digest: **note**, another", "- model: ok, two granite", "- tags: **wrong**", "what to do: choose another")
	ended(t, e, "something is wrong")
	runs(t, e, lsp.CommandVerify)
	reads(t, e, "# granite4.1:3b")
}

// A model is deleted after a yes to its name and what it is for.
func TestRemoveModel(t *testing.T) {
	for _, test := range []struct {
		args, answers, questions []string
		done                     []string
		result                   string
	}{
		{[]string{"one"}, []string{"Delete"}, []string{"Delete one (2.1 GB)? quarry uses it for completion."}, []string{"remove one"}, "deleted"},
		{[]string{"one:latest"}, []string{"Cancel"}, []string{"Delete one (2.1 GB)? quarry uses it for completion."}, nil, "not deleted"},
		{nil, []string{"two", "Delete"}, []string{"Which model shall be deleted?", "Delete two (1.0 GB)?"}, []string{"remove two"}, "deleted"},
		{nil, []string{""}, []string{"Which model shall be deleted?"}, nil, "none chosen"},
		{[]string{"three"}, nil, nil, nil, "failed"},
	} {
		c := &core{}
		e := edit(t, "neovim", c)
		runs(t, e, lsp.CommandRemove, test.args...)
		for i, answer := range test.answers {
			attend(t, e, func(question string, _ []string) string {
				if !strings.HasSuffix(question, test.questions[i]) {
					t.Errorf("asked %q, want %q", question, test.questions[i])
				}
				return answer
			})
		}
		ended(t, e, test.result)
		if !slices.Equal(c.doneTo(), test.done) {
			t.Errorf("%q: done %q, want %q", test.args, c.doneTo(), test.done)
		}
	}
}

// The model of a file is imported after a yes to the file and the name.
func TestImportModel(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	run := func(answers []string, args ...string) (c *core, e *headless.Editor, asked []string) {
		c = &core{}
		e = edit(t, "neovim", c)
		runs(t, e, lsp.CommandImport, args...)
		for _, answer := range answers {
			attend(t, e, func(question string, choices []string) string {
				asked = append(asked, question+" "+strings.Join(choices, ", "))
				return answer
			})
		}
		return c, e, asked
	}
	_, e, _ := run(nil)
	ended(t, e, "failed")
	if !slices.ContainsFunc(e.Shown(), func(m string) bool { return strings.Contains(m, "no GGUF file is in your folder for downloads") }) {
		t.Errorf("%q", e.Shown())
	}
	_, e, _ = run(nil, "nowhere.gguf")
	ended(t, e, "failed")

	file := filepath.Join(home, "Downloads", "Ours-7B.gguf")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c, e, asked := run([]string{file, "Import"})
	ended(t, e, "imported")
	if want := []string{"import " + file + " as ours-7b"}; !slices.Equal(c.doneTo(), want) {
		t.Errorf("done %q, want %q", c.doneTo(), want)
	}
	if len(asked) != 2 || !strings.HasSuffix(asked[0], file) || !strings.Contains(asked[1], file+" as ours-7b?") {
		t.Errorf("asked %q", asked)
	}
	c, e, _ = run([]string{"Import"}, filepath.Join("~", "Downloads", "Ours-7B.gguf"), "mine:7b")
	ended(t, e, "imported")
	if want := []string{"import " + file + " as mine:7b"}; !slices.Equal(c.doneTo(), want) {
		t.Errorf("done %q, want %q", c.doneTo(), want)
	}
	c, e, _ = run([]string{"Cancel"}, file)
	ended(t, e, "not imported")
	if len(c.doneTo()) > 0 {
		t.Errorf("done without a yes: %q", c.doneTo())
	}
}
