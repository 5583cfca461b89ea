package eval

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"quarry/agent"
	"quarry/completion/eval"
)

// Usage is what answers took.
type Usage struct {
	PromptTokens int `json:"prompt_tokens"`
	Tokens       int `json:"tokens"`
	// Seconds are the model's, also where its answers come from the file.
	Seconds float64 `json:"seconds"`
	// Turns is how often it was asked.
	Turns int `json:"turns"`
}

// said is one kept answer, as far as it was wanted.
type said struct {
	Key    string   `json:"key"`
	Pieces []string `json:"pieces"`
	// Stopped says that more would have been written.
	Stopped bool `json:"stopped,omitempty"`
	Cut     bool `json:"cut,omitempty"`
	// NoTools says that the server refused the tools of the conversation, which is then asked
	// with tools described in words.
	NoTools bool `json:"no_tools,omitempty"`
	Usage
}

// ID implements the answers of eval.Kept.
func (s said) ID() string { return s.Key }

// Answers is a model whose answers in a conversation are kept in a file. It is for one
// evaluation at a time.
type Answers struct {
	*eval.Kept[said]
	model string

	mu   sync.Mutex
	used Usage // guarded by mu
}

// OpenAnswers opens or makes the file of a model's answers.
func OpenAnswers(file, model string) (*Answers, error) {
	kept, err := eval.OpenKept[said](file)
	return &Answers{Kept: kept, model: model}, err
}

// Used is what was used since it was asked last.
func (a *Answers) Used() Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.used
	a.used = Usage{}
	return u
}

// Of is the model that answers from the file, and asks upstream what that lacks. A nil
// upstream is none: what is lacking is noted and is an error.
func (a *Answers) Of(upstream agent.Chat) agent.Chat { return keeping{a, upstream} }

type keeping struct {
	*Answers
	upstream agent.Chat
}

// Chat implements agent.Chat. A model is not interrupted by the caller's limits: what it
// says must not depend on how fast it is.
func (k keeping) Chat(ctx context.Context, c agent.Conversation, emit func(text string) bool) (agent.Reply, error) {
	request, err := json.Marshal(c)
	if err != nil {
		return agent.Reply{}, err
	}
	key := eval.KeyOf(k.model, string(request))
	if one, ok := k.Answer(key); ok {
		if one.NoTools {
			return agent.Reply{}, agent.ErrNoTools
		}
		if reply, enough := one.replay(emit); enough {
			k.use(one.Usage)
			return reply, nil
		}
	}
	if k.upstream == nil {
		k.Lacks(key, map[string]any{"key": key, "conversation": json.RawMessage(request)})
		return agent.Reply{}, eval.ErrNoAnswer
	}
	one := said{Key: key}
	begin := time.Now()
	reply, err := k.upstream.Chat(context.WithoutCancel(ctx), c, func(piece string) bool {
		one.Pieces = append(one.Pieces, piece)
		one.Stopped = !emit(piece)
		return !one.Stopped
	})
	if errors.Is(err, agent.ErrNoTools) {
		return reply, errors.Join(err, k.Keep(said{Key: key, NoTools: true}))
	}
	if err != nil {
		return reply, err
	}
	one.Cut = reply.Cut
	one.Usage = Usage{PromptTokens: reply.PromptTokens, Tokens: reply.Tokens, Seconds: time.Since(begin).Seconds(), Turns: 1}
	k.use(one.Usage)
	return reply, k.Keep(one)
}

// replay gives an answer again. It is not enough if the reader wants more than was
// written then.
func (s said) replay(emit func(text string) bool) (reply agent.Reply, enough bool) {
	reply = agent.Reply{Cut: s.Cut, PromptTokens: s.PromptTokens, Tokens: s.Tokens}
	for _, piece := range s.Pieces {
		reply.Text += piece
		if !emit(piece) {
			return reply, true
		}
	}
	return reply, !s.Stopped
}

func (a *Answers) use(u Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used.PromptTokens += u.PromptTokens
	a.used.Tokens += u.Tokens
	a.used.Seconds += u.Seconds
	a.used.Turns += u.Turns
}
