package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

func openAIOptions(url string) model.Options {
	opt := options(url + "/v1")
	opt.API = model.OpenAIAPI
	return opt
}

func TestOpenAIRequest(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetAPIKey("secret")
	opt := openAIOptions(s.URL)
	opt.APIKey = "secret"
	o := ready(t, opt)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Logprobs: []float64{-0.5, -0.25, -3}})
	var pieces []string
	var lps []float64
	n, err := o.Generate(soon(t), fim("x", "y"), 2, []string{"\n\n"}, 0, func(p string, lp float64) bool {
		pieces, lps = append(pieces, p), append(lps, lp)
		return true
	})
	if err != nil || strings.Join(pieces, "|") != "a|b" || lps[0] != -0.5 || lps[1] != -0.25 {
		t.Errorf("got %q %v, %v", pieces, lps, err)
	}
	if want := modeltest.CountTokens(fim("x", "y"), false); n != want {
		t.Errorf("%d prompt tokens, want %d", n, want)
	}
	var body map[string]any
	last := s.Prompts()[1] // after the canary
	if err := json.Unmarshal(last.Body, &body); err != nil {
		t.Fatal(err)
	}
	standard := map[string]bool{"model": true, "prompt": true, "max_tokens": true, "temperature": true, "top_p": true,
		"stop": true, "seed": true, "logprobs": true, "stream": true, "stream_options": true}
	for key := range body {
		if !standard[key] {
			t.Errorf("the request has %q, which strict servers refuse", key)
		}
	}
	if last.Path != "/v1/completions" || last.Prompt != fim("x", "y") || body["max_tokens"] != 2.0 || body["temperature"] != 0.2 {
		t.Errorf("request %s %s", last.Path, last.Body)
	}
}

// vLLM refuses more than four stop strings, which every family has. The request
// names four, and quarry stops at the others itself.
func TestAServerWithLimits(t *testing.T) {
	s := modeltest.NewServer(t)
	s.LikeVLLM()
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", ContextLength: 4096})
	stops := []string{"<1>", "<2>", "<3>", "<4>", "<5>", "<6>"}
	opt := openAIOptions(s.URL)
	opt.Families = []model.Family{{Name: "granite", Tags: graniteTags, Stops: stops}}
	o := ready(t, opt)
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"a", "<2>", "b"}, "a"},
		{[]string{"a", "<", "5", ">", "b", "c"}, "a"},
		{[]string{"a<6>b<5>c"}, "a"},
		{[]string{"a", " <", "7>"}, "a <7>"},
		{[]string{"a", "<5"}, "a<5"},
	} {
		s.Queue(modeltest.Answer{Pieces: c.pieces})
		if text, _, err := collect(soon(t), o, fim("x", ""), 20, stops...); err != nil || text != c.want {
			t.Errorf("of %q: %q, %v; want %q", c.pieces, text, err, c.want)
		}
	}
	if _, _, err := collect(soon(t), o, fim("x", ""), 5000, stops...); !errors.Is(err, model.ErrTooLong) {
		t.Errorf("more tokens than there is room for: %v", err)
	}
	for _, r := range s.Prompts() {
		if n := len(r.Stop()); n != 4 {
			t.Errorf("%q was sent with %d stop strings, want 4", r.Prompt, n)
		}
	}
}

