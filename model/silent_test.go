package model_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
)

// silence is how long a server may send nothing to the first requests, as docs/models.md says.
const silence = 30 * time.Second

// mute is a server with OpenAI's interface that lists its model and answers no prompt, until speak is called.
func mute(t *testing.T) (s *modeltest.Server, speak func()) {
	t.Helper()
	s = modeltest.NewServer(t)
	hold := make(chan struct{})
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Hold: hold} })
	return s, func() {
		s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"a"}} })
	}
}

// waits moves the clock by d once something waits for that long.
func waits(t *testing.T, clock *manualClock, d time.Duration) {
	t.Helper()
	eventually(t, "somebody waits "+d.String(), func() bool { return clock.due(d) })
	clock.advance(d)
}

// A server whose list of models answers and whose model does not is said to be silent, once and with what to do, and asked
// again until it answers, without a state between.
func TestASilentServerIsSaidAndComesBack(t *testing.T) {
	s, speak := mute(t)
	opt := openAIOptions(s.URL)
	clock, seen := newManualClock(), newStates()
	opt.Clock, opt.OnChange = clock, seen.add
	o := start(t, opt)
	seen.wait(t, 0, model.Loading)
	waits(t, clock, silence)
	st := seen.wait(t, 1, model.Unreachable)
	if says := strings.TrimPrefix(s.URL, "http://") + " does not answer requests: restart it ("; !errors.Is(st.Err, model.ErrUnreachable) || !strings.HasPrefix(st.Err.Error(), says) || !strings.Contains(st.Err.Error(), "30 s") {
		t.Errorf("the user reads %q", st.Err)
	}
	if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("who waits for it is told %v", err)
	}
	for range 3 {
		o.Look() // sooner than by itself, which is at most a quarter of a minute
		waits(t, clock, silence)
	}
	speak()
	o.Look()
	seen.wait(t, 2, model.Ready)
	if got := seen.phases(); !slices.Equal(got, []model.Phase{model.Loading, model.Unreachable, model.Ready}) {
		t.Errorf("the user was told %v", got)
	}
}

// The pause before a silent server is tried again is at most a quarter of a minute, and two seconds for who types.
func TestASilentServerIsTriedAgain(t *testing.T) {
	s, _ := mute(t)
	opt := openAIOptions(s.URL)
	clock, seen := newManualClock(), newStates()
	opt.Clock, opt.OnChange = clock, seen.add
	o := start(t, opt)
	limit := 250 * time.Millisecond
	for range 8 {
		waits(t, clock, silence)
		var pause time.Duration
		eventually(t, "a pause", func() bool { pause = clock.pending(); return pause > 0 && pause < silence })
		if pause < limit/2 || pause > limit {
			t.Errorf("waits %v, want between %v and %v", pause, limit/2, limit)
		}
		clock.advance(pause)
		limit = min(2*limit, 15*time.Second)
	}
	waits(t, clock, silence)
	eventually(t, "a pause", func() bool { return clock.pending() > 2*time.Second })
	asked := s.Probes()
	clock.advance(2 * time.Second)
	if err := o.Ready(); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("who types is told %v", err)
	}
	eventually(t, "who types has it tried", func() bool { return s.Probes() > asked })
}

// late is a context whose time is over when the channel is closed.
type late struct {
	context.Context
	over chan struct{}
}

func (l late) Done() <-chan struct{} { return l.over }

func (l late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// The check-up says of a silent server what is so and what to do, wherever it stands: when the time that the server has is
// over, when that of the caller is, and when the caller ends it.
func TestCheckOfASilentServer(t *testing.T) {
	for name, test := range map[string]struct {
		ends        func(clock *manualClock, tooLate, cancel func())
		detail, fix string
	}{
		"silent":    {func(clock *manualClock, _, _ func()) { clock.advance(silence) }, "HOST does not answer requests", "restart it ("},
		"no time":   {func(_ *manualClock, tooLate, _ func()) { tooLate() }, "HOST does not answer requests", "restart it"},
		"cancelled": {func(_ *manualClock, _, cancel func()) { cancel() }, "stopped before HOST answered", "run it again"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := mute(t)
			s.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "bert"})
			hold := make(chan struct{})
			defer close(hold)
			s.ScriptEmbed(func(modeltest.Request) modeltest.EmbedAnswer { <-hold; return modeltest.EmbedAnswer{} })
			host := strings.TrimPrefix(s.URL, "http://")
			look := func(what string, check func(context.Context, *model.Runtime) []model.Finding) {
				t.Helper()
				clock := newManualClock()
				opt := openAIOptions(s.URL)
				opt.Clock = clock
				o, err := model.New(opt)
				if err != nil {
					t.Fatal(err)
				}
				defer o.Close()
				over := make(chan struct{})
				ctx, cancel := context.WithCancel(late{soon(t), over})
				defer cancel()
				found := make(chan []model.Finding, 1)
				go func() { found <- check(ctx, o) }()
				eventually(t, "it is asked", func() bool { return clock.due(silence) })
				test.ends(clock, func() { close(over) }, cancel)
				list := <-found
				if f := list[len(list)-1]; f.OK || f.Detail != strings.ReplaceAll(test.detail, "HOST", host) || !strings.HasPrefix(f.Fix, test.fix) {
					t.Errorf("%s: %+v", what, f)
				}
			}
			look("completion", func(ctx context.Context, o *model.Runtime) []model.Finding { return o.Check(ctx) })
			look("search", func(ctx context.Context, o *model.Runtime) []model.Finding { return o.NewEmbedder("bert").Check(ctx) })
		})
	}
}

