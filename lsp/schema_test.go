package lsp

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"quarry/index"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

// contract is the params and result of each of quarry's own methods.
var contract = map[string]struct{ params, result reflect.Type }{
	MethodExplainCompletion:  {reflect.TypeFor[explainParams](), reflect.TypeFor[Explanation]()},
	MethodAsk:                {reflect.TypeFor[askParams](), reflect.TypeFor[askResult]()},
	"quarry/tools.list":      {nil, reflect.TypeFor[[]toolDefinition]()},
	"quarry/tools.call":      {reflect.TypeFor[toolParams](), reflect.TypeFor[toolResult]()},
	methodDecide:             {reflect.TypeFor[decideParams](), reflect.TypeFor[decideResult]()},
	MethodStatus:             {nil, reflect.TypeFor[Status]()},
	MethodMetrics:            {nil, reflect.TypeFor[metricsText]()},
	"quarry/index.status":    {nil, reflect.TypeFor[[]index.Status]()},
	"quarry/index.rebuild":   {nil, nil},
	"quarry/search.lexical":  {reflect.TypeFor[searchParams](), reflect.TypeFor[searchResponse]()},
	"quarry/search.semantic": {reflect.TypeFor[searchParams](), reflect.TypeFor[searchResponse]()},
	"quarry/search.hybrid":   {reflect.TypeFor[searchParams](), reflect.TypeFor[searchResponse]()},
	"quarry/similar":         {reflect.TypeFor[similarParams](), reflect.TypeFor[searchResponse]()},
	"quarry/content.getSpan": {reflect.TypeFor[spanParams](), reflect.TypeFor[span]()},
	"quarry/open.atSpan":     {reflect.TypeFor[spanParams](), reflect.TypeFor[shown]()},
}

// told is the params of each notification of quarry's own.
var told = map[string]reflect.Type{
	methodProposal:    reflect.TypeFor[proposalParams](),
	methodProposalEnd: reflect.TypeFor[proposalID](),
	MethodStatus:      reflect.TypeFor[StatusNote](),
}

// docs/protocol.schema.json is what the code serves, and docs/protocol.md names
// every method and command.
func TestProtocolDocumentsAreCurrent(t *testing.T) {
	served := slices.Sorted(maps.Keys(customMethods))
	if described := slices.Sorted(maps.Keys(contract)); !slices.Equal(served, described) {
		t.Fatalf("served: %v\ndescribed: %v", served, described)
	}
	schemas := map[string]map[string]*jsonschema.Schema{}
	for method, c := range contract {
		schemas[method] = map[string]*jsonschema.Schema{"params": schemaOf(t, c.params), "result": schemaOf(t, c.result)}
	}
	for method, params := range told {
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
	for _, name := range slices.Concat(served, slices.Sorted(maps.Keys(told)), commandNames()) {
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
