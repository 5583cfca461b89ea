//go:build unix

package model_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that nobody writes to, and a device, are no models, and are not waited for.
func TestImportRefusesPipes(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	l := library(t, server.URL)
	pipe := filepath.Join(t.TempDir(), "m.gguf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		if _, err := l.Import(t.Context(), path, "m", "", func(string, int64, int64) {}, taken); err == nil || !strings.Contains(err.Error(), "is not a regular file; give the path of a GGUF file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests", asked)
	}
}
