// Command compiler is a language server that reports one error for each "Counts"
// in a document: the other server of the editor tests, whose problems quarry
// explains and fixes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"quarry/lsp/headless"
)

func main() {
	var conn *headless.Conn
	ready := make(chan struct{})
	answer := func(_ json.RawMessage, method string, _ json.RawMessage) (any, error) {
		if method == "initialize" {
			const full = 1
			return map[string]any{"capabilities": map[string]any{"textDocumentSync": full}}, nil
		}
		return nil, nil
	}
	observe := func(method string, params json.RawMessage) {
		<-ready
		switch method {
		case "exit":
			os.Exit(0)
		case "textDocument/didOpen", "textDocument/didChange":
			if err := report(conn, params); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	conn = headless.NewConn(stdio{os.Stdin, os.Stdout}, answer, observe)
	close(ready)
	<-conn.Done()
}

// report publishes the errors of a document that was opened or changed.
func report(conn *headless.Conn, params json.RawMessage) error {
	var p struct {
		TextDocument   struct{ URI, Text string }
		ContentChanges []struct{ Text string }
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	text := p.TextDocument.Text
	for _, change := range p.ContentChanges {
		text = change.Text
	}
	found := []any{}
	for number, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "Counts"); at >= 0 {
			place := func(character int) any { return map[string]int{"line": number, "character": character} }
			found = append(found, map[string]any{
				"range": map[string]any{"start": place(at), "end": place(at + len("Counts"))}, "severity": 1, "source": "compiler", "message": "Counts undefined",
			})
		}
	}
	return conn.Notify("textDocument/publishDiagnostics", map[string]any{"uri": p.TextDocument.URI, "diagnostics": found})
}

type stdio struct {
	io.ReadCloser
	io.WriteCloser
}

func (s stdio) Close() error { return errors.Join(s.ReadCloser.Close(), s.WriteCloser.Close()) }
