//go:build editors

package emacs_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// goMode stands in for the package go-mode.
const goMode = `
(define-derived-mode go-mode prog-mode "Go")
(add-to-list 'auto-mode-alist '("\\.go\\'" . go-mode))
`

// compiler is the language's own server, beside which lsp-mode runs quarry.
const compiler = goMode + `
(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client :server-id 'compiler :new-connection (lsp-stdio-connection '("compiler"))
                    :major-modes '(go-mode))))
`

// linter finds the mistake of shop.go without a language server.
const linter = goMode + `
(defun linter (report)
  (save-excursion
    (goto-char (point-min))
    (funcall report (and (search-forward "Counts" nil t)
                         (list (flymake-make-diagnostic (current-buffer) (match-beginning 0) (match-end 0)
                                                        :error "Counts undefined"))))))
(add-hook 'go-mode-hook (lambda () (add-hook 'flymake-diagnostic-functions #'linter nil t)))
(setq eglot-stay-out-of '(flymake-diagnostic-functions))
(add-hook 'go-mode-hook #'flymake-mode)
`

// shop is Emacs on shop.go, in which another tool has found a mistake.
type shop struct {
	*editortest.Terminal
	t    *testing.T
	file string
	// hold has the model wait before each word of its answers.
	hold func() *held
}

// held is a model that waits.
type held struct {
	t    *testing.T
	gate chan struct{}
	// release lets it say all that it has to.
	release func()
}

// words lets it say that many.
func (h *held) words(n int) {
	h.t.Helper()
	for range n {
		select {
		case h.gate <- struct{}{}:
		case <-h.t.Context().Done():
			h.t.Fatal("the model was not asked")
		}
	}
}

func openShop(t *testing.T, init string) shop {
	t.Helper()
	return openShopOn(t, editor{init: init})
}

// openShopOn is openShop on the screen, and with the model, that e says.
func openShopOn(t *testing.T, e editor) shop {
	t.Helper()
	model := modeltest.NewServer(t)
	open := make(chan struct{})
	close(open)
	var gate atomic.Pointer[chan struct{}]
	gate.Store(&open)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.ShopAnswer(r.Prompt), Gate: *gate.Load()}
	})
	e.file, e.text, e.model, e.line = "shop.go", editortest.Shop, cmp.Or(e.model, model.URL), 11
	term, file := start(t, e)
	return shop{term, t, file, func() *held {
		closed := make(chan struct{})
		gate.Store(&closed)
		return &held{t, closed, sync.OnceFunc(func() { close(closed) })}
	}}
}

func openShopWithLspMode(t *testing.T) shop {
	t.Helper()
	s := openShop(t, lspMode(t)+compiler)
	s.WaitForText("Flymake[1 0]")
	s.WaitForText("LSP[compiler")
	s.WaitForText("[quarry")
	return s
}

func openShopWithEglot(t *testing.T) shop {
	t.Helper()
	s := openShop(t, eglot(t)+linter)
	s.WaitForText("Flymake[1 0]")
	s.WaitForText("eglot:")
	return s
}

// client is one of the two that Emacs has for language servers.
type client struct {
	name string
	open func(*testing.T) shop
	// actions is its command that lists code actions.
	actions string
}

var clients = []client{
	{"lsp-mode", openShopWithLspMode, "lsp-execute-code-action"},
	{"eglot", openShopWithEglot, "eglot-code-actions"},
}

// withEach runs a test in both clients.
func withEach(t *testing.T, run func(t *testing.T, c client, s shop)) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { run(t, c, c.open(t)) })
	}
}

// command runs an interactive command.
func (s shop) command(name string) {
	s.extended()
	s.Type(name + "\n")
}

// extended begins M-x. Keys that come before Emacs reads them there can be lost.
func (s shop) extended() {
	s.Press("M-x")
	s.WaitFor("prompt", func(screen editortest.Screen) bool { return strings.Contains(screen.String(), "\nM-x") }) // a message may stand behind it
}

// action chooses the code action whose title begins so.
func (s shop) action(command, title string) {
	s.command(command)
	s.WaitFor("menu of code actions", func(screen editortest.Screen) bool {
		return screen.Contains("Select code action:") || screen.Contains("Pick an action")
	})
	s.Type(title)
	s.Press("Tab", "Enter")
}

// onMistake puts the cursor on what the other tool reported.
func (s shop) onMistake() {
	s.Press("M-<", "C-s")
	s.Type("Counts\n")
	s.Press("Left")
}

