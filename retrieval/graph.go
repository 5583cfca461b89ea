package retrieval

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"quarry/index/fault"
	"quarry/index/syntax"
)

// graph is how files depend on each other: an edge from a file to those that
// declare the names it uses or that its imports name. It is rebuilt when a share
// of the files changed; until then a changed file keeps the edges it had, and a
// new one has none.
type graph struct {
	paths []string // of the nodes, in their order
	// edges [starts[n], starts[n+1]) of targets and weights leave node n or, in
	// the second half, enter it: neighbours count both ways.
	starts  []uint32
	targets []uint32
	weights []float32
	// rank is PageRank divided by its maximum.
	rank []float32
	// keep is what the arrays lie in, if not in memory of their own.
	keep any
	// old has the nodes of versions that are kept beside their successors.
	old bitset
	// twins has those that are compiled from other files.
	twins bitset
}

type edge struct {
	from, to uint32
	weight   float32
}

// Names that many files declare tell nothing about which of them is meant.
const maxDeclaringFiles = 4

// node finds a node by its path.
func (g *graph) node(path string) (uint32, bool) {
	n, ok := slices.BinarySearch(g.paths, path)
	return uint32(n), ok
}

// nodesOf numbers the live files of a snapshot in the order of their paths.
func nodesOf(s *Snapshot) (g *graph, files []*file) {
	for k, seg := range s.segments {
		for i := range seg.files {
			if !s.dead[k].has(i) {
				files = append(files, &seg.files[i])
			}
		}
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	g = &graph{paths: make([]string, len(files))}
	for n, f := range files {
		g.paths[n] = f.path
	}
	g.old, g.twins = oldVersions(files), compiledTwins(s, g)
	return g, files
}

// linkedGraph has the given links.
func linkedGraph(s *Snapshot, links []Link) *graph {
	g, files := nodesOf(s)
	var edges []edge
	for _, l := range links {
		from, ok := g.node(l.From)
		to, found := g.node(l.To)
		if ok && found && from != to {
			edges = append(edges, edge{from, to, l.Weight})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.weight, b.weight))
	})
	g.connect(len(files), edges)
	return g
}

// namedGraph links each file to those its imports may mean, and to those that declare
// the names it imports and, if refers is set, those it uses.
func namedGraph(s *Snapshot, refers bool) *graph {
	n := newNamer(s)
	at := make([]FileID, len(n.files))
	for k, seg := range s.segments {
		for i := range seg.files {
			if node, ok := n.node(seg.files[i].path); ok && !s.dead[k].has(i) {
				at[node] = FileID{uint32(k), uint32(i)}
			}
		}
	}
	for from, file := range at {
		var names []string
		if refers {
			names = slices.Collect(s.Uses(file))
		}
		refs, imported := distinctNames(names, s.Imports(file))
		n.add(uint32(from), refs, imported)
	}
	n.connect(len(n.files), n.edges)
	return n.graph
}

// NamedLinks are the links that an Index makes of the names in its Documents where it has
// no others, made of names that are kept elsewhere: each has to call use with every file's
// path, the names that it refers to, and its imports.
func (s *Snapshot) NamedLinks(each func(use func(path string, names []string, imports []syntax.Import)) error) ([]Link, error) {
	defer s.look()
	defer s.release(fault.Expect())
	n := newNamer(s)
	err := each(func(path string, names []string, imports []syntax.Import) {
		if from, ok := n.node(path); ok {
			refs, imported := distinctNames(names, imports)
			n.add(from, refs, imported)
		}
	})
	if err != nil {
		return nil, err
	}
	links := make([]Link, len(n.edges))
	for i, e := range n.edges {
		links[i] = Link{n.paths[e.from], n.paths[e.to], e.weight}
	}
	return links, nil
}

// namer makes edges of names.
type namer struct {
	*graph
	files    []*file
	declarer map[string][]uint32 // the nodes that declare a name
	modules  modules
	edges    []edge
	weight   map[uint32]float32 // of the edges of one file
}

func newNamer(s *Snapshot) *namer {
	g, files := nodesOf(s)
	n := &namer{graph: g, files: files, declarer: map[string][]uint32{}, modules: moduleIndex(files), weight: map[uint32]float32{}}
	for k, seg := range s.segments {
		for i := range seg.defs {
			d := seg.def(uint32(i))
			f := &seg.files[d.file]
			if len(d.name) < minName || f.class&(classTest|classExample) != 0 || s.dead[k].has(int(d.file)) {
				continue
			}
			node, _ := g.node(f.path)
			n.declarer[d.name] = append(n.declarer[d.name], node)
		}
	}
	for name, nodes := range n.declarer {
		slices.Sort(nodes)
		n.declarer[name] = slices.Compact(nodes)
	}
	return n
}

