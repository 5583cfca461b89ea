package engines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quarry/agent"
	"quarry/index/mask"
	"quarry/lsp/assist"
	"quarry/model"
)

// Chat implements agent.Chat with the model in use. Tokens are masked once more, whatever the
// conversation was made of: a user, a compiler or a comment may have said one.
func (c *Core) Chat(ctx context.Context, conv agent.Conversation, emit func(text string) bool) (agent.Reply, error) {
	e := c.acquire()
	defer e.calls.Done()
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	if e.runtime == nil {
		return agent.Reply{}, e.noModel()
	}
	// Whoever asks for words has time for a model that is being loaded.
	if err := e.runtime.WaitReady(ctx); err != nil && ctx.Err() != nil {
		return agent.Reply{}, ctx.Err()
	}
	conv.Messages = slices.Clone(conv.Messages)
	for i := range conv.Messages {
		conv.Messages[i].Text = mask.Text(conv.Messages[i].Text)
	}
	r, err := e.runtime.Chat(ctx, model.Conversation(conv), emit)
	switch {
	case err != nil && asked.Err() == nil && e.ctx.Err() != nil:
		err = errors.New("the settings changed in the meantime: ask again")
	case errors.Is(err, model.ErrNoTools):
		err = fmt.Errorf("%w: %w", agent.ErrNoTools, err)
	}
	return agent.Reply{Text: r.Text, Cut: r.Cut, PromptTokens: r.PromptTokens, Tokens: r.Tokens}, err
}

// errNoModel says that the settings allow no model; the user was told why.
var errNoModel = errors.New("no model: run `quarry doctor`, the address in the settings is invalid")

// errModelsOff says that the user wants no model asked.
var errModelsOff = assist.ErrOff

// noModel says why there is no runtime.
func (e *generation) noModel() error {
	if errors.Is(e.refused, errModelsOff) {
		return errModelsOff
	}
	return errNoModel
}
