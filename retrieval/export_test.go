package retrieval

// What the ablation of package retrieval_test turns off and on.

// SignalNames are the signals in the order of weights.
var SignalNames = [numSignals]string{"best chunk", "sum of chunks", "card", "file name recall", "file name precision",
	"folder recall", "name declared", "word declared", "PageRank", "neighbours", "literal", "locality", "vectors"}

// KeepSignals keeps the weights of the signals that keep answers true for, and
// returns what undoes it.
func KeepSignals(keep func(class Class, signal string) bool) (undo func()) {
	text, symbol := textWeights, symbolWeights
	for i, name := range SignalNames {
		if !keep(ClassText, name) {
			textWeights[i] = 0
		}
		if !keep(ClassSymbol, name) {
			symbolWeights[i] = 0
		}
	}
	return func() { textWeights, symbolWeights = text, symbol }
}

// RoleNames are the roles that lower files, in the words of the explanations.
var RoleNames = func() (names []string) {
	for _, r := range roles {
		names = append(names, r.name)
	}
	return names
}()

// WithoutRole answers a copy of an index in which no file has the role; ""
// takes all roles away.
func WithoutRole(ix *Index, name string) *Index {
	old := ix.Current()
	var segments []*segment
	for _, seg := range old.segments {
		s := *seg
		s.files = append([]file(nil), seg.files...)
		for i := range s.files {
			for bit := range roles {
				if name == "" || roles[bit].name == name {
					s.files[i].role &^= 1 << bit
				}
			}
		}
		segments = append(segments, &s)
	}
	g := *old.graph
	if name == "" || name == "compatibility code" {
		g.old = nil
	}
	out := New(ix.options)
	out.current.Store(newSnapshot(segments, old.dead, &g, old.Generation))
	return out
}

// WeighMeaning sets what a cosine counts for a file and for a place in it, and returns
// what undoes it.
func WeighMeaning(file, place float32) (undo func()) {
	oldFile, oldPlace := textWeights[sigVector], placeMeaning
	textWeights[sigVector], placeMeaning = file, place
	return func() { textWeights[sigVector], placeMeaning = oldFile, oldPlace }
}
