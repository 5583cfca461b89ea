package retrieval

import (
	"cmp"
	"context"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/index/fault"
	"quarry/index/syntax"
	"quarry/index/token"
)

// search is the state of one search.
type search struct {
	ix    *Index
	snap  *Snapshot
	sc    *scratch
	req   *Request
	query analyzed
	an    token.Analyzer
	// idfs belong to query.terms, wordIDF to query.words as paths are compared with
	// them, plainIDF to query.plain.
	idfs, wordIDF, plainIDF []float32
	// scanned: the literal signal looked into files.
	scanned bool
	// unquoted is why the quoted texts are words and no condition, as an Answer's Backend
	// says it; "" while they are one.
	unquoted string
	// strict: all that is asked for is quoted, and no file has it as it is.
	strict bool
	// onlyOne: of a query that is a name, one file alone declares it as it is written.
	onlyOne bool
	// pasted: the query is a message that the code has.
	pasted bool
	// meant is the embedding model or the lexicon, whichever spoke; closest and farthest
	// are the cosines that count as 1 and as 0. unembedded: a chunk that was looked at
	// has no vector yet.
	meant             SemanticQuery
	unembedded        bool
	closest, farthest float32
	// totalIDF is the sum of wordIDF.
	totalIDF float32
	// allowed has the files that pass the filters; nil when all do.
	allowed bitset
	filters bool
	// browsed is how many files the filters of a query without words leave.
	browsed int
	timings Timings
}

// Search answers a request from the newest snapshot. It fails only when ctx is
// done.
func (ix *Index) Search(ctx context.Context, req Request) (Answer, error) {
	return ix.SearchIn(ctx, ix.current.Load(), req)
}

// Current returns the newest snapshot, for searches that must see one state.
func (ix *Index) Current() *Snapshot { return ix.current.Load() }

// SearchIn is Search in a given snapshot of this index.
func (ix *Index) SearchIn(ctx context.Context, snap *Snapshot, req Request) (Answer, error) {
	defer snap.look()
	defer snap.release(fault.Expect())
	sc := ix.scratch.Get().(*scratch)
	answer, err := ix.searchWith(ctx, sc, snap, req)
	ix.scratch.Put(sc) // not after a panic, which leaves it in the middle of something
	return answer, err
}

func (ix *Index) searchWith(ctx context.Context, sc *scratch, snap *Snapshot, req Request) (Answer, error) {
	start := time.Now()
	sc.fit(snap)
	sr := &search{ix: ix, snap: snap, sc: sc, req: &req}
	sr.query = analyzeQuery(&sr.an, textOf(&req.Query), ix.options.Project)
	sr.query.wants(&req.Query)
	if req.At != nil && req.At.Folder != "" {
		sr.query.ask(classOf(req.At.Folder+"/", ""))
	}
	sr.applyFilters()
	sr.weighTerms()

	browses := sr.browses()
	switch {
	case browses:
		sr.browse()
	case req.Signals != SignalsSemantic:
		sr.lexical()
	}
	sr.timings.Lexical = time.Since(start)
	semanticStart := time.Now()
	sr.semantic()
	sr.timings.Semantic = time.Since(semanticStart)
	signalsStart := time.Now()
	w := textWeights
	switch {
	case req.Signals == SignalsSemantic:
		w = semanticWeights
	case browses:
		w = browseWeights
	default:
		if sr.query.class == ClassSymbol {
			w = symbolWeights
		}
		if sr.byLexicon() {
			w[sigVector] = sr.lexiconWeight()
		}
		sr.definitionSignals()
		sr.pathSignals()
		sr.chunkSums()
	}
	sr.localities()
	sr.timings.Signals = time.Since(signalsStart)
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	literalStart := time.Now()
	if err := sr.quotesAndMessages(ctx); err != nil {
		return Answer{}, err
	}
	sr.timings.Literal = time.Since(literalStart)
	if sr.pasted {
		sr.query.wanted = sr.query.ofMessage()
	}
	switch {
	case !sr.pasted:
		w[sigMessage] = 0 // it could not speak, and is no part of a full score
	case sr.byLexicon():
		w[sigVector] = 0 // a message has the code's own words
	}
	sr.normalise()
	if req.Fusion == FusionRank {
		sr.fuseRanks(&w)
	} else {
		sr.fuse(&w)
	}
	answer := sr.answer(&w)
	sr.timings.Total = time.Since(start)
	answer.Timings = sr.timings
	runtime.KeepAlive(snap) // arrays of it may lie in a file that goes with it
	return answer, nil
}

// textOf is what the lexical signals look for: the text and the names asked for
// by filter.
func textOf(q *Query) string {
	if len(q.Symbols) == 0 {
		return q.Text
	}
	return strings.TrimSpace(strings.Join(q.Symbols, " ") + " " + q.Text)
}

