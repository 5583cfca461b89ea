package wire

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// A service's stream says its protocol in every message, takes any whole first message, no
// batch, and none over its limit.
func TestStreamOfAService(t *testing.T) {
	client, server := net.Pipe()
	ended := make(chan struct{})
	s := NewStream(server, Options{
		Log: slog.New(slog.DiscardHandler), Strict: true, AnyFirst: true, MaxMessage: 200, Protocol: 7,
		Ended: func() { close(ended) }, Rewrite: func(body []byte) []byte { return body },
	})
	read := make(chan string, 3)
	go func() {
		for {
			body, _, err := s.ReadFrame(t.Context())
			if err != nil {
				return
			}
			read <- string(body)
		}
	}()
	frame := func(body string) { fmt.Fprintf(client, "Content-Length: %d\r\n\r\n%s", len(body), body) }
	in := bufio.NewReader(client)
	answered := func() string {
		t.Helper()
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &n); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, n+len("\r\n"))
		if _, err := io.ReadFull(in, body); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(body))
	}
	frame(`{"jsonrpc":"2.0","id":1,"method":"quarry/hello"}`)
	if got := <-read; !strings.Contains(got, "quarry/hello") {
		t.Errorf("read %s", got)
	}
	if _, err := s.WriteFrame(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":null}`)); err != nil {
		t.Error(err)
	}
	if got := answered(); got != `{"protocol":7,"jsonrpc":"2.0","id":1,"result":null}` {
		t.Errorf("sent %s", got)
	}
	for _, c := range []struct{ body, want string }{
		{`[{"jsonrpc":"2.0","id":1,"method":"x"}]`, "send one message at a time"},
		{`{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("x", 200) + `"}`, "more than the limit of 200"},
		{`no JSON`, "not valid JSON"},
	} {
		frame(c.body)
		if got := answered(); !strings.HasPrefix(got, `{"protocol":7,`) || !strings.Contains(got, c.want) {
			t.Errorf("%.20s is answered %s", c.body, got)
		}
	}
	client.Close()
	<-ended
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
