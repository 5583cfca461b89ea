package settings

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
			name: "models of languages, good and bad",
			raw:  `{"completion":{"models":{"python":"a:1b","go":3,"":"b","rust":""}},"completion.models.c":"c:1b"}`,
			want: func(s *Settings) { s.Completion.Models = map[string]string{"python": "a:1b", "c": "c:1b"} },
			problems: []string{
				`completion.models: "" must have a text, has b`,
			},
		},
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

// A profile changes the defaults under all layers, and what a layer says still wins; a wrong one
// costs itself.
func TestProfiles(t *testing.T) {
	merged := func(layer string) (Settings, []Problem) {
		return Merge(func(s *Settings) []Problem { return s.Apply(UserFile, []byte(layer)) })
	}
	for name, changes := range profiles {
		s, problems := merged(`{"profile": "` + name + `"}`)
		want := WithProfile(name)
		want.Profile = name
		if diff := cmp.Diff(want, s); diff != "" || len(problems) != 0 || cmp.Equal(WithProfile(name), Default()) {
			t.Errorf("%s: %v\n%s", name, problems, diff)
		}
		for _, c := range changes { // what the documentation says is what is set
			key, value, _ := strings.Cut(c.says, " ")
			only := Default()
			if problems := only.ApplyEnvironment(func(name string) (string, bool) { return value, name == EnvironmentName(key) }); len(problems) != 0 {
				t.Errorf("%s: %v", c.says, problems)
			}
			set := Default()
			if c.set(&set); !cmp.Equal(only, set) || cmp.Equal(set, Default()) {
				t.Errorf("%s: %s", c.says, cmp.Diff(only, set))
			}
		}
	}
	s, _ := merged(`{"profile": "laptop", "completion": {"candidates": 4}}`)
	if s.Completion.Candidates != 4 || s.Index.ProcessorShare != 50 {
		t.Errorf("%+v", s)
	}
	s, problems := merged(`{"profile": "gaming", "completion": {"candidates": 4}}`)
	want := Default()
	want.Completion.Candidates = 4
	if diff := cmp.Diff(want, s); diff != "" || len(problems) != 1 || problems[0].Key != "profile" {
		t.Errorf("%v\n%s", problems, diff)
	}
}

// What the user leaves out stays left out, whatever a workspace says; and what widens reading
// or takes the machine's memory is not its to say.
func TestEditorMayNotWidenTheIndex(t *testing.T) {
	s := Default()
	s.Apply(UserFile, []byte(`{"index.exclude": ["private"]}`))
	problems := s.Apply(Editor, []byte(`{"index": {"exclude": ["b", "a[", "private"], "maxFileBytes": 60000000, "memoryMB": 9, "wideFolders": ["/"]}, "profile": "workstation", "memory.budgetMB": 90000}`))
	want := Default()
	want.Index.Exclude = []string{"b", "private"}
	var keys []string
	for _, p := range problems {
		keys = append(keys, p.Key)
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"index.exclude", "index.maxFileBytes", "index.memoryMB", "index.wideFolders", "memory.budgetMB", "profile"}, keys); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	s.Apply(Editor, []byte(`{"index.exclude": []}`))
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("an empty list takes in again (-want +got):\n%s", diff)
	}
}

// An exclamation mark re-includes in a .gitignore and is a letter in a list of globs: the entry
// counts, and who wrote it is told, unless another entry is no glob at all.
func TestGlobsReIncludeNothing(t *testing.T) {
	for _, key := range []string{"completion.disabledPaths", "index.exclude"} {
		s := Default()
		problems := s.Apply(UserFile, []byte(`{"`+key+`": ["out", "!out/kept", "\\!name"]}`))
		if len(problems) != 1 || problems[0].Key != key || !strings.Contains(problems[0].Reason, `"!out/kept" re-includes nothing`) || !strings.Contains(problems[0].Reason, `write "\\!out/kept"`) {
			t.Errorf("%s: %v", key, problems)
		}
		if list := append(s.Completion.DisabledPaths, s.Index.Exclude...); len(list) != 3 || !slices.Contains(list, "!out/kept") {
			t.Errorf("%s is %q", key, list)
		}
		for _, list := range []string{`["[", "!kept"]`, `["!kept", "["]`} {
			if problems := s.Apply(UserFile, []byte(`{"`+key+`": `+list+`}`)); len(problems) != 1 || !strings.Contains(problems[0].Reason, `"[" is not a glob`) {
				t.Errorf("%s, %s: %v", key, list, problems)
			}
		}
	}
}

