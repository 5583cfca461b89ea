package agent

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// state says how a tool is offered. A name that was offered once keeps working:
// conversations, scripts and models' habits outlive a release. It goes from
// active to deprecated or hiddenCompatible, and to removed only when nothing can
// serve it any more.
type state string

const (
	// active tools are offered to every conversation.
	active state = "active"
	// deferred tools are offered where the task names them.
	deferred state = "deferred"
	// hiddenCompatible tools are not offered and work.
	hiddenCompatible state = "hidden-compatible"
	// deprecated tools are not offered, work, and say what to use instead.
	deprecated state = "deprecated"
	// removed tools do nothing but say what to use instead.
	removed state = "removed"
)

// tool is one entry of the catalogue.
type tool struct {
	Name        string          `json:"name"`
	State       state           `json:"state"`
	Access      string          `json:"access"` // read or write
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	// Paged: the answer is a list that offset goes on with.
	Paged bool `json:"paged"`
	// Use is the tool that serves instead of one that is not offered any more.
	Use string `json:"use"`

	// schema takes what agents may say to any tool, too; agents is it for them.
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	agents   json.RawMessage
}

// What agents may say to tools that read, and to those that answer lists. A prompt of quarry's
// own has its bounds elsewhere, and is spared the words.
const (
	tokensArgument = `"max_tokens": {"type": "integer", "minimum": 100, "maximum": 50000, "description": "length of the answer; left out, 1500"}`
	offsetArgument = `"offset": {"type": "integer", "minimum": 0, "maximum": 1000000, "description": "items to leave out: next_offset of the answer before"}`
)

// extend adds those arguments to a tool's own.
func (t *tool) extend() error {
	var schema, own, more map[string]json.RawMessage
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		return err
	}
	if raw := schema["properties"]; raw != nil {
		if err := json.Unmarshal(raw, &own); err != nil {
			return err
		}
	}
	common := ""
	switch {
	case t.Access != "read":
	case t.Paged:
		common = tokensArgument + "," + offsetArgument
	default:
		common = tokensArgument
	}
	if err := json.Unmarshal([]byte("{"+common+"}"), &more); err != nil {
		return err
	}
	if schema == nil {
		schema = map[string]json.RawMessage{}
	}
	if own == nil {
		own = map[string]json.RawMessage{}
	}
	maps.Copy(own, more)
	properties, err := encode(own)
	if err != nil {
		return err
	}
	schema["properties"] = properties
	t.agents, err = encode(schema)
	return err
}

type catalogue []*tool

//go:embed catalogue.json
var catalogueText []byte

// shipped is the catalogue of this release.
var shipped = sync.OnceValue(func() catalogue {
	c, err := parseCatalogue(catalogueText)
	if err != nil {
		panic(fmt.Sprintf("the tool catalogue: %v", err)) // a test reads it
	}
	return c
})

func parseCatalogue(text []byte) (catalogue, error) {
	var c catalogue
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, err
	}
	for i, t := range c {
		if c.find(t.Name) != c[i] {
			return nil, fmt.Errorf("%s is there twice", t.Name)
		}
		if used := t.Use == "" || c.find(t.Use) != nil; !used {
			return nil, fmt.Errorf("%s names %s, which is no tool", t.Name, t.Use)
		}
		if !slices.Contains([]state{active, deferred, hiddenCompatible, deprecated, removed}, t.State) {
			return nil, fmt.Errorf("%s is in no state: %q", t.Name, t.State)
		}
		var compact bytes.Buffer
		err := json.Compact(&compact, t.Parameters)
		if err == nil {
			t.Parameters = compact.Bytes()
			err = t.extend()
		}
		if err == nil {
			err = json.Unmarshal(t.agents, &t.schema)
		}
		if err == nil {
			t.resolved, err = t.schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		}
		if err != nil {
			return nil, fmt.Errorf("parameters of %s: %w", t.Name, err)
		}
	}
	return c, nil
}

func (c catalogue) find(name string) *tool {
	i := slices.IndexFunc(c, func(t *tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return c[i]
}

// definitions are the active tools, or those named if any are, as OpenAI's
// interface has them. The order is the catalogue's, so that the block has the same
// bytes for the same set: it stands at the head of prompts, which model servers
// keep.
func (c catalogue) definitions(names []string, parameters func(*tool) json.RawMessage) json.RawMessage {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type definition struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	list := []definition{}
	for _, t := range c {
		offered := t.State == active || t.State == deferred && len(names) > 0
		if offered && (len(names) == 0 || slices.Contains(names, t.Name)) {
			list = append(list, definition{"function", function{t.Name, t.Description, parameters(t)}})
		}
	}
	raw, err := encode(list)
	if err != nil {
		panic(fmt.Sprintf("encode the tool block: %v", err)) // made of valid JSON
	}
	return raw
}
