// Package wire is what a language server needs between its handlers and a byte stream:
// framing that survives what clients get wrong, an outbox that never waits for a slow
// client, cancellation, errors in LSP's terms and the client's own spelling of URIs. It
// knows nothing of what is served.
package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

const (
	// maxMessageBytes is the largest message body that is read into memory.
	maxMessageBytes = 64 << 20
	// maxHeaderBytes bounds what one header block may hold before it is given up.
	maxHeaderBytes = 64 << 10
	// maxBatch is how many messages one batch may hold: their answers are held back until
	// the last one is there. No editor sends batches.
	maxBatch = 100
	// keptBodyBytes is the largest buffer kept from message to message.
	keptBodyBytes = 1 << 20
	// maxSkippedBytes is the longest body that is believed to come, and read past: whoever says more
	// has not counted.
	maxSkippedBytes = 1 << 32
)

// Stream frames messages as LSP's base protocol says and implements
// jsonrpc2.Stream. What the framing of jsonrpc2 would end the connection for, it
// answers with an error for that message and reads on: a broken header, a body
// that is no JSON or no JSON-RPC, a body over maxMessageBytes. Only whole,
// well-formed messages come out of it.
type Stream struct {
	rwc io.ReadWriteCloser
	src *source
	in  *bufio.Reader // of src
	log *slog.Logger
	// ended is called once, when the peer's side is over.
	ended func()
	// token, if not empty, must be in the first message's Authorization header.
	token string
	// strict is set until the first good message where a bad one ends the
	// connection, however the rest of it could be read.
	strict bool
	// anyFirst: the first message need not be initialize.
	anyFirst bool
	// most is the largest message that is read, in bytes.
	most int64
	// stamp is what each message that is sent begins with, instead of its brace; nil for nothing.
	stamp []byte

	// body is reused from message to message; jsonrpc2 borrows it until the
	// next read.
	body []byte

	// rewrite changes a good message before anybody sees it.
	rewrite func(body []byte) []byte

	out *outbox
}

var _ jsonrpc2.Stream = (*Stream)(nil)

// Options are how a Stream reads.
type Options struct {
	Log *slog.Logger
	// Token, if not empty, must come with the first message.
	Token string
	// Strict ends the connection of a client whose first message is not a whole
	// initialize with LSP's headers alone, or is not there within FirstMessage.
	Strict bool
	// FirstMessage is how long that may take, 0 for five seconds.
	FirstMessage time.Duration
	// AnyFirst has Strict take any whole message as the first: who handles it knows which it
	// may be, and says so.
	AnyFirst bool
	// MaxMessage is the largest message that is read and MaxUnread how much the client may leave
	// unread, in bytes; 0 for 64 MiB and 256 MiB, which are an editor's.
	MaxMessage, MaxUnread int
	// Protocol, if not 0, is the member protocol of every message that is sent. Batches are
	// refused then: they have no members.
	Protocol int
	// Ended is called once, when the peer's side is over.
	Ended func()
	// Rewrite changes a good message before anybody sees it.
	Rewrite func(body []byte) []byte
}

// NewStream frames messages on rwc.
func NewStream(rwc io.ReadWriteCloser, opts Options) *Stream {
	src := &source{from: rwc}
	s := &Stream{
		rwc:    rwc,
		src:    src,
		in:     bufio.NewReaderSize(src, 64<<10),
		out:    newOutbox(rwc, cmp.Or(opts.MaxUnread, maxOutboxBytes)),
		most:   int64(cmp.Or(opts.MaxMessage, maxMessageBytes)),
		token:  opts.Token,
		strict: opts.Strict || opts.Token != "", anyFirst: opts.AnyFirst,
		log:     opts.Log,
		ended:   sync.OnceFunc(opts.Ended),
		rewrite: opts.Rewrite,
	}
	if opts.Protocol != 0 {
		s.stamp = fmt.Appendf(nil, `{"protocol":%d,`, opts.Protocol)
	}
	if s.strict {
		s.allow(cmp.Or(opts.FirstMessage, firstMessage))
	}
	return s
}

// source reads what was put back before it reads from its client.
type source struct {
	from io.Reader
	back [][]byte // the last is read first
}

func (s *source) Read(p []byte) (int, error) {
	for last := len(s.back) - 1; last >= 0; last-- {
		n := copy(p, s.back[last])
		if s.back[last] = s.back[last][n:]; len(s.back[last]) == 0 {
			s.back[last], s.back = nil, s.back[:last]
		}
		if n > 0 {
			return n, nil
		}
	}
	return s.from.Read(p)
}

