// Package loop is the one way in which quarry lets a model use tools.
//
// A Task's conversation only grows at its end: the model's words stay as it wrote
// them (but for control tokens, which it should not write) and results follow, so that a server which keeps what it has read reads
// each turn's news only. What the tools answer is put between <tool_result> tags
// in a user's turn, quoted: nothing in a file can pose as anything but its text.
//
// The loop ends when the model answers, and at the latest when its turns, calls,
// bytes or time are spent: then the model is told so and asked once for the
// answer. Everything runs under the caller's context, one step at a time. The
// same call is never made twice.
package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"quarry/agent"
	"quarry/agent/prompt"
	"quarry/agent/toolcall"
)

// Tools runs calls; agent.Toolbox does.
type Tools interface {
	Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope
}

// Loop runs tasks with one model and one set of tools. It is safe for concurrent
// use.
type Loop struct {
	chat  agent.Chat
	tools Tools
	// toolsDescribed says that the model's template knows no tools, so that they are
	// described in words.
	toolsDescribed atomic.Bool
}

// New makes a loop.
func New(chat agent.Chat, tools Tools) *Loop { return &Loop{chat: chat, tools: tools} }

// Task is one thing to find out.
type Task struct {
	// Messages open the conversation, the first by the system. What they quote
	// has passed prompt.Quote.
	Messages []agent.Message
	// First are the calls that are made before the model is asked, as if it had
	// asked for them: an answer about a workspace rests on something that was
	// looked up.
	First []toolcall.Call
	// Offered are the tools' definitions, as agent.Conversation has them. With
	// none the model can only answer.
	Offered json.RawMessage
	// Known says which names are tools.
	Known func(name string) bool
	// Evidence, if not nil, is kept to what the model has read.
	Evidence *Evidence

	Temperature float64
	MaxTokens   int // of each answer; 0 leaves it to the Chat
	Limits      Limits

	// Read, if not nil, follows what the model writes. It gets the whole text of
	// the turn with every piece, and may decide before its end.
	Read func(turn int, text string) Verdict
	// Object, if not nil, is asked once what is wrong with an answer that no reader
	// has taken for final. The model is told, and may answer or call again. ""
	// accepts the answer.
	Object func(text string) string
	// Show, if not nil, is told of every step when it is done.
	Show func(Step)
}

// Limits bound a task. All must be above 0.
type Limits struct {
	// Turns is how often the model is asked.
	Turns int
	// Calls is how many calls are made, First included; a refused one counts.
	Calls int
	// Bytes bounds the sum of the results that the model is shown.
	Bytes int
	// Time bounds the whole.
	Time time.Duration
}

// Verdict is what a reader knows of an answer that is being written.
type Verdict int

// The verdicts. After Final the text is the answer to the user whatever else is
// in it: no call in it runs. Enough says besides that nothing more need be
// written.
const (
	Undecided Verdict = iota
	Final
	Enough
)

// Stop is why a task ended.
type Stop string

// The reasons. Broken means that the model's last words look like a call that
// cannot be read; what an answer is worth then is for the caller to say.
const (
	Answered  Stop = "answered"
	Broken    Stop = "broken"
	LimitHit  Stop = "limit" // the model still called when it was asked for the answer
	OutOfTime Stop = "time"
)

// Outcome is how a task ended.
type Outcome struct {
	Stop Stop
	// Text is what the model wrote last, "" if that was a call.
	Text string
	// Cut says that the length limit ended Text.
	Cut bool
	// Results are what was looked up, in order.
	Results []Result
	Steps   []Step
}

// Result is a call with its answer.
type Result struct {
	ID       string
	Call     toolcall.Call
	Envelope agent.Envelope
}

// Step is one entry of a task's trace.
type Step struct {
	// Turn counts from 1; calls made before the model was asked are of turn 0.
	Turn int `json:"turn"`
	// Tool is the tool called, "" for the model's own turns.
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Outcome is "ok", an error's code, "repeated" or "over_limit" for a tool, and
	// "calls", "answer", "objected", "broken" or "failed" for the model.
	Outcome string `json:"outcome"`
	// Bytes is the length of what was shown to the model or written by it.
	Bytes int           `json:"bytes"`
	Took  time.Duration `json:"took_ns"`
	// PromptTokens and Tokens are the server's counts of the model's turn.
	PromptTokens int `json:"prompt_tokens,omitempty"`
	Tokens       int `json:"tokens,omitempty"`
}

var errOutOfTime = errors.New("the time for this task is over")

// Run carries a task out. It fails when ctx ends or the model cannot be asked;
// the outcome then says how far it came. A failing tool is no error: the model
// reads what is wrong.
func (l *Loop) Run(ctx context.Context, t Task) (Outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Limits.Time, errOutOfTime)
	defer cancel()
	r := run{Loop: l, task: t, made: map[string]string{}, seen: t.Evidence}
	if r.seen == nil {
		r.seen = NewEvidence()
	}
	r.messages = append(r.messages, t.Messages...)
	err := r.all(ctx)
	if err != nil && context.Cause(ctx) == errOutOfTime {
		r.out.Stop, err = OutOfTime, nil
	}
	return r.out, err
}

// run is one task under way.
type run struct {
	*Loop
	task     Task
	messages []agent.Message
	out      Outcome
	seen     *Evidence
	made     map[string]string // ids by call
	calls    int
	bytes    int // of results shown
	last     bool
	objected bool
}

