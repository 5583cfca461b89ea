package model

import (
	"encoding/json"
	"strings"
	"testing"
	"text/template"

	"github.com/ollama/ollama/api"
)

// What Ollama 0.17.4 fills into templates (template/template.go): structures that
// print themselves as Go does, but for the properties.
type (
	filledTool struct {
		Type     string         `json:"type"`
		Items    any            `json:"items,omitempty"`
		Function filledFunction `json:"function"`
	}
	filledFunction struct {
		Name        string           `json:"name"`
		Description string           `json:"description"`
		Parameters  filledParameters `json:"parameters"`
	}
	filledParameters struct {
		Type       string           `json:"type"`
		Defs       any              `json:"$defs,omitempty"`
		Items      any              `json:"items,omitempty"`
		Required   []string         `json:"required,omitempty"`
		Properties filledProperties `json:"properties"`
	}
	filledProperties map[string]any
)

func (p filledProperties) String() string {
	b, _ := json.Marshal(map[string]any(p))
	return string(b)
}

const twoTools = `[
	{"type":"function","function":{"name":"read_file","description":"Read {lines} of a \"file\".","parameters":{"type":"object",
	"required":["path"],"properties":{"path":{"type":"string","description":"a \\ and a } in it"},"start":{"type":"integer"}}}}},
	{"type":"function","function":{"name":"list","description":"","parameters":{"type":"object","properties":{}}}}]`

// What Ollama makes of the ways in which templates ask for tools is
// JSON once it is mended, and the rest of the prompt stays.
func TestMendTools(t *testing.T) {
	var tools api.Tools
	if err := json.Unmarshal([]byte(twoTools), &tools); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"function": `{{ range .Tools }}{"type": "function", "function": {{ .Function }}}` + "\n{{ end }}rest {x}",
		"tool":     `{{ range .Tools }}{{ . }}` + "\n{{ end }}rest {x}",
		"JSON":     `{{ range .Tools }}{{ json . }}` + "\n{{ end }}rest {x}",
	} {
		var filled []filledTool
		if err := json.Unmarshal([]byte(twoTools), &filled); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		functions := template.FuncMap{"json": func(v any) string { text, _ := json.Marshal(v); return string(text) }}
		if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&b, map[string]any{"Tools": filled}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(mendTools(b.String(), tools), "\n")
		if len(lines) != 3 || lines[2] != "rest {x}" {
			t.Fatalf("%s: %q", name, lines)
		}
		for i, line := range lines[:2] {
			var got api.Tool
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
			want, _ := json.Marshal(tools[i])
			if again, _ := json.Marshal(got); string(again) != string(want) {
				t.Errorf("%s:\n%s\nwant\n%s", name, again, want)
			}
		}
	}
}

func TestMendToolsLeavesTheRest(t *testing.T) {
	var tools api.Tools
	if err := json.Unmarshal([]byte(twoTools), &tools); err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{"", "{list} and {read_file x", `{list  {object`, `{list  {"a}`} {
		if got := mendTools(prompt, tools); strings.HasPrefix(prompt, "{list  {") {
			if !json.Valid([]byte(got)) { // cut off in the middle
				t.Errorf("%q became %q", prompt, got)
			}
		} else if got != prompt {
			t.Errorf("%q became %q", prompt, got)
		}
	}
}
