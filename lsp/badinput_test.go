package lsp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/completion"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/lsp/text"
)

func TestMalformedFrames(t *testing.T) {
	frame := func(body string) string { return string(headless.Frame([]byte(body))) }
	good := frame(`{"jsonrpc":"2.0","id":"after","method":"quarry/unknown"}`)
	huge := 64<<20 + 1
	for _, tt := range []struct {
		name  string
		bytes string
		code  int    // of the answer, 0 if there shall be none
		id    string // of the answer
	}{
		{"no JSON", frame(`{a}`), -32700, "null"},
		{"invalid UTF-8 in a string is replaced", frame("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"quarry/un\xff\xfeknown\"}"), -32601, "7"},
		{"JSON but no object", frame(`42`), -32600, "null"},
		{"object but no message", frame(`{"id": 12}`), -32600, "12"},
		{"method of a wrong type", frame(`{"jsonrpc":"2.0","id":3,"method":4}`), -32600, "3"},
		{"empty body", "Content-Length: 0\r\n\r\n", -32700, "null"},
		{"negative length", "Content-Length: -5\r\n\r\n", -32700, "null"},
		{"a length with a sign", "Content-Length: +57\r\n\r\n", -32700, "null"},
		{"a length that nobody has", "Content-Length: 9223372036854775807\r\n\r\n", -32700, "null"},
		{"length that is no number", "Content-Length: many\r\n\r\n", -32700, "null"},
		{"no length", "Content-Type: application/vscode-jsonrpc\r\n\r\n", -32700, "null"},
		{"header without a colon", "hello\r\n\r\n", -32700, "null"},
		{"garbage right before the next header", "{\"jsonrpc\":\"2.0\"}", -32700, "null"},
		{"length too short", "Content-Length: 4\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1}", -32700, "null"},
		{"length too long", "Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\"}", -32700, "null"},
		{"a header that was cut behind its length", "Content-Length: 99\r\n", -32700, "null"},
		{"a header line without end", strings.Repeat("x", 70_000), -32700, "null"},
		{"a message over the limit", fmt.Sprintf("Content-Length: %d\r\n\r\n{\"id\":9,\"x\":\"%s\"}", huge, strings.Repeat("y", huge-15)), -32600, "9"},
		{"a batch that is too long", frame("[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"quarry/status"},`, 20_000) + `{"jsonrpc":"2.0","id":2,"method":"quarry/status"}]`), -32600, "null"},
		{"a batch of nothing at all", frame("[" + strings.Repeat("1,", 10_000_000) + "1]"), -32600, "null"},
		{"blank lines", "\r\n\r\n", 0, ""},
		{"lower-case header with a type", "content-length: 57\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"lower\",\"method\":\"quarry/unknown\"}\n", -32601, `"lower"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := edit(t, "vscode", &core{})
			if err := e.SendBytes([]byte(tt.bytes + good)); err != nil {
				t.Fatal(err)
			}
			var answers []headless.Message
			// The good message is answered last, so that all else has been by then.
			if err := e.AwaitOrphan(soon(t), `"after"`); err != nil {
				t.Fatalf("the server did not survive: %v", err)
			}
			for _, m := range e.Orphans() {
				if string(m.ID) != `"after"` {
					answers = append(answers, m)
				}
			}
			if tt.code == 0 {
				if len(answers) > 0 {
					t.Errorf("answered with %+v", answers)
				}
				return
			}
			if len(answers) == 0 {
				t.Fatal("no answer")
			}
			if got := answers[0]; got.Error == nil || got.Error.Code != tt.code || string(orNull(got.ID)) != tt.id {
				t.Errorf("answer id %s error %v, want id %s code %d", got.ID, got.Error, tt.id, tt.code)
			}
		})
	}
}

// A length that takes in the head of the next message costs no memory for good.
func TestManyWrongLengths(t *testing.T) {
	e := edit(t, "vscode", &core{})
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	const n, most = 5_000, 64 << 20
	wrong := strings.Repeat("Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\"}Content-Length: 16\r\n\r\n{\"jsonrpc\":\"2.\"}", n)
	if err := e.SendBytes([]byte(wrong + string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":"after","method":"quarry/unknown"}`))))); err != nil {
		t.Fatal(err)
	}
	if err := e.AwaitOrphan(soon(t), `"after"`); err != nil {
		t.Fatal(err)
	}
	if got := len(e.Orphans()); got < n {
		t.Errorf("%d of %d wrong messages are answered", got, n)
	}
	if after := inUse(); after > before+most {
		t.Errorf("%d MB are kept after %d wrong messages", (after-before)>>20, n)
	}
}

