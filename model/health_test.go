package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// watched is a runtime whose time the test moves and whose states it records.
func watched(t *testing.T, url string) (*model.Runtime, *manualClock, *states) {
	t.Helper()
	clock, seen := newManualClock(), newStates()
	opt := options(url)
	opt.Clock, opt.OnChange = clock, seen.add
	return start(t, opt), clock, seen
}

func TestOutageIsToldOnceAndEndsByItself(t *testing.T) {
	s := modeltest.NewServer(t)
	s.Stop()
	o, clock, seen := watched(t, s.URL)
	st := seen.wait(t, 0, model.Unreachable)
	for _, part := range []string{s.URL, "ollama serve", "https://ollama.com/download"} {
		if !strings.Contains(st.Err.Error(), part) {
			t.Errorf("the user reads %q, without %q", st.Err, part)
		}
	}
	// Each wait is half to all of a back-off that doubles up to 15 s.
	limit := 250 * time.Millisecond
	for range 9 {
		var wait time.Duration
		eventually(t, "the next retry", func() bool { wait = clock.pending(); return wait > 0 })
		if wait < limit/2 || wait > limit {
			t.Errorf("waits %v, want between %v and %v", wait, limit/2, limit)
		}
		clock.advance(wait)
		eventually(t, "the wait is over", func() bool { return clock.pending() > 0 })
		limit = min(2*limit, 15*time.Second)
	}
	if got := seen.phases(); !slices.Equal(got, []model.Phase{model.Unreachable}) {
		t.Errorf("the user was told %v", got)
	}
	if err := o.Ready(); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("Ready says %v", err)
	}

	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	clock.advance(15 * time.Second) // once: the retry waits already, and requests are timed by this clock too
	seen.wait(t, 1, model.Ready)
	if got := seen.phases(); !slices.Equal(got, []model.Phase{model.Unreachable, model.Loading, model.Ready}) {
		t.Errorf("the user was told %v", got)
	}
	if s.Loads() != 1 {
		t.Errorf("the model was loaded %d times", s.Loads())
	}
}

func TestTypingShortensTheWait(t *testing.T) {
	s := modeltest.NewServer(t)
	s.Stop()
	o, clock, seen := watched(t, s.URL)
	seen.wait(t, 0, model.Unreachable)
	for wait := time.Duration(0); ; clock.advance(wait) {
		eventually(t, "a retry is due", func() bool { wait = clock.pending(); return wait > 0 })
		if wait > 10*time.Second {
			break
		}
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if o.Ready(); s.Probes() != 0 {
		t.Error("asked again at once")
	}
	clock.advance(2 * time.Second)
	if err := o.Ready(); err == nil {
		t.Error("Ready asks the server")
	}
	seen.wait(t, 1, model.Ready)
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		model modeltest.Model
		phase model.Phase
		kind  error
		says  string
	}{
		{"another model", modeltest.Model{Name: "llama3.2"}, model.Missing, model.ErrModelMissing, "quarry model pull granite4.1:3b"},
		{"no fill-in-the-middle", modeltest.Model{Name: "granite4.1:3b", NoFIM: true}, model.Unsuitable, model.ErrNoFIM, "<|fim_prefix|> <|fim_suffix|> <|fim_middle|>"},
		{"in the cloud", modeltest.Model{Name: "granite4.1:3b", RemoteHost: "https://ollama.com:443"}, model.Unsuitable, model.ErrRefused, "https://ollama.com:443"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			s.SetModels(c.model)
			o, clock, seen := watched(t, s.URL)
			st := seen.wait(t, 0, c.phase)
			if !errors.Is(st.Err, c.kind) || !strings.Contains(st.Err.Error(), c.says) {
				t.Errorf("the user reads %q", st.Err)
			}
			if c.model.RemoteHost != "" && len(s.Requests()) > 0 {
				t.Errorf("a model in the cloud was sent %s", s.Requests()[0].Body)
			}
			if _, _, err := collect(soon(t), o, fim("a", ""), 5); !errors.Is(err, c.kind) {
				t.Errorf("Generate says %v", err)
			}
			s.SetModels(modeltest.Model{Name: "granite4.1:3b"})
			seen.reach(t, clock, 2*time.Minute, 1, model.Ready)
		})
	}
}

func TestAHybridModelWorksWithAWarning(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", Architecture: "granitehybrid"})
	o, _, seen := watched(t, s.URL)
	if st := seen.wait(t, 0, model.Ready); !strings.Contains(st.Warning, "hybrid") || st.Err != nil {
		t.Errorf("state %+v", st)
	}
	if err := o.Ready(); err != nil {
		t.Error(err)
	}
}

