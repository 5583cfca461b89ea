package retrieval

import (
	"cmp"
	"slices"
	"strings"

	"quarry/index/syntax"
)

// candidate is a file that may answer, with what speaks for it.
type candidate struct {
	file    uint32 // of the snapshot
	meta    *file
	class   fileClass // of the file, and of where it stands among others
	node    int32     // in the graph, -1 if it is too new
	signals weights
	score   float32
	// chunks are the file's best chunks of the snapshot, best first.
	chunks [sumChunks]scored
	n      int
	// def is the declaration that answers a name of the query, nil if none.
	def      *def
	defValue float32
	// exact: the file declares a name of the query as it is written.
	exact bool
	// wordDef is the declaration a plain word names.
	wordDef *def
	// literal is the byte offset of the quoted text, -1 if not found.
	literal     int
	literalLine int
	// messageChunk has the longest runs of the query's words, if sigMessage is not 0.
	messageChunk uint32
	locality     string
	// meantChunk is the file's chunk nearest to the query, meantShare its share of
	// the nearest one's cosine, 0 if none is near.
	meantChunk   uint32
	meantShare   float32
	neighbour    uint32
	neighbourGot float32
}

// candidateOf returns the candidate of a file, made if need be. The pointer is
// good until the next call.
func (sc *scratch) candidateOf(s *Snapshot, f uint32) *candidate {
	if slot := sc.slots[f]; slot > 0 {
		return &sc.candidates[slot-1]
	}
	c := candidate{file: f, meta: s.file(f), literal: -1, node: -1}
	c.class = c.meta.class
	node, ok := s.graph.node(c.meta.path)
	if s.besideSource(c.meta.path) || ok && s.graph.twins.has(int(node)) {
		c.class |= classTwin
	}
	if ok {
		c.node = int32(node)
		if s.graph.old.has(int(node)) {
			c.class |= classCompat
		}
		sc.nodes[node] = int32(len(sc.candidates)) + 1
	}
	sc.candidates = append(sc.candidates, c)
	sc.slots[f] = int32(len(sc.candidates))
	return &sc.candidates[len(sc.candidates)-1]
}

// lexical makes candidates of the files of the best chunks and file metadata.
func (sr *search) lexical() {
	sc, s := sr.sc, sr.snap
	s.accumulate(sc, sr.query.terms, sr.idfs)
	keepChunk := func(c uint32) bool { return sr.keeps(s.fileOfChunk(c)) && sr.keepsChunk(c) }
	for _, hit := range sc.top(sc.chunkScores, candidateChunks, s.orderChunks, keepChunk) {
		c := sc.candidateOf(s, s.fileOfChunk(hit.doc))
		if c.n < sumChunks {
			c.chunks[c.n] = hit
			c.n++
		}
	}
	for _, hit := range sc.top(sc.metadataScores, metadataCandidates, s.orderFiles, sr.keeps) {
		sc.candidateOf(s, hit.doc)
	}
}

// pathSignals compares the query's words with the words of each candidate's
// path.
func (sr *search) pathSignals() {
	q := &sr.query
	total := sr.totalIDF
	if total == 0 {
		return
	}
	for i := range sr.sc.candidates {
		c := &sr.sc.candidates[i]
		words := &c.meta.words
		covered := q.joinedName(words.base)
		var inName, inDirs float32
		for k, w := range q.words {
			if covered.has(k) {
				inName += sr.wordIDF[k]
			} else {
				inName += sr.wordIDF[k] * nearest(words.name, w, q.raw[k])
			}
			inDirs += sr.wordIDF[k] * nearest(words.dirs, w, q.raw[k])
		}
		hits := float32(0)
		for _, w := range words.name {
			most := float32(0)
			for k := range q.words {
				most = max(most, alike(w, q.words[k], q.raw[k]))
			}
			hits += most
		}
		if covered != 0 {
			hits = float32(len(words.name))
		}
		c.signals[sigNameRecall] = inName / total
		c.signals[sigDirRecall] = inDirs / total
		if n := len(words.name); n > 0 && hits > 0 {
			c.signals[sigNamePrecision] = hits / float32(n)
		}
	}
}

// nearest is how well the best of a path's words agrees with a word of the query.
func nearest(path []string, stem, raw string) float32 {
	most := float32(0)
	for _, p := range path {
		most = max(most, alike(p, stem, raw))
	}
	return most
}

// alike is 1 for a word of a path that is the query's, and less when one
// abbreviates the other: ser and serialize, impls and implementations, attr and
// attribute.
func alike(path, stem, raw string) float32 {
	if path == stem {
		return 1
	}
	if len(path) >= minAbbreviation && strings.HasPrefix(raw, path) || len(stem) >= minLonger && strings.HasPrefix(path, stem) {
		return abbreviation
	}
	return 0
}

