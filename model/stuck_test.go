package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// cancelled asks for a completion and cancels it after its first token.
func cancelled(t *testing.T, o *model.Runtime, prompt string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := o.Generate(ctx, prompt, 50, nil, 0, func(string, float64) bool { cancel(); return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// onePiece lets one piece of an answer through.
func onePiece() chan struct{} {
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	return gate
}

// Nobody else asks a server that got stuck, which shows when quarry's request is taken back:
// twice, since another's may end just then.
func TestAServerThatGotStuckIsRepaired(t *testing.T) {
	s, clock, o := stopped(t)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece(), GetStuck: true}, modeltest.Answer{Pieces: []string{"next"}})
	cancelled(t, o, fim("first", ""))
	waitOutcome(t, s, fim("first", ""), modeltest.Cancelled)

	next := ask(t.Context(), o, fim("first", ""))
	for n := range 2 {
		takenBack(t, s, clock, fim("first", ""), n+2, 5*time.Second)
	}
	untilOver(t, clock, next)
	if text, err := next.wait(t); err != nil || text != "next" {
		t.Errorf("after the repair: %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 1 || s.Loads() != 2 || s.Unloads() != 1 {
		t.Errorf("repaired %d times with %d loads and %d requests to drop the model", m.Unstuck, s.Loads(), s.Unloads())
	}
}

// A model that got stuck with the first request since it was loaded, before it has ended any.
func TestAModelThatGotStuckAtOnceIsRepaired(t *testing.T) {
	s, clock, o := stopped(t)
	s.Unload() // by another program; the next request has it loaded
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece(), GetStuck: true, Late: true}, modeltest.Answer{Pieces: []string{"next"}})
	cancelled(t, o, fim("first", ""))
	next := ask(t.Context(), o, fim("first", ""))
	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	losePatience(t, clock, 5*time.Second) // it may be on its way into memory, and must read the whole prompt then
	cold := 5*time.Second + 2*time.Duration(len(fim("first", "")))*(time.Second/150)
	for n, patience := range []time.Duration{cold, 5 * time.Second} {
		takenBack(t, s, clock, fim("first", ""), n+2, patience)
	}
	untilOver(t, clock, next)
	if text, err := next.wait(t); err != nil || text != "next" {
		t.Errorf("after the repair: %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 1 || s.Loads() != 3 || s.Unloads() != 1 {
		t.Errorf("repaired %d times with %d loads and %d requests to drop the model", m.Unstuck, s.Loads(), s.Unloads())
	}
}

// settling is how often the server is looked at for whether it has seen that a request was taken back.
const settling = 200 * time.Millisecond

// untilOver lets quarry look at the server until a request is over.
func untilOver(t *testing.T, clock *manualClock, a *asked) {
	t.Helper()
	eventually(t, "the request ends", func() bool {
		if clock.due(settling) {
			clock.advance(settling)
		}
		select {
		case <-a.done:
			return true
		default:
			return false
		}
	})
}

// takenBack waits until the n-th request with a prompt has lost its patience and is gone.
func takenBack(t *testing.T, s *modeltest.Server, clock *manualClock, prompt string, n int, patience time.Duration) {
	t.Helper()
	outcome := func() modeltest.Outcome {
		seen := 0
		for _, r := range s.Prompts() {
			if r.Prompt == prompt {
				if seen++; seen == n {
					return r.Outcome
				}
			}
		}
		return ""
	}
	eventually(t, "the request comes", func() bool {
		if clock.due(settling) {
			clock.advance(settling)
		}
		return outcome() != ""
	})
	losePatience(t, clock, patience)
	eventually(t, "the request is gone", func() bool { return outcome() == modeltest.Cancelled })
}

// theirs is a request of another program, with the same context length, that has the model
// until done is called.
func theirs(t *testing.T, s *modeltest.Server, o *model.Runtime) (done func()) {
	t.Helper()
	other := ready(t, options(s.URL))
	hold, begun := make(chan struct{}), make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()})
	s.Script(func(r modeltest.Request) modeltest.Answer {
		if r.Prompt == fim("theirs", "") {
			close(begun)
			return modeltest.Answer{Pieces: []string{"theirs"}, Hold: hold}
		}
		return modeltest.Answer{Pieces: []string{"ours"}}
	})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)
	a := ask(t.Context(), other, fim("theirs", ""))
	select {
	case <-begun:
	case <-soon(t).Done():
		t.Fatal("theirs never began")
	}
	return func() {
		t.Helper()
		close(hold)
		if text, err := a.wait(t); err != nil || text != "theirs" {
			t.Errorf("theirs got %q, %v", text, err)
		}
	}
}

