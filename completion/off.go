package completion

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Off says where completion stays silent. The zero value is nowhere.
type Off struct {
	Everywhere bool
	// Languages are LSP language ids.
	Languages []string
	// Globs are path patterns as in .gitignore: ** crosses folders, a pattern
	// without a slash matches the base name.
	Globs []string
	// Bytes is the largest document served, 0 for no limit.
	Bytes int
}

// Reason is why completion is off for d, "" where it is on.
func (o Off) Reason(d Document) string {
	switch {
	case o.Everywhere:
		return "completion is switched off"
	case slices.Contains(o.Languages, d.Language):
		return fmt.Sprintf("completion is switched off for language %s", d.Language)
	case o.Bytes > 0 && len(d.Text) > o.Bytes:
		return fmt.Sprintf("completion is off for documents over %d bytes; this one has %d", o.Bytes, len(d.Text))
	}
	for _, g := range o.Globs {
		if globMatch(g, d.Path) {
			return fmt.Sprintf("completion is switched off for %s", g)
		}
	}
	return ""
}

func globMatch(pattern, name string) bool {
	pattern = strings.TrimPrefix(pattern, "/")
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	return globParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func globParts(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := 0; i <= len(name); i++ {
				if globParts(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
