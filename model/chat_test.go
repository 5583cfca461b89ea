package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

const (
	why      = "why?"
	rendered = "<|start_of_role|>user<|end_of_role|>why?<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>"
)

func question(text string) model.Conversation {
	return model.Conversation{Messages: []model.Message{{Role: "user", Text: text}}, Temperature: 0.1}
}

// talkTo runs Chat in the background and gathers what emit sees.
type talking struct {
	emitted []string
	begun   chan struct{} // closed with the first piece
	reply   model.Reply
	err     error
	done    chan struct{}
}

func talkTo(ctx context.Context, o *model.Runtime, c model.Conversation) *talking {
	t := &talking{begun: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.reply, t.err = o.Chat(ctx, c, func(text string) bool {
			if t.emitted = append(t.emitted, text); len(t.emitted) == 1 {
				close(t.begun)
			}
			return true
		})
	}()
	return t
}

func (a *talking) wait(t *testing.T) (model.Reply, error) {
	t.Helper()
	select {
	case <-a.done:
		return a.reply, a.err
	case <-soon(t).Done():
		t.Fatal("Chat did not return")
		return model.Reply{}, nil
	}
}

func TestChat(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Queue(modeltest.Answer{Pieces: []string{"because", " of", " that"}})
	a := talkTo(t.Context(), o, question(why))
	reply, err := a.wait(t)
	if err != nil || reply.Text != "because of that" || strings.Join(a.emitted, "|") != "because| of| that" || reply.Tokens != 3 || reply.Cut {
		t.Errorf("got %+v, %q, %v", reply, a.emitted, err)
	}
	r := s.Prompts()[1]
	if r.Prompt != rendered || !r.Raw || r.NumPredict() != 512 || r.NumCtx() != 2048 || r.Options["temperature"] != 0.1 || r.Options["repeat_penalty"] != 1.0 {
		t.Errorf("request %s", r.Body)
	}
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}})
	c := question(why)
	c.MaxTokens = 2
	if reply, err := o.Chat(soon(t), c, func(string) bool { return true }); err != nil || reply.Text != "ab" || !reply.Cut {
		t.Errorf("with a limit of two tokens: %+v, %v", reply, err)
	}
}

// An answer goes on from how it is to begin, which it has, also when nobody
// reads on.
func TestAnAnswerThatIsBegun(t *testing.T) {
	c := question(why)
	c.Begin = "```go\n"
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	s.Queue(modeltest.Answer{Pieces: []string{"x", " := 1"}})
	a := talkTo(t.Context(), o, c)
	if reply, err := a.wait(t); err != nil || reply.Text != "```go\nx := 1" || strings.Join(a.emitted, "|") != "```go\n|x| := 1" {
		t.Errorf("got %+v, %q, %v", reply, a.emitted, err)
	}
	if got := s.Prompts()[1].Prompt; got != rendered+c.Begin {
		t.Errorf("the model goes on from %q", got)
	}
	if reply, err := o.Chat(soon(t), c, func(string) bool { return false }); err != nil || reply.Text != c.Begin || len(s.Prompts()) != 2 {
		t.Errorf("nobody reads: %+v, %v, %d prompts", reply, err, len(s.Prompts()))
	}
}

// A server that says much more than it was asked for is read as far as an answer of that
// length goes: what it said stands in the next prompt. (One that says 3 MB took minutes.)
func TestAnAnswerLongerThanAskedForIsCut(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	for _, format := range []string{"", `{"type":"object"}`} {
		for _, pieces := range [][]string{{strings.Repeat("é", 1<<20)}, slices.Repeat([]string{strings.Repeat("x", 999)}, 2000)} {
			s.Queue(modeltest.Answer{Pieces: pieces})
			c := question(why)
			c.MaxTokens, c.Format = 10, json.RawMessage(format)
			emitted := 0
			reply, err := o.Chat(soon(t), c, func(text string) bool { emitted += len(text); return true })
			if err != nil || !reply.Cut || len(reply.Text) > 640 || emitted != len(reply.Text) || !utf8.ValidString(reply.Text) {
				t.Errorf("format %q: %d bytes, cut %t, %d emitted, %v", format, len(reply.Text), reply.Cut, emitted, err)
			}
		}
	}
}

func TestChatStopsWhenNobodyReads(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b"}, Gate: gate})
	reply, err := o.Chat(soon(t), question(why), func(string) bool { return false })
	if err != nil || reply.Text != "a" {
		t.Errorf("got %+v, %v", reply, err)
	}
	waitOutcome(t, s, rendered, modeltest.Cancelled)
}

