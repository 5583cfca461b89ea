package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"quarry/lsp/assist"
	"quarry/lsp/wire"
)

// Job shows the user a long piece of work and how far it has come.
type Job = assist.Job

// reportEvery bounds how often a client is told of progress.
const reportEvery = 100 * time.Millisecond

// job is a Job shown as workDone progress (LSP 3.15).
type job struct {
	title  string
	cancel func()
	forget func()        // at the end, where nobody looks; nil if showJob does it
	wake   chan struct{} // has capacity 1; filled when something is to be sent

	mu       sync.Mutex
	fraction float64 // guarded by mu
	message  string  // guarded by mu
	ended    bool    // guarded by mu
}

// startJob shows work under title until its End; cancel is called if the user
// cancels it.
func (s *Server) startJob(title string, cancel func()) Job {
	return s.showWork("quarry", title, cancel)
}

// askedFor begins the tokens of what the user began, so that an editor can end all of
// that by one key, and leave what goes on by itself.
const askedFor = "quarry-asked"

// showWork is startJob with what the job's token begins with.
func (s *Server) showWork(kind, title string, cancel func()) Job {
	j := &job{title: title, cancel: cancel, wake: make(chan struct{}, 1)}
	token := fmt.Sprintf("%s-%d", kind, s.jobNumber.Add(1))
	s.jobs.Store(token, j)
	w := s.clientCaps.Window
	if w == nil || w.WorkDoneProgress == nil || !*w.WorkDoneProgress {
		j.forget = func() { s.jobs.Delete(token) } // nobody looks; Report costs nothing
		return j
	}
	s.task("progress", func(ctx context.Context) error {
		defer s.jobs.Delete(token)
		return s.showJob(ctx, token, j)
	})
	return j
}

func (s *Server) showJob(ctx context.Context, token string, j *job) error {
	if err := s.client.WorkDoneProgressCreate(ctx, &protocol.WorkDoneProgressCreateParams{Token: protocol.String(token)}); err != nil {
		return fmt.Errorf("create a progress token: %w", err)
	}
	yes, none := true, uint32(0)
	err := s.sendProgress(ctx, token, protocol.WorkDoneProgressBegin{Kind: "begin", Title: wire.Plain(j.title), Cancellable: &yes, Percentage: &none})
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
			return s.sendProgress(ctx, token, protocol.WorkDoneProgressEnd{Kind: "end", Message: &message})
		}
		err := s.sendProgress(ctx, token, protocol.WorkDoneProgressReport{Kind: "report", Cancellable: &yes, Message: &message, Percentage: &percentage})
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

func (s *Server) sendProgress(ctx context.Context, token string, value any) error {
	return s.sendProgressTo(ctx, protocol.String(token), value)
}

func (s *Server) sendProgressTo(ctx context.Context, token protocol.ProgressToken, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.client.Progress(ctx, &protocol.ProgressParams{Token: token, Value: raw})
}

// Report implements Job. Percentages never go back: clients draw them as bars.
func (j *job) Report(fraction float64, message string) {
	j.mu.Lock()
	j.fraction, j.message = max(j.fraction, min(1, fraction)), message
	j.mu.Unlock()
	j.signal()
}

// End implements Job.
func (j *job) End(message string) {
	j.mu.Lock()
	j.message, j.ended = message, true
	j.mu.Unlock()
	if j.forget != nil {
		j.forget()
	}
	j.signal()
}

func (j *job) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// WorkDoneProgressCancel implements window/workDoneProgress/cancel.
func (s *Server) WorkDoneProgressCancel(_ context.Context, params *protocol.WorkDoneProgressCancelParams) error {
	token, _ := params.Token.(protocol.String)
	if j, ok := s.jobs.Load(string(token)); ok {
		j.(*job).cancel()
	}
	return nil
}

// stop is CommandStop.
func (s *Server) stop([]protocol.LSPAny) error {
	said := "nothing that you asked for is under way"
	s.jobs.Range(func(token, j any) bool {
		if strings.HasPrefix(token.(string), askedFor) {
			j.(*job).cancel()
			said = "stopped"
		}
		return true
	})
	s.task("say what was stopped", func(context.Context) error {
		s.assist.Screen().Say(protocol.MessageTypeInfo, said)
		return nil
	})
	return nil
}