func (r *run) all(ctx context.Context) error {
	if len(r.task.First) > 0 {
		var words []string
		for _, c := range r.task.First {
			words = append(words, c.String())
		}
		r.say("assistant", strings.Join(words, "\n"))
		if _, err := r.answerCalls(ctx, 0, r.task.First); err != nil {
			return err
		}
	}
	for turn := 1; ; turn++ {
		calls, again, err := r.turn(ctx, turn)
		if err == nil && again {
			continue
		}
		if err != nil || len(calls) == 0 {
			return err
		}
		if r.last {
			r.out.Stop, r.out.Text = LimitHit, ""
			return nil
		}
		useful, err := r.answerCalls(ctx, turn, calls)
		if err != nil {
			return err
		}
		if !useful {
			r.close()
		}
	}
}

// maxAnswer is how many bytes of an answer are read, far more than its length limit
// in tokens lets through: not every server keeps to that.
const maxAnswer = 64 << 10

// turn asks the model once, and returns the calls it wants; none if that was the
// answer. again says that the answer was objected to.
func (r *run) turn(ctx context.Context, turn int) (calls []toolcall.Call, again bool, err error) {
	if turn >= r.task.Limits.Turns || r.calls >= r.task.Limits.Calls || r.bytes >= r.task.Limits.Bytes {
		r.close()
	}
	begin := time.Now()
	verdict, text := Undecided, strings.Builder{}
	reply, err := r.ask(ctx, func(piece string) bool {
		text.WriteString(piece)
		if r.task.Read != nil && verdict != Enough {
			verdict = max(verdict, r.task.Read(turn, text.String()))
		}
		return verdict != Enough && text.Len() < maxAnswer
	})
	step := Step{Turn: turn, Outcome: "answer", Bytes: len(reply.Text), Took: time.Since(begin), PromptTokens: reply.PromptTokens, Tokens: reply.Tokens}
	r.out.Text, r.out.Cut = reply.Text, reply.Cut || text.Len() >= maxAnswer
	if err != nil {
		step.Outcome = "failed"
		r.step(step)
		return nil, false, err
	}
	var p toolcall.Parsed
	if verdict == Undecided && len(r.task.Offered) > 0 {
		p = toolcall.Parse(reply.Text, r.task.Known)
	}
	switch {
	case len(p.Calls) > 0:
		step.Outcome, r.out.Text = "calls", ""
		r.say("assistant", prompt.Own(reply.Text))
	case p.Broken != "":
		step.Outcome, r.out.Stop = "broken", Broken
	default:
		r.out.Stop = Answered
		if again = verdict == Undecided && r.object(reply.Text); again {
			step.Outcome = "objected"
		}
	}
	r.step(step)
	return p.Calls, again, nil
}

// object tells the model what is wrong with its answer, if something is and there
// is a turn left to mend it.
func (r *run) object(text string) bool {
	if r.task.Object == nil || r.objected || r.last {
		return false
	}
	why := r.task.Object(text)
	if why == "" {
		return false
	}
	r.objected = true
	r.say("assistant", prompt.Own(text))
	r.say("user", why)
	return true
}

// lastWord is said when there is nothing left to spend.
const lastWord = "No more tools can be called. Answer now from what you have."

// close makes the next turn the last. What tells the model stands behind the
// newest results, where the conversation grows.
func (r *run) close() {
	if r.last {
		return
	}
	r.last = true
	if len(r.task.Offered) == 0 {
		return
	}
	if m := &r.messages[len(r.messages)-1]; m.Role == "user" {
		m.Text += "\n" + lastWord
		return
	}
	r.say("user", lastWord)
}

// ask has the conversation answered. A model whose template knows no tools has
// them described; a conversation that turns out too long gives up half of its
// longest result.
func (r *run) ask(ctx context.Context, emit func(string) bool) (agent.Reply, error) {
	for {
		c := agent.Conversation{Messages: r.messages, Tools: r.task.Offered, Temperature: r.task.Temperature, MaxTokens: r.task.MaxTokens}
		if r.toolsDescribed.Load() {
			c = describeTools(c)
		}
		reply, err := r.chat.Chat(ctx, c, emit)
		var long interface{ PromptTooLong() bool }
		switch {
		case err == nil:
			return reply, nil
		case errors.Is(err, agent.ErrNoTools) && !r.toolsDescribed.Load() && len(r.task.Offered) > 0:
			r.toolsDescribed.Store(true)
		case errors.As(err, &long) && long.PromptTooLong() && r.shorten():
		default:
			return reply, err
		}
	}
}

// describeTools puts the definitions into the system's turn.
func describeTools(c agent.Conversation) agent.Conversation {
	if len(c.Tools) == 0 {
		return c
	}
	words := "To call a tool, write only this and wait for the result:\n" +
		"<tool_call>{\"name\": \"NAME\", \"arguments\": {...}}</tool_call>\nThe tools are:\n" + string(c.Tools)
	messages := append([]agent.Message{}, c.Messages...)
	if len(messages) > 0 && messages[0].Role == "system" {
		messages[0].Text += "\n\n" + words
	} else {
		messages = append([]agent.Message{{Role: "system", Text: words}}, messages...)
	}
	c.Messages, c.Tools = messages, nil
	return c
}

func (r *run) say(role, text string) {
	r.messages = append(r.messages, agent.Message{Role: role, Text: text})
}

func (r *run) step(s Step) {
	r.out.Steps = append(r.out.Steps, s)
	if r.task.Show != nil {
		r.task.Show(s)
	}
}

// canonical is a call as a key: equal calls have equal keys whatever the order of
// their arguments.
func canonical(c toolcall.Call) string {
	var args any
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return fmt.Sprintf("%s %s", c.Name, c.Arguments)
	}
	sorted, err := json.Marshal(args) // sorts the keys
	if err != nil {
		return fmt.Sprintf("%s %s", c.Name, c.Arguments)
	}
	return c.Name + " " + string(sorted)
}
