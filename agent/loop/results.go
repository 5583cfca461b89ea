package loop

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"quarry/agent"
	"quarry/agent/prompt"
	"quarry/agent/toolcall"
)

// answerCalls runs calls in order and puts what they answer into a user's turn.
// It answers whether one of them was run: a model that only repeats itself has
// nothing more to find out.
func (r *run) answerCalls(ctx context.Context, turn int, calls []toolcall.Call) (useful bool, err error) {
	var turnText strings.Builder
	for _, c := range calls {
		begin := time.Now()
		id, body, step := r.call(ctx, c)
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		useful = useful || step.Outcome != repeated && step.Outcome != overLimit
		body = clip(body, max(r.task.Limits.Bytes-r.bytes, leastResult))
		r.bytes += len(body)
		step.Turn, step.Tool, step.Arguments, step.Bytes, step.Took = turn, c.Name, c.Arguments, len(body), time.Since(begin)
		r.step(step)
		fmt.Fprintf(&turnText, "<tool_result id=%q name=%q>\n%s\n</tool_result>\n", id, prompt.Quote(c.Name), body)
	}
	r.say("user", strings.TrimSuffix(turnText.String(), "\n"))
	return useful, nil
}

// leastResult is what of a result is shown even when the bytes are spent: enough
// for an error.
const leastResult = 256

// The outcomes of calls that are not made.
const (
	repeated  = "repeated"
	overLimit = "over_limit"
)

// call makes one call, unless it was made before or the calls are spent.
func (r *run) call(ctx context.Context, c toolcall.Call) (id, body string, step Step) {
	id = r.newID(c)
	key := canonical(c)
	if before, ok := r.made[key]; ok {
		r.calls++
		f := agent.Failf(agent.InvalidArguments, "you made this call already, its result is %s: use it, or call with other arguments", before)
		return id, agent.Envelope{Error: f}.String(), Step{Outcome: repeated}
	}
	if r.calls >= r.task.Limits.Calls {
		f := agent.Failf(agent.TooLarge, "%d calls are made and no more are allowed: answer from what you have", r.calls)
		return id, agent.Envelope{Error: f}.String(), Step{Outcome: overLimit}
	}
	r.calls++
	r.made[key] = id
	e := r.tools.Call(ctx, c.Name, c.Arguments)
	r.out.Results = append(r.out.Results, Result{ID: id, Call: c, Envelope: e})
	step.Outcome = "ok"
	if e.Error != nil {
		step.Outcome = string(e.Error.Code)
	}
	return id, render(e), step
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// newID is the id of a call: the model's own if it is fit and new.
func (r *run) newID(c toolcall.Call) string {
	taken := func(id string) bool {
		for _, other := range r.made {
			if other == id {
				return true
			}
		}
		return false
	}
	if plainID.MatchString(c.ID) && !taken(c.ID) {
		return c.ID
	}
	for n := r.calls + 1; ; n++ {
		if id := fmt.Sprintf("call_%d", n); !taken(id) {
			return id
		}
	}
}

// cutMark ends a text that was cut.
const cutMark = "\n[cut: %d bytes more]"

// clip cuts a text to n bytes, at the end of a line unless that costs half of it.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	room := max(0, n-len(fmt.Sprintf(cutMark, len(text))))
	kept := strings.ToValidUTF8(text[:room], "")
	if i := strings.LastIndexByte(kept, '\n'); i > len(kept)/2 {
		kept = kept[:i]
	}
	return kept + fmt.Sprintf(cutMark, len(text)-len(kept))
}

// shorten halves the longest of the results, and answers whether there was one
// worth it.
func (r *run) shorten() bool {
	longest := -1
	for i := len(r.task.Messages); i < len(r.messages); i++ {
		if m := r.messages[i]; m.Role == "user" && (longest < 0 || len(m.Text) > len(r.messages[longest].Text)) {
			longest = i
		}
	}
	if longest < 0 || len(r.messages[longest].Text) < 4*leastResult {
		return false
	}
	const end = "\n</tool_result>"
	m := &r.messages[longest]
	m.Text = clip(m.Text, len(m.Text)/2) + end
	if r.last {
		m.Text += "\n" + lastWord
	}
	return true
}
