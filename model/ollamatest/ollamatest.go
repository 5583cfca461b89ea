// Package ollamatest runs a real Ollama with generated models for tests: a
// Granite that completes, and a BERT that embeds.
//
// The binary is the one testdata/models/ollama.sh builds (`make ollama`). Where
// it is missing a test is skipped with the reason, except under CI=true, where
// it fails. Every Server has its own model folder, home and free loopback port,
// and dies with the test process even if that is killed.
package ollamatest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
)

// DefaultModel is the name Start gives the Tiny Granite.
const DefaultModel = "granite4.1:3b"

// Server is one running Ollama.
type Server struct {
	// URL is its base address; it stays the same over Kill and Restart.
	URL string

	t    testing.TB
	bin  string
	dir  string
	host string
	log  *logBuffer
	proc *process
}

// Start runs an Ollama that has the Tiny Granite as DefaultModel, and stops it
// when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := StartEmpty(t)
	s.Create(DefaultModel, Tiny)
	return s
}

// StartEmpty is Start without any model.
func StartEmpty(t testing.TB) *Server {
	t.Helper()
	return startEmpty(t, Binary(t))
}

// StartVersion is StartEmpty with another version than the one that all else is tested
// with; where it was not built the test is skipped.
func StartVersion(t testing.TB, version string) *Server {
	t.Helper()
	script := exec.Command("bash", findScript(), "--path")
	script.Env = append(os.Environ(), "QUARRY_OLLAMA_VERSION="+version)
	out, err := script.Output()
	bin := strings.TrimSpace(string(out))
	if err == nil {
		_, err = os.Stat(bin)
	}
	if err != nil {
		t.Skipf("no Ollama %s to test against: run `make ollama-current` once (%v)", version, err)
	}
	return startEmpty(t, bin)
}

func startEmpty(t testing.TB, bin string) *Server {
	t.Helper()
	s := &Server{t: t, bin: bin, dir: t.TempDir(), log: &logBuffer{}}
	s.host = freeAddress(t)
	s.URL = "http://" + s.host
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("Ollama's log ends:\n%s", s.log.tail(4000))
		}
	})
	s.Restart()
	return s
}

// Models is the folder of the server's models.
func (s *Server) Models() string { return filepath.Join(s.dir, "models") }

// Binary is the path of the Ollama under test; where there is none it ends the test.
func Binary(t testing.TB) string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	if runtime.GOOS == "windows" {
		missing("the real Ollama is run through a Unix shell")
	}
	script := findScript()
	out, err := exec.Command("bash", script, "--path").Output()
	if err != nil {
		missing("%s --path: %v", script, err)
	}
	bin := strings.TrimSpace(string(out))
	if _, err := os.Stat(bin); err != nil {
		missing("no real Ollama to test against: run `make ollama` once (%v)", err)
	}
	return bin
}

// findScript answers the script that builds Ollama: in the working directory, which is
// the package's in a test, or above it. The path of this file would not do, of which a
// binary built with -trimpath knows nothing.
func findScript() string {
	script := filepath.Join("testdata", "models", "ollama.sh")
	dir, _ := os.Getwd() // "" is the working directory too
	for {
		path := filepath.Join(dir, script)
		if _, err := os.Stat(path); err == nil || dir == filepath.Dir(dir) {
			return path
		}
		dir = filepath.Dir(dir)
	}
}

// freeAddress is a loopback address where nobody listens. Its port lies below those
// that systems hand out, so that no other test and no outgoing connection gets it
// before Ollama does, or while Ollama is killed.
func freeAddress(t testing.TB) string {
	t.Helper()
	const lowest, ports, tries = 20_000, 12_000, 50
	for range tries {
		address := fmt.Sprintf("127.0.0.1:%d", lowest+rand.IntN(ports))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatalf("no port for Ollama among %d from %d to %d", tries, lowest, lowest+ports)
	return ""
}

// Restart starts the process again after Kill and returns once it answers.
func (s *Server) Restart() {
	s.t.Helper()
	env := append(os.Environ(),
		"OLLAMA_HOST="+s.host, "OLLAMA_MODELS="+s.Models(), "HOME="+s.dir,
		"OLLAMA_NUM_PARALLEL=1", "OLLAMA_KEEP_ALIVE=5m", "OLLAMA_CONTEXT_LENGTH=4096",
		"CUDA_VISIBLE_DEVICES=-1", "OLLAMA_VULKAN=0",
		"OLLAMA_DEBUG=1", // for Evaluated
	)
	p, err := startProcess(s.bin, env, s.log)
	if err != nil {
		s.t.Fatalf("start %s: %v", s.bin, err)
	}
	s.proc = p
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.client().Heartbeat(ctx) != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("Ollama did not answer at %s within a minute; its log:\n%s", s.URL, s.log.tail(4000))
		}
	}
}

