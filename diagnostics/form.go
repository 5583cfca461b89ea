package diagnostics

import (
	"fmt"
	"strings"
)

// Form is what a model is asked to write for a fix. The patcher reads each of them
// whatever was asked for.
type Form int

// The forms: a unified diff; the lines to replace and what they become; or the changed
// declaration, whole.
const (
	Diff Form = iota
	Replace
	Whole
)

var formNames = [...]string{"diff", "replace", "whole"}

// String is the form's name, which is also that of its template.
func (f Form) String() string { return formNames[f] }

// FormOf is the form of a name.
func FormOf(name string) (Form, error) {
	for i, n := range formNames {
		if n == name {
			return Form(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no form: choose one of %s", name, strings.Join(formNames[:], ", "))
}