// A batch within the bound is taken, whatever stands in its members.
func TestBatch(t *testing.T) {
	e := edit(t, "vscode", &core{})
	member := `{"jsonrpc":"2.0","method":"$/quarry","params":{"a":[1,2,"],{\\",[{}]],"b":","}}`
	body := "[" + strings.Repeat(member+",", 99) + member + "]" // notifications: the headless editor reads no arrays
	if err := e.SendBytes(headless.Frame([]byte(body))); err != nil {
		t.Fatal(err)
	}
	if err := e.SendBytes(headless.Frame([]byte(`{"jsonrpc":"2.0","id":"after","method":"quarry/unknown"}`))); err != nil {
		t.Fatal(err)
	}
	if err := e.AwaitOrphan(soon(t), `"after"`); err != nil {
		t.Fatal(err)
	}
	for _, m := range e.Orphans() {
		if m.Error != nil && m.Error.Code == -32600 {
			t.Errorf("refused: %v", m.Error)
		}
	}
}

func orNull(id json.RawMessage) json.RawMessage {
	if id == nil {
		return json.RawMessage("null")
	}
	return id
}

// The memory of a large document is given back when it is closed: Go alone would wait, here for good.
func TestAClosedDocumentGivesItsMemoryBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	e := edit(t, "vscode", &core{})
	path := filepath.Join(t.TempDir(), "large.go")
	if _, err := e.Open(path, "go", strings.Repeat("var x = 1\n", 900_000)); err != nil {
		t.Fatal(err)
	}
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := e.CloseDocument(path); err != nil {
		t.Fatal(err)
	}
	ctx := soon(t)
	for now.NumForcedGC <= before.NumForcedGC {
		if ctx.Err() != nil {
			t.Fatal("the memory is kept")
		}
		runtime.Gosched()
		runtime.ReadMemStats(&now)
	}
}

// Whatever bytes come, the server reads to their end and then ends itself.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"))
	f.Add([]byte("Content-Length: 9999999999999\r\n\r\n["))
	f.Add([]byte("\r\n:\n\nContent-Length:Content-Length: 1\n\n1"))
	frame := func(body string) string { return string(headless.Frame([]byte(body))) }
	initialize := frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`) + frame(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	for _, seed := range []string{
		initialize + frame(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`) + frame(`{"jsonrpc":"2.0","method":"exit"}`),
		initialize + frame(`[{"jsonrpc":"2.0","id":3,"method":"quarry/status"},1,[],{"id":{}},null]`),
		initialize + frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:a","languageId":"go","version":1,"text":"a\ud800"}}}`) +
			frame(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:a","version":2},"contentChanges":[{"range":{"start":{"line":4294967295,"character":0},"end":{"line":0,"character":9}},"text":"x"}]}}`),
		initialize + frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`) + frame(`{"jsonrpc":"2.0","id":"x","result":{}}`) + frame(`{"jsonrpc":"2.0","id":1e400,"method":"initialize"}`),
		initialize + "Content-Length: -1\r\n\r\n{}" + "content-length:+2\r\n\r\n{}" + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "Content-Length: 2\n\n{}\x00\x1b]0;x\x07", frame(strings.Repeat("[", 10_000)), frame("\xff\xfe{\x00}\x00"), frame(`{"jsonrpc":"2.0","jsonrpc":"1.0","id":1,"id":2,"method":"exit","method":"initialize"}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		client, exit := serve(t, &core{})
		go func() { _, _ = io.Copy(io.Discard, client) }()
		_, _ = client.Write(input) // the server may already have left
		_ = client.Close()
		if code := <-exit; code != 1 && code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// Whatever bytes come to --listen, who has not sent the token is answered none.
func FuzzFirstFrames(f *testing.F) {
	const token = "0123456789abcdef0123456789abcdef"
	initialize := string(headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)))
	for _, seed := range []string{
		initialize, "Authorization: Bearer " + token + "\r\n" + initialize, "Authorization: Bearer x\r\nAuthorization: Bearer " + token + "\r\n" + initialize, "Authorization: Bearer \r\n" + initialize,
		"Authorization: Bearer " + token[1:] + "\r\n" + initialize, "POST /a:b HTTP/1.1\r\nContent-Length: 9\r\n\r\n" + initialize, "content-length: 2\r\ncontent-length: 3\r\n\r\n{}", "\r\n" + initialize, "Content-Type: x\n" + initialize,
		"Content-Length: 99999999999\r\n\r\n" + initialize, "authorization:Bearer\t" + token + "\n" + initialize, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03:\r\n\r\n" + initialize,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		client, server := net.Pipe()
		opts := serverOptions(t, &core{}, token)
		opts.Strict = true
		exit := make(chan int, 1)
		go func() { exit <- lsp.Serve(context.Background(), server, opts) }()
		answered := make(chan int64, 1)
		go func() {
			n, _ := io.Copy(io.Discard, client)
			answered <- n
		}()
		_, _ = client.Write(input) // the server may already have left
		_ = client.Close()
		if code := <-exit; code != 1 && code != 0 {
			t.Errorf("exit code %d", code)
		}
		if n := <-answered; n > 0 && !bytes.Contains(input, []byte(token)) {
			t.Errorf("%d bytes are answered", n)
		}
	})
}