// interrupted starts a conversation whose answer is held after "a", asks for a
// completion, and lets the conversation go on with next.
func interrupted(t *testing.T, c model.Conversation, next modeltest.Answer) (*modeltest.Server, *talking) {
	t.Helper()
	s, clock, o := stopped(t)
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b"}, Gate: onePiece()}, modeltest.Answer{Pieces: []string{"code"}}, next)
	a := talkTo(t.Context(), o, c)
	if err := s.Wait(soon(t), func(l []modeltest.Request) bool { return l[len(l)-1].Sent == "a" }); err != nil {
		t.Fatal(err)
	}
	if len(c.Format) == 0 {
		<-a.begun // what was sent has arrived
	}
	if text, _, err := collect(soon(t), o, fim("x", ""), 5); err != nil || text != "code" {
		t.Errorf("the completion: %q, %v", text, err)
	}
	waitOutcome(t, s, rendered, modeltest.Cancelled)
	eventually(t, "the conversation goes on after a quiet while", func() bool {
		clock.advance(250 * time.Millisecond)
		return len(s.Prompts()) == 4 // with the canary and the completion
	})
	return s, a
}

func TestACompletionInterruptsAConversation(t *testing.T) {
	s, a := interrupted(t, question(why), modeltest.Answer{Pieces: []string{"b", "c"}})
	reply, err := a.wait(t)
	if err != nil || reply.Text != "abc" || strings.Join(a.emitted, "|") != "a|b|c" || reply.Yields != 1 {
		t.Errorf("got %+v, %q, %v", reply, a.emitted, err)
	}
	prompts := s.Prompts()
	if last := prompts[len(prompts)-1]; last.Prompt != rendered+"a" || last.NumPredict() != 511 {
		t.Errorf("it went on with %q for %d tokens", last.Prompt, last.NumPredict())
	}
}

func TestAnInterruptedFormatBeginsAnew(t *testing.T) {
	c := question(why)
	c.Format = json.RawMessage(`{"type":"object"}`)
	s, a := interrupted(t, c, modeltest.Answer{Pieces: []string{"{", "}"}})
	reply, err := a.wait(t)
	if err != nil || reply.Text != "{}" || strings.Join(a.emitted, "|") != "{}" {
		t.Errorf("got %+v, %q, %v", reply, a.emitted, err)
	}
	prompts := s.Prompts()
	if last := prompts[len(prompts)-1]; last.Prompt != rendered || !strings.Contains(string(last.Body), `"format":{"type":"object"}`) {
		t.Errorf("it began anew with %s", last.Body)
	}
}

func TestLongConversationsAreReadInSteps(t *testing.T) {
	s := modeltest.NewServer(t)
	opt := options(s.URL)
	opt.NumCtx = 8192
	o := ready(t, opt)
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"x"}} })
	text := strings.Repeat("a line of the question\n", 200) + strings.Repeat("é", 2000)
	if reply, err := o.Chat(soon(t), question(text), func(string) bool { return true }); err != nil || reply.Text != "x" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	steps := s.Prompts()[1:]
	if len(steps) < 5 {
		t.Fatalf("%d requests", len(steps))
	}
	before := ""
	for i, r := range steps {
		rest, ok := strings.CutPrefix(r.Prompt, before)
		last := i == len(steps)-1
		if !ok || len(rest) == 0 || len(rest) > 1536 || !last && r.NumPredict() != 1 {
			t.Errorf("step %d adds %d bytes for %d tokens", i, len(rest), r.NumPredict())
		}
		if strings.ToValidUTF8(r.Prompt, "?") != r.Prompt {
			t.Errorf("step %d ends within a character", i)
		}
		before = r.Prompt
	}
	if !strings.HasSuffix(before, "é<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>") {
		t.Errorf("the last step ends in %q", before[len(before)-60:])
	}
}

// Ollama throws away what its cache has beyond a prompt's end. The steps of a turn
// therefore begin where the turn before ended, unless a completion came between.
func TestTurnsGoOnFromWhatWasRead(t *testing.T) {
	s := modeltest.NewServer(t)
	opt := options(s.URL)
	opt.NumCtx = 8192
	o := ready(t, opt)
	s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"because"}} })
	c := question(strings.Repeat("a line of the question\n", 200))
	turn := func() []modeltest.Request {
		t.Helper()
		before := len(s.Prompts())
		reply, err := o.Chat(soon(t), c, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		c.Messages = append(c.Messages, model.Message{Role: "assistant", Text: reply.Text}, model.Message{Role: "user", Text: why})
		return s.Prompts()[before:]
	}
	first := turn()
	read := first[len(first)-1].Prompt + "because"
	if second := turn(); len(second) != 1 || !strings.HasPrefix(second[0].Prompt, read) {
		t.Errorf("the second turn took %d requests, the first of %d bytes; the server had %d", len(second), len(second[0].Prompt), len(read))
	}
	if _, _, err := collect(soon(t), o, fim("x", ""), 5); err != nil {
		t.Fatal(err)
	}
	if third := turn(); len(third) < 4 || len(third[0].Prompt) > 1536 {
		t.Errorf("after a completion the prompt was read in %d requests, the first of %d bytes", len(third), len(third[0].Prompt))
	}
}

