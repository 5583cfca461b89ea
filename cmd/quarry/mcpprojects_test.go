package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// T10: one server answers for the folders that the client works in, or for the repository that a
// call names, worktrees among them, and needs no path to start with.
func TestManyProjects(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"api/.git/HEAD": "ref: refs/heads/main\n", "api/serve.go": "package api\n\nfunc ServeApples() {}\n",
		"web/.git/HEAD": "ref: refs/heads/main\n", "web/render.go": "package web\n\nfunc RenderPears() {}\n",
		"web/deep/er/page.go": "package er\n\nfunc Page() {}\n",
		"tree/.git":           "gitdir: ../api/.git/worktrees/tree\n", "tree/serve.go": "package api\n\nfunc ServeCherries() {}\n",
		"loose/notes.go": "package loose\n\nfunc Tomato() {}\n",
		"here/.git/HEAD": "ref: refs/heads/main\n", "here/here.go": "package here\n\nfunc HereIAm() {}\n",
	} {
		writeText(t, filepath.Join(top, filepath.FromSlash(name)), text)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	root := func(name string) *sdk.Root {
		path := filepath.ToSlash(at(name))
		if !strings.HasPrefix(path, "/") { // C:/
			path = "/" + path
		}
		return &sdk.Root{URI: (&url.URL{Scheme: "file", Path: path}).String()}
	}
	t.Chdir(at("here"))
	functions := func(call func(string, map[string]any) string, repository string) string {
		args := map[string]any{"pattern": "^func"}
		if repository != "" {
			args["repository"] = repository
		}
		return call("search_regex", args)
	}
	newest := func() *sdk.Client { return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil) }

	for _, version := range []string{"2025-06-18", ""} {
		_, call := connectMCP(t, newest(), version)
		for _, c := range []struct{ repository, want, not string }{
			{"", "HereIAm", "Apples"}, {at("api"), "ServeApples", "HereIAm"}, {at("web/deep/er"), "RenderPears", "Apples"}, {at("web/deep/er/page.go"), "RenderPears", "Apples"},
			{"api", "ServeApples", "HereIAm"}, {"here", "HereIAm", "Apples"}, {at("tree"), "ServeCherries", "Apples"}, {"tree", "ServeCherries", "Apples"}, {"", "HereIAm", "Apples"},
			{at("loose"), "is in no repository", "Tomato"}, {at("gone"), "is not there", "func"}, {"nowhere", "give the whole path", "func"},
			{`\\evil.example\share`, "is on another machine", "func"}, {"//evil.example/share/x", "is on another machine", "func"},
		} {
			if got := functions(call, c.repository); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("%q of version %q answers %s", c.repository, version, got)
			}
		}
	}

	// A client that says where it works.
	for _, version := range []string{"2025-06-18", ""} {
		with := newest()
		with.AddRoots(root("api"), root("web"), root("gone"), &sdk.Root{URI: "https://example.com/x"})
		_, call := connectMCP(t, with, version)
		for _, c := range []struct{ repository, want, not string }{
			{"", "api/serve.go:3-3 func ServeApples", "HereIAm"}, {"", "web/render.go:3-3 func RenderPears", "HereIAm"}, {"web", "render.go:3-3 func RenderPears", "Apples"},
			{at("web/deep"), "RenderPears", "Apples"}, {at("tree"), "ServeCherries", "Apples"}, {"gone", "no repository", "func"},
		} {
			if got := functions(call, c.repository); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("roots: %q of version %q answers %s", c.repository, version, got)
			}
		}
		if version == "" {
			continue // there no root is announced; the next call would have to say so
		}
		with.RemoveRoots(root("api").URI)
		// The notification is taken before the call that is sent behind it.
		if got := functions(call, ""); strings.Contains(got, "Apples") || !strings.Contains(got, "RenderPears") {
			t.Errorf("after a root went: %s", got)
		}
	}

	// A client that works in a folder that is not there is not answered about another one, until
	// it is made.
	for i, version := range []string{"2025-06-18", ""} {
		late := "late" + version
		with := newest()
		with.AddRoots(root(late))
		_, call := connectMCP(t, with, version)
		if got := functions(call, ""); !strings.Contains(got, late+"; name a repository") || !strings.Contains(got, "not_found") || strings.Contains(got, "HereIAm") {
			t.Errorf("%d: a root that is not there answers %s", i, got)
		}
		if got := functions(call, at("api")); !strings.Contains(got, "ServeApples") {
			t.Errorf("%d: another repository answers %s", i, got)
		}
		writeText(t, filepath.Join(at(late), "late.go"), "package late\n\nfunc BetterLate() {}\n")
		if got := functions(call, ""); !strings.Contains(got, "BetterLate") {
			t.Errorf("%d: once it is there it answers %s", i, got)
		}
	}

	// --workspace is a pin.
	_, call := connectMCP(t, newest(), "2025-06-18", "--workspace", at("api"))
	for _, c := range []struct{ repository, want, not string }{
		{"", "ServeApples", "HereIAm"}, {at("api"), "ServeApples", "HereIAm"}, {"api", "ServeApples", "x"}, {at("web"), "started with --workspace", "Pears"}, {"web", "started with --workspace", "Pears"},
	} {
		if got := functions(call, c.repository); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("pinned: %q answers %s", c.repository, got)
		}
	}
}
