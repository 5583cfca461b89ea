//go:build editors

package emacs_test

import (
	"slices"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// The lines that a fix changes are on the screen when it is asked about, in the smallest terminal there is.
func TestFixIn80By24(t *testing.T) {
	for name, init := range map[string]string{"lsp-mode": lspMode(t) + compiler, "eglot": eglot(t) + linter} {
		t.Run(name, func(t *testing.T) {
			s := openShopOn(t, editor{init: init, columns: 80, rows: 24})
			s.Insist("diagnostic", func() {
				s.Press("M-:")
				s.Type("(message \"found %S\" (and (flymake-diagnostics) (quarry--connection) t))\n")
			}, func(screen editortest.Screen) bool { return screen.Contains("found t") })
			s.onMistake()
			s.Press("C-c", "q", "f")
			s.change()
			s.unchanged()
			s.Insist("end of the change", func() { s.Press("C-c", "q", "a") }, // once more if it came too soon
				func(screen editortest.Screen) bool { return !screen.Contains(changeKeys) })
			s.mended()
		})
	}
}

// proposes has the command propose, which shows a change of two files, and says what was decided of it.
const proposes = `
(defun propose ()
  (interactive)
  (setq quarry--hasty 0) ; which another test is about
  (fset 'quarry--alive-p #'always)
  (fset 'quarry--request (lambda (_connection _method params _done) (message "decided %S" params)))
  (let ((lines (lambda (sign from to) (mapconcat (lambda (n) (format "%s%d is changed\n" sign n)) (number-sequence from to)))))
    (quarry--propose
     (list :id "1" :title "Fix" :reason (concat "Because of much" (string-join (make-list 20 "\nthat is long"))) :basis "Confidence: high."
           :diff (concat "--- a/x\n+++ b/x\n@@ -1,15 +1,12 @@\n" (funcall lines "-" 1 12) (funcall lines "+" 1 12) (funcall lines " kept " 1 30)
                         "--- a/y\n+++ b/y\n@@ -1,15 +1,12 @@\n" (funcall lines " kept " 1 3) (funcall lines "-" 13 13) (funcall lines "+" 13 13))
           :connection 'here :buffer nil :sent nil))))
`

// No change is made before each of its lines was on the screen: until then the key that applies it shows the next ones.
func TestNoChangeIsAppliedUnseen(t *testing.T) {
	s, _ := start(t, editor{file: "letter.txt", text: "dear reader\n", line: 1, columns: 80, rows: 24, init: configuration(t, "elisp") + proposes})
	s.WaitForText("dear reader")
	s.Press("M-x")
	s.WaitForText("M-x")
	s.Type("propose\n")
	for _, shown := range [][]string{
		{"dear reader", changeKeys + "   14 changed lines below   Because of much", "-1 is changed", "-12 is changed"}, // with the reason, which has no room in the window
		{"look and answer again (changed lines not seen yet: 14)", "2 changed lines below", "+1 is changed", "+12 is changed"},
		{"look and answer again (changed lines not seen yet: 2)", changeKeys + "   Because", "-13 is changed", "+13 is changed"},
	} {
		s.WaitFor(strings.Join(shown, ", "), func(screen editortest.Screen) bool {
			return !screen.Contains("decided") && !slices.ContainsFunc(shown, func(text string) bool { return !screen.Contains(text) })
		})
		s.Press("C-c", "q", "a")
	}
	s.WaitForText(`decided (:id "1" :apply t)`)
}
