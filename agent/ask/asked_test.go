package ask

import (
	"fmt"
	"strings"
	"testing"
)

// However long a question is, what it is about is the words at its beginning, each once.
func TestAskedIsBounded(t *testing.T) {
	var question strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&question, "Store store%d ", i)
	}
	words := asked(question.String())
	if len(words) < 500 || len(words) > askedBytes/(2*len("store 1")) || words[0] != "store" || words[1] != "store0" || words[2] != "store1" {
		t.Errorf("%d words: %q ...", len(words), words[:min(len(words), 4)])
	}
	if got := asked("What does Open, opened or OPEN do with größe?"); fmt.Sprint(got) != "[open opened größe]" {
		t.Errorf("%q", got)
	}
}