// applyFilters works out once which files may answer.
func (sr *search) applyFilters() {
	f := &sr.req.Query.Filter
	mode := sr.req.Query.Mode
	if len(f.Paths)+len(f.Languages)+len(f.Types)+len(f.NotPaths)+len(f.NotLanguages)+len(f.NotTypes) == 0 &&
		f.Since.IsZero() && (mode == ModeAll || mode == ModeRecent || mode == ModeSymbols || mode == "") && len(f.Symbols) == 0 {
		return
	}
	sr.filters = true
	sr.allowed = make(bitset, sr.snap.files/64+1)
	keeps := f.files()
	onlyCode := slices.Contains(f.Types, TypeCode)
	for k, seg := range sr.snap.segments {
		base := int(sr.snap.fileBase[k])
		for i := range seg.files {
			m := &seg.files[i]
			if !sr.snap.dead[k].has(i) && keeps(m.path, m.language, m.kind, m.modified) && keepsMode(mode, m) && !(onlyCode && m.kind == TypeCode && sr.snap.isTwin(m.path)) {
				sr.allowed = sr.allowed.with(base + i)
			}
		}
	}
	if len(f.Symbols) > 0 {
		sr.keepDeclaring(f.Symbols)
	}
}

func keepsMode(mode Mode, f *file) bool {
	return mode != ModeCode || f.kind == TypeCode || f.kind == TypeTest
}

// keepDeclaring narrows the files to those that declare one of the names.
func (sr *search) keepDeclaring(names []string) {
	declaring := make(bitset, len(sr.allowed))
	for _, n := range names {
		name, ok := splitName(n)
		if !ok {
			continue
		}
		for k, seg := range sr.snap.segments {
			base := int(sr.snap.fileBase[k])
			seg.lookup(flatName(name.written), func(d *def) {
				if name.owner == "" || ownedBy(d, &seg.files[d.file], name.owner) {
					declaring = declaring.with(base + int(d.file))
				}
			})
		}
	}
	for i := range sr.allowed {
		sr.allowed[i] &= declaring[i]
	}
}

// keeps answers whether a file is there and passes the filters.
func (sr *search) keeps(f uint32) bool {
	return sr.snap.alive(f) && (!sr.filters || sr.allowed.has(int(f)))
}

// keepsChunk applies the filters that speak of declarations.
func (sr *search) keepsChunk(c uint32) bool {
	f := &sr.req.Query.Filter
	mode := sr.req.Query.Mode
	symbols := mode == ModeSymbols
	if len(f.Kinds) == 0 && len(f.NotKinds) == 0 && !symbols && mode != ModeDocs {
		return true
	}
	k, local := sr.snap.segmentOfChunk(c)
	seg := sr.snap.segments[k]
	if mode == ModeDocs && seg.contentOf(&seg.chunks[local]) != syntax.ContentComment && seg.files[seg.chunks[local].file].class&classDoc == 0 {
		return false
	}
	if seg.chunks[local].def < 0 {
		return len(f.Kinds) == 0 && !symbols
	}
	return sr.keptDef(seg, local) != nil
}

// shownDef returns the declaration a chunk is shown by: of those the filters
// keep the one whose name has most of the query's words, else the most important.
func (sr *search) shownDef(seg *segment, chunk uint32) *def {
	best := sr.keptDef(seg, chunk)
	if best == nil {
		return nil
	}
	most := sr.wordsIn(best.name)
	// Declarations come in the order of the text, so a chunk's stand together.
	first := uint32(seg.chunks[chunk].def)
	for first > 0 && seg.defs[first-1].chunk == chunk {
		first--
	}
	for i := first; int(i) < len(seg.defs) && seg.defs[i].chunk == chunk; i++ {
		if d := seg.def(i); d.kind != syntax.KindField && d.kind != syntax.KindVar && sr.keepsDef(d) {
			if n := sr.wordsIn(d.name); n > most {
				best, most = d, n
			}
		}
	}
	return best
}

// wordsIn counts the words of the query in a name.
func (sr *search) wordsIn(name string) int {
	found := wordSet(0)
	sr.an.Terms(name, func(term []byte) {
		for k, w := range sr.query.words {
			if w == string(term) {
				found |= 1 << min(k, 63)
			}
		}
	})
	return bits.OnesCount64(uint64(found))
}

// keptDef returns the most important declaration of a chunk, or, when the
// filters want another kind, the first of that kind; nil if it has none.
func (sr *search) keptDef(seg *segment, chunk uint32) *def {
	ch := &seg.chunks[chunk]
	if ch.def < 0 {
		return nil
	}
	if d := seg.def(uint32(ch.def)); sr.keepsDef(d) {
		return d
	}
	m := &seg.files[ch.file]
	for i := m.firstDef; i < m.endDef; i++ {
		if seg.defs[i].chunk != chunk {
			continue
		}
		if d := seg.def(i); sr.keepsDef(d) {
			return d
		}
	}
	return nil
}

func (sr *search) keepsDef(d *def) bool {
	f := &sr.req.Query.Filter
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, d.kind)) && !slices.Contains(f.NotKinds, d.kind)
}