// allow bounds the time for what is read next, 0 not at all.
func (s *Stream) allow(d time.Duration) {
	c, ok := s.rwc.(interface{ SetReadDeadline(time.Time) error })
	if !ok {
		return
	}
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	if err := c.SetReadDeadline(at); err != nil {
		s.log.Warn("bound the time for the first message", "error", err)
	}
}

// Read implements jsonrpc2.Stream.
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	body, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	msg, err := jsonrpc2.DecodeMessage(body)
	return msg, n, err
}

// ReadFrame returns the body of the next good message. The slice is valid until
// the next call.
func (s *Stream) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		body, err := s.next()
		if err != nil {
			s.ended()
			return nil, 0, err
		}
		if body != nil {
			return body, int64(len(body)), nil
		}
	}
}

// next reads one message; it answers nil without an error when the message was
// bad and has been answered.
func (s *Stream) next() ([]byte, error) {
	header, err := s.readHeader()
	if err != nil {
		return nil, err
	}
	if header.problem != "" {
		return nil, s.refuse(jsonrpc2.ParseError, header.problem)
	}
	if s.token != "" {
		if err := checkToken(header.token, s.token); err != nil {
			return nil, err
		}
		s.token = ""
	}
	if header.length > s.most {
		if s.strict {
			return nil, notLSP("its first message is too large")
		}
		return nil, s.skip(header.length)
	}
	// One large document shall not be held for good.
	if int64(cap(s.body)) < header.length || cap(s.body) > keptBodyBytes && header.length <= keptBodyBytes {
		s.body = make([]byte, header.length)
	}
	body := s.body[:header.length]
	if _, err := io.ReadFull(s.in, body); err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	if !json.Valid(body) {
		// A wrong length takes in the head of the next message: read that again.
		if i := bytes.Index(body, []byte(contentLength)); i >= 0 && !s.strict {
			ahead, _ := s.in.Peek(s.in.Buffered()) // what is there comes without an error
			s.src.back = append(s.src.back, bytes.Clone(ahead), bytes.Clone(body[i:]))
			s.in.Reset(s.src)
		}
		return nil, s.refuse(jsonrpc2.ParseError, "the message is not valid JSON")
	}
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); trimmed[0] == '[' {
		if s.stamp != nil {
			return nil, s.refuse(jsonrpc2.InvalidRequest, "batches are not served: send one message at a time")
		}
		if moreThan(trimmed, maxBatch) {
			return nil, s.refuse(jsonrpc2.InvalidRequest, fmt.Sprintf("the batch is too long: send at most %d messages at once", maxBatch))
		}
	} else if _, err := jsonrpc2.DecodeMessage(body); err != nil {
		return nil, s.refuseID(requestID(body), jsonrpc2.InvalidRequest, fmt.Sprintf("not a JSON-RPC 2.0 message: %v", err))
	}
	if s.strict {
		var first struct{ Method string }
		if err := json.Unmarshal(body, &first); !s.anyFirst && (err != nil || first.Method != "initialize") {
			return nil, notLSP("its first message is not initialize")
		}
		s.strict = false
		s.allow(0)
	}
	return s.rewrite(body), nil
}

func notLSP(reason string) error { return fmt.Errorf("the client does not speak LSP: %s", reason) }

// moreThan answers whether a JSON array has more than n members.
func moreThan(array []byte, n int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(array); i++ {
		switch c := array[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			if n--; n == 0 {
				return true
			}
		}
	}
	return false
}

const contentLength = "Content-Length:"

type header struct {
	length     int64
	token      string
	authorized bool   // has an Authorization line
	problem    string // what is wrong with it, "" if nothing
}

