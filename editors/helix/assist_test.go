//go:build editors

package helix_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// openShop starts Helix on shop.go, in which another server has found a mistake, with the cursor on it.
func openShop(t *testing.T) (term *editortest.Terminal, file string) {
	t.Helper()
	now := make(chan struct{})
	close(now)
	return openShopWaiting(t, now)
}

// openShopWaiting is openShop with a model that says its first word when gate is closed.
func openShopWaiting(t *testing.T, gate <-chan struct{}) (term *editortest.Terminal, file string) {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.ShopAnswer(r.Prompt), Gate: gate}
	})
	return openShopOn(t, model.URL)
}

// openShopOn is openShop with the model at url.
func openShopOn(t *testing.T, url string) (term *editortest.Terminal, file string) {
	t.Helper()
	home, workspace := t.TempDir(), t.TempDir()
	// What the README says, with another server in the place of gopls.
	config := strings.ReplaceAll(editortest.FencedBlock(t, "README.md", "toml"), "gopls", "compiler")
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "languages.toml"), config+"\n[language-server.compiler]\ncommand = \"compiler\"\n")
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "config.toml"), settings(t))
	editortest.WriteFile(t, filepath.Join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n")
	file = filepath.Join(workspace, "shop.go")
	editortest.WriteFile(t, file, editortest.Shop)
	term = editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home,
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": url},
		Columns: 100,
		Rows:    40,
		Command: []string{"hx", "shop.go"},
	})
	term.WaitForText("Counts undefined") // the other server's message, at the line or below it
	return term, file
}

// menu opens the menu of code actions on the mistake; it is there once quarry has started.
func menu(term *editortest.Terminal) {
	term.Insist("menu of code actions", func() {
		term.Press("Escape", "Escape")
		term.Type("gg/Counts\n")
		term.Press("Space", "a")
	}, func(s editortest.Screen) bool { return s.Contains("Explain: Counts undefined") })
}

func TestExplain(t *testing.T) {
	term, _ := openShop(t)
	menu(term)
	term.Press("Enter") // the first of them
	term.WaitForText(explained)
	term.Type(":buffer-close\n")
	term.WaitFor("code alone", func(s editortest.Screen) bool { return s.Contains("package shop") && !s.Contains(explained) })
	term.Insist("explanation as the hover", func() {
		term.Press("Escape")
		term.Type("gg/Counts\n")
		term.Press("Space", "k")
	}, func(s editortest.Screen) bool { return s.Contains(explained) })
}

const explained = "the field is Count (shop.go:3-6)"

// Helix does not ask before it applies an edit, so quarry does: whether to show the change, then whether to apply it.
func TestFix(t *testing.T) {
	term, file := openShop(t)
	menu(term)
	term.Press("Down", "Enter")
	term.WaitForText("Show changes")
	term.Press("Enter") // what is selected is no
	term.WaitFor("end of the question", func(s editortest.Screen) bool { return !s.Contains("Show changes") })
	menu(term)
	term.Press("Down", "Enter")
	term.WaitForText("Show changes")
	term.Press("Down", "Enter")
	screen := term.WaitForText("Apply this change")
	for _, line := range []string{"-   n += it.Counts", "+   n += it.Count", "Based on shop.go:3-6."} {
		if !screen.Contains(line) {
			t.Errorf("the question hides %q:\n%s", line, screen.Framed())
		}
	}
	screen.Picture(t, *screenshot, "helix-change.svg", "shop.go — Helix")
	term.Press("Enter")
	term.WaitFor("code again", func(s editortest.Screen) bool { return s.Contains("package shop") && !s.Contains("Apply") })
	menu(term)
	term.Press("Down", "Enter")
	apply(term)
	mended(term, file)
	term.Press("u")
	term.WaitForText("n += it.Counts")
	save(term, file, editortest.Shop)
}

