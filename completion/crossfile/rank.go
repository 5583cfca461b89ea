package crossfile

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"quarry/completion"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
)

// evidence is a kind of what speaks for a declaration, or against it.
type evidence int

const (
	// called: its name is being called or typed.
	called evidence = iota
	// begun is 1 where its name begins with the word that is typed at the cursor, less
	// where that has less than three letters.
	begun
	// near is how near the cursor its name stands, 1 at the cursor.
	near
	// often is the logarithm of how often the document has its name.
	often
	// member is how near the cursor the name of its type stands.
	member
	// beside is the logarithm of how many files beside the document use it.
	beside
	// imported is 1 for what an import declares.
	imported
	// sibling is how near the cursor a declaration is named that stands beside it.
	sibling
	// alike is the share of the parts of its name that names near the cursor have
	// too.
	alike
	// type and field are 1 for what they say: lines name functions more often.
	isType
	isField
	// many is the logarithm of how many declarations have its name.
	many
	kinds
)

// weights of the evidence: those of a softmax over all candidates that best
// foretells, on 17 repositories, which declarations the line at the cursor
// names before it is written; only called is chosen, to come before all else.
// What each is worth and what was tried besides: bench/context.md.
var weights = [kinds]float64{
	called: 8, begun: 4, near: 1.75, often: 0.37, member: 0.32, beside: 0.22, imported: 0.35, sibling: 0.55, alike: 2, isType: -1.24, isField: -0.17, many: -0.2,
}

const (
	// ofTests is what counts against a declaration of a test in a document that is
	// none: less than a name that is being called counts for it, since some
	// languages have tests in the file they test.
	ofTests = 1.5
	// maxDeclarations keeps names that everything declares (String, main) from
	// costing time; which of them is meant, a name cannot tell anyway.
	maxDeclarations = 100
	// maxMembers is the same for the members of types of one name; with more than
	// fewMembers, each counts less.
	maxMembers, fewMembers = 1000, 20
	// fewNamesakes is how many types may have a member of one name before that tells
	// little; basesUp is how far up a type's bases are followed.
	fewNamesakes, basesUp = 4, 4
	// maxImported keeps folders of thousands of files from costing time.
	maxImported = 500
	// siblings is how many declarations above and below one are its siblings, of a
	// name that stands at least as near as siblingNear and has at most
	// siblingMany declarations.
	siblings, siblingNear, siblingMany = 3, 0.3, 10
	// wholeWord is how many letters of a name tell which one is being typed.
	wholeWord = 3
	// alikeNear is how near the names stand whose parts are compared.
	alikeNear = 0.4
	// fewestTokens is what the shortest signatures take of a prompt.
	fewestTokens = 2
)

// candidate is a declaration with what speaks for it.
type candidate struct {
	declaration
	retrieval.Signature
	traits
	evidence [kinds]float64
	score    float64
	// named is how many declarations have its name, used how many files use it, -1 if that
	// was not asked.
	named, used int
}

// nearness is how near the cursor its name stands, whatever else has the name.
func (c *candidate) nearness() float64 {
	return max(c.evidence[near], c.evidence[called]) * math.Sqrt(float64(c.named))
}

// why is the strongest evidence in words.
func (c *candidate) why() string {
	best := called
	for e := range kinds {
		if weights[e]*c.evidence[e] > weights[best]*c.evidence[best] {
			best = e
		}
	}
	switch {
	case best == begun:
		return "begins like the word at the cursor"
	case c.evidence[best] == 0:
		return "declared in the same folder"
	case best == member:
		return "member of " + lastName(c.Container)
	case best == beside:
		return "used by the files beside this one"
	case best == imported:
		return "declared in an import"
	case best == sibling:
		return "declared beside what is used here"
	case best == alike && c.evidence[near] == 0:
		return "named like what is used here"
	}
	return "declaration of " + c.Name
}

// ranking is one ranking under way.
type ranking struct {
	reach    Reach
	declared *declared
	here     *surroundings
	key      fileKey
	family   string
	reached  imports
	// test is whether the document is one.
	test bool
	// kin are the types that the cursor's line stands in, with their bases and theirs.
	// stated are the names in the document.
	kin, stated map[string]bool
	// list are the candidates, found is where those stand there that something
	// speaks for.
	list  []candidate
	found map[declaration]int // -1: cannot be one
}

// rank scores the declarations that the document may want, best first. When ctx
// ends it answers with the evidence it has.
func (s *Source) rank(ctx context.Context, q completion.ContextQuery, here surroundings, known *declared) []*candidate {
	r := ranking{
		reach: s.reach, declared: known, here: &here, key: fileKey{q.Root, q.Path}, family: lang.Family(q.Language),
		reached: importedBy(q.Path, known.importsOf(q)), test: lang.IsTest(q.Path), found: map[declaration]int{},
	}
	for _, gather := range []func(){r.named, r.besides, r.imports, r.plain} {
		if ctx.Err() == nil {
			gather()
		}
	}
	return r.order(max(q.Tokens/fewestTokens, 1))
}

