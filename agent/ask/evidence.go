package ask

import (
	"context"
	"encoding/json"

	"quarry/agent"
	"quarry/agent/cite"
)

// evidence runs tools and remembers what they showed.
type evidence struct {
	tools Tools
	files []string         // names of files that were shown, or named
	spots []agent.Citation // the pieces of text shown, in order
}

// Call implements loop.Tools.
func (e *evidence) Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	answer := e.tools.Call(ctx, name, args)
	var data any
	if answer.OK && json.Unmarshal(answer.Data, &data) == nil {
		e.look(data)
	}
	return answer
}

// look finds places in what a tool answered: an object has its own as "at", or as
// "path" with its lines.
func (e *evidence) look(data any) {
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
		e.files = append(e.files, spot.Path)
		if _, shown := v["text"]; shown && spot.StartLine > 0 {
			e.spots = append(e.spots, spot)
		}
	}
}

func (e *evidence) names() []string { return e.files }