// What is typed elsewhere answers nothing. Helix puts the question over what is typed and lets a letter close it, so
// quarry asks in a pause, and again when it sees that the typing went on.
func TestTypingThroughAProposal(t *testing.T) {
	gate := make(chan struct{})
	term, file := openShopWaiting(t, gate)
	menu(term)
	term.Press("Down", "Enter")
	letter := filepath.Join(filepath.Dir(file), "letter.go")
	term.Type(":open letter.go\n")
	term.WaitForText("letter.go")
	term.Press("i")
	term.Type("dear reader\n")
	close(gate)
	term.WaitForText("Show changes")
	term.Type("yes\nyes\n\n")
	// That it was too hasty is said until the question is back.
	term.WaitFor("question again", func(s editortest.Screen) bool { return s.Contains("3  yes") && s.Contains("Show changes") })
	// A change that was made would stand in a buffer: with all of them saved, the file is as it was.
	term.Press("Escape") // closes the question
	term.WaitFor("no question", func(s editortest.Screen) bool { return !s.Contains("Show changes") })
	normal(term)
	term.Type(":wa\n")
	term.WaitForFile(letter, "dear reader\nyes\nyes\n\n\n")
	if got, err := os.ReadFile(file); err != nil || string(got) != editortest.Shop {
		t.Errorf("shop.go is (%v)\n%s", err, got)
	}
	term.Type(":open shop.go\n")
	term.WaitForText("package shop")
	menu(term) // at once again, since it is the same
	term.Press("Down", "Enter")
	apply(term)
	term.WaitFor("changed code", func(s editortest.Screen) bool { return s.Contains("n += it.Count") && !s.Contains("it.Counts") })
	term.Type(":wa\n")
	term.WaitForFile(file, editortest.Mended)
	written(term)
	term.Press("u")
	term.Type(":wa\n")
	term.WaitForFile(file, editortest.Shop)
}

// apply looks at the change that quarry asks about, and says yes to it.
func apply(term *editortest.Terminal) {
	term.WaitForText("Show changes")
	term.Press("Down", "Enter")
	term.WaitForText("Apply this change")
	term.Press("Down", "Enter")
}

func TestRefactor(t *testing.T) {
	term, file := openShop(t)
	term.Insist("menu of refactorings", func() {
		term.Press("Escape", "Escape")
		term.Type("%")
		term.Press("Space", "a")
	}, func(s editortest.Screen) bool { return s.Contains("Simplify (quarry)") })
	screen := term.Screen()
	choose(term, screen, "Simplify (quarry)")
	apply(term)
	mended(term, file)
}

// choose goes down to an entry of the menu that is open, whose first entry is quarry's explanation, and takes it.
func choose(term *editortest.Terminal, screen editortest.Screen, title string) {
	first, last := row(screen, "Explain: Counts"), row(screen, title)
	for range last - first {
		term.Press("Down")
	}
	term.Press("Enter")
}

// row is the first row of the screen with text in it.
func row(screen editortest.Screen, text string) int {
	return slices.IndexFunc(strings.Split(screen.String(), "\n"), func(line string) bool { return strings.Contains(line, text) })
}

// mended waits for the change, and saves it.
func mended(term *editortest.Terminal, file string) {
	term.WaitFor("change", func(s editortest.Screen) bool { return s.Contains("n += it.Count") && !s.Contains("it.Counts") })
	save(term, file, editortest.Mended)
}

// save saves a file as text. Helix reads that it is written after it is: what is saved before then it takes for another program's, and saves
// nothing more there.
func save(term *editortest.Terminal, file, text string) {
	term.Type(":w\n")
	term.WaitForFile(file, text)
	written(term)
}

// written waits until Helix knows that a file is written, and takes the mark of a changed one away. Its message may stand there for no
// longer than until quarry says how far a job is.
func written(term *editortest.Terminal) {
	term.WaitFor("written file", func(s editortest.Screen) bool { return s.Contains("written") || !s.Contains("[+]") })
}

