package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"quarry/index/visible"
)

// Hostile does to a terminal what text must not: it writes the clipboard, makes a
// link, sets the title, clears the screen, hides what follows, goes back over it,
// and turns its direction; in seven bits, in eight, and in Unicode.
const Hostile = "\x1b]52;c;Y3VybCBldmls\x07\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\\x1b]0;title\x07\x1b[2J\x1b[8m\b\b\x7f\r\u009b2J\u202e\u2066\u200b\U000e0041"

// HostileName is Hostile as the name of a file.
var HostileName = strings.ReplaceAll(Hostile, "/", "|")

// NothingSteers runs commands as text and as --json, and fails where what they print
// would do something to a terminal, is no JSON, or where a command below root is
// not among them. What was hostile must have been printed by one in `share`.
func NothingSteers(t *testing.T, root *cobra.Command, run func(context.Context, []string, io.Reader, io.Writer, io.Writer) int, share int, commands [][]string) {
	t.Helper()
	attempts, shown := 0, 0
	for _, args := range commands {
		for _, asJSON := range []bool{false, true} {
			if asJSON {
				args = append(args[:len(args):len(args)], "--json")
			}
			attempts++
			var out, stderr bytes.Buffer
			run(t.Context(), args, strings.NewReader(""), &out, &stderr)
			for what, text := range map[string]string{"output": out.String(), "error": stderr.String()} {
				if i := strings.IndexFunc(text, visible.Hidden); i >= 0 || !utf8.ValidString(text) {
					t.Errorf("%s %q: the %s has %q", root.Name(), args, what, text[max(0, i-40):min(len(text), max(0, i)+40)])
				}
				if strings.Contains(text, "52;c;Y3Vyb") {
					shown++
				}
			}
			if asJSON && !strings.Contains(args[0], "help") {
				allJSON(t, root.Name(), args, &out)
			}
		}
	}
	t.Logf("%d attempts, in %d of which the attack stands on the screen, made visible", attempts, shown)
	if shown < attempts/share {
		t.Errorf("in only %d of %d attempts something hostile was printed: the test shows little", shown, attempts)
	}
	for _, path := range leaves(root) {
		if !slices.ContainsFunc(commands, func(args []string) bool { return len(args) >= len(path) && slices.Equal(args[:len(path)], path) }) {
			t.Errorf("nobody tries %s %s", root.Name(), strings.Join(path, " "))
		}
	}
}

func allJSON(t *testing.T, name string, args []string, out io.Reader) {
	t.Helper()
	dec := json.NewDecoder(out)
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("%s %q: %v", name, args, err)
			return
		}
	}
}

// leaves are the commands below root that do something.
func leaves(root *cobra.Command) (paths [][]string) {
	for _, c := range root.Commands() {
		if c.Runnable() {
			paths = append(paths, []string{c.Name()})
		}
		for _, below := range leaves(c) {
			paths = append(paths, append([]string{c.Name()}, below...))
		}
	}
	return paths
}
