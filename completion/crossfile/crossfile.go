// Package crossfile finds what a completion should know of other files: the
// signatures of the declarations that the code at the cursor uses or is likely
// to use next. A [Source] is a completion.ContextSource fed with what package
// syntax says of each file of the workspace.
//
// The likely declarations are found by name, which needs no types and works in
// every language there is a grammar for: names used near the cursor and in the
// rest of the file, members of the types among them, and what the files beside
// it and the rest of the workspace use most. Where a name has several
// declarations, those in the same folder and in what the file imports come
// first.
package crossfile

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"quarry/completion"
	"quarry/index/syntax"
)

// Source knows the declarations of a workspace. It is safe for concurrent use.
type Source struct {
	mu sync.RWMutex
	// All below is guarded by mu.

	files map[string]*file
	// named are the declarations of each name, members those of each container's
	// last name; uses counts in how many files each name is used.
	named   map[string][]*declaration
	members map[string][]*declaration
	uses    map[string]int
	// folders are the files of each folder.
	folders map[string]map[*file]bool
}

type file struct {
	path, family string
	declarations []*declaration
	uses         map[string]bool
	imports      []syntax.Import
}

type declaration struct {
	file      *file
	name      string
	container string
	kind      syntax.Kind
	signature string
	line, end int
}

// New makes an empty Source.
func New() *Source {
	return &Source{
		files: map[string]*file{}, named: map[string][]*declaration{}, members: map[string][]*declaration{},
		uses: map[string]int{}, folders: map[string]map[*file]bool{},
	}
}

