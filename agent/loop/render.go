package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/prompt"
)

// line is one line of what the model reads of a tool's answer.
type line struct {
	text string // quoted
	// shows are the lines of files that this one has, or names as the location of
	// something.
	shows []agent.Citation
	// code says that it is a line of a file.
	code bool
}

// entry is what may stand in a tool's answer: a piece of a file with its Text, single
// Lines of one ("number: text"), or something that has a location. The location is At, or
// Path with lines.
type entry struct {
	Path      string   `json:"path"`
	StartLine int      `json:"start_line"`
	EndLine   int      `json:"end_line"`
	At        string   `json:"at"`
	Symbol    string   `json:"symbol"`
	Text      string   `json:"text"`
	Lines     []string `json:"lines"`
}

// render is an envelope as the model reads it. Pieces of files stand as they are,
// each line with its number, since a small model neither reads code well through
// JSON's escapes nor counts lines. Of what else is listed each item has a line, so
// that a list can be cut; the rest is the envelope.
func render(e agent.Envelope) []line {
	lines := renderData(e.Data)
	if !e.OK || len(lines) == 0 {
		return []line{{text: prompt.Quote(e.String()), shows: locationsIn(e)}}
	}
	for lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	for _, w := range e.Meta.Warnings {
		lines = append(lines, line{text: prompt.Quote("[" + w + "]")})
	}
	if e.Meta.Truncated {
		lines = append(lines, line{text: "[there is more]"})
	}
	return lines
}

// renderData renders what is a piece of a file or has a list with items; of anything
// else there are no lines.
func renderData(data json.RawMessage) (lines []line) {
	if piece, ok := readEntry(data); ok && piece.Text != "" {
		return piece.excerpt()
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	var rest []line
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := string(fields[name])
		var items []json.RawMessage
		switch {
		case value == "[]" || value == "null" || value == `""`:
		case json.Unmarshal(fields[name], &items) == nil:
			lines = append(lines, renderList(name, items)...)
		default:
			rest = append(rest, line{text: prompt.Quote(name + ": " + value)})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append(lines, rest...)
}

// renderList renders a list under its name, which pieces of files do without.
func renderList(name string, items []json.RawMessage) (lines []line) {
	for i, item := range items {
		e, ok := readEntry(item)
		if ok && e.Text != "" {
			lines = append(append(lines, e.excerpt()...), line{})
			continue
		}
		if i == 0 {
			lines = append(lines, line{text: prompt.Quote(name + ":")})
		}
		switch {
		case e.Path != "" && e.Lines != nil:
			lines = append(lines, e.single()...)
		case ok:
			lines = append(lines, line{text: prompt.Quote(string(item)), shows: []agent.Citation{e.location()}})
		default:
			lines = append(lines, line{text: prompt.Quote(string(item))})
		}
	}
	return lines
}

// readEntry reads an entry; ok says that it has a location with lines.
func readEntry(data json.RawMessage) (e entry, ok bool) {
	if json.Unmarshal(data, &e) != nil {
		return entry{}, false
	}
	if c, ok := cite.Parse(e.At); ok {
		e.Path, e.StartLine, e.EndLine = c.Path, c.StartLine, c.EndLine
	}
	return e, e.Path != "" && e.StartLine > 0
}

func (e entry) location() agent.Citation {
	return agent.Citation{Path: e.Path, StartLine: e.StartLine, EndLine: max(e.StartLine, e.EndLine)}
}

// excerpt is a piece of a file under its location.
func (e entry) excerpt() []line {
	head := strings.TrimSpace(fmt.Sprintf("%s:%d-%d %s", e.Path, e.StartLine, e.EndLine, e.Symbol))
	lines := []line{{text: prompt.Quote(head)}}
	n := e.StartLine
	for text := range strings.SplitSeq(prompt.Number(e.Text, e.StartLine), "\n") {
		lines = append(lines, line{text: prompt.Quote(text), shows: []agent.Citation{{Path: e.Path, StartLine: n, EndLine: n}}, code: true})
		n++
	}
	return lines
}

// single are lines of a file under its name.
func (e entry) single() []line {
	lines := []line{{text: prompt.Quote(e.Path)}}
	for _, text := range e.Lines {
		l := line{text: prompt.Quote(text)}
		number, _, _ := strings.Cut(text, ":")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			l.shows = []agent.Citation{{Path: e.Path, StartLine: n, EndLine: n}}
		}
		lines = append(lines, l)
	}
	return lines
}

// locationsIn is the location of an answer that is one entry.
func locationsIn(e agent.Envelope) []agent.Citation {
	if one, ok := readEntry(e.Data); e.OK && ok {
		return []agent.Citation{one.location()}
	}
	return nil
}