func TestAsk(t *testing.T) {
	term, _ := openShop(t)
	term.Insist("answer", func() { term.Type(":lsp-workspace-command quarry.ask \"how are totals made?\"\n") }, answered)
	// quarry is attached to the page of the answer, too; the key of the README opens the question.
	term.Press("M-q")
	term.WaitForText(`:lsp-workspace-command quarry.ask "`)
	term.Type("what is the total of items?\"\n")
	term.WaitForText("# what is the total of items?")
	// C-o leads back to the code.
	term.Insist("code", func() { term.Press("C-o") }, func(s editortest.Screen) bool { return s.Contains("n += it.Counts") })
}

func answered(s editortest.Screen) bool { return s.Contains("adds every Count") }

// The commands take what a user types, and ask for what is missing.
func TestCommands(t *testing.T) {
	t.Run("a question to choose", func(t *testing.T) {
		term, _ := openShop(t)
		term.Insist("questions", func() { term.Type(":lsp-workspace-command quarry.ask\n") }, func(s editortest.Screen) bool {
			return s.Contains("What does shop.go do?")
		})
		term.Press("Enter")
		term.WaitFor("answer", answered)
	})
	t.Run("a place", func(t *testing.T) {
		term, _ := openShop(t)
		term.Insist("explanation", func() {
			term.Type(":lsp-workspace-command quarry.explain \"shop.go:11: Counts undefined\"\n")
		}, func(s editortest.Screen) bool { return s.Contains(explained) })
	})
	t.Run("an instruction for the selection", func(t *testing.T) {
		term, file := openShop(t)
		// quarry knows a selection from the menu, which may be that of the keys before.
		term.Insist("change of the selection", func() {
			term.Press("Escape", "Escape")
			term.Type("%")
			term.Press("Space", "a")
			if _, ok := term.Within(2*time.Second, func(s editortest.Screen) bool { return s.Contains("Simplify (quarry)") }); !ok {
				return
			}
			term.Press("Escape")
			term.Type(":lsp-workspace-command quarry.refactor \"use the right field\"\n")
			term.Within(20*time.Second, func(s editortest.Screen) bool { return s.Contains("Show changes") || s.Contains("nothing selected") })
		}, func(s editortest.Screen) bool { return s.Contains("Show changes") })
		apply(term)
		mended(term, file)
	})
}

// Helix shows a page in the view that has the focus: one that is split off while the model reads keeps the code beside the page, and the
// key of the README keeps later pages there. quarry.stop ends what a model takes too long for.
func TestPagesBesideTheCode(t *testing.T) {
	gate := make(chan struct{})
	term, _ := openShopWaiting(t, gate)
	menu(term)
	term.Press("Enter")
	term.WaitForText("Explain: Counts undefined") // what is under way
	term.Press("M-k")
	term.WaitFor("end of it", func(s editortest.Screen) bool { // the last line has what came last
		return s.Contains("Explain: Counts undefined ⋅ cancelled") || s.Contains("quarry: stopped")
	})
	menu(term)
	term.Press("Enter", "C-w", "v")
	close(gate)
	beside := func(text string) {
		t.Helper()
		term.WaitFor(text+" beside the code", func(s editortest.Screen) bool { return s.Contains(text) && s.Contains("n += it.Counts") })
	}
	beside("Fix: write it.Count")
	term.Press("M-q")
	term.WaitForText(`:lsp-workspace-command quarry.ask "`)
	term.Type("how are totals made?\"\n")
	beside("adds every Count")
	if screen := term.Screen(); screen.Contains("Fix: write it.Count") {
		t.Errorf("the answer has another view:\n%s", screen.Framed())
	}
}

