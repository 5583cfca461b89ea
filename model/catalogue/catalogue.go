// Package catalogue knows models that serve, and which of them suit a machine.
package catalogue

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/model"
	"quarry/model/chatform"
)

// The uses of a model of the catalogue.
const (
	// ForCompletion: it completes code, explains it and answers questions.
	ForCompletion = "completion"
	// ForSearch: it embeds code.
	ForSearch = "search"
)

// An Entry is a model that is known to serve.
type Entry struct {
	// Name is the model's in Ollama's library.
	Name string `json:"name"`
	// Use is ForCompletion or ForSearch.
	Use string `json:"use"`
	// Bits is how many a weight takes.
	Bits int `json:"bits"`
	// Download and Memory are bytes: what is fetched, about unless URL is there, and
	// what the model takes while it runs with quarry's context, about.
	Download int64 `json:"download"`
	Memory   int64 `json:"memory"`
	// Context is the longest prompt that it was trained for, in tokens.
	Context int `json:"context"`
	// Family is that of fill-in-the-middle prompts.
	Family string `json:"family,omitempty"`
	// Chat names how it is spoken to (package chatform); "" for what its file says.
	Chat    string `json:"chat,omitempty"`
	Licence string `json:"licence"`
	// Digest begins the sha256 that Ollama must give the model; "" where any is taken.
	Digest string `json:"digest,omitempty"`
	// SHA256 is the sum of the model's GGUF file, whichever way it comes; "" where any is
	// taken.
	SHA256 string `json:"sha256,omitempty"`
	// URL is where that file can be fetched without Ollama's library; Download is then its
	// exact size.
	URL string `json:"url,omitempty"`
	// Library: it comes from Ollama's library although it has a URL, unless the user asks for
	// the file.
	Library bool   `json:"library,omitempty"`
	About   string `json:"about,omitempty"`
}

// A List is models, best first among those of one use.
type List struct {
	Version int     `json:"version"`
	Models  []Entry `json:"models"`
}

// catalogueVersion is the one that this program reads.
const catalogueVersion = 1

//go:embed catalogue.json
var shipped []byte

// Load is quarry's own catalogue with the user's before it: theirs has the same
// form, and an entry of it replaces the shipped one of its name. An empty text adds
// nothing.
func Load(users []byte) (List, error) {
	c, err := parse(shipped)
	if err != nil {
		return c, fmt.Errorf("the catalogue that quarry came with: %w", err)
	}
	if len(users) == 0 {
		return c, nil
	}
	own, err := parse(users)
	if err != nil {
		return c, err
	}
	for _, e := range c.Models {
		if _, replaced := own.Find(e.Name); !replaced {
			own.Models = append(own.Models, e)
		}
	}
	return own, nil
}

func parse(raw []byte) (List, error) {
	var c List
	if err := json.Unmarshal(raw, &c); err != nil {
		var bad *json.SyntaxError
		if errors.As(err, &bad) {
			return List{}, fmt.Errorf("no catalogue, line %d: %w", 1+bytes.Count(raw[:bad.Offset], []byte("\n")), err)
		}
		return List{}, fmt.Errorf("no catalogue: %w", err)
	}
	if c.Version != catalogueVersion {
		return List{}, fmt.Errorf("a catalogue of version %d; this quarry reads version %d", c.Version, catalogueVersion)
	}
	for i, e := range c.Models {
		switch {
		case e.Name == "":
			return List{}, fmt.Errorf("model %d has no name", i+1)
		case e.Use != ForCompletion && e.Use != ForSearch:
			return List{}, fmt.Errorf("%s: use is %q, not %s or %s", e.Name, e.Use, ForCompletion, ForSearch)
		case e.URL != "" && e.SHA256 == "":
			return List{}, fmt.Errorf("%s: a url wants the sha256 of its file", e.Name)
		case e.Chat != "" && !known(e.Chat):
			return List{}, fmt.Errorf("%s: chat is %q, not one of %s", e.Name, e.Chat, strings.Join(chatform.Names(), ", "))
		case model.InCloud(e.Name):
			return List{}, fmt.Errorf("%s runs on other machines, and a catalogue is of local models", e.Name)
		}
	}
	return c, nil
}

// known is whether there is a form of conversations of this name.
func known(form string) bool {
	_, ok := chatform.Named(form)
	return ok
}

// Find is the entry of a model, as a user may write its name.
func (c *List) Find(name string) (Entry, bool) {
	i := slices.IndexFunc(c.Models, func(e Entry) bool { return model.SameModel(e.Name, name) })
	if i < 0 {
		return Entry{}, false
	}
	return c.Models[i], true
}

// BySum is the entry whose file has this sha256.
func (c *List) BySum(sum string) (Entry, bool) {
	i := slices.IndexFunc(c.Models, func(e Entry) bool { return e.SHA256 == sum })
	if i < 0 {
		return Entry{}, false
	}
	return c.Models[i], true
}

// Gigabytes writes a number of bytes as users know it.
func Gigabytes(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