// untouched fails if the model was dropped or loaded again.
func untouched(t *testing.T, s *modeltest.Server, o *model.Runtime) {
	t.Helper()
	if m := o.Metrics(); m.Unstuck != 0 || s.Loads() != 1 || s.Unloads() != 0 {
		t.Errorf("repaired %d times, with %d loads and %d requests to drop the model", m.Unstuck, s.Loads(), s.Unloads())
	}
}

// While another program's request has the model, its time to leave memory stands still as that
// of a stuck one does. It is left alone, the user is told, nothing more is asked meanwhile, and
// what is asked after it is answered.
func TestAModelThatAnotherAsksIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	done := theirs(t, s, o)
	ours := ask(t.Context(), o, fim("x", ""))
	takenBack(t, s, clock, fim("x", ""), 2, 5*time.Second)
	settle(t, clock)
	if text, err := ours.wait(t); !errors.Is(err, model.ErrBusy) || text != "" {
		t.Errorf("ours got %q, %v", text, err)
	}
	if st := o.State(); st.Phase != model.Ready || !st.Full || st.Why != "busy for another program" || !strings.HasPrefix(st.Warning, "granite4.1:3b is busy for another program: wait") {
		t.Errorf("the user is told %+v", st)
	}
	asked := len(s.Prompts())
	for range 3 {
		if _, _, err := collect(soon(t), o, fim("y", ""), 5); !errors.Is(err, model.ErrBusy) {
			t.Errorf("who asks meanwhile is told %v", err)
		}
	}
	if n := len(s.Prompts()); n != asked {
		t.Errorf("%d requests were sent meanwhile", n-asked)
	}
	waits(t, clock, time.Second) // it is looked at, and still busy
	eventually(t, "the next look is due", func() bool { return clock.due(time.Second) })
	if st := o.State(); !st.Full {
		t.Errorf("the user is told %+v", st)
	}
	done()
	waits(t, clock, time.Second)
	eventually(t, "the warning ends", func() bool { return !o.State().Full })
	if text, _, err := collect(soon(t), o, fim("x", ""), 5); err != nil || text != "ours" {
		t.Errorf("after theirs: %q, %v", text, err)
	}
	untouched(t, s, o)
}

// settle ends the looks at a server that had to see that a request was taken back.
func settle(t *testing.T, clock *manualClock) {
	t.Helper()
	for range 5 {
		waits(t, clock, settling)
	}
}

// Programs that ask one after the other leave the model at no time. Whoever stays away for a
// while and then waits longer, in line, has a turn.
func TestAModelThatOthersAskAllTheTimeIsWaitedForInLine(t *testing.T) {
	s, clock, o := stopped(t)
	done := theirs(t, s, o)
	ours := ask(t.Context(), o, fim("x", ""))
	takenBack(t, s, clock, fim("x", ""), 2, 5*time.Second)
	settle(t, clock)
	if _, err := ours.wait(t); !errors.Is(err, model.ErrBusy) {
		t.Errorf("%v", err)
	}
	for range 5 {
		waits(t, clock, time.Second)
	}
	eventually(t, "it is asked again", func() bool {
		ours = ask(t.Context(), o, fim("x", ""))
		select {
		case <-ours.done:
			return false
		case <-time.After(50 * time.Millisecond): // under way, or about to be
		}
		return clock.due(5 * time.Second) // half of a patience that has doubled
	})
	waits(t, clock, 5*time.Second)
	if st := o.State(); !st.Full {
		t.Errorf("while it waits in line the user is told %+v", st)
	}
	done()
	if text, err := ours.wait(t); err != nil || text != "ours" {
		t.Errorf("in line: %q, %v", text, err)
	}
	if st := o.State(); st.Full || st.Warning != "" {
		t.Errorf("after the answer: %+v", st)
	}
	untouched(t, s, o)
}