func TestTheCanaryIsAskedOnceForEveryLifeOfTheServer(t *testing.T) {
	s := modeltest.NewServer(t)
	o, clock, seen := watched(t, s.URL)
	seen.wait(t, 0, model.Ready)
	canaries := func() (n int) {
		for _, r := range s.Prompts() {
			if r.Prompt == strings.Join(graniteTags, "") {
				n++
			}
		}
		return n
	}
	probes := s.Probes()
	s.Queue(modeltest.Answer{ErrorLine: "a hiccup"})
	if _, _, err := collect(soon(t), o, fim("a", ""), 5); err == nil {
		t.Fatal("no error")
	}
	eventually(t, "the server is doubted", func() bool { return s.Probes() > probes })
	if n := canaries(); n != 1 {
		t.Errorf("%d canaries after an error, want 1: another would cost the cache", n)
	}

	s.Stop()
	seen.reach(t, clock, 30*time.Second, 0, model.Unreachable)
	n := len(seen.phases())
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	seen.reach(t, clock, time.Second, n, model.Ready)
	if n := canaries(); n != 2 {
		t.Errorf("%d canaries after a restart, want 2: it may be another server", n)
	}
}

// A server that was updated between two looks may treat the model's tags
// otherwise.
func TestAnotherVersionOfTheServerIsAskedTheCanary(t *testing.T) {
	s := modeltest.NewServer(t)
	_, clock, seen := watched(t, s.URL)
	seen.wait(t, 0, model.Ready)
	n := len(seen.phases())
	s.SetVersion("0.18.0")
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoFIM: true})
	st := seen.reach(t, clock, 30*time.Second, n, model.Unsuitable)
	if !errors.Is(st.Err, model.ErrNoFIM) || st.Version != "0.18.0" {
		t.Errorf("state %+v", st)
	}
}

func TestAModelDeletedLaterIsNoticed(t *testing.T) {
	s := modeltest.NewServer(t)
	o, _, seen := watched(t, s.URL)
	seen.wait(t, 0, model.Ready)
	s.SetModels()
	if _, _, err := collect(soon(t), o, fim("a", ""), 5); !errors.Is(err, model.ErrModelMissing) {
		t.Errorf("Generate says %v", err)
	}
	seen.wait(t, 0, model.Missing)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, _, seen := watched(t, s.URL)
	if st := seen.wait(t, 0, model.Failing); !strings.Contains(st.Err.Error(), "elsewhere") {
		t.Errorf("the user reads %q", st.Err)
	}
	if reached.Load() {
		t.Error("a request was sent where the redirect points")
	}
}

func TestAServerThatIsNoOllama(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"html": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<!doctype html><p>hello")) },
		"404":  http.NotFound,
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(h)
			defer s.Close()
			_, _, seen := watched(t, s.URL)
			if st := seen.wait(t, 0, model.Failing); !strings.Contains(st.Err.Error(), "does not speak Ollama's API") {
				t.Errorf("the user reads %q", st.Err)
			}
		})
	}
}

