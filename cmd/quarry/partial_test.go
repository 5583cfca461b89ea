package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"quarry/cmd/internal/cli"
	"quarry/retrieval/workspace"
)

// Commands that ask once answer within --wait: with what is known, which they say is not
// all, and never that there is nothing while that cannot be known.
func TestCommandsWaitForSoLong(t *testing.T) {
	for _, test := range []struct {
		state  string
		spoil  func(t *testing.T, database string)
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"absent", removeIndex, []string{"search", "apples"}, cli.ExitFailed, "", "quarry: not ready: "},
		{"absent", removeIndex, []string{"search", "--mode", "symbols", "Harvest"}, cli.ExitFailed, "", "quarry: not ready: "},
		{"absent", removeIndex, []string{"search", "--similar", "barn/a.go:4"}, cli.ExitFailed, "", "quarry: not ready: "},
		{"half-built", forgetScan, []string{"search", "Harvest"}, cli.ExitOK, "barn/b.go:", "quarry: incomplete: "},
		{"half-built", forgetScan, []string{"search", "walrus"}, cli.ExitFailed, "", "(2 files done); `quarry index` reads the rest"},
		{"half-built", forgetScan, []string{"complete", "barn/b.go:3:17"}, cli.ExitOK, "func Store", "quarry: incomplete: "},
		{"half-built", forgetScan, []string{"explain", "--message", "unused", "barn/b.go:3"}, cli.ExitOK, "These may not be the nearest: ", "quarry: incomplete: "},
		{"half-built", forgetScan, []string{"ask", "what harvests"}, cli.ExitOK, "- barn/b.go:", "quarry: incomplete: "},
		{"half-built", forgetScan, []string{"status"}, cli.ExitOK, "incomplete: a running quarry reads the folder", ""},
		{"present", func(*testing.T, string) {}, []string{"search", "walrus"}, cli.ExitOK, "Nothing found", ""},
		{"present", func(*testing.T, string) {}, []string{"search", "Harvest"}, cli.ExitOK, "barn/a.go:", ""},
	} {
		t.Run(test.state+" "+strings.Join(test.args, " "), func(t *testing.T) {
			root, stateDir := barn(t), t.TempDir()
			t.Chdir(root)
			database := indexBarn(t, root, stateDir)
			test.spoil(t, database)
			// Another process has the index and does nothing.
			other := flock.New(filepath.Join(filepath.Dir(database), "lock"))
			if held, err := other.TryLock(); !held || err != nil {
				t.Fatal(held, err)
			}
			defer other.Close()
			wait := "0s"
			if test.state == "present" {
				wait = "1m"
			}
			args := append(test.args, "--workspace", root, "--state-dir", stateDir, "--ollama", noOllama, "--wait", wait)
			var out, errs strings.Builder
			code := run(t.Context(), args, nil, &out, &errs)
			if code != test.code || !strings.Contains(out.String(), test.stdout) || !strings.Contains(errs.String(), test.stderr) || test.state == "present" && errs.Len() > 0 {
				t.Errorf("exit %d, printed %q and %q", code, out.String(), errs.String())
			}
			if test.args[0] == "status" { // which has no answer
				return
			}
			out.Reset()
			var answer struct {
				Results    []any
				Backend    []string
				Incomplete *workspace.Missing
			}
			if test.args[0] != "search" {
				answer.Results = []any{}
			}
			code = run(t.Context(), append(args, "--json"), nil, &out, &errs)
			if err := json.Unmarshal([]byte(out.String()), &answer); err != nil || code != test.code || answer.Results == nil || answer.Backend == nil || (answer.Incomplete == nil) != (test.state == "present") {
				t.Errorf("exit %d, %v in %s", code, err, out.String())
			}
		})
	}
}

func removeIndex(t *testing.T, database string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(database), "*"))
	for _, name := range list {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		t.Fatal(err)
	}
}
