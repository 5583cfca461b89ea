package completions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/lsp/service/servicetest"
)

const token = "a long random text"

// echo answers with what it was asked about.
func echo(_ context.Context, p CursorContext) (Answer, error) {
	return Answer{Text: fmt.Sprintf("%q %q", p.Prefix, p.Suffix), Engine: "granite4.1:3b", PromptTokens: 7}, nil
}

func ask(h http.Handler, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(body))
	r.Host = "127.0.0.1:7997"
	r.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func echoing() *handler {
	return &handler{token: token, complete: echo, log: slog.New(slog.DiscardHandler), now: func() time.Time { return time.Unix(1764000000, 5) }}
}

// TestZed posts what Zed 1.7 does, with each of its prompt formats that are of a
// family quarry knows, and has every field that Zed demands.
func TestZed(t *testing.T) {
	for format, prompt := range map[string]string{
		"qwen, code_gemma": `<|fim_prefix|>a := "é"\n\tb<|fim_suffix|>)\n}\n<|fim_middle|>`,
		"star_coder":       `<fim_prefix>a := "é"\n\tb<fim_suffix>)\n}\n<fim_middle>`,
		"deepseek_coder":   `<｜fim▁begin｜>a := "é"\n\tb<｜fim▁hole｜>)\n}\n<｜fim▁end｜>`,
		"codestral":        `[SUFFIX])\n}\n[PREFIX]a := "é"\n\tb`,
	} {
		t.Run(format, func(t *testing.T) {
			body := `{"model":"quarry","prompt":"` + strings.ReplaceAll(prompt, `"é"`, `\"é\"`) + `","max_tokens":256,` +
				`"stop":["<|endoftext|>","<|file_separator|>","<|fim_pad|>","<|fim_prefix|>"]}`
			w := ask(echoing(), body, nil)
			want := `{"id":"cmpl-1764000000000000005","object":"text_completion","created":1764000000,"model":"granite4.1:3b",` +
				`"choices":[{"text":"\"a := \\\"é\\\"\\n\\tb\" \")\\n}\\n\"","index":0,"logprobs":null,"finish_reason":"stop"}],` +
				`"usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":27}}`
			if w.Code != http.StatusOK || w.Body.String() != want {
				t.Errorf("%d\n%s, want\n%s", w.Code, w.Body, want)
			}
		})
	}
}

