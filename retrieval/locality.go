package retrieval

import (
	"path"
	"slices"
	"strings"
)

// How near a file is to where the user is, by the nearest reason.
const (
	nearSame     = 1
	nearOpen     = .7
	nearImported = .6
	nearFolder   = .5
	nearRecent   = .5
	// Files opened or edited longer ago count less: each is this much of the
	// one before.
	recentDecay = .85
	// besideNear is how much of the smaller counts where a file is near and was edited lately:
	// in one package all files are near, and only this tells them apart.
	besideNear = .5
)

// localities fills sigLocality for candidates when the caller gave a position.
func (sr *search) localities() {
	at := sr.req.At
	if at == nil {
		return
	}
	here, inFile := path.Dir(at.Path), at.Path != ""
	below := at.Folder + "/"
	linked := sr.linkedWith(at.Path)
	for i := range sr.sc.candidates {
		c := &sr.sc.candidates[i]
		near := func(v float32, why string) {
			if v > c.signals[sigLocality] {
				c.signals[sigLocality], c.locality = v, why
			}
		}
		p := c.meta.path
		switch {
		case p == at.Path:
			near(nearSame, "the current file")
		case inFile && path.Dir(p) == here:
			near(nearFolder, "in the folder of the current file")
		case at.Folder != "" && strings.HasPrefix(p, below):
			near(nearFolder, "in the current folder")
		}
		if c.node >= 0 && slices.Contains(linked, uint32(c.node)) {
			near(nearImported, "linked with the current file")
		}
		if k := slices.Index(at.Open, p); k >= 0 {
			near(nearOpen*decayed(k), "open in the editor")
		}
		if k := slices.Index(at.Recent, p); k >= 0 {
			c.recently(nearRecent * decayed(k))
		}
	}
}

// recently adds that a file was edited or viewed to how near it is. Nothing is nearer than the
// current file.
func (c *candidate) recently(v float32) {
	const why = "recently edited or viewed"
	near := &c.signals[sigLocality]
	switch {
	case *near == 0:
		c.locality = why
	case v > *near:
		c.locality = why + ", " + c.locality
	default:
		c.locality += ", " + why
	}
	*near = min(nearSame, max(*near, v)+besideNear*min(*near, v))
}

func decayed(k int) float32 {
	v := float32(1)
	for range k {
		v *= recentDecay
	}
	return v
}

// linkedWith returns the nodes that share an edge with a path's.
func (sr *search) linkedWith(p string) []uint32 {
	g := sr.snap.graph
	node, ok := g.node(p)
	if !ok {
		return nil
	}
	return g.targets[g.starts[node]:g.starts[node+1]]
}
