package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quarry/lsp/service/client"
)

// The types of the client in TypeScript are those of the schemas of all that is served, and
// docs/service.md has its example.
func TestTypeScriptIsCurrent(t *testing.T) {
	methods := serving(t).dial(t, client.Options{}).Welcome.Methods
	want := typeScriptOf(t, append(methods, client.MethodProgress))
	folder := filepath.Join("client", "typescript")
	path := filepath.Join(folder, "schema.ts")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not current (%v): run `go test ./lsp/service -run TypeScriptIsCurrent -update`", path, err)
	}
	example, err := os.ReadFile(filepath.Join(folder, "example.ts"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "service.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, slices.Concat([]byte("```ts\n"), example, []byte("```\n"))) {
		t.Error("docs/service.md has not the text of example.ts")
	}
}

// node is a JSON schema, as far as the documents use it.
type node struct {
	Any         bool       `json:"-"` // anything is valid
	Type        kinds      `json:"type"`
	Const       any        `json:"const"`
	Description string     `json:"description"`
	Properties  properties `json:"properties"`
	Required    []string   `json:"required"`
	Items       *node      `json:"items"`
	Additional  *node      `json:"additionalProperties"`
}

func (n *node) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true", "{}":
		*n = node{Any: true}
		return nil
	case "false":
		*n = node{}
		return nil
	}
	type plain node
	return json.Unmarshal(raw, (*plain)(n))
}

// kinds are the types a value may have.
type kinds []string

func (k *kinds) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		*k = kinds{""}
		return json.Unmarshal(raw, &(*k)[0])
	}
	return json.Unmarshal(raw, (*[]string)(k))
}

// properties are the members of an object in the order of the document.
type properties []property

type property struct {
	name string
	is   *node
}

func (p *properties) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		is := new(node)
		if err := d.Decode(is); err != nil {
			return err
		}
		*p = append(*p, property{name.(string), is})
	}
	return nil
}

// typeNames are the names in TypeScript of the objects in the schemas: of a method's part, or of a
// member. Two of one name must be alike.
var typeNames = map[string]string{
	"quarry/devices.pair params": "Pairing", "quarry/devices.pair result": "Offered", "quarry/devices.paired result": "Device",
	"quarry/devices.list result": "Devices", "devices": "Device", "quarry/devices.revoke params": "Revoked", "quarry/devices.revoke result": "Device",
	"quarry/hello params": "Hello", "quarry/hello result": "Welcome",
	"quarry/index.addRoot params": "Root", "quarry/index.addRoot result": "Roots",
	"quarry/index.removeRoot params": "Root", "quarry/index.removeRoot result": "Roots",
	"quarry/service.status result": "Status", "clients": "StatusClient",
	"quarry/tools.call params": "ToolCall", "quarry/tools.call result": "ToolAnswer", "error": "ToolError", "meta": "ToolMeta",
	"quarry/index.progress notification": "Progress",
	"quarry/search.hybrid params":        "Search", "quarry/search.hybrid result": "Answer",
	"quarry/search.lexical params": "Search", "quarry/search.lexical result": "Answer",
	"quarry/search.semantic params": "Search", "quarry/search.semantic result": "Answer",
	"quarry/similar params": "Similar", "quarry/similar result": "Answer",
	"filters": "Filters", "textDocument": "TextDocument", "position": "Position",
	"results": "Result", "more": "Place", "declares": "Declared", "incomplete": "Missing",
	"quarry/content.getSpan params": "Span", "quarry/content.getSpan result": "SpanText",
	"quarry/open.atSpan params": "Span", "quarry/open.atSpan result": "Shown",
	"quarry/index.status result": "Folder", "stale": "Stale", "skipped_paths": "Skipped", "problems": "Problem", "embedding": "Embedding",
}

// typeScript writes types.
type typeScript struct {
	t     *testing.T
	named map[string]*node
	types []string // their text, in the order in which they are met
}

