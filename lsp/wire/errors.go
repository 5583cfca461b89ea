package wire

import (
	"context"
	"errors"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/lsp/text"
)

// CodeServerNotInitialized is LSP's code for a request before initialize; the
// protocol package has no name for it.
const CodeServerNotInitialized jsonrpc2.Code = -32002

// Error maps an error of a handler to the one that goes out, in words that may be shown
// as a message: editors do that with what a command says. It is the only place where
// errors get LSP codes.
func Error(err error) error {
	err = coded(err)
	var wire *jsonrpc2.Error
	if err == nil || Plain(err.Error()) == err.Error() || !errors.As(err, &wire) {
		return err
	}
	shown := *wire
	shown.Message = Plain(err.Error())
	return &shown
}

func coded(err error) error {
	var wire *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return protocol.ErrRequestCancelled
	case errors.Is(err, text.ErrOutside):
		return jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	case errors.Is(err, jsonrpc2.ErrParse):
		// The envelope was sound, or it would not have come this far: what
		// could not be decoded are the params.
		reason := strings.TrimPrefix(err.Error(), jsonrpc2.ErrParse.Error()+": ")
		return jsonrpc2.NewError(jsonrpc2.InvalidParams, "invalid params: "+reason)
	case errors.As(err, &wire):
		return err
	}
	return jsonrpc2.NewError(jsonrpc2.InternalError, err.Error())
}
