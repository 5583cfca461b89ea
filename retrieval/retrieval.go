// Package retrieval finds the places of a workspace that answer a question. It
// owns the query language, the warm in-memory index, the signals and their
// fusion, the explanations, and the packing of results into a model's context.
// It reads no disk and no database: package index feeds it documents, and the
// caller shows what it finds.
//
// An Index is safe for concurrent use; Parse, Pack and the types are pure. The
// same query on the same snapshot gives the same answer, to the last bit.
//
// How a search goes: the query is parsed into filters, phrases and text
// (query.go), the text is classified and cut into terms (analyze_query.go), the
// best chunks by weighted BM25 name the candidate files (lexical.go), each
// candidate is scored by all signals (score.go), and the fused order becomes one
// result a file with its further chunks nested (result.go).
package retrieval

import (
	"time"

	"quarry/index/syntax"
	"quarry/index/token"
)

// Fusion says how signals become one order.
type Fusion string

// The fusions.
const (
	// FusionLinear adds the weighted signals, each divided by its maximum.
	FusionLinear Fusion = "linear"
	// FusionRank adds weight/(60+rank) over the signals (Cormack, Clarke and
	// Büttcher 2009).
	FusionRank Fusion = "rrf"
)

// Signals are those that may rank.
type Signals string

// The choices of signals.
const (
	SignalsAll Signals = "hybrid"
	// SignalsLexical are all but the embedding.
	SignalsLexical Signals = "lexical"
	// SignalsSemantic is the embedding alone.
	SignalsSemantic Signals = "semantic"
)

// Request is a search.
type Request struct {
	Query Query
	// Limit is the most results, 10 if 0, behind the first Offset.
	Limit, Offset int
	// Fusion is FusionLinear if "".
	Fusion Fusion
	// Diversity in 0..1 trades relevance for difference between results
	// (maximal marginal relevance); 0 ranks by relevance alone.
	Diversity float64
	// Declarations asks for what the file of each result declares.
	Declarations bool
	// At is where the user is, nil if unknown.
	At *Position
	// Signals say what may rank, SignalsAll if "".
	Signals Signals
	// Semantic is what an embedding model says of the query, nil if none was asked.
	Semantic SemanticQuery
}

// OnlyDeclared answers whether all that is asked for are files that declare a name, which the
// database alone can tell.
func (r *Request) OnlyDeclared() bool {
	q := &r.Query
	return len(q.Symbols) > 0 && q.Text == "" && len(q.Phrases) == 0 && q.Lines == nil && r.Signals != SignalsSemantic &&
		(q.Mode == "" || q.Mode == ModeAll || q.Mode == ModeSymbols)
}

// WantsSemantic answers whether Semantic would be asked: of names it knows nothing
// that the declarations do not say better.
func (r *Request) WantsSemantic() bool {
	var an token.Analyzer
	a := analyzeQuery(&an, textOf(&r.Query), "")
	return wantsSemantic(r.Signals, &a)
}

func wantsSemantic(signals Signals, a *analyzed) bool {
	switch signals {
	case SignalsLexical:
		return false
	case SignalsSemantic:
		return true
	}
	return a.class == ClassText && len(a.words) > 0
}

// Position is where the user is in the workspace.
type Position struct {
	// Path is the file at the cursor, Line its 1-based line.
	Path string
	Line int
	// Folder is the folder a user without a file is in, "" at the top. What
	// is below it is near, and no test or example by the folder's own name.
	Folder string
	// Open and Recent are open files and files edited or viewed lately, the
	// latest first.
	Open, Recent []string
}

// Result is one file that answers, at its best place.
type Result struct {
	Path string `json:"path"`
	// Lines are 1-based and inclusive.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Symbol is the declaration at the place, "" if none, and Kind its kind.
	Symbol string      `json:"symbol"`
	Kind   syntax.Kind `json:"kind"`
	// Score is in 0..1 and comparable within one answer.
	Score float64 `json:"score"`
	// Reasons say in words what matched, the strongest first.
	Reasons []string `json:"reasons"`
	// More are further locations of the same file, best first.
	More []Location `json:"more"`
	// Declares are the main declarations of the file in their order, those whose names have
	// words of the query before others, where the request asked for them; Declared is how many
	// there are.
	Declares []Declared `json:"declares,omitempty"`
	Declared int        `json:"declared,omitempty"`
	// Text is the line, where lines were asked for.
	Text string `json:"text,omitempty"`
}

// Declared is a declaration in a result's file.
type Declared struct {
	Line   int         `json:"line"`
	Symbol string      `json:"symbol"`
	Kind   syntax.Kind `json:"kind"`
}

// Location is a further location in a result's file.
type Location struct {
	StartLine int         `json:"start_line"`
	EndLine   int         `json:"end_line"`
	Symbol    string      `json:"symbol"`
	Kind      syntax.Kind `json:"kind"`
	Score     float64     `json:"score"`
}

// Answer is the outcome of a search.
type Answer struct {
	Results []Result
	// Backend names the signals that could speak for this query.
	Backend []string
	Class   Class
	// Total is how many files matched before Limit.
	Total int
	// NothingLeft: the filters on files leave none at all.
	NothingLeft bool
	Timings     Timings
}

// Timings says where the time of a search went.
type Timings struct {
	Lexical, Semantic, Signals, Literal, Total time.Duration
}
