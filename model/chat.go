package model

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// Conversation is what Chat answers.
type Conversation struct {
	Messages []Message
	// Tools are offered to the model: a JSON list of definitions as OpenAI's
	// interface has them. None if empty; a model whose template knows no tools
	// makes Chat fail.
	Tools json.RawMessage
	// Format is a JSON schema that the answer must fit; any text if empty.
	Format json.RawMessage
	// Temperature is 0 for the likeliest answer.
	Temperature float64
	// MaxTokens is the length limit; 0 means ChatPreset's.
	MaxTokens int
	// Begin is how the answer begins: the model goes on from there, and the answer has it.
	// Not with a Format. A server of OpenAI's interface is given it as a turn of the
	// assistant, behind which some begin a new one.
	Begin string
}

// Message is one turn. Role is system, user or assistant. It is an alias so that a
// consumer's conversation of the same shape converts to one of this package.
type Message = struct{ Role, Text string }

// Reply is what came of a conversation.
type Reply struct {
	// Text is the whole answer. Tool calls are in it as the model writes them,
	// or, from a server that takes them out, in the form
	// {"type":"tool_call","calls":[{"id","name","arguments"}]}, arguments being a
	// string of JSON.
	Text string
	// Cut says that MaxTokens ended the answer.
	Cut bool
	// PromptTokens and Tokens are the server's counts, 0 if it gave none.
	PromptTokens, Tokens int
	// Yields is how often the answer had to wait for a completion.
	Yields int
}

