package catalogue_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/model"
	"quarry/model/catalogue"
)

func shipped(t *testing.T) catalogue.List {
	t.Helper()
	c, err := catalogue.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every model that quarry comes with can be asked for, and says what it costs.
func TestShippedCatalogue(t *testing.T) {
	c := shipped(t)
	bits := map[string][]int{}
	for _, e := range c.Models {
		if e.Bits == 0 || e.Context == 0 || e.Licence == "" || e.About == "" || e.Download == 0 || e.Memory <= e.Download {
			t.Errorf("%s lacks something, or takes less memory than it has bytes: %+v", e.Name, e)
		}
		if e.SHA256 != "" && (len(e.SHA256) != 64 || !e.Library) {
			t.Errorf("%s: %+v", e.Name, e)
		}
		family := e.Use
		if e.Use == catalogue.ForCompletion {
			family = e.Family
			if likeliest := (completion.Choice{}).Families(e.Name)[0].Name; likeliest != e.Family {
				t.Errorf("%s: the catalogue says family %s, its name %s", e.Name, e.Family, likeliest)
			}
		}
		bits[family] = append(bits[family], e.Bits)
	}
	for family, want := range map[string][]int{"granite": {4, 8, 4, 8}, "qwen2.5-coder": {4}, catalogue.ForSearch: {16}} {
		if !slices.Equal(bits[family], want) {
			t.Errorf("%s: bits %v, want %v", family, bits[family], want)
		}
	}
}

// The advice leaves a machine the memory that everything else on it needs, takes what is
// there before what would be fetched, and says two models only where both fit.
func TestAdvise(t *testing.T) {
	c := shipped(t)
	const gb = int64(1e9)
	fast := func(memory int64) catalogue.Machine {
		return catalogue.Machine{Memory: memory, Processors: 8, SIMD: "AVX2"}
	}
	has := func(names ...string) (list []model.Installed) {
		for _, n := range names {
			list = append(list, model.Installed{Name: n, Bytes: 4 * gb})
		}
		return list
	}
	both := catalogue.Wants{Completion: "granite4:micro", Search: "granite-embedding:30m"}
	for _, tt := range []struct {
		name    string
		machine catalogue.Machine
		budget  int64 // 0: the machine's own
		have    []model.Installed
		wants   catalogue.Wants
		want    string
		why     string
		search  string
	}{
		{"much memory", fast(64 * gb), 0, nil, both, "granite4.1:3b", "3.5 GB of the 25.6 GB that models may take here", "granite-embedding:30m"},
		{"a laptop", fast(16 * gb), 0, nil, both, "granite4.1:3b", "3.5 GB of the 6.4 GB", "granite-embedding:30m"},
		{"half of that", fast(8 * gb), 0, nil, both, "qwen2.5-coder:1.5b", "2.0 GB of the 3.2 GB", "granite-embedding:30m"},
		{"nothing fits", fast(2 * gb), 0, nil, both, "qwen2.5-coder:1.5b", "it is the smallest; it takes about 2.0 GB, more than the 800 MB", ""},
		{"one fits, both do not", fast(16 * gb), 4400 * 1e6, nil, both, "granite4.1:3b", "of the 3.5 GB", ""},
		{"unknown memory", fast(0), 0, nil, both, "granite4.1:3b", "how much memory this machine has is not known", "granite-embedding:30m"},
		{"few processors", catalogue.Machine{Memory: 64 * gb, Processors: 4, SIMD: "AVX2"}, 0, nil, both, "qwen2.5-coder:1.5b", "on 4 processors without a GPU a small model answers soonest", "granite-embedding:30m"},
		{"few processors and a GPU", catalogue.Machine{Memory: 64 * gb, Processors: 4, GPU: "an NVIDIA GPU"}, 0, nil, both, "granite4.1:3b", "it takes", "granite-embedding:30m"},
		{"the user's is there", fast(16 * gb), 0, has("qwen2.5-coder:1.5b", "granite4:micro"), both, "granite4:micro", "Ollama has it, your settings name it", "granite-embedding:30m"},
		{"another is there", fast(16 * gb), 0, has("llama3:8b", "qwen2.5-coder:1.5b"), both, "qwen2.5-coder:1.5b", "Ollama has it already", "granite-embedding:30m"},
		{"one that no catalogue names", fast(16 * gb), 0, has("llama3:8b", "work-coder:7b"), catalogue.Wants{Completion: "granite4:micro", Search: "granite-embedding:30m", Completes: []string{"work-coder:7b"}}, "work-coder:7b", "Ollama has it already, and it takes about 5.8 GB of the 6.4 GB", "granite-embedding:30m"},
		{"one that no catalogue names, beside one of it", fast(32 * gb), 0, has("work-coder:7b", "qwen2.5-coder:1.5b"), catalogue.Wants{Completes: []string{"work-coder:7b"}}, "qwen2.5-coder:1.5b", "Ollama has it already", "granite-embedding:30m"},
		{"one that no catalogue names and that does not fit", fast(8 * gb), 0, has("work-coder:7b"), catalogue.Wants{Completes: []string{"work-coder:7b"}}, "qwen2.5-coder:1.5b", "it takes about 2.0 GB of the 3.2 GB", "granite-embedding:30m"},
		{"what is there does not fit", fast(8 * gb), 0, has("granite4:micro"), both, "qwen2.5-coder:1.5b", "it takes about 2.0 GB of the 3.2 GB", "granite-embedding:30m"},
		{"the user's own is unknown and there", fast(32 * gb), 0, has("work:7b"), catalogue.Wants{Completion: "work:7b"}, "work:7b", "your settings name it, and it takes about 5.8 GB", "granite-embedding:30m"},
		{"the user's own completes nothing", fast(32 * gb), 0, has("llama3:8b"), catalogue.Wants{Completion: "llama3:8b", Unsuited: []string{"Llama3:8b"}}, "granite4.1:3b", "it takes about", "granite-embedding:30m"},
		{"and another is there", fast(32 * gb), 0, has("llama3:8b", "granite4:micro"), catalogue.Wants{Completion: "llama3:8b", Unsuited: []string{"llama3:8b"}}, "granite4:micro", "Ollama has it already", "granite-embedding:30m"},
		{"the user's own embeds", fast(32 * gb), 0, has("nomic-embed-text"), catalogue.Wants{Completion: "nomic-embed-text"}, "granite4.1:3b", "it takes about", "granite-embedding:30m"},
		{"and only its family says so", fast(32 * gb), 0, []model.Installed{{Name: "all-minilm", Bytes: gb, Family: "bert"}}, catalogue.Wants{Completion: "all-minilm"}, "granite4.1:3b", "it takes about", "granite-embedding:30m"},
		{"and does not fit", fast(8 * gb), 0, has("work:7b"), catalogue.Wants{Completion: "work:7b"}, "qwen2.5-coder:1.5b", "it takes about 2.0 GB", "granite-embedding:30m"},
		{"the user's embeds", fast(32 * gb), 0, has("nomic-embed-text"), catalogue.Wants{Search: "nomic-embed-text"}, "granite4.1:3b", "", "nomic-embed-text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			budget := tt.budget
			if budget == 0 {
				budget = tt.machine.Budget()
			}
			a := c.Advise(tt.machine, budget, tt.have, tt.wants)
			if a.Completion.Name != tt.want || !strings.Contains(a.Completion.Why, tt.why) || a.Search.Name != tt.search || a.Search.Why == "" {
				t.Errorf("%+v", a)
			}
			says := " suits this machine: "
			if tt.name == "nothing fits" {
				says = " comes nearest to fitting this machine: "
			}
			if got := a.Completion.Suits("this machine"); got != tt.want+says+a.Completion.Why {
				t.Error(got)
			}
			if installed := slices.ContainsFunc(tt.have, func(m model.Installed) bool { return m.Name == a.Completion.Name }); a.Completion.Installed != installed {
				t.Errorf("installed: %t", a.Completion.Installed)
			}
		})
	}
}

