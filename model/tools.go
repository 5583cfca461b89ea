package model

import (
	"encoding/json"
	"strings"

	"github.com/ollama/ollama/api"
)

// mendTools writes the tool definitions in a rendered prompt as JSON. Ollama since 0.14 fills
// them into chat templates in Go's own format (ollama/ollama#14601), whether the template asks
// for a tool or for its function. A model that was trained on JSON cannot read that. A prompt
// without such text stays as it is.
func mendTools(prompt string, tools api.Tools) string {
	for _, t := range tools {
		head := "{" + t.Function.Name + " " + t.Function.Description + " {"
		start := strings.Index(prompt, head)
		if start < 0 {
			continue
		}
		end := start + len(head) + closing(prompt[start+len(head):], 2)
		var whole any = t.Function
		for _, around := range []string{"{" + t.Type + " <nil> ", "{" + t.Type + " "} {
			if strings.HasSuffix(prompt[:start], around) && strings.HasPrefix(prompt[end:], "}") {
				start, end, whole = start-len(around), end+1, t
				break
			}
		}
		definition, err := json.Marshal(whole)
		if err != nil {
			continue // it came from JSON
		}
		prompt = prompt[:start] + string(definition) + prompt[end:]
	}
	return prompt
}

// closing is where the depth-th bracket that is open at the beginning of s is closed, or s's
// length if nowhere. Brackets in strings do not count.
func closing(s string, depth int) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
