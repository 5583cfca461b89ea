package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	Family  string `json:"family,omitempty"`
	Licence string `json:"licence"`
	// Digest begins the sha256 that Ollama must give the model; "" where any is taken.
	Digest string `json:"digest,omitempty"`
	// URL is where a GGUF file of the model is, for one that does not come from Ollama's
	// library, and SHA256 its sum; Download is then its exact size.
	URL    string `json:"url,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	About  string `json:"about,omitempty"`
}

// A Catalogue is a list of models, best first among those of one use.
type Catalogue struct {
	Version int     `json:"version"`
	Models  []Entry `json:"models"`
}

// catalogueVersion is the one that this program reads.
const catalogueVersion = 1

//go:embed catalogue.json
var shipped []byte

// LoadCatalogue is quarry's own catalogue with the user's before it: theirs has the same
// form, and an entry of it replaces the shipped one of its name. An empty text adds
// nothing.
func LoadCatalogue(users []byte) (Catalogue, error) {
	c, err := parseCatalogue(shipped)
	if err != nil {
		return c, fmt.Errorf("the catalogue that quarry came with: %w", err)
	}
	if len(users) == 0 {
		return c, nil
	}
	own, err := parseCatalogue(users)
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

func parseCatalogue(raw []byte) (Catalogue, error) {
	var c Catalogue
	if err := json.Unmarshal(raw, &c); err != nil {
		return Catalogue{}, fmt.Errorf("no catalogue: %w", err)
	}
	if c.Version != catalogueVersion {
		return Catalogue{}, fmt.Errorf("a catalogue of version %d; this quarry reads version %d", c.Version, catalogueVersion)
	}
	for i, e := range c.Models {
		switch {
		case e.Name == "":
			return Catalogue{}, fmt.Errorf("model %d has no name", i+1)
		case e.Use != ForCompletion && e.Use != ForSearch:
			return Catalogue{}, fmt.Errorf("%s: use is %q, not %s or %s", e.Name, e.Use, ForCompletion, ForSearch)
		case (e.URL == "") != (e.SHA256 == ""):
			return Catalogue{}, fmt.Errorf("%s: url and sha256 go together", e.Name)
		case inCloud(e.Name):
			return Catalogue{}, fmt.Errorf("%s runs on other machines, and a catalogue is of local models", e.Name)
		}
	}
	return c, nil
}

// Find is the entry of a model, as a user may write its name.
func (c *Catalogue) Find(name string) (Entry, bool) {
	i := slices.IndexFunc(c.Models, func(e Entry) bool { return SameModel(e.Name, name) })
	if i < 0 {
		return Entry{}, false
	}
	return c.Models[i], true
}

// SameModel is whether two names are one model's: Ollama leaves ":latest" out.
func SameModel(a, b string) bool {
	return strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest")
}

// shareOfMemory is how much of a machine's memory a model may take: editor, compiler
// and browser want the rest.
const shareOfMemory = 0.4

// Recommend is the model for a use on a machine with so many bytes of memory, 0 if not
// known, and why; of those that leave enough of it to the rest, the first.
func (c *Catalogue) Recommend(use string, memory int64) (e Entry, why string) {
	smallest := Entry{}
	for _, e := range c.Models {
		if e.Use != use {
			continue
		}
		switch {
		case memory == 0:
			return e, "how much memory this machine has is not known"
		case float64(e.Memory) <= shareOfMemory*float64(memory):
			return e, fmt.Sprintf("it takes about %s of this machine's %s of memory", Gigabytes(e.Memory), Gigabytes(memory))
		case smallest.Name == "" || e.Memory < smallest.Memory:
			smallest = e
		}
	}
	return smallest, fmt.Sprintf("it is the smallest, and this machine has %s of memory", Gigabytes(memory))
}

// Gigabytes writes a number of bytes as users know it.
func Gigabytes(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// DownloadSize is about how many bytes a model's download has, 0 if not known.
func DownloadSize(name string) int64 {
	c, err := parseCatalogue(shipped)
	if err != nil {
		return 0
	}
	e, _ := c.Find(name)
	return e.Download
}
