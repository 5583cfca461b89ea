package chatform

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Header is what a GGUF file says of its model's conversations.
type Header struct {
	Architecture string
	// Name and Finetune are the model's, in its makers' words.
	Name, Finetune string
	// Template is its chat template, one of Jinja's; "" if the file has none.
	Template string
	// Tokens are those of its vocabulary that turns are made of.
	Tokens []string
}

// isBase is whether the makers say that the model was not trained to chat.
func (h *Header) isBase() bool {
	says := func(s string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '.' }), func(word string) bool { return word == "base" })
	}
	return says(h.Name) || says(h.Finetune)
}

// Bounds of what is believed of a file. A vocabulary has some hundred thousand tokens, a template some ten thousand bytes.
const (
	mostKeys   = 10_000
	mostItems  = 10_000_000
	mostString = 1 << 20
)

var errNoGGUF = errors.New("the file's header is not one of GGUF's")

// The types of values that are looked at; all are in kinds.
const (
	kindString = 8
	kindArray  = 9
)

// kinds are the sizes of values in bytes, by their type; 0 where they have none of their own.
var kinds = [...]int{1, 1, 2, 2, 4, 4, 4, 1, kindString: 0, kindArray: 0, 10: 8, 11: 8, 12: 8}

// ReadHeader reads the beginning of a GGUF file, of version 2 or later. The file need not be what it says: nothing is
// read of it beyond what the bounds allow.
func ReadHeader(file io.Reader) (Header, error) {
	r := reader{in: bufio.NewReaderSize(file, 1<<16)}
	var h Header
	magic := r.bytes(4)
	version, _, keys := r.u32(), r.u64(), r.u64() // between them the number of tensors
	if r.err != nil || string(magic) != "GGUF" || version < 2 || keys > mostKeys {
		return h, errors.Join(errNoGGUF, r.err)
	}
	tags := map[string]bool{}
	for _, f := range forms {
		for _, token := range f.tokens {
			tags[token] = true
		}
	}
	for range keys {
		key, kind := r.text(), r.u32()
		var to *string
		switch key {
		case "general.architecture":
			to = &h.Architecture
		case "general.name":
			to = &h.Name
		case "general.finetune":
			to = &h.Finetune
		case "tokenizer.chat_template":
			to = &h.Template
		}
		switch {
		case to != nil && kind == kindString:
			*to = r.text()
		case key == "tokenizer.ggml.tokens" && kind == kindArray:
			r.array(func(token string) {
				if tags[token] {
					h.Tokens = append(h.Tokens, token)
				}
			})
		default:
			r.skip(kind)
		}
		if r.err != nil {
			return Header{}, fmt.Errorf("%w: %w", errNoGGUF, r.err)
		}
	}
	return h, nil
}

// reader keeps the first error, behind which all is zero.
type reader struct {
	in  *bufio.Reader
	err error
}

func (r *reader) bytes(n int) []byte {
	b := make([]byte, n)
	if r.err == nil {
		_, r.err = io.ReadFull(r.in, b)
	}
	if r.err != nil {
		clear(b)
	}
	return b
}

func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

// length reads how many there are of something.
func (r *reader) length(most int) int {
	n := r.u64()
	if n > uint64(most) {
		r.err = errors.Join(r.err, fmt.Errorf("%d of what has at most %d", n, most))
		return 0
	}
	return int(n)
}

func (r *reader) text() string { return string(r.bytes(r.length(mostString))) }

func (r *reader) discard(n int) {
	if r.err == nil {
		_, r.err = r.in.Discard(n)
	}
}

// array reads a list and calls each with those that are texts.
func (r *reader) array(each func(text string)) {
	kind, n := r.u32(), r.length(mostItems)
	if kind != kindString {
		r.items(kind, n)
		return
	}
	for range n {
		if r.err != nil {
			return
		}
		each(r.text())
	}
}

// items passes over values of a kind.
func (r *reader) items(kind uint32, n int) {
	switch {
	case r.err != nil:
	case kind == kindString:
		for range n {
			if r.err != nil {
				return
			}
			r.discard(r.length(mostString))
		}
	case kind == kindArray, int(kind) >= len(kinds): // lists of lists are in no model
		r.err = fmt.Errorf("a value of type %d", kind)
	default:
		r.discard(n * kinds[kind])
	}
}

func (r *reader) skip(kind uint32) {
	if kind == kindArray {
		r.array(func(string) {})
		return
	}
	r.items(kind, 1)
}
