package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
)

// Y4: whatever asks, nothing reaches a model of Ollama's cloud without permission. The
// server behaves as Ollama 0.18.0 does: it has every such model, and says nowhere that
// another machine runs it.
func TestNothingIsSentToModelsOfTheCloud(t *testing.T) {
	names := []string{
		"qwen3-coder:480b-cloud", "gpt-oss:120b:cloud", "qwen3-embedding:cloud", "kimi-k2:CLOUD", " glm-4.6:cloud ", "glm-4.6: Cloud", "user/m:7b-Cloud",
		"registry.example:5000/library/m:cloud", "m-cloud",
	}
	for _, api := range []model.API{model.OllamaAPI, model.OpenAIAPI} {
		for _, name := range names {
			t.Run(fmt.Sprintf("%s %q", api, name), func(t *testing.T) {
				s := modeltest.NewServer(t)
				s.SetCloud()
				opt := options(s.URL)
				opt.API, opt.Model = api, name
				o := start(t, opt)
				err := o.WaitReady(soon(t))
				if !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), "ollama.allowRemote") {
					t.Errorf("the user reads %v", err)
				}
				if err != nil && !strings.HasPrefix(err.Error(), name+" runs elsewhere: choose a local model") {
					t.Errorf("the user reads first %v", err)
				}
				if _, _, err := collect(soon(t), o, fim("canary", ""), 5); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Generate says %v", err)
				}
				chat := model.Conversation{Messages: []model.Message{{Role: "user", Text: "canary"}}}
				if _, err := o.Chat(soon(t), chat, func(string) bool { return true }); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Chat says %v", err)
				}
				if list := o.Check(soon(t)); list[len(list)-1].OK {
					t.Errorf("the check-up says %+v", list)
				}

				s.SetModels(modeltest.Model{Name: "granite4.1:3b"})
				opt.Model = "granite4.1:3b"
				e := ready(t, opt).NewEmbedder(name)
				if _, err := e.Embed(soon(t), []string{"canary"}); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Embed says %v", err)
				}
				if _, err := e.EmbedQuery(soon(t), "canary"); !errors.Is(err, model.ErrRefused) {
					t.Errorf("EmbedQuery says %v", err)
				}
				if _, err := e.Version(soon(t)); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Version says %v", err)
				}
				for _, r := range s.Requests() {
					if r.Model != "granite4.1:3b" || strings.Contains(string(r.Body), "canary") {
						t.Errorf("%s carries %s", r.Path, r.Body)
					}
				}

				rr, err := model.NewReranker(model.RerankerOptions{URL: s.URL, Model: name})
				if err != nil {
					t.Fatal(err)
				}
				if err := rr.Judge(soon(t), "canary", []string{"canary"}, nil); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Judge says %v", err)
				}
			})
		}
	}
}

// A name that only looks like one of the cloud's is a local model's.
func TestLocalNamesAreNotTakenForTheCloud(t *testing.T) {
	for _, name := range []string{"cloud", "cloud:7b", "cloudy:latest", "m:cloudy", "m:cloud-7b", "user/cloud:7b", "cloud.example:5000/m"} {
		s := modeltest.NewServer(t)
		s.SetModels(modeltest.Model{Name: name})
		opt := options(s.URL)
		opt.Model = name
		ready(t, opt)
		if len(s.Requests()) == 0 {
			t.Errorf("%s was not asked", name)
		}
	}
}

func TestModelsOfTheCloudAreAskedWithPermission(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetCloud()
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"x"}} })
	opt := options(s.URL)
	opt.Model, opt.AllowRemote = "qwen3-coder:480b-cloud", true
	if text, _, err := collect(soon(t), ready(t, opt), fim("a", ""), 5); text != "x" || err != nil {
		t.Errorf("Generate answers %q, %v", text, err)
	}
}