func TestThisMachine(t *testing.T) {
	m := catalogue.ThisMachine()
	if m.Memory < 0 || m.Processors != runtime.NumCPU() || !strings.Contains(m.String(), "processor") {
		t.Errorf("%+v: %s", m, m)
	}
	if got := (catalogue.Machine{Memory: 16e9}).Budget(); got != 8e9 {
		t.Errorf("of 16 GB models and quarry may take %d bytes, want half", got)
	}
	for m, want := range map[catalogue.Machine]string{
		{}: "an unknown amount of memory, 0 processors, no GPU found",
		{Memory: 16e9, Processors: 8, SIMD: "AVX2"}:     "16.0 GB of memory, 8 processors with AVX2, no GPU found",
		{Memory: 1e9, Processors: 1, GPU: "an AMD GPU"}: "1.0 GB of memory, 1 processor, an AMD GPU",
		{Memory: 9e8, Processors: 2, SIMD: "NEON"}:      "900 MB of memory, 2 processors with NEON, no GPU found",
	} {
		if m.String() != want {
			t.Errorf("%s, want %s", m, want)
		}
	}
}

// A user's own catalogue comes first, and a damaged one says what is wrong with it.
func TestOwnCatalogue(t *testing.T) {
	c, err := catalogue.Load([]byte(`{"version": 1, "models": [{"name": "ours:7b", "use": "completion", "memory": 1}, {"name": "granite4:micro", "use": "completion", "digest": "sha256:ab"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Models) != len(shipped(t).Models)+1 || c.Models[0].Name != "ours:7b" {
		t.Errorf("%d models, the first %s", len(c.Models), c.Models[0].Name)
	}
	if e, ok := c.Find("registry.ollama.ai/library/Granite4:MICRO"); !ok || e.Digest != "sha256:ab" {
		t.Errorf("%+v: the user's entry replaces the shipped one", e)
	}
	for text, says := range map[string]string{
		`{`:                            "no catalogue, line 1",
		`[]`:                           `no catalogue: write it as {"version": 1, "models": [...]}`,
		`null`:                         "no catalogue: write it as",
		`{"version": 1, "models": {}}`: "models is no list, write it as",
		`{"version": 2}`:               "version 2",
		`{}`:                           "version 0",
	} {
		if _, err := catalogue.Load([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// An entry that is wrong is named with what is, and costs only itself.
func TestWrongEntries(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for entry, says := range map[string]string{
		`{}`:                           "model 2 is left out: it has no name",
		`{"name": "x", "use": "chat"}`: `model 2 (x) is left out: use is "chat"`,
		`{"name": "x:cloud", "use": "completion"}`:                       "other machines",
		`{"name": "x", "use": "completion", "url": "https://a.example"}`: "wants the sha256",
		`{"name": "x", "use": "completion", "download": -1}`:             "download is below 0",
		`{"name": "x", "use": "completion", "memory": -1}`:               "memory is below 0",
		`{"name": "x", "use": "completion", "context": -1}`:              "context is below 0",
		`{"name": "x", "use": "completion", "bits": -1}`:                 "bits is below 0",
		`{"name": "x", "use": "completion", "download": "4 GB"}`:         "model 2 (x) is left out: download is of the kind \"string\", and must be a whole number",
		`{"name": 7, "use": "completion"}`:                               "name is of the kind \"number\", and must be a text",
		`{"name": "x", "use": "completion", "library": "yes"}`:           "library is of the kind \"string\", and must be true or false",
		`{"name": "x", "use": "completion", "sha": "aa"}`:                `model 2 (x) is left out: unknown field "sha"`,
		`[]`: "it is of the kind \"array\", and must be an object with name and use",
		`{"name": "good:latest", "use": "completion"}`:                                                                                 "it is there twice, and the first one counts",
		`{"name": "x", "use": "completion", "sha256": "` + strings.ToUpper(sum) + `"}`:                                                 "64 small hexadecimal digits",
		`{"name": "x", "use": "completion", "digest": "sha256:AB"}`:                                                                    "no beginning of a sha256",
		`{"name": "x", "use": "completion", "download": 1, "url": "http://a.example/x", "sha256": "` + sum + `"}`:                      "models come over https",
		`{"name": "x", "use": "completion", "url": "https://a.example/x", "sha256": "` + sum + `"}`:                                    "names no size",
		`{"name": "x", "use": "completion", "download": 1, "url": "https://a.example/x", "sha256": "` + strings.ToUpper(sum) + `"}`:    "64 small hexadecimal digits",
		`{"name": "x", "use": "completion", "download": 1, "url": "https://a.example/x", "sha256": "` + strings.Repeat("a", 63) + `"}`: "64 small hexadecimal digits",
	} {
		c, err := catalogue.Load([]byte(`{"version": 1, "models": [{"name": "good", "use": "completion", "library": true}, ` + entry + `, {"name": "last", "use": "search"}]}`))
		if err != nil || len(c.Wrong) != 1 || !strings.Contains(c.Wrong[0].Says, says) {
			t.Errorf("%s: %q, %v", entry, c.Wrong, err)
		}
		if len(c.Models) != len(shipped(t).Models)+2 || c.Models[0].Name != "good" || c.Models[1].Name != "last" {
			t.Errorf("%s costs others: %+v", entry, c.Models)
		}
	}
	c, err := catalogue.Load([]byte(`{"version": 1, "modells": [], "advice": {}, "models": [{"name": "granite4:micro", "use": "completion", "memory": -1}]}`))
	if e, ok := c.Find("granite4:micro"); err != nil || len(c.Wrong) != 2 || !strings.Contains(c.Faults()[0], `no key "modells"`) || !ok || e.SHA256 == "" || c.Refused("granite4:micro:latest") != "" || c.Refused("Granite4:micro") == "" || c.Refused("granite4.1:3b") != "" {
		t.Errorf("%q, %v, %+v: the shipped entry stays", c.Wrong, err, e)
	}
}

// What may be fetched from nowhere is recommended only where it is.
func TestWhatMayNotBeFetched(t *testing.T) {
	for entry, want := range map[string]string{`"about": ""`: "granite4.1:3b", `"library": true`: "ours:7b", `"digest": "sha256:ab"`: "ours:7b"} {
		c, err := catalogue.Load([]byte(`{"version": 1, "models": [{"name": "ours:7b", "use": "completion", "memory": 1, ` + entry + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		m := catalogue.Machine{Memory: 64e9, Processors: 8, SIMD: "AVX2"}
		if got := c.Advise(m, m.Budget(), nil, catalogue.Wants{}).Completion.Name; got != want {
			t.Errorf("%s: %s", entry, got)
		}
		if got := c.Advise(m, m.Budget(), []model.Installed{{Name: "ours:7b"}}, catalogue.Wants{}).Completion.Name; got != "ours:7b" {
			t.Errorf("%s: %s, although Ollama has it", entry, got)
		}
	}
}

// Sizes are in the unit in which they say something.
func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 MB", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 612_000: "612 kB", 999_499: "999 kB", 999_500: "1 MB", 45e6: "45 MB", 999_499_999: "999 MB", 999_500_000: "1.0 GB", 2_100_000_000: "2.1 GB",
	} {
		if got := catalogue.Gigabytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
