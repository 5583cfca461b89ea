package model_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/model"
)

// A download whose progress names files without end is none of Ollama's.
func TestADownloadOfFilesWithoutEnd(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/pull" {
			fmt.Fprint(w, "{}")
			return
		}
		for n := range 1_000_000 {
			if _, err := fmt.Fprintf(w, "{\"status\":\"pulling\",\"digest\":\"%d\",\"total\":9,\"completed\":1}\n", n); err != nil {
				return
			}
			sent.Store(int64(n))
		}
	}))
	defer server.Close()
	l, err := model.NewLibrary(model.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	err = l.Pull(t.Context(), "x", func(_ string, done, total int64) {
		if total != 9*done {
			t.Errorf("%d of %d", done, total)
		}
	}, taken)
	if !errors.Is(err, model.ErrServer) || !strings.Contains(err.Error(), "more files") || sent.Load() > 900_000 {
		t.Errorf("after %d files: %v", sent.Load(), err)
	}
}

// Whatever listens at the model's address, an answer without end is an error that says
// so, and quarry reads a few megabytes of it.
func TestAnAnswerWithoutEndIsAnError(t *testing.T) {
	const plenty = 64 << 20
	// Pieces are long, since what is bounded is bytes: hundreds of thousands of short ones
	// would take as many switches between goroutines.
	piece := strings.Repeat(`a\n`, 1<<10)
	endless := map[string][2]string{
		"a string": {`{"version":"`, "aaaaaaaaaaaaaaaa"},
		"a list":   {`{"models":[{}`, ",{},{},{},{},{}"},
		"vectors":  {`{"embeddings":[[]`, ",[],[],[],[],[]"},
		"chunks":   {"", `{"response":"` + piece + "\"}\n"},
		"events":   {"", `data: {"choices":[{"text":"` + piece + "\"}]}\n\n"},
		"blanks":   {"", "                "},
		"brackets": {"", "[[[[[[[[[[[[[[[["},
	}
	paths := map[model.API][]string{
		model.OllamaAPI: {"version", "show", "generate", "embed"},
		model.OpenAIAPI: {"models", "completions", "embeddings"},
	}
	for api, paths := range paths {
		for name, text := range endless {
			for _, path := range paths {
				t.Run(string(api)+" "+name+" from "+path, func(t *testing.T) {
					t.Parallel()
					var sent atomic.Int64
					block := strings.Repeat(text[1], max(1, 1<<16/len(text[1])))
					s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if !strings.HasSuffix(r.URL.Path, "/"+path) {
							io.WriteString(w, `{"version":"0.17.4","data":[{"id":"granite4.1:3b"}],"model_info":{},"done":true}`)
							return
						}
						io.WriteString(w, text[0])
						for sent.Load() < plenty {
							n, err := io.WriteString(w, block)
							sent.Add(int64(n))
							if err != nil {
								return
							}
						}
					}))
					defer s.Close()
					opt := options(s.URL)
					opt.API, opt.Families = api, nil
					o := start(t, opt)
					_ = o.WaitReady(soon(t)) // the error, if this is the path, is looked at below
					_, _, err := collect(soon(t), o, fim("a", ""), 1<<20)
					_, err2 := o.NewEmbedder("granite4.1:3b").Embed(soon(t), []string{"a"})
					all := errors.Join(err, err2)
					switch n := sent.Load(); {
					case n >= plenty:
						t.Errorf("%d MB were read", n>>20)
					case n > 16<<20 && !strings.Contains(all.Error(), "without end"):
						t.Errorf("after %d MB the user reads %v", n>>20, all)
					}
					if all != nil && len(all.Error()) > 1000 {
						t.Errorf("the user reads %.300q", all)
					}
				})
			}
		}
	}
}
