//go:build editors

package vscode_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// TestAnswers asks, writes on while the answer comes, stops it, and asks again, as test/answers.mjs says.
func TestAnswers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	gate := make(chan struct{})
	model := shopModel(t, "Count", always(gate))
	workspace := filepath.Join(t.TempDir(), "shop")
	editortest.WriteFile(t, filepath.Join(workspace, "shop.ts"), shop)
	codeServer := made(t)
	live(t, "answers.mjs", codeServer, start(t, codeServer, workspace, model.URL), steps(t, map[string]func() (string, error){
		"begin": func() (string, error) { // to the end of the first point
			for range 13 {
				select {
				case gate <- struct{}{}:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			return "", nil
		},
		"stopped": func() (string, error) {
			return "", model.Wait(ctx, func(all []modeltest.Request) bool {
				return slices.ContainsFunc(all, func(r modeltest.Request) bool {
					return r.Outcome == modeltest.Cancelled && strings.Contains(r.Sent, "adds every Count")
				})
			})
		},
		"speak": func() (string, error) {
			close(gate)
			return "", nil
		},
	}))
}