// named adds what the document names: declarations, members of types, and what
// is declared beside them.
func (r *ranking) named() {
	r.relate()
	for i := range r.here.names {
		used := &r.here.names[i]
		if everyday[used.text] {
			continue
		}
		if list := r.declared.name(used.text).declared; len(list) > 0 && len(list) <= maxDeclarations {
			// A name with many declarations says little of each.
			share := 1 / math.Sqrt(float64(len(list)))
			for _, d := range list {
				share := r.meant(d, used, share, len(list))
				r.add(d, called, used.called*share)
				r.add(d, near, used.weight*share)
				r.add(d, often, math.Log2(1+float64(used.count))*share)
			}
			if len(list) <= siblingMany && used.weight >= siblingNear {
				for _, d := range list {
					r.siblings(d, used.weight*share)
				}
			}
		}
		if list := r.declared.members(used.text); len(list) <= maxMembers {
			share := min(1, math.Sqrt(fewMembers/float64(len(list))))
			for _, d := range list {
				r.add(d, member, max(used.weight, used.called)*share)
			}
		}
	}
}

// relate learns kin and stated.
func (r *ranking) relate() {
	r.kin, r.stated = map[string]bool{}, map[string]bool{}
	for _, used := range r.here.names {
		r.stated[used.text] = true
	}
	names := r.here.kin
	for range basesUp {
		var above []string
		for _, name := range names {
			if r.kin[name] {
				continue
			}
			r.kin[name] = true
			list := r.declared.name(name).declared
			if len(list) > siblingMany {
				continue
			}
			for _, d := range list {
				bases, _ := kinOf(d.in.Snapshot.SignatureText(d.id))
				above = append(above, bases...)
			}
		}
		names = above
	}
}

// meant is how much of what speaks for a name speaks for d, one of many that have it:
// all of it for a member of the type that the code is part of, or of its base, where that
// is asked; nothing for other members where a base is; and less for a member that many
// types have, such as a constructor or close, of a type that the document does not name.
func (r *ranking) meant(d declaration, used *weighted, share float64, many int) float64 {
	owner := lastName(d.in.Snapshot.Signature(d.id).Container)
	asked := used.called > 0 || r.here.begun != "" && strings.HasPrefix(used.text, r.here.begun)
	switch {
	case owner == "":
	case r.kin[owner]:
		if asked && r.here.receiver != anyone {
			return 1
		}
	case asked && r.here.receiver == base && len(r.kin) > 0:
		return 0
	case many > fewNamesakes && !r.stated[owner]:
		return share / 4
	}
	return share
}

func (r *ranking) siblings(d declaration, weight float64) {
	d.in.Snapshot.Around(d.id, siblings, func(id retrieval.DeclarationID, away int) {
		r.add(declaration{d.in, id}, sibling, weight/float64(away))
	})
}

// besides adds what the files beside the document use: it may use that too.
func (r *ranking) besides() {
	count := map[string]int{}
	for _, f := range r.declared.beside(r.key) {
		for used := range f.in.Snapshot.Uses(f.id) {
			count[used]++
		}
	}
	for used, n := range count {
		if list := r.declared.name(used).declared; len(list) <= maxDeclarations {
			weight := math.Log2(1+float64(n)) / math.Sqrt(float64(len(list)))
			for _, d := range list {
				r.add(d, beside, weight)
			}
		}
	}
}

// imports adds what imported files declare.
func (r *ranking) imports() {
	if len(r.reached) == 0 || r.reach == Folder {
		return
	}
	may := r.reached.folders()
	for _, in := range r.declared.folders {
		for dir := range in.Snapshot.Folders() {
			if !may(dir) {
				continue
			}
			files := in.Snapshot.FilesIn(dir)
			if len(files) > maxImported {
				continue
			}
			for _, f := range files {
				if !r.reached.has(in.Snapshot.Path(f)) {
					continue
				}
				for d := range in.Snapshot.DeclaredIn(f) {
					r.add(declaration{in, d}, imported, 1)
				}
			}
		}
	}
}

// plain adds what the files beside the document declare and nothing speaks for
// so far.
func (r *ranking) plain() {
	for _, f := range r.declared.beside(r.key) {
		for id := range f.in.Snapshot.DeclaredIn(f.id) {
			d := declaration{f.in, id}
			if _, met := r.found[d]; met {
				continue
			}
			if c, ok := r.candidate(d); ok {
				r.list = append(r.list, c)
			}
		}
	}
}