// changeKeys are above a change that is shown.
const changeKeys = "C-c C-c applies, C-c C-k discards"

// change waits until the change is shown, with all that it rests on.
func (s shop) change() {
	for _, part := range []string{
		changeKeys, "The field is named `Count`", "Confidence: high. Based on shop.go:3-6.", "-               n += it.Counts", "+               n += it.Count",
	} {
		s.WaitForText(part)
	}
}

// apply says yes to the change that is shown.
func (s shop) apply() {
	s.change()
	s.Press("C-c", "q", "a")
	s.ended()
}

// discard says no to the fix that is shown; the server knows, and the mode line shows it no longer.
func (s shop) discard() {
	const waiting = "quarry: Fix: "
	s.change()
	s.WaitForText(waiting)
	s.Press("C-c", "q", "d")
	s.ended()
	s.WaitFor("end of the work", func(screen editortest.Screen) bool { return !screen.Contains(waiting) })
}

func (s shop) ended() {
	s.WaitFor("end of the change", func(screen editortest.Screen) bool { return !screen.Contains(changeKeys) })
}

// wholeFile selects all of it.
func (s shop) wholeFile() { s.Press("C-x", "1", "C-x", "h") }

const (
	explained = "the field is Count (shop.go:3-6)"
	answered  = "adds every Count"
)

// mended waits for the change, and saves it.
func (s shop) mended() {
	s.WaitFor("change", func(screen editortest.Screen) bool {
		return screen.Contains("n += it.Count") && !screen.Contains("it.Counts")
	})
	s.Press("C-x", "C-s")
	s.WaitForFile(s.file, editortest.Mended)
}

func TestExplainWithLspMode(t *testing.T) {
	s := openShopWithLspMode(t)
	s.onMistake()
	s.action("lsp-execute-code-action", "Expl")
	s.WaitForText(explained)
	s.WaitForText("TAB and RET go to what is named") // it is whole
	s.Press("C-x", "1")
	s.command("lsp-describe-thing-at-point")
	s.WaitForText("quarry: Counts undefined")
	s.WaitForText(explained)
}

// A change is discarded, and applied when it is asked for again: from lsp-mode's list of code
// actions, and by quarry's keys in eglot.
func TestFix(t *testing.T) {
	withEach(t, func(t *testing.T, c client, s shop) {
		fix := func() {
			if c.name == "eglot" {
				s.Press("C-c", "q", "f")
			} else {
				s.action(c.actions, "Fix")
			}
		}
		s.onMistake()
		fix()
		s.discard()
		fix()
		s.change()
		if c.name == "lsp-mode" {
			s.Screen().Picture(t, *screenshot, "emacs-change.svg", "shop.go — Emacs")
		}
		s.apply()
		s.mended()
	})
}

func TestAskAndRefactor(t *testing.T) {
	withEach(t, func(t *testing.T, c client, s shop) {
		s.Press("C-c", "q", "q")
		s.WaitForText("Ask about the workspace:")
		s.Type("how are totals made?\n")
		s.WaitForText(answered)
		s.wholeFile()
		s.Press("C-c", "q", "r")
		s.WaitForText("Do what with the region")
		s.Type("use the right field\n")
		s.change()
		s.intoLowerWindow()
		s.Insist("end of the change", func() { s.Press("C-c", "C-k") }, // once more if it came too soon
			func(screen editortest.Screen) bool { return !screen.Contains(changeKeys) })
		s.command("switch-to-buffer")
		s.Type("shop.go\n")
		s.wholeFile()
		s.action(c.actions, "Simpl")
		s.apply()
		s.mended()
	})
}

// A model takes its time, and the user uses the minibuffer meanwhile.
func TestWhileTheUserIsInTheMinibuffer(t *testing.T) {
	typing := func(s shop, command string) {
		s.onMistake()
		model := s.hold()
		s.command(command)
		s.extended()
		s.Type("undecided")
		s.WaitForText("M-x undecided")
		model.release()
		s.Type("still")
		s.WaitForText("M-x undecidedstill")
		s.Press("C-g")
	}
	withEach(t, func(t *testing.T, _ client, s shop) {
		typing(s, "quarry-explain")
		s.WaitForText(explained)
	})
	t.Run("change", func(t *testing.T) {
		s := openShopWithLspMode(t)
		typing(s, "quarry-fix")
		s.apply()
		s.mended()
	})
}

