package main

import (
	"context"
	"errors"
	"runtime"

	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/model"
)

// embed has every chunk of an index embedded, and waits for that; without all, it only
// takes in the vectors that there are. end ends the use of the model.
func (a *app) embed(ctx context.Context, x *index.Index, bar *progressBar, all bool) (end func(), err error) {
	s := a.CommandSettings()
	if !all {
		if s.Embedding.Enabled {
			x.Embedding().SetEmbedders(index.Embedders{Model: s.Embedding.Model, Prefixes: engines.Prefixes(s.Embedding), QueriesOnly: true})
		}
		return func() {}, x.Embedding().Settle(ctx)
	}
	options := engines.ModelOptions(s)
	options.EmbedThreads = runtime.NumCPU() // nobody completes code meanwhile
	server, err := model.New(options)
	if err != nil {
		return func() {}, err
	}
	s.Embedding.Enabled = true // it was asked for
	x.Embedding().SetEmbedders(engines.Embedders(server, s.Embedding, nil))
	err = x.Embedding().Settle(ctx)
	bar.end()
	if ctx.Err() != nil {
		err = errors.New("stopped; what was embedded is kept; the next run continues from there")
	}
	return server.Close, err
}
