//go:build editors

package emacs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
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

// An explanation that grows is read without a key: the window goes with it, and leaves none of its rows empty.
func TestExplanationIn80By24(t *testing.T) {
	s := openShopOn(t, editor{init: eglot(t) + linter, columns: 80, rows: 24})
	s.Insist("diagnostic", func() {
		s.Press("M-:")
		s.Type("(message \"found %S\" (and (flymake-diagnostics) (quarry--connection) t))\n")
	}, func(screen editortest.Screen) bool { return screen.Contains("found t") })
	s.onMistake()
	model := s.hold()
	s.Press("C-c", "q", "e")
	s.WaitForText("quarry: Expla") // the rest is cut
	model.words(5)
	s.WaitForText("Nothing is called Counts; the") // the page grows from now on
	model.release()
	screen := s.WaitForText("Confidence:")
	for _, want := range []string{"n += it.Counts", explained, "Fix: write it.Count."} {
		if !screen.Contains(want) {
			t.Errorf("no %q on the screen:\n%s", want, screen.Framed())
		}
	}
}

// noServer says what was decided of a change that no server proposed.
const noServer = `
(setq quarry--hasty 0) ; which another test is about
(fset 'quarry--alive-p #'always)
(fset 'quarry--request (lambda (_connection _method params _done) (message "decided %S" params)))
`

// proposes has the command propose, which shows a change of two files.
const proposes = noServer + `
(defun propose ()
  (interactive)
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

// longLines are changed ones whose words are all different, a mark of what was on the screen.
func longLines() (lines []string) {
	words := func(sign, format string, n int, end string) string {
		line := sign
		for i := range n {
			line += fmt.Sprintf(format, i)
		}
		return line + end
	}
	return []string{
		words("-", "a%03d ", 80, "safe()"), words("+", "b%03d ", 80, "launch()"),
		words("-", "c%03d ", 400, "calm()"), words("+", "d%03d ", 400, "crash()"),
		words("-", "字%02d宽", 90, "读()"), words("+", "词%02d宽", 90, "写()"),
		words("-", "\tt%02d", 70, "wait()"), words("+", "\tu%02d", 70, "wipe()"),
	}
}

var word = regexp.MustCompile(`\pL\d+宽?|\pL+\(\)`)

// shownRows are those of the change, as they are on the screen.
func shownRows(screen editortest.Screen) string {
	_, rows, _ := strings.Cut(screen.String(), changeKeys)
	_, rows, _ = strings.Cut(rows, "\n")
	rows, _, _ = strings.Cut(rows, "\n-UU")
	return rows + "\n"
}

// A line that is longer than its row, or than the window, is on the screen to its end before the change is made.
func TestNoLineIsAppliedWhoseEndIsUnseen(t *testing.T) {
	diff := "--- a/x\n+++ b/x\n@@ -1,15 +1,12 @@\n"
	for i, line := range longLines() {
		diff += line + "\n"
		if i%2 == 1 {
			diff += strings.Repeat(" kept\n", 20)
		}
	}
	quoted, err := json.Marshal(diff) // Lisp reads these strings as JSON does
	if err != nil {
		t.Fatal(err)
	}
	s, _ := start(t, editor{file: "letter.txt", text: "dear reader\n", line: 1, columns: 80, rows: 24, init: configuration(t, "elisp") + noServer + fmt.Sprintf(`
(defun propose ()
  (interactive)
  (quarry--propose (list :id "1" :title "Fix" :reason "Because." :basis "Confidence: high." :diff %s :connection 'here :buffer nil :sent nil)))
`, quoted)})
	s.WaitForText("dear reader")
	s.Press("M-x")
	s.WaitForText("M-x")
	s.Type("propose\n")
	s.WaitForText(changeKeys)
	var shown strings.Builder
	for page := 0; ; page++ {
		before := shownRows(s.Screen())
		shown.WriteString(before)
		if page == 1 { // cut by the user, no line counts as seen that is not on the screen
			s.Press("C-x", "o", "C-x", "x", "t")
			s.WaitFor("lines that are cut", func(screen editortest.Screen) bool { return shownRows(screen) != before })
		}
		s.Press("C-c", "q", "a")
		screen := s.WaitFor("the next rows, or the end", func(screen editortest.Screen) bool {
			return screen.Contains("decided") || screen.Contains("look and answer again") && shownRows(screen) != before
		})
		if screen.Contains("decided") {
			break
		}
	}
	rows := regexp.MustCompile(` ?\\\n[-+]`).ReplaceAllString(shown.String(), "")
	for _, line := range longLines() {
		for _, w := range word.FindAllString(line, -1) {
			if !strings.Contains(rows, w) {
				t.Errorf("%s of %.12q... was never on the screen:\n%s", w, line, rows)
				break
			}
		}
	}
}
