package link

import (
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/store"
)

// A qualifier is what stands before a name: "fmt", "self", "a.b", "crate::store".

const qualifierCuts = `.:>\`

func firstOf(qualifier string) string {
	qualifier = strings.TrimLeft(qualifier, qualifierCuts)
	if i := strings.IndexAny(qualifier, qualifierCuts); i >= 0 {
		return qualifier[:i]
	}
	return qualifier
}

func lastOf(qualifier string) string {
	return qualifier[strings.LastIndexAny(qualifier, qualifierCuts)+1:]
}

// qualifierParts cuts a qualifier that may be a path of modules.
func qualifierParts(qualifier string) []string {
	if !strings.ContainsAny(qualifier, qualifierCuts) || strings.ContainsAny(qualifier, "()[]{} \n") {
		return nil
	}
	parts := strings.FieldsFunc(qualifier, func(r rune) bool { return strings.ContainsRune(qualifierCuts, r) })
	for len(parts) > 0 && (parts[0] == "crate" || parts[0] == "super" || parts[0] == "self" || parts[0] == "this") {
		parts = parts[1:]
	}
	return parts
}

// liesIn tells whether a declaration's folder, file and container end in parts.
func liesIn(c *store.Candidate, parts []string) bool {
	if len(parts) == 0 {
		return false
	}
	if endsIn(c.Container, strings.Join(parts, ".")) {
		return true
	}
	if c.Container != "" {
		if !endsIn(c.Container, parts[len(parts)-1]) {
			return false
		}
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return true
	}
	p := strings.TrimSuffix(c.In.Path, path.Ext(c.In.Path))
	if slices.Contains(lang.Of(c.In.Language).EntryFiles, path.Base(p)) {
		p = parent(p)
	}
	full := strings.Join(parts, "/")
	return p == full || strings.HasSuffix(p, "/"+full)
}
