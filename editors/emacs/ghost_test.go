//go:build editors

package emacs_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// list is a small Go file whose main is begun.
const list = "package main\n\nimport \"os\"\n\nfunc main() {\n"

// The first small file without a model: what everybody writes there is offered.
func TestFirstSignOfLifeWithoutAModel(t *testing.T) {
	const want = list + "f, err := os.Open(\"list.txt\")\nif err != nil {\n"
	open := func(t *testing.T, init string) (*editortest.Terminal, string) {
		term, file := start(t, editor{file: "list.go", text: list, init: init + goMode, model: "127.0.0.1:1", line: 6})
		term.WaitForText("quarry: no model") // in the mode line
		term.Type("f, err := os.Open(\"list.txt\")\n")
		return term, file
	}
	t.Run("lsp-mode", func(t *testing.T) {
		term, file := open(t, lspMode(t))
		term.Type("i")
		term.Insist("the usual check", func() { term.Press("Space", "BSpace") }, func(s editortest.Screen) bool { return greyText(s) == "f err != nil {" })
		term.Press("Tab", "C-x", "C-s")
		term.WaitForFile(file, want)
	})
	t.Run("eglot", func(t *testing.T) {
		term, file := open(t, eglot(t))
		term.Type("i")
		term.Insist("the usual check", func() { term.Press("C-M-i") }, func(s editortest.Screen) bool { return s.Contains("if err != nil {") })
		term.Press("C-x", "C-s")
		term.WaitForFile(file, want)
	})
}

// A key asks for the best there is, and lsp-mode's keys go through the candidates, round and round.
func TestCandidatesOfLspMode(t *testing.T) {
	var words atomic.Int64
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if before, _, _ := strings.Cut(r.Prompt, "<|fim_suffix|>"); strings.HasSuffix(before, "const word = ") {
			return modeltest.Answer{Pieces: []string{fmt.Sprintf("1 + %d", words.Add(1))}}
		}
		return modeltest.Answer{}
	})
	term, file := start(t, editor{file: "list.go", text: list, init: lspMode(t) + goMode, model: model.URL, line: 6})
	term.WaitForText("[quarry")
	term.Type("const word = ")
	candidate := func(s editortest.Screen) bool { return strings.HasPrefix(greyText(s), "1 + ") } // drawn apart from the line that counts them
	screen := term.Insist("several candidates", func() { term.Press("C-c", "q", "c") }, func(s editortest.Screen) bool {
		return (s.Contains("Completion 1/2") || s.Contains("Completion 1/3")) && candidate(s)
	})
	first := greyText(screen)
	term.Press("C-n")
	screen = term.WaitFor("a second candidate", func(s editortest.Screen) bool {
		return s.Contains("Completion 2/") && candidate(s) && greyText(s) != first
	})
	second := greyText(screen)
	term.Press("C-p")
	term.WaitFor("the first again", func(s editortest.Screen) bool { return s.Contains("Completion 1/") && greyText(s) == first })
	term.Press("C-p")
	term.WaitFor("the last", func(s editortest.Screen) bool { return !s.Contains("Completion 1/") && greyText(s) != first })
	term.Press("C-n", "C-n")
	term.WaitFor("the second again", func(s editortest.Screen) bool { return greyText(s) == second })
	term.Press("Tab", "C-x", "C-s")
	term.WaitForFile(file, list+"const word = "+second+"\n")
}

// Emacs scrolls for point alone, and only as much as it is told to: what is accepted is on the screen all the same.
func TestGhostTextAtTheEndOfTheWindow(t *testing.T) {
	const rest = `with open(path, "w") as file:
        json.dump(shelf, file)
        file.flush()
        size = file.tell()
        if size == 0:
            raise ValueError(path)
        print("saved " + path + " with all that lies on the shelves of the shop, of which there may be many, and " + str(size) + " bytes")
    return size
`
	text := shelf + strings.Repeat("# more\n", 60)
	const head = "def save(path, shelf):\n    \"\"\"Write.\"\"\"\n    "
	for name, init := range map[string]string{
		"as it comes":           "",
		"scroll-conservatively": "(setq scroll-conservatively 101)\n",
		"scroll-margin":         "(setq scroll-conservatively 101 scroll-margin 4)\n",
		"always centred":        "(setq scroll-margin 99 maximum-scroll-margin 0.5)\n",
		"visual-line-mode":      "(setq scroll-conservatively 101)\n(global-visual-line-mode)\n",
	} {
		t.Run(name, func(t *testing.T) {
			model := modeltest.NewServer(t)
			model.Script(func(r modeltest.Request) modeltest.Answer {
				return modeltest.Answer{Pieces: editortest.Recite(text+head+rest, r.Prompt)}
			})
			term, file := start(t, editor{file: "shelf.py", text: text, init: lspMode(t) + init, model: model.URL, line: 1})
			term.WaitForText("LSP[quarry")
			term.Press("M->")
			term.Type("def save(path, shelf):\n")
			term.Type("\"\"\"Write.\"\"\"\n")
			term.Insist("all of the ghost text", func() { term.Press("Space", "BSpace") }, func(s editortest.Screen) bool {
				return strings.Contains(greyText(s), "file.tell()") && strings.HasSuffix(greyText(s), "return size")
			})
			term.Press("Tab", "C-x", "C-s")
			term.WaitForFile(file, text+head+rest)
		})
	}
}

