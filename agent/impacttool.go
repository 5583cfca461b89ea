package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quarry/index/git"
	"quarry/index/lang"
	"quarry/retrieval"
	"quarry/retrieval/pattern"
	"quarry/retrieval/workspace"
)

// impactEntry is a declaration that a change may break.
type impactEntry struct {
	ID        string `json:"symbol_id,omitempty"`
	At        string `json:"at"`
	Signature string `json:"signature,omitempty"`
	// How is the reference: call, use or inherit; names, where text names what was removed.
	How string `json:"how"`
	// Score is how sure it is that what is changed is meant, in 0..1, over all steps.
	Score  float64 `json:"score"`
	Depth  int     `json:"depth"`
	Via    string  `json:"via,omitempty"`
	Test   bool    `json:"test,omitempty"`
	Public bool    `json:"public,omitempty"`
	Unsure bool    `json:"unsure,omitempty"`
}

// impactAnswer is what get_impact answers. The counts are of all items, on this page or not.
type impactAnswer struct {
	Changed []string      `json:"changed"`
	Items   []impactEntry `json:"items"`
	Total   int           `json:"total"`
	Files   int           `json:"files"`
	Tests   int           `json:"tests"`
	Public  int           `json:"public"`
	Unsure  int           `json:"unsure"`
}

const (
	// maxChanged is how many changed declarations are followed.
	maxChanged = 60
	// maxNamed is how many lines that name what was removed are answered.
	maxNamed = 20
	// faint is the score below which nothing is followed on.
	faint = .1
)

func (b *Toolbox) impact(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[graphArguments](raw)
	if err != nil {
		return reply{}, err
	}
	i := impact{box: b, met: map[string]bool{}, files: map[string]bool{}, backend: []string{"graph"}}
	var changes []workspace.Change
	if args.ID != "" {
		s, missing, err := b.parts.Workspace.SymbolByID(ctx, args.ID)
		if err != nil {
			return reply{}, err
		}
		i.missing = missing
		changes = []workspace.Change{{Symbol: s, How: "asked about"}}
	} else {
		found, err := b.parts.Workspace.Changes(ctx)
		if errors.Is(err, git.ErrNone) {
			return reply{}, Failf(InvalidArguments, "there is %v; give a symbol_id", err)
		}
		var exceeded *git.Exceeded
		if errors.As(err, &exceeded) {
			return reply{}, Failf(InvalidArguments, "%v; give a symbol_id", err)
		}
		if err != nil {
			return reply{}, err
		}
		changes, i.missing, i.backend = found.List, found.Missing, append(i.backend, "git")
		i.plainFiles(found)
		if n := len(found.TooLarge); n > 0 {
			i.warnings = append(i.warnings, fmt.Sprintf("%d files that may have changed are larger than index.maxFileBytes and were not compared: %s",
				n, strings.Join(found.TooLarge[:min(n, 5)], ", ")))
		}
	}
	if len(changes) > maxChanged {
		i.warnings = append(i.warnings, fmt.Sprintf("only the first %d of %d changed declarations were followed; ask for one by symbol_id", maxChanged, len(changes)))
		changes = changes[:maxChanged]
	}
	if err := i.follow(ctx, changes, max(1, args.Depth)); err != nil {
		return reply{}, err
	}
	r, like := i.reply(window{args.Offset, args.Limit}), ""
	if args.ID != "" {
		like = changes[0].Path
	}
	err = b.gaps(ctx, &r, like, "", len(i.answer.Items) > 0)
	return r, err
}

// impact is what is being found out about a change.
type impact struct {
	box      *Toolbox
	answer   impactAnswer
	met      map[string]bool // ids, and names of files
	files    map[string]bool
	missing  *workspace.Missing
	backend  []string
	warnings []string
}

// plainFiles notes the changed files in which no declaration changed.
func (i *impact) plainFiles(found workspace.Changes) {
	with := map[string]bool{}
	for _, c := range found.List {
		with[i.box.parts.Workspace.Name(c.Path)] = true
	}
	for _, name := range found.Files {
		if !with[name] {
			i.answer.Changed = append(i.answer.Changed, name+" outside of declarations")
		}
	}
}

