package wire

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// A document is spelled as it was opened last, in whichever order a client opens and closes it,
// and however it writes its URI each time.
func TestSpellingInEachOrder(t *testing.T) {
	client, server := net.Pipe()
	st := NewStream(server, Options{Log: slog.New(slog.DiscardHandler), Ended: func() {}, Rewrite: WithoutHost})
	conn := jsonrpc2.NewConn(st)
	var s Spellings
	spelled := make(chan string, 1)
	conn.Go(t.Context(), s.Keep(func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		u, err := ParseURI(strings.Split(string(req.Params()), `"`)[5])
		if err != nil {
			t.Error(err)
		}
		switch req.Method() {
		case protocol.MethodTextDocumentDidClose:
			s.Forget(u)
		case protocol.MethodTextDocumentHover:
			spelled <- string(s.Spelled(u))
		}
		return nil, nil
	}))
	defer func() {
		_ = client.Close()
		_ = conn.Close()
	}()
	message := func(method, uri string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"textDocument":{"uri":%q}}}`, method, uri)
	}
	names := []string{"file://localhost/%s/a.go", "file:///%s/%%61.go", "file://localhost/%s/%%61.go", "file:///%s/a.go", "closed"}
	var try func(steps []int)
	try = func(steps []int) {
		dir := "steps" + strings.Trim(strings.ReplaceAll(fmt.Sprint(steps), " ", ""), "[]")
		name := func(n int) string { return fmt.Sprintf(names[n], dir) }
		for _, batch := range []bool{false, true} {
			const canonical = 3
			want, list := canonical, []string{}
			for _, n := range steps {
				if n == len(names)-1 {
					list = append(list, message(protocol.MethodTextDocumentDidClose, name(want)))
					want = canonical
				} else {
					list = append(list, message(protocol.MethodTextDocumentDidOpen, name(n)))
					want = n
				}
			}
			list = append(list, message(protocol.MethodTextDocumentHover, name(canonical)), message(protocol.MethodTextDocumentDidClose, name(want)))
			if batch {
				list = []string{"[" + strings.Join(list, ",") + "]"}
			}
			for _, body := range list {
				if _, err := fmt.Fprintf(client, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
					t.Fatal(err)
				}
			}
			if got := <-spelled; got != name(want) {
				t.Errorf("steps %v, in one batch: %v: spelled %s, want %s", steps, batch, got, name(want))
			}
		}
		if len(steps) < 4 {
			for n := range names {
				try(append(steps[:len(steps):len(steps)], n))
			}
		}
	}
	try(nil)
}