func TestOpenAICancelFreesTheModelWhereverItStands(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, openAIOptions(s.URL))
	hold := make(chan struct{})
	defer close(hold)
	// By prompt and not in turn: a request cancelled early may take no answer.
	s.Script(func(r modeltest.Request) modeltest.Answer {
		if r.Prompt == fim("cold", "") {
			return modeltest.Answer{Hold: hold}
		}
		return modeltest.Answer{Pieces: []string{"next"}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cold := ask(ctx, o, fim("cold", ""))
	waitOutcome(t, s, fim("cold", ""), modeltest.Running)
	cancel()
	if _, err := cold.wait(t); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	waitOutcome(t, s, fim("cold", ""), modeltest.Cancelled)
	if text, _, err := collect(soon(t), o, fim("b", ""), 5); err != nil || text != "next" {
		t.Errorf("the next: %q, %v", text, err)
	}
}

func TestOpenAIErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		kind   error
		says   string
	}{
		{"disconnect", modeltest.Answer{Pieces: []string{"a"}, Disconnect: true}, model.ErrBroken, "broke off"},
		{"no end", modeltest.Answer{Pieces: []string{"a"}, NoDone: true}, model.ErrBroken, "broke off"},
		{"an error in the stream", modeltest.Answer{Pieces: []string{"a"}, ErrorLine: "out of pages"}, model.ErrServer, "out of pages"},
		{"too long", modeltest.Answer{Status: 400, Message: "This model's maximum context length is 4096 tokens."}, model.ErrTooLong, "4096"},
		{"busy", modeltest.Answer{Status: 429, Message: "slow down"}, model.ErrBusy, "busy"},
		{"loading", modeltest.Answer{Status: 503, Message: "Loading model"}, model.ErrLoading, "loading"},
		{"other", modeltest.Answer{Status: 500, Message: "cuda error"}, model.ErrServer, "cuda error"},
		{"bare", modeltest.Answer{Status: 502}, model.ErrServer, "502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			o := ready(t, openAIOptions(s.URL))
			s.Queue(c.answer)
			if c.kind == model.ErrBusy { // it is asked again
				s.Queue(c.answer, c.answer, c.answer)
			}
			_, _, err := collect(soon(t), o, fim("a", ""), 5)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "llama") {
				t.Errorf("got %v, want %q with %q", err, c.kind, c.says)
			}
			var long interface{ PromptTooLong() bool }
			if errors.As(err, &long) && long.PromptTooLong() != (c.kind == model.ErrTooLong) {
				t.Error("PromptTooLong is wrong")
			}
			eventually(t, "ready again", func() bool { return o.Ready() == nil })
		})
	}
}

func TestOpenAIStates(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetAPIKey("secret")
	opt := openAIOptions(s.URL)
	seen := newStates()
	opt.OnChange, opt.Clock = seen.add, newManualClock()
	o := start(t, opt)
	if st := seen.wait(t, 0, model.Failing); !strings.Contains(st.Err.Error(), "API key") {
		t.Errorf("the user reads %q", st.Err)
	}
	next := func(n int, phase model.Phase) model.State {
		t.Helper()
		o.Look()
		return seen.wait(t, n, phase)
	}
	s.SetAPIKey("")
	s.SetModels(modeltest.Model{Name: "a"}, modeltest.Model{Name: "b"})
	if st := next(1, model.Missing); !strings.Contains(st.Err.Error(), "one it has: a, b") {
		t.Errorf("the user reads %q", st.Err)
	}
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoFIM: true})
	next(2, model.Unsuitable)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b"})
	next(3, model.Ready)
	s.Stop()
	if st := next(4, model.Unreachable); !strings.Contains(st.Err.Error(), "start it") {
		t.Errorf("the user reads %q", st.Err)
	}
}

// Nobody is sent to a model that the server does not have, nor to one that completes code for search.
func TestAServerIsAskedForWhatItHas(t *testing.T) {
	s := modeltest.NewServer(t)
	s.ScriptEmbed(numbered)
	at := strings.TrimPrefix(s.URL, "http://")
	look := func(models ...modeltest.Model) (completes, embeds string) {
		t.Helper()
		s.SetModels(models...)
		opt := openAIOptions(s.URL)
		opt.Model = "granite4.1:3b"
		rt, err := model.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		if said := fmt.Sprint(rt.Ready()); said != "quarry has not asked the model server yet" {
			t.Errorf("before it is asked: %s", said)
		}
		for _, f := range rt.Check(soon(t)) {
			if !f.OK {
				completes = f.Detail + ": " + f.Fix
			}
		}
		f := rt.NewEmbedder("granite-embedding:30m").Check(soon(t))[0]
		return completes, f.Detail + ": " + f.Fix
	}
	const disable, start = "set embedding.model to one it has that embeds, or embedding.enabled to false", "start it with that model, or set model to one it has"
	for _, test := range []struct {
		has               []modeltest.Model
		completes, embeds string
	}{
		{nil, "has no model granite4.1:3b: " + start, disable},
		{[]modeltest.Model{{Name: "team-model"}}, "has no model granite4.1:3b: set model to one it has: team-model", disable},
		{[]modeltest.Model{{Name: "nomic-embed"}}, "has no model granite4.1:3b: " + start, "set embedding.model to one it has: nomic-embed"},
		{[]modeltest.Model{{Name: "a"}, {Name: "b"}, {Name: "nomic-embed"}}, "has no model granite4.1:3b: set model to one it has: a, b", "set embedding.model to one it has: nomic-embed"},
		{
			[]modeltest.Model{{Name: "granite4.1:3b", NoFIM: true}, {Name: "a"}, {Name: "nomic-embed"}},
			"granite4.1:3b cannot complete code: choose one it has that fills in the middle: a, or set completion.template to custom", "set embedding.model to one it has: nomic-embed",
		},
		{[]modeltest.Model{{Name: "granite4.1:3b", NoFIM: true}}, "choose a model that fills in the middle and start the server with it, or set completion.template to custom", disable},
	} {
		completes, embeds := look(test.has...)
		if want := at + " has no model granite-embedding:30m: " + test.embeds; !strings.Contains(completes, test.completes) || embeds != want {
			t.Errorf("of %+v:\n%s\n%s\nwant\n%s\n%s", test.has, completes, embeds, test.completes, want)
		}
	}
}