// What the user's file or its profile forbids, no layer of the editor allows, but it may forbid
// more, and take that back; what the environment says wins over both.
func TestEditorMayNotAllowWhatTheUserForbids(t *testing.T) {
	merged := func(user, environment, value string, editor ...string) Settings {
		t.Helper()
		s, problems := Merge(func(s *Settings) []Problem {
			problems := s.Apply(UserFile, []byte(user))
			var layers [][]byte
			for _, layer := range editor {
				layers = append(layers, []byte(layer))
			}
			problems = append(problems, s.ApplyEditor(layers...)...)
			return append(problems, s.ApplyEnvironment(func(name string) (string, bool) { return value, name == EnvironmentName(environment) })...)
		})
		if len(problems) > 0 {
			t.Errorf("%s %q: %v", user, editor, problems)
		}
		return s
	}
	get := func(s Settings, key string) (value any) {
		walk(reflect.ValueOf(&s).Elem(), "", func(name string, v reflect.Value, _ reflect.StructTag) {
			if name == key {
				value = v.Interface()
			}
		})
		return value
	}
	tagged := map[string]bool{}
	d := Default()
	walk(reflect.ValueOf(&d).Elem(), "", func(key string, v reflect.Value, tag reflect.StructTag) {
		if tag.Get("merge") == "forbid" {
			tagged[key] = true
		}
	})
	check := func(what, key string, s Settings, want any) {
		t.Helper()
		if diff := cmp.Diff(want, get(s, key)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", key, what, diff)
		}
	}
	for _, key := range []string{"ollama.enabled", "completion.enabled", "index.enabled", "embedding.enabled", "stats.keep", "stats.trace"} {
		delete(tagged, key)
		no, yes := `{"`+key+`": false}`, `{"`+key+`": true}`
		check("the user says no, the editor yes", key, merged(no, "", "", yes, yes), false)
		check("the editor says no", key, merged(yes, "", "", no), false)
		check("the editor says no, where the user says nothing", key, merged(`{}`, "", "", no), false)
		check("the editor takes back its own no", key, merged(`{}`, "", "", no, yes), true)
		check("the editor takes back its own no, not the user's", key, merged(no, "", "", no, yes), false)
		check("the environment says yes", key, merged(no, key, "true", no), true)
		check("the environment says no", key, merged(yes, key, "false", yes), false)
	}
	for _, key := range []string{"completion.disabledLanguages", "completion.disabledPaths"} {
		delete(tagged, key)
		list := func(list string) string { return `{"` + key + `": [` + list + `]}` }
		check("the editor's list is empty", key, merged(list(`"b", "a"`), "", "", list(``)), []string{"b", "a"})
		check("the editor has more", key, merged(list(`"b", "a"`), "", "", list(`"c", "b"`)), []string{"b", "a", "c"})
		check("the user has none", key, merged(`{}`, "", "", list(`"c"`), list(`"b"`)), []string{"b"})
		check("the editor says nothing", key, merged(list(`"b"`), "", "", `{}`), []string{"b"})
		check("the environment", key, merged(list(`"b"`), key, "d", list(`"c"`)), []string{"d"})
	}
	if len(tagged) > 0 {
		t.Errorf("no case for %v", tagged)
	}
	const key, yes = "ollama.enabled", `{"ollama": {"enabled": true}}`
	check("the profile says no", key, merged(`{"profile": "model-free"}`, "", "", yes), false)
	check("the profile of the environment says no", key, merged(`{}`, "profile", "model-free", yes), false)
	check("the user allows what the profile does not", key, merged(`{"profile": "model-free", "ollama.enabled": true}`, "", "", yes), true)
}