// Kill ends the process and its runners at once, as kill -9 does.
func (s *Server) Kill() {
	if s.proc != nil {
		s.proc.kill()
		s.proc = nil
	}
}

// Loads is how many models were loaded into memory so far.
func (s *Server) Loads() int { return strings.Count(s.log.tail(-1), `msg="starting go runner"`) }

// AbortedLoads is how many of these were thrown away because the request that
// wanted the model was cancelled.
func (s *Server) AbortedLoads() int { return strings.Count(s.log.tail(-1), "aborting load") }

var loadingSlot = regexp.MustCompile(`msg="loading cache slot".* prompt=([0-9]+) .*remaining=([0-9]+)`)

// Evaluated is how many tokens of the latest prompt that has this many of them did not
// stand in the key-value cache; ok is false until the log says so, which may come after
// the answer, and after the answers to other prompts.
func (s *Server) Evaluated(promptTokens int) (n int, ok bool) {
	for _, m := range loadingSlot.FindAllStringSubmatch(s.log.tail(-1), -1) {
		if m[1] == strconv.Itoa(promptTokens) {
			n, _ = strconv.Atoi(m[2])
			ok = true
		}
	}
	return n, ok
}

// Loaded is what /api/ps says about the models in memory.
func (s *Server) Loaded() []api.ProcessModelResponse {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ps, err := s.client().ListRunning(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return ps.Models
}

// Unload has a model dropped from memory, as another program may, and returns
// when it is gone.
func (s *Server) Unload(model string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req := &api.GenerateRequest{Model: model, KeepAlive: &api.Duration{}}
	if err := s.client().Generate(ctx, req, func(api.GenerateResponse) error { return nil }); err != nil {
		s.t.Fatalf("unload %s: %v", model, err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(s.Loaded()) > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("%s is still in memory after a minute", model)
		}
	}
}

// Create gives the server a generated Granite under this name. The model runs
// on one thread: it is too small to share.
func (s *Server) Create(model string, shape Shape) {
	s.t.Helper()
	s.createGranite(model, shape, chatTemplate)
}

// CreatePlain is Create without a chat template.
func (s *Server) CreatePlain(model string, shape Shape) {
	s.t.Helper()
	s.createGranite(model, shape, "")
}

func (s *Server) createGranite(model string, shape Shape, template string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "model.gguf")
	if err := WriteGranite(path, shape); err != nil {
		s.t.Fatal(err)
	}
	s.CreateFromFile(model, path, template, map[string]any{"num_thread": 1})
}

// chatTemplate has the shape of Granite 4's: roles in special tokens, tools in
// the system turn, and no place for a suffix.
const chatTemplate = `{{- if .Tools }}<|start_of_role|>system<|end_of_role|>tools:
{{- range .Tools }} {{ . }}{{ end }}<|end_of_text|>
{{ end }}
{{- range .Messages }}<|start_of_role|>{{ .Role }}<|end_of_role|>{{ .Content }}<|end_of_text|>
{{ end }}<|start_of_role|>assistant<|end_of_role|>`

// CreateBert gives the server a generated embedding model under this name.
func (s *Server) CreateBert(model string, shape BertShape) {
	s.t.Helper()
	path := filepath.Join(s.dir, "bert.gguf")
	if err := WriteBert(path, shape); err != nil {
		s.t.Fatal(err)
	}
	s.CreateFromFile(model, path, "", map[string]any{"num_thread": 1})
}

// CreateFromFile imports a GGUF file with this chat template, Ollama's plain one
// if empty, and these parameters.
func (s *Server) CreateFromFile(model, path, template string, parameters map[string]any) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	f, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		s.t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		s.t.Fatal(err)
	}
	digest := fmt.Sprintf("sha256:%x", sum.Sum(nil))
	if err := s.client().CreateBlob(ctx, digest, f); err != nil {
		s.t.Fatalf("create blob: %v", err)
	}
	req := &api.CreateRequest{Model: model, Files: map[string]string{filepath.Base(path): digest}, Template: template, Parameters: parameters}
	if err := s.client().Create(ctx, req, func(api.ProgressResponse) error { return nil }); err != nil {
		s.t.Fatalf("create %s: %v", model, err)
	}
}

func (s *Server) client() *api.Client {
	u, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	return api.NewClient(u, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
}

// logBuffer collects the output of the processes.
type logBuffer struct {
	mu   sync.Mutex // guards data
	data []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	return len(p), nil
}

// tail is the last n bytes, everything for n < 0.
func (b *logBuffer) tail(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 || n > len(b.data) {
		n = len(b.data)
	}
	return string(b.data[len(b.data)-n:])
}