func TestOpenAIEmbeddings(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "bert"})
	s.ScriptEmbed(numbered)
	o := ready(t, openAIOptions(s.URL))
	vectors, err := o.NewEmbedder("bert").Embed(soon(t), numbers(20))
	if err != nil {
		t.Fatal(err)
	}
	want(t, vectors, 20)
}

func TestOpenAICheck(t *testing.T) {
	s := modeltest.NewServer(t)
	want := "ok model server\nok model\nok context length\nok fill in the middle\nok speed\n"
	if got := findings(t, openAIOptions(s.URL)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	opt := openAIOptions(s.URL)
	opt.API = "smoke signals"
	if _, err := model.New(opt); err == nil || !strings.Contains(err.Error(), `"openai"`) {
		t.Errorf("got %v", err)
	}
}

// Ollama speaks the same interface, so it can be the other side here. It puts
// the prompt into the model's chat template, as the canary notices.
func TestRealOpenAI(t *testing.T) {
	s := ollamatest.Start(t)
	wrapped := start(t, openAIOptions(s.URL))
	if err := wrapped.WaitReady(soon(t)); !errors.Is(err, model.ErrNoFIM) || !strings.Contains(err.Error(), "chat template") {
		t.Errorf("a model with a chat template: %v", err)
	}

	s.CreatePlain("plain", ollamatest.Tiny)
	s.CreateBert("tiny-bert", ollamatest.TinyBert)
	opt := openAIOptions(s.URL)
	opt.Model = "plain"
	o := ready(t, opt)
	pieces := 0
	n, err := o.Generate(soon(t), fim("func add(", ")"), 20, []string{"<|filename|>"}, 0, func(_ string, lp float64) bool {
		pieces++
		if !math.IsNaN(lp) && lp > 0 {
			t.Errorf("a log-probability of %v", lp)
		}
		return true
	})
	if err != nil || pieces < 15 || n < 10 {
		t.Errorf("%d pieces, %d prompt tokens, %v", pieces, n, err)
	}
	reply, err := o.Chat(soon(t), question(why), func(string) bool { return true })
	if err != nil || len(reply.Text) < 100 || reply.Tokens == 0 {
		t.Errorf("a conversation: %+v, %v", reply, err)
	}
	v, err := o.NewEmbedder("tiny-bert").EmbedQuery(soon(t), "hello")
	if err != nil || len(v) != ollamatest.TinyBert.Embedding {
		t.Errorf("%d dimensions, %v", len(v), err)
	}
}

// Both kinds of server say how many parameters a model has, or do not; then the name may, as of vLLM, whose list has none.
func TestSmall(t *testing.T) {
	for api, opt := range map[string]func(string) model.Options{"ollama": options, "openai": openAIOptions} {
		for parameters, want := range map[float64]bool{0: false, 1.5e9: true, 3.4e9: true, 8e9: false} {
			s := modeltest.NewServer(t)
			s.SetModels(modeltest.Model{Name: "coder", Parameters: parameters})
			asked := opt(s.URL)
			asked.Model = "coder"
			if got := ready(t, asked).Small(); got != want {
				t.Errorf("%s, %g parameters: small is %v", api, parameters, got)
			}
		}
	}
	for name, want := range map[string]bool{
		"Qwen/Qwen2.5-Coder-1.5B-Instruct": true, "Qwen/Qwen2.5-Coder-7B": false, "Qwen/Qwen3-Coder-30B-A3B-Instruct": false,
		"ibm-granite/granite-4.0-micro": true, "granite4.1:3b": true, "granite4:micro": true, "granite-4.0-350m": true, "qwen2.5-coder:1.5b": true,
		"/models/starcoder2-3b.Q4_K_M.gguf": true, "mixtral-8x2b": false, "llama-70b_q4": false, "model-4bit": false, "team-model": false,
	} {
		s := modeltest.NewServer(t)
		s.SetModels(modeltest.Model{Name: name})
		opt := openAIOptions(s.URL)
		opt.Model = name
		if got := ready(t, opt).Small(); got != want {
			t.Errorf("%s: small is %v", name, got)
		}
	}
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "coder-3b", Parameters: 8e9})
	opt := openAIOptions(s.URL)
	opt.Model = "coder-3b"
	if ready(t, opt).Small() {
		t.Error("the name counts more than what the server says")
	}
}