// A wrong value of any setting, whichever, costs that setting alone: all others apply, in the same
// file.
func TestAWrongValueCostsOnlyItself(t *testing.T) {
	// good is a value other than the default, as JSON.
	good := map[string]any{}
	d := Default()
	walk(reflect.ValueOf(&d).Elem(), "", func(key string, v reflect.Value, tag reflect.StructTag) {
		switch v.Interface().(type) {
		case Duration:
			good[key] = "7m0s"
		case bool:
			good[key] = !v.Bool()
		case int:
			good[key] = v.Int() + 1
			if n, err := strconv.ParseInt(tag.Get("max"), 10, 64); err == nil && v.Int()+1 > n {
				good[key] = n - 1
			}
		case float64:
			good[key] = v.Float() + 0.05
			if n, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil && v.Float()+0.05 > n {
				good[key] = n - 0.05
			}
		case []string:
			good[key] = []string{"a", "b", "c"}
		case map[string]string:
			good[key] = map[string]string{"python": "a:1b"}
		case string:
			good[key] = "other"
			if enum := tag.Get("enum"); enum != "" {
				names := strings.Split(enum, ",")
				good[key] = names[len(names)-1]
			}
		default:
			t.Fatalf("%s is of type %s, which this test does not know", key, v.Type())
		}
	})
	with := func(values map[string]any) (Settings, []Problem) {
		raw, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		return Merge(func(s *Settings) []Problem { return s.Apply(UserFile, raw) })
	}
	all, problems := with(good)
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	plain := WithProfile(all.Profile) // what a setting is that says nothing
	for key := range good {
		for _, wrong := range []any{map[string]any{"no": []any{1}}, []any{map[string]any{}}, json.Number("1e999")} {
			values := maps.Clone(good)
			values[key] = wrong
			got, problems := with(values)
			if key == "profile" {
				got.Profile = all.Profile // whose defaults none of the others needs: all are set
			}
			if len(problems) == 0 || !strings.HasPrefix(problems[0].Key, key) {
				t.Errorf("%s: %v gives the problems %v", key, wrong, problems)
			}
			want := all
			var from, to reflect.Value
			find := func(s *Settings) (found reflect.Value) {
				walk(reflect.ValueOf(s).Elem(), "", func(name string, v reflect.Value, _ reflect.StructTag) {
					if name == key {
						found = v
					}
				})
				return found
			}
			if key != "profile" {
				from, to = find(&plain), find(&want)
				to.Set(from)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", key, wrong, diff)
			}
		}
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
		`{"completion.models":{"python":"m:cloud"},"completion.models.go":"n"}`,
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
		"QUARRY_COMPLETION_MODELS":             "python=a:1b,go=b",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	got := Default()
	problems := got.ApplyEnvironment(lookup)

	want := Default()
	want.Model = "tiny"
	want.Ollama.URL, want.Ollama.AllowRemote, want.Ollama.KeepAlive = "localhost:1", true, Duration(5*time.Minute)
	want.Completion.MaxTokens = 32
	want.Completion.Models = map[string]string{"python": "a:1b", "go": "b"}
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

// A key with a slip of a letter is answered with the one that is meant.
func TestSuggestion(t *testing.T) {
	for key, want := range map[string]string{
		"index.exlude": "index.exclude", "index.exxclude": "index.exclude", "index.excldue": "index.exclude", "index.wxclude": "index.exclude", "modle": "model", "Model": "model", "mdel": "model", "index.excluded": "index.exclude",
		"index.elude": "", "zzzz": "", "abc": "",
	} {
		var s Settings
		problems := s.Apply(UserFile, []byte(`{"`+key+`": 1}`))
		if len(problems) != 1 {
			t.Fatalf("%s: %v", key, problems)
		}
		if _, got, _ := strings.Cut(problems[0].Reason, "did you mean "); strings.Trim(got, `"?`) != want {
			t.Errorf("%s: %s, want %q", key, problems[0].Reason, want)
		}
	}
}

// Commas part the lists of the environment, and those within the braces of a glob are its own.
func TestListsOfTheEnvironment(t *testing.T) {
	for text, want := range map[string][]string{
		"*.{pem,key}":             {"*.{pem,key}"},
		"*.{pem,key}, private,":   {"*.{pem,key}", "private"},
		"a{b,{c,d}}e,f":           {"a{b,{c,d}}e", "f"},
		"[a,b].go,c":              {"[a,b].go", "c"},
		`a\,b,\{c,d`:              {`a\,b`, `\{c`, "d"},
		"[{].go,*.{pem,key}":      {"[{].go", "*.{pem,key}"},
		"*.{pem,key,private, .go": {"*.{pem", "key", "private", ".go"},
	} {
		if diff := cmp.Diff(want, elements(text, true)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	var s Settings
	if problems := s.ApplyEnvironment(func(name string) (string, bool) {
		return map[string]string{"QUARRY_INDEX_EXCLUDE": "*.{pem,key}, private", "QUARRY_COMPLETION_MODELS": "go=a:1b, rust=b"}[name], true
	}); len(problems) > 0 {
		t.Error(problems)
	}
	if want := []string{"*.{pem,key}", "private"}; !slices.Equal(s.Index.Exclude, want) || s.Completion.Models["rust"] != "b" {
		t.Errorf("%q, %q", s.Index.Exclude, s.Completion.Models)
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

// Settings of a repository take no memory by their length: a text that stands in each request is
// bounded, what is said of a value is short, and long lists take linear work.
func TestSettingsOfAnyLength(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, layer := range []string{
		`{"embedding": {"documentPrefix": "` + long + `"}}`,
		`{"embedding.queryPrefix": "` + long + `"}`,
		`{"completion": {"templateTags": ["` + long + `", "b", "c"]}}`,
		`{"completion": {"templateTags": {"a": "` + long + `"}}}`,
		`{"completion": {"disabledLanguages": ["` + long + `"]}}`,
		`{"completion": {"disabledPaths": ["[` + long + `"]}}`,
		`{"completion": {"template": "` + long + `"}}`,
		`{"index": {"processorShare": "` + long + `"}}`,
		`{"` + long + `": 1}`,
	} {
		s := Default()
		problems := s.ApplyEditor([]byte(layer))
		if len(problems) != 1 || len(problems[0].String()) > 600 || !utf8.ValidString(problems[0].String()) {
			t.Errorf("%.60s: %d problems, %.300v", layer, len(problems), problems)
		}
		if d := Default(); !reflect.DeepEqual(s.Embedding, d.Embedding) || len(s.Completion.TemplateTags) > 0 {
			t.Errorf("%.60s is taken", layer)
		}
	}
	s := Default()
	if problems := s.ApplyEditor([]byte(`{"embedding": {"documentPrefix": "` + long[:mostText] + `"}}`)); len(problems) > 0 || len(s.Embedding.DocumentPrefix) != mostText {
		t.Errorf("%d bytes are refused: %.300v", mostText, problems)
	}
	unknown := map[string]int{}
	for i := range 50_000 {
		unknown["k"+strconv.Itoa(i)] = i
	}
	made, err := json.Marshal(unknown)
	if err != nil {
		t.Fatal(err)
	}
	if told := Ignored(s.ApplyEditor(made)); strings.Count(told, "\n") != 31 || !strings.HasSuffix(told, "\nand 49970 more") {
		t.Errorf("the user is told %.3000s", told)
	}

	// Lists are read in linear time, and their first entries count: each file was held against each of
	// 200,000 globs, which took 8 ms of the processor.
	list := make([]string, 200_000)
	for i := range list {
		list[i] = "l" + strconv.Itoa(i/2)
	}
	raw, err := json.Marshal(map[string]any{
		"completion": map[string]any{"disabledLanguages": list, "disabledPaths": list}, "index": map[string]any{"exclude": list},
	})
	if err != nil {
		t.Fatal(err)
	}
	s = Default()
	s.Completion.DisabledLanguages = []string{"own", "l7"}
	problems := s.ApplyEditor(raw)
	if len(problems) != 3 || problems[0].String() != "completion.disabledLanguages: it has 200000 entries, of which the first 20000 count" {
		t.Errorf("the user is told %v", problems)
	}
	const left = mostEntries / 2 // without those that stand twice
	if c := s.Completion; len(c.DisabledLanguages) != left+1 || c.DisabledLanguages[1] != "l7" || len(c.DisabledPaths) != left || len(s.Index.Exclude) != left {
		t.Errorf("%d languages, %d paths, %d excluded", len(c.DisabledLanguages), len(c.DisabledPaths), len(s.Index.Exclude))
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
