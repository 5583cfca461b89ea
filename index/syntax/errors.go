package syntax

// ErrorCount is the number of places the parser could not parse or had to make
// up a token for, as in [File.Errors] but without the rest of an analysis: it
// descends only where errors are, so that a sound tree costs one look at its
// root. ok is false where there is no tree to look at.
func (t *Tree) ErrorCount() (n int, ok bool) {
	tree := t.copyTree()
	if tree == nil {
		return 0, false
	}
	defer tree.Close()
	return countErrors(tree), true
}