// A model under any name may be a pointer to another machine's. Where only the answers
// say so, the first, which carries none of the user's text, is the last.
func TestAnAnswerOfAnotherMachineIsTheLast(t *testing.T) {
	for _, api := range []model.API{model.OllamaAPI, model.OpenAIAPI} {
		t.Run(string(api), func(t *testing.T) {
			s := modeltest.NewServer(t)
			remote := modeltest.Model{Name: "granite4.1:3b", RemoteHost: "https://ollama.com:443", Secretly: true}
			s.SetModels(remote, modeltest.Model{Name: "embed", RemoteHost: "https://ollama.com:443", Secretly: true})
			s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"x"}} })
			s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
				return modeltest.EmbedAnswer{Vectors: make([][]float32, len(r.Texts))}
			})
			opt := options(s.URL)
			opt.API = api
			o := start(t, opt)
			if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), "https://ollama.com:443") {
				t.Errorf("the user reads %v", err)
			}
			if _, _, err := collect(soon(t), o, fim("canary", ""), 5); !errors.Is(err, model.ErrRefused) {
				t.Errorf("Generate says %v", err)
			}
			e := o.NewEmbedder("embed")
			_, first := e.Embed(soon(t), []string{"first"})
			_, second := e.Embed(soon(t), []string{"canary"})
			if !errors.Is(first, model.ErrRefused) || !errors.Is(second, model.ErrRefused) {
				t.Errorf("Embed says %v, then %v", first, second)
			}
			for _, r := range s.Requests() {
				// OpenAI's interface has no request that only loads.
				if strings.Contains(string(r.Body), "canary") || api == model.OllamaAPI && strings.Contains(string(r.Body), "first") {
					t.Errorf("%s carries %s", r.Path, r.Body)
				}
			}
		})
	}
}

