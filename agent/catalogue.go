package agent

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
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
	// Use is the tool that serves instead of one that is not offered any more.
	Use string `json:"use"`

	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
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
			err = json.Unmarshal(t.Parameters, &t.schema)
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
func (c catalogue) definitions(names []string) json.RawMessage {
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
			list = append(list, definition{"function", function{t.Name, t.Description, t.Parameters}})
		}
	}
	raw, err := encode(list)
	if err != nil {
		panic(fmt.Sprintf("encode the tool block: %v", err)) // made of valid JSON
	}
	return raw
}