// What is typed elsewhere answers nothing: the change is shown in a pause, in a window that is not selected. There the
// keys that are shown answer, and one undo takes the change back.
func TestTypingThroughAProposal(t *testing.T) {
	withEach(t, func(t *testing.T, _ client, s shop) {
		s.onMistake()
		model := s.hold()
		s.command("quarry-fix")
		letter := filepath.Join(filepath.Dir(s.file), "letter.txt")
		s.Press("C-x", "C-f")
		s.WaitForText("Find file:")
		s.Type("letter.txt\n")
		s.WaitForText("letter.txt")
		s.Type("dear reader\n")
		model.release()
		s.change()
		s.Type("y\n\nyes\n")
		s.Press("C-x", "C-s")
		s.WaitForFile(letter, "dear reader\ny\n\nyes\n")
		s.change()
		s.unchanged()
		s.intoLowerWindow()
		s.Insist("end of the change", func() { s.Press("C-c", "C-c") }, // once more if it came too soon
			func(screen editortest.Screen) bool { return !screen.Contains(changeKeys) })
		s.command("switch-to-buffer")
		s.Type("shop.go\n")
		s.mended()
		s.command("undo")
		s.WaitForText("n += it.Counts")
		s.Press("C-x", "C-s")
		s.WaitForFile(s.file, editortest.Shop)
	})
}

// unchanged asserts that the change is in no buffer: all of them are saved, and the file is what it was.
func (s shop) unchanged() {
	s.t.Helper()
	s.Press("M-:")
	s.WaitForText("Eval:")
	s.Type("(progn (save-some-buffers t) (message \"all %s\" 'saved))\n")
	s.WaitForText("all saved")
	if got, err := os.ReadFile(s.file); err != nil || string(got) != editortest.Shop {
		s.t.Errorf("shop.go is (%v)\n%s", err, got)
	}
}

// intoLowerWindow selects the window below the code.
func (s shop) intoLowerWindow() {
	s.Press("C-x", "o")
	s.WaitFor("cursor in the lower window", func(screen editortest.Screen) bool { return screen.CursorRow > 20 })
}

// An explanation and an answer are written below the code while the model speaks, in one window that is not selected;
// what they cite leads there, and a key ends them.
func TestPagesGrowBesideTheCode(t *testing.T) {
	beside := func(s shop, text string) {
		screen := s.WaitForText(text)
		if !screen.Contains("n += it.Counts") || screen.CursorRow > 20 {
			s.t.Errorf("the code is hidden or left:\n%s", screen.Framed())
		}
	}
	withEach(t, func(t *testing.T, c client, s shop) {
		s.onMistake()
		model := s.hold()
		s.Press("C-c", "q", "e")
		s.WaitForText("quarry: Explain: Counts") // in the mode line, before the first word
		model.words(5)
		beside(s, "Nothing is called Counts; the")
		s.WaitForText("k stops it")
		model.words(1)
		beside(s, "Nothing is called Counts; the field")
		model.release()
		beside(s, explained)
		s.WaitForText("TAB and RET go to what is named")

		model = s.hold()
		s.Press("C-c", "q", "q")
		s.WaitForText("Ask about the workspace:")
		s.Type("how are totals made?\n")
		model.words(12)                                      // an answer is shown from its first citation on
		beside(s, "• total adds every Count (shop.go:8-14)") // no signs of Markdown
		if screen := s.Screen(); screen.Contains(explained) || screen.Contains("an Item has one") {
			t.Errorf("the answer is whole or has another window:\n%s", screen.Framed())
		}
		s.Press("C-c", "q", "k")
		s.WaitForText("quarry: stopped")
		beside(s, "(cancelled)")

		// From the page's window the next one is asked for, and stopped.
		model.release()
		model = s.hold()
		s.intoLowerWindow()
		s.Press("C-c", "q", "q")
		s.WaitForText("Ask about the workspace:")
		s.Type("what is the total?\n")
		model.words(12)
		s.WaitForText("total adds every Count")
		s.WaitForText("what is the total?")
		s.Press("k")
		s.WaitForText("(cancelled)")
		model.release()
		s.Press("C-c", "q", "q")
		s.WaitForText("Ask about the workspace:")
		s.Type("what is the total of items?\n")
		screen := s.WaitFor("whole answer", func(screen editortest.Screen) bool {
			return screen.Contains("an Item has one (shop.go:3-6)") && screen.Contains("TAB and RET")
		})
		if c.name == "eglot" {
			screen.Picture(t, *screenshot, "emacs-answer.svg", "shop.go — Emacs")
		}
		s.Press("M-<", "Tab", "Tab", "Enter")
		s.WaitFor("cursor on the second place", func(screen editortest.Screen) bool {
			return strings.Contains(line(screen, screen.CursorRow), "type Item struct")
		})
		s.intoLowerWindow()
		s.Press("q")
		s.WaitFor("code alone", func(screen editortest.Screen) bool {
			return !screen.Contains("an Item has one") && screen.Contains("n += it.Counts")
		})
	})
}

