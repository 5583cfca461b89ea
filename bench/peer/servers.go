package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

func startQuarry(bin string, o *oracle) (*session, error) {
	if o.real != "" {
		return startQuarryOn(bin, o)
	}
	ollama, err := modeltest.Start()
	if err != nil {
		return nil, err
	}
	ollama.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 { // the runtime's check, or a step of warming
			return modeltest.Answer{Pieces: []string{"x"}}
		}
		var pieces []string
		for text := o.ask(context.Background(), r.Prompt); text != ""; {
			n := min(4, len(text))
			pieces, text = append(pieces, text[:n]), text[n:]
		}
		hold := make(chan struct{})
		time.AfterFunc(latency, func() { close(hold) })
		return modeltest.Answer{Pieces: pieces, Logprobs: make([]float64, len(pieces)), Hold: hold}
	})
	state, err := os.MkdirTemp("", "quarry-peer-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, "lsp", "--log-level=error", "--ollama="+ollama.URL, "--state-dir="+state)
	s, err := connect(cmd, nil)
	if err != nil {
		return nil, err
	}
	s.atEnd(func() {
		ollama.Close()
		os.RemoveAll(state)
	})
	time.Sleep(2 * time.Second) // the model is loaded
	return s, nil
}

// startQuarryOn starts it on the real model's server, with the prompts noted that go by.
func startQuarryOn(bin string, o *oracle) (*session, error) {
	to, err := url.Parse(o.real)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		var body struct {
			Prompt    string
			MaxTokens int `json:"max_tokens"`
		}
		if json.Unmarshal(text, &body) == nil && body.Prompt != "" && body.MaxTokens != 1 {
			o.note(body.Prompt)
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		proxy.ServeHTTP(w, r)
	})}
	go server.Serve(l)
	home, err := os.MkdirTemp("", "quarry-peer-")
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(map[string]any{"model": o.model, "ollama": map[string]any{"api": "openai", "url": "http://" + l.Addr().String()}})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(home, "quarry", "settings.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, settings, 0o644)); err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, "lsp", "--log-level=error", "--state-dir="+home)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+home)
	s, err := connect(cmd, nil)
	if err != nil {
		return nil, err
	}
	s.atEnd(func() {
		server.Close()
		os.RemoveAll(home)
	})
	time.Sleep(10 * time.Second) // the model is looked at
	return s, nil
}

// startTabby gives tabby-agent its own defaults, and what of settings is said besides.
func startTabby(bin, settings string, o *oracle) (*session, error) {
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
		text := o.ask(r.Context(), "<|fim_prefix|>"+body.Segments.Prefix+"<|fim_suffix|>"+body.Segments.Suffix+"<|fim_middle|>")
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
	text := fmt.Sprintf("[server]\nendpoint = \"http://%s\"\ntoken = \"none\"\n[anonymousUsageTracking]\ndisable = true\n%s", l.Addr(), settings)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, "--lsp", "--stdio")
	cmd.Env = append(os.Environ(), "HOME="+home)
	s, err := connect(cmd, nil)
	if err != nil {
		return nil, err
	}
	s.atEnd(func() {
		server.Close()
		os.RemoveAll(home)
	})
	time.Sleep(2 * time.Second)
	return s, nil
}

// startLSPAI gives lsp-ai the configuration its documentation has for Ollama and
// fill-in-the-middle; it asks at most so often a second, by default once.
func startLSPAI(bin string, perSecond float64, o *oracle) (*session, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Prompt string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text := o.ask(r.Context(), body.Prompt)
		select {
		case <-time.After(latency):
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"model": "stand-in", "response": text, "done": true})
	})}
	go server.Serve(l)
	s, err := connect(exec.Command(bin), map[string]any{
		"memory": map[string]any{"file_store": map[string]any{}},
		"models": map[string]any{"model": map[string]any{
			"type": "ollama", "model": "stand-in", "generate_endpoint": fmt.Sprintf("http://%s/api/generate", l.Addr()),
			"max_requests_per_second": perSecond,
		}},
		"completion": map[string]any{"model": "model", "parameters": map[string]any{
			"max_context": 2000,
			"fim":         map[string]any{"start": "<|fim_prefix|>", "middle": "<|fim_suffix|>", "end": "<|fim_middle|>"},
			"options":     map[string]any{"num_predict": 128},
		}},
	})
	if err != nil {
		server.Close()
		return nil, err
	}
	s.atEnd(func() {
		server.Close()
	})
	return s, nil
}

// atEnd has something done once the server is closed.
func (s *session) atEnd(do func()) {
	end := s.close
	s.close = func() {
		end()
		do()
	}
}

// pipes is a process's standard input and output as one connection.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

func connect(cmd *exec.Cmd, options any) (*session, error) {
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
	conn := headless.NewConn(pipes{out, in}, func(json.RawMessage, string, json.RawMessage) (any, error) { return nil, nil }, func(string, json.RawMessage) {})
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
		"initializationOptions": options,
		"clientInfo":            map[string]any{"name": "peer"},
		"capabilities":          map[string]any{"textDocument": map[string]any{"inlineCompletion": map[string]any{}, "completion": map[string]any{}}},
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
