//go:build editors

package nvim_test

import (
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

const shop = `package shop

type Item struct {
	Name  string
	Count int
}

func total(items []Item) int {
	n := 0
	for _, it := range items {
		n += it.Counts
	}
	return n
}
`

const (
	explanation = "Nothing is called `Counts`; the field is `Count` (shelf.go:3-6).\n\nFix: write it.Count."
	answer      = "Totals are added up item by item.\n\n- `total` adds every Count (shelf.go:8-14)\n- an Item has one (shelf.go:3-6)\n"
	fix         = "The field is named `Count` (shelf.go:3-6).\n```diff\n--- a/shelf.go\n+++ b/shelf.go\n@@\n \tfor _, it := range items {\n-\t\tn += it.Counts\n+\t\tn += it.Count\n \t}\n```\n"
)

// compiler is a linter whose diagnostics are Neovim's own, as those of many plugins are.
const compiler = `
vim.api.nvim_create_autocmd('BufEnter', { pattern = 'shelf.go', callback = function(event)
  vim.diagnostic.set(vim.api.nvim_create_namespace('compiler'), event.buf, {
    { lnum = 10, col = 10, end_col = 16, message = 'it.Counts undefined', severity = 1, source = 'compiler' },
  })
end })
vim.diagnostic.config({ virtual_text = true })
`

// openShop opens the shop with a model that answers conversations with text, at the line that is wrong.
func openShop(t *testing.T, text string) person {
	t.Helper()
	now := make(chan struct{})
	close(now)
	return openShopWaiting(t, text, now)
}

// openShopWaiting is openShop with a model that says its first word when gate is closed.
func openShopWaiting(t *testing.T, text string, gate chan struct{}) person {
	t.Helper()
	return openShopAs(t, editor{init: compiler + clock, env: map[string]string{"OLLAMA_HOST": conversing(t, text, gate)}})
}

// conversing is the URL of a model that answers conversations with text, beginning when gate is closed.
func conversing(t *testing.T, text string, gate chan struct{}) string {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(r.Prompt, "<|start_of_role|>") && r.NumPredict() > 1 {
			return modeltest.Answer{Pieces: strings.SplitAfter(text, " "), Gate: gate}
		}
		return modeltest.Answer{Pieces: []string{"x"}}
	})
	return model.URL
}

// openShopAs opens the shop in an editor that is set up as e says.
func openShopAs(t *testing.T, e editor) person {
	t.Helper()
	e.text, e.files, e.path = shop, map[string]string{"go.mod": "module shop\n\ngo 1.26\n"}, []string{editortest.QuarryFolder}
	p := open(t, e)
	p.Type(":11\n")
	p.WaitForText("it.Counts undefined") // the diagnostic behind its line
	p.Insist("running server", func() { p.Type(":echo 'servers: '..luaeval(\"#vim.lsp.get_clients({ name = 'quarry' })\")\n") },
		func(s editortest.Screen) bool { return s.Contains("servers: 1") })
	return p
}

func TestExplain(t *testing.T) {
	p := openShop(t, explanation)
	p.Type(":QuarryExplain\n")
	p.WaitForText("the field is `Count`")
	p.Type(":buffer shelf.go\n:only\n")
	p.WaitFor("code alone", func(s editortest.Screen) bool { return !s.Contains("the field is `Count`") })
	p.Insist("explanation as the hover", func() { p.Type(":11\n^fCK") }, func(s editortest.Screen) bool {
		return s.Contains("quarry: it.Counts undefined")
	})
}

func TestAsk(t *testing.T) {
	p := openShop(t, answer)
	p.Type(":QuarryAsk how are totals made?\n")
	p.WaitForText("adds every Count")
}