// readHeader reads up to the blank line before a body. Bytes that are no header
// are skipped up to the next Content-Length, so that one broken message costs
// only itself.
func (s *Stream) readHeader() (header, error) {
	h := header{length: -1}
	for read := 0; ; {
		if s.strict && h.problem != "" {
			return h, nil
		}
		line, err := s.in.ReadSlice('\n')
		read += len(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			h.problem = "a header line is too long"
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) && read > 0 {
				err = io.ErrUnexpectedEOF
			}
			return h, err
		}
		if read > maxHeaderBytes && h.problem == "" {
			h.problem = "the header is too long"
		}
		field := bytes.TrimRight(line, "\r\n")
		if len(field) == 0 {
			if h.length < 0 && h.problem == "" {
				if read == len(line) && !s.strict {
					read = 0
					continue // blank lines between messages harm nobody
				}
				h.problem = "the header has no Content-Length"
			}
			return h, nil
		}
		if i := indexFold(field, contentLength); i >= 0 {
			// What stands before it, or the first of two, is the rest of a broken message: say so,
			// then take this header as a new one, unless nobody has been an editor yet.
			broken := ""
			switch {
			case i > 0:
				broken = "unexpected bytes before the header"
			case h.length >= 0:
				broken = "the header has two lines of Content-Length"
			}
			if broken != "" {
				if err := s.refuse(jsonrpc2.ParseError, broken); err != nil {
					return h, err
				}
				h, read = header{length: -1}, 0
			}
			value := bytes.TrimSpace(field[i+len(contentLength):])
			n, err := strconv.ParseUint(string(value), 10, 63) // which takes no sign
			if err != nil || n == 0 || n > maxSkippedBytes {
				h.problem = fmt.Sprintf("Content-Length is %.40q, not the number of a message's bytes", value)
				continue
			}
			h.length = int64(n)
			continue
		}
		name, value, ok := bytes.Cut(field, []byte(":"))
		switch {
		case !ok:
			h.problem = "a header line has no colon"
		case bytes.EqualFold(name, []byte("Authorization")):
			if h.authorized {
				h.problem = "the header has two lines of Authorization" // which of them counts is anybody's guess
			}
			h.authorized = true
			h.token = string(bytes.TrimPrefix(bytes.TrimSpace(value), []byte("Bearer ")))
		case s.strict && !bytes.EqualFold(name, []byte("Content-Type")):
			h.problem = fmt.Sprintf("the header %.40q is none of LSP's", name) // as HTTP has it
		}
	}
}

// skip reads past a body that is too large and answers it.
func (s *Stream) skip(length int64) error {
	head := make([]byte, min(length, 4096))
	if _, err := io.ReadFull(s.in, head); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, s.in, length-int64(len(head))); err != nil {
		return err
	}
	return s.refuseID(requestID(head), jsonrpc2.InvalidRequest,
		fmt.Sprintf("the message has %d bytes, more than the limit of %d", length, s.most))
}

func (s *Stream) refuse(code jsonrpc2.Code, reason string) error {
	return s.refuseID([]byte("null"), code, reason)
}

// refuseID answers a message that is no request with an error, and ends the
// connection if it is the first one of somebody who may be no editor.
func (s *Stream) refuseID(id []byte, code jsonrpc2.Code, reason string) error {
	if s.strict {
		return notLSP(reason)
	}
	s.log.Warn("refused a malformed message", "reason", reason)
	text, err := json.Marshal(reason)
	if err != nil {
		return err
	}
	return s.writeBody(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text))
}

var idPattern = regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`)

// requestID finds the id in a message that cannot be decoded, null if there is
// none. It may take an id from inside the params; the answer then goes nowhere,
// as one to null would.
func requestID(message []byte) []byte {
	if m := idPattern.FindSubmatch(message); m != nil {
		return m[1]
	}
	return []byte("null")
}

// Write implements jsonrpc2.Stream.
func (s *Stream) Write(_ context.Context, msg jsonrpc2.Message) (int64, error) {
	body, err := jsonrpc2.EncodeMessage(msg)
	if err != nil {
		return 0, err
	}
	return int64(len(body)), s.writeBody(body)
}

// WriteFrame writes one encoded body.
func (s *Stream) WriteFrame(_ context.Context, body []byte) (int64, error) {
	return int64(len(body)), s.writeBody(body)
}

func (s *Stream) writeBody(body []byte) error {
	if s.stamp != nil {
		body = body[1:] // its brace
	}
	var head [40]byte
	h := append(head[:0], contentLength...)
	h = append(h, ' ')
	h = strconv.AppendInt(h, int64(len(s.stamp)+len(body)), 10)
	h = append(h, "\r\n\r\n"...)
	return s.out.put(h, s.stamp, body)
}

// Close implements jsonrpc2.Stream: it ends the transport when what was written
// has gone out, or flushTimeout later.
func (s *Stream) Close() error {
	s.out.close()
	return s.rwc.Close()
}

// indexFold is the index of the ASCII word in line, whatever their case.
func indexFold(line []byte, word string) int {
	for i := 0; i+len(word) <= len(line); i++ {
		if bytes.EqualFold(line[i:i+len(word)], []byte(word)) {
			return i
		}
	}
	return -1
}
