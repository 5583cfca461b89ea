package patch

import (
	"fmt"
	"strings"

	"quarry/agent"
)

// Reason is why a change was refused.
type Reason string

// The reasons. Each tells whoever wrote the change what kind of mistake it was;
// the refusal's text says what to do.
const (
	NoDiff      Reason = "no diff"         // there is no hunk in the text
	NoFile      Reason = "no file"         // it is not said which file, or there is none of that name
	NotAllowed  Reason = "not allowed"     // the file may not be changed
	NotFound    Reason = "not found"       // the old lines are not in the document
	Ambiguous   Reason = "ambiguous"       // they are there more than once
	Applied     Reason = "already applied" // the new lines are there instead
	Conflict    Reason = "conflict"        // two hunks change the same lines
	Unchanged   Reason = "unchanged"       // it changes nothing
	Elided      Reason = "elided"          // changed lines are left out
	Incomplete  Reason = "incomplete"      // it breaks off, or has no line to be placed by
	Unsupported Reason = "unsupported"     // deletion, rename, mode, binary
	TooLarge    Reason = "too large"
	Unseen      Reason = "unseen characters" // the reader of the diff would miss something
	Masked      Reason = "masked secret"     // it would be written as x's
	Syntax      Reason = "syntax"            // the result would not parse
)

// Refusal is the error of a change that was not taken. Its text is for whoever
// wrote the change, a model or a user, and says what to do next.
type Refusal struct {
	Reason Reason
	// Path is the file as the change names it, "" if it is about all of it.
	Path string
	// Hunk is the number of the hunk in its file, from 1; 0 if it is about none.
	Hunk int
	Text string
}

func (r *Refusal) Error() string {
	switch {
	case r.Hunk > 0 && r.Path != "":
		return fmt.Sprintf("%s, hunk %d: %s", r.Path, r.Hunk, r.Text)
	case r.Path != "":
		return r.Path + ": " + r.Text
	}
	return r.Text
}

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// As makes a refusal an *agent.Failure for whoever answers tool calls.
func (r *Refusal) As(target any) bool {
	f, ok := target.(**agent.Failure)
	if !ok {
		return false
	}
	code := agent.InvalidArguments
	switch r.Reason {
	case NoFile:
		code = agent.NotFound
	case NotAllowed:
		code = agent.PermissionDenied
	case TooLarge:
		code = agent.TooLarge
	}
	*f = agent.Failf(code, "the change is refused (%s): %s", r.Reason, r.Error())
	return true
}

// shorten is a line as a refusal quotes it.
func shorten(line string) string {
	const most = 80
	line = strings.TrimSpace(line)
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
