package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/cmd/internal/engines"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/modeltest"
)

// doctor answers what quarry doctor found, by name.
func doctor(t *testing.T, args ...string) (code int, out doctorOutput, found map[string]model.Finding) {
	t.Helper()
	code, text, errs := answering(t, "", append([]string{"doctor", "--json", "--state-dir", t.TempDir(), "--workspace", t.TempDir()}, args...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v:\n%s%s", err, text, errs)
	}
	found = map[string]model.Finding{}
	for _, f := range out.Findings {
		found[f.Name] = f
	}
	return code, out, found
}

// withoutHost leaves the address of the server to the settings.
func withoutHost(t *testing.T) {
	t.Helper()
	t.Setenv("OLLAMA_HOST", "") // which brings back what it was
	if err := os.Unsetenv("OLLAMA_HOST"); err != nil {
		t.Fatal(err)
	}
}

// Whatever the state of a machine, doctor says it on one screen of a terminal, and for what is
// missing what gets it.
func TestDoctorOnOneScreen(t *testing.T) {
	const rows, columns = 24, 80
	complete, search := modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"}
	for _, test := range []struct {
		name   string
		models []modeltest.Model
		set    string // the user's settings
		away   bool   // no server answers
		code   int
		says   map[string]string // of each finding, in its detail and what to do
	}{
		{"nothing", nil, `{}`, true, 1, map[string]string{
			"ollama": "start it with `ollama serve`", "advice": "quarry setup model", "memory": "may take ", "index": "quarry index", "statistics": "quarry stats",
		}},
		{"no model", nil, `{}`, false, 1, map[string]string{"model": "Ollama has no model granite4.1:3b → run `quarry setup model`", "embedding model": "run `quarry model pull granite-embedding:30m`", "advice": "quarry setup model"}},
		{"no model of the user's own name", nil, `{"model": "own:1b"}`, false, 1, map[string]string{"model": "Ollama has no model own:1b → run `quarry model pull own:1b`", "advice": "quarry setup model"}},
		{"a model that completes nothing", []modeltest.Model{{Name: "llama3:8b", NoFIM: true}, search}, `{"model": "llama3:8b", "memory.budgetMB": 64000}`, false, 1, map[string]string{"advice": "quarry setup model"}},
		{"all of it", []modeltest.Model{complete, search}, `{}`, false, 0, map[string]string{"fill in the middle": "as granite", "embedding model": "granite-embedding:30m"}},
		{"a download that was killed", []modeltest.Model{complete, search, {Name: "granite4.1:3b-quarry-before"}}, `{}`, false, 0, map[string]string{
			"downloads": "granite4.1:3b-quarry-before is the one before granite4.1:3b, which was fetched and not tried (2.1 GB) → quarry model pull granite4.1:3b goes on with it",
		}},
		{"little memory", []modeltest.Model{{Name: "granite4.1:3b", Bytes: 3e9}, search}, `{"memory.budgetMB": 3000}`, false, 0, map[string]string{"memory": "; models have 3.0 GB → quarry setup model, or a larger memory.budgetMB"}},
		{"a profile, and values that are wrong", []modeltest.Model{complete, search}, `{"profile": "laptop", "completion.maxTokens": "many", "modell": "x"}`, false, 1, map[string]string{"settings": `completion.maxTokens`}},
		{"a profile", []modeltest.Model{complete}, `{"profile": "laptop"}`, false, 0, map[string]string{"settings": "no problem, profile laptop"}},
		{"no models wanted", nil, `{"profile": "model-free"}`, true, 0, map[string]string{"models": "none is asked"}},
		{"nothing kept", []modeltest.Model{complete}, `{"stats.keep": false}`, false, 0, map[string]string{"statistics": "not kept: stats.keep is false"}},
		{"a model of a language that is missing", []modeltest.Model{complete, search}, `{"completion.models": {"python": "small:1b"}}`, false, 0, map[string]string{"model of python": "run `quarry model pull small:1b`"}},
		{"everything at once", []modeltest.Model{
			{Name: "llama3:8b", NoFIM: true}, {Name: "granite4.1:3b-quarry-before"}, {Name: "granite4.1:3b"}, {Name: "c:quarry-trial"}, {Name: "a-name-that-is-rather-long:7b-q4_K_M-quarry-before"}, {Name: "d:quarry-trial"},
		}, `{"model": "llama3:8b", "memory.budgetMB": 3000, "completion.maxTokens": "many", "modell": "x", "completion.debounce": -1, "completion.models": {"python": "small:1b", "go": "another:3b", "rust": "third:3b"}, "reranker.by": "endpoint", "reranker.url": "http://127.0.0.1:9"}`, false, 1, map[string]string{
			"settings": "completion.maxTokens", "fill in the middle": "llama3:8b", "model of rust": "third:3b", "embedding model": "granite-embedding:30m", "downloads": "quarry model clean removes it", "advice": "quarry setup model",
		}},
		{"another machine that is not allowed", nil, `{"ollama.url": "http://models.example.invalid:80"}`, true, 1, map[string]string{"ollama": "ollama.allowRemote"}},
		{"another server that is not allowed", nil, `{"ollama.url": "http://models.example.invalid:80", "ollama.api": "openai"}`, true, 1, map[string]string{"model server": "ollama.allowRemote"}},
		{"another machine", nil, `{"ollama.url": "http://models.example.invalid:80", "ollama.allowRemote": true, "ollama.api": "openai"}`, true, 1, map[string]string{
			"remote": "code leaves this machine for models.example.invalid:80 (completion, search): your ollama.allowRemote permits it → set ollama.allowRemote to false",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake := modeltest.NewServer(t)
			fake.SetModels(test.models...)
			fake.ScriptEmbed(countLetters)
			if test.away {
				fake.Stop()
			}
			path := userSettings(t, test.set)
			t.Setenv("QUARRY_MEMORY_BUDGET_MB", "") // of all other tests
			if !strings.Contains(test.set, "ollama.url") {
				t.Setenv("OLLAMA_HOST", fake.URL)
			} else {
				withoutHost(t)
			}
			code, out, found := doctor(t)
			if code != test.code {
				t.Errorf("exit code %d: %+v", code, out)
			}
			for name, text := range test.says {
				if f := found[name]; !strings.Contains(f.Detail+" → "+f.Fix, text) {
					t.Errorf("%s: %+v, want %q", name, f, text)
				}
			}
			for _, f := range out.Findings {
				if !f.OK && f.Fix == "" {
					t.Errorf("%+v says not what to do", f)
				}
			}
			// A test's folder has a longer name than a user's, and on Windows it is one of the user's.
			const usual = "~/.config/quarry/settings.json"
			home, err := os.UserHomeDir()
			if err != nil {
				t.Fatal(err)
			}
			shorter := strings.NewReplacer(path, usual, "~"+strings.TrimPrefix(path, home), usual)
			for i := range out.Findings {
				f := &out.Findings[i]
				f.Detail, f.Fix = shorter.Replace(f.Detail), shorter.Replace(f.Fix)
			}
			lines := screen{}.fitting(out.Findings, columns, rows-len("\n\n")) // the last sentence and the line before it
			if len(lines)+len("\n\n") > rows {
				t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
			}
			if test.name == "everything at once" {
				t.Logf("%d lines of %d:\n%s", len(lines), len(screen{}.findings(out.Findings, columns)), strings.Join(lines, "\n"))
			}
			shown := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
			for _, f := range out.Findings {
				if !strings.Contains(shown, f.Name) || !f.OK && !strings.Contains(shown, strings.Join(strings.Fields(f.Detail+" → "+f.Fix), " ")) {
					t.Errorf("%+v is not on the screen:\n%s", f, strings.Join(lines, "\n"))
				}
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > columns {
					t.Errorf("%d characters: %s", n, line)
				}
			}
		})
	}
}

// Why an Ollama embedded nothing is no news of another server, nor while no model is asked: what it advises would help neither.
func TestDoctorRepeatsNoErrorOfOtherSettings(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "team-model"})
	root, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nfunc mean() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OLLAMA_HOST", fake.URL)
	look := func(set string) (index, search model.Finding) {
		t.Helper()
		userSettings(t, set)
		_, _, found := doctor(t, "--workspace", root, "--state-dir", state)
		return found["index"], found["embedding model"]
	}
	userSettings(t, "{}")
	if code, out, errs := answering(t, "", "index", "--embed", "--workspace", root, "--state-dir", state); code == 0 {
		t.Fatalf("something was embedded:\n%s%s", out, errs)
	}
	const old = "the latest try failed: Ollama has no model granite-embedding:30m: run `quarry model pull granite-embedding:30m`"
	if f, _ := look("{}"); !strings.Contains(f.Detail, "; 0 of ") || !strings.Contains(f.Detail, old) || f.Fix == "" {
		t.Errorf("of the settings that failed: %+v", f)
	}
	if f, search := look(`{"model": "team-model", "ollama.api": "openai"}`); !strings.Contains(f.Detail, "; 0 of ") || strings.Contains(f.Detail, "failed") || f.Fix != "" || search.Fix != "set embedding.model to one it has that embeds, or embedding.enabled to false" {
		t.Errorf("on another server: %+v, %+v", f, search)
	}
	if f, _ := look(`{"embedding.model": "other-embed:1b"}`); strings.Contains(f.Detail, "failed") || f.Fix != "" {
		t.Errorf("with another model: %+v", f)
	}
	if f, _ := look(`{"profile": "model-free"}`); strings.Contains(f.Detail, "failed") || strings.Contains(f.Detail, "embedded") || f.Fix != "" {
		t.Errorf("while no model is asked: %+v", f)
	}
}

