package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// Document is the text of one file as the user sees it: the editor's buffer if
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

// ApplyEdits is a text after edits, which are sorted and do not overlap.
func ApplyEdits(text string, edits []TextEdit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(text[at:])
	return b.String()
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

// The confidences, as the user reads them.
const (
	Low    Confidence = "low"
	Medium Confidence = "medium"
	High   Confidence = "high"
)

// Proposal is a change that a user may confirm.
type Proposal struct {
	// Title is one line that says what it does.
	Title string
	// Reason is one to three sentences for the user.
	Reason string
	Files  []FileChange
	// Diff is the change as a unified diff, made from Files.
	Diff       string
	Confidence Confidence
	Citations  []Citation
	// Rules names what had to be forgiven to place a model's diff (package patch), for
	// evaluations.
	Rules []string `json:"-"`
}

// Digest identifies what a proposal does: two with the same digest change the same
// texts in the same way and show the user the same diff.
type Digest [sha256.Size]byte

// Digest is the proposal's digest. Title, reason, confidence and citations are
// not part of it.
func (p Proposal) Digest() Digest {
	h := sha256.New()
	// Each part is preceded by its length, so that none can pass for two.
	number := func(n int) { _ = binary.Write(h, binary.LittleEndian, int64(n)) }
	text := func(s string) {
		number(len(s))
		h.Write([]byte(s))
	}
	text(p.Diff)
	number(len(p.Files))
	for _, f := range p.Files {
		text(f.Path)
		h.Write(f.Base[:])
		if f.Create {
			number(1)
		} else {
			number(0)
		}
		number(len(f.Edits))
		for _, e := range f.Edits {
			number(e.Start)
			number(e.End)
			text(e.New)
		}
	}
	return Digest(h.Sum(nil))
}

// clone is a copy that shares nothing that could be changed.
func (p Proposal) clone() Proposal {
	p.Files = slices.Clone(p.Files)
	for i := range p.Files {
		p.Files[i].Edits = slices.Clone(p.Files[i].Edits)
	}
	p.Citations = slices.Clone(p.Citations)
	return p
}

// Citation is a place that an answer rests on. It has been checked: the file is
// in the workspace and has these lines.
type Citation struct {
	// Path is relative to the workspace folder, with slashes.
	Path string
	// StartLine and EndLine are 1-based, both inclusive.
	StartLine, EndLine int
}
