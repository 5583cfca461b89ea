package wire

import (
	"context"

	"go.lsp.dev/protocol"

	"quarry/index/visible"
)

// VisibleClient is the client as far as it shows text: what a repository, a model or a tool
// says stands in a message, a log line or a title as characters that can be seen.
type VisibleClient struct{ protocol.Client }

func (c VisibleClient) ShowMessage(ctx context.Context, params *protocol.ShowMessageParams) error {
	params.Message = visible.Text(params.Message)
	return c.Client.ShowMessage(ctx, params)
}

func (c VisibleClient) ShowMessageRequest(ctx context.Context, params *protocol.ShowMessageRequestParams) (*protocol.MessageActionItem, error) {
	params.Message = visible.Text(params.Message)
	return c.Client.ShowMessageRequest(ctx, params)
}

func (c VisibleClient) LogMessage(ctx context.Context, params *protocol.LogMessageParams) error {
	params.Message = visible.Text(params.Message)
	return c.Client.LogMessage(ctx, params)
}

func (c VisibleClient) LogTrace(ctx context.Context, params *protocol.LogTraceParams) error {
	params.Message = visible.Text(params.Message)
	if params.Verbose != nil {
		more := visible.Text(*params.Verbose)
		params.Verbose = &more
	}
	return c.Client.LogTrace(ctx, params)
}
