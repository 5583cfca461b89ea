package assist

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"go.lsp.dev/protocol"
)

// Screen is what the user of the client sees beside their documents: messages,
// questions and read-only pages.
type Screen struct {
	client protocol.Client
	log    *slog.Logger
	base   context.Context // ends with the connection
	task   func(name string, f func(ctx context.Context) error)
	caps   protocol.ClientCapabilities
	// cacheDir is for what is shown as a file, "" for the platform's place.
	cacheDir string

	pages      sync.Map     // *page by the URI of its virtual document
	pageNumber atomic.Int64 // of the last page that was shown as a file
}

// Say shows the user a message that answers what they asked for.
func (s *Screen) Say(kind protocol.MessageType, message string) {
	err := s.client.ShowMessage(s.base, &protocol.ShowMessageParams{Type: kind, Message: "quarry: " + message})
	if err != nil && s.base.Err() == nil {
		s.log.Error("show message", "error", err)
	}
}

// Choose asks the user to choose one of choices, which differ; it answers ""
// if they choose none.
func (s *Screen) Choose(ctx context.Context, message string, choices ...string) (string, error) {
	params := &protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: "quarry: " + message}
	for _, c := range choices {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: c})
	}
	chosen, err := s.client.ShowMessageRequest(ctx, params)
	if err != nil {
		return "", fmt.Errorf("the editor cannot ask you: %w", err)
	}
	if chosen == nil {
		return "", nil
	}
	return chosen.Title, nil
}
