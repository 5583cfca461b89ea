//go:build editors

package nvim_test

import (
	"fmt"
	"path"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// Whatever a file is called, an answer names it as it is called, and a key goes there.
func TestCitationsOfOddNames(t *testing.T) {
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.OddAnswer(r.Prompt)}
	})
	p := openShopAs(t, editor{init: compiler + clock, files: editortest.OddFiles(), env: map[string]string{"OLLAMA_HOST": model.URL}})
	for row, question := range editortest.OddQuestions {
		p.Type(":QuarryAsk " + question + "\n")
		p.WaitForText("# " + question)
		p.WaitForText("They are counted field by field, as __init__ wants it.")
		for i, name := range editortest.OddNames[row] {
			p.Press("C-w", "j")
			p.Type(fmt.Sprintf("/field %d\n", i))
			p.WaitForText(fmt.Sprintf("field %[1]d (%[2]s:%[3]d-%[3]d)", i, name, editortest.OddLine))
			p.Press("Enter")
			p.waitForEcho("line('.')..winnr()..expand('%:t')", fmt.Sprintf("%d1%s", editortest.OddLine, path.Base(name)))
			p.WaitForText(fmt.Sprintf("%s %d", editortest.OddCode, i))
		}
	}
}
