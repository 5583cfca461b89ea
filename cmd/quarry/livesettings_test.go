package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/lsp/service/servicetest"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// values are settings by their dotted keys.
type values map[string]any

// liveSetting is how a change of one setting shows in a server that runs.
type liveSetting struct {
	// value is another than the default.
	value any
	// with is what else the user's file says.
	with values
	// sees is whether the server behaves as value has it. It is asked again and again.
	sees func(w *liveServer) bool
	// oneWay: what the default does cannot be waited for.
	oneWay bool
	// home: the workspace is the user's home folder.
	home bool
}

// shownElsewhere are the settings whose effect no message between server and editor or model shows.
var shownElsewhere = map[string]string{
	"completion.debounce": "cmd/internal/engines TestSettingsBehindTheWireAreLive, completion TestDebounce",
	"battery.save":        "cmd/internal/engines TestSettingsBehindTheWireAreLive",
	"stats.keep":          "TestStatisticsAreLive",
	"stats.trace":         "TestTheTraceIsLive",
	"service.enabled":     "TestServeFollowsTheSettings",
	"service.socket":      "TestServeSaysThatOneRuns",
}

// liveServers are the model servers of the settings, all of which know the same models.
type liveServers struct {
	asked                      *int // documents and queries so far, by which their requests are told apart
	usual, other, keyed, cloud *modeltest.Server
	judge                      *httptest.Server // reranks
	judged                     func() string    // the last request's model
}

// liveServer is a running quarry and what it may ask.
type liveServer struct {
	liveServers
	t    *testing.T
	ctx  context.Context
	e    *headless.Editor
	root string
	log  *logText
}

// logText is what a server writes to its standard error.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logText) since(offset int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()[offset:]
}

func startLiveServers(t *testing.T) liveServers {
	t.Helper()
	tags := []string{
		"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>",
		"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<A>", "<B>", "<C>",
	}
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	server := func() *modeltest.Server {
		s := modeltest.NewServer(t)
		var models []modeltest.Model
		for _, name := range []string{"granite4.1:3b", "other:1b", "python:1b", "letters", "more-letters"} {
			models = append(models, modeltest.Model{Name: name, Tags: tags})
		}
		s.SetModels(models...)
		s.ScriptEmbed(countLetters)
		s.Script(func(r modeltest.Request) modeltest.Answer {
			a := modeltest.Answer{Pieces: []string{"value", "\n"}, Logprobs: []float64{-3, -3}}
			if strings.Contains(r.Prompt, "never_ends") {
				a.Gate = never
			}
			return a
		})
		return s
	}
	s := liveServers{asked: new(int), usual: server(), other: server(), keyed: server(), cloud: server()}
	s.keyed.SetAPIKey("the-key")
	s.cloud.SetCloud()
	var mu sync.Mutex
	last := ""
	s.judge = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model     string
			Documents []any
		}
		_ = json.NewDecoder(r.Body).Decode(&asked) // what is no request has no documents
		mu.Lock()
		last = asked.Model + "/"
		mu.Unlock()
		results := []any{}
		for n := range asked.Documents {
			results = append(results, map[string]any{"index": n, "relevance_score": 1})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
	}))
	t.Cleanup(s.judge.Close)
	s.judged = func() string {
		mu.Lock()
		defer mu.Unlock()
		was := last
		last = ""
		return was
	}
	return s
}

// asking is one request for ghost text in a document of its own, in which MARK is a name that no
// other has, with the cursor at the bar.
type asking struct {
	language, text string
	typed          bool // as one types, not on request
}

