package engines

import (
	"path/filepath"
	"strings"

	"quarry/cmd/internal/usage"
	"quarry/lsp/settings"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// keepStats has what the settings allow written down. What a command that answers once does says
// nothing.
func (c *Core) keepStats(s settings.Settings) {
	keep := s.Stats.Keep && !c.oneShot && c.statsFolder
	c.usage.Keep(keep)
	c.usage.Trace().Keep(keep && s.Stats.Trace)
}

// DidOpen implements lsp.Core.
func (c *Core) DidOpen(path, text string) {
	c.Viewed(path)
	c.Workspace.DidOpen(path, text)
}

// Viewed implements lsp.Core.
func (c *Core) Viewed(path string) { c.usage.Trace().Opened(usage.ByEditor, path) }

// Answered implements lsp.Core.
func (c *Core) Answered(q *retrieval.Query, first int, results []workspace.Result) {
	traced{c.usage.Trace(), usage.ByEditor}.Answered(q, first, results)
}

// traced notes what one asker is shown, and opens.
type traced struct {
	trace *usage.Trace
	by    usage.Asker
}

// Answered notes an answer, whose first result has rank first; q is nil for code like a piece of
// code.
func (t traced) Answered(q *retrieval.Query, first int, results []workspace.Result) {
	paths := make([]string, len(results))
	for i := range results {
		paths[i] = filepath.Join(results[i].Root, filepath.FromSlash(results[i].Path))
	}
	form, text := formOf(q)
	t.trace.Shown(t.by, form, text, first, paths)
}

// Viewed notes that a file was opened.
func (t traced) Viewed(path string) { t.trace.Opened(t.by, path) }

// formOf is what kind of query q is, and its words.
func formOf(q *retrieval.Query) (usage.Form, string) {
	switch {
	case q == nil:
		return usage.FormCode, ""
	case q.Lines != nil:
		return usage.FormRegexp, q.Text
	case len(q.Phrases) > 0:
		return usage.FormExact, q.Text
	case len(strings.Fields(q.Text)) == 1:
		return usage.FormName, q.Text
	}
	return usage.FormWords, q.Text
}
