package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Method is a request that a server adds to LSP. It is served on the read loop, and
// detaches itself if it takes time. Params and Result describe it, nil for none.
type Method struct {
	Serve          func(ctx context.Context, params json.RawMessage) (any, error)
	Params, Result reflect.Type
}

// DocumentID names a document in the params of a Method.
type DocumentID struct {
	URI string `json:"uri"`
}

// DecodeParams decodes the params of a request of quarry's own; without any, p
// stays as it is.
func DecodeParams(params json.RawMessage, p any) error {
	if len(params) == 0 || string(params) == "null" {
		return nil
	}
	if err := json.Unmarshal(params, p); err != nil {
		return jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	return nil
}

// InvalidParams is the error of a request that asks for what cannot be.
func InvalidParams(format string, args ...any) error {
	return jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf(format, args...))
}

// PartialToken reads the token by which a request asks for parts of its result,
// nil if it does not ask.
func PartialToken(raw json.RawMessage) (protocol.ProgressToken, error) {
	var text string
	var number int32
	switch {
	case len(raw) == 0:
		return nil, nil
	case json.Unmarshal(raw, &text) == nil:
		return protocol.String(text), nil
	case json.Unmarshal(raw, &number) == nil:
		return protocol.Integer(number), nil
	}
	return nil, InvalidParams("partialResultToken %s is neither a string nor an integer", raw)
}