// Whoever has another server than Ollama, and has not said so, learns what to set.
func TestAServerOfAnotherKind(t *testing.T) {
	for name, other := range map[string]http.HandlerFunc{
		"vLLM": http.NotFound,
		"LM Studio": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"error": "Unexpected endpoint or method. (%s %s)"}`, r.Method, r.URL.Path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/models" {
					fmt.Fprint(w, `{"object": "list", "data": [{"id": "qwen2.5-coder"}]}`)
					return
				}
				other(w, r)
			}))
			defer s.Close()
			o, _, seen := watched(t, s.URL)
			if st := seen.wait(t, 0, model.Failing); !strings.HasSuffix(st.Err.Error(), " speaks OpenAI's API: set ollama.api to openai") {
				t.Errorf("the user reads %q", st.Err)
			}
			if list := o.Check(soon(t)); len(list) != 1 || list[0].OK || list[0].Fix != "set ollama.api to openai" {
				t.Errorf("found %+v", list)
			}
		})
	}
}

func TestCloseWhileLoading(t *testing.T) {
	s := modeltest.NewServer(t)
	hold := make(chan struct{})
	defer close(hold)
	s.Queue(modeltest.Answer{Hold: hold}) // the canary: it never ends
	o, _, seen := watched(t, s.URL)
	seen.wait(t, 0, model.Loading)
	waiting := make(chan error, 1)
	go func() { waiting <- o.WaitReady(context.Background()) }()
	if err := o.Ready(); !errors.Is(err, model.ErrLoading) {
		t.Errorf("Ready says %v", err)
	}
	o.Close()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("WaitReady says %v", err)
	}
	if _, err := model.New(model.Options{}); err == nil {
		t.Error("a runtime without a model")
	}
}

// An Ollama that was stopped (SIGSTOP) accepts connections and says nothing. Who
// waits for an answer learns so in two seconds, who asks next at once; one that
// only takes long is left to it.
func TestAServerThatWasStoppedIsNotWaitedFor(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	hold := make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"late"}, Hold: hold})
	probes := s.Probes()
	slow := ask(t.Context(), o, fim("slow", ""))
	eventually(t, "a server that takes long is asked twice whether it is there", func() bool { return s.Probes() >= probes+2 })
	close(hold)
	if text, err := slow.wait(t); err != nil || text != "late" {
		t.Errorf("of a slow server: %q, %v", text, err)
	}

	s.Freeze() // for longer than anybody waits here
	if _, err := ask(t.Context(), o, fim("frozen", "")).wait(t); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("of a server that was stopped: %v", err)
	}
	if err := o.Ready(); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("the next one is told %v", err)
	}
	s.Thaw()
	eventually(t, "it is back", func() bool { return o.Ready() == nil })
	if _, err := ask(t.Context(), o, fim("back", "")).wait(t); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// A client may show no more than the first 60 characters of a message, its "quarry: "
// included: they name cause and remedy.
func TestTheMostFrequentMessageIsShort(t *testing.T) {
	rt, err := model.New(model.Options{URL: "http://127.0.0.1:1", Model: "granite4.1:3b"})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	rt.Start()
	err = rt.WaitReady(soon(t))
	if err == nil || !strings.HasPrefix(err.Error(), "Ollama does not answer: start it with `ollama serve`") || len("quarry: Ollama does not answer: start it with `ollama serve`") > 60 {
		t.Errorf("%v", err)
	}
}

// Another model that gets the name while this one is in use is asked for its tags anew.
func TestReplacedModelIsAskedForItsTags(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	s.Create("mine:1b", ollamatest.Tiny)
	other := ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 128, Context: 4096, NoFIM: true}
	s.Create("blind:1b", other)
	seen := newStates()
	opt := optionsFor(s.URL, "mine:1b")
	opt.OnChange = seen.add
	o := ready(t, opt)
	l := library(t, s.URL)
	give := func(from string) {
		t.Helper()
		if err := l.Copy(t.Context(), from, "mine:1b"); err != nil {
			t.Fatal(err)
		}
		o.Look()
	}
	if err := l.Copy(t.Context(), "mine:1b", "granite:1b"); err != nil {
		t.Fatal(err)
	}
	n := len(seen.phases())
	give("blind:1b")
	if st := seen.wait(t, n, model.Unsuitable); !errors.Is(st.Err, model.ErrNoFIM) {
		t.Errorf("one without tags: %v", st.Err)
	}
	n = len(seen.phases())
	give("granite:1b")
	seen.wait(t, n, model.Ready)
	if text, _, err := collect(soon(t), o, fim("a", "b"), 5); err != nil || text == "" {
		t.Errorf("the first one again: %q, %v", text, err)
	}
	n = len(seen.phases())
	o.Look()
	if _, _, err := collect(soon(t), o, fim("a", "c"), 5); err != nil || len(seen.phases()) != n {
		t.Errorf("the same one: %v, %v", err, seen.phases()[n:])
	}
}

// A model whose answers to several prompts in a row have no text is a warning, told once, until
// one has. Where one has nothing to add, or the same is asked several times, nothing is said.
func TestAModelThatAlwaysAnswersNothingIsAWarning(t *testing.T) {
	for api, at := range map[string]func(string) model.Options{"ollama": options, "openai": openAIOptions} {
		t.Run(api, func(t *testing.T) {
			s := modeltest.NewServer(t)
			seen := newStates()
			opt := at(s.URL)
			opt.OnChange = seen.add
			o := ready(t, opt)
			seen.wait(t, 0, model.Ready)
			told := len(seen.phases())
			s.Script(func(r modeltest.Request) modeltest.Answer {
				if strings.Contains(r.Prompt, "text") {
					return modeltest.Answer{Pieces: []string{"text"}}
				}
				return modeltest.Answer{}
			})
			put := func(what string) {
				t.Helper()
				if _, _, err := collect(soon(t), o, fim(what, ""), 5); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				put("the same")
			}
			put("text")
			for n := range 40 {
				put(fmt.Sprint(n))
				if n%5 == 4 {
					put("text")
				}
			}
			if st := o.State(); st.Warning != "" || len(seen.phases()) != told {
				t.Errorf("where some have nothing to add: %+v", st)
			}
			for n := range 10 {
				put(fmt.Sprint("nothing", n))
			}
			st := o.State()
			if st.Phase != model.Ready || st.Full || !strings.Contains(st.Warning, " answers nothing: choose another, such as ") {
				t.Errorf("the user is told %+v", st)
			}
			if n := len(seen.phases()); n != told+1 {
				t.Errorf("told %d times", n-told)
			}
			put("text")
			if st := o.State(); st.Warning != "" {
				t.Errorf("after an answer with text: %+v", st)
			}
		})
	}
}
