package retrieval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/index/syntax"
)

const defaultLimit = 10

// maxMore is how many further places of a file a result carries.
const maxMore = 4

// answer turns the ranked candidates into results.
func (sr *search) answer(w *weights) Answer {
	limit := sr.req.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit += sr.req.Offset
	ranked := sr.ranked()
	a := Answer{Class: sr.query.class, Total: max(len(ranked), sr.browsed), Results: []Result{}, NothingLeft: sr.filters && sr.allowed.count() == 0}
	if sr.req.Diversity > 0 {
		ranked = sr.diverse(ranked, limit)
	}
	if len(ranked) > limit {
		ranked = ranked[:limit]
	}
	ranked = ranked[min(sr.req.Offset, len(ranked)):]
	full := fullScore(w, sr.req.Fusion)
	for _, c := range ranked {
		sr.blend(c)
		a.Results = append(a.Results, sr.result(c, w, full))
	}
	a.Backend = sr.backend() // after the places: only now is known which lack a vector
	return a
}

// fullScore is the score of a file that every signal speaks for.
func fullScore(w *weights, fusion Fusion) float32 {
	full := float32(0)
	for _, x := range w {
		if fusion == FusionRank {
			x /= rankConstant
		}
		full += x
	}
	return full
}

// What an Answer's Backend has when an embedding model spoke: of all the chunks, or
// while some are not embedded yet.
const (
	BackendVectors     = "vectors"
	BackendSomeVectors = "vectors of some chunks"
	// BackendLexicon: no embedding model could speak, and the lexicon did.
	BackendLexicon = "lexicon"
)

// What an Answer's Backend has when the quoted texts of a query are words and no condition.
const (
	// BackendUnquoted: no file has them, and the query has other words, too, as a message
	// that quotes a value.
	BackendUnquoted = "words, since nothing has the quoted text"
	// BackendMessage: the query is a message that quotes a value.
	BackendMessage = "words, since the quotes are a message's"
)

// backend names the signals that could speak.
func (sr *search) backend() []string {
	b := []string{}
	if sr.req.Signals != SignalsSemantic {
		b = append(b, "lexical", "path", "symbols", "graph")
	}
	if sr.scanned {
		b = append(b, "literal")
	}
	if sr.unquoted != "" {
		b = append(b, sr.unquoted)
	}
	if sr.req.At != nil {
		b = append(b, "locality")
	}
	switch {
	case sr.meant == nil:
	case sr.byLexicon():
		b = append(b, BackendLexicon)
	case sr.unembedded:
		b = append(b, BackendSomeVectors)
	default:
		b = append(b, BackendVectors)
	}
	return b
}

// location is a chunk as a result shows it, by the declaration that name chooses.
func (sr *search) location(chunk uint32, name func(*search, *segment, uint32) *def) Location {
	k, local := sr.snap.segmentOfChunk(chunk)
	seg := sr.snap.segments[k]
	ch := &seg.chunks[local]
	p := Location{StartLine: int(ch.startLine), EndLine: int(ch.endLine)}
	if d := name(sr, seg, local); d != nil {
		p.Symbol, p.Kind = d.qualified(), d.kind
	}
	return p
}

func (d *def) qualified() string {
	if d.container == "" {
		return d.name
	}
	return d.container + "." + d.name
}

func (sr *search) result(c *candidate, w *weights, full float32) Result {
	r := Result{Path: c.meta.path, Score: unit(c.score / full), More: []Location{}}
	main := sr.mainLocation(c)
	r.StartLine, r.EndLine, r.Symbol, r.Kind = main.StartLine, main.EndLine, main.Symbol, main.Kind
	for _, h := range c.chunks[:c.n] {
		if len(r.More) == maxMore {
			break
		}
		p := sr.location(h.doc, (*search).keptDef)
		if p.StartLine <= r.EndLine && r.StartLine <= p.EndLine || h.score == 0 {
			continue
		}
		p.Score = unit(h.score / c.chunks[0].score * float32(r.Score))
		r.More = append(r.More, p)
	}
	r.Reasons = sr.reasons(c, w)
	if sr.req.Declarations {
		r.Declares, r.Declared = sr.declarationsOf(c)
	}
	return r
}