// Put takes the newest reading of a file.
func (s *Source) Put(name string, read *syntax.File) {
	f := &file{path: name, family: family(read.Language), uses: map[string]bool{}, imports: read.Imports}
	for i := range read.Symbols {
		sym := &read.Symbols[i]
		if sym.Name == "" || sym.Signature == "" || sym.Kind == syntax.KindSection || sym.Kind == syntax.KindModule {
			continue
		}
		f.declarations = append(f.declarations, &declaration{
			file: f, name: sym.Name, container: sym.Container, kind: sym.Kind, signature: clip(sym.Signature),
			line: int(sym.Span.StartLine), end: int(sym.Span.EndLine),
		})
	}
	for i := range read.Refs {
		f.uses[read.Refs[i].Name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
	s.files[name] = f
	for _, d := range f.declarations {
		s.named[d.name] = append(s.named[d.name], d)
		if c := lastName(d.container); c != "" {
			s.members[c] = append(s.members[c], d)
		}
	}
	for used := range f.uses {
		s.uses[used]++
	}
	dir := path.Dir(name)
	if s.folders[dir] == nil {
		s.folders[dir] = map[*file]bool{}
	}
	s.folders[dir][f] = true
}

// Remove forgets a file.
func (s *Source) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
}

func (s *Source) remove(name string) {
	f := s.files[name]
	if f == nil {
		return
	}
	delete(s.files, name)
	drop := func(index map[string][]*declaration, key string) {
		index[key] = slices.DeleteFunc(index[key], func(d *declaration) bool { return d.file == f })
		if len(index[key]) == 0 {
			delete(index, key)
		}
	}
	for _, d := range f.declarations {
		drop(s.named, d.name)
		drop(s.members, lastName(d.container))
	}
	for used := range f.uses {
		if s.uses[used]--; s.uses[used] == 0 {
			delete(s.uses, used)
		}
	}
	dir := path.Dir(name)
	if delete(s.folders[dir], f); len(s.folders[dir]) == 0 {
		delete(s.folders, dir)
	}
}

// maxSignature bounds what one declaration may take of the budget.
const maxSignature = 240

func clip(signature string) string {
	if len(signature) <= maxSignature {
		return signature
	}
	return strings.ToValidUTF8(signature[:maxSignature], "") + " …"
}

func lastName(container string) string {
	return container[strings.LastIndexByte(container, '.')+1:]
}

// Context implements completion.ContextSource.
func (s *Source) Context(ctx context.Context, q completion.ContextQuery) []completion.Snippet {
	s.mu.RLock()
	defer s.mu.RUnlock()
	here := look(q)
	here.family = family(q.Language)
	if self := s.files[q.Path]; self != nil {
		here.imports = self.imports
	} else if len(q.Text) <= maxAnalyze {
		// A file that was never read: a new one.
		if f, err := syntax.Analyze(q.Language, []byte(q.Text)); err == nil {
			here.imports = f.Imports
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return snippets(s.rank(q.Path, here), q.Tokens)
}

// candidate is a declaration with what speaks for it.
type candidate struct {
	*declaration
	score float64
	why   string
}

// rank scores the declarations of other files that here may want. The caller
// holds mu.
func (s *Source) rank(name string, here surroundings) []candidate {
	found := map[*declaration]*candidate{}
	self := s.files[name]
	add := func(d *declaration, evidence float64, why string) {
		if d.file == self || d.file.path == name || d.file.family != here.family {
			return
		}
		c := found[d]
		if c == nil {
			c = &candidate{declaration: d}
			found[d] = c
		}
		if evidence > c.score {
			c.why = why
		}
		c.score += evidence
	}

	for used, weight := range here.names {
		if everyday[used] {
			continue
		}
		// A name with many declarations says little of each.
		if list := s.named[used]; len(list) <= maxDeclarations {
			for _, d := range list {
				add(d, 2*weight/math.Sqrt(float64(len(list))), "declaration of "+used)
			}
		}
		if list := s.members[used]; len(list) <= maxDeclarations {
			for _, d := range list {
				add(d, weight*memberWeight, "member of "+used)
			}
		}
	}
	// What the files beside this one declare and use, it may use too.
	beside := map[string]int{}
	for f := range s.folders[path.Dir(name)] {
		if f == self {
			continue
		}
		for used := range f.uses {
			beside[used]++
		}
		for _, d := range f.declarations {
			add(d, 0.05, "declared in the same folder")
		}
	}
	for used, n := range beside {
		if list := s.named[used]; len(list) <= maxDeclarations {
			for _, d := range list {
				add(d, besideWeight*math.Log2(1+float64(n))/math.Sqrt(float64(len(list))), "used by the files beside this one")
			}
		}
	}

	imported := importedBy(name, here.imports)
	var list []candidate
	for d, c := range found {
		uses := s.uses[d.name]
		if self != nil && self.uses[d.name] {
			uses-- // the file as it was when it was read counts for nothing
		}
		c.score += 0.1 * math.Log2(1+float64(uses))
		switch {
		case path.Dir(d.file.path) == path.Dir(name):
		case imported(d.file.path):
			c.score *= 0.9
		default:
			c.score *= 0.3
		}
		if d.kind == syntax.KindField || d.kind == syntax.KindVar {
			c.score *= 0.5 // their signatures tell less
		}
		if isTest(d.file.path) && !isTest(name) {
			c.score *= 0.1
		}
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.file.path, b.file.path), cmp.Compare(a.line, b.line))
	})
	return list
}

// Weights of the evidence, against 2 for a name that stands right at the
// cursor; bench/completion.md has what they find.
const (
	memberWeight = 0.6
	besideWeight = 0.15
	// maxDeclarations keeps names that everything declares (String, main) from
	// costing time; which of them is meant, a name cannot tell anyway.
	maxDeclarations = 100
)

func isTest(name string) bool {
	base := path.Base(name)
	return strings.Contains(base, "_test.") || strings.HasPrefix(base, "test_") || strings.Contains(base, ".test.") ||
		strings.Contains(base, ".spec.") || strings.Contains(name, "/test/") || strings.Contains(name, "/tests/") ||
		strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "tests/")
}

// snippets are the best candidates, some more than fit tokens: the engine takes
// what does.
func snippets(list []candidate, tokens int) []completion.Snippet {
	var out []completion.Snippet
	bytes := 0
	for _, c := range list {
		text := line(c)
		if bytes += len(text); bytes > 6*tokens {
			break
		}
		out = append(out, completion.Snippet{Path: c.file.path, StartLine: c.line, EndLine: c.end, Text: text, Why: c.why})
	}
	return out
}

// line is a signature with the container where it does not name it itself.
func line(c candidate) string {
	if c.container == "" || strings.Contains(c.signature, lastName(c.container)) {
		return c.signature
	}
	return c.container + ": " + c.signature
}
