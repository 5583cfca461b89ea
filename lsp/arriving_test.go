package lsp

import (
	"io"
	"log/slog"
	"net"
	"testing"
)

// What holds background work back is told of a message before the message is there.
func TestAMessageIsAnnounced(t *testing.T) {
	here, there := net.Pipe()
	st := newStream(here, Options{Log: slog.New(slog.DiscardHandler)}, func() {})
	defer st.Close()
	announced := make(chan struct{})
	st.arriving = func() { close(announced) }
	read := make(chan error, 1)
	go func() {
		_, _, err := st.Read(t.Context())
		read <- err
	}()
	const body = `{"jsonrpc":"2.0","method":"exit"}`
	if _, err := io.WriteString(there, "Content-Length: 33\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-announced
	if _, err := io.WriteString(there, body); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
}
