package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// While what a session reads from is lost or overwritten by another program, each answer is
// right, says that it is incomplete, or that it is not ready; and it is right again soon.
func TestCallsWhileTheSnapshotIsSpoilt(t *testing.T) {
	for how, spoil := range map[string]func(t *testing.T, name string){
		"made shorter": func(t *testing.T, name string) {
			if err := os.Truncate(name, 100); err != nil {
				t.Fatal(err)
			}
		},
		"overwritten with zeros": func(t *testing.T, name string) {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(make([]byte, info.Size()), 0); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for over, speak := range map[string]func(*testing.T, string, string) func(string, map[string]any) string{"MCP": overMCP, "LSP": overLSP} {
			t.Run(how+"/"+over, func(t *testing.T) {
				for _, c := range firstCalls {
					if strings.Contains(c.tool, "/") && over == "MCP" || c.tool == "rename_symbol" && over == "LSP" {
						continue // a method of the language server; what asks a user, who is not there
					}
					root, stateDir := barn(t), t.TempDir()
					addTools(t, root)
					kept := filepath.Join(filepath.Dir(indexBarn(t, root, stateDir)), "snapshot")
					session := speak(t, root, stateDir)
					for got := ""; !strings.Contains(got, "barn/a.go") || strings.Contains(got, `"incomplete"`); { // all is read
						got = session("search_text", map[string]any{"query": "ripe apples"})
					}
					spoil(t, kept)
					for right := false; !right; { // the deadline of the session ends this
						got := session(c.tool, c.args)
						right = strings.Contains(got, c.want) && strings.Contains(got, `"backend"`)
						said := strings.Contains(got, `"incomplete":{`) || strings.Contains(got, `"not_ready"`)
						if !right && !said {
							t.Errorf("%s: %s", c.tool, got)
							break
						}
					}
				}
			})
		}
	}
}