// add links a file by distinct names and imports.
func (n *namer) add(from uint32, names, imports []string) {
	clear(n.weight)
	for _, name := range names {
		nodes := n.declarer[name]
		if len(nodes) == 0 || len(nodes) > maxDeclaringFiles || slices.Contains(nodes, from) {
			continue
		}
		for _, to := range nodes {
			n.weight[to] += 1 / float32(len(nodes))
		}
	}
	for _, im := range imports {
		targets := n.modules.resolve(im)
		for _, to := range targets {
			if to != from {
				n.weight[to] += 2 / float32(len(targets))
			}
		}
	}
	for _, to := range sortedNodes(n.weight) {
		n.edges = append(n.edges, edge{from, to, n.weight[to]})
	}
}

// minName is the length from which a name links files.
const minName = 3

// distinctNames returns the distinct names by which a file is linked and the paths of
// its imports, both sorted.
func distinctNames(names []string, imports []syntax.Import) (refs, paths []string) {
	for _, name := range names {
		if len(name) >= minName {
			refs = append(refs, name)
		}
	}
	for _, im := range imports {
		paths = append(paths, im.Path)
		refs = append(refs, im.Names...)
	}
	slices.Sort(refs)
	slices.Sort(paths)
	return slices.Clip(slices.Compact(refs)), slices.Clip(slices.Compact(paths))
}

func sortedNodes(m map[uint32]float32) []uint32 {
	out := make([]uint32, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// connect ranks the nodes and lays the edges out both ways.
func (g *graph) connect(n int, edges []edge) {
	g.rank = pageRank(n, edges)
	both := make([]edge, 0, 2*len(edges))
	for _, e := range edges {
		both = append(both, e, edge{e.to, e.from, e.weight})
	}
	slices.SortFunc(both, func(a, b edge) int {
		if a.from != b.from {
			return int(a.from) - int(b.from)
		}
		return int(a.to) - int(b.to)
	})
	g.starts = make([]uint32, n+1)
	for _, e := range both {
		g.starts[e.from+1]++
		g.targets = append(g.targets, e.to)
		g.weights = append(g.weights, e.weight)
	}
	for i := range n {
		g.starts[i+1] += g.starts[i]
	}
}

// pageRank is the power iteration of Brin and Page (1998) with damping .85 over
// weighted edges, scaled to a maximum of 1. Nodes without edges out spread
// evenly.
func pageRank(n int, edges []edge) []float32 {
	const damping, rounds = .85, 30
	out := make([]float32, n)
	for _, e := range edges {
		out[e.from] += e.weight
	}
	rank, next := make([]float32, n), make([]float32, n)
	for i := range rank {
		rank[i] = 1 / float32(n)
	}
	for range rounds {
		loose := float32(0)
		for i := range rank {
			if out[i] == 0 {
				loose += rank[i]
			}
			next[i] = 0
		}
		for _, e := range edges {
			next[e.to] += rank[e.from] * e.weight / out[e.from]
		}
		for i := range next {
			next[i] = (1-damping)/float32(n) + damping*(next[i]+loose/float32(n))
		}
		rank, next = next, rank
	}
	most := float32(0)
	for _, r := range rank {
		most = max(most, r)
	}
	for i := range rank {
		rank[i] /= most
	}
	return rank
}

// modules finds the files an import may mean by the tail of its path.
type modules map[string][]uint32 // last part to files

func moduleIndex(files []*file) modules {
	m := modules{}
	for i := range files {
		for _, key := range moduleKeys(files[i].path) {
			m[key] = append(m[key], uint32(i))
		}
	}
	return m
}

// moduleKeys are the last parts an import of this file may have: its base name,
// and its folder's when the file stands for the folder.
func moduleKeys(p string) []string {
	dir, base := path.Split(p)
	stem, _, _ := strings.Cut(base, ".")
	if faceNames[stem] {
		if dir = path.Base(dir); dir != "." {
			return []string{stem, dir}
		}
	}
	return []string{stem}
}

// resolve returns the files an import may mean by its last part, or the one
// before where the last is a name or an extension; none when they are more than
// maxDeclaringFiles.
func (m modules) resolve(imported string) []uint32 {
	parts := strings.FieldsFunc(imported, func(r rune) bool { return r == '/' || r == '.' || r == ':' || r == '\\' })
	for len(parts) > 0 && (parts[0] == "crate" || parts[0] == "self" || parts[0] == "super") {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return nil
	}
	// The extension of "./util.js" and the name of "a.b.Name" may stand last.
	for drop := 0; drop < 2 && drop < len(parts); drop++ {
		if files := m[parts[len(parts)-1-drop]]; len(files) > 0 && len(files) <= maxDeclaringFiles {
			return files
		}
	}
	return nil
}