// definitionSignals finds the declarations of the names in the query.
func (sr *search) definitionSignals() {
	for i := range sr.query.names {
		name := &sr.query.names[i]
		key := flatName(name.written)
		for k, seg := range sr.snap.segments {
			seg.lookup(key, func(d *def) { sr.declares(k, d, name, 1) })
		}
	}
	for i, w := range sr.query.plain {
		for k, seg := range sr.snap.segments {
			seg.lookup(w.flat, func(d *def) { sr.wordDeclared(k, d, i) })
		}
	}
	if sr.query.class != ClassSymbol || len(sr.query.names) == 0 {
		return
	}
	sr.preferExact()
	// Nothing has the name: names that start with it, then misspellings.
	name := &sr.query.names[0]
	key := flatName(name.written)
	if sr.anyDefinition() || len(key) < 3 {
		return
	}
	sr.snap.prefixed(key, maxPrefixNames, func(k int, d *def) { sr.declares(k, d, name, .6) })
	if sr.anyDefinition() || len(key) < 4 {
		return
	}
	edits := 1
	if len(key) >= 8 {
		edits = 2
	}
	for k, seg := range sr.snap.segments {
		seg.similar(key, edits, func(d *def, n int) { sr.declares(k, d, name, .6/float32(1+n)) })
	}
}

// preferExact puts those that declare the name as it is written before those that declare it
// in another case or cut otherwise, and notes a name that only one file declares.
func (sr *search) preferExact() {
	least, files := float32(definitionNameBoost), 0
	for i := range sr.sc.candidates {
		if c := &sr.sc.candidates[i]; c.exact {
			least = min(least, c.signals[sigDefinition])
			files++
		}
	}
	if files == 0 {
		return
	}
	sr.onlyOne = files == 1
	for i := range sr.sc.candidates {
		if c := &sr.sc.candidates[i]; !c.exact {
			c.signals[sigDefinition] = min(c.signals[sigDefinition], least) * definitionCase
		}
	}
}

const maxPrefixNames = 50

func (sr *search) anyDefinition() bool {
	return slices.ContainsFunc(sr.sc.candidates, func(c candidate) bool { return c.def != nil })
}

// sigils are what languages and habits put before a name: PHP's $total, $ZodType, _read.
// Questions leave them out.
const sigils = "$_"

// declares notes that d has a name of the query, in full or in part (share < 1).
func (sr *search) declares(segment int, d *def, name *queryName, share float32) {
	f := sr.snap.fileBase[segment] + d.file
	if !sr.keeps(f) || !sr.keepsDef(d) {
		return
	}
	c := sr.sc.candidateOf(sr.snap, f)
	v := definitionValue(d.kind) * share
	if d.key == c.meta.words.base {
		v *= definitionNameBoost
	}
	owned := name.owner == "" || ownedBy(d, c.meta, name.owner)
	switch exact := strings.TrimLeft(d.name, sigils) == name.written; {
	case share == 1 && !exact:
		v *= definitionCase
	case share == 1 && owned && d.kind != syntax.KindField:
		c.exact = true
	}
	if !owned {
		v *= .5
	}
	if v > c.defValue {
		c.defValue, c.def = v, d
	}
	if sr.query.class == ClassSymbol {
		c.signals[sigDefinition] = max(c.signals[sigDefinition], v)
	} else {
		c.signals[sigDefinition] += v
	}
}

// ownedBy answers whether what stands before a name (the Sinatra of
// Sinatra::Base) is where d is declared: its container, file or folder.
func ownedBy(d *def, f *file, owner string) bool {
	container := strings.ToLower(d.container)
	return container == owner || strings.HasSuffix(container, "."+owner) || f.words.base == owner ||
		strings.Contains(strings.ToLower(f.path), owner+"/")
}

// wordDeclared notes that d has a plain word of the query as its name.
func (sr *search) wordDeclared(segment int, d *def, word int) {
	f := sr.snap.fileBase[segment] + d.file
	v := definitionValue(d.kind)
	if v < .9 || !sr.keeps(f) || !sr.keepsDef(d) {
		return
	}
	c := sr.sc.candidateOf(sr.snap, f)
	v *= sr.plainIDF[word] / sr.totalIDF
	if v > c.signals[sigWord] {
		c.signals[sigWord], c.wordDef = min(v, 1), d
	}
}

