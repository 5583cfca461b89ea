//go:build editors

package nvim_test

import (
	"maps"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

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
func openShop(t *testing.T, text string) user {
	t.Helper()
	return openShopWaiting(t, text, closed())
}

// openShopWaiting is openShop with a model that says its first word when gate is closed.
func openShopWaiting(t *testing.T, text string, gate chan struct{}) user {
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
func openShopAs(t *testing.T, e editor) user {
	t.Helper()
	files := map[string]string{"go.mod": "module shop\n\ngo 1.26\n"}
	maps.Copy(files, e.files)
	e.text, e.files, e.path = editortest.Shop, files, []string{editortest.QuarryFolder}
	p := open(t, e)
	p.Type(":11\n")
	p.WaitForText("it.Counts undefined") // the diagnostic behind its line
	p.Insist("running server", func() { p.Type(":echo 'servers: '..luaeval(\"#vim.lsp.get_clients({ name = 'quarry' })\")\n") },
		func(s editortest.Screen) bool { return s.Contains("servers: 1") })
	return p
}

// waitForWindows waits until the windows show these buffers, top to bottom.
func (p user) waitForWindows(want string) {
	p.t.Helper()
	p.Insist("windows "+want, func() {
		p.Type(":echo 'windows: '..join(map(range(1, winnr('$')), {_, n -> bufname(winbufnr(n))}), ' ')\n")
	}, func(s editortest.Screen) bool { return s.Contains("windows: " + want) })
}

// Without a model an explanation is what search finds, beside the code, and the menu of a diagnostic has what helps.
func TestExplainWithoutAModel(t *testing.T) {
	p := openShopAs(t, editor{init: compiler + clock, env: map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}})
	p.Type(":QuarryExplain\n")
	screen := p.WaitForText("Nearest code found by search:")
	if !screen.Contains("No model can answer now") || !screen.Contains("n += it.Counts") {
		t.Errorf("the explanation does not say whose it is, or hides the code:\n%s", screen.Framed())
	}
	p.Type("gra")
	p.WaitForText("No model answers: what helps, and what works")
}

// An explanation opens beside the code, and the next one takes its window.
func TestExplain(t *testing.T) {
	p := openShop(t, explanation)
	p.Type(":QuarryExplain\n")
	screen := p.WaitForText("the field is Count") // in the colour of code, its signs concealed
	if !screen.Contains("n += it.Counts") {
		t.Errorf("the code is hidden:\n%s", screen.Framed())
	}
	p.Type(":QuarryExplain\n")
	p.waitForWindows("shelf.go quarry:/explanation.md")
	p.Insist("explanation as the hover", func() { p.Type(":11\n^fCK") }, func(s editortest.Screen) bool {
		return s.Contains("quarry: it.Counts undefined")
	})
}

// A server that ends before it has answered is not waited for in vain.
func TestKilledWhileItExplains(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	p := openShopWaiting(t, explanation, gate)
	p.Type(":QuarryExplain\n")
	p.WaitForText("ends it")
	p.Type(":silent !kill -9 $(pidof quarry)\n")
	p.WaitForText("quarry: the server ended before it answered; ask again")
}

// Answers share a window, and the places they name are a key away.
func TestAsk(t *testing.T) {
	p := openShop(t, answer)
	p.Type(":QuarryAsk how are totals made?\n")
	p.WaitForText("adds every Count")
	p.Type(":QuarryAsk how is the total of items made?\n")
	p.WaitForText("# how is the total of items made?")
	p.waitForWindows("shelf.go quarry:/answer.md")
	p.Type("Go// not saved\x1b")
	p.Press("C-w", "j")
	p.Type("/shelf.go:8\n")
	p.Press("Enter")
	p.waitForEcho("line('.')..expand('%')..getline('$')", "8shelf.go// not saved")
	p.Press("C-o") // to where the user was
	p.waitForEcho("line('.')", "15")
	p.Type(":QuarryAsk and /etc/hosts:1 or ../nvim/state:2?\n") // whose words stand in the page's title
	p.Press("C-w", "j")
	// The window follows what is written, so the title may be above it.
	p.Insist("title of the third answer", func() { p.Type("gg") }, func(s editortest.Screen) bool { return s.Contains("# and /etc/hosts:1") })
	p.Type("gg0f/")
	p.Press("Enter")
	p.WaitForText("the workspace has no file /etc/hosts")
	p.Type("f.")
	p.Press("Enter")
	p.WaitForText("the workspace has no file ../nvim/state")
	p.Press("q")
	p.waitForWindows("shelf.go")
}

// From a window without a file, such as that of the quickfix list, quarry is asked too; where none runs, that is said.
func TestAskFromTheQuickfixWindow(t *testing.T) {
	p := openShop(t, answer)
	p.Type(":copen\n:QuarryAsk how are totals made?\n")
	p.WaitForText("adds every Count")
	p.waitForEcho("&buftype", "quickfix")
	p.Type(":QuarryStatus\n")
	p.WaitForText("granite4.1:3b")
	p.Type(":only\n:QuarryAsk how is the total of items made?\n") // whose window before is gone
	p.WaitForText("# how is the total of items made?")
	p.Type(":wincmd p\n:enew\n:QuarryAsk what now?\n")
	p.WaitForText("quarry: not running in this buffer; see :checkhealth quarry")
}

// In a narrow window the corner still says which key ends what goes on.
func TestProgressInANarrowWindow(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	p := openShopWaiting(t, answer, gate)
	p.Type(":set columns=50\n:QuarryAsk how are the totals of all the items of a shelf made?\n")
	screen := p.WaitForText(" Ask: h")
	if !screen.Contains("… · ") || !screen.Contains(" · C-c ends it") {
		t.Errorf("the corner does not say what ends it:\n%s", screen.Framed())
	}
}

// While the model is at it the corner says so, and one key ends it.
func TestProgressAndStop(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	p := openShopWaiting(t, fix, gate)
	for _, stop := range []func(){func() { p.Press("C-c") }, func() { p.Type(":QuarryStop\n") }} {
		p.Type(":QuarryFix\n")
		screen := p.WaitForText("C-c ends it")
		if !screen.Contains("Fix: it.Counts undefined") {
			t.Errorf("it is not said what goes on:\n%s", screen.Framed())
		}
		stop()
		p.WaitFor("end of the work", func(s editortest.Screen) bool { return !s.Contains("ends it") })
	}
}

// The menu of code actions has those of quarry on diagnostics that other servers report.
func TestCodeActionsOnOthersDiagnostics(t *testing.T) {
	p := openShop(t, explanation)
	p.Type("gra")
	screen := p.WaitForText("Explain: it.Counts undefined")
	if !screen.Contains("Fix: it.Counts undefined") {
		t.Errorf("no fix:\n%s", screen.Framed())
	}
}

func TestPlugMaps(t *testing.T) {
	p := openShopAs(t, editor{
		init: compiler + clock + "vim.keymap.set('n', '<F6>', '<Plug>(quarry-explain)')\nvim.keymap.set('x', '<F7>', '<Plug>(quarry-ask)')\n",
		env:  map[string]string{"OLLAMA_HOST": conversing(t, explanation, closed())},
	})
	p.Press("F6")
	p.WaitForText("the field is Count")
	p.Press("V", "F7")
	p.WaitForText("Ask quarry:")
}

// The keys that the page suggests.
func TestKeysOfThePage(t *testing.T) {
	const first = "vim.keymap.set('n', '<leader>qe', '<Plug>(quarry-explain)')\n"
	p := openShopAs(t, editor{
		init: compiler + clock + first + editortest.FencedBlock(t, "README.md", "lua\n"+strings.TrimSuffix(first, "\n")),
		env:  map[string]string{"OLLAMA_HOST": conversing(t, fix, closed())},
	})
	p.Type(`\qe`)
	p.waitForWindows("shelf.go quarry:/explanation.md")
	p.Type(`\qa`)
	p.WaitForText("Ask quarry:")
	p.Type("how are totals made?\n")
	p.waitForWindows("shelf.go quarry:/answer.md")
	p.Type(`V\qa`)
	p.WaitForText("Ask quarry:")
	p.Press("Escape", "Escape")
	p.Type(":11\n")
	p.Type(`\qf`)
	p.waitForChange()
	p.apply()
	p.waitForSaved(editortest.Mended)
}

func closed() chan struct{} {
	now := make(chan struct{})
	close(now)
	return now
}