// line is the text of a row.
func line(screen editortest.Screen, row int) string { return strings.Split(screen.String(), "\n")[row] }

func TestExplainWithEglot(t *testing.T) {
	s := openShopWithEglot(t)
	s.WaitForText("quarry: granite4.1:3b") // in the mode line
	s.onMistake()
	s.Press("C-c", "q", "e")
	s.WaitForText(explained)
	s.Press("C-x", "1")
	s.Insist("hover", func() { s.command("eldoc") }, func(screen editortest.Screen) bool {
		return screen.Contains("quarry: Counts undefined") && screen.Contains(explained)
	})
}

// quarry's own diagnostics are eglot's, so they have code actions.
func TestCodeActionsWithEglot(t *testing.T) {
	s := openShop(t, eglot(t)+goMode+"(setq-default eglot-workspace-configuration '(:quarry (:diagnostics (:syntax t))))\n")
	s.Press("M->")
	s.Type("func {\n")
	s.WaitForText("[1 0]")
	s.Press("Up")
	s.action("eglot-code-actions", "Expl")
	s.WaitForText(explained)
}

// How quarry is and what helps is a key away.
func TestStatus(t *testing.T) {
	for name, init := range map[string]string{"lsp-mode": lspMode(t) + goMode, "eglot": eglot(t) + goMode} {
		t.Run(name, func(t *testing.T) {
			term, _ := start(t, editor{file: "shop.go", text: editortest.Shop, init: init, model: "127.0.0.1:1", line: 11, columns: 80, rows: 24})
			term.WaitForText("quarry! (") // in the mode line, before the modes
			term.Press("C-c", "q", "s")
			term.WaitFor("status", func(screen editortest.Screen) bool { // which is not drawn all at once
				return screen.Contains("What still works") && screen.Contains("Ollama does not answer") && screen.Contains("Until then ghost text is copied")
			})
			term.Type("What st")
			term.Press("Tab", "Enter")
			term.WaitFor("code beside the page's beginning", func(screen editortest.Screen) bool {
				return screen.Contains("Without a model") && screen.Contains("n += it.Counts")
			})
			// A question without a model shows the nearest places.
			term.Press("C-c", "q", "q")
			term.WaitForText("Ask about the workspace:")
			term.Type("how is the total made?\n")
			term.WaitForText("Nearest code found by search:")
			term.WaitForText("shop.go:1-14 total")
		})
	}
}

// So does an explanation.
func TestExplainWithoutAModel(t *testing.T) {
	for name, init := range map[string]string{"lsp-mode": lspMode(t) + compiler, "eglot": eglot(t) + linter} {
		t.Run(name, func(t *testing.T) {
			s := openShopOn(t, editor{init: init, model: "127.0.0.1:1"})
			s.WaitForText("Flymake[1 0]")
			s.onMistake()
			s.Insist("explanation", func() { s.Press("C-c", "q", "e") }, func(screen editortest.Screen) bool { return screen.Contains("Nearest code found by search:") })
		})
	}
}

// A server that was killed is started again by itself, and no key that is meant for the code answers a question about that.
func TestKilledServerComesBack(t *testing.T) {
	withEach(t, func(t *testing.T, c client, s shop) {
		s.startsAgain(c)
		s.Press("M->")
		s.kill()
		s.Type("// yes, no, neither\n")
		s.WaitForText("// yes, no, neither")
		s.onMistake()
		s.Insist("explanation", func() { s.Press("C-c", "q", "e") }, func(screen editortest.Screen) bool { return screen.Contains(explained) })
		s.Press("C-x", "C-s")
		s.WaitForFile(s.file, editortest.Shop+"// yes, no, neither\n")
	})
}