// weighTerms looks the inverse document frequencies up.
func (sr *search) weighTerms() {
	q, s := &sr.query, sr.snap
	sr.idfs = make([]float32, len(q.terms))
	for i, t := range q.terms {
		sr.idfs[i] = idf(s.documentFrequency(t.text), s.liveChunks)
	}
	sr.wordIDF = make([]float32, len(q.words))
	for i, w := range q.words {
		sr.wordIDF[i] = idf(s.documentFrequency(w), s.liveChunks) * q.wordWeight(w)
		if q.late.has(i) {
			sr.wordIDF[i] *= lateWeight
		}
		sr.totalIDF += sr.wordIDF[i]
	}
	sr.plainIDF = make([]float32, len(q.plain))
	for i, p := range q.plain {
		sr.plainIDF[i] = idf(s.documentFrequency(p.stem), s.liveChunks) * q.wordWeight(p.stem)
	}
}

// wordWeight is the weight of the term a word became, 1 if it is none.
func (a *analyzed) wordWeight(stem string) float32 {
	for i := range a.terms {
		if a.terms[i].text == stem {
			return a.terms[i].weight
		}
	}
	return 1
}

// chunkAtLine returns the chunk of a file that holds a line.
func (s *Snapshot) chunkAtLine(f, line uint32) (uint32, bool) {
	k := locate(s.fileBase, f)
	seg := s.segments[k]
	m := &seg.files[f-s.fileBase[k]]
	for c := m.firstChunk; c < m.endChunk; c++ {
		if seg.chunks[c].endLine >= line {
			return s.chunkBase[k] + c, true
		}
	}
	return 0, false
}

// ranked orders the candidates, best first; equal scores by path.
func (sr *search) ranked() []*candidate {
	cs := sr.sc.candidates
	out := make([]*candidate, 0, len(cs))
	phrases, mode := sr.quotesAreConditions(), sr.req.Query.Mode
	for i := range cs {
		if cs[i].score <= 0 || phrases && cs[i].literal < 0 || mode == ModeDocs && cs[i].n == 0 {
			continue
		}
		if mode == ModeSymbols && cs[i].def == nil && cs[i].wordDef == nil && !sr.bestHasDef(&cs[i]) {
			continue
		}
		out = append(out, &cs[i])
	}
	recent := mode == ModeRecent
	slices.SortFunc(out, func(a, b *candidate) int {
		if recent {
			if c := b.meta.modified.Compare(a.meta.modified); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return strings.Compare(a.meta.path, b.meta.path)
	})
	return out
}

func (sr *search) bestHasDef(c *candidate) bool {
	if c.n == 0 {
		return false
	}
	k, local := sr.snap.segmentOfChunk(c.chunks[0].doc)
	return sr.snap.segments[k].chunks[local].def >= 0
}

// browseWeights are those of a query without words: what is nearest to the user, then
// what most of the others depend on.
var browseWeights = weights{sigRank: 1, sigLocality: 1}

// browses answers whether the query has filters alone: it asks for all that they leave.
func (sr *search) browses() bool {
	q := &sr.req.Query
	return textOf(q) == "" && len(q.Phrases) == 0 && q.Narrows() && sr.req.Signals != SignalsSemantic
}

// browse makes candidates of the files that the filters leave: the newest in ModeRecent
// and when a time is asked for, else those with the highest PageRank.
func (sr *search) browse() {
	s, sc, q := sr.snap, sr.sc, &sr.req.Query
	byTime := q.Mode == ModeRecent
	var newest time.Time
	for f := range uint32(s.files) {
		if byTime && sr.keeps(f) && s.file(f).modified.After(newest) {
			newest = s.file(f).modified
		}
	}
	for f := range uint32(s.files) {
		if !sr.keeps(f) {
			continue
		}
		if _, ok := sr.firstKept(f); !ok {
			continue
		}
		sr.browsed++
		m := s.file(f)
		worth := m.class.penalty(sr.query.wanted)
		switch node, ok := s.graph.node(m.path); {
		case byTime:
			worth = float32(1 / (1 + newest.Sub(m.modified).Seconds()))
		case ok:
			worth *= leastRank + s.graph.rank[node]
		default: // too new for the graph
			worth *= leastRank
		}
		sc.metadataScores[f] = worth
	}
	n := max(4*sr.req.Limit, metadataCandidates) // more than are shown, for locality and diversity
	for _, hit := range sc.top(sc.metadataScores, n, s.orderFiles, func(uint32) bool { return true }) {
		chunk, _ := sr.firstKept(hit.doc)
		c := sc.candidateOf(s, hit.doc)
		c.chunks[0], c.n = scored{doc: chunk}, 1
		c.signals[sigRank] = leastRank
		if c.node >= 0 {
			c.signals[sigRank] += s.graph.rank[c.node]
		}
	}
}

// leastRank is what a file that nothing depends on counts in a browse.
const leastRank = .001

// firstKept is the first chunk of a file that the filters keep.
func (sr *search) firstKept(f uint32) (chunk uint32, ok bool) {
	k := locate(sr.snap.fileBase, f)
	m, base := sr.snap.file(f), sr.snap.chunkBase[k]
	for c := m.firstChunk; c < m.endChunk; c++ {
		if sr.keepsChunk(base + c) {
			return base + c, true
		}
	}
	return 0, false
}
