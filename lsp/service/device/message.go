package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/coder/websocket"
)

// Say sends one message before a device is known.
func Say(ctx context.Context, ws *websocket.Conn, message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, raw)
}

// Hear reads one message before a device is known, within AnswerWithin. Where the other end has
// closed the connection with a reason, that is the error.
func Hear(ctx context.Context, ws *websocket.Conn, message any) error {
	ctx, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	kind, raw, err := ws.Read(ctx)
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed) && closed.Reason != "":
		return errors.New(closed.Reason)
	case err != nil:
		return fmt.Errorf("no answer: %w", err)
	case kind != websocket.MessageText:
		return errors.New("an answer that is no JSON")
	}
	if err := json.Unmarshal(raw, message); err != nil {
		return errors.New("an answer that is no JSON of this protocol")
	}
	return nil
}