// Where the window has too few rows a hint counts the others, and what a key has scrolled away is shown before it is accepted.
func TestGhostTextInASmallWindow(t *testing.T) {
	term, file := openShelf(t, lspMode(t)+"(setq scroll-conservatively 101 window-min-height 1)\n")
	term.WaitForText("LSP[quarry")
	const head = "def save(path, shelf):\n    \"\"\"Write a shelf to its JSON file.\"\"\"\n    "
	eval := func(lisp string) {
		term.Press("M-:")
		term.WaitForText("Eval:")
		term.Type(lisp + "\n")
	}
	term.Type("def save(path, shelf):\n")
	term.Type("\"\"\"Write a shelf to its JSON file.\"\"\"\n")
	eval("(progn (split-window) (window-resize nil (- 1 (window-body-height)) nil t))")
	term.Insist("what there is room for", func() { term.Press("Space", "BSpace") }, func(s editortest.Screen) bool {
		return s.Contains("with open(path, \"w\") as file: … 1 more line")
	})
	term.Press("C-g")
	eval("(window-resize nil 8 nil t)")
	term.Insist("all of it", func() { term.Press("Space", "BSpace") }, func(s editortest.Screen) bool {
		return strings.Contains(greyText(s), "json.dump(shelf, file)")
	})
	eval("(ignore)")
	term.Press("C-x", "C-s")
	term.WaitForFile(file, shelf+head+"\n")
}

// A window of half a terminal cuts long lines and scrolls sideways for point. A line of ghost text that begins left of it is
// accepted unseen, so the window is scrolled back, or has no ghost text.
func TestGhostTextInANarrowWindow(t *testing.T) {
	const doc = "def save(path, shelf):\n    \"\"\"Write a shelf to its JSON file.\"\"\""
	for name, c := range map[string]struct {
		init    string
		columns int
		split   bool
	}{
		"beside another": {columns: 80, split: true},
		"truncate-lines": {init: "(setq-default truncate-lines t)\n", columns: 40},
	} {
		t.Run(name, func(t *testing.T) {
			model := modeltest.NewServer(t)
			model.Script(func(r modeltest.Request) modeltest.Answer {
				return modeltest.Answer{Pieces: editortest.Recite(shelf+save, r.Prompt)}
			})
			term, file := start(t, editor{file: "shelf.py", text: shelf, init: lspMode(t) + c.init, model: model.URL, line: 12, columns: c.columns})
			eval := func(lisp string) {
				term.Press("M-:")
				term.WaitForText("Eval:")
				term.Type(lisp + "\n")
			}
			// The mode line is too short to show it.
			term.Insist("server", func() { eval("(message \"server %S\" (and (quarry--workspace) t))") }, func(s editortest.Screen) bool { return s.Contains("server t") })
			if c.split {
				term.Press("C-x", "3")
			}
			again := func() { term.Press("Space", "BSpace") }
			term.Type("def save(path, shelf):\n")
			term.Type(`"""Write a shelf to its JSON file."""`)
			term.Insist("word of it", again, func(s editortest.Screen) bool {
				return s.Contains("quarry: no room for ghost text") && greyText(s) == ""
			})
			term.Type("\n")
			// The hint is seen where the line that it stands behind is cut.
			eval("(let ((window-min-height 1)) (split-window) (window-resize nil (- 1 (window-body-height)) nil t))")
			term.Insist("hint", again, func(s editortest.Screen) bool {
				return s.Contains("    with open(path") && s.Contains(" … 1 more line")
			})
			term.Press("C-g")
			eval("(delete-other-windows-vertically)")
			term.Type(`with open(path, "w") as`)
			eval("(set-window-hscroll nil 12)")
			term.Insist("all of the ghost text", again, func(s editortest.Screen) bool {
				return s.Contains("json.dump(shelf, file)") && s.Contains("    with open(path")
			})
			eval("(set-window-hscroll nil 12)") // which ends ghost text, as each command does
			term.Press("C-x", "C-s")
			term.WaitForFile(file, shelf+doc+"\n    with open(path, \"w\") as\n")
			term.Press("C-e")
			term.Insist("all of the ghost text", again, func(s editortest.Screen) bool { return s.Contains("json.dump(shelf, file)") })
			term.Press("Tab", "C-x", "C-s")
			term.WaitForFile(file, shelf+save)
		})
	}
}

// One undo takes an acceptance back; a macro repeats keys, of which TAB is one.
func TestUndoAndMacros(t *testing.T) {
	term, file := openShelf(t, lspMode(t))
	term.WaitForText("LSP[quarry")
	const head = "def save(path, shelf):\n    \"\"\"Write a shelf to its JSON file.\"\"\"\n    "
	term.Type("def save(path, shelf):\n")
	term.Type(`"""Write a shelf to its JSON file."""` + "\n")
	shown := func(s editortest.Screen) bool { return strings.HasPrefix(greyText(s), "with open(") }
	term.Insist("ghost text", func() { term.Press("Space", "BSpace") }, shown)
	term.Press("Tab")
	term.WaitFor("accepted text", func(s editortest.Screen) bool { return s.Contains("json.dump(shelf, file)") && greyText(s) == "" })
	term.Press("C-_", "C-x", "C-s")
	term.WaitForFile(file, shelf+head+"\n") // which Emacs adds
	term.Press("C-e", "M-:")                // lsp-mode shows ghost text with the cursor a column to the left, which undo remembers
	term.WaitForText("Eval:")
	term.Type("(execute-kbd-macro (kbd \"x TAB y\"))\n") // no ghost text is there between its keys
	term.Press("C-x", "C-s")
	term.WaitForFile(file, shelf+head+"xy\n")
}
