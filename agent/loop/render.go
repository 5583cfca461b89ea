package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/prompt"
)

// excerpt is a piece of a file in what a tool answers; its place is in At, or in
// the fields before.
type excerpt struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	At        string `json:"at"`
	Symbol    string `json:"symbol"`
	Text      string `json:"text"`
}

// render is an envelope as the model reads it. Pieces of files stand as they are,
// each line with its number, since a small model neither reads code well through
// JSON's escapes nor counts lines; the rest is the envelope.
func render(e agent.Envelope) string {
	pieces, rest, ok := excerpts(e.Data)
	if !e.OK || !ok {
		return prompt.Quote(e.String())
	}
	var b strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&b, "%s\n%s\n\n", strings.TrimSpace(fmt.Sprintf("%s:%d-%d %s", p.Path, p.StartLine, p.EndLine, p.Symbol)), prompt.Number(p.Text, p.StartLine))
	}
	for _, r := range rest {
		b.WriteString(r)
		b.WriteByte('\n')
	}
	for _, w := range e.Meta.Warnings {
		fmt.Fprintf(&b, "[%s]\n", w)
	}
	if e.Meta.Truncated {
		b.WriteString("[there is more]\n")
	}
	return prompt.Quote(strings.TrimRight(b.String(), "\n"))
}

// excerpts takes the pieces of files out of what a tool answered: the answer is
// one, or an object with one list of them. rest are the other fields that say
// something.
func excerpts(data json.RawMessage) (pieces []excerpt, rest []string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil, nil, false
	}
	if one, ok := asExcerpt(data); ok {
		return []excerpt{one}, nil, true
	}
	list := ""
	for name, value := range fields {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil || len(items) == 0 {
			continue
		}
		var found []excerpt
		for _, item := range items {
			if p, ok := asExcerpt(item); ok {
				found = append(found, p)
			}
		}
		if len(found) == len(items) {
			if list != "" {
				return nil, nil, false // two lists: the names of the fields matter
			}
			list, pieces = name, found
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := string(fields[name]); name != list && value != "[]" && value != "null" && value != `""` {
			rest = append(rest, name+": "+value)
		}
	}
	return pieces, rest, list != ""
}

func asExcerpt(data json.RawMessage) (p excerpt, ok bool) {
	if json.Unmarshal(data, &p) != nil || p.Text == "" {
		return p, false
	}
	if c, ok := cite.Parse(p.At); ok {
		p.Path, p.StartLine, p.EndLine = c.Path, c.StartLine, c.EndLine
	}
	return p, p.Path != "" && p.StartLine > 0
}