// at is a clock on which nobody waits; it notes for how long they wanted to.
type at struct {
	mu    sync.Mutex
	waits []time.Duration // guarded by mu
}

func (a *at) Now() time.Time { return time.Unix(1, 0) }

func (a *at) After(d time.Duration) <-chan time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits = append(a.waits, d)
	now := make(chan time.Time, 1)
	now <- time.Unix(1, 0)
	return now
}

// A server that is full is asked again, when it says or after ever longer pauses, and not for
// ever.
func TestAFullServerIsAskedAgain(t *testing.T) {
	check := func(full int64, retryAfter string) (first model.Finding, waits []time.Duration, asked int64) {
		t.Helper()
		return checkFull(t.Context(), t, full, retryAfter)
	}
	f, waits, _ := check(3, "")
	if !f.OK || len(waits) < 3 {
		t.Fatalf("%+v after waits of %v", f, waits)
	}
	for n, wait := range waits[:3] {
		if most := 500 * time.Millisecond << n; wait > most || wait < most/2 {
			t.Errorf("wait %d is %v, want %v to %v", n, wait, most/2, most)
		}
	}
	if f, waits, _ := check(2, "7"); !f.OK || len(waits) < 2 || waits[0] != 7*time.Second || waits[1] != 7*time.Second {
		t.Errorf("%+v after waits of %v", f, waits)
	}
	if f, waits, _ := check(2, "Sat, 01 Aug 2026 10:00:07 GMT"); !f.OK || len(waits) < 2 || waits[0] != 7*time.Second || waits[1] != 7*time.Second {
		t.Errorf("with a date: %+v after waits of %v", f, waits)
	}
	if f, waits, _ := check(2, "Sat, 01 Aug 2026 09:00:00 GMT"); !f.OK || len(waits) < 2 || waits[0] < 250*time.Millisecond || waits[0] > 500*time.Millisecond {
		t.Errorf("with a date that is past: %+v after waits of %v", f, waits)
	}
	if f, _, asked := check(-1, ""); f.OK || asked != 4 || !strings.Contains(f.Detail, "busy") {
		t.Errorf("%+v after %d requests", f, asked)
	}
	for _, late := range []string{"3600", "9300000000", "Sat, 01 Aug 2026 11:00:00 GMT", "Sat, 01 Aug 2626 11:00:00 GMT"} {
		if f, waits, asked := check(-1, late); f.OK || asked != 1 || len(waits) != 0 {
			t.Errorf("%s: %+v after %d requests and waits of %v", late, f, asked, waits)
		}
	}
}

// A server that is full is one that answers: who cannot wait as long as it says learns that,
// and not that it is gone.
func TestAFullServerIsNotAway(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	f, waits, asked := checkFull(ctx, t, -1, "9")
	if f.OK || !strings.Contains(f.Detail, "busy") || len(waits) > 0 || asked != 1 {
		t.Errorf("%+v after %d requests and waits of %v", f, asked, waits)
	}
}

// checkFull asks a server that sends so many requests away, all if below 0.
func checkFull(ctx context.Context, t *testing.T, full int64, retryAfter string) (first model.Finding, waits []time.Duration, asked int64) {
	t.Helper()
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := count.Add(1); full < 0 || n <= full {
			w.Header().Set("Date", "Sat, 01 Aug 2026 10:00:00 GMT") // by the server's clock, which is not this machine's
			w.Header().Set("Retry-After", retryAfter)
			w.WriteHeader([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[n%2])
			return
		}
		fmt.Fprint(w, `{"data": [{"id": "m"}]}`)
	}))
	defer server.Close()
	clock := &at{}
	rt, err := model.New(model.Options{API: model.OpenAIAPI, URL: server.URL, Model: "m", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	first = rt.Check(ctx)[0]
	clock.mu.Lock()
	defer clock.mu.Unlock()
	return first, clock.waits, count.Load()
}

// A server that knows no other way is given how an answer begins as the assistant's turn.
func TestOpenAIAnswerThatIsBegun(t *testing.T) {
	var turns []map[string]string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"granite4.1:3b"}]}`)
		case "/v1/completions": // the canary
			io.WriteString(w, "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":\"length\"}]}\n\n")
		default:
			var asked struct{ Messages []map[string]string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			turns = asked.Messages
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x := 1\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	defer s.Close()
	o := ready(t, openAIOptions(s.URL))
	c := question(why)
	c.Begin = "```go\n"
	if reply, err := o.Chat(soon(t), c, func(string) bool { return true }); err != nil || reply.Text != "```go\nx := 1" {
		t.Errorf("%+v, %v", reply, err)
	}
	if n := len(turns); n != 2 || turns[1]["role"] != "assistant" || turns[1]["content"] != c.Begin {
		t.Errorf("the server is given %v", turns)
	}
}

