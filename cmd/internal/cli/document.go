package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Failure is the member "error" of the document that a command prints with --json where it
// fails.
type Failure struct {
	// Code is failed, usage or stopped, as the exit code says.
	Code string `json:"code"`
	// Message is what stands on standard error.
	Message string `json:"message"`
}

// The codes of failures.
const (
	failed  = "failed"
	misuse  = "usage"
	stopped = "stopped"
)

// elsewhere is the message of a failure that the rest of its document tells of.
const elsewhere = "not all is well: the rest of this document says what"

// PrintJSON makes v the JSON document that the command prints at its end, indented.
func (e *Env) PrintJSON(v any) error { return e.document(v, "  ") }

// PrintLine is PrintJSON on one line.
func (e *Env) PrintLine(v any) error { return e.document(v, "") }

func (e *Env) document(v any, indent string) error {
	raw, err := encode(v, indent)
	if err != nil {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	e.held = raw
	return nil
}

// encode is v as JSON without the escapes that are for HTML, a line end behind it.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// flush prints the document that is held back.
func (e *Env) flush() error {
	raw := e.held
	if e.held = nil; len(raw) == 0 {
		return nil
	}
	_, err := e.Stdout.Write(raw)
	return err
}

// Behind has work done when the command has answered: what it printed, or why it failed, is on its
// way by then.
func (e *Env) Behind(work func()) { e.behind = append(e.behind, work) }

// failDocument adds to the command's document what went wrong, or makes that the document.
func (e *Env) failDocument(f Failure) {
	if len(e.held) == 0 {
		if !e.Stdout.used() { // else it is text
			e.held, _ = encode(map[string]Failure{"error": f}, "  ") // strings always encode
		}
		return
	}
	body, isObject := bytes.CutSuffix(bytes.TrimSpace(e.held), []byte("}"))
	if !isObject {
		return // a list has no room for it
	}
	indent, between := "", ""
	if bytes.ContainsRune(body, '\n') {
		indent, between = "  ", "\n"
	}
	member, _ := encode(map[string]Failure{"error": f}, indent)
	body = bytes.TrimSpace(body)
	if !bytes.HasSuffix(body, []byte("{")) {
		body = append(body, ","...)
	}
	e.held = append(append(body, between...), bytes.TrimLeft(member, "{\n")...)
}

// fail says on standard error, and in the document if the user wants one, why a command failed,
// and returns the exit code. This is the only place where that is decided.
func (e *Env) fail(cmd *cobra.Command, args []string, err error) int {
	code, f := ExitFailed, Failure{failed, err.Error()}
	switch {
	case errors.Is(err, ErrSilent):
		f.Message = elsewhere
	case errors.Is(err, ErrUsage) || !e.started: // cobra's errors before that are about flags and arguments
		code, f = ExitUsage, Failure{misuse, strings.TrimPrefix(err.Error(), "usage: ")}
		fmt.Fprintf(e.Stderr, "%s: %s\nRun `%s help` for what there is.\n", cmd.Name(), f.Message, cmd.Name())
	case cmd.Context().Err() != nil && e.ends.Load() == nil: // by Ctrl-C, or whoever ended it
		code, f.Code = ExitStopped, stopped
		if errors.Is(err, context.Canceled) {
			f.Message = stopped
		}
		fmt.Fprintf(e.Stderr, "%s: %s\n", cmd.Name(), f.Message)
	default:
		fmt.Fprintf(e.Stderr, "%s: %v\n", cmd.Name(), err)
	}
	if e.wantsDocument(cmd, args) && (len(e.held) > 0 || f.Message != elsewhere) {
		e.JSON = true // so that the document is escaped as one
		e.failDocument(f)
	}
	return code
}

// wantsDocument answers whether the user gave --json. Behind an argument that is wrong no flag
// was read.
func (e *Env) wantsDocument(cmd *cobra.Command, args []string) bool {
	if f := cmd.PersistentFlags().Lookup("json"); f.Changed {
		return e.JSON
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return !e.started && (slices.Contains(args, "--json") || slices.Contains(args, "--json=true"))
}
