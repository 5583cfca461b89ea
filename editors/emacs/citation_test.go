//go:build editors

package emacs_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// Whatever a file is called, an answer names it as it is called, and a key goes there.
func TestCitationsOfOddNames(t *testing.T) {
	for name, init := range map[string]string{"lsp-mode": lspMode(t) + goMode, "eglot": eglot(t) + goMode} {
		t.Run(name, func(t *testing.T) {
			model := modeltest.NewServer(t)
			model.Script(func(r modeltest.Request) modeltest.Answer {
				return modeltest.Answer{Pieces: editortest.OddAnswer(r.Prompt)}
			})
			term, _ := start(t, editor{file: "shop.go", text: editortest.Shop, files: editortest.OddFiles(), init: init, model: model.URL})
			term.WaitForText("quarry: granite4.1:3b")
			for row, question := range editortest.OddQuestions {
				term.Press("M-:")
				term.WaitForText("Eval:")
				term.Type("(pop-to-buffer \"shop.go\")\n")
				term.WaitForText("total(items")
				term.Press("C-c", "q", "q")
				term.WaitForText("Ask about the workspace:")
				term.Type(question + "\n")
				term.WaitForText("They are counted field by field, as __init__ wants it.")
				term.WaitForText("TAB and RET go to what is named")
				for i, name := range editortest.OddNames[row] {
					term.WaitForText(fmt.Sprintf("• field %[1]d (%[2]s:%[3]d-%[3]d)", i, name, editortest.OddLine))
					// Each place is a key further; where that leads stands in another window.
					term.Press("M-:")
					term.WaitForText("Eval:")
					term.Type("(pop-to-buffer \"*quarry answer*\")\n")
					term.Press("M-<")
					for range i + 1 {
						term.Press("Tab")
					}
					term.Press("Enter")
					term.WaitForText(fmt.Sprintf("%s %d", editortest.OddCode, i))
					term.Press("M-:")
					term.WaitForText("Eval:")
					term.Type(fmt.Sprintf("(message \"at %%S\" (list (string-suffix-p \"/%s\" buffer-file-name) (line-number-at-pos)))\n", name))
					term.WaitForText(fmt.Sprintf("at (t %d)", editortest.OddLine))
				}
			}
		})
	}
}

// Two projects in one Emacs: each answer keeps a page of its own, and what it names is its own project's, whichever project was
// opened last.
func TestAnswersOfTwoProjects(t *testing.T) {
	for name, init := range map[string]string{"lsp-mode": lspMode(t) + goMode, "eglot": eglot(t) + goMode} {
		t.Run(name, func(t *testing.T) {
			model := modeltest.NewServer(t)
			model.Script(func(r modeltest.Request) modeltest.Answer {
				return modeltest.Answer{Pieces: editortest.ShopAnswer(r.Prompt)}
			})
			term, _ := start(t, editor{file: "p/shop.go", text: editortest.Shop, init: init, model: model.URL, files: map[string]string{
				"p/.git/HEAD": "ref: refs/heads/main\n", "p/.git/config": "", "q/.git/HEAD": "ref: refs/heads/main\n", "q/.git/config": "",
				"q/shop.go": strings.Replace(editortest.Shop, "package shop", "package shop // of q", 1),
			}})
			ask := func(question string) {
				t.Helper()
				term.WaitForText("quarry: granite4.1:3b")                       // sooner C-c would end Emacs
				term.Insist("question", func() { term.Press("C-c", "q", "q") }, // once more if the project's server has not started
					func(s editortest.Screen) bool { return s.Contains("Ask about the workspace:") })
				term.Type(question + "\n")
				term.WaitForText("TAB and RET go to what is named")
				term.WaitForText(question)
				term.WaitForText("an Item has one")
			}
			evaluate := func(expression, want string) {
				t.Helper()
				term.Press("M-:")
				term.WaitForText("Eval:")
				term.Type(expression + "\n")
				term.WaitForText(want)
			}
			leadsTo := func(project string) {
				t.Helper()
				term.Press("M-<", "Tab", "Enter")
				evaluate(`(message "at %s %d" (file-name-nondirectory (directory-file-name default-directory)) (line-number-at-pos))`,
					"at "+project+" 8")
			}
			ask("what is the total?")
			term.Press("C-x", "C-f")
			term.WaitForText("Find file:")
			term.Type("../q/shop.go\n")
			term.WaitForText("package shop // of q")
			ask("what is the total of items?")
			evaluate(`(pop-to-buffer "*quarry answer of q*")`, "#<buffer *quarry answer of q*>")
			leadsTo("q")
			evaluate(`(pop-to-buffer "*quarry answer*")`, "#<buffer *quarry answer*>")
			term.WaitForText("what is the total?")
			leadsTo("p")
		})
	}
}