// What Ollama answers under /v1 does not say that a local name is a pointer to another machine's
// model: nothing is sent before its own interface has been asked.
func TestAPointerIsNotAskedThroughOpenAIsInterface(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "mine", RemoteHost: "https://ollama.com:443"}, modeltest.Model{Name: "embed", RemoteHost: "https://ollama.com:443"})
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"x"}} })
	s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
		return modeltest.EmbedAnswer{Vectors: make([][]float32, len(r.Texts))}
	})
	opt := options(s.URL + "/v1")
	opt.API, opt.Model = model.OpenAIAPI, "mine"
	o := start(t, opt)
	if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), "https://ollama.com:443") {
		t.Errorf("the user reads %v", err)
	}
	if _, _, err := collect(soon(t), o, fim("canary", ""), 5); !errors.Is(err, model.ErrRefused) {
		t.Errorf("Generate says %v", err)
	}
	if list := o.Check(soon(t)); list[len(list)-1].OK {
		t.Errorf("the check-up says %+v", list)
	}
	e := o.NewEmbedder("embed")
	if _, err := e.Embed(soon(t), []string{"canary"}); !errors.Is(err, model.ErrRefused) {
		t.Errorf("Embed says %v", err)
	}
	if _, err := e.EmbedQuery(soon(t), "canary"); !errors.Is(err, model.ErrRefused) {
		t.Errorf("EmbedQuery says %v", err)
	}
	rr, err := model.NewReranker(model.RerankerOptions{URL: s.URL, Model: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if err := rr.Judge(soon(t), "canary", []string{"canary"}, nil); !errors.Is(err, model.ErrRefused) {
		t.Errorf("Judge says %v", err)
	}
	for _, r := range s.Requests() {
		t.Errorf("%s carries %s", r.Path, r.Body)
	}

	// With permission it is asked, and the user told where it runs.
	var far []string
	opt.AllowRemote, opt.OnElsewhere = true, func(name, host string) { far = append(far, name+" at "+host) }
	o = ready(t, opt)
	if text, _, err := collect(soon(t), o, fim("a", ""), 5); text != "x" || err != nil || len(far) != 1 || far[0] != "mine at ollama.com:443" {
		t.Errorf("Generate answers %q, %v, and %q is told", text, err, far)
	}
	s.SetModels(modeltest.Model{Name: "mine"})
	opt.AllowRemote = false
	if text, _, err := collect(soon(t), ready(t, opt), fim("a", ""), 5); text != "x" || err != nil {
		t.Errorf("a local model answers %q, %v", text, err)
	}
}

// A name that becomes such a pointer while the model is in use is refused as soon as quarry looks at
// the server.
func TestAModelThatBecomesAPointerIsRefused(t *testing.T) {
	for _, api := range []model.API{model.OllamaAPI, model.OpenAIAPI} {
		t.Run(string(api), func(t *testing.T) {
			s := modeltest.NewServer(t)
			seen := newStates()
			opt := options(s.URL)
			opt.API, opt.OnChange = api, seen.add
			o := ready(t, opt)
			s.SetModels(modeltest.Model{Name: opt.Model, RemoteHost: "https://ollama.com:443"})
			o.Look()
			if st := seen.wait(t, 0, model.Unsuitable); !errors.Is(st.Err, model.ErrRefused) || !strings.Contains(st.Err.Error(), "https://ollama.com:443") {
				t.Errorf("the user reads %v", st.Err)
			}
			asked := len(s.Requests())
			if _, _, err := collect(soon(t), o, fim("canary", ""), 5); !errors.Is(err, model.ErrRefused) || len(s.Requests()) != asked {
				t.Errorf("Generate says %v after %d requests more", err, len(s.Requests())-asked)
			}
			told := len(seen.phases())
			s.SetModels(modeltest.Model{Name: opt.Model})
			o.Look()
			seen.wait(t, told, model.Ready)
		})
	}
}

// An Ollama that is too busy for the question, or breaks off in its answer, has not said that the
// model is its own.
func TestAPointerIsNotAskedAfterHalfAnAnswer(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "mine", RemoteHost: "https://ollama.com:443"})
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	// beginning is a server whose first answer about the model is another one.
	beginning := func(t *testing.T, first http.HandlerFunc) string {
		var answered atomic.Bool
		mux := http.NewServeMux()
		mux.Handle("/", proxy)
		mux.HandleFunc("/api/show", func(w http.ResponseWriter, r *http.Request) {
			if answered.Swap(true) {
				proxy.ServeHTTP(w, r)
			} else {
				first(w, r)
			}
		})
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server.URL
	}
	busy := beginning(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	opt := options(busy)
	opt.API, opt.Model = model.OpenAIAPI, "mine"
	if err := start(t, opt).WaitReady(soon(t)); !errors.Is(err, model.ErrRefused) {
		t.Errorf("of one that was busy the user reads %v", err)
	}
	broken := beginning(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"license":`))
	})
	rr, err := model.NewReranker(model.RerankerOptions{URL: broken, Model: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{model.ErrBroken, model.ErrRefused} {
		if err := rr.Judge(soon(t), "canary", []string{"canary"}, nil); !errors.Is(err, want) {
			t.Errorf("Judge says %v, want %v", err, want)
		}
	}
	for _, r := range s.Requests() {
		t.Errorf("%s carries %s", r.Path, r.Body)
	}
}

// Who has no more time while the server is asked that is told so, and not that the server is to be
// restarted.
func TestWhoHasNoMoreTimeSaysNothingOfTheServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody sees the client go
		<-r.Context().Done()
	}))
	defer server.Close()
	rr, err := model.NewReranker(model.RerankerOptions{URL: server.URL, Model: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := rr.Judge(ctx, "query", []string{"text"}, nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, model.ErrUnreachable) {
		t.Errorf("Judge says %v", err)
	}
}

// Servers that are no Ollama answer where it would say that in many ways.
func TestServersWithoutOllamasInterfaceAreAsked(t *testing.T) {
	s := modeltest.NewServer(t)
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"x"}} })
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"LM Studio": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"error":"Unexpected endpoint"}`))
		},
		"a page":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<!doctype html>`)) },
		"a login":      func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
		"unauthorized": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"busy":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"a list":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[1]`)) },
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("/", httputil.NewSingleHostReverseProxy(to))
			mux.HandleFunc("/api/show", answer)
			server := httptest.NewServer(mux)
			defer server.Close()
			opt := options(server.URL)
			opt.API = model.OpenAIAPI
			if text, _, err := collect(soon(t), ready(t, opt), fim("a", ""), 5); text != "x" || err != nil {
				t.Errorf("Generate answers %q, %v", text, err)
			}
		})
	}
}
