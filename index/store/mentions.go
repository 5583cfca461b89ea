package store

import (
	"strings"

	"quarry/index/syntax"
)

// The mentions table says which files may refer to what is called so.

func mentionText(refs []Reference, imports []syntax.Import) string {
	var b strings.Builder
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			b.WriteString(nameToken(name))
			b.WriteByte(' ')
		}
	}
	for _, r := range refs {
		add(r.Name)
	}
	for _, i := range imports {
		if parts := ImportComponents(i.Path); i.Alias != "" && len(i.Names) == 0 && len(parts) > 0 { // Rust's use a::b as c
			add(parts[len(parts)-1])
		}
		for _, n := range i.Names {
			add(n)
		}
	}
	return b.String()
}

// ImportComponents cuts an import's path as any language writes it into the names
// of folders and files, outermost first: "a/b.h", "a.b.C", "crate::a::b", "A\B".
func ImportComponents(importPath string) []string {
	return strings.FieldsFunc(importPath, func(r rune) bool {
		return strings.ContainsRune(`/.:\*@~`, r)
	})
}