// A question waits for its turn.
func TestAQuestionWaitsForWhomTheModelAnswers(t *testing.T) {
	s, clock, o := stopped(t)
	done := theirs(t, s, o)
	answer := make(chan string, 1)
	go func() {
		r, err := o.Chat(soon(t), model.Conversation{Messages: []model.Message{{Role: "user", Text: "x"}}}, func(string) bool { return true })
		answer <- fmt.Sprint(r.Text, err)
	}()
	eventually(t, "the question is sent", func() bool { // when nothing was typed for a moment
		if clock.due(250 * time.Millisecond) {
			clock.advance(250 * time.Millisecond)
		}
		return s.MaxQueued() == 1
	})
	eventually(t, "the user is told", func() bool {
		clock.advance(500 * time.Millisecond)
		return o.State().Full
	})
	done()
	eventually(t, "the answer", func() bool {
		clock.advance(500 * time.Millisecond)
		return len(answer) > 0
	})
	if got := <-answer; got != "ours<nil>" {
		t.Errorf("got %q", got)
	}
	untouched(t, s, o)
}

// A model that answers another from before quarry was there is not being loaded: who starts
// quarry is told so, and it goes on by itself.
func TestAModelThatAnswersAnotherFromTheStart(t *testing.T) {
	s, _, o := stopped(t)
	done := theirs(t, s, o)
	opt := options(s.URL)
	clock, seen := newManualClock(), newStates()
	opt.Clock, opt.OnChange = clock, seen.add
	start(t, opt)
	seen.wait(t, 0, model.Loading)
	st := seen.reach(t, clock, time.Second, 1, model.Loading)
	if says := "granite4.1:3b is busy for another program: wait"; !strings.HasPrefix(st.Err.Error(), says) {
		t.Errorf("the user is told %v", st.Err)
	}
	done()
	seen.reach(t, clock, time.Second, 2, model.Ready)
	if n := len(seen.phases()); n != 3 {
		t.Errorf("the user was told %v", seen.phases())
	}
	untouched(t, s, o)
}

// losePatience moves the clock over the time for which a request waits, 5 s if it has
// nothing new in its prompt: the server is looked at in their middle and at their end.
func losePatience(t *testing.T, clock *manualClock, patience time.Duration) {
	t.Helper()
	for range 2 {
		waits(t, clock, patience/2)
	}
}

// loadLook is how long a request has no token before quarry looks whether the model is being loaded for it.
const loadLook = 2 * time.Second

// Another program had the model dropped from memory after a request was cut off.
// The next one waits for the load and is told; unloading the model once more
// would only double the wait.
func TestAModelThatIsLoadedAgainIsNotTakenForStuck(t *testing.T) {
	s := modeltest.NewServer(t)
	clock, seen := newManualClock(), newStates()
	opt := options(s.URL)
	opt.Clock, opt.OnChange = clock, seen.add
	o := ready(t, opt)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()}, modeltest.Answer{Pieces: []string{"after the load"}})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)

	s.Unload()
	load := make(chan struct{})
	s.HoldLoads(load)
	reports := len(seen.phases())
	next := ask(t.Context(), o, fim("x", ""))
	eventually(t, "the load begins", func() bool { return s.Loads() == 2 })
	waits(t, clock, loadLook) // long before the request has lost its patience
	st := seen.wait(t, reports, model.Loading)
	clock.advance(time.Minute) // a load takes as long as it takes
	if !errors.Is(st.Err, model.ErrLoading) || !strings.Contains(st.Err.Error(), "reloading") || !strings.Contains(st.Err.Error(), "OLLAMA_MAX_LOADED_MODELS") {
		t.Errorf("the user reads %q", st.Err)
	}
	if _, _, err := collect(soon(t), o, fim("meanwhile", ""), 5); !errors.Is(err, model.ErrLoading) {
		t.Errorf("who asks meanwhile is told %v", err)
	}
	close(load)
	if text, err := next.wait(t); err != nil || text != "after the load" {
		t.Errorf("got %q, %v", text, err)
	}
	seen.wait(t, reports, model.Ready)
	if m := o.Metrics(); m.Unstuck != 0 || s.Loads() != 2 {
		t.Errorf("repaired %d times with %d loads; want none and 2", m.Unstuck, s.Loads())
	}
}

