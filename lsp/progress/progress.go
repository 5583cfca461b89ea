// Package progress shows the user long work by LSP's work done progress (3.15), and lets
// the user cancel it.
package progress

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"

	"quarry/lsp/wire"
)

// reportEvery bounds how often a client is told of progress.
const reportEvery = 100 * time.Millisecond

// Kind begins the token of a job, so that an editor can end what the user asked for by one
// key, and leave what goes on by itself.
type Kind string

// The kinds of jobs.
const (
	Own   Kind = "quarry"       // goes on by itself
	Asked Kind = "quarry-asked" // the user began it
)

// Client is what a client is told by.
type Client interface {
	WorkDoneProgressCreate(ctx context.Context, params *protocol.WorkDoneProgressCreateParams) error
	Progress(ctx context.Context, params *protocol.ProgressParams) error
}

// Jobs are those of one client. The methods may be called concurrently.
type Jobs struct {
	client Client
	// task runs f in a goroutine that somebody waits for; f ends when its ctx does.
	task func(name string, f func(ctx context.Context) error)
	// shown: the client draws progress. Set before the first Start.
	shown  bool
	all    sync.Map // *Job by token
	number atomic.Int64
}

// New makes the jobs of a client. task runs f in a goroutine, whose context ends with the
// connection.
func New(client Client, task func(name string, f func(ctx context.Context) error)) *Jobs {
	return &Jobs{client: client, task: task}
}

// Initialize takes from a client's capabilities whether it draws progress. It goes before
// the first Start.
func (s *Jobs) Initialize(caps protocol.ClientCapabilities) {
	w := caps.Window
	s.shown = w != nil && w.WorkDoneProgress != nil && *w.WorkDoneProgress
}

// Start shows work under title until its End; cancel is called if the user cancels it.
func (s *Jobs) Start(kind Kind, title string, cancel func()) *Job {
	j := &Job{title: title, cancel: cancel, wake: make(chan struct{}, 1)}
	token := fmt.Sprintf("%s-%d", kind, s.number.Add(1))
	s.all.Store(token, j)
	if !s.shown {
		j.forget = func() { s.all.Delete(token) } // nobody looks; Report costs nothing
		return j
	}
	s.task("progress", func(ctx context.Context) error {
		defer s.all.Delete(token)
		return s.show(ctx, token, j)
	})
	return j
}

// Cancel cancels the job of a token, if it is one's.
func (s *Jobs) Cancel(token protocol.ProgressToken) {
	name, _ := token.(protocol.String)
	if j, ok := s.all.Load(string(name)); ok {
		j.(*Job).cancel()
	}
}

// CancelAsked cancels all that the user began and answers whether there was any.
func (s *Jobs) CancelAsked() bool {
	found := false
	s.all.Range(func(token, j any) bool {
		if strings.HasPrefix(token.(string), string(Asked)) {
			j.(*Job).cancel()
			found = true
		}
		return true
	})
	return found
}

func (s *Jobs) show(ctx context.Context, token string, j *Job) error {
	if err := s.client.WorkDoneProgressCreate(ctx, &protocol.WorkDoneProgressCreateParams{Token: protocol.String(token)}); err != nil {
		return fmt.Errorf("create a progress token: %w", err)
	}
	to, yes, none := protocol.String(token), true, uint32(0)
	err := s.Send(ctx, to, protocol.WorkDoneProgressBegin{Kind: "begin", Title: wire.Plain(j.title), Cancellable: &yes, Percentage: &none})
	if err != nil {
		return err
	}
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-j.wake:
		}
		j.mu.Lock()
		percentage, message, ended := uint32(j.fraction*100), wire.Plain(j.message), j.ended
		j.mu.Unlock()
		if ended {
			return s.Send(ctx, to, protocol.WorkDoneProgressEnd{Kind: "end", Message: &message})
		}
		err := s.Send(ctx, to, protocol.WorkDoneProgressReport{Kind: "report", Cancellable: &yes, Message: &message, Percentage: &percentage})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Send sends value, which becomes JSON, as progress of a token: also of one that the client
// made for partial results.
func (s *Jobs) Send(ctx context.Context, token protocol.ProgressToken, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.client.Progress(ctx, &protocol.ProgressParams{Token: token, Value: raw})
}

// Job is one piece of work. Its methods return at once and may be called from any goroutine.
type Job struct {
	title  string
	cancel func()
	forget func()        // at the end, where nobody looks; nil if show does it
	wake   chan struct{} // has capacity 1; filled when something is to be sent

	mu       sync.Mutex
	fraction float64 // guarded by mu
	message  string  // guarded by mu
	ended    bool    // guarded by mu
}

// Report says that fraction (0 to 1) of the work is done. Percentages never go back: clients draw them as bars.
func (j *Job) Report(fraction float64, message string) {
	j.mu.Lock()
	j.fraction, j.message = max(j.fraction, min(1, fraction)), message
	j.mu.Unlock()
	j.signal()
}

// End takes the work off the screen; message is its result.
func (j *Job) End(message string) {
	j.mu.Lock()
	j.message, j.ended = message, true
	j.mu.Unlock()
	if j.forget != nil {
		j.forget()
	}
	j.signal()
}

func (j *Job) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}
