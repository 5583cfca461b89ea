// Package chatform knows how models are spoken to: where a system's words stand in their prompts, where a user's, and what a
// model's own answer begins behind. Ollama has that of the models of its library; of a file it knows it only where the
// template in there is near one of its own. A Form is what it is told then.
package chatform

import (
	"slices"
	"strings"
)

// A Form is a chat template as Ollama takes it, which is one of Go's text/template, and what ends a turn.
type Form struct {
	// Name is what a catalogue calls it.
	Name     string
	Template string
	Stops    []string
	// mark tells a model's own template, which is one of Jinja's, from those of other forms: what each of its turns
	// begins with.
	mark string
	// architectures are of files that may leave their template out, and tokens what their vocabulary has then.
	architectures, tokens []string
}

// tools asks for calls in the way that Granite 4 and Qwen 2.5 were trained for: definitions as JSON between <tools>, calls
// between <tool_call>.
const tools = `{{ if .System }}

{{ end }}You may call one or more of these tools. Their signatures stand between <tools></tools>, as JSON:
<tools>{{ range .Tools }}
{{ json . }}{{ end }}
</tools>

Write each call as JSON between <tool_call></tool_call>:
<tool_call>
{"name": <its name>, "arguments": <an object of its arguments>}
</tool_call>`

// turns is the template of models whose turns all look alike: before, the role, behind, the text, end and a new line. The results
// of tools come in a user's turn.
func turns(before, behind, end string) string {
	turn := func(role, text string) string { return before + role + behind + text + end + "\n" }
	calls := `{{ range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}`
	return `{{ if or .System .Tools }}` + turn("system", `{{ .System }}{{ if .Tools }}`+tools+`{{ end }}`) + `{{ end }}` +
		`{{ range .Messages }}` +
		`{{ if eq .Role "user" }}` + turn("user", `{{ .Content }}`) +
		`{{ else if eq .Role "assistant" }}` + turn("assistant", `{{ .Content }}`+calls) +
		`{{ else if eq .Role "tool" }}` + turn("user", "<tool_response>\n{{ .Content }}\n</tool_response>") +
		`{{ end }}{{ end }}` + before + "assistant" + behind
}

// forms are those that are known, of files and in catalogues.
var forms = []Form{
	{
		Name: "granite", Template: turns("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"), mark: "<|start_of_role|>",
		Stops:         []string{"<|start_of_role|>", "<|end_of_text|>"},
		architectures: []string{"granite", "granitehybrid", "granitemoe"}, tokens: []string{"<|start_of_role|>", "<|end_of_role|>"},
	},
	{
		Name: "chatml", Template: turns("<|im_start|>", "\n", "<|im_end|>"), mark: "<|im_start|>",
		Stops:         []string{"<|im_start|>", "<|im_end|>"},
		architectures: []string{"qwen2", "qwen3"}, tokens: []string{"<|im_start|>", "<|im_end|>"},
	},
	{
		Name: "llama3", mark: "<|start_header_id|>", Stops: []string{"<|start_header_id|>", "<|eot_id|>"},
		Template: `{{ range .Messages }}<|start_header_id|>{{ .Role }}<|end_header_id|>

{{ .Content }}<|eot_id|>{{ end }}<|start_header_id|>assistant<|end_header_id|>

`,
	},
	{ // which has no turn of a system's: its words stand before the user's first
		Name: "gemma", mark: "<start_of_turn>", Stops: []string{"<start_of_turn>", "<end_of_turn>"},
		Template: `{{ $system := .System }}{{ range .Messages }}{{ if eq .Role "user" }}<start_of_turn>user
{{ if $system }}{{ $system }}

{{ $system = "" }}{{ end }}{{ .Content }}<end_of_turn>
{{ else if eq .Role "assistant" }}<start_of_turn>model
{{ .Content }}<end_of_turn>
{{ end }}{{ end }}<start_of_turn>model
`,
	},
}

// Named is the form that a catalogue calls so.
func Named(name string) (Form, bool) {
	at := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name })
	if at < 0 {
		return Form{}, false
	}
	return forms[at], true
}

// Names are those of all forms, for who misspelt one.
func Names() (names []string) {
	for _, f := range forms {
		names = append(names, f.Name)
	}
	return names
}

// Of is the form of a file's model, the zero Form if none is known: by the file's own template, and where it has none by the
// architecture, if the vocabulary has the turns' tokens and nothing says that the model was never trained to chat.
func Of(about Header) Form {
	for _, f := range forms {
		if about.Template != "" && strings.Contains(about.Template, f.mark) {
			return f
		}
	}
	if about.Template != "" || about.isBase() {
		return Form{}
	}
	for _, f := range forms {
		has := func(token string) bool { return slices.Contains(about.Tokens, token) }
		if slices.Contains(f.architectures, about.Architecture) && has(f.tokens[0]) && has(f.tokens[1]) {
			return f
		}
	}
	return Form{}
}
