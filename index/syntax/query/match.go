package query

import (
	"slices"

	"quarry/index/syntax/treesitter"
)

// Capture is one captured node of a match.
type Capture struct {
	ID   uint8 // index in Query.Captures
	Node uint32
}

// matcher runs a query over a tree. It is used once.
type matcher struct {
	query    *Query
	nodes    []treesitter.Node
	src      []byte
	found    func(pattern int, captures []Capture)
	pattern  int
	captures []Capture // of the match in the making
	frames   []frame   // a stack: each says how to go on after a node fits
	gaps     []gap     // by step
	within   map[*predicate][]bool
	work     int // nodes looked at
	limit    int // of work
}

// A pattern of two children matches every pair of them, so that two long lists
// can have more matches than anyone would wait for: the matcher finds no more
// where it has looked at maxWork nodes for each there is, and minWork in any case.
// Source takes 1 to 9.
const (
	maxWork = 100
	minWork = 1 << 20
)

// gap is a row of siblings that a step fits none of: those of parent from one node
// to another. Without it each name of a list would search the whole list for what
// may stand behind the names.
type gap struct{ parent, from, to uint32 }

// minGap is the number of siblings from which a gap is worth remembering.
const minGap = 16

// frame is a continuation: match steps against the siblings [at, end), then
// resume the frame up. Frames are not changed once pushed, so that a matcher
// can come back to one after a choice failed or to look for more matches.
type frame struct {
	steps   []step
	at, end uint32
	up      int
	last    bool // after the steps no named sibling may be left
}

// Match calls found for every match of q in the nodes of src, in the order of the nodes at
// which they start and then of the patterns. The captures are valid during the call. It
// returns how many nodes it looked at.
func (q *Query) Match(nodes []treesitter.Node, src []byte, found func(pattern int, captures []Capture)) (work int) {
	m := matcher{query: q, nodes: nodes, src: src, found: found}
	m.run()
	return m.work
}

func (m *matcher) run() {
	m.gaps = make([]gap, m.query.steps)
	m.limit = max(minWork, maxWork*len(m.nodes))
	for i := range m.nodes {
		for _, p := range m.query.starting(m.nodes[i].Symbol) {
			if root := &m.query.patterns[p].root; m.fits(root, uint32(i)) {
				m.pattern = int(p)
				m.enter(root, uint32(i), frame{up: -1})
			}
		}
	}
}

// enter assumes that node i has the symbol and field of s, records its
// captures, matches its children and then resumes next.
func (m *matcher) enter(s *step, i uint32, next frame) {
	nCaptures, nFrames := len(m.captures), len(m.frames)
	for _, id := range s.captures {
		m.captures = append(m.captures, Capture{id, i})
	}
	switch {
	case s.alternatives != nil:
		for a := range s.alternatives {
			if m.fits(&s.alternatives[a], i) {
				m.enter(&s.alternatives[a], i, next)
			}
		}
	case len(s.children) == 0:
		m.resume(next)
	default:
		m.frames = append(m.frames, next)
		m.resume(frame{steps: s.children, at: i + 1, end: m.nodes[i].Next, up: nFrames, last: s.last})
	}
	m.captures, m.frames = m.captures[:nCaptures], m.frames[:nFrames]
}

func (m *matcher) resume(f frame) {
	if len(f.steps) == 0 {
		switch {
		case f.last && m.namedIn(f.at, f.end):
		case f.up >= 0:
			m.resume(m.frames[f.up])
		case m.holds(m.query.patterns[m.pattern].predicates):
			m.found(m.pattern, m.captures)
		}
		return
	}
	s := &f.steps[0]
	i, since, passed := f.at, f.at, 0 // none of the siblings from since to i fits
	if g := &m.gaps[s.id]; g.from <= i && i < g.to && m.nodes[i].Parent == g.parent && !s.adjacent {
		i, since, passed = g.to, g.from, minGap
	}
	for ; i < f.end && m.work < m.limit; i = m.nodes[i].Next {
		m.work++
		if m.fits(s, i) {
			if passed >= minGap {
				m.gaps[s.id] = gap{m.nodes[i].Parent, since, i}
			}
			rest := f
			rest.steps, rest.at = f.steps[1:], m.nodes[i].Next
			m.enter(s, i, rest)
			since, passed = m.nodes[i].Next, 0
		} else {
			passed++
		}
		if s.adjacent && m.query.IsNamed(m.nodes[i].Symbol) {
			return
		}
	}
	if passed >= minGap {
		m.gaps[s.id] = gap{m.nodes[since].Parent, since, f.end}
	}
}

// fits tells whether a node's symbol and fields are those of s.
func (m *matcher) fits(s *step, i uint32) bool {
	n := &m.nodes[i]
	if s.field != 0 && s.field != n.Field || !s.fitsSymbol(n.Symbol, m.query.IsNamed(n.Symbol)) {
		return false
	}
	if s.absent == nil {
		return true
	}
	for c := i + 1; c < n.Next; c = m.nodes[c].Next {
		m.work++
		if slices.Contains(s.absent, m.nodes[c].Field) {
			return false
		}
	}
	return true
}

func (m *matcher) namedIn(at, end uint32) bool {
	for i := at; i < end; i = m.nodes[i].Next {
		if m.query.IsNamed(m.nodes[i].Symbol) {
			return true
		}
	}
	return false
}

// holds checks predicates on the captures of the current match. A predicate on
// a capture that the match lacks holds, as in tree-sitter.
func (m *matcher) holds(predicates []predicate) bool {
	for i := range predicates {
		p := &predicates[i]
		for _, c := range m.captures {
			if c.ID == p.capture && m.satisfies(p, c.Node) == p.negated {
				return false
			}
		}
	}
	return true
}

func (m *matcher) satisfies(p *predicate, node uint32) bool {
	text := m.text(node)
	switch {
	case p.within != nil:
		return m.inside(p)[node]
	case p.pattern != nil:
		return p.pattern.Match(text)
	case p.other >= 0:
		i := slices.IndexFunc(m.captures, func(c Capture) bool { return int(c.ID) == p.other })
		return i < 0 || string(text) == string(m.text(m.captures[i].Node))
	}
	for _, v := range p.values {
		if string(text) == v {
			return true
		}
	}
	return false
}

// inside tells of every node whether one of its ancestors has a symbol of p.
func (m *matcher) inside(p *predicate) []bool {
	if in, ok := m.within[p]; ok {
		return in
	}
	in := make([]bool, len(m.nodes))
	for i := 1; i < len(m.nodes); i++ {
		parent := m.nodes[i].Parent
		in[i] = in[parent] || slices.Contains(p.within, m.nodes[parent].Symbol)
	}
	if m.within == nil {
		m.within = map[*predicate][]bool{}
	}
	m.within[p] = in
	return in
}

func (m *matcher) text(i uint32) []byte {
	return m.src[m.nodes[i].Start:m.nodes[i].End]
}