// follow finds what refers to the changed declarations, and on from there, the surest way to
// each first.
func (i *impact) follow(ctx context.Context, changes []workspace.Change, depth int) error {
	type walked struct {
		workspace.Symbol
		score float64
	}
	var layer []walked
	for _, c := range changes {
		line := fmt.Sprintf("%s %s %s (%s)", i.box.atSymbol(&c.Symbol), c.Kind, cmp.Or(c.ID, c.Qualified()), c.How)
		if i.box.isPublic(&c.Symbol) {
			line += ", public"
		}
		i.answer.Changed = append(i.answer.Changed, line)
		if c.How == workspace.Removed {
			if err := i.named(ctx, &c.Symbol); err != nil {
				return err
			}
			continue
		}
		i.met[c.ID] = true
		layer = append(layer, walked{c.Symbol, 1})
	}
	users, asked := timed(func(ctx context.Context, s workspace.Symbol) (workspace.Neighbours, error) {
		return i.box.parts.Workspace.Users(ctx, s, workspace.AnyReference)
	}, followLimit), 0
	for d := 1; d <= depth && len(layer) > 0; d++ {
		var next []walked
		for _, from := range layer {
			found, err := users(ctx, from.Symbol)
			if errors.Is(err, errLong) {
				if i.missing = workspace.TooLong(from.Path, asked); len(i.answer.Items) == 0 {
					return &workspace.NotReady{Missing: *i.missing}
				}
				return nil
			}
			asked++
			var unready *workspace.NotReady
			if errors.As(err, &unready) {
				i.missing = &unready.Missing
				continue
			}
			if err != nil {
				return err
			}
			if found.Missing != nil {
				i.missing = found.Missing
			}
			for _, n := range found.List {
				name := i.box.parts.Workspace.Name(n.Path)
				score := from.score * float64(n.Weight)
				key := cmp.Or(n.ID, name)
				if i.met[key] || score < faint {
					continue
				}
				if len(i.answer.Items) == maxNeighbours {
					i.warnings = append(i.warnings, fmt.Sprintf("only the first %d are followed; ask with a smaller depth", maxNeighbours))
					return nil
				}
				i.met[key] = true
				e := impactEntry{
					ID: n.ID, At: at(name, n.Line, n.Line), Signature: clip(headOf(&n.Symbol), maxSignatureBytes), How: string(n.Kind),
					Score: rounded(score), Depth: d, Unsure: score < sure, Public: n.ID != "" && i.box.isPublic(&n.Symbol),
				}
				t, _ := retrieval.TypeOf(name)
				e.Test = t == retrieval.TypeTest
				if d > 1 || len(changes) > 1 {
					e.Via = from.ID
				}
				i.add(name, e)
				if n.ID != "" {
					next = append(next, walked{n.Symbol, score})
				}
			}
		}
		slices.SortStableFunc(next, func(a, b walked) int { return cmp.Compare(b.score, a.score) })
		layer = next
	}
	return nil
}

func (i *impact) add(name string, e impactEntry) {
	i.answer.Items = append(i.answer.Items, e)
	i.files[name] = true
	for _, c := range []struct {
		is    bool
		count *int
	}{{e.Test, &i.answer.Tests}, {e.Public, &i.answer.Public}, {e.Unsure, &i.answer.Unsure}} {
		if c.is {
			*c.count++
		}
	}
}

// named finds the lines that name a declaration which is gone. What they mean nobody knows.
func (i *impact) named(ctx context.Context, s *workspace.Symbol) error {
	want, err := pattern.Compile(`\b` + regexp.QuoteMeta(s.Name) + `\b`)
	if err != nil {
		return nil // no name that a line could have
	}
	code := func(f workspace.File) bool { return lang.Of(lang.Detect(f.Name, nil)).Content == lang.Code }
	lines, missing, err := i.box.grep(ctx, want, code, maxNamed+1)
	if err != nil {
		return err
	}
	if missing != nil {
		i.missing = missing
	}
	if len(lines) > maxNamed {
		lines = lines[:maxNamed]
		i.warnings = append(i.warnings, fmt.Sprintf("more than %d lines name %s; search_regex finds the rest", maxNamed, s.Name))
	}
	for _, line := range lines {
		t, _ := retrieval.TypeOf(line.name)
		i.add(line.name, impactEntry{At: line.place(), Signature: line.text, How: "names", Score: sure / 2, Depth: 1, Via: s.Qualified(), Test: t == retrieval.TypeTest, Unsure: true})
	}
	return nil
}

// reply lists the nearest first, and of those the surest.
func (i *impact) reply(within window) reply {
	slices.SortStableFunc(i.answer.Items, func(a, b impactEntry) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(b.Score, a.Score))
	})
	out := i.answer
	out.Total, out.Files = len(out.Items), len(i.files)
	if out.Changed == nil {
		out.Changed = []string{}
	}
	// The changes stand on the first page alone, and are cut like the rest.
	if within.offset > 0 {
		out.Changed = []string{}
	}
	const mostChanged = 25
	if n := len(out.Changed); n > mostChanged {
		out.Changed = append(out.Changed[:mostChanged:mostChanged], fmt.Sprintf("and %d more", n-mostChanged))
	}
	r := part(i.answer.Items, within.offset, within.limit, func(list []impactEntry) any {
		out.Items = list
		return out
	})
	r.from(i.backend, i.missing)
	r.warn(i.warnings...)
	return r
}

// isPublic answers whether a declaration can be used from outside of its package or module, which
// nobody does with a test.
func (b *Toolbox) isPublic(s *workspace.Symbol) bool {
	t, _ := retrieval.TypeOf(b.parts.Workspace.Name(s.Path))
	return t != retrieval.TypeTest && lang.Of(lang.Detect(s.Path, nil)).IsPublic(s.Name, s.Signature, s.Container != "")
}