// ask answers whether there is ghost text, and what the models were asked for it.
func (w *liveServer) ask(q asking) (ghost bool, asked []modeltest.Request) {
	w.t.Helper()
	*w.asked++
	mark := fmt.Sprintf("mark_%d_", *w.asked)
	if q.language == "" {
		q.language = "python"
	}
	before, after, _ := strings.Cut(strings.ReplaceAll(q.text, "MARK", mark), "|")
	name := fmt.Sprintf("document%d.%s", *w.asked, map[string]string{"python": "py", "go": "go"}[q.language])
	b, err := w.e.Open(name, q.language, before+after)
	if err != nil {
		w.t.Fatal(err)
	}
	b.Cursor = len(before)
	if err := w.e.Complete(w.ctx, b, !q.typed); err != nil {
		w.t.Fatal(err)
	}
	ghost = b.Ghost != nil
	if err := w.e.CloseDocument(name); err != nil {
		w.t.Fatal(err)
	}
	for _, s := range []*modeltest.Server{w.usual, w.other, w.keyed, w.cloud} {
		for _, r := range s.Prompts() {
			if strings.Contains(r.Prompt, mark) {
				asked = append(asked, r)
			}
		}
	}
	return ghost, asked
}

// usually is what most of the settings show in.
var usually = asking{text: "MARK = |"}

// any is whether one of the requests for a question is like this.
func (w *liveServer) any(q asking, like func(r modeltest.Request) bool) bool {
	w.t.Helper()
	_, asked := w.ask(q)
	return slices.ContainsFunc(asked, like)
}

// option is whether the model is asked with this option.
func option(name string, value float64) func(w *liveServer) bool {
	return func(w *liveServer) bool {
		return w.any(usually, func(r modeltest.Request) bool { return r.Options[name] == value })
	}
}

// inPrompt is whether a text is in the prompt for a question.
func inPrompt(q asking, text string, want bool) func(w *liveServer) bool {
	return func(w *liveServer) bool {
		return w.any(q, func(r modeltest.Request) bool { return strings.Contains(r.Prompt, text) == want })
	}
}

// silent is whether there is no ghost text for a question although the model can be asked.
func silent(q asking) func(w *liveServer) bool {
	return func(w *liveServer) bool {
		if w.status().Model.Phase != "ready" {
			return false
		}
		ghost, asked := w.ask(q)
		return !ghost && (q.typed || len(asked) == 0) && w.status().Model.Phase == "ready"
	}
}

func (w *liveServer) status() (st lsp.Status) {
	w.t.Helper()
	if err := w.e.Call(w.ctx, lsp.MethodStatus, nil, &st); err != nil {
		w.t.Fatal(err)
	}
	return st
}

// found is a search's answer.
type found struct {
	Results []struct{ Path string }
	Backend []string
	query   string
}

// search searches for words and one that nobody has asked for before.
func (w *liveServer) search(words string) (a found) {
	w.t.Helper()
	*w.asked++
	a.query = fmt.Sprintf("%s unheard%d", words, *w.asked)
	_ = w.e.Call(w.ctx, "quarry/search.hybrid", map[string]any{"query": a.query}, &a) // without an index nothing is found
	return a
}

// finds is whether the file of a name is found by what stands in it.
func finds(file, words string, want bool) func(w *liveServer) bool {
	return func(w *liveServer) bool {
		a := w.search(words)
		return slices.ContainsFunc(a.Results, func(r struct{ Path string }) bool { return r.Path == file }) == want
	}
}

// embedded are the texts that a query or a document made a model embed last, and the model.
func (w *liveServer) embedded(text string) (r modeltest.Request) {
	for _, seen := range w.usual.Requests() {
		if slices.ContainsFunc(seen.Texts, func(t string) bool { return strings.Contains(t, text) }) {
			r = seen
		}
	}
	return r
}

// queryEmbedded is what a search makes a model embed.
func (w *liveServer) queryEmbedded() modeltest.Request {
	return w.embedded(strings.TrimSpace(w.search("how are the sums of every shelf computed").query))
}

