package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// listing is the answer of a tool that lists things.
type listing[T any] struct {
	Items []T `json:"items"`
	// Total is how many there are, left out where nobody has counted them.
	Total int `json:"total,omitempty"`
}

// listed is a part of a list. whole says that the list is all there is; else it has one item
// more than the part needs.
func listed[T any](list []T, within window, whole bool) reply {
	total := 0
	if whole {
		total = len(list)
	}
	return part(list, within.offset, within.limit, func(list []T) any { return listing[T]{list, total} })
}

func (b *Toolbox) outline(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		Path  string `json:"path"`
		Limit int    `json:"limit"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	dir, err := b.folderOf(args.Path)
	if err != nil {
		return reply{}, err
	}
	inside, one, missing, err := b.outlined(ctx, args.Path, dir)
	if err != nil {
		return reply{}, err
	}
	var list []string
	within := window{args.Offset, args.Limit}
	most := within.end() + 1
	backend := []string{"symbols"}
	if len(inside) > maxOutlined {
		inside, list = folded(inside, dir)
	}
	below := len(list)
	for _, f := range inside {
		if len(list) >= most {
			break
		}
		if _, err := b.parts.Workspace.Locate(ctx, f.Path); err != nil {
			continue // left out by now
		}
		found, err := b.parts.Workspace.Declared(ctx, f.Path)
		if err != nil {
			var unready *workspace.NotReady
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
	if one {
		b.saw(inside[0].Path)
	}
	r := listed(list, within, len(list) < most)
	r.from(backend, missing)
	if below > 0 {
		r.warn("too many files to open: folders are counted; ask for one, or repo_overview what they are for")
	}
	err = b.outlineGaps(ctx, &r, inside, one, len(list) > 0)
	return r, err
}

// maxOutlined is how many files of a folder, and of those below, are opened for its outline. What
// a hundred declare fills some twenty answers, which nobody reads; the two thousand of quarry's
// own repository filled 231.
const maxOutlined = 100

// folded are the files that stand in the folder dir itself, and a line for each folder in it. Of
// folders that hold nothing but one other, the innermost counts as dir.
func folded(files []workspace.File, dir string) (direct []workspace.File, lines []string) {
	for {
		prefix := dir
		if dir != "" {
			prefix += "/"
		}
		direct = nil
		counts := map[string]int{}
		for _, f := range files {
			if name, _, below := strings.Cut(f.Name[len(prefix):], "/"); below {
				counts[name]++
			} else {
				direct = append(direct, f)
			}
		}
		folders := slices.Sorted(maps.Keys(counts))
		if len(direct) == 0 && len(folders) == 1 {
			dir = prefix + folders[0]
			continue
		}
		for _, name := range folders {
			line := fmt.Sprintf("%s%s/: %d files", prefix, name, counts[name])
			if counts[name] == 1 {
				line = strings.TrimSuffix(line, "s")
			}
			lines = append(lines, line)
		}
		return direct, lines
	}
}

// outlineGaps says what the outline of files, or of one file, may lack.
func (b *Toolbox) outlineGaps(ctx context.Context, r *reply, inside []workspace.File, one, found bool) error {
	shown := make(map[string]bool, len(inside))
	for _, f := range inside {
		shown[f.Path] = true
	}
	if !one {
		err := b.plain(ctx, r, "", func(f workspace.Plain) bool { return shown[f.Path] })
		if err == nil && !found {
			err = b.only(ctx, r)
		}
		return err
	}
	list, err := b.parts.Workspace.Plain(ctx)
	for _, f := range list {
		if shown[f.Path] {
			r.warn(fmt.Sprintf("incomplete: %s %s, so that what it declares is not known; read_file shows it", f.Name, f.Problem))
		}
	}
	if why := b.leftOut(ctx, inside[0].Name); why != "" && !found {
		r.warn(why)
	}
	return err
}

// outlined are the files of the folder dir, or the one file that name means. What is a file by
// its name is not looked for among the folders, which takes all the files that there are.
func (b *Toolbox) outlined(ctx context.Context, name, dir string) (files []workspace.File, one bool, missing *workspace.Missing, err error) {
	file, nowhere := b.parts.Workspace.Locate(ctx, name)
	if at := b.parts.Workspace.Name(file); nowhere == nil && (at == dir || path.IsAbs(dir)) {
		return []workspace.File{{Name: at, Path: file}}, true, nil, nil
	}
	files, missing, err = b.parts.Workspace.Files(ctx, func(f workspace.File) bool {
		return dir == "" || strings.HasPrefix(f.Name, dir+"/")
	})
	var unready *workspace.NotReady
	var excluded *walk.Excluded
	switch {
	case err != nil && !errors.As(err, &unready), len(files) > 0:
		return files, false, missing, err
	case err != nil && nowhere != nil && (!errors.As(nowhere, &excluded) || excluded.Reason == walk.Special):
		return nil, false, nil, err // it may be a folder
	}
	// No folder, perhaps a file that is named otherwise.
	if file, err = b.locate(ctx, name); err != nil {
		return nil, false, nil, err
	}
	return []workspace.File{{Name: b.parts.Workspace.Name(file), Path: file}}, true, nil, nil
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
	// Score is how sure it is that this symbol is meant, in 0..1; Unsure says that another
	// one of the name may be.
	Score  float64 `json:"score"`
	Unsure bool    `json:"unsure,omitempty"`
}

// maxNeighbours bounds how many declarations are followed on the way to a depth, and followLimit
// for how long: a declaration takes milliseconds, in files made for it a tenth of a second.
const (
	maxNeighbours = 400
	followLimit   = 20 * time.Second
)

// errLong is what a step ends with that has no time left.
var errLong = errors.New("following references takes too long")

// timed is a step that has some time for all its calls together, and fails with errLong when that
// is over.
func timed(next step, left time.Duration) step {
	return func(ctx context.Context, s workspace.Symbol) (workspace.Neighbours, error) {
		began := time.Now() // before the limit begins, so that nothing is left when it is over
		defer func() { left -= time.Since(began) }()
		within, cancel := context.WithTimeoutCause(ctx, left, errLong)
		defer cancel()
		if within.Err() != nil {
			return workspace.Neighbours{}, context.Cause(within)
		}
		found, err := next(within, s)
		if err != nil && ctx.Err() == nil && within.Err() != nil {
			err = errLong
		}
		return found, err
	}
}

// graphArguments are those of the tools that follow references.
type graphArguments struct {
	bounds
	ID    string `json:"symbol_id"`
	Depth int    `json:"depth"`
	Limit int    `json:"limit"`
}

// step answers what is next to a declaration.
type step func(context.Context, workspace.Symbol) (workspace.Neighbours, error)

func (b *Toolbox) callers(ctx context.Context, raw json.RawMessage) (reply, error) {
	return b.follow(ctx, raw, false, "get_references lists its uses that are no calls", func(ctx context.Context, s workspace.Symbol) (workspace.Neighbours, error) {
		return b.parts.Workspace.Users(ctx, s, store.EdgeCall)
	})
}

func (b *Toolbox) callees(ctx context.Context, raw json.RawMessage) (reply, error) {
	return b.follow(ctx, raw, true, "functions and methods call, ask for one of them", func(ctx context.Context, s workspace.Symbol) (workspace.Neighbours, error) {
		return b.parts.Workspace.Used(ctx, s, store.EdgeCall)
	})
}

func (b *Toolbox) implementations(ctx context.Context, raw json.RawMessage) (reply, error) {
	return b.follow(ctx, raw, true, "", b.parts.Workspace.Implementations)
}

// follow answers what a step leads to from a symbol, and on from there down to a depth,
// breadth first, until the list is full or the time is over. declared: the places are of
// declarations, not of references. uncalled is what to do where nothing is found for what is no
// function, "" for nothing.
func (b *Toolbox) follow(ctx context.Context, raw json.RawMessage, declared bool, uncalled string, next step) (reply, error) {
	args, err := decodeArguments[graphArguments](raw)
	if err != nil {
		return reply{}, err
	}
	start, _, err := b.parts.Workspace.SymbolByID(ctx, args.ID)
	if err != nil {
		return reply{}, err
	}
	w := following{box: b, met: map[string]bool{start.ID: true}, next: timed(next, followLimit), declared: declared, deep: args.Depth > 1}
	if err := w.from(ctx, start, max(1, args.Depth)); err != nil {
		return reply{}, err
	}
	r := listed(w.list, window{args.Offset, args.Limit}, !w.cut && !w.slow)
	r.from(w.backend, w.missing)
	r.warn(w.notes...)
	if uncalled != "" && len(w.list) == 0 && start.Kind != syntax.KindFunction && start.Kind != syntax.KindMethod {
		r.warn(fmt.Sprintf("%s is a %s: %s", start.ID, start.Kind, uncalled))
	}
	switch {
	case w.cut && w.deep:
		r.warn(fmt.Sprintf("the first %d; ask with a smaller depth", maxNeighbours))
	case w.cut:
		r.warn(fmt.Sprintf("the first %d, there are more", maxNeighbours))
	}
	name := start.Name
	if declared || w.deep { // of other names
		name = ""
	}
	err = b.gaps(ctx, &r, start.Path, name, len(w.list) > 0)
	return r, err
}

// following is a walk along references.
type following struct {
	box            *Toolbox
	next           step
	declared, deep bool

	met     map[string]bool // ids, and names of files
	list    []neighbourEntry
	backend []string
	missing *workspace.Missing
	notes   []string
	cut     bool // there is more than the list may have
	slow    bool // the time was over
}

// from walks from a symbol down to a depth.
func (w *following) from(ctx context.Context, start workspace.Symbol, depth int) error {
	layer := []workspace.Symbol{start}
	asked := 0
	for d := 1; d <= depth && len(layer) > 0; d++ {
		var deeper []workspace.Symbol
		for _, from := range layer {
			found, err := w.next(ctx, from)
			var unready *workspace.NotReady
			switch {
			case errors.Is(err, errLong):
				w.slow = true
				w.missing = workspace.TooLong(from.Path, asked)
				if len(w.list) == 0 {
					return &workspace.NotReady{Missing: *w.missing}
				}
				return nil
			case errors.As(err, &unready) && d > 1:
				w.missing = &unready.Missing
				continue
			case err != nil:
				return err
			}
			asked++
			w.backend = found.Backend
			if found.Missing != nil {
				w.missing = found.Missing
			}
			w.notes = append(w.notes, found.Notes...)
			if deeper = w.add(deeper, found.List, from, d); w.cut {
				return nil // whatever else is next to them has no place
			}
		}
		layer = deeper
	}
	return nil
}

// add lists what is next to a symbol, and adds to deeper what may be walked on from.
func (w *following) add(deeper []workspace.Symbol, list []workspace.Neighbour, from workspace.Symbol, depth int) []workspace.Symbol {
	for _, n := range list {
		name := w.box.parts.Workspace.Name(n.Path)
		id := n.ID
		if id == "" {
			id = name // the file's own level
		}
		if w.met[id] {
			continue
		}
		if len(w.list) == maxNeighbours {
			w.cut = true
			break
		}
		w.met[id] = true
		e := neighbourEntry{ID: n.ID, At: at(name, n.Line, n.Line), Signature: clip(headOf(&n.Symbol), maxSignatureBytes), Score: rounded(float64(n.Weight)), Unsure: n.Weight < sure}
		if w.declared {
			e.At = w.box.atSymbol(&n.Symbol)
		}
		if w.deep {
			e.Depth = depth
		}
		if depth > 1 {
			e.Via = from.ID
		}
		w.list = append(w.list, e)
		if n.ID != "" {
			deeper = append(deeper, n.Symbol)
		}
	}
	return deeper
}
