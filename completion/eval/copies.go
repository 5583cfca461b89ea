package eval

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/completion"
)

// A tree that holds its own code twice flatters whoever looks into other files: what a
// hole lacks stands in the copy.

// withoutCompiled leaves out the JavaScript that a compiler made of the tree's own
// TypeScript: files whose name a TypeScript file of the tree has.
func withoutCompiled(docs []completion.Document) []completion.Document {
	stem := func(d completion.Document) string { return strings.TrimSuffix(path.Base(d.Path), path.Ext(d.Path)) }
	sources := map[string]bool{}
	for _, d := range docs {
		if strings.HasPrefix(d.Language, "typescript") {
			sources[stem(d)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(docs), func(d completion.Document) bool {
		return strings.HasPrefix(d.Language, "javascript") && sources[stem(d)]
	})
}

// treeLines are the lines of a tree's documents by path, those of isCode that say something.
type treeLines map[string]map[string]bool

// saying is the shortest line, without its indentation, that tells a file from others.
const saying = 12

func linesOf(docs []completion.Document) treeLines {
	all := treeLines{}
	for _, d := range docs {
		lines := map[string]bool{}
		for line := range strings.Lines(d.Text) {
			if line = strings.TrimSpace(line); len(line) >= saying && isCode(line) {
				lines[line] = true
			}
		}
		all[d.Path] = lines
	}
	return all
}

// copies are the documents that have at least half of the lines of the one with that path:
// other versions of it, or bundles with it.
func (t treeLines) copies(of string) []string {
	var list []string
	own := t[of]
	for p, lines := range t {
		both := 0
		for line := range own {
			if lines[line] {
				both++
			}
		}
		if p != of && both > 0 && 2*both >= len(own) {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// Stands counts the holes of a half whose wanted line, for a body all of it, stands
// verbatim elsewhere in the tree, and in the head of the prompt, comment signs aside.
type Stands struct {
	Half  Half `json:"half"`
	Holes int  `json:"holes"`
	Tree  int  `json:"in_tree"`
	Head  int  `json:"in_head"`
	// Copies is how many had copies of their file, which no prompt was shown.
	Copies int `json:"with_copies"`
}

// taken are the lines that a hole wants, the cursor's whole.
func (h *TypedHole) taken() string {
	if strings.HasPrefix(h.Want, "\n") {
		return trimmedLines(h.Want)
	}
	return trimmedLines(h.Typed + h.Want)
}

// trimmedLines are the lines of text with something on them, unindented, each between line
// breaks.
func trimmedLines(text string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

var commentSign = regexp.MustCompile(`(?m)^[ \t]*(?:// ?|# )`)

// uncommented is a head as the code that it shows.
func uncommented(head string) string { return commentSign.ReplaceAllString(head, "") }