// A full server is one that answers: it is not called silent, however long it has others wait.
func TestAFullServerIsNotSilent(t *testing.T) {
	s := modeltest.NewServer(t)
	opt := openAIOptions(s.URL)
	clock, seen := newManualClock(), newStates()
	opt.Clock, opt.OnChange = clock, seen.add
	busy := modeltest.Answer{Status: http.StatusTooManyRequests, Message: "slow down", RetryAfter: "9"}
	hold := make(chan struct{})
	s.Queue(busy, busy, busy, modeltest.Answer{Pieces: []string{"a"}, Hold: hold})
	start(t, opt)
	for n := range 3 {
		eventually(t, "it is asked", func() bool { return len(s.Prompts()) == n+1 })
		waits(t, clock, 9*time.Second)
	}
	eventually(t, "it is asked", func() bool { return len(s.Prompts()) == 4 })
	clock.advance(5 * time.Second) // more than silence since the first, and less since it said that it is full
	close(hold)
	seen.wait(t, 0, model.Ready)
	if got := seen.phases(); !slices.Equal(got, []model.Phase{model.Loading, model.Ready}) {
		t.Errorf("the user was told %v", got)
	}
}

// A server that sends the requests away is a warning from the third on, whatever came before, and none once it has answered
// one. A look at it that it sends away changes nothing.
func TestAFullServerIsAWarning(t *testing.T) {
	for name, before := range map[string][]modeltest.Answer{"at once": nil, "after an error": {{Status: http.StatusInternalServerError, Message: "a hiccup"}}} {
		for api, at := range map[string]func(string) model.Options{"openai": openAIOptions, "ollama": options} {
			t.Run(api+" "+name, func(t *testing.T) {
				s := modeltest.NewServer(t)
				opt := at(s.URL)
				seen := newStates()
				opt.OnChange, opt.Clock = seen.add, newManualClock()
				o := ready(t, opt)
				seen.wait(t, 0, model.Ready) // who waits may know it before it is told
				told := len(seen.phases())
				s.Queue(before...)
				for range before {
					if _, _, err := collect(soon(t), o, fim("a", ""), 5); !errors.Is(err, model.ErrServer) {
						t.Fatalf("%v", err)
					}
				}
				full := modeltest.Answer{Status: http.StatusServiceUnavailable, Message: "server busy", RetryAfter: "3600"} // so that it is asked once
				s.Script(func(modeltest.Request) modeltest.Answer { return full })
				s.RefuseLists(http.StatusServiceUnavailable)
				for n := range 4 {
					if _, _, err := collect(soon(t), o, fim("a", ""), 5); !errors.Is(err, model.ErrBusy) {
						t.Fatalf("%v", err)
					}
					o.Look()
					st := o.State()
					if warned := strings.Contains(st.Warning, ": wait, quarry goes on asking ("); st.Phase != model.Ready || warned != (n >= 2) || st.Full != warned {
						t.Errorf("after %d: %+v", n+1, st)
					}
				}
				s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"b"}} })
				if text, _, err := collect(soon(t), o, fim("a", ""), 5); err != nil || text != "b" {
					t.Fatalf("%q, %v", text, err)
				}
				if st := o.State(); st.Phase != model.Ready || st.Warning != "" || st.Full {
					t.Errorf("after an answer: %+v", st)
				}
				eventually(t, "both are told", func() bool { return len(seen.phases()) >= told+2 })
				if got := seen.phases()[told:]; !slices.Equal(got, []model.Phase{model.Ready, model.Ready}) {
					t.Errorf("the user was told %v", got)
				}
			})
		}
	}
}

