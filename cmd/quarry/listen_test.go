package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
)

// asNobodyEnv is set in a process of tests that another user runs.
const asNobodyEnv = "QUARRY_TEST_AS_NOBODY"

// listening runs a server that listens, and tells its address and the line that it wants
// in the first header. stop ends it and returns its exit code.
func listening(t *testing.T, args ...string) (address, token string, stop func() int) {
	t.Helper()
	t.Setenv("QUARRY_STATE_DIR", filepath.Join(t.TempDir(), "state"))
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	out, stderr := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"lsp", "--listen", "127.0.0.1:0", "--ollama", "127.0.0.1:1", "--log-level", "error"}, args...), strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	lines := bufio.NewReader(out)
	said := func(after string) string {
		line, err := lines.ReadString('\n')
		_, what, ok := strings.Cut(strings.TrimSpace(line), after)
		if err != nil || !ok {
			t.Fatalf("said %q, %v, want what is after %q", line, err, after)
		}
		return what
	}
	address, token = said("listening on "), said("must have the line ")
	go io.Copy(io.Discard, lines)
	return address, token, func() int {
		cancel()
		return <-code
	}
}

// editorAt begins a session with the token, and ends it well.
func editorAt(t *testing.T, address, token string) {
	t.Helper()
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "%s\r\n", token) // the first line of the first header
	e, err := headless.Connect(t.Context(), conn, headless.Options{Profile: profile, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if e.ServerInfo.Name != "quarry" {
		t.Errorf("server %q", e.ServerInfo.Name)
	}
	if _, err := e.Quit(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestListen serves one editor after the other over TCP until it is told to end.
func TestListen(t *testing.T) {
	address, token, stop := listening(t)
	for range 2 {
		editorAt(t, address, token)
	}
	if got := stop(); got != cli.ExitOK {
		t.Errorf("exit code %d after being told to end, want 0", got)
	}
}

// listenAttacks are what somebody without the token may send: another user of the machine,
// or a web page through the browser of the user. Those of the second list have all of the
// token but for what is said.
func listenAttacks(token string) map[string]string {
	initialize := string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)))
	http := func(line, headers, body string) string {
		return line + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	}
	attacks := map[string]string{
		"no token":      initialize,
		"another":       "Authorization: Bearer guess\r\n" + initialize,
		"an empty one":  "Authorization: Bearer \r\n" + initialize,
		"no value":      "Authorization:\r\n" + initialize,
		"in the body":   string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"Authorization":"Bearer"}}`))),
		"behind a body": initialize + "Authorization: Bearer guess\r\n" + initialize,

		"a form":               http("POST /", "Origin: https://evil.example\r\nContent-Type: text/plain\r\n", "Content-Length=x\r\n"+initialize),
		"a page's fetch":       http("POST /Content-Length:9", "Origin: null\r\nSec-Fetch-Mode: no-cors\r\n", initialize),
		"asked before a fetch": http("OPTIONS /", "Origin: https://evil.example\r\nAccess-Control-Request-Headers: authorization\r\n", ""),
		"another name":         "GET / HTTP/1.1\r\nHost: rebound.evil.example\r\n\r\n",
		"WebSocket":            http("GET /", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n", ""),
		"HTTP/2":               "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"TLS":                  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03:\r\n\r\n" + initialize,
		"FTP":                  "USER anonymous\r\nPASS x\r\n" + initialize,

		"a line of a megabyte": "Content-Type: " + strings.Repeat("x", 1<<20) + "\r\n" + initialize,
		"a line without end":   strings.Repeat("x", 1<<20),
		"50,000 lines":         strings.Repeat("Content-Type: x\r\n", 50_000) + initialize,
		"blank lines":          strings.Repeat("\r\n", 1<<19) + initialize,
		"a length without end": "Content-Length: 9223372036854775807\r\n\r\n" + strings.Repeat("x", 1<<16),
		"a body of 63 MB":      fmt.Sprintf("Content-Length: %d\r\n\r\n", 63<<20) + strings.Repeat(" ", 1<<16),
		"a colon in the dark":  "\x00\x1b]52;c;eA==\x07:\r\n" + initialize,
	}
	_, secret, _ := strings.Cut(token, "Bearer ")
	for what, line := range map[string]string{
		"half of it":            "Authorization: Bearer " + secret[:len(secret)/2],
		"all but a letter":      "Authorization: Bearer " + secret[:len(secret)-1],
		"more than it":          "Authorization: Bearer " + secret + "x",
		"in small letters":      "Authorization: Bearer " + strings.ToLower(secret),
		"another scheme":        "Authorization: Basic " + secret,
		"in another header":     "X-Authorization: Bearer " + secret,
		"in a cookie":           "Cookie: token=" + secret,
		"behind HTTP's line":    "POST /:x HTTP/1.1\r\nAuthorization: Bearer " + secret,
		"before a host":         "Authorization: Bearer " + secret + "\r\nHost: 127.0.0.1",
		"before an origin":      "Authorization: Bearer " + secret + "\r\nOrigin: https://evil.example",
		"taken back":            "Authorization: Bearer " + secret + "\r\nAuthorization: Bearer x",
		"behind another":        "Authorization: Bearer x\r\nAuthorization: Bearer " + secret,
		"behind none":           "Authorization:\r\nauthorization: Bearer " + secret,
		"twice":                 "Authorization: Bearer " + secret + "\r\nAuthorization: Bearer " + secret,
		"with two lengths":      "Authorization: Bearer " + secret + "\r\nContent-Length: 1",
		"with one length twice": fmt.Sprintf("Authorization: Bearer %s\r\nContent-Length: %d", secret, len(initialize)-strings.Index(initialize, "{")),
	} {
		attacks["the token, "+what] = line + "\r\n" + initialize
	}
	return attacks
}

// attack sends what it has to and returns what is answered. It may be cut off while it sends.
func attack(address, text string) (answer []byte, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	answer, err = io.ReadAll(conn)
	if len(answer) == 0 && errors.Is(err, net.ErrClosed) {
		return nil, err
	}
	return answer, nil // it may be reset
}

// Y10: who has no token gets no byte, whatever he sends, and takes no editor's place.
func TestListenUnderAttack(t *testing.T) {
	address, token, stop := listening(t)
	for name, text := range listenAttacks(token) {
		if answer, err := attack(address, text); err != nil || len(answer) > 0 {
			t.Errorf("%s is answered %.80q, %v", name, answer, err)
		}
	}
	// Headers that come slowly, or never, and a body that does.
	var slow []net.Conn
	for _, begin := range []string{"", "C", "Content-Length: 5", "Authorization: Bearer guess\r\nContent-Len", "\r\n"} {
		for range 20 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, begin); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, conn)
		}
	}
	editorAt(t, address, token) // with all of them ahead of it
	if got := stop(); got != cli.ExitOK {
		t.Errorf("exit code %d", got)
	}
	for _, conn := range slow {
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("a slow one is answered %q", answer)
		}
	}
}