func TestEmbeddingGivesWayToConversationsWhichTakeTurns(t *testing.T) {
	s, o, e, clock := embedding(t)
	hold := make(chan struct{})
	s.ScriptEmbed(func(r modeltest.Request) modeltest.EmbedAnswer {
		a := numbered(r)
		if len(r.Texts) == 3 {
			a.Hold = hold
		}
		return a
	})
	embedded := make(chan error, 1)
	go func() {
		_, err := e.Embed(context.Background(), numbers(3))
		embedded <- err
	}()
	if err := s.Wait(soon(t), func(l []modeltest.Request) bool { return len(l[len(l)-1].Texts) == 3 }); err != nil {
		t.Fatal(err)
	}
	s.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"a", "b"}} })
	first, second := talkTo(t.Context(), o, question("1")), talkTo(t.Context(), o, question("2"))
	for _, a := range []*talking{first, second} {
		if reply, err := a.wait(t); err != nil || reply.Text != "ab" || reply.Yields != 0 {
			t.Errorf("got %+v, %v", reply, err)
		}
	}
	if n := s.MaxQueued(); n != 0 {
		t.Errorf("%d conversations queued in Ollama", n)
	}
	close(hold)
	eventually(t, "embedding goes on", func() bool {
		clock.advance(2 * time.Second)
		select {
		case err := <-embedded:
			if err != nil {
				t.Error(err)
			}
			return true
		default:
			return false
		}
	})
	if got := fmt.Sprint(batches(s)); got != "[3 3]" {
		t.Errorf("batches %s", got)
	}
}

func TestWhoMayTalk(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoFIM: true, NoTools: true})
	o := start(t, options(s.URL))
	if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrNoFIM) {
		t.Fatal(err)
	}
	s.Queue(modeltest.Answer{Pieces: []string{"yes"}})
	if reply, err := o.Chat(soon(t), question(why), func(string) bool { return true }); err != nil || reply.Text != "yes" {
		t.Errorf("a model that only talks: %+v, %v", reply, err)
	}
	c := question(why)
	c.Tools = json.RawMessage(`[{"type":"function","function":{"name":"f"}}]`)
	if _, err := o.Chat(soon(t), c, func(string) bool { return true }); !errors.Is(err, model.ErrNoTools) {
		t.Errorf("tools for a model without: %v", err)
	}
	s.Stop()
	if _, err := o.Chat(soon(t), question(why), func(string) bool { return true }); !errors.Is(err, model.ErrUnreachable) && !errors.Is(err, model.ErrBroken) {
		t.Errorf("without a server: %v", err)
	}
}

// conversing is a model of an OpenAI server that answers conversations by chat.
func conversing(t *testing.T, chat http.HandlerFunc) *model.Runtime {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"granite4.1:3b"}]}`)
		case "/v1/completions": // the canary
			io.WriteString(w, "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":\"length\"}]}\n\n")
		default:
			chat(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return ready(t, openAIOptions(s.URL))
}

// Servers that take no tools say so in their own ways, by a status or within the stream,
// and are asked again in words.
func TestOpenAIServersWithoutTools(t *testing.T) {
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"llama.cpp without --jinja":       {500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`},
		"vLLM without a parser":           {400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`},
		"a gateway":                       {404, `{"error":{"message":"This model does not support tool use"}}`},
		"llama.cpp, within the stream":    {200, `data: {"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}` + "\n\n"},
		"a template that refuses, at 500": {500, `{"error":"model xyz does not support tools"}`},
	} {
		t.Run(name, func(t *testing.T) {
			o := conversing(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(answer.status)
				io.WriteString(w, answer.body)
			})
			c := question(why)
			c.Tools = json.RawMessage(`[{"type":"function","function":{"name":"f"}}]`)
			if _, err := o.Chat(soon(t), c, func(string) bool { return true }); !errors.Is(err, model.ErrNoTools) {
				t.Errorf("%v", err)
			}
			if err := o.Ready(); err != nil {
				t.Errorf("the server is doubted for it: %v", err)
			}
		})
	}
}

