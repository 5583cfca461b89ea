package syntax

import "cmp"

// cutPoints finds the strongest boundary in any part of a run in logarithmic time: a
// search through the part would take the square of the run's length for lines that
// happen to be in the order of their strength.
//
// It is two trees of maxima over the atoms, in which the winners of nodes 2i and 2i+1
// meet at node i and the atoms stand from len(run) on. Of equal atoms the one has the
// first win and the other the last.
type cutPoints struct {
	run         []atom
	text        []byte // of the file up to the end of the run
	first, last []uint32
}

// moreText is how much of a text tells those apart that start alike, in bytes.
const moreText = 300

// newCutPoints prepares a run that ends at end.
func (c *chunker) newCutPoints(run []atom, end uint32) *cutPoints {
	n := len(run)
	p := &cutPoints{run, c.src[:end], make([]uint32, 2*n), make([]uint32, 2*n)}
	for i := range n {
		p.first[n+i], p.last[n+i] = uint32(i), uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		p.first[i] = p.winner(p.first[2*i], p.first[2*i+1], -1)
		p.last[i] = p.winner(p.last[2*i], p.last[2*i+1], 1)
	}
	return p
}

// winner returns the stronger of two atoms; of equal ones the first if prefer is -1,
// the last if it is 1.
func (p *cutPoints) winner(i, j uint32, prefer int) uint32 {
	order := p.compare(&p.run[i], &p.run[j])
	if order == 0 {
		order = prefer * cmp.Compare(i, j)
	}
	if order > 0 {
		return i
	}
	return j
}

// compare orders two atoms by strength, then by their heads, then by more of their
// texts.
func (p *cutPoints) compare(x, y *atom) int {
	if order := cmp.Or(cmp.Compare(x.strength, y.strength), cmp.Compare(x.id, y.id)); order != 0 {
		return order
	}
	for _, a := range []*atom{x, y} {
		if a.more == 0 {
			a.more = boundaryHash(p.text[a.start:min(len(p.text), int(a.start)+moreText)])
		}
	}
	return cmp.Compare(x.more, y.more)
}

// best returns the winner of the atoms from low to high, of which there is one at
// least.
func (p *cutPoints) best(tree []uint32, low, high, prefer int) int {
	winner := uint32(low)
	for low, high = low+len(p.run), high+len(p.run); low < high; low, high = low/2, high/2 {
		if low%2 == 1 {
			winner = p.winner(winner, tree[low], prefer)
			low++
		}
		if high%2 == 1 {
			high--
			winner = p.winner(winner, tree[high], prefer)
		}
	}
	return int(winner)
}

// strongest returns the atom to cut before, of those from low to high but for the
// first. Of equal ones (repeated lines) it takes the one nearest to the middle,
// without which a table of equal lines would be cut one line at a time.
func (p *cutPoints) strongest(low, high int) int {
	middle := low + max(1, (high-low)/2)
	after := p.best(p.first, middle, high, -1)
	if middle == low+1 {
		return after
	}
	before := p.best(p.last, low+1, middle, 1)
	order := p.compare(&p.run[before], &p.run[after])
	if order > 0 || order == 0 && middle-before <= after-middle {
		return before
	}
	return after
}
