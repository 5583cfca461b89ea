package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"quarry/index/glob"
	"quarry/index/store"
	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// page is one part of a list that may be long.
type page[T any] struct {
	Items []T `json:"items"`
	// Total is how many there are, left out where nobody has counted them.
	Total int `json:"total,omitempty"`
	// Next is the page behind this one, left out on the last.
	Next int `json:"next_page,omitempty"`
}

// pageOf is the reply with the n-th part of a list of limit items each. all says that the
// list is whole; else it has one item more than the page needs.
func pageOf[T any](list []T, n, limit int, all bool) reply {
	total := 0
	if all {
		total = len(list)
	}
	list = list[min((n-1)*limit, len(list)):]
	next := 0
	if len(list) > limit {
		list, next = list[:limit], n+1
	}
	r := items(list, func(list []T) any { return page[T]{list, total, next} })
	r.truncated = next > 0
	return r
}

func (b *Toolbox) outline(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		Path  string `json:"path"`
		Limit int    `json:"limit"`
		Page  int    `json:"page"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	dir := path.Clean(strings.ReplaceAll(args.Path, `\`, "/"))
	switch {
	case dir == ".":
		dir = ""
	case dir == ".." || strings.HasPrefix(dir, "../"):
		return reply{}, &walk.Excluded{Path: args.Path, Reason: walk.Outside}
	}
	inside, missing, err := b.parts.Workspace.Files(ctx, func(f workspace.File) bool {
		return dir == "" || strings.HasPrefix(f.Name, dir+"/")
	})
	var unready *workspace.NotReady
	if err != nil && !errors.As(err, &unready) {
		return reply{}, err
	}
	if len(inside) == 0 { // no folder, perhaps a file
		file, err := b.locate(ctx, args.Path)
		if err != nil {
			return reply{}, err
		}
		inside = []workspace.File{{Name: b.parts.Workspace.Name(file), Path: file}}
		missing, dir = nil, ""
	}
	one := len(inside) == 1 && inside[0].Name == b.nameOf(ctx, args.Path)
	var list []string
	most := args.Page*args.Limit + 1
	backend := []string{"symbols"}
	for _, f := range inside {
		if len(list) >= most {
			break
		}
		if _, err := b.parts.Workspace.Locate(ctx, f.Path); err != nil {
			continue // left out by now
		}
		found, err := b.parts.Workspace.Declared(ctx, f.Path)
		if err != nil {
			if errors.As(err, &unready) && !one {
				missing = &unready.Missing
				continue
			}
			return reply{}, err
		}
		if found.Missing != nil {
			missing = found.Missing
		}
		for i := range found.List {
			s := &found.List[i]
			if !one && s.Container != "" {
				continue // a folder's outline has what its files declare at the top
			}
			list = append(list, fmt.Sprintf("%s %s %s", b.atSymbol(s), s.Kind, clip(headOf(s), maxSignatureBytes)))
		}
	}
	r := pageOf(list, args.Page, args.Limit, len(list) < most)
	r.from(backend, missing)
	return r, nil
}

// nameOf is the name of the file that is meant, "" if none is.
func (b *Toolbox) nameOf(ctx context.Context, name string) string {
	file, err := b.parts.Workspace.Locate(ctx, name)
	if err != nil {
		return ""
	}
	return b.parts.Workspace.Name(file)
}

// headOf is the signature in one line, or the name where there is none.
func headOf(s *workspace.Symbol) string {
	if s.Signature == "" {
		return s.Qualified()
	}
	return strings.Join(strings.Fields(s.Signature), " ")
}

type neighbourEntry struct {
	ID string `json:"symbol_id,omitempty"`
	// At is the place of the reference for what refers, and of the declaration for what
	// is referred to.
	At        string `json:"at"`
	Signature string `json:"signature,omitempty"`
	// Depth is how many steps it is away, from 1; Via is the symbol one step nearer, where
	// that is not the one asked about.
	Depth int    `json:"depth,omitempty"`
	Via   string `json:"via,omitempty"`
	// Unsure says that another symbol of the name may be meant.
	Unsure bool `json:"unsure,omitempty"`
}

// maxNeighbours bounds how many declarations are followed on the way to a depth.
const maxNeighbours = 400

// graphArguments are those of the tools that follow references.
type graphArguments struct {
	ID    string `json:"symbol_id"`
	Depth int    `json:"depth"`
	Limit int    `json:"limit"`
	Page  int    `json:"page"`
}

func (b *Toolbox) callers(ctx context.Context, raw json.RawMessage) (reply, error) {
	return b.follow(ctx, raw, b.parts.Workspace.Users, store.EdgeCall, false)
}

func (b *Toolbox) callees(ctx context.Context, raw json.RawMessage) (reply, error) {
	return b.follow(ctx, raw, b.parts.Workspace.Used, store.EdgeCall, true)
}

func (b *Toolbox) implementations(ctx context.Context, raw json.RawMessage) (reply, error) {
	return b.follow(ctx, raw, b.parts.Workspace.Users, store.EdgeInherit, true)
}

// follow answers what step leads to from a symbol, and on from there down to a depth,
// breadth first. declared: the places are of declarations, not of references.
func (b *Toolbox) follow(ctx context.Context, raw json.RawMessage,
	step func(context.Context, workspace.Symbol, store.EdgeKind) (workspace.Neighbours, error), kind store.EdgeKind, declared bool,
) (reply, error) {
	args, err := decodeArguments[graphArguments](raw)
	if err != nil {
		return reply{}, err
	}
	start, _, err := b.parts.Workspace.SymbolByID(ctx, args.ID)
	if err != nil {
		return reply{}, err
	}
	met := map[string]bool{start.ID: true}
	layer := []workspace.Symbol{start}
	var list []neighbourEntry
	var backend []string
	var missing *workspace.Missing
	cut := false
	for depth := 1; depth <= max(1, args.Depth) && len(layer) > 0; depth++ {
		var next []workspace.Symbol
		for _, from := range layer {
			found, err := step(ctx, from, kind)
			var unready *workspace.NotReady
			if errors.As(err, &unready) && depth > 1 {
				missing = &unready.Missing
				continue
			}
			if err != nil {
				return reply{}, err
			}
			backend = found.Backend
			if found.Missing != nil {
				missing = found.Missing
			}
			for _, n := range found.List {
				name := b.parts.Workspace.Name(n.Path)
				id := n.ID
				if id == "" {
					id = name // the file's own level
				}
				if met[id] {
					continue
				}
				if len(list) == maxNeighbours {
					cut = true
					break
				}
				met[id] = true
				e := neighbourEntry{ID: n.ID, At: at(name, n.Line, n.Line), Signature: clip(headOf(&n.Symbol), maxSignatureBytes), Unsure: n.Weight < sure}
				if declared {
					e.At = b.atSymbol(&n.Symbol)
				}
				if args.Depth > 1 {
					e.Depth = depth
				}
				if depth > 1 {
					e.Via = from.ID
				}
				list = append(list, e)
				if n.ID != "" {
					next = append(next, n.Symbol)
				}
			}
		}
		layer = next
	}
	r := pageOf(list, args.Page, args.Limit, !cut)
	r.from(backend, missing)
	if cut {
		r.warn(fmt.Sprintf("the first %d; ask with a smaller depth", maxNeighbours))
	}
	return r, nil
}

func (b *Toolbox) searchRegex(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		Pattern  string `json:"pattern"`
		PathGlob string `json:"path_glob"`
		Limit    int    `json:"limit"`
		Page     int    `json:"page"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if args.Pattern == "" || len(args.Pattern) > maxPattern {
		return reply{}, Failf(InvalidArguments, "pattern has %d bytes; give 1 to %d", len(args.Pattern), maxPattern)
	}
	want, err := regexp.Compile(args.Pattern)
	if err != nil {
		return reply{}, Failf(InvalidArguments, "pattern %q is not a regular expression of RE2: %v; no look-around and no back-references", clip(args.Pattern, 200), err)
	}
	var wanted glob.Glob
	if args.PathGlob != "" {
		if wanted, err = glob.Compile(args.PathGlob); err != nil {
			return reply{}, Failf(InvalidArguments, "path_glob %q is not valid: %v; try **/*.go", clip(args.PathGlob, 200), err)
		}
	}
	files, missing, err := b.parts.Workspace.Files(ctx, func(f workspace.File) bool { return args.PathGlob == "" || wanted.Covers(f.Name) })
	if err != nil {
		return reply{}, err
	}
	// What is behind the page is not looked for: one line more says that there is more.
	var list []string
	most := args.Page*args.Limit + 1
	for _, f := range files {
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		text, err := b.parts.Workspace.Text(f.Path)
		if err != nil || !want.MatchString(text) && !strings.ContainsAny(args.Pattern, "^$") {
			continue // gone, or left out by now
		}
		for i, line := range linesOf(text) {
			if len(list) < most && want.MatchString(line) {
				list = append(list, fmt.Sprintf("%s %s", at(f.Name, i+1, i+1), clip(strings.TrimSpace(line), maxLineBytes)))
			}
		}
		if len(list) == most {
			break
		}
	}
	r := pageOf(list, args.Page, args.Limit, len(list) < most)
	r.from([]string{backendFiles}, missing)
	return r, nil
}

// maxPattern is the longest regular expression that is taken, in bytes.
const maxPattern = 1000