func TestOpenAIChat(t *testing.T) {
	var body map[string]any
	events := []string{
		`{"choices":[{"delta":{"role":"assistant"}}]}`,
		`{"choices":[{"delta":{"content":"Let me "}}]}`,
		`{"choices":[{"delta":{"content":"look."}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read_file","arguments":""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.go\"}"}},{"index":1,"id":"c2","function":{"name":"list_files","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":7}}`,
		`[DONE]`,
	}
	o := conversing(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for _, e := range events {
			fmt.Fprintf(w, ": keep alive\r\ndata: %s\r\n\r\n", e)
		}
	})
	c := question(why)
	c.Tools = json.RawMessage(`[{"type":"function"}]`)
	a := talkTo(t.Context(), o, c)
	reply, err := a.wait(t)
	want := `Let me look.{"type":"tool_call","calls":[{"id":"c1","name":"read_file","arguments":"{\"path\":\"a.go\"}"},{"id":"c2","name":"list_files","arguments":"{}"}]}`
	if err != nil || reply.Text != want || reply.PromptTokens != 9 || reply.Tokens != 7 || reply.Cut {
		t.Errorf("got %+v, %v", reply, err)
	}
	if fmt.Sprint(body["messages"]) != "[map[content:why? role:user]]" || body["tools"] == nil || body["response_format"] != nil || body["max_tokens"] != 512.0 {
		t.Errorf("request %v", body)
	}
}

func TestRealChat(t *testing.T) {
	s := ollamatest.Start(t)
	opt := options(s.URL)
	opt.NumCtx = 8192
	o := ready(t, opt)
	var seen strings.Builder
	c := question(strings.Repeat("what does this do?\n", 150))
	c.Tools = json.RawMessage(`[{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]`)
	c.MaxTokens = 60
	completions := make(chan error, 1)
	first := true
	reply, err := o.Chat(soon(t), c, func(text string) bool {
		if first {
			first = false
			go func() {
				_, _, err := collect(soon(t), o, fim("a", "b"), 5)
				completions <- err
			}()
		}
		seen.WriteString(text)
		return true
	})
	if err != nil || seen.String() != reply.Text || len(reply.Text) < 40 || !reply.Cut {
		t.Errorf("got %+v and saw %q, %v", reply, seen.String(), err)
	}
	if err := <-completions; err != nil {
		t.Errorf("the completion meanwhile: %v", err)
	}
	if reply.PromptTokens < 2000 {
		t.Errorf("%d prompt tokens: the conversation was cut", reply.PromptTokens)
	}

	c = question("answer in JSON")
	c.Format = json.RawMessage(`{"type":"object","properties":{"score":{"type":"integer"},"sure":{"type":"boolean"}},"required":["score","sure"]}`)
	reply, err = o.Chat(soon(t), c, func(string) bool { return true })
	var answer struct {
		Score *int
		Sure  *bool
	}
	if err != nil || json.Unmarshal([]byte(reply.Text), &answer) != nil || answer.Score == nil || answer.Sure == nil {
		t.Errorf("the schema gives %q, %v", reply.Text, err)
	}
	// Ollama itself may get stuck when the completion cuts the conversation off, see stuck.go.
	if n, repaired := s.Loads(), o.Metrics().Unstuck; n != 1+int(repaired) {
		t.Errorf("%d loads, %d of them repairs: conversations and completions must share the model", n, repaired)
	}
}

// The canary that asks a model that only talks whether it learnt the tags waits
// until a conversation is over: it would take the conversation's place in the
// server's cache.
func TestNoCanaryIntoAConversation(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoFIM: true})
	clock := newManualClock()
	opt := options(s.URL)
	opt.Clock = clock
	o := start(t, opt)
	if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrNoFIM) {
		t.Fatal(err)
	}
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b"}, Gate: gate})
	a := talkTo(t.Context(), o, question(why))
	<-a.begun
	prompts, probes := len(s.Prompts()), s.Probes()
	eventually(t, "the server is looked at", func() bool {
		clock.advance(time.Minute)
		return s.Probes() > probes
	})
	if now := len(s.Prompts()); now != prompts {
		t.Errorf("%d prompts were sent meanwhile", now-prompts)
	}
	close(gate)
	if reply, err := a.wait(t); err != nil || reply.Text != "ab" {
		t.Errorf("%+v, %v", reply, err)
	}
	eventually(t, "the canary is asked afterwards", func() bool {
		clock.advance(time.Minute)
		return len(s.Prompts()) > prompts
	})
}
