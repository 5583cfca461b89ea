//go:build editors

package emacs_test

import (
	"fmt"
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
			s.Press("C-c", "q", "a")
			s.ended()
			s.mended()
		})
	}
}

// proposes has the command propose, which shows a change of two files, and says what was decided of it.
const proposes = `
(defun propose ()
  (interactive)
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
	screen := s.WaitFor("change", func(screen editortest.Screen) bool {
		return screen.Contains(changeKeys) && screen.Contains("-1 is changed") && screen.Contains("-2 is changed")
	})
	if !screen.Contains("changed lines below   Because of much that is long") || !screen.Contains("dear reader") {
		t.Errorf("what is below, the reason or the code is missing:\n%s", screen.Framed())
	}
	seen := map[string]bool{}
	decided := func(screen editortest.Screen) bool { return screen.Contains("decided (:id \"1\" :apply t)") }
	for range 100 {
		for _, line := range strings.Split(screen.String(), "\n") {
			seen[strings.TrimSpace(line)] = true
		}
		before := screen.String()
		s.Press("C-c", "q", "a") // one that comes too soon is refused
		screen = s.WaitFor("next lines or a decision", func(screen editortest.Screen) bool {
			return decided(screen) || screen.Contains("not applied:") && screen.String() != before || screen.Contains("a key came just before")
		})
		if decided(screen) {
			break
		}
	}
	if !decided(screen) {
		t.Fatalf("it is never applied:\n%s", screen.Framed())
	}
	for n := 1; n <= 13; n++ {
		for _, sign := range []string{"-", "+"} {
			if line := fmt.Sprintf("%s%d is changed", sign, n); !seen[line] {
				t.Errorf("%q was never on the screen", line)
			}
		}
	}
}
