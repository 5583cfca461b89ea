package wire

import (
	"context"
	"encoding/json"
	"errors"
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
	err := json.Unmarshal(params, p)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return InvalidParams("the params are not an object, but %s", mistyped.Value)
	case errors.As(err, &mistyped):
		return InvalidParams("%s is not %s, but %s", mistyped.Field, named(mistyped.Type), mistyped.Value)
	case err != nil:
		return InvalidParams("%v", err)
	}
	return nil
}

// named is what JSON calls a type: whoever writes a client does not know Go's.
func named(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer"
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