// A look at the server that ends after the first token tells of what is over.
func TestALoadThatIsOverIsNotTold(t *testing.T) {
	s := modeltest.NewServer(t)
	clock, seen := newManualClock(), newStates()
	opt := options(s.URL)
	opt.Clock, opt.OnChange = clock, seen.add
	o := ready(t, opt)
	before := len(seen.phases())
	s.Unload()
	rest, looks := make(chan struct{}), make(chan struct{})
	came := s.HoldLooks(looks)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b"}, Gate: rest})
	first, answer := make(chan struct{}), make(chan string, 1)
	go func() {
		text := ""
		_, err := o.Generate(soon(t), fim("x", ""), 5, nil, 0, func(piece string, _ float64) bool {
			if text == "" {
				close(first)
			}
			text += piece
			return true
		})
		answer <- fmt.Sprint(text, err)
	}()
	waitOutcome(t, s, fim("x", ""), modeltest.Running)
	waits(t, clock, loadLook)
	<-came
	rest <- struct{}{}
	<-first
	answered := s.Looks()
	close(looks)
	eventually(t, "quarry has looked twice", func() bool { return s.Looks() == answered+2 }) // it has not ended a request since it was loaded
	close(rest)
	if got := <-answer; got != "ab<nil>" {
		t.Errorf("got %s", got)
	}
	if got := seen.phases()[before:]; len(got) > 0 {
		t.Errorf("after the first token the user was told %v", got)
	}
}

// A model of Ollama's cloud is never in this machine's memory, and is not reloaded for that.
func TestAModelElsewhereIsNotSaidToBeLoading(t *testing.T) {
	for _, m := range []modeltest.Model{{Name: "qwen3-coder:480b-cloud", RemoteHost: "https://ollama.com:443"}, {Name: "mine", RemoteHost: "https://ollama.com:443"}} {
		t.Run(m.Name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			s.SetModels(m)
			clock, seen := newManualClock(), newStates()
			opt := options(s.URL)
			opt.Model, opt.AllowRemote, opt.Clock, opt.OnChange = m.Name, true, clock, seen.add
			o := ready(t, opt)
			s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()})
			cancelled(t, o, fim("x", ""))
			waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)

			before, unloads, minute := len(seen.phases()), s.Unloads(), time.Minute
			hold := make(chan struct{})
			s.Queue(modeltest.Answer{Pieces: []string{"text"}, Hold: hold})
			next, looks := ask(t.Context(), o, fim("x", "y")), s.Looks()
			waitOutcome(t, s, fim("x", "y"), modeltest.Running)
			waits(t, clock, 500*time.Millisecond) // quarry asks whether the server is there
			eventually(t, "a minute is over", func() bool {
				clock.advance(500 * time.Millisecond)
				minute -= 500 * time.Millisecond
				return minute <= 0
			})
			close(hold)
			if text, err := next.wait(t); err != nil || text != "text" {
				t.Errorf("got %q, %v", text, err)
			}
			if got := seen.phases()[before:]; len(got) > 0 || s.Unloads() != unloads || s.Looks() != looks {
				t.Errorf("the user was told %v; the model was looked for in memory %d times and unloaded %d", got, s.Looks()-looks, s.Unloads()-unloads)
			}
		})
	}
}

// The same model with another context length is another program's: Ollama waits
// for that one's answer before it loads the model anew.
func TestAModelThatAnotherUsesIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	hold, begun := make(chan struct{}), make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()})
	s.Script(func(r modeltest.Request) modeltest.Answer {
		switch r.Prompt {
		case fim("theirs", ""):
			close(begun) // it has the model's only place
			return modeltest.Answer{Pieces: []string{"theirs"}, Hold: hold}
		case fim("x", ""):
			return modeltest.Answer{Pieces: []string{"ours"}}
		}
		return modeltest.Answer{}
	})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)
	opt := options(s.URL)
	opt.NumCtx = 1024
	other := ready(t, opt)
	theirs := ask(t.Context(), other, fim("theirs", ""))
	select {
	case <-begun:
	case <-soon(t).Done():
		t.Fatal("theirs never began")
	}
	ours := ask(t.Context(), o, fim("x", ""))
	if err := s.Wait(soon(t), func([]modeltest.Request) bool { return s.MaxQueued() == 1 }); err != nil {
		t.Fatal(err)
	}
	losePatience(t, clock, 5*time.Second)
	close(hold)
	for want, a := range map[string]*asked{"theirs": theirs, "ours": ours} {
		if text, err := a.wait(t); err != nil || text != want {
			t.Errorf("got %q, %v; want %q", text, err, want)
		}
	}
	if m := o.Metrics(); m.Unstuck != 0 {
		t.Errorf("repaired %d times", m.Unstuck)
	}
}

