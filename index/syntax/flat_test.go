package syntax

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"

	sitter "github.com/smacker/go-tree-sitter"
)

// TestFlattenEqualsBinding walks every fixture's tree through the binding, node
// by node, and compares it with the flattened one.
func TestFlattenEqualsBinding(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			name, src := fixture(t, dir)
			l := languageFor(name)
			if l == nil {
				return // read by lines
			}
			src = append(src, "\n( \" broken {"...)
			tree, _ := l.grammar.Parse(nil, src, parseLimit(len(src)))
			defer tree.Close()
			want := bindingTree(t, l, src)
			defer want.Close()
			nodes, release := tree.Nodes()
			defer release()
			once, releaseOnce := l.grammar.Nodes(src, parseLimit(len(src)))
			defer releaseOnce()
			if !slices.Equal(once, nodes) {
				t.Error("parsed into an arena the text has other nodes")
			}
			at := compareNode(t, l, nodes, 0, want.RootNode())
			if at != len(nodes) {
				t.Errorf("%d nodes through the binding, %d flattened", at, len(nodes))
			}
		})
	}
}

// bindingTree is the tree that the binding makes of a text, by the grammar as it came.
func bindingTree(t *testing.T, l *language, src []byte) *sitter.Tree {
	t.Helper()
	l.grammar.Nodes(nil, parseLimit(0)) // leaves a scanner that all texts share at its beginning
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(l.grammar.Language())
	tree, err := p.ParseCtx(context.Background(), nil, src) // one that is cancelled would spoil the binding
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestArenasBesideKeptTrees parses into arenas and into memory that is kept at the
// same time and on the same threads: neither must free what is the other's.
func TestArenasBesideKeptTrees(t *testing.T) {
	name, src := fixture(t, "ruby") // a scanner with memory of its own
	want, err := Analyze(name, src)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			kept, err := Parse(name, src)
			if err != nil {
				t.Error(err)
				return
			}
			defer kept.Close()
			for i := range 20 {
				once, err := Analyze(name, src)
				if err != nil || !reflect.DeepEqual(once, want) {
					t.Errorf("round %d: in an arena the file yields something else (%v)", i, err)
				}
				next, err := kept.Update(append(src[:len(src):len(src)], "\n# more\n"...))
				if err != nil {
					t.Error(err)
					return
				}
				next.Close()
				if !reflect.DeepEqual(kept.Analyze(), want) {
					t.Errorf("round %d: the kept tree yields something else", i)
				}
			}
		})
	}
	group.Wait()
}

// compareNode checks nodes[i] and its subtree and returns the index after it.
func compareNode(t *testing.T, l *language, nodes []node, i int, want *sitter.Node) int {
	t.Helper()
	if i >= len(nodes) {
		t.Fatalf("the flattened tree ends before %s", want)
	}
	n := nodes[i]
	if n.Start != want.StartByte() || n.End != want.EndByte() || sitter.Symbol(n.Symbol) != want.Symbol() ||
		n.Missing != want.IsMissing() || n.Extra != want.IsExtra() || l.facts.query.IsNamed(n.Symbol) != want.IsNamed() {
		t.Fatalf("node %d is %+v, the binding says %s at %d-%d", i, n, want.Type(), want.StartByte(), want.EndByte())
	}
	next, previous := i+1, 0
	cursor := sitter.NewTreeCursor(want)
	defer cursor.Close()
	for c := range int(want.ChildCount()) {
		if c == 0 {
			cursor.GoToFirstChild()
		} else {
			cursor.GoToNextSibling()
		}
		if next < len(nodes) && l.grammar.Language().FieldName(int(nodes[next].Field)) != cursor.CurrentFieldName() {
			t.Fatalf("node %d fills the field %d, want %q", next, nodes[next].Field, cursor.CurrentFieldName())
		}
		if next < len(nodes) && (int(nodes[next].Parent) != i || int(nodes[next].Previous) != previous) {
			t.Fatalf("node %d has parent %d and previous %d, want %d and %d", next, nodes[next].Parent, nodes[next].Previous, i, previous)
		}
		previous = next
		next = compareNode(t, l, nodes, next, want.Child(c))
	}
	if int(n.Next) != next {
		t.Fatalf("node %d ends before %d, want %d", i, n.Next, next)
	}
	return next
}
