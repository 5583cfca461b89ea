package cli

import (
	"fmt"
	"strings"
	"testing"
)

// quarry's own looks go through a terminal, and nobody else's, not even in the form
// in which quarry writes them.
func TestTerminalKnowsItsOwn(t *testing.T) {
	var out strings.Builder
	term := NewTerminal(&out)
	forged := strings.ReplaceAll(Bold, mark, "\x1b"+strings.Repeat("A", len(mark)-1))
	fmt.Fprintf(term, "%s%s %s\x1b[31m%s|%s", ClearLine, Bold+"a\x1b[2J"+Reset, Dim+"é"+Reset, forged, mark[1:])
	want := "\x1b[G\x1b[K\x1b[1ma\\x1b[2J\x1b[0m \x1b[90mé\x1b[0m\\x1b[31m\\x1b" + forged[1:] + "|" + mark[1:]
	if out.String() != want {
		t.Errorf("printed %q\nwant    %q", out.String(), want)
	}
}
