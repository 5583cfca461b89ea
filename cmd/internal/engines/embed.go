package engines

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"quarry/index"
	"quarry/index/embedtext"
	"quarry/lsp/settings"
	"quarry/model"
)

// Embedders are the embedding models of a server, which is nil if the settings
// allow none. missing is called when the model of the settings is not there.
func Embedders(server *model.Runtime, s settings.Embedding, missing func(error)) index.Embedders {
	if server == nil || !s.Enabled || s.Model == "" {
		return index.Embedders{}
	}
	var mu sync.Mutex // guards made
	made := map[string]index.Embedder{}
	return index.Embedders{Model: s.Model, Asked: EmbeddingAsked(server, s), Prefixes: Prefixes(s), Passing: passing, Of: func(name string) index.Embedder {
		mu.Lock()
		defer mu.Unlock()
		if made[name] == nil {
			e := embedder{Embedder: server.NewEmbedder(name)}
			if name == s.Model {
				e.missing = missing
			}
			made[name] = e
		}
		return made[name]
	}}
}

// EmbeddingAsked is which model embeds, and where.
func EmbeddingAsked(server *model.Runtime, s settings.Embedding) string {
	api := model.OpenAIAPI
	if server.PullsModels() {
		api = model.OllamaAPI
	}
	return fmt.Sprintf("%s of %s at %s", s.Model, api, server.Host())
}

// passing answers whether an error of the model server ends without anybody's doing, or
// is told elsewhere: one that is missing, by Version.
func passing(err error) bool {
	for _, kind := range []error{model.ErrUnreachable, model.ErrLoading, model.ErrBusy, model.ErrBroken, model.ErrModelMissing} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// Prefixes are what the settings have texts begin with.
func Prefixes(s settings.Embedding) embedtext.Prefixes {
	p := embedtext.PrefixesOf(s.Model)
	if s.DocumentPrefix != "auto" {
		p.Document = s.DocumentPrefix
	}
	if s.QueryPrefix != "auto" {
		p.Query = s.QueryPrefix
	}
	return p
}

// embedder is a model that says when it is not there.
type embedder struct {
	*model.Embedder
	missing func(error) // nil: nobody needs to know
}

// Version implements index.Embedder, which begins all it does with it.
func (e embedder) Version(ctx context.Context) (string, error) {
	version, err := e.Embedder.Version(ctx)
	if e.missing != nil && errors.Is(err, model.ErrModelMissing) {
		e.missing(err)
	}
	return version, err
}

// WithoutEmbeddings says what search goes by where nothing is embedded: without an embedding model
// the lexicon stands in its place.
const WithoutEmbeddings = "search goes by words and the built-in lexicon"

// noSemanticSearch is what a user is told who has no embedding model.
func noSemanticSearch(err error) string {
	return fmt.Sprintf("Search uses no embeddings: %v. Where that is enough, set embedding.enabled to false.", err)
}
