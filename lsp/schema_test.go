package lsp

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

// docs/protocol.schema.json is what the code serves, and docs/protocol.md names
// every method and command.
func TestProtocolDocumentsAreCurrent(t *testing.T) {
	server := newServer(t.Context(), nil, nil, Options{Log: slog.New(slog.DiscardHandler)})
	served := slices.Sorted(maps.Keys(server.methods))
	schemas := map[string]map[string]*jsonschema.Schema{}
	for method, m := range server.methods {
		schemas[method] = map[string]*jsonschema.Schema{"params": schemaOf(t, m.Params), "result": schemaOf(t, m.Result)}
	}
	for method, params := range notifications() {
		if schemas[method] == nil {
			schemas[method] = map[string]*jsonschema.Schema{}
		}
		schemas[method]["notification"] = schemaOf(t, params)
	}
	want, err := json.MarshalIndent(schemas, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	path := filepath.Join("..", "docs", "protocol.schema.json")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not current (%v): run `go test ./lsp -run ProtocolDocuments -update`", path, err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(served, slices.Sorted(maps.Keys(notifications())), server.commandNames()) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/protocol.md does not name %s", name)
		}
	}
}

func schemaOf(t *testing.T, typ reflect.Type) *jsonschema.Schema {
	t.Helper()
	if typ == nil {
		return &jsonschema.Schema{Type: "null"}
	}
	s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Types: []string{"string", "integer"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