// liveSettings are all settings but those of shownElsewhere.
func liveSettings(w liveServers, free string) map[string]liveSetting {
	letters := values{"embedding.model": "letters"}
	judging := values{"reranker.by": "endpoint", "ollama.allowRemote": false}
	withURL := maps.Clone(judging)
	withURL["reranker.url"] = w.judge.URL
	keyed := values{"ollama.api": "openai", "ollama.url": w.keyed.URL}
	long := asking{text: "first_line = 0\n" + strings.Repeat("a_line_of_a_long_file = 1\n", 80) + "MARK = |"}
	suffix := asking{text: "MARK = |\n"}
	for n := range 12 {
		suffix.text += fmt.Sprintf("below_%d = %d\n", n, n)
	}
	call := asking{text: "from shelf import compute_sums\n\nMARK = compute_sums(|"}
	served := func(w *liveServer) bool {
		r, err := http.NewRequestWithContext(w.ctx, http.MethodGet, "http://"+free+"/metrics", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer 0123456789abcdef")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}
	asks := func(w *liveServer) bool { return w.any(usually, func(modeltest.Request) bool { return true }) }
	keeps := func(duration string) func(w *liveServer) bool {
		return func(w *liveServer) bool {
			return w.any(usually, func(r modeltest.Request) bool {
				return strings.Contains(string(r.Body), `"keep_alive":"`+duration+`"`)
			})
		}
	}
	return map[string]liveSetting{
		"profile": {value: "laptop", sees: keeps("5m0s")},
		"model": {value: "other:1b", sees: func(w *liveServer) bool {
			return w.any(usually, func(r modeltest.Request) bool { return r.Model == "other:1b" })
		}},
		"ollama.api": {value: "openai", sees: func(w *liveServer) bool {
			return w.any(usually, func(r modeltest.Request) bool { return r.Path == "/v1/completions" })
		}},
		"ollama.enabled": {value: false, sees: func(w *liveServer) bool { return w.status().Now.Model.Off }},
		"ollama.url": {value: w.other.URL, sees: func(w *liveServer) bool {
			before := len(w.other.Prompts())
			w.ask(usually)
			return len(w.other.Prompts()) > before
		}},
		"ollama.apiKey":      {value: "the-key", with: keyed, sees: asks},
		"ollama.keyStore":    {value: true, with: keyed, sees: asks},
		"ollama.allowRemote": {value: true, with: values{"ollama.url": w.cloud.URL, "model": "far:cloud"}, sees: asks},
		"ollama.keepAlive":   {value: "7m", sees: keeps("7m0s")},
		"ollama.contextSize": {value: 2048, sees: option("num_ctx", 2048)},

		"completion.enabled":           {value: false, sees: silent(usually)},
		"completion.disabledLanguages": {value: []string{"python"}, sees: silent(usually)},
		"completion.disabledPaths":     {value: []string{"document*.py"}, sees: silent(usually)},
		"completion.maxFileBytes":      {value: 1024, sees: silent(long)},
		"completion.temperature":       {value: 0.7, sees: option("temperature", 0.7)},
		"completion.topP":              {value: 0.5, sees: option("top_p", 0.5)},
		"completion.repeatPenalty":     {value: 1.5, sees: option("repeat_penalty", 1.5)},
		"completion.maxTokens":         {value: 7, sees: option("num_predict", 7)},
		"completion.prefixTokens":      {value: 128, sees: inPrompt(long, "first_line", false)},
		"completion.suffixTokens": {value: 16, sees: func(w *liveServer) bool {
			return w.any(suffix, func(r modeltest.Request) bool {
				_, behind, _ := strings.Cut(r.Prompt, "<|fim_suffix|>")
				return strings.Contains(behind, "below_0 ") && !strings.Contains(behind, "below_11")
			})
		}},
		"completion.contextTokens": {value: 16, sees: inPrompt(call, "def compute_sums", false)},
		"completion.timeout": {value: "1ms", with: values{"completion.timeout": "1h"}, oneWay: true, sees: func(w *liveServer) bool {
			w.ask(asking{text: "never_ends = 0\nMARK = |"})
			return true // the model's answer has no end
		}},
		"completion.candidates": {value: 1, sees: func(w *liveServer) bool {
			ghost, asked := w.ask(usually)
			return ghost && len(asked) == 1
		}},
		"completion.models": {value: map[string]string{"python": "python:1b"}, sees: func(w *liveServer) bool {
			return w.any(usually, func(r modeltest.Request) bool { return r.Model == "python:1b" })
		}},
		"completion.twoRounds": {value: true, with: values{"completion.candidates": 1}, sees: func(w *liveServer) bool {
			_, asked := w.ask(asking{text: "def MARK(values):\n    |"})
			return len(asked) > 1
		}},
		"completion.minConfidence": {value: 0.9, sees: silent(asking{text: "MARK = |", typed: true})},
		"completion.template":      {value: "starcoder2", sees: inPrompt(usually, "<fim_prefix>", true)},
		"completion.templateTags":  {value: []string{"<A>", "<B>", "<C>"}, with: values{"completion.template": "custom"}, sees: inPrompt(usually, "<A>", true)},
		"completion.chatLayout":    {value: true, sees: inPrompt(usually, "<|start_of_role|>", true)},

		"index.enabled":      {value: false, sees: finds("shelf.py", "compute_sums", false)},
		"index.exclude":      {value: []string{"shelf.*"}, sees: finds("shelf.py", "compute_sums", false)},
		"index.maxFileBytes": {value: 1024, sees: finds("large.py", "entry_of_the_large_file", false)},
		"index.processorShare": {value: 37, with: values{"logLevel": "debug"}, sees: func(w *liveServer) bool {
			all := w.log.since(0)
			return strings.HasPrefix(all[max(0, strings.LastIndex(all, "share=")):], "share=37")
		}},
		"index.memoryMB":    {value: 333, sees: func(*liveServer) bool { return debug.SetMemoryLimit(-1) == 333_000_000 }},
		"index.wideFolders": {value: []string{"~"}, home: true, sees: finds("shelf.py", "compute_sums", true)},

		"embedding.enabled": {value: false, with: letters, sees: func(w *liveServer) bool {
			a := w.search("how are the sums of every shelf computed")
			return len(a.Results) > 0 && !slices.Contains(a.Backend, "vectors")
		}},
		"embedding.model": {value: "more-letters", with: letters, sees: func(w *liveServer) bool {
			now := w.status().Index // queries would hold back what embeds
			return len(now) == 1 && now[0].Embedding.Model == "more-letters" && w.embedded("def compute_sums").Model == "more-letters"
		}},
		"embedding.queryPrefix": {value: "find: ", with: letters, sees: func(w *liveServer) bool { return strings.Contains(fmt.Sprint(w.queryEmbedded().Texts), "[find: ") }},
		"embedding.documentPrefix": {value: "code: ", with: letters, sees: func(w *liveServer) bool {
			return strings.Contains(fmt.Sprint(w.embedded("def compute_sums").Texts), "code: ")
		}},

		"reranker.by": {value: "model", sees: func(w *liveServer) bool {
			a := w.search("how are the sums of every shelf computed")
			return slices.ContainsFunc(w.usual.Requests(), func(r modeltest.Request) bool {
				return r.Path != "/api/embed" && strings.Contains(string(r.Body), strings.Fields(a.query)[len(strings.Fields(a.query))-1])
			})
		}},
		"reranker.url": {value: w.judge.URL, with: judging, sees: func(w *liveServer) bool {
			w.search("how are the sums of every shelf computed")
			return w.judged() != ""
		}},
		"reranker.model": {value: "judge:1b", with: withURL, sees: func(w *liveServer) bool {
			w.search("how are the sums of every shelf computed")
			return w.judged() == "judge:1b/"
		}},

		"diagnostics.syntax": {value: true, sees: func(w *liveServer) bool {
			b := w.e.Buffer("broken.py")
			if b == nil {
				var err error
				if b, err = w.e.Open("broken.py", "python", "def (:\n"); err != nil {
					w.t.Fatal(err)
				}
			}
			return len(w.e.Published(b)) > 0
		}},
		"memory.budgetMB": {value: 123_456, sees: func(w *liveServer) bool { return w.status().Memory.BudgetBytes == 123_456_000_000 }},
		"http.address":    {value: free, with: values{"http.token": "0123456789abcdef"}, sees: served},
		"http.token":      {value: "0123456789abcdef", with: values{"http.address": free}, sees: served},
		"logLevel": {value: "debug", sees: func(w *liveServer) bool {
			before := len(w.log.since(0))
			w.ask(usually)
			return strings.Contains(w.log.since(before), "level=DEBUG msg=generate")
		}},
	}
}

// schemaKeys are the dotted keys of the schema of settings, and whether each is the user's alone, which
// the table of the documentation says.
func schemaKeys(t *testing.T) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	table := settings.Table()
	var walk func(raw json.RawMessage, key string)
	walk = func(raw json.RawMessage, key string) {
		var object struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		if object.Properties == nil {
			_, row, ok := strings.Cut(table, "| `"+key+"` |")
			if !ok {
				t.Errorf("%s is not in the table of settings", key)
			}
			row, _, _ = strings.Cut(row, "\n")
			keys[key] = strings.Contains(row, "*User only.*")
		}
		for name, inner := range object.Properties {
			walk(inner, strings.TrimPrefix(key+"."+name, "."))
		}
	}
	walk(settings.Schema(), "")
	return keys
}

// Every setting of the schema applies to a server that runs, from the user's file and from the
// editor, and is taken back there; what is the user's alone is refused from the editor in words; and a wrong
// value costs only itself: it is named, and what else the file says applies.
func TestEverySettingIsLive(t *testing.T) {
	servers := startLiveServers(t)
	keys := schemaKeys(t)
	live := liveSettings(servers, freeAddress(t))
	for key := range keys {
		if _, ok := live[key]; !ok && shownElsewhere[key] == "" {
			t.Errorf("nothing shows that %s is live", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(live)) {
		users, known := keys[key]
		if !known {
			t.Errorf("%s is no setting", key)
		}
		t.Run(key, func(t *testing.T) { changeLive(t, servers, key, live[key], users) })
	}
}

// freeAddress is a loopback address where nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func changeLive(t *testing.T, servers liveServers, key string, s liveSetting, users bool) {
	if strings.HasPrefix(key, "http.") { // other editors' quarry is told by one
		servicetest.NeedSockets(t, t.TempDir())
	}
	if key == "ollama.keyStore" {
		if runtime.GOOS != "linux" {
			t.Skip("the key store is a script that Linux finds on the PATH")
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "secret-tool"), []byte("#!/bin/sh\necho the-key\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	path := userSettings(t, "{}")
	withoutHost(t)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "") // the files here say it
	root := t.TempDir()
	if s.home {
		t.Setenv("HOME", root)
		t.Setenv("USERPROFILE", root)
	}
	for name, text := range map[string]string{
		"shelf.py": "\"\"\"Sums of shelves.\"\"\"\n\n\ndef compute_sums(first, second):\n    \"\"\"How the sums of every shelf are computed.\"\"\"\n    return first + second\n",
		"print.py": "def print_sums(sums):\n    \"\"\"How the computed sums of shelves are printed.\"\"\"\n    print(sums)\n",
		"large.py": strings.Repeat("entry_of_the_large_file = 1\n", 100),
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const usualBudget, otherBudget = 900_000, 777_777
	write := func(budget int, more values) {
		t.Helper()
		all := values{"ollama.url": servers.usual.URL, "memory.budgetMB": budget}
		maps.Copy(all, s.with)
		maps.Copy(all, more)
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := settings.ReplaceFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(usualBudget, nil)
	w := startLive(t, servers, root, t.TempDir())
	await := func(what string, cond func() bool) {
		t.Helper()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !cond() {
			select {
			case <-tick.C:
			case <-w.ctx.Done():
				t.Fatalf("%s: never; shown %q", what, w.e.Shown())
			}
		}
	}
	sees := func(what string, want bool) {
		t.Helper()
		if want || !s.oneWay {
			await(what, func() bool { return s.sees(w) == want })
		}
	}
	says := func(words ...string) {
		t.Helper()
		await(fmt.Sprintf("a message with %q", words), func() bool {
			return slices.ContainsFunc(w.e.Shown(), func(m string) bool {
				return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(m, word) })
			})
		})
	}

	sees("the default", false)
	write(usualBudget, values{key: s.value})
	sees("set in the user's file", true)
	write(usualBudget, nil)
	sees("taken out of the user's file", false)

	if err := w.e.Configure(values{key: s.value}); err != nil {
		t.Fatal(err)
	}
	if users {
		says(key+": not taken from the editor", "settings.json")
		sees("refused from the editor", false)
	} else {
		sees("set in the editor", true)
	}
	if err := w.e.Configure(values{}); err != nil {
		t.Fatal(err)
	}
	sees("taken out of the editor's", false)

	// Beside the wrong value another setting changes in the same file.
	wrong, applied := values{key: map[string]any{"no": 1}}, func() bool { return w.status().Memory.BudgetBytes == otherBudget*1_000_000 }
	if key == "memory.budgetMB" {
		wrong["model"], applied = "other:1b", func() bool { return w.status().Model.Name == "other:1b" }
	}
	write(otherBudget, wrong)
	says("quarry ignores these settings", "\n"+key+": ")
	await("what stands beside the wrong value", applied)
	sees("a wrong value", false)
}

// startLive starts a server as an editor does. It ends with the test.
func startLive(t *testing.T, servers liveServers, root, state string) *liveServer {
	t.Helper()
	as, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	w := &liveServer{liveServers: servers, t: t, ctx: ctx, root: root, log: &logText{}}
	client, server := net.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"lsp", "--state-dir", state}, server, server, w.log)
		server.Close()
	}()
	if w.e, err = headless.Connect(ctx, client, headless.Options{Profile: as, Root: root}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := w.e.Quit(ctx); err != nil {
			t.Error(err)
		}
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("exit code %d", code)
		}
		if t.Failed() {
			t.Logf("the log:\n%s", w.log.since(0))
		}
	})
	return w
}

