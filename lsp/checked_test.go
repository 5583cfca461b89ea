package lsp_test

import (
	"slices"
	"strings"
	"testing"

	"quarry/lsp/headless"
	"quarry/lsp/text"
)

// TestSyntaxErrors: they are told when the user wants them, follow the text, and
// are taken back when it is right, closed, or nobody wants them any more.
func TestSyntaxErrors(t *testing.T) {
	setting := func(wanted bool) any { return map[string]any{"diagnostics": map[string]any{"syntax": wanted}} }
	e := edit(t, "vscode", &core{}, func(o *headless.Options) { o.InitializationOptions, o.Configuration = setting(true), setting(true) })
	const sound = "package a\n\nfunc f() { g(1) }\n"
	b := open(t, e, "a.go", "go", "package a\n\nfunc f() { g(1 }\n")
	await := func(want ...string) {
		t.Helper()
		sent := func() bool {
			got := e.Published(b)
			return got != nil && slices.EqualFunc(got, want, func(d headless.Diagnostic, message string) bool { return d.Message == message })
		}
		if err := e.Await(soon(t), sent); err != nil {
			t.Fatalf("told %+v, want %q: %v", e.Published(b), want, err)
		}
	}
	const missing = "Syntax error: ) is missing"
	await(missing)
	replace := func(text string) {
		t.Helper()
		if err := e.Replace(b, 0, b.Text.Len(), text); err != nil {
			t.Fatal(err)
		}
	}
	replace(sound)
	await()
	replace("package a\n\nfunc f() { g(1 }\n")
	await(missing)
	if err := e.Configure(setting(false)); err != nil {
		t.Fatal(err)
	}
	await()
	if err := e.Configure(setting(true)); err != nil {
		t.Fatal(err)
	}
	await(missing)
	if err := e.CloseDocument("a.go"); err != nil {
		t.Fatal(err)
	}
	await()
}

// Errors are taken back by the name that the client has for the document, also when it is closed.
func TestSyntaxErrorsOfADocumentSpelledOtherwise(t *testing.T) {
	setting := map[string]any{"diagnostics": map[string]any{"syntax": true}}
	e := edit(t, "vscode", &core{}, func(o *headless.Options) { o.InitializationOptions, o.Configuration = setting, setting })
	const broken = "package a\n\nfunc f() { g(1 }\n"
	b := &headless.Buffer{Text: text.New(broken), URI: strings.Replace(headless.FileURI("a.go"), "file:///", "file://localhost/", 1)}
	document := map[string]any{"uri": b.URI, "languageId": "go", "version": 1, "text": broken}
	if err := e.Notify("textDocument/didOpen", map[string]any{"textDocument": document}); err != nil {
		t.Fatal(err)
	}
	if err := e.Await(soon(t), func() bool { return len(e.Published(b)) == 1 }); err != nil {
		t.Fatalf("told %+v: %v", e.Published(b), err)
	}
	if err := e.Notify("textDocument/didClose", map[string]any{"textDocument": document}); err != nil {
		t.Fatal(err)
	}
	if err := e.Await(soon(t), func() bool { return len(e.Published(b)) == 0 }); err != nil {
		t.Fatalf("left: %+v: %v", e.Published(b), err)
	}
}

// A text whose lines a program wrote is not checked, and what was told of it before is
// taken back.
func TestMinifiedTextIsNotChecked(t *testing.T) {
	e := edit(t, "vscode", &core{}, func(o *headless.Options) {
		o.Configuration = map[string]any{"diagnostics": map[string]any{"syntax": true}}
	})
	b := open(t, e, "a.js", "javascript", "let a = = 1\n")
	if err := e.Await(soon(t), func() bool { return len(e.Published(b)) > 0 }); err != nil {
		t.Fatal(err)
	}
	if err := e.Replace(b, 0, 0, strings.Repeat("f(a);", 10_000)); err != nil {
		t.Fatal(err)
	}
	if err := e.Await(soon(t), func() bool { return len(e.Published(b)) == 0 }); err != nil {
		t.Errorf("told of a minified text: %v", e.Published(b))
	}
}