// A server may answer that it loaded the model, and nothing else.
func TestAnAnswerThatIsOnlyALoadIsAskedForAgain(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Queue(modeltest.Answer{OnlyLoads: true}, modeltest.Answer{Pieces: []string{"text"}})
	if text, _, err := collect(soon(t), o, fim("a", ""), 5); err != nil || text != "text" {
		t.Errorf("got %q, %v", text, err)
	}
	s.Queue(modeltest.Answer{OnlyLoads: true}, modeltest.Answer{OnlyLoads: true})
	if text, _, err := collect(soon(t), o, fim("b", ""), 5); !errors.Is(err, model.ErrServer) || !strings.Contains(err.Error(), "gave no answer") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestABusyServerIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"late"}, Hold: hold})
	slow := ask(t.Context(), o, fim("slow", "")) // no request was cut off before
	waitOutcome(t, s, fim("slow", ""), modeltest.Running)
	clock.advance(time.Minute)
	close(hold)
	if text, err := slow.wait(t); err != nil || text != "late" {
		t.Errorf("got %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 0 || s.Loads() != 1 {
		t.Errorf("repaired %d times with %d loads", m.Unstuck, s.Loads())
	}
}

func TestAModelThatWasUnloadedMeanwhileIsNotTakenForStuck(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece()}, modeltest.Answer{Pieces: []string{"cold"}, Hold: hold})
	cancelled(t, o, fim("x", ""))
	waitOutcome(t, s, fim("x", ""), modeltest.Cancelled)
	clock.advance(31 * time.Minute)
	next := ask(t.Context(), o, fim("x", "y"))
	waitOutcome(t, s, fim("x", "y"), modeltest.Running)
	clock.advance(time.Minute)
	close(hold)
	if text, err := next.wait(t); err != nil || text != "cold" {
		t.Errorf("got %q, %v", text, err)
	}
	if m := o.Metrics(); m.Unstuck != 0 || m.Last.SharedBytes != 0 {
		t.Errorf("repaired %d times; %d bytes are said to be in the cache", m.Unstuck, m.Last.SharedBytes)
	}
}

func TestARepairIsTriedOnce(t *testing.T) {
	s, clock, o := stopped(t)
	hold := make(chan struct{})
	defer close(hold)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Gate: onePiece(), GetStuck: true})
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Hold: hold} })
	cancelled(t, o, fim("first", ""))
	waitOutcome(t, s, fim("first", ""), modeltest.Cancelled)
	next := ask(t.Context(), o, fim("first", ""))
	for n := range 2 {
		takenBack(t, s, clock, fim("first", ""), n+2, 5*time.Second)
	}
	eventually(t, "Generate gives up, or goes on", func() bool {
		if clock.due(settling) {
			clock.advance(settling)
		}
		select {
		case <-next.done:
			return true
		default:
			return o.Metrics().Unstuck == 1 && s.Loads() == 2
		}
	})
	for range 60 {
		clock.advance(time.Second)
	}
	// It was repaired, and is held now for a reason that another load would not
	// change: it waits.
	if m := o.Metrics(); m.Unstuck != 1 {
		t.Errorf("repaired %d times", m.Unstuck)
	}
}

func TestTheLastTokenIsNotCutOff(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}})
	got := ""
	_, err := o.Generate(soon(t), fim("x", ""), 3, nil, 0, func(p string, _ float64) bool { got += p; return len(got) < 2 })
	if err != nil || got != "ab" {
		t.Errorf("got %q, %v", got, err)
	}
	waitOutcome(t, s, fim("x", ""), modeltest.Finished)
}

// fastClock waits a fifth of the time: this model is fast too.
type fastClock struct{}

func (fastClock) Now() time.Time                         { return time.Now() }
func (fastClock) After(d time.Duration) <-chan time.Time { return time.After(d / 5) }

