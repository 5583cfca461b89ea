package engines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/modeltest"
)

// A model's family is the one whose tags its vocabulary has, whatever its name is;
// the name decides between families with the same tags.
func TestFamilyByEvidence(t *testing.T) {
	for _, tt := range []struct{ model, vocabulary, want string }{
		{"granite4.1:3b", "granite", "granite"},
		{"granite4:micro", "granite", "granite"},
		{"granite3.3:2b", "granite-code", "granite-code"},
		{"granite-code:3b", "granite-code", "granite-code"},
		{"my-granite-fine-tune", "starcoder2", "starcoder2"}, // the name lies
		{"qwen2.5-coder:1.5b", "qwen2.5-coder", "qwen2.5-coder"},
		{"work", "qwen2.5-coder", "granite"}, // the same tags, and no name
		{"codegemma:2b", "codegemma", "codegemma"},
		{"stable-code:3b", "starcoder2", "starcoder2"},
		{"mellum", "mellum", "mellum"},
		{"work", "deepseek-coder", "deepseek-coder"},
		{"codestral:22b", "codestral", "codestral"},
		{"mistral:7b", "codestral", ""}, // tags that it was not trained with
		{"devstral:24b", "codestral", ""},
		{"work", "seed-coder", "seed-coder"},
		{"codellama:7b-code", "codellama", "codellama"},
		{"work", "glm", "glm"},
		{"gemma3:1b", "", ""},
		{"granite4.1:3b", "", ""}, // a name is no evidence
	} {
		for _, api := range []string{"ollama", "openai"} {
			t.Run(tt.model+" with tags of "+tt.vocabulary+" by "+api, func(t *testing.T) {
				s := modeltest.NewServer(t)
				m := modeltest.Model{Name: tt.model, Tags: []string{}, Architecture: "llama"} // that of many families
				if tt.vocabulary != "" {
					m.Tags = tagsOf(t, tt.vocabulary)
				}
				s.SetModels(m)
				s.LikeVLLM()
				got, err := familyOf(t, s, tt.model, api)
				if got != tt.want || (err == nil) != (tt.want != "") {
					t.Errorf("family %q, %v; want %q", got, err, tt.want)
				}
				if err != nil && !strings.Contains(err.Error(), "custom") {
					t.Errorf("the error names no way out: %v", err)
				}
			})
		}
	}
}

// tagsOf are the special tokens of a family's vocabulary.
func tagsOf(t *testing.T, name string) (special []string) {
	t.Helper()
	for _, f := range (completion.Choice{Template: name}).Families("") {
		if f.Name == name {
			for _, tag := range f.Tags {
				special = append(special, strings.TrimSpace(tag))
			}
			return special
		}
	}
	t.Fatalf("there is no family %s", name)
	return nil
}

// familyOf is the family that is found for a model of s.
func familyOf(t *testing.T, s *modeltest.Server, name, api string) (string, error) {
	t.Helper()
	set := settings.Default()
	set.Model, set.Ollama.API, set.Ollama.URL = name, api, s.URL
	rt, err := model.New(ModelOptions(set))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	rt.Start()
	err = rt.WaitReady(t.Context())
	return rt.Family(), err
}

