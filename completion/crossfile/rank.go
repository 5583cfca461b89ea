package crossfile

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/index/syntax"
)

// candidate is a declaration with what speaks for it.
type candidate struct {
	*declaration
	score float64
	// near is the weight of its own name in the document, 1 at the cursor.
	near float64
	why  string
	best float64 // the evidence that why speaks of
}

// Weights of the evidence, against 2 for a name that stands right at the
// cursor; bench/context.md has what they find.
const (
	memberWeight = 0.6
	besideWeight = 0.15
	folderWeight = 0.05
	importWeight = 0.05
	// qualifierWeight is for the members of what is named near the cursor.
	qualifierWeight = 0.2
	// maxDeclarations keeps names that everything declares (String, main) from
	// costing time; which of them is meant, a name cannot tell anyway.
	maxDeclarations = 100
	// maxImported keeps folders of thousands of files from costing time.
	maxImported = 500
	// farLines is how far from the cursor a declaration of the document itself
	// has to stand to be outside the prompt's window.
	farLines = 200
)

// ranking is one ranking under way.
type ranking struct {
	source   *Source
	place    place
	family   string
	cursor   int
	imported imported
	found    map[*declaration]*candidate
}

// rank scores the declarations that the document may want, best first. When ctx
// ends it answers with the evidence it has.
func (s *Source) rank(ctx context.Context, q completion.ContextQuery, here surroundings) []candidate {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := ranking{
		source: s, place: place{q.Root, q.Path}, family: family(q.Language), cursor: here.cursor,
		imported: importedBy(q.Path, s.imports(q)), found: map[*declaration]*candidate{},
	}
	for _, used := range here.names {
		n := s.declared.names[used.text]
		if n == nil || everyday[used.text] {
			continue
		}
		// A name with many declarations says little of each.
		if list := n.declared; len(list) <= maxDeclarations {
			for _, d := range list {
				r.add(d, 2*used.weight/math.Sqrt(float64(len(list))), "declaration of "+used.text, used.weight)
			}
		}
		if list := n.members; len(list) <= maxDeclarations {
			for _, d := range list {
				r.add(d, used.weight*memberWeight, "member of "+used.text, 0)
			}
		}
	}
	if ctx.Err() == nil {
		r.beside()
	}
	if ctx.Err() == nil {
		r.imports(here)
	}
	return r.order(q)
}

// beside adds what the files beside the document declare and use: it may use
// that too.
func (r *ranking) beside() {
	count := map[*name]int{}
	var order []*name
	for _, f := range r.source.declared.beside(r.place) {
		if f.place == r.place {
			continue
		}
		for _, used := range f.uses {
			if count[used]++; count[used] == 1 {
				order = append(order, used)
			}
		}
		for _, d := range f.declared {
			r.add(d, folderWeight, "declared in the same folder", 0)
		}
	}
	for _, used := range order {
		if list := used.declared; len(list) <= maxDeclarations {
			weight := besideWeight * math.Log2(1+float64(count[used])) / math.Sqrt(float64(len(list)))
			for _, d := range list {
				r.add(d, weight, "used by the files beside this one", 0)
			}
		}
	}
}

// imports adds what imported files declare: more where the name that a package,
// module or class is imported by stands near the cursor.
func (r *ranking) imports(here surroundings) {
	if len(r.imported) == 0 || r.source.reach == Folder {
		return
	}
	near := map[string]float64{}
	for _, used := range here.names {
		near[used.text] = used.weight
	}
	may := r.imported.folders()
	for dir, files := range r.source.declared.folders {
		if !may(dir.path) || len(files) > maxImported {
			continue
		}
		for _, f := range files {
			if !r.imported.has(f.path) {
				continue
			}
			stem := strings.TrimSuffix(path.Base(f.path), path.Ext(f.path))
			weight := importWeight + qualifierWeight*max(near[stem], near[path.Base(dir.path)])
			for _, d := range f.declared {
				r.add(d, weight, "declared in an import", 0)
			}
		}
	}
}

func (r *ranking) add(d *declaration, evidence float64, why string, near float64) {
	if d.file.family != r.family {
		return
	}
	if d.file.place == r.place {
		// What stands near is in the prompt; what stands far counts if it is named.
		if away := int(d.line) - r.cursor; near == 0 || away < farLines && -away < farLines {
			return
		}
	}
	c := r.found[d]
	if c == nil {
		c = &candidate{declaration: d}
		r.found[d] = c
	}
	if evidence > c.best {
		c.why, c.best = why, evidence
	}
	c.score += evidence
	c.near = max(c.near, near)
}

// order weighs the candidates by where they are declared.
func (r *ranking) order(q completion.ContextQuery) []candidate {
	open := map[place]bool{}
	for i := range q.Open {
		open[place{q.Open[i].Root, q.Open[i].Path}] = true
	}
	// The document as it was when it was read counts for nothing.
	own := map[*name]int{}
	if f := r.source.declared.files[r.place]; f != nil {
		for _, used := range f.uses {
			own[used]++
		}
	}
	list := make([]candidate, 0, len(r.found))
	nearness := map[*file]float64{}
	for _, c := range r.found {
		weight, ok := nearness[c.file]
		if !ok {
			weight = r.nearness(c.file, open)
			nearness[c.file] = weight
		}
		if weight == 0 {
			continue
		}
		c.score = (c.score + 0.1*math.Log2(1+float64(c.name.uses-own[c.name]))) * weight
		if c.kind == syntax.KindField || c.kind == syntax.KindVar {
			c.score *= 0.5 // their signatures tell less
		}
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), compareFiles(a.file, b.file), cmp.Compare(a.line, b.line),
			strings.Compare(a.name.text, b.name.text))
	})
	return list
}

// imports are those of the document. The caller holds mu.
func (s *Source) imports(q completion.ContextQuery) []syntax.Import {
	if f := s.declared.files[place{q.Root, q.Path}]; f != nil {
		return f.imports
	}
	if len(q.Text) > maxAnalyze {
		return nil
	}
	read, err := syntax.Analyze(q.Language, []byte(q.Text))
	if err != nil {
		return nil
	}
	return read.Imports
}

// nearness is what a declaration in f counts, 0 if f is out of reach.
func (r *ranking) nearness(f *file, open map[place]bool) float64 {
	weight := 0.3
	switch reach := r.source.reach; {
	case f.dir() == r.place.dir():
		weight = 1
	case reach == Folder:
		return 0
	case r.imported.has(f.path):
		weight = 0.9
	case reach == Imports:
		return 0
	case open[f.place]:
		weight = 0.6
	}
	if isTest(f.path) && !isTest(r.place.path) {
		weight *= 0.1
	}
	return weight
}

func isTest(name string) bool {
	base := path.Base(name)
	return strings.Contains(base, "_test.") || strings.HasPrefix(base, "test_") || strings.Contains(base, ".test.") ||
		strings.Contains(base, ".spec.") || strings.Contains(name, "/test/") || strings.Contains(name, "/tests/") ||
		strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "tests/")
}
