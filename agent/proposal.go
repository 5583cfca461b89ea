package agent

import "crypto/sha256"

// Document is the text of one file as the person sees it: the editor's buffer if
// the file is open there, else what is on disk.
type Document struct {
	// Path is absolute, with the system's separators.
	Path string
	// Language is quarry's name of it, "" if unknown.
	Language string
	Text     string
}

// TextHash identifies the text that edits were made for.
type TextHash [sha256.Size]byte

// HashText is the hash of a document's text.
func HashText(text string) TextHash { return sha256.Sum256([]byte(text)) }

// TextEdit replaces the bytes [Start, End) of a text.
type TextEdit struct {
	Start, End int
	New        string
}

// FileChange is what a proposal does to one file.
type FileChange struct {
	// Path is absolute.
	Path string
	// Base is the hash of the text that the edits fit. A document whose text has
	// another one has moved on: the proposal is dropped.
	Base TextHash
	// Edits are sorted and do not overlap. They carry the line endings of the
	// document.
	Edits []TextEdit
	// Create says that the file does not exist yet; Base is then that of "".
	Create bool
}

// Confidence is how far a proposal is to be trusted.
type Confidence string

// The confidences, as the person reads them.
const (
	Low    Confidence = "low"
	Medium Confidence = "medium"
	High   Confidence = "high"
)

// Proposal is a change that a person may confirm.
type Proposal struct {
	// Title is one line that says what it does.
	Title string
	// Reason is one to three sentences for the person.
	Reason string
	Files  []FileChange
	// Diff is the change as a unified diff, made from Files.
	Diff       string
	Confidence Confidence
	Citations  []Citation
}

// Citation is a place that an answer rests on. It has been checked: the file is
// in the workspace and has these lines.
type Citation struct {
	// Path is relative to the workspace folder, with slashes.
	Path string
	// StartLine and EndLine are 1-based, both inclusive.
	StartLine, EndLine int
}
