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
	"quarry/model/modeltest"
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
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Prompt, "<|start_of_role|>") || r.NumPredict() == 1 {
			return modeltest.Answer{} // no ghost text
		}
		text := "Totals are added up item by item.\n\n- `total` adds every Count (shop.ts:6-12)\n- an Item has one (shop.ts:1-4)\n"
		switch {
		case strings.Contains(r.Prompt, "\nExplain it."):
			text = "There is no Counts: the interface Item has Name and Count (shop.ts:1-4).\n\nFix: write item.Count.\n"
		case strings.Contains(r.Prompt, "\nFix it."):
			text = "The property is named `Count` (shop.ts:1-4).\n```diff\n--- a/shop.ts\n+++ b/shop.ts\n@@\n   for (const item of items) {\n" +
				"-    n += item.Counts;\n+    n += item.Count;\n   }\n```\n"
		case strings.Contains(r.Prompt, "\nSimplify lines"):
			text = "A plainer name for `n` (shop.ts:6-12).\n```diff\n--- a/shop.ts\n+++ b/shop.ts\n@@\n" +
				"-  let n = 0;\n+  let sum = 0;\n   for (const item of items) {\n-    n += item.Counts;\n+    sum += item.Counts;\n   }\n-  return n;\n+  return sum;\n```\n"
		}
		return modeltest.Answer{Pieces: strings.SplitAfter(text, " "), Gate: current()}
	})
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
