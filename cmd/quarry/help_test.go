package main

import (
	"bytes"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
)

// What a name is taken to mean exists, and the name itself is no command.
func TestMeantCommandsExist(t *testing.T) {
	root := (&app{&cli.Env{}}).root()
	for name, means := range cli.Meant {
		if _, _, err := root.Find([]string{name}); err == nil {
			t.Errorf("%s is a command", name)
		}
		for _, m := range means {
			if _, _, err := root.Find([]string{m}); err != nil {
				t.Errorf("%s means %s: %v", name, m, err)
			}
		}
	}
}

// A command that does not exist is an error however it is named, with what is near; help
// of one that does is none.
func TestUnknownCommands(t *testing.T) {
	for _, test := range []struct {
		args string
		says string // in standard error; "" if the command exists
	}{
		{"serch", `unknown command "serch"; did you mean ` + "`quarry search` or `quarry serve`?"},
		{"serch words", "`quarry search`"},
		{"serch --help", "`quarry search`"},
		{"--help serch", "`quarry search`"},
		{"help serch", "`quarry search`"},
		{"help report", ""},
		{"grep words", "`quarry search`?"},
		{"foo", `unknown command "foo"` + "\n"},
		{"foo --help", `unknown command "foo"` + "\n"},
		{"help foo", `unknown command "foo"` + "\n"},
		{"help search more", `unknown command "more"`},
		{"model pul", "`quarry model pull`"},
		{"model pul --help", "`quarry model pull`"},
		{"help model pul", "`quarry model pull`"},
		{"help search", ""},
		{"search --help", ""},
		{"search --help words", ""},
		{"help model pull", ""},
		{"help", ""},
		{"--help", ""},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(test.args), strings.NewReader(""), &out, &errs)
		switch {
		case test.says == "" && (code != cli.ExitOK || !strings.Contains(out.String(), "Usage:") || errs.Len() > 0):
			t.Errorf("quarry %s: exit %d, %s%s", test.args, code, out.String(), errs.String())
		case test.says != "" && (code != cli.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), test.says)):
			t.Errorf("quarry %s: exit %d, %s%s", test.args, code, out.String(), errs.String())
		}
	}
}
