package diagnostics

import (
	"fmt"
	"strings"
)

// Form is what a model is asked to write for a fix. The patcher reads each of them
// whatever was asked for.
type Form int

// The forms: a unified diff; the lines to replace and what they become; the changed
// declaration, whole; or the line of the problem alone, which is asked for without tools
// (line.go).
const (
	Diff Form = iota
	Replace
	Whole
	Line
)

var formNames = [...]string{"diff", "replace", "whole", "line"}

// String is the form's name, which is also that of its template.
func (f Form) String() string { return formNames[f] }

// FormOf is the form of a name.
func FormOf(name string) (Form, error) {
	for i, n := range formNames {
		if n == name {
			return Form(i), nil
		}
	}
	return 0, fmt.Errorf("there is no form %q: choose one of %s", name, strings.Join(formNames[:], ", "))
}

// written says whether a text that is being written has all of its change.
func (f Form) written(text string) bool {
	var after string
	switch f {
	case Replace:
		last := strings.LastIndex(text, "\n>>>>>>> REPLACE")
		if last < 0 {
			return false
		}
		after = text[last+len("\n>>>>>>> REPLACE"):]
		if strings.Contains(after, "<<<<<<<") {
			return false
		}
	case Whole:
		pieces := strings.Split("\n"+text, "\n```")
		if len(pieces) < 3 || len(pieces)%2 == 0 {
			return false
		}
		after = pieces[len(pieces)-1]
	default:
		return diffsWritten(text)
	}
	return len(strings.TrimSpace(after)) > wordsAfter
}

// wanted objects to an answer without a change.
func (f Form) wanted() string {
	if f == Replace {
		return "there is no change in it; write <<<<<<< SEARCH, the lines as they are, =======, the lines as they are to be, >>>>>>> REPLACE"
	}
	return "there is no declaration in it; write the one that changes, whole, between two lines of ```"
}
