package index

import (
	"quarry/index/syntax"

	"quarry/index/lang"
)

// trees are the syntax trees of open documents, kept so that an edit parses only
// what it touched. They belong to the coordinator.
type trees map[string]*syntax.Tree

// maxTrees bounds how many are kept: an editor may hold hundreds of documents
// open, and only those being typed in matter.
const maxTrees = 16

func (t trees) analyze(rel string, text []byte) (*syntax.File, error) {
	tree, err := t.parse(rel, text)
	if err != nil {
		return nil, err
	}
	if !tree.Whole() {
		// Around errors an incremental parse may recover in another way than a
		// fresh one, and the index must not depend on the way it came about.
		if tree, err = syntax.Parse(tree.Language(), text); err != nil {
			return nil, err
		}
		t.drop(rel)
		t[rel] = tree
	}
	return tree.Analyze(), nil
}

func (t trees) parse(rel string, text []byte) (*syntax.Tree, error) {
	language := lang.Detect(rel, head(text))
	old := t[rel]
	var tree *syntax.Tree
	var err error
	if old != nil && old.Language() == language {
		tree, err = old.Update(text)
	} else {
		tree, err = syntax.Parse(language, text)
	}
	if err != nil {
		return nil, err
	}
	if old == nil && len(t) >= maxTrees {
		for other := range t {
			t.drop(other)
			break
		}
	}
	t.drop(rel)
	t[rel] = tree
	return tree, nil
}

func (t trees) drop(rel string) {
	if tree := t[rel]; tree != nil {
		tree.Close()
		delete(t, rel)
	}
}

func (t trees) close() {
	for rel := range t {
		t.drop(rel)
	}
}
