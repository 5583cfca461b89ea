//go:build editors

package nvim_test

import (
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// waitForEcho asks Vim for an expression until it is this.
func (p user) waitForEcho(expression, want string) {
	p.t.Helper()
	p.Insist(expression+" "+want, func() { p.Type(":echo 'it is '.." + expression + "..'.'\n") }, func(s editortest.Screen) bool {
		return s.Contains("it is " + want + ".")
	})
}

// buffers is what the windows of the tab page show, top to bottom, in Vim's language.
const buffers = "join(map(range(1, winnr('$')), {_, n -> bufname(winbufnr(n))}), ' ')"

// A page is shown where the user is, also where another tab page shows it already.
func TestPageInAnotherTabPage(t *testing.T) {
	p := openShop(t, answer)
	p.Type(":QuarryAsk how are totals made?\n")
	p.WaitForText("adds every Count")
	p.Type(":tab split\n")
	p.WaitFor("code alone", func(s editortest.Screen) bool { return !s.Contains("adds every Count") })
	p.Type(":QuarryAsk how is the total of items made?\n")
	p.WaitForText("adds every Count")
	p.WaitForText("# how is the total of items made?")
	p.Type(":tabprevious\n")
	p.waitForEcho("tabpagenr()", "1")
	p.WaitForText("# how is the total of items made?")
	p.waitForEcho(buffers, "shelf.go quarry:/answer.md")
}

// The answers of two projects' servers, which call their pages the same, do not mix: each has a page of its own, whose places are
// its project's, and ending one leaves the other.
func TestAnswersOfTwoProjects(t *testing.T) {
	gate := make(chan struct{})
	told := func(who string) string { return strings.Replace(answer, "Totals", who+" totals", 1) }
	const heads = "package shop // of the other project\n"
	p := openShopAs(t, editor{
		files: map[string]string{"b/.git/HEAD": "ref: refs/heads/main\n", "b/shelf.go": heads + strings.TrimPrefix(editortest.Shop, "package shop\n")},
		env:   map[string]string{"OLLAMA_HOST": conversing(t, told("First"), gate)},
		// Each project has its model, so that both answer at once.
		init: compiler + clock + `vim.lsp.config('quarry', { cmd = function(dispatchers, config)
  local other = vim.fs.basename(config.root_dir) == 'b' and { OLLAMA_HOST = '` + conversing(t, told("Other"), closed()) + `' } or nil
  return vim.lsp.rpc.start({ 'quarry', 'lsp' }, dispatchers, { env = other })
end })
`,
	})
	words := func(n int) {
		for range n {
			select {
			case gate <- struct{}{}:
			case <-t.Context().Done():
				t.Fatal("the model was not asked")
			}
		}
	}
	p.Type(":vsplit b/shelf.go\n")
	p.waitForEcho("luaeval(\"#vim.tbl_filter(function(c) return c.initialized end, vim.lsp.get_clients({ name = 'quarry' }))\")", "2")
	p.Press("C-w", "l")
	p.Type(":QuarryAsk how are totals made?\n")
	words(14)
	p.WaitForText("First totals")
	p.Press("C-w", "h")
	p.Type(":QuarryAsk what is the total of items?\n")
	p.WaitForText("Other totals")
	p.WaitForText("an Item has one")
	p.Press("C-w", "b", "q") // which ends no answer of the first project
	p.WaitFor("code alone", func(s editortest.Screen) bool { return !s.Contains("Other totals") })
	p.Press("C-w", "t")
	p.Type(":QuarryAsk how is the total of items made?\n")
	p.WaitForText("# how is the total of items made?")
	close(gate)
	p.waitForEcho("getbufline('quarry:/answer.md', '$')[0]", "- an Item has one (shelf.go:3-6)") // the first is whole
	if screen := p.Screen(); screen.Contains("First totals") {
		t.Errorf("the answer of the first project has the place of the one that was asked for last:\n%s", screen.Framed())
	}
	p.waitForEcho(buffers, "b/shelf.go shelf.go quarry:/b/answer.md")
	for page, file := range map[string]string{"quarry:/b/answer.md": "b/shelf.go", "quarry:/answer.md": "shelf.go"} {
		p.Press("C-w", "b")
		p.Type(":buffer " + page + "\ngg/shelf.go:8\n")
		p.Press("Enter")
		p.waitForEcho("expand('%')..line('.')", file+"8")
	}
}

// What is under way, and that a change waits elsewhere, is said in whichever tab page the user is.
func TestChangeInAnotherTabPage(t *testing.T) {
	gate := make(chan struct{})
	p := openShopWaiting(t, fix, gate)
	p.Type(":QuarryFix\n")
	p.WaitForText("C-c ends it")
	p.Type(":tab split\n")
	p.waitForEcho("tabpagenr()", "2")
	p.WaitForText("C-c ends it")
	p.Type(":tabprevious\n")
	p.waitForEcho("tabpagenr()", "1")
	close(gate)
	p.waitForChange()
	p.Type(":tabnext\n")
	p.waitForEcho("tabpagenr()", "2")
	p.Type(":11\n:QuarryFix\n")
	p.WaitForText("a change waits to be decided in tab page 1")
	p.Type(":tabprevious\n")
	p.waitForEcho("tabpagenr()", "1")
	p.waitForEcho("&filetype", "diff") // in the change's window quarry is no stranger
	p.Type(":QuarryRefactor shorter\n")
	p.WaitForText("quarry: these lines are not code")
}

// In a page the commands are what they are in the code, and `q` leaves no error.
func TestCommandsInAPage(t *testing.T) {
	p := openShop(t, answer)
	p.Type(":QuarryAsk how are totals made?\n")
	p.WaitForText("adds every Count")
	p.Press("C-w", "j")
	p.Type(":QuarryAsk how is the total of items made?\n")
	p.WaitForText("# how is the total of items made?")
	p.Type(":%QuarryAsk what is this?\n")
	p.WaitForText("# what is this?")
	p.Type(":QuarryRefactor shorter\n")
	p.WaitForText("quarry: these lines are not code")
	p.Type(":QuarryFix\n")
	p.WaitForText("there is no diagnostic on this line")
	p.Type(":QuarryModel nothing\n")
	screen := p.WaitForText("quarry: no such command: press <Tab> after :QuarryModel")
	if screen.Contains("Press ENTER") {
		t.Errorf("the message stops the user:\n%s", screen.Framed())
	}
	p.waitForEcho("luaeval(\"require('quarry').status()\")", "quarry: granite4.1:3b")
	p.Type(":QuarryStatus\n")
	screen = p.WaitForText("Ghost text is by")
	if screen.Contains("not running") {
		t.Errorf("the page has no status:\n%s", screen.Framed())
	}
	p.Press("Enter") // the status may take two lines
	p.Type(":silent !kill -9 $(pidof quarry)\n")
	p.Type(":redraw!\n")
	p.Insist("answer of the new server", func() { p.Type(":QuarryAsk how many?\n") }, func(s editortest.Screen) bool { return s.Contains("# how many?") })
	p.Type(":only\n")
	p.waitForEcho(buffers, "quarry:/answer.md")
	p.Press("Escape") // the test's own command takes two lines
	p.WaitFor("the page", func(s editortest.Screen) bool { return !s.Contains("Press ENTER") })
	p.Press("q")
	p.waitForEcho(buffers, "shelf.go")
	if screen := p.Screen(); screen.Contains("E444") || !screen.Contains("it.Counts undefined") {
		t.Errorf("no code, or an error:\n%s", screen.Framed())
	}
	p.waitForEcho("&winfixheight..len(getmatches())..&conceallevel", "000")
}

// The user's own on_exit is called beside the plugin's, whenever it was set.
func TestOnExitOfTheUser(t *testing.T) {
	const mine = "vim.lsp.config('quarry', { on_exit = function() vim.schedule(function() vim.g.ended = (vim.g.ended or 0) + 1 end) end })\n"
	for name, init := range map[string]func(readme string) string{
		"after the plugin":  func(readme string) string { return readme + mine },
		"before the plugin": func(readme string) string { return mine + readme },
	} {
		t.Run(name, func(t *testing.T) {
			p := openShopAs(t, editor{
				init: init(compiler + clock),
				env:  map[string]string{"OLLAMA_HOST": conversing(t, answer, closed())},
			})
			p.Type(":silent !kill -9 $(pidof quarry)\n")
			p.waitForEcho("get(g:, 'ended', 0)", "1")
			p.waitForEcho("luaeval(\"(vim.lsp.get_clients({ name = 'quarry' })[1] or {}).id\")", "2")
		})
	}
}

// The server of one project that ends again and again is left alone; that of another starts again.
func TestRestartsAreOfOneProject(t *testing.T) {
	p := open(t, editor{
		text:  editortest.Shelf,
		files: map[string]string{"go.mod": "module stock\n\ngo 1.26\n", "b/.git/HEAD": "ref: refs/heads/main\n", "b/b.go": editortest.Shelf},
		init: `vim.lsp.config('quarry', { cmd = function(dispatchers, config)
  return vim.lsp.rpc.start(vim.fs.basename(config.root_dir) == 'b' and { 'false' } or { 'quarry', 'lsp' }, dispatchers)
end })
`,
		path: []string{editortest.QuarryFolder},
		env:  map[string]string{"OLLAMA_HOST": modelThatKnows(t, editortest.Shelf).URL},
	})
	p.waitForEcho("luaeval(\"#vim.lsp.get_clients({ name = 'quarry' })\")", "1")
	p.Type(":edit b/b.go\n")
	p.WaitForText("quarry: the server ends again and again")
	p.Type(":edit shelf.go\n")
	p.Type(`:let was = luaeval("vim.lsp.get_clients({ name = 'quarry', bufnr = 0 })[1].id")` + "\n")
	p.Type(":silent !kill -9 $(pidof quarry)\n")
	p.waitForEcho("(luaeval(\"(vim.lsp.get_clients({ name = 'quarry', bufnr = 0 })[1] or { id = 0 }).id\") > was)", "1")
}
