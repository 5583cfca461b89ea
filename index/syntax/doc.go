// Package syntax turns the text of one file into what the index stores: its
// declarations, imports, references and chunks. It knows no database, no disk and no other file; a result
// depends on nothing but the language and the bytes given, so two runs over
// the same text are equal.
//
// Package lang names a file's language, [Analyze] reads a file once, [Parse] keeps
// the tree of an open document for [Tree.Update]. All of it is safe for
// concurrent use. A language without a grammar is read by lines.
//
// # From text to facts
//
// Package treesitter parses the text, into memory that vanishes with the analysis or, of
// an open document, into a tree that is kept for the next edit (tree.go), and gives the
// tree as one slice of nodes; package query runs the language's query over that slice;
// the matches become symbols, imports and references (analyze.go); the same
// nodes tell where to cut chunks (chunk.go).
//
// # Queries
//
// What a language's declarations look like is said in queries/NAME/facts.scm,
// in tree-sitter's query language (the subset that package query describes). A
// language may use several such folders. The captures are:
//
//	definition.KIND  a declaration, KIND being one of the Kind constants
//	scope            what only contains declarations: an impl block
//	name             its name; each declaration needs one. Where several
//	                 patterns match the same name, the first in the query counts
//	container        a container besides those around it: a Go receiver. If the
//	                 name stands in it, what is before the name counts
//	container.NAME   the same, called NAME whatever its text: HCL's var
//	within           the node whose declaration is the innermost container, where
//	                 one closer by is none: a constructor, of a field that it declares
//	body             where its signature ends
//	doc              its doc string, where that is no comment above it; without
//	                 a declaration, the doc string of the file
//	wrap             a node around a declaration that belongs to it unless it
//	                 holds several: an export, a decorated definition
//	comment          a comment; right above a declaration it is its doc
//	leading          an attribute above a declaration, part of it
//	import           an import; those of the same node are one
//	import.path, import.alias, import.name   its parts
//	import.group, import.prefix              what the paths of the imports inside a group begin with
//	ref.call, ref.inherit, ref.use           the name in a reference; the
//	                 strongest kind counts, a declared name is no reference
//	qualifier        what stands before a reference's name
//
// Captures that start with an underscore serve predicates only.
//
// # Adding a language
//
// Give it a row in package lang, a row with its grammar in languages.go, and a query in
// queries/NAME/facts.scm. Put a file that shows functions, methods, types, constants,
// doc comments, imports, calls and inheritance into testdata/syntax/NAME at the root, run
// go test -update, and read the golden: what is wrong there is wrong in search.
// TestQueryEqualsCursor then holds the query against tree-sitter's own engine. A
// language without a grammar needs a line in plainlangs.go in place of grammar and query.
// TestEveryLanguageIsComplete says what has been forgotten.
package syntax
