package cli

import (
	"log"
	"strings"
	"testing"
)

// Y2: what a library writes to Go's own log, with words of a server in it, is a line of quarry's log.
func TestLinesOfLibraries(t *testing.T) {
	var out strings.Builder
	e := &Env{}
	e.LogTo(&Terminal{w: &out})
	defer (&Env{}).LogTo(&Terminal{w: &strings.Builder{}})
	say := func() {
		log.Printf("Unsolicited response received on idle HTTP channel starting with %s", "\x1b]52;c;evil\a")
	}
	if err := e.SetLogLevel(""); err != nil {
		t.Fatal(err)
	}
	if say(); out.Len() > 0 {
		t.Errorf("unasked: %q", &out)
	}
	if err := e.SetLogLevel("debug"); err != nil {
		t.Fatal(err)
	}
	if say(); !strings.Contains(out.String(), `level=DEBUG msg="Unsolicited response`) || strings.ContainsAny(out.String(), "\x1b\a") {
		t.Errorf("for debugging: %q", &out)
	}
}
