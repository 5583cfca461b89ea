//go:build editors

package vscode_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// The environment of a process that is a tap: the file to write to, and the server behind it.
const tapFile, tapServer = "QUARRY_TAP", "QUARRY_TAPPED"

// tap is a language server that passes everything on to another, and notes in a file when it is asked for ghost text and when it answers, a
// line each: milliseconds since 1970, "asked" or "answered", and the request's id.
func tap() error {
	log, err := os.Create(os.Getenv(tapFile))
	if err != nil {
		return err
	}
	defer log.Close()
	var mu sync.Mutex
	ids := map[string]bool{} // requests that are not answered; guarded by mu
	note := func(what, id string) { fmt.Fprintln(log, time.Now().UnixMilli(), what, id) }

	server := exec.Command(os.Getenv(tapServer), os.Args[1:]...)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	go func() {
		defer in.Close()
		_ = pass(in, os.Stdin, func(id, method string) { // the server ends when its input does
			if method == "textDocument/inlineCompletion" {
				mu.Lock()
				defer mu.Unlock()
				ids[id] = true
				note("asked", id)
			}
		})
	}()
	if err := pass(os.Stdout, out, func(id, method string) {
		mu.Lock()
		defer mu.Unlock()
		if method == "" && ids[id] {
			delete(ids, id)
			note("answered", id)
		}
	}); err != nil {
		return err
	}
	return server.Wait()
}

// pass copies messages, and says of each what it is before it goes on.
func pass(to io.Writer, from io.Reader, saw func(id, method string)) error {
	r := textproto.NewReader(bufio.NewReader(from))
	for {
		header, err := r.ReadMIMEHeader()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return err
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r.R, body); err != nil {
			return err
		}
		var message struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(body, &message); err != nil {
			return err
		}
		saw(string(message.ID), message.Method)
		if _, err := fmt.Fprintf(to, "Content-Length: %d\r\n\r\n%s", length, body); err != nil {
			return err
		}
	}
}
