package main

import (
	"slices"
	"strings"
	"testing"

	"quarry/model/modeltest"
)

// The model that the settings name for a language completes it, the usual one everything else,
// and that language too while the other cannot be asked.
func TestModelOfALanguage(t *testing.T) {
	userSettings(t, `{"completion": {"models": {"python": "python:1b", "rust": "missing:1b"}}}`)
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "python:1b", Tags: []string{"<fim_prefix>", "<fim_suffix>", "<fim_middle>"}})
	fake.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"values", "\n"}}
	})
	ctx, e := serveEditor(t, "vscode", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	// asks has ghost text asked for in a new document until it is by a model.
	asks := func(name, language, by string) {
		t.Helper()
		before := len(fake.Prompts())
		for n := 0; ctx.Err() == nil; n++ {
			b, err := e.Open(strings.Repeat("x", n%50+1)+name, language, "a = "+strings.Repeat("b", n)+"\nreturn ")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Seek("return "); err != nil {
				t.Fatal(err)
			}
			if err := e.Complete(ctx, b, true); err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(fake.Prompts()[before:], func(r modeltest.Request) bool { return r.Model == by && strings.Contains(r.Prompt, "return ") }) {
				return
			}
		}
		t.Fatalf("%s was never asked for %s", by, name)
	}
	asks("a.go", "go", "granite4.1:3b")
	asks("a.py", "python", "python:1b")
	last := fake.Prompts()
	if prompt := last[len(last)-1].Prompt; !strings.Contains(prompt, "<fim_prefix>") {
		t.Errorf("the prompt is of another family: %q", prompt)
	}
	asks("b.go", "go", "granite4.1:3b")
	asks("a.rs", "rust", "granite4.1:3b")
	err := e.Await(ctx, func() bool {
		return slices.ContainsFunc(e.Shown(), func(m string) bool {
			return strings.Contains(m, "missing:1b") && strings.Contains(m, "Until then, granite4.1:3b completes in its place")
		})
	})
	if err != nil {
		t.Errorf("told %q", e.Shown())
	}
}
