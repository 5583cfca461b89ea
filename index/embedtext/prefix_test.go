package embedtext

import "testing"

func TestPrefixesOf(t *testing.T) {
	for model, want := range map[string]Prefixes{
		"granite-embedding:30m": {},
		"all-minilm":            {},
		"bge-m3":                {},
		"":                      {},
		"cafe5:latest":          {},
		"nomic-embed-text":      {"search_document: ", "search_query: "},
		"hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0":   {"search_document: ", "search_query: "},
		"manutic/nomic-embed-code":                         codeQuery,
		"intfloat/multilingual-e5-large":                   {"passage: ", "query: "},
		"jeffh/intfloat-multilingual-e5-large-instruct:q8": instructed,
		"bge-large:335m":                                   sentenceQuery,
		"mxbai-embed-large":                                sentenceQuery,
		"snowflake-arctic-embed:33m":                       sentenceQuery,
		"snowflake-arctic-embed2":                          {Query: "query: "},
		"Snowflake/snowflake-arctic-embed-l-v2.0":          {Query: "query: "},
		"embeddinggemma:300m":                              {"title: none | text: ", "task: code retrieval | query: "},
		"qwen3-embedding:0.6b":                             instructed,
	} {
		if got := PrefixesOf(model); got != want {
			t.Errorf("%s wants %q, not %q", model, got, want)
		}
	}
}

func TestBegin(t *testing.T) {
	p := Prefixes{Document: "d: ", Query: "q: "}
	for _, c := range []struct {
		input      InputType
		text, want string
	}{{Query, "x", "q: x"}, {Document, "x", "d: x"}, {Query, " ", " "}, {Document, "", ""}} {
		if got := p.Begin(c.input, c.text); got != c.want {
			t.Errorf("role %d of %q gives %q", c.input, c.text, got)
		}
	}
}
