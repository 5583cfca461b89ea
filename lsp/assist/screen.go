package assist

import (
	"context"
	"encoding/json"
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

	documents   sync.Map     // *virtualDocument by the URI of its virtual document
	placing     sync.Mutex   // held while one takes its place there
	begun       atomic.Int64 // number of the newest
	shownNumber atomic.Int64 // of the last that was shown as a file
}

// Extensions are what a client says that it can beyond LSP, as "quarry" in the capability
// experimental.
type Extensions struct {
	Proposals bool // shows a change, and how far it is to be trusted, by itself
	Status    bool // shows status notes
	Documents bool // shows documents of VirtualScheme, where nothing in LSP's capabilities lets it say so to quarry alone
}

// ExtensionsOf reads a client's Extensions.
func ExtensionsOf(caps protocol.ClientCapabilities) Extensions {
	var experimental struct{ Quarry Extensions }
	if json.Unmarshal(caps.Experimental, &experimental) != nil { // it is another server's, or none
		return Extensions{}
	}
	return experimental.Quarry
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