// startsAgain waits until the client would start a killed server again: eglot starts none that has run for less than three seconds.
func (s shop) startsAgain(c client) {
	if c.name == "eglot" {
		s.Insist("server that eglot starts again", func() {
			s.Press("M-:")
			s.Type("(message \"again %S\" (not (eglot--inhibit-autoreconnect (eglot-current-server))))\n")
		}, func(screen editortest.Screen) bool { return screen.Contains("again t") })
	}
}

// kill has the user kill the server.
func (s shop) kill() {
	s.Press("M-!")
	s.WaitForText("Shell command:")
	s.Type("kill -9 $(pidof quarry)\n")
}

// A change goes with its server, which is said, and the next server's is shown and applied.
func TestServerKilledWhileAChangeIsShown(t *testing.T) {
	withEach(t, func(t *testing.T, c client, s shop) {
		s.startsAgain(c)
		s.onMistake()
		s.Press("C-c", "q", "f")
		s.change()
		s.kill()
		s.ended()
		s.Insist("word of it", func() { // the client's own messages take its place sooner or later
			s.Press("M-:")
			s.Type("(message \"told %S\" (with-current-buffer (messages-buffer) (and (save-excursion (goto-char 1) (search-forward \"quarry: the server ended; ask again\" nil t)) t)))\n")
		}, func(screen editortest.Screen) bool { return screen.Contains("told t") })
		s.onMistake()
		s.Insist("change", func() { s.Press("C-c", "q", "f") }, func(screen editortest.Screen) bool { return screen.Contains(changeKeys) })
		s.apply()
		s.mended()
	})
}

// Of an answer whose server is killed stays what was written, and that it is not whole is said; from its window the next
// server is asked.
func TestServerKilledWhileAnAnswerIsWritten(t *testing.T) {
	withEach(t, func(t *testing.T, c client, s shop) {
		s.startsAgain(c)
		model := s.hold()
		s.Press("C-c", "q", "q")
		s.WaitForText("Ask about the workspace:")
		s.Type("how are totals made?\n")
		model.words(13) // an answer is shown from its first citation on
		s.WaitForText("total adds every Count")
		s.WaitForText("k stops it")
		s.kill()
		s.WaitForText("The server ended before this was whole: ask again.")
		screen := s.WaitForText("quarry: granite4.1:3b") // the next one
		if !screen.Contains("total adds every Count") || screen.Contains("k stops it") {
			t.Errorf("the answer is gone or still being written:\n%s", screen.Framed())
		}
		model.release()
		s.intoLowerWindow()
		s.Press("C-c", "q", "q")
		s.WaitForText("Ask about the workspace:")
		s.Type("what is the total of items?\n")
		s.WaitForText("an Item has one")
		s.WaitFor("no word of the server before", func(screen editortest.Screen) bool { return !screen.Contains("The server ended") })
	})
}

// A new file is shown beside the code with the text of its diff, no question is asked about it, and how it is taken back is said.
func TestNewFile(t *testing.T) {
	const tests = "package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif total(nil) != 0 {\n\t\tt.Fatal(\"not empty\")\n\t}\n}\n"
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{}
		}
		lines := strings.ReplaceAll(strings.TrimSuffix(tests, "\n"), "\n", "\n+")
		return modeltest.Answer{Pieces: strings.SplitAfter("Tests of total (shop.go:8-14).\n```diff\n--- /dev/null\n+++ b/shop_test.go\n@@\n+"+lines+"\n```\n", " ")}
	})
	term, file := start(t, editor{file: "shop.go", text: editortest.Shop, init: lspMode(t) + goMode, model: model.URL, line: 11})
	s := shop{term, t, file, nil}
	s.WaitForText("quarry: granite4.1:3b")
	s.wholeFile()
	s.Press("C-c", "q", "r")
	s.WaitForText("Do what with the region")
	s.Type("Write tests\n")
	s.WaitForText(changeKeys)
	s.Insist("end of the change", func() { s.Press("C-c", "q", "a") }, // once more if it came too soon
		func(screen editortest.Screen) bool { return !screen.Contains(changeKeys) })
	s.WaitForText("quarry: Applied, saved; delete what is new to undo it: shop_test.go (new)") // lsp-mode saves a new file that it opens
	screen := s.WaitForText("func TestTotal(t *testing.T) {")
	if !screen.Contains("n += it.Counts") || screen.Contains("Reread from disk?") || screen.CursorRow > 20 {
		t.Errorf("the code is hidden or left, or a question is asked:\n%s", screen.Framed())
	}
	s.WaitForFile(filepath.Join(filepath.Dir(file), "shop_test.go"), tests)
}
