package eval

import (
	"fmt"
	"strings"
	"testing"

	"quarry/completion"
)

// The engine reads the files of a repository by itself: a line that every file has is filled
// from them, alone and in a session.
func TestReading(t *testing.T) {
	r := Repository{Name: "barn"}
	for i := range 6 {
		r.Documents = append(r.Documents, completion.Document{Path: fmt.Sprintf("d%d/a.go", i), Language: "go", Text: "package barn\n" + strings.Repeat("\nfunc harvest() {\n\tstore.Keep(apples, pears)\n}\n", 8)})
	}
	report, err := Reading(t.Context(), []Repository{r}, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := report.Trees[0]
	if got.Holes != 10 || got.Alone < 8 || got.Session < 8 {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{"| barn | 10 |", "| all | 10 |"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
}
