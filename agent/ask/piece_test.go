package ask

import (
	"slices"
	"strings"
	"testing"

	"quarry/agent"
)

const realip = `package middleware

// Ported from a project
// of somebody else.

import (
	"net"
	"net/http"
)

var forwarded = http.CanonicalHeaderKey("X-Forwarded-For")

// RealIP is a middleware that sets the address of a request to what
// its headers say.
//
// This should be inserted fairly early in the stack.
// Subsequent layers see the value that is meant.
//
// Use it only if you trust a proxy in front of you.
func RealIP(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = realIP(r)
	})
}

func other() {
	panic("one")
	panic("two")
}

// realIP is the address of whoever is behind the proxy.
func realIP(r *http.Request) string {
	return r.Header.Get(forwarded)
}
`

func narrowedOf(text string, most int, question string) (string, []int) {
	return narrowed(text, 10, most, wordsOf(question, []string{text}))
}

// What is shown are lines of the file under their numbers, and no more of them than there
// is room for.
func TestNarrowed(t *testing.T) {
	lines := strings.Split(realip, "\n")
	for most := 60; most < len(realip)+100; most += 7 {
		text, numbers := narrowedOf(realip, most, "Where is the address behind a proxy found?")
		if len(text) > most {
			t.Errorf("%d bytes of %d", len(text), most)
		}
		shown := strings.Split(text, "\n")
		if len(shown) != len(numbers) || numbers[0] == 0 || numbers[len(numbers)-1] == 0 {
			t.Fatalf("%d lines, numbers %v", len(shown), numbers)
		}
		last := 0
		for i, n := range numbers {
			if n == 0 {
				if shown[i] != leftOut {
					t.Errorf("%q has no number", shown[i])
				}
				continue
			}
			if n <= last || shown[i] != lines[n-10] {
				t.Errorf("%d bytes: line %d behind %d is %q", most, n, last, shown[i])
			}
			last = n
		}
	}
	text, _ := narrowedOf(realip, len(realip), "Where?")
	if text != strings.TrimRight(realip, "\n") {
		t.Errorf("not the whole where there is room:\n%s", text)
	}
	text, _ = narrowedOf(realip, 480, "Where is the address behind a proxy found?")
	want := `// RealIP is a middleware that sets the address of a request to what
// its headers say.
// Use it only if you trust a proxy in front of you.
func RealIP(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = realIP(r)
	})
}
...
// realIP is the address of whoever is behind the proxy.
func realIP(r *http.Request) string {`
	if !strings.HasPrefix(text, want) {
		t.Errorf("got\n%s", text)
	}
}

func TestNarrowedInOtherLanguages(t *testing.T) {
	for name, c := range map[string]struct{ text, question, want string }{
		"a class of Python": {`"""Decoders."""
import zlib


class Decoder:
    """
    Handles bodies.
    """

    def flush(self):
        """Ends what was begun."""
        return b""

    def decode(self, data):
        # unpacks the bytes
        return zlib.decompress(data)
`, "What unpacks the bytes?", `class Decoder:
...
    def decode(self, data):
        # unpacks the bytes
        return zlib.decompress(data)`},
		"JavaScript with its requires": {`'use strict';

var accepts = require('accepts');
var net = require('net');

/**
 * Was it a script that asked?
 */
req.xhr = function xhr() {
  return this.get('X-Requested-With') === 'XMLHttpRequest';
};
`, "Was the request made by a script?", `/**
 * Was it a script that asked?
 */
req.xhr = function xhr() {
  return this.get('X-Requested-With') === 'XMLHttpRequest';
};`},
		"headings of sections": {`# Timeouts


class Timeout(Error):
    """Waited."""


# Proxies


class ProxyError(Error):
    """A proxy refused."""
`, "Which error tells of proxies?", `class ProxyError(Error):
    """A proxy refused."""`},
		"nothing but imports": {"import a\nimport b\n", "What is a?", "import a"},
	} {
		text, _ := narrowedOf(c.text, len(c.want)+8, c.question)
		if text != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, text, c.want)
		}
	}
}

// The place of a declaration has the file's lines, and ends where it does, also where that is not shown.
func TestPlaceInNarrowedPiece(t *testing.T) {
	p := piece{Citation: agent.Citation{Path: "realip.go"}, whole: strings.Split(realip, "\n"), first: 10}
	p.Text, p.numbers = narrowedOf(realip, 420, "Where is the address behind a proxy found?")
	_, line := p.has("realIP")
	place, shown := p.from(line)
	if first := slices.Index(strings.Split(realip, "\n"), "func realIP(r *http.Request) string {") + 10; place.StartLine != first || !strings.HasPrefix(shown, "// realIP is the address of whoever is behind the proxy.\nfunc realIP") {
		t.Errorf("line %d of the piece is %v, not %d:\n%s", line, place, first, p.Text)
	}
	_, line = p.has("RealIP")
	place, shown = p.from(line)
	if place.EndLine-place.StartLine != 4 || !strings.HasSuffix(shown, "\n}") {
		t.Errorf("%v:\n%s", place, shown)
	}
}

// FuzzNarrowed: whatever a file says, what is shown of it are its lines.
func FuzzNarrowed(f *testing.F) {
	f.Add(realip, 300, "Where is the address?")
	f.Add("\"\"\"\n\n/*\n@x\n", 5, "x")
	f.Fuzz(func(t *testing.T, text string, most int, question string) {
		if strings.TrimSpace(text) == "" || most < leastPiece || most > 4*pieceBytes || strings.Contains(text, "\r") {
			return
		}
		shown, numbers := narrowed(text, 1, most, wordsOf(question, []string{text}))
		lines := strings.Split(text, "\n")
		if got := strings.Split(shown, "\n"); len(got) != len(numbers) {
			t.Fatalf("%d lines, %d numbers", len(got), len(numbers))
		}
		for i, line := range strings.Split(shown, "\n") {
			if n := numbers[i]; n > 0 && !strings.HasPrefix(lines[n-1], strings.ToValidUTF8(line, "")) && len(numbers) > 1 {
				t.Errorf("line %d is %q, shown as %q", n, lines[n-1], line)
			}
		}
		if numbers[0] == 0 {
			t.Error("nothing is shown first")
		}
	})
}
