// Package evidence keeps what tools have shown to a model, so that what it says can
// be held against that.
package evidence

import (
	"context"
	"encoding/json"
	"strconv"
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
	shown []agent.Citation
	// Spots are the pieces of text that the tools showed, in order.
	Spots []agent.Citation
}

// New keeps what tools show. quoted are the lines that the model has before any tool
// is called, because its prompt quotes them.
func New(tools loop.Tools, quoted ...agent.Citation) *Evidence {
	return &Evidence{tools: tools, shown: quoted}
}

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
// "path" with its lines. A file that is named without lines shows nothing.
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
		if lines, ok := v["lines"].([]any); ok {
			e.lookAtLines(spot.Path, lines)
		}
		if spot.StartLine < 1 {
			return
		}
		e.shown = append(e.shown, spot)
		if _, ok := v["text"]; ok {
			e.Spots = append(e.Spots, spot)
		}
	}
}

// lookAtLines takes single lines of a file, each written "number: text".
func (e *Evidence) lookAtLines(file string, lines []any) {
	for _, line := range lines {
		text, _ := line.(string)
		number, _, _ := strings.Cut(text, ":")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			e.shown = append(e.shown, agent.Citation{Path: file, StartLine: n, EndLine: n})
		}
	}
}

// Shown are the lines that the model was shown or that a tool named to it, as the
// range of a declaration, for a cite.Checker.
func (e *Evidence) Shown() []agent.Citation { return e.shown }

// Text is all that the tools answered, as JSON.
func (e *Evidence) Text() string { return e.text.String() }
