package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/index/systest"
	"quarry/model/modeltest"
)

// Y2: the repositories that are measured are strangers', and so are the questions about
// them and the answers of a model.
func TestNoEvaluationPrintsWhatSteersTheTerminal(t *testing.T) {
	const hostile = clitest.Hostile
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	encoded := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	file := "retry" + clitest.HostileName + ".go"
	comment := "// Retry does it again after a pause: " + strings.ReplaceAll(hostile, "\r", "") + "\n"
	retry := "package tiny\n\n" + comment + "func Retry(f func() error) error { return f() }\n"
	router := "package tiny\n\n// Router matches paths.\ntype Router struct{}\n\nfunc (r *Router) Find(p string) error {\n\ttext := \"" + strings.ReplaceAll(hostile, "\r", "") + "\"\n\treturn Retry(func() error { return fail(text) })\n}\n"
	fetch := "def fetch_stock(order, limit=10):\n    return order[:limit]  # " + strings.ReplaceAll(hostile, "\r", "") + "\n"
	texts := map[string]string{
		"set/repositories.json":      encoded([]any{map[string]any{"name": "broot", "language": "go", "github": "o/" + hostile, "commit": strings.Repeat("a", 40)}}),
		"set/questions/broot.json":   encoded([]any{map[string]any{"id": "broot-" + hostile, "kind": "behaviour", "question": "what matches? " + hostile, "answers": []string{file + ":3-4"}}}),
		"learn.json":                 encoded([]any{map[string]any{"github": "o/broot", "commit": hostile}}),
		"nowhere.json":               encoded([]any{map[string]any{"github": "o/" + hostile}}),
		"repos.json":                 encoded([]any{map[string]any{"name": "tiny", "language": hostile, "revision": "1"}}),
		"questions/tiny.json":        encoded([]any{map[string]any{"query": "Router " + hostile, "relevant": []string{file}, "category": hostile}}),
		"suite.json":                 encoded([]any{map[string]any{"name": "tiny", "language": "go" + hostile, "half": "fit", "from": "go", "package": hostile, "version": hostile}}),
		"golden/tasks.json":          encoded([]any{map[string]any{"id": "where" + hostile, "kind": "where", "question": "Where is it done again? " + hostile, "places": []string{file + ":3-4"}}}),
		"agents.json":                encoded(map[string]any{"repositories": []any{map[string]any{"name": "tiny", "language": "go", "half": "fit"}}, "tasks": []any{map[string]any{"id": "find" + hostile, "repository": "tiny", "kind": "find", "question": "What matches? " + hostile, "places": []any{map[string]any{"at": "router.go:3-4", "has": "type Router"}}}}}),
		"fixes/suite.json":           encoded(map[string]any{"repositories": []any{map[string]any{"name": "tiny", "language": "go", "half": "fit"}}, "breakages": []any{map[string]any{"id": "fix" + hostile, "repository": "tiny", "checker": "go vet", "file": "router.go", "from": "type Router struct", "to": "type Router struct" + hostile}}}),
		"golden/workspace/" + file:   retry,
		"old/tiny/router.go":         "package tiny\n\n// Router matches paths.\ntype Router struct{}\n",
		"new/tiny/router.go":         router,
		"answers.jsonl":              hostile + "\n",
		"before.json":                `{"half": "` + "\\u001b[2J" + `"}`,
		"wrong.json":                 hostile,
		"pages/tiny/main.py":         "from fetch import fetch_stock\n\ndef run(order):\n    return fetch_stock(order, 3)\n",
		"pages/tiny/fetch.py":        fetch,
		"pages/tiny" + file + "/x":   "",
		"corpus/tiny/" + file:        retry,
		"corpus/tiny/router.go":      router,
		"corpus/broot/" + file:       retry,
		"corpus/broot/router.go":     router,
		"corpus/broot/z\u202ez.go":   router,
		"corpus/" + file + "/a.go":   router,
		"corpus/" + file + "/b.go":   retry,
		"corpus/" + file + "/c.py":   fetch,
		"corpus/" + file + "/d/e.py": fetch,
	}
	systest.NeedNames(t)
	for name, text := range texts {
		writeText(t, at(name), text)
	}
	server := modeltest.NewServer(t)
	server.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"It is done in " + file + ":3-4. ", hostile}}
	})
	t.Setenv("HOME", t.TempDir())
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("OLLAMA_HOST", server.URL)
	t.Chdir(dir)

	retrieval := []string{"retrieval", "--annotations", "questions", "--repos", "repos.json", "--corpus", "corpus"}
	newcomer := []string{"newcomer", "--questions", "set", "--corpus", "corpus"}
	completion := []string{"completion", "--corpus", "corpus", "--holes", "4"}
	contexts := []string{"context", "--corpus", "corpus", "--sites", "3"}
	ghost := []string{"ghost", "--suite", "suite.json", "--corpus", "corpus"}
	fixes := []string{"fixes", "--suite", "fixes", "--corpus", "corpus", "--script", "known"}
	missing := []string{"imports", "--suite", "suite.json", "--corpus", "corpus"}
	agents := []string{"agents", "--tasks", "agents.json", "--corpus", "corpus", "--steps"}
	typing := []string{"typing", "--before", "old", "--after", "new"}
	usual := []string{"idioms", "--corpus", "corpus"}
	first := []string{"first", "--corpus", "corpus"}
	learn := []string{"lexicon", "--list", "learn.json", "--corpus", "corpus", "--out", "table.bin"}
	more := func(args []string, more ...string) []string { return append(args[:len(args):len(args)], more...) }
	clitest.NothingSteers(t, (&app{&cli.Env{}}).root(), run, 2, [][]string{
		retrieval, more(retrieval, "--outcomes"), more(retrieval, "--compare", "before.json"), more(retrieval, "--compare", "wrong.json"), more(retrieval, "--only", hostile),
		more(retrieval, "--mode", hostile), more(retrieval, "--vectors", "v.dat", "--embed", hostile),
		newcomer, more(newcomer, "--misses"), more(newcomer, "--against", "before.json"), more(newcomer, "--against", "wrong.json"), more(newcomer, "--half", hostile), more(newcomer, "--only", hostile),
		completion, more(completion, "--by-model"), more(completion, "--by-model", "--model", hostile), more(completion, "--corpus", hostile),
		learn, more(learn, "--list", "nowhere.json"), more(learn, "--list", "wrong.json"), more(learn, "--out", hostile), more(learn, "--corpus", hostile),
		usual, more(usual, "--out", hostile), more(usual, "--corpus", hostile), first, more(first, "--half", "fit", "--shown"), more(first, "--half", hostile), contexts, more(contexts, "--steps"), more(contexts, "--rounds"), {"context", "--corpus", "pages", "--sites", "3"},
		more(ghost, "--answers", "none.jsonl"), more(ghost, "--answers", "missing.jsonl", "--missing", "prompts"), more(ghost, "--answers", "answers.jsonl"), more(ghost, "--answers", "a", "--model", hostile),
		agents, more(agents, "--half", hostile), more(agents, "--only", hostile), more(agents, "--tasks", "wrong.json"), more(agents, "--corpus", hostile),
		typing, more(typing, "--after", hostile),
		{"golden", "--suite", "golden"}, {"golden", "--suite", "golden", "--only", hostile}, {"golden", "--suite", hostile},
		fixes, more(fixes, "--script", hostile), more(fixes, "--form", hostile),
		missing, more(missing, "--trials"), more(missing, "--only", hostile), more(missing, "--suite", "wrong.json"), more(missing, "--corpus", hostile),
		{"trace"}, {"trace", "--from", hostile}, {"trace", "--from", "answers.jsonl"},
		{hostile}, {"help", hostile}, {"golden", "--" + hostile},
	})
}
