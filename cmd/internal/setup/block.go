package setup

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// block is lines of quarry's own in a text, between two comments that tell whose they are.
type block struct {
	blockFormat
	lines string // what is between the comments, without the end of the last line
}

type blockFormat struct {
	name       string
	open, shut string // the comments, each a line of its own
	// check tells why a file is not touched.
	check func(text []byte) error
}

var (
	lispBlock     = blockFormat{"lisp", ";; quarry setup: begin", ";; quarry setup: end", checkLisp}
	markdownBlock = blockFormat{"markdown", "<!-- quarry setup: begin -->", "<!-- quarry setup: end -->", checkMarkdown}
)

func (b blockFormat) format() string { return b.name }

func (b block) put(text []byte) ([]byte, []kept, error) {
	if err := b.check(text); err != nil {
		return nil, nil, fmt.Errorf("%w; mend that, or add by hand\n%s", err, b.lines)
	}
	nl := newline(text)
	from, to, err := b.find(text)
	if err != nil {
		return nil, nil, err
	}
	lines := strings.ReplaceAll(b.open+"\n"+b.lines+"\n"+b.shut+"\n", "\n", nl)
	if from < to {
		if string(text[from:to]) == lines || string(text[from:to])+nl == lines {
			return text, nil, nil
		}
		return splice(text, from, to, lines), nil, nil
	}
	return appendLines(text, b.open+"\n"+b.lines+"\n"+b.shut), nil, nil
}

func takeBlock(b blockFormat) func([]byte, []kept) ([]byte, error) {
	return func(text []byte, _ []kept) ([]byte, error) {
		from, to, err := b.find(text)
		if err != nil || from == to {
			return text, err
		}
		return cutLines(text, from, to), nil
	}
}

// find is where the block is, comments included; two equal offsets if it is not there.
func (b blockFormat) find(text []byte) (from, to int, err error) {
	from = lineWith(text, 0, b.open)
	if from < 0 {
		return 0, 0, nil
	}
	shut := lineWith(text, from, b.shut)
	if shut < 0 {
		return 0, 0, fmt.Errorf("line %d: the comment %q has lost its end %q; remove quarry's lines by hand, then run this again", lineOf(text, from), b.open, b.shut)
	}
	if again := lineWith(text, lineEnd(text, from), b.open); again >= 0 {
		return 0, 0, fmt.Errorf("line %d: quarry's lines are there twice; remove one of them, then run this again", lineOf(text, again))
	}
	return from, lineEnd(text, shut), nil
}

// lineWith is where the first line after offset from begins that holds only comment; -1
// if there is none.
func lineWith(text []byte, from int, comment string) int {
	for from < len(text) {
		end := lineEnd(text, from)
		if string(bytes.TrimSpace(text[from:end])) == comment {
			return from
		}
		from = end
	}
	return -1
}

// checkLisp reads text as Emacs does, as far as where its lists begin and end.
func checkLisp(text []byte) error {
	var open []int // offsets of parentheses and brackets
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ';':
			i = lineEnd(text, i) - 1
		case '"':
			start := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return fmt.Errorf("line %d: a string has no end", lineOf(text, start))
			}
		case '\\':
			i++
		case '?':
			// A character: ?a, ?\n, ?\C-x, ?( and ?" are no lists and no strings.
			if i > 0 && !strings.ContainsRune(" \t\r\n([{'`,#", rune(text[i-1])) {
				break // within a name
			}
			i = lispCharacter(text, i+1)
		case '(', '[':
			open = append(open, i)
		case ')', ']':
			if len(open) == 0 {
				return fmt.Errorf("line %d: %q closes nothing", lineOf(text, i), c)
			}
			if from := open[len(open)-1]; text[from] == '(' != (c == ')') {
				return fmt.Errorf("line %d: %q closes the %q of line %d", lineOf(text, i), c, text[from], lineOf(text, from))
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("line %d: %q is never closed", lineOf(text, open[len(open)-1]), text[open[len(open)-1]])
	}
	return nil
}

// lispCharacter is where the character that is written at offset i of text, behind a
// question mark, has its last byte, or that byte of it that could be taken for a list's.
func lispCharacter(text []byte, i int) int {
	for i < len(text) && text[i] == '\\' {
		i++
		switch {
		case i+1 < len(text) && text[i+1] == '-' && strings.IndexByte("CMSHAs", text[i]) >= 0:
			i += 2 // a key held down, and the character, which may be written with another backslash
		case i < len(text) && text[i] == '^':
			i++
		default:
			return i
		}
	}
	return i
}

// checkMarkdown finds no fault with any text.
func checkMarkdown(text []byte) error {
	if bytes.IndexByte(text, 0) >= 0 {
		return errors.New("it is not text")
	}
	return nil
}
