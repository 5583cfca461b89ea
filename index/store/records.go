package store

import "quarry/index/syntax"

// A Hash identifies a text: the first 16 bytes of its SHA-256.
type Hash [16]byte

// localBits is the width of the part of a symbol's or chunk's id that is local to
// its file. A file of the largest indexable size has fewer bytes than that.
const localBits = 20

// FileOf returns the id of the file that a symbol's or chunk's id belongs to.
func FileOf(id int64) int64 { return id >> localBits }

// File is all that the index knows of one file.
type File struct {
	// ID is stable while the file exists, through renames and some hundred thousand
	// edits, and is never given to another file.
	ID int64
	// Path is relative to the workspace root, with slashes.
	Path string
	// Size is in bytes.
	Size int64
	// ModTime is in nanoseconds since 1970; 0 for a text from an editor's buffer.
	ModTime int64
	// Hash is that of the text everything below was read from.
	Hash Hash
	// Summary is the comment at the head of the file without licence text, or the
	// first paragraph of a document; at most a few hundred bytes, "" if there is
	// none.
	Summary string
	// Syntax is what syntax.Analyze said, but for two things: uses of one name
	// inside one declaration are one Ref, whose Span knows only the first one's
	// line; and Errors is nil.
	Syntax *syntax.File
	// SymbolIDs and ChunkIDs run parallel to Syntax.Symbols and Syntax.Chunks. An
	// id is stable while a declaration of the same kind, container and name, or a
	// chunk with the same text, stays in the file.
	SymbolIDs, ChunkIDs []int64
}

// EdgeKind is the kind of an edge between two files or symbols.
type EdgeKind string

// The kinds of edge.
const (
	EdgeImport  EdgeKind = "import"
	EdgeCall    EdgeKind = "call"
	EdgeInherit EdgeKind = "inherit"
	EdgeUse     EdgeKind = "use"
)

// Edge is one resolved reference. A reference with several possible targets
// yields an edge to each, and their weights add up to at most 1.
type Edge struct {
	Kind EdgeKind
	// FromFile and FromSymbol are where the reference stands; FromSymbol is 0 at
	// file level.
	FromFile, FromSymbol int64
	// Name and Qualifier are those of the reference, "" for an import. Line is the 1-based line
	// of its first occurrence there, Count how often it stands there.
	Name, Qualifier string
	Line, Count     uint32
	// ToFile and ToSymbol are what it means; ToSymbol is 0 for an imported file.
	ToFile, ToSymbol int64
	// Weight is the confidence, in (0, 1].
	Weight float32
	// Vague says that more declarations may be meant than edges are made to.
	Vague bool
}

// Totals are the sizes of the index.
type Totals struct {
	Files      int64 `json:"files"`
	Chunks     int64 `json:"chunks"`
	Symbols    int64 `json:"symbols"`
	References int64 `json:"references"`
	Bytes      int64 `json:"bytes"`
}

// Document is one analysed file on its way into the store.
type Document struct {
	Path, Language string
	Size, ModTime  int64
	Changed        int64 // as Stat's
	Hash           Hash
	Summary        string
	// Problem says why the file could be indexed by lines only, "" if it could.
	Problem string
	Syntax  *syntax.File
}

// Stat is what a staleness scan compares.
type Stat struct {
	Size, ModTime int64
	// Changed is when anything of the file changed last, in ns since 1970; 0 if that is not
	// known.
	Changed int64
	Hash    Hash
}
