package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"quarry/index/glob"
	"quarry/retrieval/workspace"
)

// The answers of tools are made for small models: few keys, no repetition, and
// every place written as path:start-end, the way answers cite it.

// at writes a place.
func at(name string, start, end int) string { return fmt.Sprintf("%s:%d-%d", name, start, end) }

var placeForm = regexp.MustCompile(`^(.+):([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$`)

// placeIn takes apart what at has written, or a file with one line; start is 0 if name is neither.
func placeIn(name string) (file string, start, end int) {
	m := placeForm.FindStringSubmatch(name)
	if m == nil {
		return name, 0, 0
	}
	start, _ = strconv.Atoi(m[2]) // nine digits always fit
	end, _ = strconv.Atoi(cmp.Or(m[3], m[2]))
	return m[1], start, end
}

type fileText struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	Text       string `json:"text"`
}

// readLines is how many lines are read where no end is named.
const readLines = 200

func (b *Toolbox) readFile(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		Path      string `json:"path"`
		StartLine int    `json:"start_line"`
		EndLine   int    `json:"end_line"`
		MaxBytes  int    `json:"max_bytes"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	file, start, end, err := b.locatePlace(ctx, args.Path)
	if err != nil {
		return reply{}, err
	}
	sized := args.EndLine > 0
	switch {
	case sized:
	case start > 0 && args.StartLine == 1: // nobody asked for other lines than the place's
		args.StartLine, args.EndLine = start, end
	default:
		args.EndLine = args.StartLine + readLines - 1
	}
	if args.EndLine < args.StartLine {
		return reply{}, Failf(InvalidArguments, "end_line %d is before start_line %d", args.EndLine, args.StartLine)
	}
	text, err := b.parts.Workspace.Text(file)
	if err != nil {
		return reply{}, err
	}
	lines := linesOf(text)
	name := b.parts.Workspace.Name(file)
	if args.StartLine > max(1, len(lines)) {
		return reply{}, Failf(NotFound, "%s has %d lines; start_line %d is past its end", name, len(lines), args.StartLine)
	}
	end = min(args.EndLine, len(lines))
	asked := ""
	if args.StartLine <= end {
		asked = strings.Join(lines[args.StartLine-1:end], "\n") + "\n"
	}
	b.saw(file)
	kept := cutText(asked, args.MaxBytes)
	r := textReply(kept, func(text string) any {
		return fileText{name, args.StartLine, args.StartLine + max(0, len(linesOf(text))-1), len(lines), text}
	})
	r.sized = sized
	if len(kept) < len(asked) {
		r.truncated = true
		r.warn(fmt.Sprintf("cut at %d bytes; read on behind the answer's end_line", args.MaxBytes))
	}
	return r, nil
}

type fileList struct {
	Files []string `json:"files"`
	Total int      `json:"total"`
}

func (b *Toolbox) listFiles(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		Glob          string `json:"glob"`
		Limit         int    `json:"limit"`
		IncludeHidden bool   `json:"include_hidden"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	var wanted glob.Glob
	if args.Glob != "" {
		if wanted, err = glob.Compile(args.Glob); err != nil {
			return reply{}, Failf(InvalidArguments, "glob %q is not valid: %v; try **/*.go", clip(args.Glob, 200), err)
		}
	}
	files, missing, err := b.parts.Workspace.Files(ctx, func(f workspace.File) bool {
		return (args.IncludeHidden || !isHidden(f.Name)) && (args.Glob == "" || wanted.Covers(f.Name))
	})
	if err != nil {
		return reply{}, err
	}
	var names []string
	total := 0
	for _, f := range files {
		if ctx.Err() != nil { // far down in a tree each takes long
			return reply{}, ctx.Err()
		}
		// The index may not know yet of a rule that was just written.
		if len(names) < args.Offset+args.Limit {
			if _, err := b.parts.Workspace.Locate(ctx, f.Path); err != nil {
				continue
			}
			names = append(names, f.Name)
		}
		total++
	}
	r := part(names, args.Offset, args.Limit, func(list []string) any { return fileList{list, total} })
	r.truncated = total > len(names)
	r.from([]string{"index"}, missing)
	if len(names) > 0 {
		return r, nil
	}
	if !strings.ContainsAny(args.Glob, "*?[{") {
		if why := b.leftOut(ctx, args.Glob); why != "" {
			r.warn(why)
			return r, nil
		}
	}
	err = b.only(ctx, &r)
	return r, err
}

func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}