// What is counted while stats.keep is false is not written down, nor is what was not written yet when
// it became so; what is counted after is.
func TestStatisticsAreLive(t *testing.T) {
	servers := startLiveServers(t)
	path := userSettings(t, "{}")
	withoutHost(t)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "")
	state := t.TempDir()
	budget := 900_000
	t.Run("server", func(t *testing.T) { // it has ended behind it
		var w *liveServer
		for n, keep := range []any{true, false, map[string]any{"no": 1}} { // the last costs itself: the default is true
			budget++
			raw, err := json.Marshal(values{"ollama.url": servers.usual.URL, "memory.budgetMB": budget, "stats.keep": keep})
			if err != nil {
				t.Fatal(err)
			}
			if err := settings.ReplaceFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if w == nil {
				w = startLive(t, servers, t.TempDir(), state)
			}
			for st := (lsp.Status{}); st.Memory.BudgetBytes != uint64(budget)*1_000_000 || st.Model.Phase != "ready"; st = w.status() {
				// The deadline of w.ctx ends this.
			}
			for range n + 1 {
				if ghost, _ := w.ask(usually); !ghost {
					t.Errorf("no ghost text with stats.keep %v", keep)
				}
			}
		}
	})
	dir, err := engines.StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	days, err := usage.Read(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if n := usage.Total(days); len(n.Ghost) != 1 || n.Ghost[0].Shown != 3 {
		t.Errorf("written: %+v", n.Ghost)
	}
}

// The settings of a server are merged so that its editor cannot allow what the user's file forbids.
func TestSettingsOfAnEditorAllowNothing(t *testing.T) {
	userSettings(t, `{"ollama": {"enabled": false}, "completion.disabledPaths": ["private"]}`)
	t.Setenv("QUARRY_OLLAMA_ENABLED", "")
	t.Setenv("QUARRY_COMPLETION_DISABLED_PATHS", "")
	s, problems := (&cli.Env{}).Settings([]byte(`{"ollama": {"enabled": true}}`), []byte(`{"completion.disabledPaths": [], "stats.keep": false}`))
	if s.Ollama.Enabled || s.Stats.Keep || !slices.Equal(s.Completion.DisabledPaths, []string{"private"}) || len(problems) > 0 {
		t.Errorf("%+v %+v %q %v", s.Ollama, s.Stats, s.Completion.DisabledPaths, problems)
	}
}
