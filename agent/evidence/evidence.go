// Package evidence keeps what tools have shown to a model, so that what it says can
// be held against that.
package evidence

import (
	"context"
	"encoding/json"
	"strings"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/loop"
)

// Evidence runs tools and remembers what they showed. It is not safe for
// concurrent use.
type Evidence struct {
	tools loop.Tools
	text  strings.Builder
	// Files are the names of files that were shown, or named.
	Files []string
	// Spots are the pieces of text shown, in order.
	Spots []agent.Citation
}

// New keeps what tools show.
func New(tools loop.Tools) *Evidence { return &Evidence{tools: tools} }

// Call implements loop.Tools.
func (e *Evidence) Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	answer := e.tools.Call(ctx, name, args)
	var data any
	if answer.OK && json.Unmarshal(answer.Data, &data) == nil {
		e.text.Write(answer.Data)
		e.look(data)
	}
	return answer
}

// look finds places in what a tool answered: an object has its own as "at", or as
// "path" with its lines.
func (e *Evidence) look(data any) {
	switch v := data.(type) {
	case []any:
		for _, item := range v {
			e.look(item)
		}
	case map[string]any:
		for _, inner := range v {
			e.look(inner)
		}
		var spot agent.Citation
		if at, ok := v["at"].(string); ok {
			spot, _ = cite.Parse(at)
		} else if name, ok := v["path"].(string); ok {
			spot.Path = name
			first, _ := v["start_line"].(float64)
			last, _ := v["end_line"].(float64)
			spot.StartLine, spot.EndLine = int(first), int(last)
		}
		if spot.Path == "" {
			return
		}
		e.Files = append(e.Files, spot.Path)
		if _, shown := v["text"]; shown && spot.StartLine > 0 {
			e.Spots = append(e.Spots, spot)
		}
	}
}

// Names are Files, for a cite.Checker.
func (e *Evidence) Names() []string { return e.Files }

// Text is all that the tools answered, as JSON.
func (e *Evidence) Text() string { return e.text.String() }
