package syntax

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/index/syntax/query"

	sitter "github.com/smacker/go-tree-sitter"
)

// TestQueriesCompile compiles every query: in use, one that its grammar does
// not know is a panic.
func TestQueriesCompile(t *testing.T) {
	for name, l := range languages {
		q, err := query.Compile(query.NewGrammar(l.grammar.Language()), l.source())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if _, err := newFactQuery(q); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQueryErrorsNameTheLine(t *testing.T) {
	g := query.NewGrammar(languages["go"].grammar.Language())
	for src, want := range map[string]string{
		"(comment) @comment\n(no_such_node)":                 "line 2: the grammar has no node (no_such_node)",
		"(call_expression nofield: (_))":                     "line 1: the grammar has no field nofield",
		"(block (comment)* @doc)":                            "quantifier * is not supported",
		"(comment":                                           "unclosed (comment",
		`("nosuchtoken")`:                                    "line 1",
		`((comment) @c (#like? @c "x"))`:                     "predicate #like? is unknown",
		`((comment) @c (#match? @c "("))`:                    "missing closing )",
		`((comment) @c (#eq? @c "x" "y"))`:                   "wrong arguments",
		"((comment) (comment))":                              "expected a predicate",
		"(function_declaration !nofield name: (identifier))": "no field nofield",
	} {
		_, err := query.Compile(g, src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("compile %q: error %v, want one with %q", src, err, want)
		}
	}
	if _, err := newFactQuery(&query.Query{Captures: []string{"nonsense"}}); err == nil {
		t.Error("a capture without a meaning is accepted")
	}
}

// TestQueryEqualsCursor holds the matcher against tree-sitter's own cursor, on
// every fixture and its language's query. Where a field has several children
// the cursor misses all but the last: queries name no field there.
func TestQueryEqualsCursor(t *testing.T) {
	for _, dir := range fixtureDirs(t) {
		t.Run(dir, func(t *testing.T) {
			name, src := fixture(t, dir)
			l := languageFor(name)
			if l == nil {
				return // read by lines
			}
			text := l.source()
			if name == "swift" {
				text = withoutFunctions(text)
			}
			q, err := query.Compile(query.NewGrammar(l.grammar.Language()), text)
			if err != nil {
				t.Fatal(err)
			}
			tree, _ := l.grammar.Parse(nil, src, parseLimit(len(src)))
			defer tree.Close()
			bindings := bindingTree(t, l, src)
			defer bindings.Close()
			nodes, release := tree.Nodes()
			defer release()

			var got []string
			q.Match(nodes, src, func(pattern int, captures []query.Capture) {
				var ranges []string
				for _, c := range captures {
					ranges = append(ranges, fmt.Sprintf("@%s %d-%d", q.Captures[c.ID], nodes[c.Node].Start, nodes[c.Node].End))
				}
				slices.Sort(ranges)
				got = append(got, fmt.Sprintf("pattern %d: %v", pattern, ranges))
			})
			want := cursorMatches(t, l, text, bindings, src)
			slices.Sort(got)
			got = slices.Compact(got)
			if len(want) < 5 {
				t.Fatalf("tree-sitter finds %d matches; the fixture is too poor to compare", len(want))
			}
			for _, m := range want {
				if _, ok := slices.BinarySearch(got, m); !ok {
					t.Errorf("not found: %s", m)
				}
			}
			for _, m := range got {
				if _, ok := slices.BinarySearch(want, m); !ok {
					t.Errorf("found, but not by tree-sitter: %s", m)
				}
			}
		})
	}
}

// withoutFunctions leaves out the patterns that tree-sitter needs half a minute
// each to compile for Swift.
func withoutFunctions(text string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "(function_declaration ") {
			line = ""
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// cursorMatches runs each pattern of a query through the binding, with the
// predicates the binding knows and #any-of? checked here.
func cursorMatches(t *testing.T, l *language, text string, tree *sitter.Tree, src []byte) []string {
	t.Helper()
	q, err := sitter.NewQuery([]byte(text), l.grammar.Language())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.Exec(q, tree.RootNode())
	var out []string
	for {
		match, ok := cursor.NextMatch()
		if !ok {
			slices.Sort(out)
			return slices.Compact(out)
		}
		filtered := cursor.FilterPredicates(match, src)
		if len(filtered.Captures) == 0 && len(match.Captures) > 0 || !holdsBesides(q, match, src) {
			continue
		}
		var ranges []string
		for _, c := range match.Captures {
			ranges = append(ranges, fmt.Sprintf("@%s %d-%d", q.CaptureNameForId(c.Index), c.Node.StartByte(), c.Node.EndByte()))
		}
		slices.Sort(ranges)
		out = append(out, fmt.Sprintf("pattern %d: %v", match.PatternIndex, ranges))
	}
}

// holdsBesides checks the predicates that the binding does not know.
func holdsBesides(q *sitter.Query, match *sitter.QueryMatch, src []byte) bool {
	for _, steps := range q.PredicatesForPattern(uint32(match.PatternIndex)) {
		name, negated := strings.CutPrefix(q.StringValueForId(steps[0].ValueId), "not-")
		var values []string
		for _, s := range steps[2:] {
			if s.Type == sitter.QueryPredicateStepTypeString {
				values = append(values, q.StringValueForId(s.ValueId))
			}
		}
		for _, c := range match.Captures {
			if c.Index != steps[1].ValueId {
				continue
			}
			found := !negated
			switch name {
			case "any-of?":
				found = slices.Contains(values, c.Node.Content(src))
			case "has-ancestor?":
				found = false
				for n := c.Node.Parent(); n != nil && !found; n = n.Parent() {
					found = slices.Contains(values, n.Type())
				}
			}
			if found == negated {
				return false
			}
		}
	}
	return true
}
