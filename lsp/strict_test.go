package lsp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/headless"
)

// Y10: nothing that a web page can make a browser send begins a session, and nothing
// that is behind a first bad message is read as one.
func TestWhatIsNoEditorGetsNoSession(t *testing.T) {
	initialize := string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)))
	shutdown := string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`)))
	post := func(line string) string {
		body := "x" + initialize
		return line + "\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	}
	for name, attack := range map[string]string{
		"post":                      post("POST / HTTP/1.1"),
		"post with a colon":         post("POST /a:b HTTP/1.1"),
		"post as a header of LSP's": post("Content-Type: / HTTP/1.1"),
		"get":                       "GET /a:b HTTP/1.1\r\nHost: x\r\n\r\n" + initialize,
		"options":                   "OPTIONS /a:b HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\n\r\n" + initialize,
		"another header":            "User-Agent: x\r\n" + initialize,
		"cookie":                    "Cookie: a=b\r\n" + initialize,
		"bytes before":              "x" + initialize,
		"a line before":             "x\r\n" + initialize,
		"a body that is no JSON":    "Content-Length: 1\r\n\r\nx" + initialize,
		"a length that is wrong":    fmt.Sprintf("Content-Length: %d\r\n\r\nxx", len(initialize)+2) + initialize + initialize,
		"no length":                 "Content-Type: x\r\n\r\n" + initialize,
		"a length that is none":     "Content-Length: -1\r\n\r\n" + initialize,
		"two lengths":               "Content-Length: 1\r\n" + initialize,
		"one length twice":          fmt.Sprintf("Content-Length: %d\r\n", len(initialize)-strings.Index(initialize, "{")) + initialize,
		"two tokens":                "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n" + initialize,
		"too long":                  "Content-Length: 99999999999\r\n\r\n" + initialize,
		"no JSON-RPC":               "Content-Length: 2\r\n\r\n{}" + initialize,
		"another request":           shutdown + initialize,
		"a batch":                   string(headless.Frame([]byte(`[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}]`))) + initialize,
		"TLS":                       "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03:\r\n\r\n" + initialize,
		"nothing, for long":         "",
		"half a header, for long":   "Content-Length: 5",
		"half a body, for long":     initialize[:len(initialize)-1],
	} {
		t.Run(name, func(t *testing.T) {
			client, server := net.Pipe()
			opts := serverOptions(t, &core{}, "")
			opts.Strict = true
			if strings.HasSuffix(name, "for long") {
				opts.FirstMessage = time.Millisecond
			}
			exit := make(chan int, 1)
			go func() { exit <- lsp.Serve(context.Background(), server, opts) }()
			go func() { _, _ = io.WriteString(client, attack) }() // it is not read to its end
			answer, err := io.ReadAll(client)
			if err != nil || len(answer) > 0 {
				t.Errorf("answered %q, %v", answer, err)
			}
			if code := <-exit; code == 0 {
				t.Error("the session ended well")
			}
		})
	}
}

// An editor may take its time between messages once it has begun.
func TestAnEditorMayBeSilent(t *testing.T) {
	client, server := net.Pipe()
	opts := serverOptions(t, &core{}, "token")
	opts.Strict = true
	exit := make(chan int, 1)
	bounded := &deadlines{Conn: server}
	go func() { exit <- lsp.Serve(context.Background(), bounded, opts) }()
	if _, err := io.WriteString(client, "Authorization: Bearer token\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n"); err != nil {
		t.Fatal(err)
	}
	profile, err := headless.LoadProfile("helix")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.Connect(soon(t), client, headless.Options{Profile: profile, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if n, last := bounded.set(); n != 2 || !last.IsZero() {
		t.Errorf("the time for reading was bounded %d times, at last to %v", n, last)
	}
	// A broken message costs only itself from here on.
	if err := e.SendBytes([]byte("nonsense\r\n" + string(headless.Frame([]byte("x"))))); err != nil {
		t.Fatal(err)
	}
	if code, err := e.Quit(soon(t)); err != nil || code != 0 {
		t.Errorf("it ends with %d, %v", code, err)
	}
	if code := <-exit; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// deadlines notes how long may be read from a connection.
type deadlines struct {
	net.Conn
	mu   sync.Mutex
	n    int       // guarded by mu
	last time.Time // guarded by mu
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n, d.last = d.n+1, at
	return d.Conn.SetReadDeadline(at)
}

func (d *deadlines) set() (int, time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n, d.last
}