func TestBadDocuments(t *testing.T) {
	change := func(version int, startLine, endLine int, s string) map[string]any {
		return map[string]any{
			"textDocument": map[string]any{"uri": "", "version": version},
			"contentChanges": []any{map[string]any{"text": s, "range": map[string]any{
				"start": map[string]any{"line": startLine, "character": 0}, "end": map[string]any{"line": endLine, "character": 0},
			}}},
		}
	}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any))
		// ghost is what a completion shows afterwards, said a part of the one
		// message the user gets, logged one of the log.
		ghost, said, logged string
	}{
		{
			name: "change outside the document",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				send(change(5, 40, 41, "x"))
				send(change(6, 40, 41, "x"))
			},
			said: "does not fit",
		},
		{
			name: "whole text makes a stale document good again",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				send(change(5, 2, 0, "x"))
				send(map[string]any{"textDocument": map[string]any{"uri": "", "version": 6}, "contentChanges": []any{map[string]any{"text": "new\n"}}})
				b.Text = text.New("new\n")
			},
			ghost: "ghost", said: "does not fit",
		},
		{
			name: "version going back",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				send(change(-4, 0, 0, ""))
				send(change(-5, 0, 0, ""))
			},
			ghost: "ghost", logged: "version -4 after 1: version goes back",
		},
		{
			name: "version that skips",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				send(change(900, 0, 0, ""))
			},
			ghost: "ghost",
		},
		{
			name: "change of a document that is not open",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				c := change(2, 0, 0, "x")
				c["textDocument"].(map[string]any)["uri"] = "file:///elsewhere.go"
				for range 2 {
					if err := e.Notify("textDocument/didChange", c); err != nil {
						t.Fatal(err)
					}
				}
			},
			ghost: "ghost", logged: "never opened",
		},
		{
			name: "closed twice, then used",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				for range 2 {
					if err := e.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": b.URI}}); err != nil {
						t.Fatal(err)
					}
				}
			},
			logged: "never opened",
		},
		{
			name: "5 MB",
			do: func(t *testing.T, e *headless.Editor, b *headless.Buffer, send func(map[string]any)) {
				if err := e.Replace(b, 0, 0, strings.Repeat("abcdefghi\n", 500_000)); err != nil {
					t.Fatal(err)
				}
				complete(t, e, b)
			},
			said: "maxFileBytes",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := edit(t, "vscode", &core{})
			b := open(t, e, "a.go", "go", "package a\n")
			tt.do(t, e, b, func(params map[string]any) {
				if doc := params["textDocument"].(map[string]any); doc["uri"] == "" {
					doc["uri"] = b.URI
				}
				if err := e.Notify("textDocument/didChange", params); err != nil {
					t.Fatal(err)
				}
			})
			if got := complete(t, e, b); got != tt.ghost {
				t.Errorf("ghost text %q, want %q", got, tt.ghost)
			}
			wantOnce(t, "shown", e.Shown(), tt.said)
			wantOnce(t, "logged", e.Logged(), tt.logged)
		})
	}
}

