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
	for _, c := range calls {
		begin := time.Now()
		id, lines, step := r.call(ctx, c)
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		useful = useful || step.Outcome != repeated && step.Outcome != overLimit
		result := &rendered{id: id, name: c.Name, lines: lines, message: len(r.messages)}
		result.clip(max(r.task.Limits.Bytes-r.bytes, leastResult))
		r.seen.results = append(r.seen.results, result)
		step.Turn, step.Tool, step.Arguments, step.Bytes, step.Took = turn, c.Name, c.Arguments, result.size(), time.Since(begin)
		r.bytes += step.Bytes
		r.step(step)
	}
	r.say("user", r.resultsIn(len(r.messages)))
	return useful, nil
}

// resultsIn are the results of a message.
func (r *run) resultsIn(message int) string {
	var list []string
	for _, result := range r.seen.results {
		if result.message == message {
			list = append(list, result.String())
		}
	}
	return strings.Join(list, "\n")
}

// rendered is what the model reads of one call's answer.
type rendered struct {
	id, name string
	lines    []line
	cut      int // bytes that are left out
	message  int // in which message it stands
}

// String is the result between its tags.
func (r *rendered) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<tool_result id=%q name=%q>\n", r.id, prompt.Quote(r.name))
	for _, l := range r.lines {
		b.WriteString(l.text + "\n")
	}
	if r.cut > 0 {
		fmt.Fprintf(&b, "[cut: %d bytes more]\n", r.cut)
	}
	b.WriteString("</tool_result>")
	return b.String()
}

// size is the length of the lines.
func (r *rendered) size() (n int) {
	for _, l := range r.lines {
		n += len(l.text) + 1
	}
	return n
}

// cutMarkBytes is room for what says that a result was cut.
const cutMarkBytes = len("[cut: 12345678 bytes more]\n")

// clip cuts a result to n bytes at the end of a line, or within a line where that
// would cost half of it; a line that is not whole shows nothing.
func (r *rendered) clip(n int) {
	whole := r.size()
	if whole <= n {
		return
	}
	room := max(0, n-cutMarkBytes)
	kept, at := 0, 0
	for kept+len(r.lines[at].text)+1 <= room {
		kept += len(r.lines[at].text) + 1
		at++
	}
	part := strings.ToValidUTF8(r.lines[at].text[:min(room-kept, len(r.lines[at].text))], "")
	r.lines = r.lines[:at:at]
	if kept < room/2 {
		r.lines = append(r.lines, line{text: part})
		kept += len(part) + 1
	}
	for len(r.lines) > 0 && r.lines[len(r.lines)-1].text == "" {
		r.lines = r.lines[:len(r.lines)-1]
	}
	r.cut += whole - kept
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
func (r *run) call(ctx context.Context, c toolcall.Call) (id string, lines []line, step Step) {
	id = r.newID(c)
	key := canonical(c)
	if before, ok := r.made[key]; ok {
		r.calls++
		f := agent.Failf(agent.InvalidArguments, "you made this call already, its result is %s: use it, or call with other arguments", before)
		return id, render(agent.Envelope{Error: f}), Step{Outcome: repeated}
	}
	if r.calls >= r.task.Limits.Calls {
		f := agent.Failf(agent.TooLarge, "%d calls are made and no more are allowed: answer from what you have", r.calls)
		return id, render(agent.Envelope{Error: f}), Step{Outcome: overLimit}
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

// shorten halves the longest of the results, and answers whether there was one
// worth it.
func (r *run) shorten() bool {
	var longest *rendered
	for _, result := range r.seen.results {
		if longest == nil || result.size() > longest.size() {
			longest = result
		}
	}
	if longest == nil || longest.size() < 2*leastResult {
		return false
	}
	longest.clip(longest.size() / 2)
	m := &r.messages[longest.message]
	_, closing := strings.CutSuffix(m.Text, "\n"+lastWord)
	m.Text = r.resultsIn(longest.message)
	if closing {
		m.Text += "\n" + lastWord
	}
	return true
}