// Cancelling is what gets the real one stuck, sooner on a busy machine. Whether
// it happens here or not, every answer must come.
func TestRealCancelsDoNotEndInSilence(t *testing.T) {
	s := ollamatest.Start(t)
	opt := options(s.URL)
	opt.Clock = fastClock{}
	o := ready(t, opt)
	for i := range 60 {
		cancelled(t, o, fim(fmt.Sprint(i), ""))
	}
	text, _, err := collect(soon(t), o, fim("last", ""), 20)
	if err != nil || len(text) < 10 {
		t.Errorf("after 60 cancels: %q, %v", text, err)
	}
	t.Logf("Ollama got stuck %d times in 60 cancels", o.Metrics().Unstuck)
	if aborted := s.AbortedLoads(); aborted != 0 || strings.Contains(text, "<|") {
		t.Errorf("%d loads thrown away, answer %q", aborted, text)
	}
}

// hastyClock waits a fiftieth of the time while it hurries, so that a generated model, which
// is small, takes many times quarry's patience to load.
type hastyClock struct{ hurries atomic.Bool }

func (*hastyClock) Now() time.Time { return time.Now() }

func (c *hastyClock) After(d time.Duration) <-chan time.Time {
	if c.hurries.Load() {
		d /= 50
	}
	return time.After(d)
}

// What /api/ps of the real one says while it loads is what quarry goes by.
func TestRealLoadIsNotTakenForStuck(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	opt, seen, clock := options(s.URL), newStates(), &hastyClock{}
	opt.Clock = clock
	opt.OnChange = func(st model.State) {
		if st.Phase == model.Loading {
			clock.hurries.Store(false) // a loaded machine may read slowly
		}
		seen.add(st)
	}
	o := ready(t, opt)
	for range 3 {
		cancelled(t, o, fim("x", ""))
		unstuck, reports := o.Metrics().Unstuck, len(seen.phases())
		s.Unload(ollamatest.DefaultModel)
		clock.hurries.Store(true)
		if text, _, err := collect(soon(t), o, fim("x", ""), 20); err != nil || text == "" {
			t.Fatalf("after another program had the model dropped: %q, %v", text, err)
		}
		if n := o.Metrics().Unstuck - unstuck; n != 0 {
			t.Errorf("the model was dropped %d times while it was loaded", n)
		}
		seen.wait(t, reports, model.Loading)
		eventually(t, "the model is ready again", func() bool { return o.Ready() == nil })
	}
	if loads, aborted := s.Loads(), s.AbortedLoads(); loads != 4 || aborted != 0 {
		t.Errorf("loaded %d times, %d of them thrown away; want 4 and 0", loads, aborted)
	}
}

// What /api/ps of the real one says of a model that answers another program, and of one whose
// request was taken back, is what quarry goes by.
func TestRealRequestOfAnotherIsNotTakenForStuck(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	clock := &hastyClock{}
	opt := options(s.URL)
	opt.Clock = clock
	o := ready(t, opt)
	cancelled(t, o, fim("x", ""))
	repaired := o.Metrics().Unstuck // by itself, which a busy machine makes likelier

	begun, theirs := make(chan struct{}), make(chan string, 1)
	other := ready(t, options(s.URL))
	go func() {
		var text strings.Builder
		_, err := other.Generate(soon(t), fim("theirs", ""), 1500, nil, 0, func(piece string, _ float64) bool {
			if text.Len() == 0 {
				close(begun)
			}
			text.WriteString(piece)
			return true
		})
		theirs <- fmt.Sprint(text.Len() > 500, err)
	}()
	<-begun
	clock.hurries.Store(true)
	text, _, err := collect(soon(t), o, fim("x", ""), 20)
	st := o.State()
	clock.hurries.Store(false)
	if len(theirs) > 0 {
		t.Skip("this machine had answered the other program before quarry lost its patience")
	}
	if !errors.Is(err, model.ErrBusy) || text != "" || !st.Full {
		t.Errorf("while another program has the model: %q, %v, %+v", text, err, st)
	}
	if got := <-theirs; got != "true <nil>" {
		t.Errorf("the other program got %s", got)
	}
	eventually(t, "the warning ends", func() bool { return !o.State().Full })
	if text, _, err := collect(soon(t), o, fim("x", ""), 20); err != nil || text == "" {
		t.Errorf("afterwards: %q, %v", text, err)
	}
	if n := o.Metrics().Unstuck - repaired; n != 0 || s.Loads() != 1+repaired {
		t.Errorf("repaired %d times, loaded %d times", n, s.Loads())
	}
}