func wantOnce(t *testing.T, what string, messages []string, part string) {
	t.Helper()
	if part == "" && len(messages) == 0 {
		return
	}
	if part == "" || len(messages) != 1 || !strings.Contains(messages[0], part) {
		t.Errorf("%s %q, want one message with %q", what, messages, part)
	}
}

func TestRequestsOutsideTheText(t *testing.T) {
	var seen completion.Request
	c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
		seen = req
		return ghost(req, "g"), nil
	}}
	e := edit(t, "vscode", c)
	b := open(t, e, "a.go", "go", "ab\ncd")
	ask := func(uri string, line, char int) string {
		var raw json.RawMessage
		err := e.Call(soon(t), "textDocument/inlineCompletion", map[string]any{
			"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": line, "character": char}, "context": map[string]any{"triggerKind": 2},
		}, &raw)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if got := ask("file:///never/opened.go", 0, 0); got != "null" {
		t.Errorf("unknown document: %s, want null", got)
	}
	if got := ask(b.URI, 9, 0); got != "null" {
		t.Errorf("line after the end: %s, want null", got)
	}
	if got := ask(b.URI, 0, 99); !strings.Contains(got, `"character":2`) || seen.Offset != 2 {
		t.Errorf("cursor past the end of its line: %s at byte %d, want the line's end", got, seen.Offset)
	}
}

// The server's text stays the editor's under any edits, in every encoding.
func TestSyncProperty(t *testing.T) {
	alphabet := []rune("ab \t(\r\né漢😀")
	for _, profile := range headless.Profiles {
		var seen completion.Request
		c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
			seen = req
			return completion.Result{}, nil
		}}
		e := edit(t, profile, c)
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			b, err := e.Open(fmt.Sprintf("f%d.txt", n), "plaintext", rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 30, -1).Draw(t, "text"))
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 6).Draw(t, "edits") {
				start, end := runeRange(t, b.Text.String())
				if err := e.Replace(b, start, end, rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 5, -1).Draw(t, "with")); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Complete(context.Background(), b, false); err != nil {
				t.Fatal(err)
			}
			if seen.Text != b.Text.String() {
				t.Fatalf("%s: the server has %q, the editor %q", profile, seen.Text, b.Text.String())
			}
		})
	}
}

// runeRange draws a range that an editor could select: on rune boundaries and
// not inside a CRLF, which no position can name.
func runeRange(t *rapid.T, s string) (start, end int) {
	var bounds []int
	for i := range s {
		if !(i > 0 && s[i-1] == '\r' && s[i] == '\n') {
			bounds = append(bounds, i)
		}
	}
	bounds = append(bounds, len(s))
	a := rapid.IntRange(0, len(bounds)-1).Draw(t, "start")
	b := rapid.IntRange(a, len(bounds)-1).Draw(t, "end")
	return bounds[a], bounds[b]
}

func TestTokenIsAskedForOnce(t *testing.T) {
	for token, want := range map[string]bool{"secret": true, "guess": false, "": false} {
		client, server := net.Pipe()
		exit := make(chan int, 1)
		go func() {
			exit <- lsp.Serve(context.Background(), server, serverOptions(t, &core{}, "secret"))
		}()
		conn := headless.NewConn(client, nil, func(string, json.RawMessage) {})
		body := `{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"capabilities":{}}}`
		header := fmt.Sprintf("Content-Length: %d\r\n", len(body))
		if token != "" {
			header += "Authorization: Bearer " + token + "\r\n"
		}
		if err := conn.SendBytes([]byte(header + "\r\n" + body)); err != nil {
			t.Fatal(err)
		}
		if want {
			if err := conn.Notify("exit", nil); err != nil {
				t.Fatal(err)
			}
		}
		<-exit
		<-conn.Done()
		if got := len(conn.Orphans()) == 1; got != want {
			t.Errorf("token %q: answered %t, want %t", token, got, want)
		}
		conn.Close()
	}
}
