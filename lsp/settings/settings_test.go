package settings

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

func TestApply(t *testing.T) {
	tests := []struct {
		name     string
		src      Source
		raw      string
		want     func(*Settings)
		problems []string
	}{
		{name: "nothing", raw: ``},
		{name: "null", raw: `null`},
		{
			name: "nested",
			raw:  `{"model":"m","completion":{"enabled":false,"maxTokens":64,"disabledLanguages":["sql"]},"ollama":{"keepAlive":"-1s"}}`,
			want: func(s *Settings) {
				s.Model, s.Completion.Enabled, s.Completion.MaxTokens = "m", false, 64
				s.Completion.DisabledLanguages = []string{"sql"}
				s.Ollama.KeepAlive = Duration(-time.Second)
			},
		},
		{
			name: "under quarry, dotted, null means unset",
			raw:  `{"quarry":{"completion.temperature":0.5,"model":null,"$schema":"x"}}`,
			want: func(s *Settings) { s.Completion.Temperature = 0.5 },
		},
		{name: "null under quarry", raw: `{"quarry":null}`},
		{
			name: "among other servers' settings, with the prefix",
			raw:  `{"editor":{"x":1},"quarry":{"quarry.completion.maxTokens":5}}`,
			want: func(s *Settings) { s.Completion.MaxTokens = 5 },
		},
		{
			name: "bad values keep the default and hide nothing",
			raw:  `{"model":3,"completion":{"maxTokens":1.5,"topP":7,"enabled":"yes","disabledPaths":["a",1]},"logLevel":"loud","ollama":4}`,
			problems: []string{
				`completion.disabledPaths: must be a list of strings, has 1`,
				`completion.enabled: must be true or false, is yes`,
				`completion.maxTokens: 1.5 is not a whole number`,
				`completion.topP: 7 is above the greatest value 1`,
				`logLevel: "loud" is not one of debug, info, warn, error`,
				`model: must be a string, is 3`,
				`ollama: must be an object`,
			},
		},
		{
			name:     "a bad glob costs itself",
			raw:      `{"completion":{"disabledPaths":["secrets","a[","*.{go,py}"]}}`,
			want:     func(s *Settings) { s.Completion.DisabledPaths = []string{"secrets", "*.{go,py}"} },
			problems: []string{`completion.disabledPaths: "a[" is not a glob: [ and { need their closing brackets`},
		},
		{
			name: "unknown keys",
			raw:  `{"Model":"m","completions":{},"ollama":{"keepAlive":"soon","zzz":1}}`,
			problems: []string{
				`Model: no such setting; did you mean "model"?`,
				`completions: no such setting; did you mean "completion"?`,
				`ollama.keepAlive: "soon" is not a duration such as "30m"`,
				`ollama.zzz: no such setting`,
			},
		},
		{name: "not an object", raw: `[1]`, problems: []string{"settings are not a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}"}},
		{
			name: "the user may name an endpoint",
			raw:  `{"ollama":{"url":"http://10.0.0.1:1","allowRemote":true}}`,
			want: func(s *Settings) { s.Ollama.URL, s.Ollama.AllowRemote = "http://10.0.0.1:1", true },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want, got := Default(), Default()
			if tt.want != nil {
				tt.want(&want)
			}
			var problems []string
			for _, p := range got.Apply(tt.src, []byte(tt.raw)) {
				problems = append(problems, p.String())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// A workspace can carry editor settings, so they must not redirect code.
func TestEditorMayNotNameAnEndpointOrAModel(t *testing.T) {
	for _, raw := range []string{
		`{"model":"qwen3-coder:480b-cloud","embedding":{"model":"qwen3-embedding:cloud"}}`,
		`{"quarry.model":"m","quarry":{"model":"m","reranker.model":"m"}}`,
		`{"ollama":{"url":"http://10.0.0.1:1","allowRemote":true}}`,
		`{"ollama.url":"http://10.0.0.1:1","ollama.allowRemote":true}`,
		`{"quarry":{"ollama.url":"http://10.0.0.1:1","ollama":{"allowRemote":true}}}`,
		`{"ollama":{"keepAlive":"-1s","contextSize":131072}}`, // memory of the machine, for good
	} {
		got := Default()
		problems := got.Apply(Editor, []byte(raw))
		if diff := cmp.Diff(Default(), got); diff != "" {
			t.Errorf("%s changed settings (-want +got):\n%s", raw, diff)
		}
		if len(problems) != 2 || !strings.Contains(problems[0].Reason, "settings.json") {
			t.Errorf("%s: problems %v, want two that name the user's file", raw, problems)
		}
	}
}

func TestEnvironment(t *testing.T) {
	env := map[string]string{
		"OLLAMA_HOST":                          "localhost:1",
		"QUARRY_MODEL":                         "tiny",
		"QUARRY_COMPLETION_MAX_TOKENS":         "32",
		"QUARRY_COMPLETION_TOP_P":              "x",
		"QUARRY_COMPLETION_TEMPERATURE":        "NaN",
		"QUARRY_COMPLETION_DISABLED_LANGUAGES": "sql,yaml",
		"QUARRY_OLLAMA_ALLOW_REMOTE":           "true",
		"QUARRY_OLLAMA_KEEP_ALIVE":             "5m",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	got := Default()
	problems := got.ApplyEnvironment(lookup)

	want := Default()
	want.Model = "tiny"
	want.Ollama.URL, want.Ollama.AllowRemote, want.Ollama.KeepAlive = "localhost:1", true, Duration(5*time.Minute)
	want.Completion.MaxTokens = 32
	want.Completion.DisabledLanguages = []string{"sql", "yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Problem{
		{"QUARRY_COMPLETION_TEMPERATURE", "must be a number"},
		{"QUARRY_COMPLETION_TOP_P", `"x" is not a number`},
	}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}

	env["QUARRY_OLLAMA_URL"] = "http://127.0.0.1:2"
	got.ApplyEnvironment(lookup)
	if got.Ollama.URL != "http://127.0.0.1:2" {
		t.Errorf("QUARRY_OLLAMA_URL does not override OLLAMA_HOST: %s", got.Ollama.URL)
	}
}

func TestEnvironmentName(t *testing.T) {
	for key, want := range map[string]string{
		"model":             "QUARRY_MODEL",
		"ollama.url":        "QUARRY_OLLAMA_URL",
		"completion.topP":   "QUARRY_COMPLETION_TOP_P",
		"ollama.keepAlive":  "QUARRY_OLLAMA_KEEP_ALIVE",
		"completion.someID": "QUARRY_COMPLETION_SOME_ID",
	} {
		if got := EnvironmentName(key); got != want {
			t.Errorf("EnvironmentName(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	s := Default()
	if problems := s.ApplyFile(path); problems != nil {
		t.Errorf("a missing file is a problem: %v", problems)
	}
	if err := os.WriteFile(path, []byte(`{"model":"m","nope":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	problems := s.ApplyFile(path)
	if s.Model != "m" || len(problems) != 1 || !strings.Contains(problems[0].Reason, "settings.json") {
		t.Errorf("model %q, problems %v; want m and one that names the file", s.Model, problems)
	}
}

// The documents that are generated from the struct are current.
func TestDocumentsAreCurrent(t *testing.T) {
	table := filepath.Join("..", "..", "docs", "settings.md")
	schema := filepath.Join("..", "..", "docs", "settings.schema.json")
	const begin, end = "<!-- generated: begin -->\n", "<!-- generated: end -->"
	have, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(have), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the markers of the generated table", table)
	}
	for path, want := range map[string][]byte{
		table:  []byte(head + begin + Table() + end + tail),
		schema: Schema(),
	} {
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not current (%v): run `go test ./lsp/settings -update`", path, err)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add(`{"completion":{"maxTokens":1e99}}`)
	f.Add(`{"ollama.url":"x","":{}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		s := Default()
		s.Apply(Editor, []byte(raw))
		d := Default()
		if s.Ollama.URL != d.Ollama.URL || s.Ollama.AllowRemote {
			t.Fatalf("%s changed the endpoint to %+v", raw, s.Ollama)
		}
		if s.Completion.MaxTokens < 1 || s.Completion.Temperature < 0 {
			t.Fatalf("%s went out of range: %+v", raw, s.Completion)
		}
	})
}