// Chat answers a conversation, calling emit with each piece of the answer as it
// comes; it ends early when emit answers false, with what came so far and no
// error. With a Format emit is called once, with the whole.
//
// Completions go first. On Ollama an answer that one interrupts goes on after it
// from where it was, so emit sees one text; an answer with a Format begins anew.
// Long prompts are read in steps, since Ollama cannot stop in the middle of one;
// what a prompt has in common with the one before, as turns of one conversation
// have, is not read again.
func (rt *Runtime) Chat(ctx context.Context, c Conversation, emit func(text string) bool) (Reply, error) {
	if err := rt.Ready(); err != nil && !errors.Is(err, ErrNoFIM) {
		return Reply{}, err
	}
	if c.MaxTokens <= 0 {
		c.MaxTokens = ChatPreset.MaxTokens
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(rt.ctx, func() { cancel(context.Canceled) })()
	select { // two answers that took turns would have the server read both prompts over and over
	case rt.talking <- struct{}{}:
		defer func() { <-rt.talking }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	rt.limiter.enter(conversing)
	defer rt.limiter.leave(conversing)

	t := &talk{emit: emit, whole: len(c.Format) > 0, most: c.MaxTokens*mostTokenBytes + len(c.Begin), stop: func() { cancel(errStopped) }}
	if c.Begin != "" {
		t.text.WriteString(c.Begin) // converse sends it after the prompt
		if !emit(c.Begin) {
			return Reply{Text: c.Begin}, nil
		}
	}
	var err error
	switch b := rt.backend.(type) {
	case renderer:
		err = rt.converse(ctx, b, c, t)
	case chatter:
		err = b.chat(ctx, c, t.take)
	}
	if err != nil && context.Cause(ctx) == errStopped {
		err = nil
	}
	rt.noteEnd(err, t.took > 0)
	if n := len(c.Messages); n > 0 && (err == nil || t.took > 0) {
		rt.noteText(c.Messages[n-1].Text, t.took > 0)
	}
	t.reply.Text = t.text.String()
	if err == nil && t.whole {
		emit(t.reply.Text)
	}
	return t.reply, err
}

// renderer is a backend that turns a conversation into a prompt.
type renderer interface {
	render(ctx context.Context, c Conversation) (string, error)
}

// chatter is a backend that answers a conversation itself.
type chatter interface {
	chat(ctx context.Context, c Conversation, each func(chunk)) error
}

// mostTokenBytes is more than the average token of any answer has. Not every server keeps to
// the length that it is asked for, and the answer becomes part of the next prompt.
const mostTokenBytes = 64

// talk collects an answer.
type talk struct {
	emit  func(string) bool
	whole bool // emit gets the whole answer in one call
	most  int  // bytes of the answer
	stop  func()
	text  strings.Builder
	took  int // chunks with text
	ended bool
	reply Reply
}

func (t *talk) take(c chunk) {
	if c.done {
		t.reply.Cut = t.reply.Cut || c.cut
		t.reply.PromptTokens = max(t.reply.PromptTokens, c.usage.promptTokens)
		t.reply.Tokens += c.usage.tokens
	}
	if c.text == "" || t.ended {
		return
	}
	over := len(c.text) > t.most-t.text.Len()
	if over {
		c.text = strings.ToValidUTF8(c.text[:t.most-t.text.Len()], "")
		t.reply.Cut = true
	}
	t.text.WriteString(c.text)
	t.took++
	if !t.whole && !t.emit(c.text) || over {
		t.ended = true
		t.stop()
	}
}

// readStep is how much of a prompt Ollama reads at a time, in bytes. It is about 512 tokens of
// code, which the slowest machine that quarry supports reads in two seconds.
const readStep = 1536

// converse answers through a backend that can continue any text.
func (rt *Runtime) converse(ctx context.Context, b renderer, c Conversation, t *talk) error {
	prompt, err := b.render(ctx, c)
	if err != nil {
		return err
	}
	preset := ChatPreset
	preset.Temperature = c.Temperature
	rt.wake()
	// known is how much of the prompt the server should have in its cache. A step that ended
	// before that point would make it throw the rest away. sure is the part that it has read
	// for this answer: the cache may have changed, because other clients use the server too.
	known, sure := rt.metrics.heard(prompt), 0
	ask := func(r request, each func(chunk)) error {
		r.Preset, r.seed = preset, rt.opt.Seed
		rt.wake()
		return rt.limiter.yielding(ctx, conversing, func(ctx context.Context) error {
			rt.metrics.forgetPrompt()
			begun, sent, unread := len(t.text.String()), rt.opt.Clock.Now(), len(r.prompt)-known
			err := rt.inLine(ctx, r, patience(len(r.prompt)-sure, rt.metrics.tokenTime(), rt.metrics.readTime()), func(c chunk) {
				rt.metrics.readIn(unread, rt.opt.Clock.Now().Sub(sent))
				unread = 0
				each(c)
			})
			if text := t.text.String(); err == nil || len(text) > begun {
				rt.metrics.hear(r.prompt + text[begun:])
			}
			return err
		})
	}
	for {
		if rest := prompt[known:]; len(rest) > readStep {
			next := known + stepEnd(rest)
			switch err := ask(request{prompt: prompt[:next], maxTokens: 1}, func(chunk) {}); {
			case err == errYielded: // the completion has replaced the cache: begin again
				t.reply.Yields++
				known, sure = 0, 0
			case err != nil:
				return err
			default:
				known, sure = next, next
			}
			continue
		}
		r := request{prompt: prompt + t.text.String(), maxTokens: c.MaxTokens - t.took, format: c.Format}
		if r.maxTokens <= 0 {
			t.reply.Cut = true
			return nil
		}
		err := ask(r, t.take)
		if err != errYielded {
			return err
		}
		t.reply.Yields++
		known, sure = 0, 0
		if t.whole { // an answer with a schema cannot be continued
			t.text.Reset()
			t.took = 0
		}
	}
}

// stepEnd is where the next step ends: after the last line within it, because a line has the
// same tokens whatever follows it; or else between two characters.
func stepEnd(s string) int {
	if i := strings.LastIndexByte(s[:readStep], '\n'); i >= 0 {
		return i + 1
	}
	end := readStep
	for end > readStep-4 && s[end]&0xc0 == 0x80 {
		end--
	}
	return end
}
