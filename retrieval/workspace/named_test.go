package workspace

import (
	"testing"

	"quarry/index/syntax"
)

// Only the name that is asked for ends the search for it, with or without its container.
func TestIsNamed(t *testing.T) {
	parse := Symbol{Symbol: syntax.Symbol{Name: "Parse"}}
	for name, want := range map[string]bool{
		"Parse": true, "parse": true, "Query.Parse": true, "Query::Parse": true, "a/b.go#Parse": true,
		"Pars": false, "ParseAll": false, "Parse.All": false, "": false, "Parse.": false,
	} {
		if got := isNamed(parse, name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
