package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/agent/loop"
	"quarry/agent/toolcall"
	"quarry/model/ollamatest"
)

// What random weights write proves nothing, so none of it is shown; everything
// around it works as with real ones.
func TestAskARealOllama(t *testing.T) {
	c := askCore(t, ollamatest.Start(t).URL, "sample")
	shown := ""
	r, err := c.AskWithin(t.Context(), agent.Question{Text: "Where is a shelf filled?"}, 10*time.Minute, ask.Watch{Text: func(text string) bool {
		shown += text
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Unfounded || !strings.HasPrefix(r.Text, "Not in the evidence: ") || shown != r.Text || len(r.Citations) == 0 {
		t.Errorf("shown %q of %+v", shown, r.Answer)
	}
	if len(r.Steps) < 2 || r.Steps[0].Tool != "retrieve_context" || r.Steps[0].Outcome != "ok" {
		t.Errorf("steps %+v", r.Steps)
	}
	for _, s := range r.Steps[1:] {
		if s.Tool == "" && (s.Tokens == 0 || s.PromptTokens < 300) {
			t.Errorf("the server counted %+v", s)
		}
	}
}

// callSchema makes any weights write a call that can be run.
const callSchema = `{
	"type": "object",
	"properties": {
		"type": {"type": "string", "enum": ["tool_call"]},
		"calls": {"type": "array", "minItems": 1, "maxItems": 1, "items": {
			"type": "object",
			"properties": {
				"id": {"type": "string", "enum": ["a"]},
				"name": {"type": "string", "enum": ["search_symbols"]},
				"arguments": {"type": "object", "properties": {"name": {"type": "string", "enum": ["Shelf"]}}, "required": ["name"]}
			},
			"required": ["id", "name", "arguments"]
		}}
	},
	"required": ["type", "calls"]
}`

// caller is a Chat whose first answer must be a call.
type caller struct {
	model  agent.Chat
	called bool
}

func (c *caller) Chat(ctx context.Context, conv agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	if !c.called {
		c.called = true
		conv.Format = json.RawMessage(callSchema)
	} else {
		conv.MaxTokens = 8
	}
	return c.model.Chat(ctx, conv, emit)
}

// M5 with M4: structured output gives a call even from random weights; the loop
// reads and runs it, and puts its result to the model.
func TestARealModelCallsATool(t *testing.T) {
	c := askCore(t, ollamatest.Start(t).URL, "sample")
	out, err := loop.New(&caller{model: c}, c.Tools()).Run(t.Context(), loop.Task{
		Messages: []agent.Message{{Role: "system", Text: "Call."}, {Role: "user", Text: "Where is Shelf?"}},
		Offered:  c.Tools().Definitions("search_symbols"),
		Known:    func(name string) bool { return name == "search_symbols" },
		Limits:   loop.Limits{Turns: 2, Calls: 2, Bytes: 4000, Time: 10 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Results) != 1 || !out.Results[0].Envelope.OK || !strings.Contains(string(out.Results[0].Envelope.Data), "stock/shelf.go") {
		t.Errorf("results %+v", out.Results)
	}
	var outcomes []string
	for _, s := range out.Steps {
		outcomes = append(outcomes, s.Tool+":"+s.Outcome)
	}
	if got := strings.Join(outcomes, " "); !strings.HasPrefix(got, ":calls search_symbols:ok :") {
		t.Errorf("steps %s", got)
	}
	if len(out.Steps) == 3 && out.Steps[2].PromptTokens <= out.Steps[0].PromptTokens {
		t.Errorf("the result did not reach the model: %d tokens, then %d", out.Steps[0].PromptTokens, out.Steps[2].PromptTokens)
	}
	if p := toolcall.Parse(out.Text, func(string) bool { return true }); len(p.Calls) > 0 {
		t.Errorf("the answer is a call: %q", out.Text)
	}
}
