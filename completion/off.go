package completion

import (
	"fmt"
	"slices"

	"quarry/index/glob"
	"quarry/index/lang"
)

// Off says where completion stays silent. The zero value is nowhere.
type Off struct {
	Everywhere bool
	// Languages are named in any way that package lang knows.
	Languages []string
	// Globs are of paths below the workspace's folder.
	Globs []glob.Glob
	// Bytes is the largest document served, 0 for no limit.
	Bytes int
}

// Reason is why completion is off for d, "" where it is on.
func (o Off) Reason(d Document) string {
	id := lang.Canonical(d.Language)
	switch {
	case o.Everywhere:
		return "completion is switched off"
	case slices.ContainsFunc(o.Languages, func(name string) bool { return name == d.Language || lang.Canonical(name) == id }):
		return fmt.Sprintf("completion is switched off for language %s", d.Language)
	case o.Bytes > 0 && len(d.Text) > o.Bytes:
		return fmt.Sprintf("completion is off for documents over %d bytes; this one has %d", o.Bytes, len(d.Text))
	}
	for _, g := range o.Globs {
		if g.Covers(d.Path) {
			return fmt.Sprintf("completion is switched off for %s", g)
		}
	}
	return ""
}
