package wire

import (
	"context"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/index/visible"
)

// Plain is text as a message or the progress of work may say it: what would hide is
// seen, and Markdown's links are text. An editor that shows them as links, as VS Code
// does in all its notifications, would run a command of its own, or open a page, at a
// click on words that a repository, a model or a tool chose.
func Plain(text string) string {
	return strings.ReplaceAll(visible.Text(text), "](", "] (")
}

// VisibleClient is the client as far as it shows text: what a repository, a model or a tool
// says stands in a message, a log line or a title as characters that can be seen, and a
// message links nowhere.
type VisibleClient struct{ protocol.Client }

func (c VisibleClient) ShowMessage(ctx context.Context, params *protocol.ShowMessageParams) error {
	params.Message = Plain(params.Message)
	return c.Client.ShowMessage(ctx, params)
}

func (c VisibleClient) ShowMessageRequest(ctx context.Context, params *protocol.ShowMessageRequestParams) (*protocol.MessageActionItem, error) {
	params.Message = Plain(params.Message)
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