// TestZedsOwnFormats: in these an answer takes the place of a region, so that no answer is right; quarry says what to set.
func TestZedsOwnFormats(t *testing.T) {
	for format, prompt := range map[string]string{
		"zeta":    `### Instruction:\nRewrite.\n\n### User Excerpt:\n\na.go\n<|editable_region_start|>\na<|user_cursor_is_here|>\n<|editable_region_end|>\n\n### Response:\n`,
		"zeta2":   `<[fim-suffix]>\n}\n<[fim-prefix]><filename>a.go\nfunc a() {\n<<<<<<< CURRENT\n\tb<|user_cursor|>\n=======\n<[fim-middle]>`,
		"zeta2_1": `<[fim-suffix]>\n}\n<[fim-prefix]><filename>a.go\nfunc a() {\n<|marker_1|>\tb<|user_cursor|>\n<|marker_2|>\n<[fim-middle]>`,
	} {
		t.Run(format, func(t *testing.T) {
			w := ask(echoing(), `{"model":"quarry","prompt":"`+prompt+`","max_tokens":256}`, nil)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `quarry: set prompt_format to \"qwen\": `) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// TestPrefixAndSuffix: OpenAI's own form, in which minuet and its like ask, as a stream too.
func TestPrefixAndSuffix(t *testing.T) {
	w := ask(echoing(), `{"model":"quarry","prompt":"a","suffix":"b","stream":true,"n":1,"temperature":0.2}`, nil)
	data, rest, ok := strings.Cut(strings.TrimPrefix(w.Body.String(), "data: "), "\n\n")
	var got response
	if err := json.Unmarshal([]byte(data), &got); err != nil || !ok || rest != "data: [DONE]\n\n" || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if got.Choices[0].Text != `"a" "b"` {
		t.Errorf("text %q", got.Choices[0].Text)
	}
}

func TestRefusals(t *testing.T) {
	const good = `{"prompt":"a"}`
	for name, tt := range map[string]struct {
		body   string
		change func(*http.Request)
		want   int
	}{
		"no token":               {good, func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"another token":          {good, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"x") }, http.StatusUnauthorized},
		"an empty token":         {good, func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, http.StatusUnauthorized},
		"another token and it":   {good, func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer x", "Bearer " + token} }, http.StatusBadRequest},
		"the token twice":        {good, func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+token) }, http.StatusBadRequest},
		"a web page":             {good, func(r *http.Request) { r.Header.Set("Origin", "https://example.com") }, http.StatusForbidden},
		"a page of this host":    {good, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:7997") }, http.StatusForbidden},
		"a page of two origins":  {good, func(r *http.Request) { r.Header["Origin"] = []string{"", "https://example.com"} }, http.StatusForbidden},
		"an empty origin":        {good, func(r *http.Request) { r.Header.Set("Origin", "") }, http.StatusForbidden},
		"a page of two modes":    {good, func(r *http.Request) { r.Header["Sec-Fetch-Mode"] = []string{"", "cors"} }, http.StatusForbidden},
		"a file's page":          {good, func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"a browser":              {good, func(r *http.Request) { r.Header.Set("Sec-Fetch-Mode", "no-cors") }, http.StatusForbidden},
		"a name bound to us":     {good, func(r *http.Request) { r.Host = "evil.example:7997" }, http.StatusForbidden},
		"no host":                {good, func(r *http.Request) { r.Host = "" }, http.StatusForbidden},
		"a preflight":            {"", func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"a GET":                  {good, func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		"no metrics":             {"", func(r *http.Request) { r.Method, r.URL.Path = http.MethodGet, "/metrics" }, http.StatusNotFound},
		"another path":           {good, func(r *http.Request) { r.URL.Path = "/v1/models" }, http.StatusNotFound},
		"no JSON":                {"prompt=a", nil, http.StatusBadRequest},
		"a list of prompts":      {`{"prompt":["a"]}`, nil, http.StatusBadRequest},
		"more than a megabyte":   {`{"prompt":"` + strings.Repeat("a", maxRequest) + `"}`, nil, http.StatusBadRequest},
		"the address of an IPv6": {good, func(r *http.Request) { r.Host = "[::1]:7997" }, http.StatusOK},
		"localhost":              {good, func(r *http.Request) { r.Host = "localhost" }, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			w := ask(echoing(), tt.body, tt.change)
			if w.Code != tt.want {
				t.Errorf("%d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Error("a browser is let in")
			}
			if w.Code != http.StatusOK && !strings.Contains(w.Body.String(), `"message":"quarry: `) {
				t.Errorf("says %s", w.Body)
			}
		})
	}
	h := echoing()
	h.token = ""
	if w := ask(h, good, func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }); w.Code != http.StatusUnauthorized {
		t.Errorf("without a token of its own it answers %d", w.Code)
	}
}

func TestCursorContextIn(t *testing.T) {
	const text = "package shop\n\nfunc total(items []Item) int {\n\tn := 0\n\tfor _, it := range items {\n\t\tn += it.Count\n\t}\n\treturn n\n}\n"
	at := func(mark string) (string, string) {
		before, after, ok := strings.Cut(text, mark)
		if !ok {
			t.Fatal(mark)
		}
		return before + mark, after
	}
	before, after := at("it.Co")
	bodyBefore, bodyAfter := at("n := 0\n")
	for name, tt := range map[string]struct {
		text   string
		cursor CursorContext
		now    string // "" if the place is not to be found
	}{
		"the whole":             {text, CursorContext{before, after}, text},
		"a window":              {text, CursorContext{before[20:], after[:8]}, text},
		"a line begins":         {text, CursorContext{"func total(items []Item) int {\n", "\tn := 0\n"}, text},
		"typed since":           {text, CursorContext{before + "unt", after}, before + "unt" + after},
		"deleted since":         {text, CursorContext{strings.TrimSuffix(before, "Co"), after}, strings.TrimSuffix(before, "Co") + after},
		"Enter since":           {text, CursorContext{bodyBefore + "\tif n ", bodyAfter}, bodyBefore + "\tif n " + bodyAfter},
		"a bracket closed":      {text, CursorContext{before + "unt(", ")" + after}, before + "unt(" + ")" + after},
		"lines end in CR LF":    {strings.ReplaceAll(text, "\n", "\r\n"), CursorContext{before, after}, text},
		"CR LF in both":         {"a\r\nb\r\n", CursorContext{"a\r\nb", "\r\n"}, "a\r\nb\r\n"},
		"a client's own head":   {text, CursorContext{"// language: go\n// indentation: use tab\n" + before, after}, text},
		"and typed since":       {text, CursorContext{"// language: go\n// indentation: use tab\n" + before + "unt", after}, before + "unt" + after},
		"too long a head":       {text, CursorContext{"// a\n// b\n// c\n" + before, after}, ""},
		"another text":          {"package cart\n", CursorContext{before, after}, ""},
		"too little to tell":    {text, CursorContext{"\tn +", "= 1"}, ""},
		"nothing":               {text, CursorContext{}, ""},
		"too far from the text": {text[:20] + strings.Repeat("x", maxTyped) + text[20:], CursorContext{before, after}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			now, offset, ok := tt.cursor.In(tt.text)
			if ok != (tt.now != "") || now != tt.now {
				t.Fatalf("%v %q, want %q", ok, now, tt.now)
			}
			if ok && !endsBehindHead(now[:offset], tt.cursor.Prefix) {
				t.Errorf("the cursor is behind %q", now[:offset])
			}
		})
	}
}

// endsBehindHead reports whether text ends in prefix, or in what is behind its first lines.
func endsBehindHead(text, prefix string) bool {
	for range maxHead {
		if strings.HasSuffix(text, prefix) {
			return true
		}
		_, prefix, _ = strings.Cut(prefix, "\n")
	}
	return strings.HasSuffix(text, prefix)
}

func FuzzCursorContextIn(f *testing.F) {
	f.Add("package shop\n\nfunc total() int {\n\treturn n\n}\n", "func total() int {\n\tret", "n n\n}\n")
	f.Add("a\r\nb", "a\n", "b")
	f.Fuzz(func(t *testing.T, text, prefix, suffix string) {
		p := CursorContext{prefix, suffix}
		now, offset, ok := p.In(text)
		if ok && (!endsBehindHead(now[:offset], prefix) || !strings.HasPrefix(now[offset:], suffix)) {
			t.Errorf("%q at %d is not %+v", now, offset, p)
		}
		if strings.Contains(p.Clue(), `"`) {
			t.Errorf("clue %q", p.Clue())
		}
	})
}

// serving is a server of Serve's, ended by end.
type serving struct {
	end  context.CancelFunc
	done chan error
}

// TestOneAddressForAll: the first server has the address and asks the second for what it does not know; when it
// ends, the second has it. One that was killed is forgotten.
func TestOneAddressForAll(t *testing.T) {
	dir, err := os.MkdirTemp("", "q") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	servicetest.NeedSockets(t, dir)
	left, err := net.Listen("unix", filepath.Join(dir, "killed"))
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	reserved, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := reserved.Addr().String()

	tick, taken := make(chan time.Time), make(chan error, 1)
	start := func(knows string) serving {
		ctx, cancel := context.WithCancel(t.Context())
		s := serving{cancel, make(chan error, 1)}
		go func() {
			s.done <- Serve(ctx, Options{
				Address: address, Token: token, Dir: dir, Log: slog.New(slog.DiscardHandler),
				Complete: func(_ context.Context, p CursorContext) (Answer, error) {
					if p.Prefix != knows {
						return Answer{}, ErrUnknown
					}
					return Answer{Text: "known to " + knows}, nil
				},
				Taken: func(err error) { taken <- err },
				After: func(time.Duration) <-chan time.Time { return tick },
			})
		}()
		return s
	}
	post := func(prompt string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(`{"stream":true,"prompt":"`+prompt+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}

	first := start("one")
	if err := <-taken; err == nil { // by the reservation
		t.Error("the address is taken, and nothing is said of it")
	}
	if _, err := os.Stat(filepath.Join(dir, "killed")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed server left is still there: %v", err)
	}
	reserved.Close()
	tick <- time.Time{}
	for { // until it listens
		if code, _ := post("one"); code == http.StatusOK {
			break
		}
	}
	second := start("two")
	tick <- time.Time{} // it has a socket, and not the address
	if code, body := post("two"); code != http.StatusOK || !strings.Contains(body, "known to two") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := post("three"); code != http.StatusNotFound {
		t.Errorf("%d %s", code, body)
	}
	first.end()
	if err := <-first.done; err != nil {
		t.Error(err)
	}
	tick <- time.Time{}
	for {
		code, body := post("two")
		if code == http.StatusOK {
			if !strings.Contains(body, "known to two") {
				t.Error(body)
			}
			break
		}
	}
	second.end()
	if err := <-second.done; err != nil {
		t.Error(err)
	}
	if rest, err := os.ReadDir(dir); err != nil || len(rest) > 0 {
		t.Errorf("%v, %v are left", rest, err)
	}
}

func TestAddresses(t *testing.T) {
	got := map[string]bool{}
	for _, address := range []string{"127.0.0.1:7997", "localhost:1", "[::1]:1", "0.0.0.0:7997", ":7997", "192.168.1.2:1", "example.com:1", "7997"} {
		got[address] = checkAddress(address) == nil
	}
	want := map[string]bool{"127.0.0.1:7997": true, "localhost:1": true, "[::1]:1": true,
		"0.0.0.0:7997": false, ":7997": false, "192.168.1.2:1": false, "example.com:1": false, "7997": false}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := Serve(t.Context(), Options{Address: "0.0.0.0:7997"}); err == nil {
		t.Error("an address that is open to others is served")
	}
}

// Y10: whoever opens connections without end takes a bounded number of file
// descriptors. One that keeps its request to itself gives its place to the next; one
// that is being answered does not.
func TestConnectionsAreBounded(t *testing.T) {
	const most = 3
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limit(inner, most)
	accepted := make(chan *placed)
	ended := make(chan error, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- conn.(*placed)
		}
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	var clients []net.Conn
	var served []*placed
	for range most {
		clients, served = append(clients, dial()), append(served, <-accepted)
	}
	served[0].asked.Store(true)
	clients, served = append(clients, dial()), append(served, <-accepted) // in the place of the second
	if _, err := clients[1].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("who has waited for longest with half a request is told %v", err)
	}
	if len(l.places) != most || len(l.open) != most {
		t.Errorf("%d places are taken by %d connections, want %d", len(l.places), len(l.open), most)
	}
	for _, c := range served {
		c.asked.Store(true)
	}
	dial()
	for !l.waiting.Load() { // until it waits
		runtime.Gosched()
	}
	select {
	case <-accepted:
		t.Error("one more is served")
	default:
	}
	served[2].answered() // its place is wanted
	served = append(served, <-accepted)
	if _, err := clients[2].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection is told %v", err)
	}
	served[0].answered() // nobody waits
	if len(l.open) != most {
		t.Errorf("%d connections are open, want %d", len(l.open), most)
	}
	for range 2 { // closed twice is closed once
		_ = served[0].Close()
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ends with %v", err)
	}
	for _, conn := range served {
		_ = conn.Close()
	}
	if len(l.places) != 0 {
		t.Errorf("%d places are taken by nobody", len(l.places))
	}
}

// Y10: bodies that come a byte at a time, far more than are served at a time, keep
// nobody waiting.
func TestSlowBodiesKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t.Context(), echoing(), slog.New(slog.DiscardHandler))
	server.ReadTimeout, server.ReadHeaderTimeout = 0, 0 // none of them ends by itself
	served := make(chan error, 1)
	go func() { served <- server.Serve(limit(inner, 4)) }()
	for i := range 20 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 {
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n{", path, inner.Addr(), token); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+inner.Addr().String()+path, strings.NewReader(`{"prompt":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `\"a\"`) {
		t.Errorf("%d, %v: %s", resp.StatusCode, err, body)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// Y10: a request that says a thing twice is not answered, whichever of them is right.
func TestLinesThatStandTwice(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t.Context(), echoing(), slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	const body = `{"prompt":"a"}`
	host, length, authorization := fmt.Sprintf("Host: %s\r\n", l.Addr()), fmt.Sprintf("Content-Length: %d\r\n", len(body)), "Authorization: Bearer "+token+"\r\n"
	for name, tt := range map[string]struct {
		headers string
		want    int
	}{
		"each once":              {host + length + authorization, http.StatusOK},
		"another token first":    {host + length + "Authorization: Bearer x\r\n" + authorization, http.StatusBadRequest},
		"no token first":         {host + length + "authorization:\r\n" + authorization, http.StatusBadRequest},
		"another token behind":   {host + length + authorization + "Authorization: Bearer x\r\n", http.StatusBadRequest},
		"the token twice":        {host + length + authorization + authorization, http.StatusBadRequest},
		"another host first":     {"Host: evil.example\r\n" + host + length + authorization, http.StatusBadRequest},
		"another host behind":    {host + "Host: evil.example\r\n" + length + authorization, http.StatusBadRequest},
		"the host twice":         {host + host + length + authorization, http.StatusBadRequest},
		"another length first":   {host + "Content-Length: 1\r\n" + length + authorization, http.StatusBadRequest},
		"another length behind":  {host + length + "Content-Length: 1\r\n" + authorization, http.StatusBadRequest},
		"lengths in one line":    {host + "Content-Length: 1, 14\r\n" + authorization, http.StatusBadRequest},
		"a length and in chunks": {host + length + "Transfer-Encoding: x\r\n" + authorization, http.StatusNotImplemented},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nConnection: close\r\n%s\r\n%s", path, tt.headers, body); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), fmt.Sprintf("HTTP/1.1 %d ", tt.want)) {
			t.Errorf("%s: %.200q, %v", name, got, err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// Y10: a body that never ends is not waited for.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t.Context(), echoing(), slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n{", path, l.Addr(), token); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
		t.Errorf("%q, %v", got, err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// Y10: of the other editors' servers one that was stopped, or says what no server does, keeps nobody
// waiting for the answer of another, and none for longer than its time.
func TestOthersThatDoNotAnswer(t *testing.T) {
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	servicetest.NeedSockets(t, dir)
	begin := func(name string, serve func(net.Conn)) net.Listener {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					serve(conn)
				}()
			}
		}()
		t.Cleanup(func() { l.Close() })
		return l
	}
	endless := func(head, piece string) func(net.Conn) {
		return func(conn net.Conn) {
			_, err := io.WriteString(conn, head)
			for err == nil {
				_, err = io.WriteString(conn, piece)
			}
		}
	}
	begin("a", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	begin("b", endless("HTTP/1.1 200 OK\r\n", strings.Repeat("A: b\r\n", 1000)))
	begin("c", endless("HTTP/1.1 200 OK\r\n\r\n", `{"id":"`+strings.Repeat("x", 10_000)))
	begin("d", endless("HTTP/1.1 200 OK\r\n\r\n{", strings.Repeat(" ", 10_000)))
	o := others{dir, filepath.Join(dir, "own"), token, time.Millisecond}
	if answer, ok := o.ask(t.Context(), request{Prompt: "x"}); ok {
		t.Errorf("answered %+v", answer)
	}
	l := begin("z", func(net.Conn) {})
	l.Close()
	own, err := net.Listen("unix", filepath.Join(dir, "z"))
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t.Context(), echoing(), slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(own) }()
	t.Cleanup(func() { server.Close() })
	o.within = time.Hour
	if answer, ok := o.ask(t.Context(), request{Prompt: "x"}); !ok || len(answer.Choices) != 1 || answer.Choices[0].Text != `"x" ""` {
		t.Errorf("beside them one answers %+v, %t", answer, ok)
	}
}

// The server answers nothing by itself, as OPTIONS of all that there is.
func TestOptionsOfTheServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t.Context(), echoing(), slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") {
		t.Errorf("%s, %v", answer, err)
	}
}
