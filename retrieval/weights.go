package retrieval

import "quarry/index/syntax"

// signal numbers what a file is scored by. Each is divided by its maximum over
// the candidates of the query (recalls and precisions are shares already), then
// weighted and added.
type signal int

const (
	sigBest          signal = iota // BM25 of the best chunk
	sigSum                         // BM25 of the best 15 chunks, each .75 of the one before
	sigMetadata                    // BM25 of the metadata: names declared, path, head comment
	sigNameRecall                  // share of the query, by IDF, that the file name has
	sigNamePrecision               // share of the file name that the query has
	sigDirRecall                   // share of the query, by IDF, that the folders have
	sigDefinition                  // a name of the query is declared here
	sigWord                        // a plain word of the query is declared here
	sigRank                        // PageRank
	sigNeighbour                   // the score of the best files this one depends on or serves
	sigLiteral                     // contains the quoted text, or the query as it stands
	sigMessage                     // has a pasted message's words in its order, or is a frame of its stack
	sigLocality                    // near the position the caller gave
	sigVector                      // cosine of the embedding, when a caller has one
	numSignals
)

type weights [numSignals]float32

// textWeights and symbolWeights are the weights by class of query. The
// measurements that chose each stand in bench/retrieval.md, which
// TestAblation prints; a weight is here because removing it costs NDCG or
// because a caller cannot do without it (literal, locality).
var (
	textWeights = weights{
		sigBest:          .5,
		sigSum:           1,
		sigMetadata:      .6,
		sigNameRecall:    1,
		sigNamePrecision: .8,
		sigDirRecall:     1.5,
		sigDefinition:    1,
		sigWord:          .8,
		sigRank:          .1,
		sigNeighbour:     .2,
		sigLiteral:       1,
		sigMessage:       6,
		sigLocality:      .4,
		sigVector:        .8,
	}
	symbolWeights = weights{
		sigBest:          1,
		sigSum:           1,
		sigDefinition:    3,
		sigNamePrecision: .3,
		sigLiteral:       .5,
		sigLocality:      .4,
	}
	// semanticWeights are those of a search by semantics alone.
	semanticWeights = weights{sigVector: 1}
)

const (
	// sumChunks and sumDecay shape sigSum.
	sumChunks         = 15
	sumDecay  float32 = .75

	// candidateChunks is how many of the best chunks are looked at; 50, 200 and
	// 400 gave up to .002 less on the development split.
	candidateChunks    = 100
	metadataCandidates = 50

	// An abbreviation in a path counts for so much of the word; it has at least
	// minAbbreviation letters, or minLonger when it is the query that is short.
	abbreviation    float32 = .6
	minAbbreviation         = 3
	minLonger               = 4

	projectWeight float32 = .3 // of the workspace's own name in a query
	joinedWeight  float32 = .7 // of two neighbouring words written as one
	lateWeight    float32 = .6 // of a word behind a preposition, in a path
)

// definitionValue is how much a declaration of a kind answers its name.
func definitionValue(k syntax.Kind) float32 {
	switch k {
	case syntax.KindClass, syntax.KindStruct, syntax.KindInterface, syntax.KindEnum, syntax.KindType, syntax.KindModule:
		return 1
	case syntax.KindFunction, syntax.KindMacro:
		return .9
	case syntax.KindConst, syntax.KindVar:
		return .75
	case syntax.KindMethod:
		return .45
	case syntax.KindField:
		return .35
	}
	return .25
}

const (
	definitionNameBoost float32 = 1.5 // the file has the name of the declaration
	definitionCase      float32 = .5  // the name differs in case
)
