package headless

import (
	"encoding/json"
	"net"
	"testing"
)

// A virtual document may ask to be read again in the moment in which the
// connection ends.
func TestAnEndedConnectionTakesNoRequest(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	c := NewConn(client, nil, func(string, json.RawMessage) {})
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if err := c.Call(t.Context(), "workspace/textDocumentContent", nil, nil); err != errEnded {
		t.Errorf("a request on an ended connection: %v, want %v", err, errEnded)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
