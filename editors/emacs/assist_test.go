//go:build editors

package emacs_test

import (
	"strings"
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
	file string
}

func openShop(t *testing.T, init string) shop {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.ShopAnswer(r.Prompt)}
	})
	term, file := open(t, editor{file: "shop.go", text: editortest.Shop, init: init, model: model.URL, line: 11})
	term.WaitForText("Flymake[1 0]")
	return shop{term, file}
}

func openShopWithLspMode(t *testing.T) shop {
	t.Helper()
	s := openShop(t, lspMode(t)+compiler)
	s.WaitForText("LSP[compiler")
	s.WaitForText("[quarry")
	return s
}

func openShopWithEglot(t *testing.T) shop {
	t.Helper()
	s := openShop(t, eglot(t)+linter)
	s.WaitForText("eglot:")
	return s
}

// command runs an interactive command.
func (s shop) command(name string) {
	s.Press("M-x")
	s.Type(name + "\n")
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

// choose answers quarry's question, which has these choices.
func (s shop) choose(choices, choice string) {
	prompt := "(" + choices + ")"
	s.WaitForText(prompt)
	s.Type(choice + "\n")
	s.WaitFor("end of the question", func(screen editortest.Screen) bool { return !screen.Contains(prompt) })
}

const (
	choices      = "Apply, Show changes, Discard"
	choicesShown = "Apply, Discard"
)

// mended waits for the change, and saves it.
func (s shop) mended() {
	s.WaitFor("change", func(screen editortest.Screen) bool { return !screen.Contains("it.Counts") })
	s.Press("C-x", "C-s")
	s.WaitForFile(s.file, editortest.Mended)
}

func TestExplainWithLspMode(t *testing.T) {
	s := openShopWithLspMode(t)
	s.onMistake()
	s.action("lsp-execute-code-action", "Expl")
	s.WaitForText("the field is Count (shop.go:3-6)")
}

func TestFixWithLspMode(t *testing.T) {
	s := openShopWithLspMode(t)
	s.onMistake()
	s.action("lsp-execute-code-action", "Fix")
	s.choose(choices, "Show changes")
	s.WaitFor("changes", func(screen editortest.Screen) bool {
		return strings.Contains(screen.String(), "\n-       n += it.Counts\n+       n += it.Count\n")
	})
	s.choose(choicesShown, "Discard")
	s.Press("C-x", "1")
	s.action("lsp-execute-code-action", "Fix")
	s.choose(choices, "Apply")
	s.mended()
}

func TestAskAndRefactorWithLspMode(t *testing.T) {
	s := openShopWithLspMode(t)
	s.command("quarry-ask")
	s.Type("how are totals made?\n")
	s.WaitForText("adds every Count")
	s.refactor()
	s.choose(choices, "Apply")
	s.mended()
}

// refactor asks for a change of the whole file.
func (s shop) refactor() {
	s.Press("C-x", "1", "C-x", "h")
	s.command("quarry-refactor")
	s.Type("use the right field\n")
}

func TestExplainWithEglot(t *testing.T) {
	s := openShopWithEglot(t)
	s.onMistake()
	s.command("quarry-explain")
	s.WaitForText("the field is Count (shop.go:3-6)")
}

func TestFixWithEglot(t *testing.T) {
	s := openShopWithEglot(t)
	s.onMistake()
	s.command("quarry-fix")
	s.choose(choices, "Discard")
	s.command("quarry-fix")
	s.choose(choices, "Apply")
	s.mended()
}

func TestAskAndRefactorWithEglot(t *testing.T) {
	s := openShopWithEglot(t)
	s.command("quarry-ask")
	s.Type("how are totals made?\n")
	s.WaitForText("adds every Count")
	s.refactor()
	s.choose(choices, "Apply")
	s.mended()
}
