package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"quarry/lsp"
	"quarry/model/modeltest"
)

// Every model that the settings name is said, those of single languages, too, and where none is asked that is said.
func TestModelStatusOfLanguages(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"}, modeltest.Model{Name: "lang:1b"})
	path := userSettings(t, `{"completion.models": {"typescript": "lang:1b", "python": "missing:1b"}}`)
	code, out, errs := answering(t, "", "model", "--ollama", fake.URL)
	const want = `completion                granite4.1:3b, installed; it is loaded when it is first asked
search                    granite-embedding:30m, installed; it is loaded when it is first asked
completion of python      missing:1b, not installed
                          → quarry model pull missing:1b   # granite4.1:3b completes python until then
completion of typescript  lang:1b, installed; it is loaded when it is first asked
`
	if code != 0 || out != want {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	var st modelStatusOutput
	if _, out, _ := answering(t, "", "model", "--json", "--ollama", fake.URL); json.Unmarshal([]byte(out), &st) != nil || st.Languages["python"].Installed || st.Languages["python"].Next == "" || !st.Languages["typescript"].Installed {
		t.Errorf("%s", out)
	}
	fake.Stop()
	if code, out, errs := answering(t, "", "model", "--ollama", fake.URL); code != 1 || !strings.Contains(out, "completion of python      missing:1b, not known\n") || !strings.Contains(errs, "does not answer") && !strings.Contains(errs, "no Ollama") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if err := os.WriteFile(path, []byte(`{"ollama.enabled": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := answering(t, "", "model", "--ollama", fake.URL); code != 0 || !strings.Contains(out, "completion  granite4.1:3b, switched off by ollama.enabled\n") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

// What a name of Ollama's cloud needs is said as doctor says it: pulling it is refused.
func TestModelStatusOfTheCloud(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"})
	path := userSettings(t, `{"completion.models": {"python": "evil-cloud"}, "embedding.model": "far:cloud"}`)
	code, out, errs := answering(t, "", "model", "--ollama", fake.URL)
	for _, want := range []string{
		"\nsearch                far:cloud, runs elsewhere, which is not allowed\n",
		"\ncompletion of python  evil-cloud, runs elsewhere, which is not allowed\n                      → choose a local model such as ",
		", or set ollama.allowRemote to true in your user settings; Ollama would send your code to Ollama's cloud\n",
	} {
		if code != 0 || !strings.Contains(out, want) || strings.Contains(out, "pull") {
			t.Errorf("exit code %d, without %q:\n%s%s", code, want, out, errs)
		}
	}
	if err := os.WriteFile(path, []byte(`{"completion.models": {"python": "evil-cloud"}, "ollama.allowRemote": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := answering(t, "", "model", "--ollama", fake.URL); code != 0 || !strings.HasSuffix(out, "\ncompletion of python  evil-cloud, runs in Ollama's cloud\n") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

// Of a server that is no Ollama a user is told which models are asked, whether it has them, and may try them.
func TestModelsOfAnotherServer(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.LikeVLLM()
	fake.ScriptEmbed(countLetters)
	fake.SetModels(modeltest.Model{Name: "team-coder"}, modeltest.Model{Name: "team-embed"})
	withoutHost(t)
	userSettings(t, `{"model": "team-coder", "embedding.model": "letters", "completion.models": {"go": "none:1b"}, "ollama": {"api": "openai", "url": "`+fake.URL+`/v1"}}`)
	code, out, errs := answering(t, "", "model")
	for _, want := range []string{
		"completion        team-coder, served at " + fake.URL, "→ quarry model verify   # tries it\n",
		"search            letters, ", " has no model letters: set embedding.model to one it has: team-embed", "completion of go  none:1b, ",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, without %q:\n%s%s", code, want, out, errs)
		}
	}
	if len(fake.Prompts()) > 0 {
		t.Errorf("asked %+v", fake.Prompts())
	}
	if _, _, found := doctor(t); !strings.Contains(found["memory"].Detail, "; what models have is not counted: their server does not tell") {
		t.Errorf("doctor: %+v", found["memory"])
	}
	if code, out, errs := answering(t, "", "model", "verify"); code != 0 || !strings.Contains(out, "ok    fill in the middle") || strings.Contains(out, "digest") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := answering(t, "", "model", "verify", "letters"); code != 1 || !strings.Contains(out, "FAIL  embedding model  ") || !strings.Contains(out, "set embedding.model to one it has") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := answering(t, "", "model", "list"); code != 0 || !strings.Contains(out, "team-coder  completion\nteam-embed\n\n2 models at "+fake.URL) {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := answering(t, "", "model", "list", "--json"); code != 0 || !strings.Contains(out, `"name": "team-embed"`) {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := answering(t, "", "model", "catalogue"); code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "`quarry model list` has the models of your server") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := answering(t, "", "model", "pull", "letters"); code != 1 || !strings.Contains(errs, "install the model on your model server, then run `quarry model use NAME`") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--state-dir", t.TempDir())
	var verified any
	if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": lsp.CommandVerify, "arguments": []any{"team-coder"}}, &verified); err != nil {
		t.Error(err)
	}
	if err := e.Await(ctx, func() bool {
		page, err := e.Page()
		return err == nil && strings.Contains(page, "fill in the middle")
	}); err != nil {
		page, _ := e.Page()
		t.Errorf("%v, the editor shows %s", err, page)
	}
	if slices.ContainsFunc(e.Statuses(), func(raw json.RawMessage) bool { return strings.Contains(string(raw), "Ollama is loading") }) {
		t.Error("the status says that Ollama loads a model")
	}
	if code, out, errs := answering(t, "", "model", "use", "none:1b"); code != 1 || strings.Contains(out, "from now on") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := answering(t, "", "model", "use", "team-embed"); code != 0 || !strings.Contains(out, "team-embed embeds code for search from now on: \"embedding.model\" is set in ") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	if code, out, _ := answering(t, "", "model", "list"); code != 0 || !strings.Contains(out, "team-embed  search\n") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	fake.Stop()
	if code, out, errs := answering(t, "", "model"); code != 1 || !strings.Contains(out, "completion        team-coder, not known\n") || !strings.Contains(errs, "no model server answers") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}
