package patch

import (
	"fmt"
	"slices"
	"testing"
)

// Two lines of context may be wrong at each end of a hunk, as in patch(1), and not three:
// what a model remembers so badly may be meant for another place.
func TestFuzz(t *testing.T) {
	const text = "one()\ntwo()\nthree()\nfour()\nfive()\nkeep()\nsix()\nseven()\neight()\nnine()\nten()\n"
	above, below := []string{"two()", "three()", "four()", "five()"}, []string{"six()", "seven()", "eight()", "nine()"}
	for top := range 5 {
		for bottom := range 5 {
			t.Run(fmt.Sprint(top, bottom), func(t *testing.T) {
				diff := "--- a/a.go\n+++ b/a.go\n@@ -2,9 +2,9 @@\n"
				for i, line := range above {
					if i < top {
						line = fmt.Sprintf("wrongAbove(%d)", i)
					}
					diff += " " + line + "\n"
				}
				diff += "-keep()\n+kept()\n"
				for i, line := range below {
					if i >= len(below)-bottom {
						line = fmt.Sprintf("wrongBelow(%d)", i)
					}
					diff += " " + line + "\n"
				}
				p, err := New(memory{"a.go": text}).Read(t.Context(), diff)
				switch placed := top <= 2 && bottom <= 2; {
				case placed != (err == nil):
					t.Errorf("%d wrong lines above, %d below: %v; want it placed: %v", top, bottom, err, placed)
				case placed && slices.Contains(p.Rules, Fuzz.String()) != (top+bottom > 0):
					t.Errorf("%d wrong lines above, %d below: by the rules %q", top, bottom, p.Rules)
				}
			})
		}
	}
}
