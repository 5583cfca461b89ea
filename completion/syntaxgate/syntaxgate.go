// Package syntaxgate counts the syntax errors of documents and of what they
// would become, for [completion.Options.Syntax]. It keeps the tree of the last
// version of each document, so that a candidate costs one incremental parse.
// It stands apart from package completion because it needs the C compiler that
// tree-sitter needs.
package syntaxgate

import (
	"sync"

	"quarry/index/syntax"
)

// Trees holds the trees of open documents; it is safe for concurrent use.
type Trees struct {
	mu sync.Mutex
	// trees is guarded by mu; a Tree itself is immutable.
	trees map[string]*syntax.Tree
}

// New makes an empty Trees.
func New() *Trees { return &Trees{trees: map[string]*syntax.Tree{}} }

// Document makes text the version of the document that candidates are compared
// with, and answers its number of syntax errors; ok is false for a language
// without a grammar.
func (t *Trees) Document(key, language, text string) (errors int, ok bool) {
	t.mu.Lock()
	old := t.trees[key]
	t.mu.Unlock()
	var tree *syntax.Tree
	var err error
	if old != nil && old.Language() == syntax.Canonical(language) {
		tree, err = old.Update([]byte(text))
	} else {
		tree, err = syntax.Parse(language, []byte(text))
	}
	if err != nil {
		return 0, false
	}
	t.mu.Lock()
	if last := t.trees[key]; last != nil {
		last.Close()
	}
	t.trees[key] = tree
	t.mu.Unlock()
	return tree.ErrorCount()
}

// Candidate answers the number of syntax errors of text, a version of the
// document that may come to be.
func (t *Trees) Candidate(key, text string) (errors int, ok bool) {
	t.mu.Lock()
	base := t.trees[key]
	t.mu.Unlock()
	if base == nil {
		return 0, false
	}
	tree, err := base.Update([]byte(text))
	if err != nil {
		return 0, false
	}
	defer tree.Close()
	return tree.ErrorCount()
}

// Forget frees the tree of a document that was closed.
func (t *Trees) Forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tree := t.trees[key]; tree != nil {
		tree.Close()
		delete(t.trees, key)
	}
}
