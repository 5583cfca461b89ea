package engines

import (
	"slices"
	"strings"
	"testing"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// A model of a single language that cannot be asked stands in the status with what helps for as long as that lasts, and is not
// among what text is sent to: the usual one is asked in its place.
func TestABrokenModelOfALanguageStandsInTheStatus(t *testing.T) {
	fake := modeltest.NewServer(t)
	usual := modeltest.Model{Name: "tiny:a"}
	fake.SetModels(usual, modeltest.Model{Name: "words:1b", NoFIM: true})
	s := settings.Default()
	s.Ollama.URL, s.Model, s.Embedding.Enabled = fake.URL, "tiny:a", false
	s.Completion.Models = map[string]string{"python": "tiny:none", "ruby": "tiny:none", "go": "evil-cloud", "rust": "words:1b", "c": "tiny:a"}
	c, _ := coreOf(t, s)
	until(t, c, "ready", func() bool { return c.StatusNote(t.Context()).Model.State == lsp.ModelReady })
	problem := func(part string) string {
		broken := c.StatusNote(t.Context()).Broken
		at := slices.IndexFunc(broken, func(text string) bool { return strings.Contains(text, part) })
		if at < 0 {
			return ""
		}
		return broken[at]
	}
	sent := func(use string) bool {
		return slices.ContainsFunc(c.StatusNote(t.Context()).Sends, func(s lsp.Send) bool { return s.Use == use })
	}
	const refused = "evil-cloud runs elsewhere: choose a local model such as "
	if got := problem(refused); !strings.HasSuffix(got, ". Until then tiny:a completes go") {
		t.Errorf("a name of the cloud, before it is asked: %q", got)
	}
	if broken := c.StatusNote(t.Context()).Broken; len(broken) != 1 {
		t.Errorf("nothing else is known yet: %q", broken)
	}
	asks(t, c, "python", "first")
	asks(t, c, "rust", "second")
	asks(t, c, "go", "third")
	until(t, c, "they are found to be broken", func() bool { return problem("tiny:none") != "" && problem("words:1b") != "" })
	if got, want := problem("tiny:none"), "Ollama has no model tiny:none: run `quarry model pull tiny:none`. Until then tiny:a completes python and ruby"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	note := c.StatusNote(t.Context())
	if len(note.Broken) != 3 || note.Model.State != lsp.ModelReady || len(note.Remedies) != 1 || note.Remedies[0].Command != lsp.CommandPull || !slices.Equal(note.Remedies[0].Arguments, []string{"tiny:none"}) {
		t.Errorf("%+v", note)
	}
	for _, use := range []string{"completion of python", "completion of ruby", "completion of rust", "completion of go"} {
		if sent(use) {
			t.Errorf("%s is among %+v", use, note.Sends)
		}
	}
	if !sent("completion") {
		t.Errorf("%+v", note.Sends)
	}
	fake.SetModels(usual, modeltest.Model{Name: "tiny:none"}, modeltest.Model{Name: "words:1b", NoFIM: true})
	c.lookAgain()
	until(t, c, "it is there", func() bool { return problem("tiny:none") == "" })
	if !sent("completion of python") || len(c.StatusNote(t.Context()).Remedies) != 0 {
		t.Errorf("%+v", c.StatusNote(t.Context()))
	}
}
