package syntax

import "slices"

// adoptFollowers makes children of a head (see language.head) of the siblings after it
// up to the next one. Comments right before that are the next one's.
func adoptFollowers(nodes []node, heads []uint16) {
	if len(nodes) == 0 {
		return
	}
	for i := uint32(1); i < nodes[0].Next; i = nodes[i].Next {
		if !slices.Contains(heads, nodes[i].Symbol) {
			continue
		}
		previous := uint32(0) // the last child
		for c := i + 1; c < nodes[i].Next; c = nodes[c].Next {
			previous = c
		}
		var blank []uint32 // comments and line ends that are i's if more follows
		for at := nodes[i].Next; at < nodes[0].Next && !slices.Contains(heads, nodes[at].Symbol); at = nodes[at].Next {
			if blank = append(blank, at); nodes[at].Extra || nodes[at].Start == nodes[at].End {
				continue
			}
			for _, c := range blank {
				nodes[c].Parent, nodes[c].Previous, previous = i, previous, c
			}
			nodes[i].Next, nodes[i].End, blank = nodes[at].Next, nodes[at].End, blank[:0]
		}
		if after := nodes[i].Next; after < nodes[0].Next {
			nodes[after].Previous = i
		}
	}
}
