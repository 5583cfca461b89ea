package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/cmd/internal/usage"
	"quarry/lsp/service/client"
	"quarry/model"
	"quarry/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

// jsonSchemas are the schemas of what commands print with --json.
func jsonSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	schemas := map[string]*jsonschema.Schema{}
	failure := schemaFor[cli.Failure](t)
	failed := &jsonschema.Schema{
		Type: "object", Required: []string{"error"}, Properties: map[string]*jsonschema.Schema{"error": failure},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	add := func(names string, outputs ...*jsonschema.Schema) {
		for _, out := range outputs {
			if out.Type == "object" {
				out.Properties["error"] = failure
				out.PropertyOrder = nil
			}
		}
		for name := range strings.SplitSeq(names, ", ") {
			schemas[name] = &jsonschema.Schema{AnyOf: append(slices.Clone(outputs), failed)}
		}
	}
	add("ask", schemaFor[askOutput](t))
	add("complete", schemaFor[completeOutput](t))
	add("doctor, model verify, model use, model import, model pull", schemaFor[doctorOutput](t))
	add("explain", schemaFor[explainOutput](t))
	add("index", schemaFor[indexOutput](t))
	add("model, model status", schemaFor[modelStatusOutput](t))
	add("model catalogue", schemaFor[catalogueOutput](t))
	add("model clean", schemaFor[cleanOutput](t))
	add("model list", schemaFor[[]modelOutput](t))
	add("model rm", schemaFor[model.Installed](t))
	add("report", schemaFor[reportOutput](t))
	add("search", schemaFor[searchOutput](t), schemaFor[client.Answer](t))
	add("serve", schemaFor[serveOutput](t))
	add("serve devices", schemaFor[client.Devices](t))
	add("serve join", schemaFor[joinOutput](t))
	add("serve pair, serve revoke", schemaFor[client.Device](t))
	add("setup", schemaFor[setupListOutput](t), schemaFor[setupAnswer](t), schemaFor[setupModelAnswer](t))
	add("stats", schemaFor[statsOutput](t), schemaFor[exportOutput](t), schemaFor[forgetOutput](t))
	add("status", schemaFor[statusOutput](t))
	add("version", schemaFor[versionOutput](t))
	return schemas
}