// chunkSums fills the signals that come from the lexical scores.
func (sr *search) chunkSums() {
	for i := range sr.sc.candidates {
		c := &sr.sc.candidates[i]
		decay := float32(1)
		for _, h := range c.chunks[:c.n] {
			c.signals[sigSum] += h.score * decay
			decay *= sumDecay
		}
		if c.n > 0 {
			c.signals[sigBest] = c.chunks[0].score
		}
		c.signals[sigMetadata] = sr.sc.metadataScores[c.file]
		if c.node >= 0 {
			c.signals[sigRank] = sr.snap.graph.rank[c.node]
		}
	}
}

// isShare marks signals that are in 0..1 by themselves.
var isShare = [numSignals]bool{sigNameRecall: true, sigNamePrecision: true, sigDirRecall: true,
	sigWord: true, sigRank: true, sigLiteral: true, sigMessage: true, sigLocality: true, sigVector: true}

// normalise divides each signal by its maximum over the candidates.
func (sr *search) normalise() {
	for k := range numSignals {
		if isShare[k] || k == sigNeighbour {
			continue
		}
		most := float32(0)
		if k == sigDefinition && sr.query.class == ClassSymbol {
			// A field that has the name is a weak answer even if nothing is better.
			most = definitionNameBoost
		}
		for i := range sr.sc.candidates {
			most = max(most, sr.sc.candidates[i].signals[k])
		}
		if most == 0 {
			continue
		}
		for i := range sr.sc.candidates {
			sr.sc.candidates[i].signals[k] /= most
		}
	}
}

// fuse scores the candidates linearly, lets neighbours speak, and applies the
// penalties.
func (sr *search) fuse(w *weights) {
	cs := sr.sc.candidates
	for i := range cs {
		c := &cs[i]
		c.score = 0
		for k := range numSignals {
			c.score += w[k] * c.signals[k]
		}
		c.score *= sr.penaltyOf(c)
	}
	if w[sigNeighbour] > 0 {
		sr.neighbours(w[sigNeighbour])
	}
}

// neighbours adds to each candidate a share of the score of the candidates its
// file depends on or serves.
func (sr *search) neighbours(weight float32) {
	g, cs := sr.snap.graph, sr.sc.candidates
	most := float32(0)
	for i := range cs {
		c := &cs[i]
		if c.node < 0 {
			continue
		}
		var sum, all float32
		for e := g.starts[c.node]; e < g.starts[c.node+1]; e++ {
			all += g.weights[e]
			slot := sr.sc.nodes[g.targets[e]]
			if slot == 0 {
				continue
			}
			other := &cs[slot-1]
			got := g.weights[e] * other.score
			sum += got
			if got > c.neighbourGot {
				c.neighbourGot, c.neighbour = got, other.file
			}
		}
		if all > 0 {
			c.signals[sigNeighbour] = sum / all
			most = max(most, c.signals[sigNeighbour])
		}
	}
	if most == 0 {
		return
	}
	for i := range cs {
		cs[i].signals[sigNeighbour] /= most
		cs[i].score += weight * cs[i].signals[sigNeighbour] * sr.penaltyOf(&cs[i])
	}
}

// rankConstant is the score of a first place as a divisor, less one the k of
// reciprocal rank fusion.
const rankConstant = 61

// fuseRanks scores by weighted reciprocal ranks over the same signals.
func (sr *search) fuseRanks(w *weights) {
	const k = rankConstant - 1
	cs := sr.sc.candidates
	for i := range cs {
		cs[i].score = 0
	}
	order := sr.sc.order[:0]
	for sig := range numSignals {
		if w[sig] == 0 {
			continue
		}
		order = order[:0]
		for i := range cs {
			if cs[i].signals[sig] > 0 {
				order = append(order, int32(i))
			}
		}
		slices.SortFunc(order, func(a, b int32) int {
			if c := cmp.Compare(cs[b].signals[sig], cs[a].signals[sig]); c != 0 {
				return c
			}
			return strings.Compare(cs[a].meta.path, cs[b].meta.path)
		})
		rank := 0
		for at, i := range order {
			// Equal signals share a rank: a path must not decide it.
			if at == 0 || cs[i].signals[sig] != cs[order[at-1]].signals[sig] {
				rank = at + 1
			}
			cs[i].score += w[sig] / float32(k+rank)
		}
	}
	sr.sc.order = order
	for i := range cs {
		cs[i].score *= sr.penaltyOf(&cs[i])
	}
}

// penaltyOf is what the score of a candidate is multiplied by for what its file is. The one
// declaration of a name that was asked for is lowered for nothing.
func (sr *search) penaltyOf(c *candidate) float32 {
	if sr.onlyOne && c.exact {
		return 1
	}
	return c.class.penalty(sr.query.wanted)
}
