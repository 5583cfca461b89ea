// Command peer types the same text into quarry and into another completion
// server, tabby-agent, and counts what each asks its model for.
//
//	go run -tags sqlite_fts5 ./bench/peer -quarry bin/quarry -tabby node_modules/.bin/tabby-agent -before OLD -after NEW
//
// OLD and NEW are as for `quarry eval typing`. Both models are stand-ins on
// loopback that know what will be typed, right half of the time, after 150 ms.
// The editor sends a change and a request for each key and cancels the request
// before it, as VS Code does. (tabby-agent 1.5.0 serves ghost text as
// textDocument/completion.)
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/completion/eval"
	"quarry/lsp/lsptest"
	"quarry/model/modeltest"
)

const latency = 150 * time.Millisecond

func main() {
	quarry := flag.String("quarry", "bin/quarry", "the quarry to run")
	tabby := flag.String("tabby", "node_modules/.bin/tabby-agent", "the tabby-agent to run")
	before := flag.String("before", "", "folder of older versions")
	after := flag.String("after", "", "folder of newer versions")
	count := flag.Int("traces", 12, "insertions to type")
	pace := flag.Duration("pace", 120*time.Millisecond, "time between keys")
	flag.Parse()
	traces, err := load(*before, *after, *count)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range []subject{{name: "quarry", start: func(o *oracle) (*session, error) { return startQuarry(*quarry, o) }, method: "textDocument/inlineCompletion", trigger: 2},
		{name: "tabby-agent", start: func(o *oracle) (*session, error) { return startTabby(*tabby, o) }, method: "textDocument/completion", trigger: 1}} {
		if err := s.run(traces, *pace); err != nil {
			log.Fatalf("%s: %v", s.name, err)
		}
	}
}

func load(before, after string, count int) ([]eval.Trace, error) {
	from, err := eval.Load(before)
	if err != nil {
		return nil, err
	}
	to, err := eval.Load(after)
	if err != nil {
		return nil, err
	}
	var traces []eval.Trace
	for _, r := range to {
		if i := slices.IndexFunc(from, func(o eval.Repository) bool { return o.Name == r.Name }); i >= 0 {
			traces = append(traces, eval.Traces(from[i], r)...)
		}
	}
	// Spread over the repositories, and of a length that ends.
	traces = slices.DeleteFunc(traces, func(t eval.Trace) bool { return len(t.Text) < 60 || len(t.Text) > 250 })
	rng := rand.New(rand.NewPCG(1, 0))
	rng.Shuffle(len(traces), func(i, j int) { traces[i], traces[j] = traces[j], traces[i] })
	return traces[:min(count, len(traces))], nil
}

// oracle is the model behind both servers: it knows the text to come.
type oracle struct {
	mu sync.Mutex
	// rest is what is still to be typed; it and rng are guarded by mu.
	rest string
	rng  *rand.Rand
	// prompts are those received. Guarded by mu.
	prompts []string
}

func (o *oracle) ask(prompt string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prompts = append(o.prompts, prompt)
	if o.rng.Float64() < 0.5 {
		return "somethingElse(entirely)\n"
	}
	return o.rest
}

// session is a running server and the editor's end of it.
type session struct {
	conn  *lsptest.Conn
	close func()
}

type subject struct {
	name  string
	start func(*oracle) (*session, error)
	// method is what the server answers ghost text to, trigger the kind it
	// takes for one that nobody pressed a key for.
	method  string
	trigger int
}

func (s subject) run(traces []eval.Trace, pace time.Duration) error {
	o := &oracle{rng: rand.New(rand.NewPCG(1, 1))}
	server, err := s.start(o)
	if err != nil {
		return err
	}
	defer server.close()
	keys, shown, requests, shares := 0, 0, 0, []float64{}
	for n, tr := range traces {
		o.mu.Lock()
		o.prompts = nil
		o.mu.Unlock()
		k, sh, err := s.typeTrace(server.conn, o, tr, n, pace)
		if err != nil {
			return err
		}
		keys, shown = keys+k, shown+sh
		o.mu.Lock()
		requests += len(o.prompts)
		for i, p := range o.prompts {
			if i > 0 { // the first of a document is new to any server
				shares = append(shares, float64(commonPrefix(o.prompts[i-1], p))/float64(len(p)))
			}
		}
		o.mu.Unlock()
	}
	sum := 0.0
	for _, v := range shares {
		sum += v
	}
	fmt.Printf("%-12s %d keys, %d requests to the model (%.3f a key), %.1f %% of the prompt shared with the one before, ghost text at %.1f %% of keys\n",
		s.name, keys, requests, float64(requests)/float64(keys), 100*sum/float64(max(len(shares), 1)), 100*float64(shown)/float64(keys))
	return nil
}