func schemaFor[T any](t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[usage.Times](): {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "integer"}},
		reflect.TypeFor[usage.Ranks](): {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "integer"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withoutJSON are the commands that print no document: servers, and what is for people or for
// other programs.
var withoutJSON = []string{"lsp", "mcp", "demo", "man", "help", "completion"}

// docs/commands.schema.json has every command, and is what the code prints.
func TestCommandDocumentsAreCurrent(t *testing.T) {
	schemas := jsonSchemas(t)
	var visit func(cmd *cobra.Command, path string)
	visit = func(cmd *cobra.Command, path string) {
		for _, below := range cmd.Commands() {
			name := strings.TrimSpace(path + " " + below.Name())
			if _, ok := schemas[name]; !ok && !slices.Contains(withoutJSON, name) {
				t.Errorf("docs/commands.schema.json lacks %s", name)
			}
			visit(below, name)
		}
	}
	visit((&app{&cli.Env{}}).root(), "")
	want, err := json.MarshalIndent(schemas, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	path := filepath.Join("..", "..", "docs", "commands.schema.json")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not current (%v): run `go test ./cmd/quarry -run CommandDocuments -update`", path, err)
	}
}

// K: with --json standard output is one document, whatever happens: a failure is a member of it,
// and what exit code and standard error say stays.
func TestFailuresAreDocuments(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", "a.go": "package a\n\n// A adds.\nfunc A() {}\n", "empty.md": "# Title\n", "rule.md": "\n---\n", "noise.md": "- a\xff\n", "ask.md": "- What does A do?\n", "m.gguf": "none",
	} {
		writeText(t, filepath.Join(root, filepath.FromSlash(file)), text)
	}
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: "granite4.1:3b"})
	server.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{ErrorLine: "out of memory"} })
	t.Setenv("HOME", t.TempDir())
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	t.Setenv("OLLAMA_HOST", server.URL)
	t.Chdir(root)

	type call struct {
		args string
		exit int
		// says stands in the message; "" if the command does what it was asked for. with is a
		// member that stands beside the failure.
		says, with string
	}
	none := " --ollama " + noOllama
	calls := []call{
		{args: "version"}, {args: "index"}, {args: "status"}, {args: "search adds"}, {args: "stats"}, {args: "stats --export trace.jsonl"}, {args: "stats --forget --yes"}, {"stats --forget", 2, "--yes", ""}, {"stats --export nowhere/trace.jsonl", 1, "--export: ", ""}, {"stats --export -", 2, "leave --json out", ""}, {args: "model"}, {args: "model list"}, {args: "model catalogue"}, {args: "setup"}, {args: "setup codex"},
		{args: "report --outline"}, {args: "report --prompt ask.md"}, {args: "model clean"}, {args: "complete a.go:4:1" + none}, {args: "setup codex --yes"}, {args: "setup codex"}, {args: "setup codex --print"}, {args: "setup model"},
		{"setup nvim --yes --notes", 2, "--notes", ""},
		{"complete nowhere.go:1:1", 1, "nowhere.go", ""},
		{"complete a.go:99:1", 1, "there is no line 99", ""},
		{"explain nowhere.go:1", 1, "nowhere.go", ""},
		{"explain a.go:99", 1, "", ""},
		{args: "ask what does it do" + none}, {args: "ask what does it do"},
		{"ask --workspace nowhere what", 1, "cannot be opened", ""},
		{args: "explain --message undefined a.go:4"},
		{"ask --about nowhere.go what", 1, "nowhere.go", ""},
		{"search --workspace nowhere x", 1, "--workspace nowhere cannot be opened", ""},
		{"status --workspace nowhere", 1, "cannot be opened", ""},
		{"index --workspace a.go", 1, "is not a folder", ""},
		{"report --repo nowhere", 1, "--repo nowhere cannot be opened", ""},
		{"report --prompt none.md", 1, "--prompt: ", ""},
		{"report --prompt empty.md", 2, "asks for nothing", ""},
		{"report --prompt rule.md", 2, "asks for nothing", ""}, {"report --prompt noise.md", 1, "noise.md is no UTF-8 text", ""}, {"report --output .", 1, "is a folder", ""},
		{"report --output nowhere/x.md", 1, "--output: ", ""},
		{"doctor" + none, 1, "the rest of this document says what", "findings"},
		{"model verify granite4.1:3b", 1, "the rest of this document says what", "findings"},
		{"model list" + none, 1, "does not answer", ""},
		{"model clean" + none, 1, "does not answer", "left"},
		{"model rm nothing --yes", 1, "Ollama has no model nothing", ""},
		{"model use nothing", 1, "", ""},
		{"model import nowhere.gguf x", 1, "nowhere.gguf", ""},
		{"model import m.gguf x", 1, "", ""},
		{"setup model" + none, 1, "does not answer", ""},
		{"setup nothing", 2, "nothing", ""},
		{"search --format sarif x", 2, "each write a document", ""},
		{"search --mode odd x", 2, "odd", ""},
		{"--log-level odd version", 2, "--log-level", ""},
		{"demo", 2, "has no JSON", ""},
		{"nothing", 2, "unknown command", ""},
		{"explain", 2, "`quarry explain` takes FILE:LINE", ""}, {"serve join desk:1", 2, "`quarry serve join` takes ADDRESS CODE; it got \"desk:1\"", ""}, {"status now then", 2, "`quarry status` takes no arguments; it got \"now\" \"then\"", ""},
		{"model nothing", 2, "unknown command", ""},
		{"help nothing", 2, "unknown command", ""},
	}
	schemas := jsonSchemas(t)
	for name := range schemas {
		calls = append(calls, call{name + " --nothing", 2, "unknown flag: --nothing", ""})
	}
	for _, c := range calls {
		var out, errs bytes.Buffer
		exit := run(t.Context(), append(strings.Fields(c.args), "--json"), strings.NewReader(""), &out, &errs)
		var value any
		dec := json.NewDecoder(bytes.NewReader(out.Bytes()))
		if err := dec.Decode(&value); err != nil {
			t.Errorf("%s: %v in %q (exit %d, %s)", c.args, err, out.String(), exit, errs.String())
			continue
		}
		if dec.More() {
			t.Errorf("%s: more than one document: %s", c.args, out.String())
		}
		document, _ := value.(map[string]any)
		failure, failed := document["error"].(map[string]any)
		message, _ := failure["message"].(string)
		switch {
		case exit != c.exit || failed != (exit != 0):
			t.Errorf("%s: exit %d, want %d, %s%s", c.args, exit, c.exit, out.String(), errs.String())
		case failed && (failure["code"] != map[int]string{1: "failed", 2: "usage"}[exit] || message == "" || !strings.Contains(message, c.says)):
			t.Errorf("%s: the failure is %v", c.args, failure)
		case c.with != "" && document[c.with] == nil:
			t.Errorf("%s: nothing of %s in %s", c.args, c.with, out.String())
		case failed && c.with == "" && len(document) != 1:
			t.Errorf("%s: more than the failure: %s", c.args, out.String())
		case failed && c.with == "" && !strings.Contains(errs.String(), strings.Split(message, "\n")[0]):
			t.Errorf("%s: standard error says %q and not %q", c.args, errs.String(), message)
		}
		for _, name := range []string{strings.Join(strings.Fields(c.args)[:min(2, len(strings.Fields(c.args)))], " "), strings.Fields(c.args)[0]} {
			if s := schemas[name]; s != nil {
				if err := validates(s, value); err != nil {
					t.Errorf("%s: %v", c.args, err)
				}
				break
			}
		}
	}
	// Behind -- there are no flags, and text is no document.
	for _, args := range [][]string{{"search", "--nothing", "--", "--json"}, {"search", "--workspace", "nowhere", "x"}, {"search", "--format", "sarif", "--workspace", "nowhere", "x"}} {
		var out, errs bytes.Buffer
		if exit := run(t.Context(), args, strings.NewReader(""), &out, &errs); exit == 0 || out.Len() > 0 {
			t.Errorf("%q: exit %d, %s", args, exit, out.String())
		}
	}
}

func validates(s *jsonschema.Schema, value any) error {
	resolved, err := s.CloneSchemas().Resolve(nil)
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	return resolved.Validate(value)
}
