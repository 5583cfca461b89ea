//go:build editors

package emacs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// attached opens a file and waits until lsp-mode has quarry's answer to initialize.
const attached = `
(require 'lsp-mode)
(setq lsp-auto-guess-root t lsp-enable-suggest-server-download nil)
(find-file "~/work/shelf.py")
(lsp)
(with-timeout (60 (message "no server") (kill-emacs 1))
  (while (not (seq-some (lambda (workspace) (and (eq 'initialized (lsp--workspace-status workspace))
                                                 (eq 'quarry (lsp--client-server-id (lsp--workspace-client workspace)))))
                        (lsp-workspaces)))
    (accept-process-output nil 0.1)))
(message "attached %s mine %s hook %s" (fboundp 'quarry-ask) mine (and (memq 'lsp-deferred prog-mode-hook) t))
`

func TestSetupAttachesTheServer(t *testing.T) {
	home := t.TempDir()
	init := filepath.Join(home, ".emacs.d", "init.el")
	editortest.WriteFile(t, init, ";;; init.el -*- lexical-binding: t -*-\n(defvar mine 1) ; (\n(provide 'init)\n;;; init.el ends here\n")
	editortest.WriteFile(t, filepath.Join(home, "work", ".git", "HEAD"), "ref: refs/heads/main\n")
	editortest.WriteFile(t, filepath.Join(home, "work", "shelf.py"), shelf)
	script := filepath.Join(home, "attached.el")
	editortest.WriteFile(t, script, attached)
	editortest.SetUp(t, home, "emacs")
	out, err := editortest.Batch(t, home, "emacs", "--batch", "--eval", "(package-activate-all)", "-l", init, "-l", script)
	if err != nil || !strings.Contains(out, "attached t mine 1 hook t") {
		t.Errorf("%v\n%s", err, out)
	}
}
