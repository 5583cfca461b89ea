package embedtext

import "strings"

// Prefixes are what a model was trained to see before a text, by what the text is.
// Without them it embeds a question and its answer further apart.
type Prefixes struct {
	Document, Query string
}

// InputType is what a text is to the texts that its vector is compared with.
type InputType int

// The input types.
const (
	// Query is a question; its answers are Documents.
	Query InputType = iota
	// Document is code that is found, or that others like it are looked for.
	Document
)

// Begin puts the prefix of the input type before a text. A blank one stays as it is.
func (p Prefixes) Begin(r InputType, text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	if r == Document {
		return p.Document + text
	}
	return p.Query + text
}

// families are what the models' cards ask for, by a part of the name; the first that is
// in it counts. Models that are in none (granite-embedding, all-minilm, bge-m3,
// jina-embeddings-v2-base-code) take texts as they are.
var families = []struct {
	name string
	Prefixes
}{
	{"nomic-embed-code", codeQuery},
	{"coderankembed", codeQuery},
	{"nomic-embed-text", Prefixes{Document: "search_document: ", Query: "search_query: "}},
	{"e5-small-instruct", instructed}, {"e5-base-instruct", instructed}, {"e5-large-instruct", instructed}, {"e5-mistral-7b-instruct", instructed},
	{"e5", Prefixes{Document: "passage: ", Query: "query: "}},
	{"bge-small", sentenceQuery}, {"bge-base", sentenceQuery}, {"bge-large", sentenceQuery},
	{"mxbai-embed", sentenceQuery},
	{"snowflake-arctic-embed2", Prefixes{Query: "query: "}},
	{"snowflake-arctic-embed-m-v2", Prefixes{Query: "query: "}}, {"snowflake-arctic-embed-l-v2", Prefixes{Query: "query: "}},
	{"snowflake-arctic-embed", sentenceQuery},
	{"embeddinggemma", Prefixes{Document: "title: none | text: ", Query: "task: code retrieval | query: "}},
	{"qwen3-embedding", instructed},
}

var (
	codeQuery     = Prefixes{Query: "Represent this query for searching relevant code: "}
	sentenceQuery = Prefixes{Query: "Represent this sentence for searching relevant passages: "}
	instructed    = Prefixes{Query: "Instruct: Given a question about a program, find the code that answers it\nQuery: "}
)

// PrefixesOf answers what a model wants, by its name: nomic-embed-text:v1.5,
// hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF.
func PrefixesOf(model string) Prefixes {
	name := "-" + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(model)) + "-"
	for _, f := range families {
		if strings.Contains(name, "-"+f.name+"-") {
			return f.Prefixes
		}
	}
	return Prefixes{}
}
