// Package syntaxcheck counts the syntax errors of documents and of what they
// would become, for [completion.Options.Syntax]. It keeps the tree of the last
// version of each document, so that a candidate costs one incremental parse.
// It stands apart from package completion because it needs the C compiler that
// tree-sitter needs.
package syntaxcheck

import (
	"sync"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/walk"
)

// Trees holds the trees of open documents; it is safe for concurrent use.
type Trees struct {
	mu sync.Mutex
	// documents is guarded by mu.
	documents map[string]*document
}

// document is the last version of a document.
type document struct {
	// mu is held while a version is parsed, so that whoever needs it meanwhile
	// waits for it instead of parsing it once more.
	mu sync.Mutex
	// All below is guarded by mu. tree is nil before the first version and once
	// it is forgotten; a Tree itself is immutable.
	text   string
	tree   *syntax.Tree
	errors int
	ok     bool
}

// New makes an empty Trees.
func New() *Trees { return &Trees{documents: map[string]*document{}} }

// Document makes text the version of the document that candidates are compared
// with, and answers its number of syntax errors; ok is false for a language
// without a grammar and for a text that a program wrote.
func (t *Trees) Document(key, language, text string) (errors int, ok bool) {
	if walk.IsMinified(text) {
		t.Forget(key)
		return 0, false
	}
	t.mu.Lock()
	d := t.documents[key]
	if d == nil {
		d = &document{}
		t.documents[key] = d
	}
	t.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	same := d.tree != nil && d.tree.Language() == lang.Canonical(language)
	if same && d.text == text {
		return d.errors, d.ok
	}
	var tree *syntax.Tree
	var err error
	if same {
		tree, err = d.tree.Update([]byte(text))
	} else {
		tree, err = syntax.Parse(language, []byte(text))
	}
	if err != nil {
		return 0, false
	}
	if d.tree != nil {
		d.tree.Close()
	}
	d.text, d.tree = text, tree
	d.errors, d.ok = tree.ErrorCount()
	return d.errors, d.ok
}

// Candidate answers the number of syntax errors of text, a version of the
// document that may come to be.
func (t *Trees) Candidate(key, text string) (errors int, ok bool) {
	t.mu.Lock()
	d := t.documents[key]
	t.mu.Unlock()
	if d == nil {
		return 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree == nil {
		return 0, false
	}
	tree, err := d.tree.Update([]byte(text))
	if err != nil {
		return 0, false
	}
	defer tree.Close()
	return tree.ErrorCount()
}

// Forget frees the tree of a document that was closed.
func (t *Trees) Forget(key string) {
	t.mu.Lock()
	d := t.documents[key]
	delete(t.documents, key)
	t.mu.Unlock()
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree != nil {
		d.tree.Close()
		d.tree = nil
	}
}
