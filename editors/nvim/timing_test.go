//go:build editors

package nvim_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// stopwatch measures from the last key that Neovim was given to the end of the first redraw with ghost text.
const stopwatch = `
local times, last, drawn = {}, nil, false
vim.on_key(function(_, typed)
  if typed ~= '' and vim.api.nvim_get_mode().mode == 'i' then
    last, drawn = vim.uv.hrtime(), false
  end
end)
local set = vim.api.nvim_buf_set_extmark
local ghosts = vim.api.nvim_create_namespace('quarry.ghost')
vim.api.nvim_buf_set_extmark = function(bufnr, namespace, row, col, mark)
  drawn = drawn or namespace == ghosts and mark.virt_text ~= nil
  return set(bufnr, namespace, row, col, mark)
end
vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('stopwatch'), {
  on_end = function()
    if drawn and last then
      times[#times + 1], last = (vim.uv.hrtime() - last) / 1e6, nil
    end
  end,
})
function WriteTimes()
  vim.fn.writefile({ vim.json.encode(times) }, 'times.json')
end
`

// The time from the last key to ghost text of a model that answers at once is printed; how long it may be is for whoever runs it
// on a quiet machine to say: go test -v -tags "sqlite_fts5 editors" ./editors/nvim -run TestLastKeyToGhostText
func TestLastKeyToGhostText(t *testing.T) {
	const tries = 12
	_, rest := editortest.Places(tries)
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: rest(r.Prompt)} })
	p := open(t, editor{
		text: editortest.Shelf, files: map[string]string{"go.mod": "module stock\n\ngo 1.26\n"}, init: stopwatch,
		path: []string{editortest.QuarryFolder}, env: map[string]string{"OLLAMA_HOST": model.URL},
	})
	p.Press("G")
	for i := range tries {
		p.Type(fmt.Sprintf("ovar place%d = ", i))
		if i == 0 {
			p.Insist("the model's answer", func() { p.Press("x", "BSpace") }, func(s editortest.Screen) bool { return ghost(s) == "shelf.Find(0)" })
		}
		p.waitForGhost(fmt.Sprintf("shelf.Find(%d)", i))
		p.Press("Tab", "Escape")
	}
	p.Type(":lua WriteTimes()\n")
	file := filepath.Join(p.workspace, "times.json")
	p.WaitFor("file of times", func(editortest.Screen) bool { return p.read("times.json") != "" })
	var times []float64
	if err := json.Unmarshal([]byte(p.read("times.json")), &times); err != nil || len(times) < tries {
		t.Fatalf("%s has %v (%v)", file, times, err)
	}
	slices.Sort(times)
	t.Logf("last key to ghost text: median %.0f ms, from %.0f to %.0f, of %d", times[len(times)/2], times[0], times[len(times)-1], len(times))
}
