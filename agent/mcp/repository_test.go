package mcp

import (
	"encoding/json"
	"testing"
)

func TestTakeRepository(t *testing.T) {
	for _, c := range []struct{ in, repository, rest string }{
		{`{"query":"x","repository":"/src/a"}`, "/src/a", `{"query":"x"}`},
		{`{"query":"x"}`, "", `{"query":"x"}`},
		{`{"repository":5}`, "5", `{}`},
		{`[1]`, "", `[1]`},
		{``, "", ``},
	} {
		if repository, rest := takeRepository(json.RawMessage(c.in)); repository != c.repository || string(rest) != c.rest {
			t.Errorf("%s: %q %s", c.in, repository, rest)
		}
	}
}

// A root is one folder on Windows, however an agent spells its drive.
func TestPathsOfRootsOnWindows(t *testing.T) {
	for path, want := range map[string]string{
		"/C:/src":          `C:\src`,
		"/c:/src/a b":      `C:\src\a b`,
		"/C:":              `C:`,
		"//server/share/x": `\\server\share\x`,
		"/x":               `\x`,
	} {
		if got := windowsPath(path); got != want {
			t.Errorf("%s: %s; want %s", path, got, want)
		}
	}
}
