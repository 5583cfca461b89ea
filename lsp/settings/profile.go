package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// WithProfile is the defaults of a profile; a name of none has those of a user who has set
// nothing.
func WithProfile(name string) Settings {
	s := Default()
	for _, change := range profiles[name] {
		change.set(&s)
	}
	return s
}

// Merge applies layers over the defaults of the profile that they choose.
func Merge(layers func(s *Settings) []Problem) (Settings, []Problem) {
	s := Default()
	problems := layers(&s)
	if profiles[s.Profile] == nil {
		return s, problems
	}
	s = WithProfile(s.Profile)
	return s, layers(&s)
}

// Unasked says which setting keeps a model from being asked although the settings name it, and what to do about that; ""
// if none does.
func (s *Settings) Unasked(forSearch bool) string {
	key := ""
	switch {
	case !s.Ollama.Enabled && !WithProfile(s.Profile).Ollama.Enabled:
		return fmt.Sprintf("`ollama.enabled` is false (profile %s), so quarry does not ask yet: set that to true in your settings", s.Profile)
	case !s.Ollama.Enabled:
		key = "ollama.enabled"
	case forSearch && !s.Embedding.Enabled:
		key = "embedding.enabled"
	default:
		return ""
	}
	return fmt.Sprintf("`%s` is false, so quarry does not ask yet: set that to true in your settings", key)
}

// change is what a profile changes of the defaults, as the documentation writes it.
type change struct {
	says string
	set  func(*Settings)
}

var profiles = map[string][]change{
	"laptop": {
		{"ollama.keepAlive 5m", func(s *Settings) { s.Ollama.KeepAlive = Duration(5 * time.Minute) }},
		{"completion.candidates 1", func(s *Settings) { s.Completion.Candidates = 1 }},
		{"completion.debounce 400ms", func(s *Settings) { s.Completion.Debounce = Duration(400 * time.Millisecond) }},
		{"completion.contextTokens 512", func(s *Settings) { s.Completion.ContextTokens = 512 }},
		{"index.processorShare 50", func(s *Settings) { s.Index.ProcessorShare = 50 }},
	},
	"workstation": {
		{"ollama.keepAlive 8h", func(s *Settings) { s.Ollama.KeepAlive = Duration(8 * time.Hour) }},
		{"ollama.contextSize 16384", func(s *Settings) { s.Ollama.ContextSize = 16384 }},
		{"completion.candidates 5", func(s *Settings) { s.Completion.Candidates = 5 }},
		{"completion.prefixTokens 3072", func(s *Settings) { s.Completion.PrefixTokens = 3072 }},
		{"completion.contextTokens 2048", func(s *Settings) { s.Completion.ContextTokens = 2048 }},
		{"completion.maxTokens 256", func(s *Settings) { s.Completion.MaxTokens = 256 }},
		{"completion.twoRounds true", func(s *Settings) { s.Completion.TwoRounds = true }},
	},
	"model-free": {
		{"ollama.enabled false", func(s *Settings) { s.Ollama.Enabled = false }},
	},
}

// profileTable is what each profile changes, in Markdown.
func profileTable() string {
	var b strings.Builder
	b.WriteString("\n| `profile` | changes these defaults |\n|---|---|\n")
	for _, name := range []string{"laptop", "workstation", "model-free"} {
		var says []string
		for _, c := range profiles[name] {
			says = append(says, "`"+c.says+"`")
		}
		slices.Sort(says)
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.Join(says, ", "))
	}
	return b.String()
}