// typeScriptOf is the text of schema.ts, which has the types of some methods.
func typeScriptOf(t *testing.T, methods []string) []byte {
	schemas := map[string]map[string]*node{}
	for _, name := range []string{"protocol", "service"} { // the service's own win
		raw, err := os.ReadFile(filepath.Join("..", "..", "docs", name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &schemas); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(methods)
	w := &typeScript{t: t, named: map[string]*node{}}
	var requests, notifications strings.Builder
	for _, method := range methods {
		schema := schemas[method]
		if schema == nil {
			t.Fatalf("%s has no schema", method)
		}
		if schema["notification"] != nil {
			fmt.Fprintf(&notifications, "  '%s': %s;\n", method, w.typeOf(schema["notification"], method+" notification"))
			continue
		}
		fmt.Fprintf(&requests, "  '%s': { params: %s; result: %s };\n", method, w.typeOf(schema["params"], method+" params"), w.typeOf(schema["result"], method+" result"))
	}
	var version any
	for _, p := range schemas[client.MethodHello]["params"].Properties {
		if p.name == "protocol" {
			version = p.is.Const
		}
	}
	if version == nil {
		t.Fatal("the schema does not say which protocol it is of")
	}
	var out bytes.Buffer
	out.WriteString("// Generated from docs/service.schema.json and docs/protocol.schema.json by `go test ./lsp/service -run TypeScriptIsCurrent -update`: change those.\n\n")
	fmt.Fprintf(&out, "/** The version of the protocol that these types are of. */\nexport const protocol = %v;\n\n", version)
	fmt.Fprintf(&out, "/** The requests, each with its params and its result. */\nexport interface Requests {\n%s}\n\n", requests.String())
	fmt.Fprintf(&out, "/** What the service tells unasked. */\nexport interface Notifications {\n%s}\n", notifications.String())
	for _, text := range w.types {
		out.WriteString("\n" + text)
	}
	return out.Bytes()
}

// typeOf is the type of a value, which is a method's part or a member called name.
func (w *typeScript) typeOf(n *node, name string) string {
	switch {
	case n == nil:
		return "null"
	case n.Any:
		return "unknown"
	case n.Const != nil:
		return fmt.Sprint(n.Const)
	}
	var all []string
	for _, kind := range n.Type {
		switch kind {
		case "null": // is last
		case "string", "boolean":
			all = append(all, kind)
		case "integer", "number":
			all = append(all, "number")
		case "array":
			all = append(all, w.typeOf(n.Items, name)+"[]")
		case "object":
			all = append(all, w.objectOf(n, name))
		default:
			w.t.Fatalf("%s is a %s, for which there is no type yet", name, kind)
		}
	}
	if slices.Contains(n.Type, "null") {
		all = append(all, "null")
	}
	if len(all) == 0 {
		w.t.Fatalf("%s has no type", name)
	}
	return strings.Join(all, " | ")
}

// objectOf is the name of an object's type, which it writes if it is new.
func (w *typeScript) objectOf(n *node, name string) string {
	if n.Properties == nil && n.Additional != nil {
		return "Record<string, " + w.typeOf(n.Additional, name) + ">"
	}
	called := typeNames[name]
	if called == "" {
		w.t.Fatalf("%s is an object: give its type a name in typeNames", name)
	}
	if before, ok := w.named[called]; ok {
		if !reflect.DeepEqual(wordless(before), wordless(n)) {
			w.t.Fatalf("two types are called %s: give that of %s a name of its own in typeNames", called, name)
		}
		return called
	}
	w.named[called] = n
	at := len(w.types)
	w.types = append(w.types, "")
	var text strings.Builder
	fmt.Fprintf(&text, "export interface %s {\n", called)
	for _, p := range n.Properties {
		if p.is.Description != "" {
			fmt.Fprintf(&text, "  /** %s */\n", strings.ReplaceAll(p.is.Description, "*/", "* /"))
		}
		mark := "?"
		if slices.Contains(n.Required, p.name) {
			mark = ""
		}
		fmt.Fprintf(&text, "  %s%s: %s;\n", p.name, mark, w.typeOf(p.is, p.name))
	}
	text.WriteString("}\n")
	w.types[at] = text.String()
	return called
}

// wordless is a schema without its descriptions.
func wordless(n *node) *node {
	if n == nil {
		return nil
	}
	bare := *n
	bare.Description, bare.Items, bare.Additional, bare.Properties = "", wordless(n.Items), wordless(n.Additional), nil
	for _, p := range n.Properties {
		bare.Properties = append(bare.Properties, property{p.name, wordless(p.is)})
	}
	return &bare
}
