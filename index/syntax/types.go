package syntax

// Span is a half-open byte range [Start, End) of a file and the 1-based,
// inclusive lines it touches.
type Span struct {
	Start, End         uint32
	StartLine, EndLine uint32
}

// Kind is the kind of a declaration. The values are those of the tools'
// `kind` argument and of the query language's `kind:` filter.
type Kind string

// The kinds every language is mapped to.
const (
	KindFunction  Kind = "function"
	KindMethod    Kind = "method"
	KindClass     Kind = "class"
	KindStruct    Kind = "struct"
	KindInterface Kind = "interface"
	KindEnum      Kind = "enum"
	KindVar       Kind = "var"
	KindConst     Kind = "const"
	KindType      Kind = "type"
	KindModule    Kind = "module"
	KindField     Kind = "field"
	KindMacro     Kind = "macro"
	KindSection   Kind = "section" // a heading, a config key
)

// Symbol is one declaration.
type Symbol struct {
	Kind Kind
	Name string
	// Container is the dotted path of the declarations around it, "" at file
	// level; a Go method's container is its receiver's type.
	Container string
	// Signature is the declaration without its body, white space folded to
	// single blanks.
	Signature string
	// Doc is the doc comment's text without comment markers.
	Doc string
	// Span covers the doc comment and the whole declaration.
	Span Span
	// NameSpan covers the name alone.
	NameSpan Span
}

// Import is one imported module, file or package.
type Import struct {
	// Path is the import as written, without quotes: "net/http", "./util",
	// "a.b.c".
	Path string
	// Alias is the local name where one is given, else "": of the one name in
	// Names, or of the whole import if there are none.
	Alias string
	// Names are the names taken from it, nil where all of it is. Path ends in the
	// name where the language writes it so (Java, Rust's use a::B).
	Names []string
	Span  Span
}

// RefKind is how a name is used at a place.
type RefKind string

// The kinds of reference.
const (
	RefCall    RefKind = "call"
	RefInherit RefKind = "inherit" // extends, implements, embeds, trait impl
	RefUse     RefKind = "use"     // a type named in a signature or body
)

// Ref is one use of a name that some declaration, here or elsewhere, defines.
type Ref struct {
	Kind RefKind
	Name string
	// Qualifier is what stands before the name ("fmt" in fmt.Println, "self"
	// in self.run), "" if nothing.
	Qualifier string
	// From is the index in File.Symbols of the innermost declaration around
	// the place, -1 at file level.
	From int
	Span Span
}

// Content is what a chunk mostly is.
type Content string

// The content types of chunks.
const (
	ContentCode    Content = "code"
	ContentComment Content = "comment"
	ContentDoc     Content = "doc"
	ContentConfig  Content = "config"
)

// Chunk is a piece of a file on syntax boundaries, the unit of retrieval.
// Chunks of one file do not overlap, save those of the line-window fallback,
// and come in the order of the text.
type Chunk struct {
	Span    Span
	Content Content
	// Symbols are the indices in File.Symbols of the declarations whose names
	// stand in the chunk, the most important one first.
	Symbols []int
	// Hash identifies the text of the chunk (and its language, not its place):
	// equal text in an edited file keeps its id and its embedding.
	Hash [16]byte
}

// File is all that one file's text yields.
type File struct {
	Language string
	// Doc is the text of the comment, doc string or first paragraph that says
	// what the file is for, "" if only a licence stands there.
	Doc     string
	Symbols []Symbol
	Imports []Import
	Refs    []Ref
	Chunks  []Chunk
	// Errors are the places tree-sitter could not parse, the whole file if it
	// gave up.
	Errors []Span
	// Short is the room in bytes, at least 1, that the parser had when it gave up and may have
	// done so for want of more; 0 otherwise.
	Short int64
}
