package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/model/modeltest"
)

// A server of a team as docs/models.md has it: OpenAI's interface as strict as vLLM's, over TLS, with a
// key from the environment, which sends the first two requests of each command away for a moment. Where the
// certificate is not trusted or another's or the key is wrong nothing is asked, and the user is told what to do.
// Only on Linux do programs read SSL_CERT_FILE.
func TestTeamServer(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.LikeVLLM()
	fake.SetAPIKey("the-key-of-the-team")
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"sum(values)", "\n"}}
	})
	behind, err := url.Parse(fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.FlushInterval = -1
	var asked, sentAway atomic.Int64
	gateway := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); n <= 2 { // less often than one request is tried
			sentAway.Add(1)
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[n-1])
			return
		}
		// The proxy would break off an answer that begins before it has seen the end of the body: its
		// own server closes that then.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	defer gateway.Close()
	certificate := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: gateway.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	userSettings(t, `{"model": "granite4.1:3b", "embedding.enabled": false, "ollama": {"api": "openai", "url": "`+gateway.URL+`/v1"}}`)
	withoutHost(t)
	root, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.py"), []byte("def mean(values):\n    return \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	quarry := func(authority, key string, args ...string) (string, error) {
		asked.Store(0)
		cmd := exec.CommandContext(t.Context(), "quarry", append(args, "--workspace", root, "--state-dir", state)...) // its own process reads its own certificates
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+authority, "QUARRY_OLLAMA_API_KEY="+key, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := quarry("/dev/null", "the-key-of-the-team", "doctor")
	if err == nil || !strings.Contains(out, "untrusted certificate") || !strings.Contains(out, "SSL_CERT_FILE") || len(fake.Prompts()) > 0 {
		t.Errorf("an unknown authority: %v\n%s", err, out)
	}
	t.Setenv("QUARRY_OLLAMA_URL", strings.Replace(gateway.URL, "127.0.0.1", "localhost", 1))
	out, err = quarry(certificate, "the-key-of-the-team", "doctor")
	if err == nil || !strings.Contains(out, "certificate for another name") || !strings.Contains(out, "set the address to that name, or ") || !strings.Contains(out, "certificate is valid for example.com, *.example.com, not localhost") || strings.Contains(out, "authority") || len(fake.Prompts()) > 0 {
		t.Errorf("a certificate for another name: %v\n%s", err, out)
	}
	if err := os.Unsetenv("QUARRY_OLLAMA_URL"); err != nil {
		t.Fatal(err)
	}
	out, err = quarry(certificate, "another", "doctor")
	if err == nil || !strings.Contains(out, "refuses the API key") || len(fake.Prompts()) > 0 {
		t.Errorf("a wrong key: %v\n%s", err, out)
	}
	out, err = quarry(certificate, "the-key-of-the-team", "doctor")
	if err != nil || !strings.Contains(out, "Everything works") || sentAway.Load() == 0 {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = quarry(certificate, "the-key-of-the-team", "complete", filepath.Join(root, "a.py")+":2:12", "--json")
	if err != nil || !strings.Contains(out, "sum(values)") || !strings.Contains(out, `"granite4.1:3b"`) {
		t.Errorf("%v\n%s", err, out)
	}
}