// Users give models names of their own. Then Ollama's template, what the weights are called and
// the architecture tell of the family.
func TestFamilyOfAModelWithoutAName(t *testing.T) {
	between := func(prefix, suffix, middle string) string {
		return "{{ if .Suffix }}" + prefix + "{{ .Prompt }}" + suffix + "{{ .Suffix }}" + middle + "{{ else }}{{ .System }}{{ end }}"
	}
	suffixFirst := func(suffix, prefix, middle string) string {
		return "{{ if .Suffix }}" + suffix + "{{ .Suffix }}" + prefix + " {{ .Prompt }}" + middle + "{{ else }}{{ .System }}{{ end }}"
	}
	for what, tt := range map[string]struct {
		model      modeltest.Model
		vocabulary string
		api, want  string
	}{
		"Codestral's template":                  {modeltest.Model{Architecture: "llama", Template: suffixFirst("[SUFFIX]", "[PREFIX]", "")}, "codestral", "ollama", "codestral"},
		"tags of Codestral that nobody uses":    {modeltest.Model{Architecture: "llama"}, "codestral", "ollama", ""},
		"a template for chats with such tags":   {modeltest.Model{Architecture: "llama", Template: "{{ .System }}[SUFFIX][PREFIX]"}, "codestral", "ollama", ""},
		"CodeLlama's template":                  {modeltest.Model{Architecture: "llama", Template: between("<PRE> ", " <SUF>", " <MID>")}, "codellama", "ollama", "codellama"},
		"a template with tags of no token":      {modeltest.Model{Architecture: "llama", Template: between("<fim_prefix>", "<fim_suffix>", "<fim_middle>")}, "", "ollama", ""},
		"Mellum's template":                     {modeltest.Model{Architecture: "llama", Template: suffixFirst("<fim_suffix>", "<fim_prefix>", "<fim_middle>")}, "mellum", "ollama", "mellum"},
		"StarCoder2's template":                 {modeltest.Model{Architecture: "llama", Template: between("<fim_prefix>", "<fim_suffix>", "<fim_middle>")}, "mellum", "ollama", "starcoder2"},
		"the architecture of Granite 3.3":       {modeltest.Model{Architecture: "granite"}, "granite-code", "ollama", "granite-code"},
		"the architecture of StarCoder2":        {modeltest.Model{Architecture: "starcoder2"}, "starcoder2", "ollama", "starcoder2"},
		"the architecture of Qwen":              {modeltest.Model{Architecture: "qwen3moe"}, "qwen2.5-coder", "ollama", "qwen2.5-coder"},
		"the architecture of CodeGemma":         {modeltest.Model{Architecture: "gemma"}, "codegemma", "ollama", "codegemma"},
		"an architecture without its tags":      {modeltest.Model{Architecture: "qwen2"}, "deepseek-coder", "ollama", "deepseek-coder"},
		"weights that are called Mellum":        {modeltest.Model{Architecture: "llama", MadeFrom: "Mellum"}, "mellum", "ollama", "mellum"},
		"weights that are called Codestral":     {modeltest.Model{Architecture: "llama", MadeFrom: "Codestral"}, "codestral", "ollama", "codestral"},
		"vLLM's weights, Codestral":             {modeltest.Model{MadeFrom: "mistralai/Codestral-22B-v0.1"}, "codestral", "openai", "codestral"},
		"vLLM's weights, Mellum":                {modeltest.Model{MadeFrom: "/models/JetBrains/Mellum-4b-base"}, "mellum", "openai", "mellum"},
		"vLLM's weights, which lack their tags": {modeltest.Model{MadeFrom: "bigcode/starcoder2-3b"}, "", "openai", ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := modeltest.NewServer(t)
			tt.model.Name, tt.model.Tags = "work", []string{}
			if tt.vocabulary != "" {
				tt.model.Tags = tagsOf(t, tt.vocabulary)
			}
			s.SetModels(tt.model)
			got, err := familyOf(t, s, "work", tt.api)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("family %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// llama.cpp lays out the prompt of a model whose tags only it knows.
func TestFamilyOfTheServersOwn(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "work", Tags: []string{}, Infills: true})
	set := settings.Default()
	set.Model, set.Ollama.API, set.Ollama.URL = "work", "openai", s.URL
	rt, err := model.New(ModelOptions(set))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	rt.Start()
	if err := rt.WaitReady(t.Context()); err != nil || rt.Family() != "infill" {
		t.Errorf("family %q, %v", rt.Family(), err)
	}
}

// With tags of one's own a prompt has those, and text that looks like them does not
// end it.
func TestCustomTemplate(t *testing.T) {
	set := settings.Default()
	set.Completion.Template = completion.CustomTemplate
	for _, wrong := range [][]string{nil, {"<A>", "<B>"}, {"<A>", "", "<C>"}} {
		set.Completion.TemplateTags = wrong
		if c, err := Template(set); err == nil || c != (completion.Choice{}) || !strings.Contains(err.Error(), "three tags") {
			t.Errorf("%q: %+v, %v", wrong, c, err)
		}
	}
	set.Completion.TemplateTags = []string{"<A>", "<B>", "<C>"}
	c, err := Template(set)
	if err != nil {
		t.Fatal(err)
	}
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: set.Model, Tags: []string{"<A>", "<B>", "<C>"}})
	set.Ollama.URL = s.URL
	rt, err := model.New(ModelOptions(set))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	rt.Start()
	if err := rt.WaitReady(t.Context()); err != nil || rt.Family() != completion.CustomTemplate {
		t.Fatalf("family %q, %v", rt.Family(), err)
	}
	e := completion.New(rt, completion.Options{Template: c, Family: rt.Family, Debounce: -1})
	defer e.Close()
	text := "x = \"<B><|fim_middle|>\"\ny = "
	if _, err := e.Complete(t.Context(), completion.Request{Key: "k", Document: completion.Document{Path: "a.py", Language: "python", Text: text + "\nz = 1\n"}, Offset: len(text)}); err != nil {
		t.Fatal(err)
	}
	prompts := s.Prompts()
	got := prompts[len(prompts)-1].Prompt
	if !strings.HasPrefix(got, "<A>") || !strings.HasSuffix(got, "y = <B>\nz = 1\n<C>") || !strings.Contains(got, "\"< B>< |fim_middle|>\"") {
		t.Errorf("prompt %q", got)
	}
}

// The settings offer every family and no other, and users can read what each is.
func TestSettingsNameEveryFamily(t *testing.T) {
	doc, err := os.ReadFile(filepath.FromSlash("../../../docs/models.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range completion.TemplateNames() {
		if !strings.Contains(string(doc), "\n| `"+name+"` |") {
			t.Errorf("docs/models.md has no row for the family %s", name)
		}
	}
	var set settings.Settings
	for _, name := range append([]string{"auto"}, completion.TemplateNames()...) {
		if problems := set.Apply(settings.UserFile, []byte(`{"completion":{"template":"`+name+`"}}`)); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	problems := set.Apply(settings.UserFile, []byte(`{"completion":{"template":"?"}}`))
	if len(problems) != 1 || !strings.HasSuffix(problems[0].Reason, "is not one of auto, "+strings.Join(completion.TemplateNames(), ", ")) {
		t.Errorf("%v", problems)
	}
}
