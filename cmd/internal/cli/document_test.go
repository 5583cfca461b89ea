package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What is done behind an answer begins when the answer is printed, or why there is none.
func TestBehindTheAnswer(t *testing.T) {
	failure := errors.New("not ready")
	for name, c := range map[string]struct {
		args      []string
		do        func(e *Env) error
		out, errs string
	}{
		"a document":             {[]string{"--json"}, func(e *Env) error { return e.PrintLine([]int{1}) }, "[1]\n", ""},
		"a document and failure": {[]string{"--json"}, func(e *Env) error { return errors.Join(e.PrintLine(struct{}{}), failure) }, `"message":"not ready"`, "test: not ready\n"},
		"failure":                {nil, func(*Env) error { return failure }, "", "test: not ready\n"},
	} {
		var out, errs bytes.Buffer
		worked := false
		Run(t.Context(), c.args, strings.NewReader(""), &out, &errs, func(e *Env) *cobra.Command {
			return &cobra.Command{Use: "test", RunE: func(*cobra.Command, []string) error {
				e.Behind(func() {
					worked = true
					if !strings.Contains(out.String(), c.out) || errs.String() != c.errs {
						t.Errorf("%s: when the work begins, %q and %q are printed", name, &out, &errs)
					}
				})
				return c.do(e)
			}}
		})
		if !worked {
			t.Errorf("%s: nothing was done behind it", name)
		}
	}
}

// K: what a command prints with --json is one document, with what went wrong in it.
func TestDocuments(t *testing.T) {
	failure := errors.New("the <disk> is full\u202e")
	const said = `{
  "error": {
    "code": "failed",
    "message": "the <disk> is full\u202e"
  }
}
`
	for name, c := range map[string]struct {
		do   func(e *Env) error
		out  string
		exit int
	}{
		"done":                      {func(e *Env) error { return e.PrintJSON(map[string]int{"n": 1}) }, "{\n  \"n\": 1\n}\n", 0},
		"failed":                    {func(*Env) error { return failure }, said, 1},
		"called wrongly":            {func(*Env) error { return fmt.Errorf("%w: no", ErrUsage) }, strings.NewReplacer("failed", "usage", `the <disk> is full\u202e`, "no").Replace(said), 2},
		"a document, then failed":   {func(e *Env) error { return errors.Join(e.PrintJSON(map[string]int{"n": 1}), failure) }, "{\n  \"n\": 1,\n" + said[2:], 1},
		"a line, then failed":       {func(e *Env) error { return errors.Join(e.PrintLine(map[string]int{"n": 1}), failure) }, `{"n":1,"error":{"code":"failed","message":"the <disk> is full\u202e"}}` + "\n", 1},
		"nothing in it":             {func(e *Env) error { return errors.Join(e.PrintLine(struct{}{}), failure) }, `{"error":{"code":"failed","message":"the <disk> is full\u202e"}}` + "\n", 1},
		"a list":                    {func(e *Env) error { return errors.Join(e.PrintLine([]int{1}), failure) }, "[1]\n", 1},
		"said already":              {func(e *Env) error { return errors.Join(e.PrintLine(struct{}{}), ErrSilent) }, `{"error":{"code":"failed","message":"` + elsewhere + `"}}` + "\n", 1},
		"said by a server":          {func(*Env) error { return ErrSilent }, "", 1},
		"text, then failed":         {func(e *Env) error { fmt.Fprintln(e.Stdout, "words"); return failure }, "words\n", 1},
		"what cannot be a document": {func(e *Env) error { return e.PrintJSON(func() {}) }, strings.Replace(said, `the <disk> is full\u202e`, "json: unsupported type: func()", 1), 1},
	} {
		root := func(e *Env) *cobra.Command {
			return &cobra.Command{Use: "test", RunE: func(*cobra.Command, []string) error { return c.do(e) }}
		}
		var out, errs bytes.Buffer
		exit := Run(t.Context(), []string{"--json"}, strings.NewReader(""), &out, &errs, root)
		if out.String() != c.out || exit != c.exit || c.exit > 0 && errs.Len() == 0 && !strings.HasPrefix(name, "said") {
			t.Errorf("%s: exit %d, %s; %s", name, exit, out.String(), errs.String())
		}
		out.Reset()
		if exit := Run(t.Context(), nil, strings.NewReader(""), &out, &errs, root); exit != c.exit || strings.Contains(out.String(), `"error"`) {
			t.Errorf("%s, without --json: exit %d, %s", name, exit, out.String())
		}
	}
	// A document that nobody takes is a failure.
	var errs bytes.Buffer
	exit := Run(t.Context(), []string{"--json"}, strings.NewReader(""), nowhere{}, &errs, func(e *Env) *cobra.Command {
		return &cobra.Command{Use: "test", RunE: func(*cobra.Command, []string) error { return e.PrintJSON(1) }}
	})
	if exit != ExitFailed || !strings.Contains(errs.String(), io.ErrClosedPipe.Error()) {
		t.Errorf("exit %d, %s", exit, errs.String())
	}
}

// nowhere takes nothing.
type nowhere struct{}

func (nowhere) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A time to wait is none below 0.
func TestWaitIsNotNegative(t *testing.T) {
	var e Env
	cmd := &cobra.Command{}
	e.WaitFlag(cmd)
	if got := cmd.Flags().Lookup("wait").DefValue; got != "5s" {
		t.Errorf("default %s", got)
	}
	for text, ok := range map[string]bool{"0s": true, "2m": true, "-1s": false, "soon": false} {
		if err := cmd.Flags().Set("wait", text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if cmd.Flags().Lookup("wait").Value.Type() != "duration" || e.Wait < 0 {
		t.Errorf("%v", e.Wait)
	}
}
