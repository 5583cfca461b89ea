package agent

import "quarry/retrieval/workspace"

// Location is a byte range of a document's text, as it was when the user asked.
type Location struct {
	Document Document
	// Start and End lie in Document.Text on character boundaries.
	Start, End int
}

// Severity is how bad a diagnostic is.
type Severity string

// The severities of LSP.
const (
	SeverityError       Severity = "error"
	SeverityWarning     Severity = "warning"
	SeverityInformation Severity = "information"
	SeverityHint        Severity = "hint"
)

// Problem is a diagnostic, from any tool, that a user wants explained or fixed.
type Problem struct {
	Location
	Severity Severity
	// Source is the tool that says it and Code its name for it; "" if unknown.
	Source, Code string
	Message      string
}

// Explanation is what is said about a problem.
type Explanation struct {
	// Text is Markdown: the cause in two to four sentences, then the smallest
	// safe fix.
	Text       string
	Confidence Confidence
	Citations  []Citation
	// Removed is how many citations were taken out because they name nothing in
	// the workspace.
	Removed int
	// Backend says what was searched by. Missing is what the index did not know yet, nil if
	// nothing.
	Backend []string
	Missing *workspace.Missing
}

// Import is a change that adds an import whose lack makes a name unknown. No model has part in it.
type Import struct {
	Proposal
	// What is what it imports, as code says it; no two for a problem are alike.
	What string
	// Certain says that enough files of the workspace import the name so, and none otherwise.
	Certain bool
}

// Refactoring is a kind of change that is proposed for a selection.
type Refactoring string

// The refactorings.
const (
	// Extract makes a function of the selection.
	Extract Refactoring = "extract"
	// Rename gives what is selected a better name within its scope.
	Rename Refactoring = "rename"
	// Simplify says the same with less.
	Simplify Refactoring = "simplify"
	// Describe writes the documentation of what is selected.
	Describe Refactoring = "document"
	// Test writes tests of what is selected.
	Test Refactoring = "test"
	// Free does what Selection.Goal says.
	Free Refactoring = "free"
)

// Refactorings are those of menus, in their order, with the titles that users see. Free is
// none of them: its title is what the user asks for.
var Refactorings = []struct {
	Kind  Refactoring
	Title string
}{
	{Extract, "Extract into a function"},
	{Rename, "Rename to something clearer within its scope"},
	{Simplify, "Simplify"},
	{Describe, "Document"},
	{Test, "Write tests"},
}

// Selection is code that a user wants changed.
type Selection struct {
	Location
	Kind Refactoring
	// Goal is what the user asks for, in their words, for Free; for Rename the new
	// name, "" if quarry is to find one.
	Goal string
}

// Question is what a user asks about the workspace.
type Question struct {
	Text string
	// About is what the question is about: a selection, or a whole document if
	// Start and End are equal. Nil means the workspace.
	About *Location
}

// Answer is what is said to a question.
type Answer struct {
	// Text is Markdown: a short answer and its evidence, each piece with
	// path:line-line.
	Text      string
	Citations []Citation
	// Removed is how many citations were taken out because they name nothing in
	// the workspace.
	Removed int
	// Unfounded says that the workspace has no evidence for an answer; Text says
	// so too.
	Unfounded bool
	// Backend says what was searched by. Missing is what the index did not know yet, nil if
	// nothing; Text says so too.
	Backend []string
	Missing *workspace.Missing
}
