//go:build editors

package vscode_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// TestStatus looks at the status bar, and chooses what its menu offers, as test/status.mjs says.
func TestStatus(t *testing.T) {
	ollama := modeltest.NewServer(t)
	ollama.SetModels(modeltest.Model{Name: "granite-code:3b"})
	ollama.HoldPulls(make(chan struct{})) // at 40 percent, until it is cancelled
	ollama.Stop()
	dir := t.TempDir()
	workspace, started, process := filepath.Join(dir, "shop"), filepath.Join(dir, "started"), filepath.Join(dir, "process")
	editortest.WriteFile(t, filepath.Join(workspace, "shop.ts"), shop)
	editortest.WriteFile(t, filepath.Join(workspace, ".vscode", "settings.json"), "{}")
	editortest.WriteFile(t, filepath.Join(workspace, "list.go"), "package main\n\nimport \"os\"\n\nfunc main() {\n")
	// VS Code has a PATH of its own, so that what is in this folder is put before it by a program of quarry's name.
	editortest.WriteFile(t, filepath.Join(dir, "bin", "quarry"),
		fmt.Sprintf("#!/bin/sh\necho $$ >%s\nPATH=%s:$PATH exec %s \"$@\"\n", process, filepath.Join(dir, "bin"), filepath.Join(editortest.QuarryFolder, "quarry")))
	editortest.WriteFile(t, filepath.Join(dir, "bin", "ollama"), // runs until its folder is removed
		fmt.Sprintf("#!/bin/sh\necho \"$OLLAMA_HOST $*\" >%s\nwhile [ -e \"$0\" ]; do sleep 1; done\n", started))
	for _, program := range []string{"quarry", "ollama"} {
		if err := os.Chmod(filepath.Join(dir, "bin", program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set := func(settings string) error {
		return os.WriteFile(filepath.Join(dir, "config", "quarry", "settings.json"), []byte(settings), 0o600)
	}
	editortest.WriteFile(t, filepath.Join(dir, "config", "quarry", "settings.json"), fmt.Sprintf(`{"ollama.url": %q}`, ollama.URL))
	host := elsewhere(t, ollama.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()

	codeServer := made(t)
	at := serve(t, codeServer, workspace, vsix, filepath.Join(dir, "bin", "quarry"), "OLLAMA_HOST=", "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	live(t, "status.mjs", codeServer, at, steps(t, map[string]func() (string, error){
		"start": func() (string, error) {
			said, err := written(ctx, started, "")
			if err != nil {
				return "", fmt.Errorf("Ollama was not started: %w", err)
			}
			if want := ollama.URL + " serve\n"; said != want && "http://"+said != want {
				return "", fmt.Errorf("Ollama was started with %q, want %q", said, want)
			}
			return "", ollama.Restart()
		},
		"workspace": func() (string, error) {
			return "", os.WriteFile(filepath.Join(workspace, ".vscode", "settings.json"), []byte(`{"quarry.completion.enabled": true, "quarry.ollama.enabled": false}`), 0o600)
		},
		"plain": func() (string, error) {
			return "", os.WriteFile(filepath.Join(workspace, ".vscode", "settings.json"), []byte(`{}`), 0o600)
		},
		"gone": func() (string, error) {
			return "gpu.invalid:11434", set(`{"ollama.url": "http://gpu.invalid:11434", "ollama.allowRemote": true}`)
		},
		"elsewhere": func() (string, error) {
			if host == "" {
				return "", nil
			}
			return host, set(fmt.Sprintf(`{"ollama.url": "http://%s", "ollama.allowRemote": true}`, host))
		},
		"off": func() (string, error) { return "", set(`{"ollama.enabled": false}`) },
		"kill": func() (string, error) {
			said, err := written(ctx, process, "")
			if err != nil {
				return "", err
			}
			pid, err := strconv.Atoi(strings.TrimSpace(said))
			if err != nil {
				return "", err
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				return "", err
			}
			_, err = written(ctx, process, said)
			return "", err
		},
	}))
}

// written is the line in a file, once it is there and another than before.
func written(ctx context.Context, file, before string) (string, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if said := string(text); strings.HasSuffix(said, "\n") && said != before {
			return said, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
	}
}

// elsewhere is an address of this machine that other machines have, too, of which what is asked is passed on to another; "" where there is none.
func elsewhere(t *testing.T, to string) string {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip, ok := address.(*net.IPNet)
		if !ok || ip.IP.To4() == nil || ip.IP.IsLoopback() {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(ip.IP.String(), "0"))
		if err != nil {
			continue // an address that is not up
		}
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.FlushInterval = -1 // a word at a time
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The proxy would break off an answer that begins before it has seen the end of the body: its own server closes that then.
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // who asked has gone
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			proxy.ServeHTTP(w, r)
		})}
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		t.Cleanup(func() {
			_ = server.Close()
			if err := <-served; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
		return l.Addr().String()
	}
	t.Log("this machine has no address but loopback: a model on another machine that answers is not looked at")
	return ""
}
