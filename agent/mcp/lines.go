package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is the longest message that is read, in bytes; the SDK reads twice that.
const maxLine = 8 << 20

// lines passes on to the SDK the messages that it can read, each a line, and answers
// the others: the SDK ends the session at the first line that is none.
type lines struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of the line that is being passed on
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		if len(line) == 0 {
			continue
		}
		refusal := refuse(line)
		if refusal == nil {
			l.rest = append(line, '\n')
			break
		}
		if _, err := l.out.Write(append(refusal, '\n')); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next is the next line without its end, at most a little more than maxLine of it.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, nil
	}
}

// refuse is the answer to a line that is not a message, nil if it is one.
func refuse(line []byte) []byte {
	code, id, what := int64(jsonrpc.CodeParseError), json.RawMessage("null"), ""
	switch {
	case len(line) > maxLine:
		what = fmt.Sprintf("the message is longer than %d bytes", maxLine)
	case !json.Valid(line):
		what = "the line is not JSON; a message is one line"
	case line[0] == '[':
		code, what = jsonrpc.CodeInvalidRequest, "a batch is not read; send each message on a line of its own"
	default:
		if _, err := jsonrpc.DecodeMessage(line); err == nil {
			return nil
		}
		code, what = jsonrpc.CodeInvalidRequest, "this is not a JSON-RPC 2.0 message"
		var fields struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(line, &fields) == nil && isID(fields.ID) {
			id = fields.ID
		}
	}
	answer, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}{code, what}})
	if err != nil {
		panic(fmt.Sprintf("encode the refusal of a message: %v", err)) // id is JSON
	}
	return answer
}

// isID answers whether raw may be the id of a request.
func isID(raw json.RawMessage) bool {
	var text string
	var number float64
	return len(raw) > 0 && (json.Unmarshal(raw, &text) == nil || json.Unmarshal(raw, &number) == nil)
}

// whole is a Writer for several writers, each of which writes whole messages. Its Close does
// nothing.
type whole struct {
	mu  sync.Mutex
	out io.Writer // guarded by mu
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *whole) Close() error { return nil }
