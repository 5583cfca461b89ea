package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval/workspace"
)

// diagnostic is one as the tools know it.
type diagnostic struct {
	start, end            int // 1-based lines
	severity              Severity
	source, code, message string
}

// reported are the diagnostics that the editor reported, of one file or, with "", of
// all, by path.
func (b *Toolbox) reported(path string) map[string][]diagnostic {
	by := map[string][]diagnostic{}
	if b.parts.Problems == nil {
		return by
	}
	for _, p := range b.parts.Problems(path) {
		line := func(offset int) int { return 1 + strings.Count(p.Document.Text[:offset], "\n") }
		by[p.Document.Path] = append(by[p.Document.Path],
			diagnostic{line(p.Start), line(max(p.Start, p.End-1)), p.Severity, p.Source, p.Code, p.Message})
	}
	return by
}

type diagnosticEntry struct {
	At       string   `json:"at"`
	Severity Severity `json:"severity"`
	Source   string   `json:"source,omitempty"`
	Code     string   `json:"code,omitempty"`
	Message  string   `json:"message"`
}

type diagnosticCount struct {
	Path     string `json:"path"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	// Others are hints and remarks.
	Others int `json:"others,omitempty"`
}

// diagnosedFiles is how many of the files changed last a summary looks at: they
// are where errors are, and parsing all of a large workspace takes too long.
const diagnosedFiles = 100

func (b *Toolbox) diagnostics(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		Path  string `json:"path"`
		Limit int    `json:"limit"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if args.Path == "" {
		return b.diagnosticSummary(ctx, args.Offset, args.Limit)
	}
	file, err := b.locate(ctx, args.Path)
	if err != nil {
		return reply{}, err
	}
	found, err := b.diagnose(file, b.reported(file)[file])
	if err != nil {
		return reply{}, err
	}
	name := b.parts.Workspace.Name(file)
	var list []diagnosticEntry
	for _, d := range found {
		list = append(list, diagnosticEntry{at(name, d.start, d.end), d.severity, d.source, d.code, clip(d.message, maxMessageBytes)})
	}
	return part(list, args.Offset, args.Limit, func(list []diagnosticEntry) any {
		return struct {
			Diagnostics []diagnosticEntry `json:"diagnostics"`
			Total       int               `json:"total"`
		}{list, len(found)}
	}), nil
}

// diagnose are the diagnostics of a file in the order of its lines: those the
// editor told of, and what tree-sitter cannot parse.
func (b *Toolbox) diagnose(file string, reported []diagnostic) ([]diagnostic, error) {
	text, err := b.parts.Workspace.Text(file)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(lang.Detect(file, []byte(text)), []byte(text))
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	if n, ok := tree.ErrorCount(); !ok || n == 0 {
		return reported, nil // most files parse, and an analysis takes longer
	}
	found := reported
	for _, e := range tree.Analyze().Errors {
		found = append(found, diagnostic{int(e.StartLine), int(e.EndLine), SeverityError, "syntax", "", "this does not parse"})
	}
	slices.SortStableFunc(found, func(a, b diagnostic) int { return cmp.Compare(a.start, b.start) })
	return found, nil
}

func (b *Toolbox) diagnosticSummary(ctx context.Context, offset, limit int) (reply, error) {
	files, missing, err := b.parts.Workspace.Files(ctx, nil)
	if err != nil {
		return reply{}, err
	}
	slices.SortStableFunc(files, func(a, b workspace.File) int {
		// 0 is a buffer that was not saved: the newest of all.
		return cmp.Or(cmp.Compare(recency(b), recency(a)), cmp.Compare(a.Name, b.Name))
	})
	reported := b.reported("")
	paths := slices.Sorted(maps.Keys(reported))
	for _, f := range files[:min(len(files), diagnosedFiles)] {
		if !slices.Contains(paths, f.Path) {
			paths = append(paths, f.Path)
		}
	}
	var list []diagnosticCount
	for _, path := range paths {
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		found, err := b.diagnose(path, reported[path])
		if err != nil || len(found) == 0 {
			continue
		}
		c := diagnosticCount{Path: b.parts.Workspace.Name(path)}
		for _, d := range found {
			switch d.severity {
			case SeverityError:
				c.Errors++
			case SeverityWarning:
				c.Warnings++
			default:
				c.Others++
			}
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b diagnosticCount) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(b.Warnings, a.Warnings), cmp.Compare(a.Path, b.Path))
	})
	total := len(list)
	r := part(list, offset, limit, func(list []diagnosticCount) any {
		return struct {
			Files []diagnosticCount `json:"files"`
			Total int               `json:"total"`
		}{list, total}
	})
	if len(files) > diagnosedFiles {
		r.warn(fmt.Sprintf("only the %d files changed last, of %d, were looked at", diagnosedFiles, len(files)))
	}
	r.from([]string{"editor", "index"}, missing)
	return r, nil
}

func recency(f workspace.File) int64 {
	if f.ModTime == 0 {
		return 1<<63 - 1
	}
	return f.ModTime
}