func (r *ranking) add(d declaration, e evidence, value float64) {
	if value == 0 {
		return
	}
	i, met := r.found[d]
	if !met {
		c, ok := r.candidate(d)
		switch {
		case !ok:
			i = -1
		case c.key == r.key && e > often:
			return // of the document itself, only what it names
		default:
			i = len(r.list)
			r.list = append(r.list, c)
		}
		r.found[d] = i
	}
	if i >= 0 && (e <= often || r.list[i].key != r.key) {
		r.list[i].evidence[e] = max(r.list[i].evidence[e], value)
	}
}

// candidate makes one of a declaration; ok is false if it cannot be one at all.
func (r *ranking) candidate(d declaration) (c candidate, ok bool) {
	c = candidate{declaration: d, Signature: d.in.Snapshot.Signature(d.id), used: -1}
	c.traits = r.declared.traitsOf(file{d.in, c.File})
	shown := r.here.shown
	return c, c.family == r.family && (c.key != r.key || c.Line > shown[1] || c.Line < shown[0] && c.End < r.here.cursor)
}

// order scores the candidates and answers the best, at most n or those as good
// as the nth.
func (r *ranking) order(n int) []*candidate {
	parts := map[string]float64{} // of the names near the cursor
	for _, used := range r.here.names {
		if used.weight >= alikeNear && !everyday[used.text] {
			eachPart(used.text, func(p []byte) { parts[string(p)] = max(parts[string(p)], used.weight) })
		}
	}
	list := make([]*candidate, 0, len(r.list))
	for i := range r.list {
		c := &r.list[i]
		if !r.reaches(c.key) {
			continue
		}
		c.named = len(r.declared.name(c.Name).declared)
		switch c.Kind {
		case syntax.KindField, syntax.KindVar, syntax.KindConst:
			c.evidence[isField] = 1
		case syntax.KindFunction, syntax.KindMethod, syntax.KindMacro:
		default:
			c.evidence[isType] = 1
		}
		c.evidence[many] = math.Log2(float64(c.named))
		has, all := 0.0, 0.0
		eachPart(c.Name, func(p []byte) {
			all++
			has += parts[string(p)]
		})
		c.evidence[alike] = has / max(all, 1)
		if typed := r.here.begun; len(typed) < len(c.Name) && strings.HasPrefix(c.Name, typed) &&
			(r.here.receiver != base || len(r.kin) == 0 || r.kin[lastName(c.Container)]) {
			c.evidence[begun] = min(float64(len(typed))/wholeWord, 1)
		}
		for e := range kinds {
			c.score += weights[e] * c.evidence[e]
		}
		if c.test && !r.test {
			c.score -= ofTests
		}
		list = append(list, c)
	}
	if len(list) > n {
		// Of thousands only some hundred can be shown: the rest is not worth
		// sorting.
		scores := make([]float64, len(list))
		for i, c := range list {
			scores[i] = c.score
		}
		slices.Sort(scores)
		least := scores[len(scores)-n]
		list = slices.DeleteFunc(list, func(c *candidate) bool { return c.score < least })
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(r.uses(b), r.uses(a)), strings.Compare(a.key.path, b.key.path), strings.Compare(a.key.root, b.key.root),
			cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
	return list
}

// uses is how many files use the name of a candidate.
func (r *ranking) uses(c *candidate) int {
	if c.used < 0 {
		c.used = r.declared.usedBy(c.Name)
	}
	return c.used
}

func (r *ranking) reaches(at fileKey) bool {
	near := at.root == r.key.root && path.Dir(at.path) == path.Dir(r.key.path)
	switch r.reach {
	case Folder:
		return near
	case Imports:
		return near || r.reached.has(at.path)
	}
	return true
}

// eachPart calls yield for the parts of a name of three letters or more, in
// lower case: parse and Range of parseRange. A part is valid during the call.
func eachPart(name string, yield func([]byte)) {
	var buf [64]byte
	part := buf[:0]
	end := func() {
		if len(part) > 2 {
			yield(part)
		}
		part = buf[:0]
	}
	for i := range len(name) {
		c := name[i]
		upper := c >= 'A' && c <= 'Z'
		if c == '_' || upper && i > 0 && (name[i-1] < 'A' || name[i-1] > 'Z') {
			end()
		}
		if upper {
			c += 'a' - 'A'
		}
		if c != '_' && len(part) < len(buf) {
			part = append(part, c)
		}
	}
	end()
}

// importsOf are the imports of the document.
func (d *declared) importsOf(q completion.ContextQuery) []syntax.Import {
	if f, ok := d.at(fileKey{q.Root, q.Path}); ok {
		return f.in.Snapshot.Imports(f.id)
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
