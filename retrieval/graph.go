package retrieval

import (
	"cmp"
	"path"
	"slices"
	"strings"
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
	g.old = oldVersions(files)
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

// namedGraph links each file to those that declare the names it refers to and to
// those its imports may mean.
func namedGraph(s *Snapshot) *graph {
	g, files := nodesOf(s)
	byName := map[string][]uint32{}
	for k, seg := range s.segments {
		for i := range seg.defs {
			d := seg.def(uint32(i))
			f := &seg.files[d.file]
			if len(d.name) < 3 || f.class&(classTest|classExample) != 0 || s.dead[k].has(int(d.file)) {
				continue
			}
			n, _ := g.node(f.path)
			byName[d.name] = append(byName[d.name], n)
		}
	}
	for name, nodes := range byName {
		slices.Sort(nodes)
		byName[name] = slices.Compact(nodes)
	}
	modules := moduleIndex(files)
	weight := map[uint32]float32{}
	var edges []edge
	for n, f := range files {
		clear(weight)
		for _, name := range f.refs {
			nodes := byName[name]
			if len(nodes) == 0 || len(nodes) > maxDeclaringFiles || slices.Contains(nodes, uint32(n)) {
				continue
			}
			for _, to := range nodes {
				weight[to] += 1 / float32(len(nodes))
			}
		}
		for _, im := range f.imports {
			targets := modules.resolve(im)
			for _, to := range targets {
				if to != uint32(n) {
					weight[to] += 2 / float32(len(targets))
				}
			}
		}
		for _, to := range sortedNodes(weight) {
			edges = append(edges, edge{uint32(n), to, weight[to]})
		}
	}
	g.connect(len(files), edges)
	return g
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
