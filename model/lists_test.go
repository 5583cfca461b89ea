package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// silentTransport takes requests and answers none.
func silentTransport(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// answersWith answers each path with a text, and others with {}.
func answersWith(texts map[string]string) transport {
	return func(r *http.Request) (*http.Response, error) {
		text, ok := texts[r.URL.Path]
		if !ok {
			text = "{}"
		}
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
}

// libraryOver is a library whose requests a transport answers.
func libraryOver(t *testing.T, over transport) *Library {
	t.Helper()
	endpoint, err := ParseEndpoint("", false)
	if err != nil {
		t.Fatal(err)
	}
	return &Library{newOllama(Options{Model: "granite4.1:3b"}, endpoint, &http.Client{Transport: over})}
}

// A server that takes what it is asked and answers nothing is given up after half a minute, whatever is asked about its models.
func TestASilentServerOfModelsIsGivenUp(t *testing.T) {
	try := func(string) error { return nil }
	for name, ask := range map[string]func(ctx context.Context, l *Library) error{
		"list":    func(ctx context.Context, l *Library) error { _, err := l.List(ctx); return err },
		"find":    func(ctx context.Context, l *Library) error { _, _, err := l.Find(ctx, "a"); return err },
		"weights": func(ctx context.Context, l *Library) error { _, _, err := l.Weights(ctx, "a"); return err },
		"remove":  func(ctx context.Context, l *Library) error { return l.Remove(ctx, "a") },
		"copy":    func(ctx context.Context, l *Library) error { return l.Copy(ctx, "a", "b") },
		"pull": func(ctx context.Context, l *Library) error {
			return l.Pull(ctx, "a", func(string, int64, int64) {}, try)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := ask(t.Context(), libraryOver(t, silentTransport))
				if took := time.Since(began); took != 30*time.Second {
					t.Errorf("given up after %v", took)
				}
				if want := "127.0.0.1:11434 does not answer requests: restart Ollama"; !errors.Is(err, ErrUnreachable) || err.Error() != want {
					t.Errorf("the user reads %q, want %q", err, want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if l := libraryOver(t, silentTransport); l.Folder(t.Context()) != "" || time.Since(began) != 30*time.Second {
			t.Errorf("its folder is looked for until %v", time.Since(began))
		}
	})
}

// What cannot be read of a list of models is left out, and the rest is there.
func TestAListWithWhatCannotBeRead(t *testing.T) {
	l := libraryOver(t, answersWith(map[string]string{
		"/api/tags": `{"models": [
			{"name": "a", "digest": "d1", "size": 1` + strings.Repeat("0", 400) + `, "modified_at": 7, "details": {"family": [], "quantization_level": "Q4"}},
			5, null, {"size": 9}, "x", {"name": {"a": 1}}, {"name": "b", "digest": "d2", "size": 3, "modified_at": "2026-01-02T03:04:05Z", "details": "none"},
			{"name": "c", "digest": "d3", "size": -9223372036854775808}]}`,
		"/api/ps": `{"models": [
			{"name": "a", "digest": "d1", "size": 4, "size_vram": "all", "context_length": 1e99, "expires_at": "9999999-01-01"},
			{"name": "b", "digest": "d2", "size": 5, "expires_at": "2099-01-02T03:04:05Z"}]}`,
	}))
	list, err := l.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	a, b := list[0], list[1]
	if a.Name != "a" || a.Bytes != 0 || !a.Since.IsZero() || a.Quant != "Q4" || a.Running == nil || a.Running.Bytes != 4 || a.Running.OnGPU != 0 || !a.Running.Until.IsZero() {
		t.Errorf("%+v, %+v", a, a.Running)
	}
	if b.Name != "b" || b.Bytes != 3 || b.Since.Year() != 2026 || b.Running == nil || b.Running.Until.Year() != 2099 {
		t.Errorf("%+v, %+v", b, b.Running)
	}
	for _, text := range []string{`{"models": {"a": 1}}`, `<html>`, `{"models": [`, `[]`} {
		if list, err := libraryOver(t, answersWith(map[string]string{"/api/tags": text})).List(t.Context()); err == nil {
			t.Errorf("%s is %+v", text, list)
		}
	}
}

// An answer to what quarry asks for itself is read up to a megabyte.
func TestMostOfAnAnswerToQuarrysOwn(t *testing.T) {
	read := 0
	endless := transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(readerFunc(func(p []byte) (int, error) {
			const line = "{\"response\":\"a\"}\n"
			for i := range p {
				p[i] = line[(read+i)%len(line)]
			}
			read += len(p)
			return len(p), nil
		}))}, nil
	})
	rt, err := New(Options{Model: "granite4.1:3b"})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	rt.backend = libraryOver(t, endless).ollama
	if err := rt.load(t.Context()); !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), "answers without end: check the address") || read != 1<<20 {
		t.Errorf("%d bytes, then %v", read, err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
