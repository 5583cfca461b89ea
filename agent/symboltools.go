package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"quarry/index/syntax"
	"quarry/retrieval/workspace"
)

type symbolEntry struct {
	ID        string      `json:"symbol_id"`
	Kind      syntax.Kind `json:"kind"`
	At        string      `json:"at"`
	Signature string      `json:"signature,omitempty"`
}

// maxSignatureBytes is how much of a signature a list shows.
const maxSignatureBytes = 240

func (b *Toolbox) entry(s *workspace.Symbol) symbolEntry {
	return symbolEntry{s.ID, s.Kind, b.atSymbol(s), clip(s.Signature, maxSignatureBytes)}
}

func (b *Toolbox) atSymbol(s *workspace.Symbol) string {
	return at(b.parts.Workspace.Name(s.Path), int(s.Span.StartLine), int(s.Span.EndLine))
}

func (b *Toolbox) searchSymbols(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		Name  string `json:"name"`
		Kind  string `json:"kind"`
		Limit int    `json:"limit"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if strings.TrimSpace(args.Name) == "" {
		return reply{}, Failf(InvalidArguments, "name is empty; give the name of a declaration or a part of it")
	}
	var kinds []syntax.Kind
	if args.Kind != "any" {
		kinds = []syntax.Kind{syntax.Kind(args.Kind)}
	}
	most := args.Offset + args.Limit + 1
	found, err := b.parts.Workspace.Symbols(ctx, args.Name, kinds, most)
	var other string
	if err == nil && len(found.List) == 0 && kinds != nil {
		// Languages name kinds differently: a class of one is a struct of another.
		found, err = b.parts.Workspace.Symbols(ctx, args.Name, nil, most)
		other = fmt.Sprintf("no %s has this name; these are of other kinds", args.Kind)
	}
	if err != nil {
		return reply{}, err
	}
	list := make([]symbolEntry, len(found.List))
	for i := range list {
		list[i] = b.entry(&found.List[i])
	}
	r := part(list, args.Offset, args.Limit, func(list []symbolEntry) any {
		return struct {
			Symbols []symbolEntry `json:"symbols"`
		}{list}
	})
	r.from(found.Backend, found.Missing)
	if other != "" && len(list) > 0 {
		r.warn(other)
	}
	if len(list) == 0 {
		err = b.gaps(ctx, &r, "", "", false)
	} else {
		err = b.plain(ctx, &r, lastName(args.Name), nil)
	}
	return r, err
}

type definition struct {
	symbolEntry
	Doc  string `json:"doc,omitempty"`
	Text string `json:"text"`
}

const (
	// maxDefinitionBytes and maxDefinitionLines are how much of a declaration's
	// code is shown; the rest is read by read_file.
	maxDefinitionBytes = 4000
	maxDefinitionLines = 80
	maxDocBytes        = 600
)

func (b *Toolbox) symbolDefinition(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		ID string `json:"symbol_id"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	s, missing, err := b.parts.Workspace.SymbolByID(ctx, args.ID)
	if err != nil {
		return reply{}, err
	}
	text, err := b.parts.Workspace.Text(s.Path)
	if err != nil {
		return reply{}, err
	}
	b.saw(s.Path)
	start, end := int(s.Span.StartLine), int(s.Span.EndLine)
	code := textOf(text, start, min(end, start+maxDefinitionLines-1))
	kept := cutText(code, maxDefinitionBytes)
	d := definition{symbolEntry: b.entry(&s), Doc: clip(s.Doc, maxDocBytes)}
	r := textReply(kept, func(text string) any {
		d.Text = text
		return d
	})
	if len(kept) < len(code) || end >= start+maxDefinitionLines {
		r.truncated = true
		r.warn("the code is cut; read_file shows the rest")
	}
	r.from([]string{backends["get_symbol_definition"]}, missing)
	return r, nil
}

// textOf are lines start to end of a text, 1-based and inclusive.
func textOf(text string, start, end int) string {
	lines := linesOf(text)
	end = min(end, len(lines))
	if start < 1 || start > end {
		return ""
	}
	return strings.Join(lines[start-1:end], "\n") + "\n"
}

type referenceEntry struct {
	At string `json:"at"`
	// Uses is how often the line uses the symbol, left out for once.
	Uses int    `json:"uses,omitempty"`
	In   string `json:"in,omitempty"`
	Kind string `json:"kind"`
	// Score is how sure it is that this symbol is meant, in 0..1; Unsure says that another
	// one of the name may be.
	Score  float64 `json:"score"`
	Unsure bool    `json:"unsure,omitempty"`
	Text   string  `json:"text"`
}

// sure is the weight from which a reference counts as meaning its symbol.
const sure = .5

func (b *Toolbox) references(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		ID    string `json:"symbol_id"`
		Limit int    `json:"limit"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	s, _, err := b.parts.Workspace.SymbolByID(ctx, args.ID)
	if err != nil {
		return reply{}, err
	}
	found, err := b.parts.Workspace.References(ctx, s, args.Offset+args.Limit+1)
	if err != nil {
		return reply{}, err
	}
	texts := map[string][]string{}
	var list []referenceEntry
	for _, ref := range found.List {
		lines, read := texts[ref.Path]
		if !read {
			text, err := b.parts.Workspace.Text(ref.Path)
			if err != nil {
				continue // gone, or left out by now
			}
			lines = linesOf(text)
			texts[ref.Path] = lines
		}
		e := referenceEntry{At: at(b.parts.Workspace.Name(ref.Path), ref.Line, ref.Line), In: ref.In, Kind: string(ref.Kind), Score: rounded(float64(ref.Weight)), Unsure: ref.Weight < sure}
		if ref.Uses > 1 {
			e.Uses = ref.Uses
		}
		if ref.Line <= len(lines) {
			e.Text = clip(strings.TrimSpace(lines[ref.Line-1]), maxLineBytes)
		}
		list = append(list, e)
	}
	r := part(list, args.Offset, args.Limit, func(list []referenceEntry) any {
		return struct {
			ID         string           `json:"symbol_id"`
			Total      int              `json:"total"`
			References []referenceEntry `json:"references"`
		}{s.ID, found.Total, list}
	})
	r.truncated = r.truncated || !found.Whole
	if found.Vague > 0 {
		r.warn(fmt.Sprintf("%d of the %d uses may mean another one: too many declarations are called %s to tell by names which is meant", found.Vague, found.Total, s.Name))
	}
	r.from(found.Backend, found.Missing)
	err = b.gaps(ctx, &r, s.Path, s.Name, len(list) > 0)
	return r, err
}

// maxLineBytes is how much of one line a list shows.
const maxLineBytes = 200