// With little memory free doctor says what a quarry that starts does without, unless the user has said what it may take.
func TestDoctorSaysThatLittleIsFree(t *testing.T) {
	s := settings.Default()
	for _, test := range []struct {
		free, taken int64
		budget      int
		want        bool
	}{
		{1e9, 0, 0, true}, {1e9, 5e8, 0, true}, {1e9, 1e9, 0, false}, {2e9, 0, 0, false}, {1e9, 0, 4000, false}, {0, 0, 0, false},
	} {
		s.Memory.BudgetMB = test.budget
		f, ok := savingsFinding(s, engines.Running{}, test.free, test.taken)
		if ok != test.want || ok && (!f.OK || !strings.Contains(f.Detail, "uses no embeddings for search") || !strings.HasPrefix(f.Fix, "close other programs")) {
			t.Errorf("%+v: %v, %+v", test, ok, f)
		}
	}
}

// A catalogue of the user's own that is damaged is named with what to do, by doctor and in an editor's status.
func TestADamagedCatalogueIsSaid(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"})
	fake.ScriptEmbed(countLetters)
	userSettings(t, "{}")
	t.Setenv("OLLAMA_HOST", fake.URL)
	if err := os.WriteFile(engines.CataloguePath(), []byte("{\"version\": 1,\n\"models\": [}"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, found := doctor(t)
	f := found["catalogue"]
	if code != 1 || f.OK || !strings.Contains(f.Detail, "line 2") || !strings.Contains(f.Detail, engines.CataloguePath()) || !strings.HasPrefix(f.Fix, "change or remove your models.json: until then") {
		t.Errorf("exit code %d: %+v", code, f)
	}
	if code, _, errs := answering(t, "", "model", "catalogue"); code != 1 || !strings.Contains(errs, "change or remove your models.json: no catalogue, line 2") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--state-dir", t.TempDir())
	err := e.Await(ctx, func() bool {
		return slices.ContainsFunc(e.Statuses(), func(raw json.RawMessage) bool {
			return strings.Contains(string(raw), `"state":"ready"`) && strings.Contains(string(raw), "hange or remove your models.json: no catalogue, line 2")
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// Lines break between words, and nothing is lost.
func TestWrapped(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 30, ""},
		{"a text that is longer than the line has room", 20, "a text that is\nlonger than the line\nhas room"},
		{"→ in runes: ÄÖÜ ßÄÖÜÄ", 20, "→ in runes: ÄÖÜ\nßÄÖÜÄ"},
		{"a-word-that-is-longer-than-a-line and more", 20, "a-word-that-is-longer-than-a-line\nand more"},
		{"no terminal is not broken at all", -8, "no terminal is not broken at all"},
	} {
		if got := strings.Join(wrapped(test.text, test.width), "\n"); got != test.want {
			t.Errorf("%q at %d: %q", test.text, test.width, got)
		}
	}
}

// An entry of the user's own catalogue that is wrong is named by doctor and by the catalogue itself, and costs nothing else; one
// that allows no library is fetched from none.
func TestAWrongEntryOfTheCatalogueIsSaid(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"})
	fake.ScriptEmbed(countLetters)
	userSettings(t, "{}")
	t.Setenv("OLLAMA_HOST", fake.URL)
	own := `{"version": 1, "models": [{"name": "bad:1b", "use": "completion", "memory": -1}, {"name": "ours:7b", "use": "completion", "memory": 1}]}`
	if err := os.WriteFile(engines.CataloguePath(), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	const says = "model 1 (bad:1b) is left out: memory is below 0"
	if code, _, found := doctor(t); code != 0 || found["catalogue"].Detail != says || !strings.HasPrefix(found["catalogue"].Fix, "correct ") {
		t.Errorf("exit code %d: %+v", code, found["catalogue"])
	}
	if code, out, errs := answering(t, "", "model", "catalogue"); code != 0 || !strings.Contains(out, "\n- "+says) || !strings.Contains(out, "ours:7b") || strings.Contains(out, "\nbad:1b") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	var listed catalogueOutput
	if code, out, errs := answering(t, "", "model", "catalogue", "--json"); code != 0 || json.Unmarshal([]byte(out), &listed) != nil || !slices.Equal(listed.Wrong, []string{says}) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if code, _, errs := answering(t, "", "model", "pull", "ours:7b"); code == 0 || !strings.Contains(errs, `add "library": true to ours:7b in `) {
		t.Errorf("%d: %s", code, errs)
	}
}

// A server whose list of models answers and whose models do not is said to be silent, also where the user ends the check-up
// before its time is over, and who waits learns for whom.
func TestDoctorOfASilentServer(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "team-model"}, modeltest.Model{Name: "granite-embedding:30m"})
	ctx, end := context.WithCancel(t.Context())
	hold := make(chan struct{})
	defer close(hold)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		end() // as a SIGTERM does
		return modeltest.Answer{Hold: hold}
	})
	userSettings(t, `{"model": "team-model", "ollama": {"api": "openai", "url": "`+fake.URL+`"}}`)
	withoutHost(t)
	var text, errs strings.Builder
	code := run(ctx, []string{"doctor", "--json", "--state-dir", t.TempDir(), "--workspace", t.TempDir()}, strings.NewReader(""), &text, &errs)
	var out doctorOutput
	if err := json.Unmarshal([]byte(text.String()), &out); err != nil {
		t.Fatalf("%v:\n%s%s", err, text.String(), errs.String())
	}
	host, seen := strings.TrimPrefix(fake.URL, "http://"), 0
	for _, f := range out.Findings {
		if strings.Contains(f.Detail, "context ") && strings.Contains(f.Detail, "cancel") {
			t.Errorf("%+v", f)
		}
		if (f.Name == model.FillsIn || f.Name == "embedding model") && strings.HasSuffix(f.Detail, "stopped before "+host+" answered") && f.Fix != "" {
			seen++
		}
	}
	if code == 0 || seen != 2 {
		t.Errorf("exit code %d, %d findings say so:\n%s", code, seen, text.String())
	}

	tick, began := make(chan time.Time), time.Unix(1_800_000_000, 0)
	answered := waiting(&errs, "the model server at "+host, began, tick)
	tick <- began.Add(10 * time.Second)
	answered()
	if want := "waiting for the model server at " + host + ": 10 s so far, at most 120\n"; !strings.HasSuffix(errs.String(), want) {
		t.Errorf("%q, want %q", errs.String(), want)
	}
}