// Without a status line of quarry's own a key says how quarry is, and what helps is a choice away.
func TestStatus(t *testing.T) {
	term, _ := start(t, editortest.Shelf, "127.0.0.1:1")
	term.WaitForText("INS ")
	normal(term)
	screen := term.Insist("status", func() { term.Press("M-s") }, func(s editortest.Screen) bool { return s.Contains("What still works") })
	for _, want := range []string{"Ollama does not answer", "Until then ghost text is copied", "Close"} {
		if !screen.Contains(want) {
			t.Errorf("no %q:\n%s", want, screen.Framed())
		}
	}
	for range row(screen, "What still works") - row(screen, "Close") {
		term.Press("Down")
	}
	term.Press("Enter")
	term.WaitForText("# Without a model")
}

// Helix hides what cannot be done, and why: without a model its menu has what can, which is to look, and what helps. A command
// that fails says why where its progress ends, since that stands over the message.
func TestWithoutAModel(t *testing.T) {
	term, _ := openShopOn(t, "127.0.0.1:1")
	menu(term)
	if screen := term.Screen(); screen.Contains("Fix: Counts") || !screen.Contains("No model answers: what helps, and what works") {
		t.Errorf("the menu is\n%s", screen.Framed())
	}
	term.Press("Down", "Enter")
	term.WaitForText("What still works")
	term.Press("Escape")
	term.WaitFor("code", func(s editortest.Screen) bool { return !s.Contains("What still works") })
	menu(term)
	term.Press("Enter")
	term.WaitForText("- shop.go:1-14")
	if screen := term.Screen(); !screen.Contains("No model can answer now: Ollama does not answer") || !screen.Contains("ollama.com/download") {
		t.Errorf("the explanation does not say whose it is:\n%s", screen.Framed())
	}
	term.WaitForText("Explain: Counts undefined ⋅ explained") // else that may be what comes last on the last line
	term.Press("C-o")
	term.Type(":lsp-workspace-command quarry.fix \"Counts\"\n")
	term.WaitForText("failed: Ollama does not answer: start it with")
}

// Helix starts no server again that has ended, and saves nothing while it waits for the answer of one; its own command does, and what was
// typed meanwhile is whole.
func TestKilledServerIsStartedByACommand(t *testing.T) {
	term, file := openShop(t)
	menu(term)
	term.Press("Escape")
	term.WaitFor("no menu", func(s editortest.Screen) bool { return !s.Contains("Explain: Counts undefined") })
	term.Type(":sh kill -9 $(pidof quarry)\n")
	term.Type("geo// yes, no")
	normal(term)
	term.Type(":lsp-restart quarry\n")
	menu(term)
	term.Press("Enter")
	term.WaitForText(explained)
	term.Press("C-o")
	term.WaitForText("// yes, no")
	save(term, file, editortest.Shop+"// yes, no\n")
}

// New tests are shown once they are applied, the page of the change gives its place back to the code, and it is said what takes them back.
func TestNewFile(t *testing.T) {
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{}
		}
		return modeltest.Answer{Pieces: strings.SplitAfter("Tests of total (shop.go:8-14).\n```diff\n--- /dev/null\n+++ b/shop_test.go\n@@\n+package shop\n+\n+// nothing yet\n```\n", " ")}
	})
	term, file := openShopOn(t, model.URL)
	term.Insist("menu of refactorings", func() {
		term.Press("Escape", "Escape")
		term.Type("%")
		term.Press("Space", "a")
	}, func(s editortest.Screen) bool { return s.Contains("Write tests (quarry)") })
	choose(term, term.Screen(), "Write tests (quarry)")
	apply(term)
	term.WaitForText("applied, not saved; undo there: shop_test.go (new)")
	screen := term.Screen()
	if !screen.Contains("// nothing yet") || screen.Contains("+package shop") {
		t.Errorf("the tests are hidden or the page has their place:\n%s", screen.Framed())
	}
	term.Type(":w\n")
	term.WaitForFile(filepath.Join(filepath.Dir(file), "shop_test.go"), "package shop\n\n// nothing yet\n")
	term.Type(":buffer-close\n")
	term.WaitForText("n += it.Counts")
}