// A server whose list of models answers and whose requests fail is a warning from the third on, with the cause, until one is
// answered. The list is all that the watcher looks at again.
func TestAServerThatFailsIsAWarning(t *testing.T) {
	for says, answer := range map[string]modeltest.Answer{
		" failed: see its log (EngineCore encountered an issue). It answered none": {Status: http.StatusInternalServerError, Message: "EngineCore encountered an issue."},
		" refuses the API key: put the key it expects into":                        {Status: http.StatusUnauthorized, Message: "Invalid API Key"},
		" refuses requests: see its log (logprobs is not supported)":               {Status: http.StatusBadRequest, Message: "logprobs is not supported"},
		" broke off before it answered: see its log":                               {Disconnect: true},
	} {
		t.Run(says, func(t *testing.T) {
			s := modeltest.NewServer(t)
			o := ready(t, openAIOptions(s.URL))
			s.Script(func(modeltest.Request) modeltest.Answer { return answer })
			for n := range 4 {
				if _, _, err := collect(soon(t), o, fim("a", ""), 5); err == nil {
					t.Fatal("it answered")
				}
				want, st := n >= 2, o.State()
				if st.Phase != model.Ready || st.Full != want || strings.HasPrefix(st.Warning, "127.0.0.1:") != want || strings.Contains(st.Warning, says) != want || (st.Why == "no answers") != want {
					t.Errorf("after %d: %+v", n+1, st)
				}
			}
			s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"b"}} })
			if text, _, err := collect(soon(t), o, fim("a", ""), 5); err != nil || text != "b" {
				t.Fatalf("%q, %v", text, err)
			}
			if st := o.State(); st.Phase != model.Ready || st.Warning != "" || st.Full || st.Why != "" {
				t.Errorf("after an answer: %+v", st)
			}
		})
	}
}

// A server that takes requests and writes nothing is a warning from the third on that was given up after five seconds; who
// types on and gives up sooner says nothing of it.
func TestAServerThatGivesNoAnswerInTimeIsAWarning(t *testing.T) {
	s := modeltest.NewServer(t)
	opt, clock := openAIOptions(s.URL), newManualClock()
	opt.Clock = clock
	o := ready(t, opt)
	hold := make(chan struct{})
	defer close(hold)
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Hold: hold} })
	giveUp := func(after time.Duration) {
		t.Helper()
		ctx, cancel := context.WithCancel(soon(t))
		before := len(s.Prompts())
		a := ask(ctx, o, fim("a", ""))
		eventually(t, "it is asked", func() bool { return len(s.Prompts()) == before+1 })
		clock.advance(after)
		cancel()
		if _, err := a.wait(t); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v", err)
		}
		eventually(t, "it is given up", func() bool { return o.Metrics().Stopped == before })
	}
	for range 4 {
		giveUp(time.Second)
	}
	if st := o.State(); st.Full || st.Warning != "" {
		t.Errorf("who types on: %+v", st)
	}
	for n := range 3 {
		giveUp(5 * time.Second)
		want := n == 2
		eventually(t, "the user is told", func() bool {
			st := o.State()
			return st.Phase == model.Ready && st.Full == want && strings.Contains(st.Warning, " gives no answer in time: wait, choose a smaller model, or restart it") == want
		})
	}
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"b"}} })
	if text, _, err := collect(soon(t), o, fim("a", ""), 5); err != nil || text != "b" {
		t.Fatalf("%q, %v", text, err)
	}
	if st := o.State(); st.Full || st.Warning != "" {
		t.Errorf("after an answer: %+v", st)
	}
}

// Most servers on a user's own machine answer one request after the other: that ghost text waits for the answer to a
// question is no fault of theirs.
func TestAServerThatAnswersAQuestionMeanwhileIsNoWarning(t *testing.T) {
	asked, reading, answer, release := make(chan struct{}, 8), make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(release)
	var busy atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case r.URL.Path == "/v1/models":
			io.WriteString(w, `{"data":[{"id":"granite4.1:3b"}]}`)
		case r.URL.Path == "/v1/chat/completions":
			close(reading)
			<-answer
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"so\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		case r.URL.Path == "/api/show":
			http.NotFound(w, r) // it is no Ollama, which is asked that every half minute
		case busy.Load():
			io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
			asked <- struct{}{}
			select {
			case <-r.Context().Done():
			case <-release:
			}
		default: // the canary
			io.WriteString(w, "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":\"length\"}]}\n\n")
		}
	}))
	defer s.Close()
	opt, clock := openAIOptions(s.URL), newManualClock()
	opt.Clock = clock
	o := ready(t, opt)
	busy.Store(true)
	giveUp := func() {
		t.Helper()
		ctx, cancel := context.WithCancel(soon(t))
		before := o.Metrics().Stopped
		a := ask(ctx, o, fim("a", ""))
		<-asked
		clock.advance(5 * time.Second)
		cancel()
		if _, err := a.wait(t); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v", err)
		}
		eventually(t, "it is given up", func() bool { return o.Metrics().Stopped == before+1 })
	}
	talk := talkTo(soon(t), o, question("why?"))
	<-reading
	for range 4 {
		giveUp()
	}
	if st := o.State(); st.Full || st.Warning != "" {
		t.Errorf("meanwhile: %+v", st)
	}
	close(answer)
	if reply, err := talk.wait(t); err != nil || reply.Text != "so" {
		t.Fatalf("%+v, %v", reply, err)
	}
	giveUp()
	giveUp()
	if st := o.State(); st.Full || st.Warning != "" {
		t.Errorf("two later: %+v", st)
	}
	giveUp()
	eventually(t, "the user is told", func() bool { return o.State().Full })
}
