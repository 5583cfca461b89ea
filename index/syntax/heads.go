package syntax

import "slices"

// adoptFollowers makes children of a head (see language.head) of the siblings after it
// up to the next one. Comments right before that are the next one's.
func adoptFollowers(nodes []node, heads []uint16) {
	if len(nodes) == 0 {
		return
	}
	for i := uint32(1); i < nodes[0].next; i = nodes[i].next {
		if !slices.Contains(heads, nodes[i].symbol) {
			continue
		}
		previous := uint32(0) // the last child
		for c := i + 1; c < nodes[i].next; c = nodes[c].next {
			previous = c
		}
		var blank []uint32 // comments and line ends that are i's if more follows
		for at := nodes[i].next; at < nodes[0].next && !slices.Contains(heads, nodes[at].symbol); at = nodes[at].next {
			if blank = append(blank, at); nodes[at].extra || nodes[at].start == nodes[at].end {
				continue
			}
			for _, c := range blank {
				nodes[c].parent, nodes[c].previous, previous = i, previous, c
			}
			nodes[i].next, nodes[i].end, blank = nodes[at].next, nodes[at].end, blank[:0]
		}
		if after := nodes[i].next; after < nodes[0].next {
			nodes[after].previous = i
		}
	}
}