// typeTrace types one insertion into a document of its own.
func (s subject) typeTrace(conn *lsptest.Conn, o *oracle, tr eval.Trace, n int, pace time.Duration) (keys, shown int, err error) {
	uri := lsptest.FileURI(filepath.Join(os.TempDir(), "peer", fmt.Sprint(n), tr.Document.Path))
	doc := map[string]any{"uri": uri, "languageId": tr.Document.Language, "version": 0, "text": tr.Document.Text}
	if err := conn.Notify("textDocument/didOpen", map[string]any{"textDocument": doc}); err != nil {
		return 0, 0, err
	}
	defer func() {
		err = cmp.Or(err, conn.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}}))
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var answers sync.WaitGroup
	var mu sync.Mutex
	typed := ""
	stop := func() {}
	defer func() { stop() }()
	for i, r := range tr.Text {
		typed += string(r)
		o.mu.Lock()
		o.rest = tr.Text[i+len(string(r)):]
		o.mu.Unlock()
		before := tr.Document.Text[:tr.Offset] + typed
		if err := conn.Notify("textDocument/didChange", map[string]any{
			"textDocument":   map[string]any{"uri": uri, "version": keys + 1},
			"contentChanges": []any{map[string]any{"text": before + tr.Document.Text[tr.Offset:]}},
		}); err != nil {
			return keys, shown, err
		}
		stop()
		request, cancelRequest := context.WithCancel(ctx)
		stop = cancelRequest
		line := strings.Count(before, "\n")
		params := map[string]any{
			"textDocument": map[string]any{"uri": uri},
			"position":     map[string]any{"line": line, "character": utf16Length(before[strings.LastIndexByte(before, '\n')+1:])},
			"context":      map[string]any{"triggerKind": s.trigger},
		}
		keys++
		answers.Go(func() {
			var got json.RawMessage
			if err := conn.Call(request, s.method, params, &got); err != nil {
				return // cancelled, mostly
			}
			if hasItems(got) {
				mu.Lock()
				shown++
				mu.Unlock()
			}
		})
		time.Sleep(pace)
	}
	time.Sleep(3 * latency)
	stop()
	answers.Wait()
	return keys, shown, nil
}

func hasItems(answer json.RawMessage) bool {
	var list struct{ Items []json.RawMessage }
	if json.Unmarshal(answer, &list) == nil {
		return len(list.Items) > 0
	}
	return json.Unmarshal(answer, &list.Items) == nil && len(list.Items) > 0
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func startQuarry(bin string, o *oracle) (*session, error) {
	ollama, err := modeltest.Start()
	if err != nil {
		return nil, err
	}
	ollama.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 { // the runtime's check, or a step of warming
			return modeltest.Answer{Pieces: []string{"x"}}
		}
		var pieces []string
		for text := o.ask(r.Prompt); text != ""; {
			n := min(4, len(text))
			pieces, text = append(pieces, text[:n]), text[n:]
		}
		hold := make(chan struct{})
		time.AfterFunc(latency, func() { close(hold) })
		return modeltest.Answer{Pieces: pieces, Hold: hold}
	})
	state, err := os.MkdirTemp("", "quarry-peer-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, "lsp", "--log-level=error", "--ollama="+ollama.URL, "--state-dir="+state)
	s, err := connect(cmd)
	if err != nil {
		return nil, err
	}
	end := s.close
	s.close = func() {
		end()
		ollama.Close()
		os.RemoveAll(state)
	}
	time.Sleep(2 * time.Second) // the model is loaded
	return s, nil
}

func startTabby(bin string, o *oracle) (*session, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/v1/health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"model": "stand-in", "device": "cpu", "arch": "x86_64", "cpu_info": "", "cpu_count": 2, "cuda_devices": []string{},
			"version": map[string]string{"build_date": "", "build_timestamp": "", "git_sha": "", "git_describe": "v0.11.0"},
		})
	})
	mux.HandleFunc("/v1beta/server_setting", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"disable_client_side_telemetry": true})
	})
	mux.HandleFunc("/v1/events", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/v1/completions", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Segments struct{ Prefix, Suffix string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text := o.ask("<|fim_prefix|>" + body.Segments.Prefix + "<|fim_suffix|>" + body.Segments.Suffix + "<|fim_middle|>")
		select {
		case <-time.After(latency):
		case <-r.Context().Done():
			return
		}
		answer(w, map[string]any{"id": "c", "choices": []any{map[string]any{"index": 0, "text": text}}})
	})
	server := &http.Server{Handler: mux}
	go server.Serve(l)
	home, err := os.MkdirTemp("", "tabby-peer-")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(home, ".tabby-client", "agent", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("[server]\nendpoint = \"http://%s\"\ntoken = \"none\"\n[anonymousUsageTracking]\ndisable = true\n", l.Addr())
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, "--lsp", "--stdio")
	cmd.Env = append(os.Environ(), "HOME="+home)
	s, err := connect(cmd)
	if err != nil {
		return nil, err
	}
	end := s.close
	s.close = func() {
		end()
		server.Close()
		os.RemoveAll(home)
	}
	time.Sleep(2 * time.Second)
	return s, nil
}

// pipes is a process's standard input and output as one connection.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

func connect(cmd *exec.Cmd) (*session, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	conn := lsptest.NewConn(pipes{out, in}, func(json.RawMessage, string, json.RawMessage) (any, error) { return nil, nil }, func(string, json.RawMessage) {})
	s := &session{conn: conn, close: func() {
		conn.Close()
		cmd.Process.Kill()
		cmd.Wait()
	}}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var result json.RawMessage
	err = conn.Call(ctx, "initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": nil,
		"clientInfo":   map[string]any{"name": "peer"},
		"capabilities": map[string]any{"textDocument": map[string]any{"inlineCompletion": map[string]any{}, "completion": map[string]any{}}},
	}, &result)
	if err == nil {
		err = conn.Notify("initialized", map[string]any{})
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("initialize %s: %w", cmd.Path, err)
	}
	return s, nil
}
