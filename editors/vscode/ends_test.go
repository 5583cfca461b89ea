//go:build editors

package vscode_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/editors/editortest"
)

// TestServersEnd has servers end, by a restart and by a kill, while changes and answers are there or under way, as test/ends.mjs says.
func TestServersEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	free := make(chan struct{})
	close(free)
	var mu sync.Mutex
	gate := free // guarded by mu
	current := func() chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		return gate
	}
	model := shopModel(t, "Counts", func() <-chan struct{} { return current() })
	workspace := filepath.Join(t.TempDir(), "shop")
	file := filepath.Join(workspace, "shop.ts")
	editortest.WriteFile(t, file, shop)
	codeServer := made(t)
	live(t, "ends.mjs", codeServer, start(t, codeServer, workspace, model.URL), steps(t, map[string]func() (string, error){
		"hold": func() (string, error) {
			mu.Lock()
			defer mu.Unlock()
			gate = make(chan struct{})
			return "", nil
		},
		"begin": func() (string, error) { // to the end of the first point
			for range 13 {
				select {
				case current() <- struct{}{}:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			return "", nil
		},
		"speak": func() (string, error) {
			mu.Lock()
			defer mu.Unlock()
			close(gate)
			gate = free
			return "", nil
		},
		"kill": killServer,
		"fixed": func() (string, error) {
			return "", has(file, strings.Replace(shop, "Counts", "Count", 1))
		},
	}))
}

// killServer kills the server under test, which VS Code runs.
func killServer() (string, error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return "", err
	}
	killed := 0
	for _, each := range all {
		pid, err := strconv.Atoi(each.Name())
		if err != nil {
			continue
		}
		if exe, err := os.Readlink(filepath.Join("/proc", each.Name(), "exe")); err != nil || exe != filepath.Join(editortest.QuarryFolder, "quarry") {
			continue
		}
		process, err := os.FindProcess(pid)
		if err := errors.Join(err, process.Kill()); err != nil {
			return "", err
		}
		killed++
	}
	if killed != 1 {
		return "", fmt.Errorf("%d servers were there to be killed", killed)
	}
	return "", nil
}