// maxDeclares is how many declarations of its file a result names.
const maxDeclares = 12

// declarationsOf are the main declarations of a candidate's file, and how many it has of that
// kind: what a reader goes on from when the place shown is not the right one.
func (sr *search) declarationsOf(c *candidate) (list []Declared, all int) {
	type ranked struct {
		Declared
		words int
		value float32
	}
	var found []ranked
	seg := sr.snap.segments[locate(sr.snap.fileBase, c.file)]
	for i := c.meta.firstDef; i < c.meta.endDef; i++ {
		d := seg.def(i)
		if d.kind == syntax.KindField || d.kind == syntax.KindVar && d.container != "" {
			continue
		}
		found = append(found, ranked{Declared{int(seg.defs[i].startLine), d.qualified(), d.kind}, sr.wordsIn(d.name), definitionValue(d.kind)})
	}
	all = len(found)
	slices.SortStableFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(b.value, a.value))
	})
	found = found[:min(maxDeclares, len(found))]
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(a.Line, b.Line) })
	for _, f := range found {
		list = append(list, f.Declared)
	}
	return list, all
}

// mainLocation is where a result points: the declaration asked for, the quoted
// text, or the best chunk.
func (sr *search) mainLocation(c *candidate) Location {
	base := sr.snap.chunkBase[locate(sr.snap.fileBase, c.file)]
	switch {
	case c.literal >= 0 && len(sr.req.Query.Phrases) > 0:
		if chunk, ok := sr.snap.chunkAtLine(c.file, uint32(c.literalLine)); ok {
			return sr.location(chunk, (*search).shownDef)
		}
	case sr.hasMessage(c):
		return sr.location(c.messageChunk, (*search).shownDef)
	case c.def != nil:
		p := sr.location(base+c.def.chunk, (*search).shownDef)
		p.Symbol, p.Kind = c.def.qualified(), c.def.kind
		return p
	}
	if d := c.wordDef; d != nil {
		// A declaration named by a plain word wins only over chunks that hardly
		// say more.
		at := slices.IndexFunc(c.chunks[:c.n], func(h scored) bool { return h.doc == base+d.chunk })
		if c.n == 0 || at >= 0 && c.chunks[at].score >= wordDefShare*c.chunks[0].score {
			p := sr.location(base+d.chunk, (*search).shownDef)
			p.Symbol, p.Kind = d.qualified(), d.kind
			return p
		}
	}
	if c.n > 0 {
		return sr.location(c.chunks[0].doc, (*search).shownDef)
	}
	if chunk, ok := sr.snap.chunkAtLine(c.file, 1); ok {
		return sr.location(chunk, (*search).shownDef)
	}
	return Location{StartLine: 1, EndLine: 1}
}

// wordDefShare is the share of the best chunk's score that the chunk of a
// declaration named by a plain word needs to be shown instead.
const wordDefShare = .8

func unit(v float32) float64 { return float64(max(0, min(1, v))) }

// changedShare has the time of a change, if it was asked for, before all else.
const changedShare = 100

// maxReasons keeps explanations to what a user reads.
const maxReasons = 5