// A server closes a connection that it kept in the moment it is asked on it, as llama.cpp
// does after some seconds: it is asked again on another, and nobody is told.
func TestAConnectionThatWasKeptBreaks(t *testing.T) {
	var closed atomic.Int32
	var asked sync.Map // connections by their remote address, on which a conversation was answered
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Idempotency-Key"]) > 0 {
			t.Error("the header is sent")
		}
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"granite4.1:3b"}]}`)
			return
		case "/v1/completions": // the canary
			io.WriteString(w, "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":\"length\"}]}\n\n")
			return
		}
		if _, again := asked.LoadOrStore(r.RemoteAddr, true); again {
			closed.Add(1)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
			return
		}
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	o := ready(t, openAIOptions(s.URL))
	for range 3 {
		if reply, err := o.Chat(soon(t), question(why), func(string) bool { return true }); err != nil || reply.Text != "yes" {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if closed.Load() == 0 {
		t.Error("no connection was used again, so that none broke")
	}
}

// What a server says is wrong is told as what it is: the address is right where the list of models is there, and a model
// that is only chatted with answers questions.
func TestWhatAServerRefuses(t *testing.T) {
	const detail = `{"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}`
	for name, c := range map[string]struct {
		status int
		body   string
		kind   error
		says   string
	}{
		"only chat":         {404, `{"error": {"message": "This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?"}}`, model.ErrNoFIM, " has no /v1/completions: ask one that has it for ghost text, such as vLLM or llama.cpp (This is a chat model"},
		"no path":           {404, `{"detail": "Not Found"}`, model.ErrNoFIM, " has no /v1/completions: "},
		"no method":         {405, `{"detail": "Method Not Allowed"}`, model.ErrNoFIM, " has no /v1/completions: "},
		"LM Studio's":       {200, `{"error": "Unexpected endpoint or method. (POST /v1/completions)"}`, model.ErrNoFIM, " has no /v1/completions: "},
		"no model":          {404, `{"error": {"message": "The model granite4.1:3b does not exist."}}`, model.ErrModelMissing, " has no model granite4.1:3b"},
		"an error":          {200, `{"error": {"message": "no model is loaded"}}`, model.ErrServer, " failed: see its log (no model is loaded)"},
		"no stream":         {200, `{"choices": [{"text": "a"}]}`, model.ErrServer, " does not stream its answers: ask a server that does"},
		"a page":            {200, "<!doctype html><p>Log in", model.ErrServer, " is not an OpenAI server: check the address"},
		"a field":           {422, detail, model.ErrServer, " refuses requests: see its log (stream_options: Extra inputs are not permitted)"},
		"a quota":           {429, `{"error": {"message": "You exceeded your current quota, please check your plan"}}`, model.ErrServer, "the quota at 127.0.0.1:"},
		"a page of a proxy": {502, "<html><h1>502 Bad Gateway</h1></html>", model.ErrServer, " failed with HTTP status 502: see its log"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/v1/models":
					fmt.Fprint(w, `{"data": [{"id": "granite4.1:3b"}]}`)
				case "/v1/completions":
					w.WriteHeader(c.status)
					fmt.Fprint(w, c.body)
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			defer s.Close()
			seen, opt := newStates(), openAIOptions(s.URL)
			opt.OnChange = seen.add
			o := start(t, opt)
			if err := o.WaitReady(soon(t)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the user reads %v", err)
			}
			list := o.Check(soon(t))
			if f := list[len(list)-1]; f.OK || f.Name != model.FillsIn || !strings.Contains(f.Detail+": "+f.Fix, c.says) {
				t.Errorf("found %+v", f)
			}
		})
	}
}
