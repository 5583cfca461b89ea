// Package catalogue knows models that serve, and which of them suit a machine.
package catalogue

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"quarry/model"
	"quarry/model/chatform"
	"quarry/model/download"
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
	// Library: it may come from Ollama's library, and does although it has a URL, unless the user asks for the file.
	Library bool   `json:"library,omitempty"`
	About   string `json:"about,omitempty"`
}

// A List is models, best first among those of one use.
type List struct {
	Version int     `json:"version"`
	Models  []Entry `json:"models"`
	// Wrong is what of the user's own is left out.
	Wrong []Fault `json:"-"`
}

// A Fault is a part of a catalogue that is left out.
type Fault struct {
	// Name is the model's, "" where it cannot be read, or another entry of the name counts.
	Name string
	Says string
}

// catalogueVersion is the one that this program reads.
const catalogueVersion = 1

//go:embed catalogue.json
var shipped []byte

// Load is quarry's own catalogue with the user's before it: theirs has the same
// form, and an entry of it replaces the shipped one of its name. An empty text adds
// nothing, and an entry that is wrong costs only itself: Wrong says so.
func Load(users []byte) (List, error) {
	c, err := parse(shipped)
	if err == nil && len(c.Wrong) > 0 {
		err = errors.New(c.Wrong[0].Says)
	}
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

// form is how a catalogue is written.
const form = `{"version": 1, "models": [...]}`

func parse(raw []byte) (List, error) {
	var c List
	var bad *json.SyntaxError
	var keys map[string]json.RawMessage
	switch err := json.Unmarshal(raw, &keys); {
	case errors.As(err, &bad):
		return c, fmt.Errorf("no catalogue, line %d: %w", 1+bytes.Count(raw[:bad.Offset], []byte("\n")), err)
	case err != nil || keys == nil:
		return c, fmt.Errorf("no catalogue: write it as %s", form)
	}
	if err := json.Unmarshal(keys["version"], &c.Version); err != nil || c.Version != catalogueVersion {
		return List{}, fmt.Errorf("a catalogue of version %s; this quarry reads version %d", cmp.Or(string(keys["version"]), "0"), catalogueVersion)
	}
	var entries []json.RawMessage
	if list, ok := keys["models"]; ok && json.Unmarshal(list, &entries) != nil {
		return List{}, fmt.Errorf("no catalogue: models is no list, write it as %s", form)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains([]string{"version", "models", "advice", "wrong"}, key) { // the last two `quarry model catalogue --json` prints
			c.Wrong = append(c.Wrong, Fault{Says: fmt.Sprintf("there is no key %q beside models: it is left out", key)})
		}
	}
	for i, text := range entries {
		e, why := read(text)
		_, twice := c.Find(e.Name)
		if why == "" && twice {
			why = "it is there twice, and the first one counts"
		}
		if why == "" {
			c.Models = append(c.Models, e)
			continue
		}
		who := fmt.Sprintf("model %d", i+1)
		if e.Name != "" {
			who += " (" + e.Name + ")"
		}
		f := Fault{Says: who + " is left out: " + why}
		if !twice {
			f.Name = e.Name
		}
		c.Wrong = append(c.Wrong, f)
	}
	return c, nil
}

// read reads an entry, and says what is wrong with it, "" if nothing is.
func read(text []byte) (e Entry, why string) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		_ = json.Unmarshal(text, &e) // its name, if that can be read
		var other *json.UnmarshalTypeError
		if !errors.As(err, &other) {
			return e, strings.TrimPrefix(err.Error(), "json: ")
		}
		kinds := map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false", reflect.Struct: "an object with name and use"}
		return e, fmt.Sprintf("%s is of the kind %q, and must be %s", cmp.Or(other.Field, "it"), other.Value, cmp.Or(kinds[other.Type.Kind()], "a whole number"))
	}
	return e, e.check()
}

// check says what is wrong with an entry, "" if nothing is.
func (e *Entry) check() string {
	for _, n := range []struct {
		key   string
		value int64
	}{{"bits", int64(e.Bits)}, {"download", e.Download}, {"memory", e.Memory}, {"context", int64(e.Context)}} {
		if n.value < 0 {
			return n.key + " is below 0"
		}
	}
	switch digest := strings.TrimPrefix(e.Digest, "sha256:"); {
	case e.Name == "":
		return "it has no name"
	case e.Use != ForCompletion && e.Use != ForSearch:
		return fmt.Sprintf("use is %q, not %s or %s", e.Use, ForCompletion, ForSearch)
	case e.URL != "" && e.SHA256 == "":
		return "a url wants the sha256 of its file"
	case e.Chat != "" && !known(e.Chat):
		return fmt.Sprintf("chat is %q, not one of %s", e.Chat, strings.Join(chatform.Names(), ", "))
	case model.InCloud(e.Name):
		return "it runs on other machines, and a catalogue is of local models"
	case e.SHA256 != "" && !download.IsSum(e.SHA256):
		return fmt.Sprintf("sha256 %q has not 64 small hexadecimal digits", e.SHA256)
	case strings.Trim(digest, "0123456789abcdef") != "" || len(digest) > download.SumDigits:
		return fmt.Sprintf("digest %q is no beginning of a sha256 in small hexadecimal digits", e.Digest)
	}
	if e.URL == "" {
		return ""
	}
	if err := (&download.File{URL: e.URL, SHA256: e.SHA256, Size: e.Download}).Check(); err != nil {
		return err.Error()
	}
	return ""
}

// Fetched is whether quarry may fetch the model: from an address or a library that the entry names, or as what has the sum
// that it names, since anything else fails its trial.
func (e *Entry) Fetched() bool { return e.URL != "" || e.Library || e.Digest != "" || e.SHA256 != "" }

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

// Refused is what is wrong with the user's own entry of a model, "" if there is none, or nothing is. Who fetched the model in
// spite of it would get another than that entry meant.
func (c *List) Refused(name string) string {
	if i := slices.IndexFunc(c.Wrong, func(f Fault) bool { return f.Name != "" && model.SameModel(f.Name, name) }); i >= 0 {
		return c.Wrong[i].Says
	}
	return ""
}

// Faults are what is left out, in words.
func (c *List) Faults() []string {
	list := []string{}
	for _, f := range c.Wrong {
		list = append(list, f.Says)
	}
	return list
}

// BySum are the entries whose file has this sha256: a user may name one file twice.
func (c *List) BySum(sum string) (list []Entry) {
	for _, e := range c.Models {
		if e.SHA256 == sum {
			list = append(list, e)
		}
	}
	return list
}

// Gigabytes writes a number of bytes as users know it.
func Gigabytes(n int64) string {
	switch {
	case n <= 0:
		return "0 MB"
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_500:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 999_500_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