// reasons says what spoke for a candidate, the strongest first.
func (sr *search) reasons(c *candidate, w *weights) []string {
	type reason struct {
		share float32
		text  string
	}
	var all []reason
	add := func(share float32, format string, args ...any) {
		all = append(all, reason{share, fmt.Sprintf(format, args...)})
	}
	s := &c.signals
	if c.def != nil && s[sigDefinition] > 0 {
		add(w[sigDefinition]*s[sigDefinition], "declares %s %s", c.def.kind, c.def.qualified())
	}
	if c.wordDef != nil && w[sigWord] > 0 {
		add(w[sigWord]*s[sigWord], "declares %s %s", c.wordDef.kind, c.wordDef.qualified())
	}
	if c.literal >= 0 {
		add(w[sigLiteral], "contains the exact text on line %d", c.literalLine)
	}
	if sr.hasMessage(c) {
		add(w[sigMessage]*s[sigMessage], "says this message, or is in its stack")
	}
	if got := sr.query.named(c.meta.words.name); len(got) > 0 {
		add(w[sigNameRecall]*s[sigNameRecall]+w[sigNamePrecision]*s[sigNamePrecision], "file name matches %s", strings.Join(got, ", "))
	}
	if got := sr.query.named(c.meta.words.dirs); len(got) > 0 && w[sigDirRecall] > 0 {
		add(w[sigDirRecall]*s[sigDirRecall], "folder matches %s", strings.Join(got, ", "))
	}
	if c.n > 0 && s[sigBest] > 0 {
		if got := sr.termsIn(c.chunks[0].doc); len(got) > 0 {
			add(w[sigBest]*s[sigBest]+w[sigSum]*s[sigSum], "text matches %s", strings.Join(got, ", "))
		}
	}
	if s[sigVector] > 0 {
		add(w[sigVector]*s[sigVector], "close in meaning")
	}
	if c.locality != "" {
		add(w[sigLocality]*s[sigLocality], "%s", c.locality)
	}
	if q := &sr.req.Query; q.Mode == ModeRecent || !q.Since.IsZero() {
		add(changedShare, "changed %s", c.meta.modified.Local().Format(time.DateTime))
	}
	if c.neighbourGot > 0 && s[sigNeighbour] > .5 {
		add(w[sigNeighbour]*s[sigNeighbour], "depends on or serves %s", sr.snap.file(c.neighbour).path)
	}
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(b.share, a.share) })
	out := []string{}
	for _, r := range all {
		// Two declarations of one name, or one that answers a word and the whole query, read alike.
		if len(out) < maxReasons && !slices.Contains(out, r.text) {
			out = append(out, r.text)
		}
	}
	if lower := c.class &^ sr.query.wanted; lower != 0 {
		out = append(out, "ranked lower: "+lower.String())
	}
	return out
}

// named returns the words of the query, as the user wrote them, that some of
// a path's words agree with.
func (a *analyzed) named(path []string) []string {
	var out []string
	for k, w := range a.words {
		if nearest(path, w, a.raw[k]) > 0 {
			out = append(out, a.raw[k])
		}
	}
	return out
}

func common(words, have []string) []string {
	var out []string
	for _, w := range words {
		if slices.Contains(have, w) {
			out = append(out, w)
		}
	}
	return out
}

// termsIn returns the words of the query whose terms a chunk holds, the rarest
// first.
func (sr *search) termsIn(chunk uint32) []string {
	k, local := sr.snap.segmentOfChunk(chunk)
	type hit struct {
		idf  float32
		text string
	}
	var hits []hit
	for i, t := range sr.query.terms {
		if chunks := sr.snap.segments[k].text.list(t.text); chunks.has(local) {
			hits = append(hits, hit{sr.idfs[i], t.text})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.idf, a.idf) })
	var out []string
	for _, h := range hits[:min(len(hits), 4)] {
		if k := slices.Index(sr.query.words, h.text); k >= 0 {
			h.text = sr.query.raw[k]
		}
		out = append(out, h.text)
	}
	return out
}

// diverse reorders the head of ranked by maximal marginal relevance (Carbonell
// and Goldstein 1998): each next result is the one with the most of
// (1-d)*relevance - d*similarity to those before. Files of one folder and of
// shared words in their names are similar.
func (sr *search) diverse(ranked []*candidate, limit int) []*candidate {
	if len(ranked) == 0 {
		return ranked
	}
	d := float32(min(1, sr.req.Diversity))
	pool := slices.Clone(ranked[:min(len(ranked), 4*limit)])
	best := pool[0].score
	out := make([]*candidate, 0, limit)
	for len(pool) > 0 && len(out) < limit {
		at, most := 0, float32(-2)
		for i, c := range pool {
			nearest := float32(0)
			for _, o := range out {
				nearest = max(nearest, similarity(c.meta, o.meta))
			}
			if v := (1-d)*c.score/best - d*nearest; v > most {
				at, most = i, v
			}
		}
		out = append(out, pool[at])
		pool = slices.Delete(pool, at, at+1)
	}
	return out
}

func similarity(a, b *file) float32 {
	v := float32(0)
	if dir(a.path) == dir(b.path) {
		v = .5
	}
	if shared := len(common(a.words.name, b.words.name)); shared > 0 {
		v += .5 * float32(shared) / float32(max(len(a.words.name), len(b.words.name)))
	}
	return v
}

func dir(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }
