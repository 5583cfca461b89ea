package retrieval

// What the ablation of package retrieval_test turns off and on.

// SignalNames are the signals in the order of weights.
var SignalNames = [numSignals]string{"best chunk", "sum of chunks", "metadata", "file name recall", "file name precision",
	"folder recall", "name declared", "word declared", "PageRank", "neighbours", "literal", "message", "locality", "vectors"}

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

// ClassNames are the classes that lower files, in the words of the explanations.
var ClassNames = func() (names []string) {
	for _, r := range fileClasses {
		names = append(names, r.name)
	}
	return names
}()

// WithoutClass answers a copy of an index in which no file has the class; ""
// takes all classes away.
func WithoutClass(ix *Index, name string) *Index {
	old := ix.Current()
	var segments []*segment
	for _, seg := range old.segments {
		s := *seg
		s.files = append([]file(nil), seg.files...)
		for i := range s.files {
			for bit := range fileClasses {
				if name == "" || fileClasses[bit].name == name {
					s.files[i].class &^= 1 << bit
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
func WeighSemantic(file, place float32) (undo func()) {
	oldFile, oldPlace := textWeights[sigVector], chunkSimilarityWeight
	textWeights[sigVector], chunkSimilarityWeight = file, place
	return func() { textWeights[sigVector], chunkSimilarityWeight = oldFile, oldPlace }
}
