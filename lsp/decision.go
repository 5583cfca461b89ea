package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"quarry/agent"
)

// errDeclined says that the person does not want a proposal.
var errDeclined = errors.New("not applied")

// The person's choices about a proposal, where the client does not ask by itself.
const (
	choiceApply   = "Apply"
	choiceShow    = "Show changes"
	choiceDiscard = "Discard"
)

// decision is what the person is to say about a proposal. No client takes a
// question off the screen again, so there may be several about one proposal, of an
// errand that was begun anew: whichever is answered first decides.
type decision struct {
	agent.Proposal
	// answers come from the questions; who waits for the decision takes them.
	answers chan answer
	// over is closed when there is nothing left to decide.
	over  chan struct{}
	asked atomic.Int32 // how many questions there were
}

// answer is one to the n-th question. A closed question has the choice "".
type answer struct {
	n      int32
	choice string
	err    error
}

func newDecision(p agent.Proposal) *decision {
	return &decision{Proposal: p, answers: make(chan answer), over: make(chan struct{})}
}

// decisions are those that the person has still to make, by the errand's key.
type decisions struct {
	mu sync.Mutex
	// open is guarded by mu.
	open map[string]*decision
}

func newDecisions() *decisions { return &decisions{open: map[string]*decision{}} }

func (ds *decisions) get(key string) *decision {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.open[key]
}

func (ds *decisions) add(key string, d *decision) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.open[key] = d
}

// end says that there is nothing left to decide.
func (ds *decisions) end(key string, d *decision) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.open[key] == d {
		delete(ds.open, key)
		close(d.over)
	}
}

// offer has a change proposed for an errand, puts it to the person and has the
// editor apply it if they want it. Nil means that the editor's documents have
// changed so. If the same errand waits for the person already, it is its proposal
// that is put to them again, as long as it fits; ctx of the older has then ended by
// errSuperseded.
func (s *Server) offer(ctx context.Context, e errand, job Job) error {
	key := e.key()
	d := s.decisions.get(key)
	if d != nil {
		if _, err := s.workspaceEdit(ctx, d.Proposal); err != nil {
			s.decisions.end(key, d)
			d = nil
		}
	}
	if d == nil {
		p, err := s.propose(ctx, e)
		if err != nil {
			return err
		}
		d = newDecision(p)
		s.decisions.add(key, d)
	}
	defer func() {
		if !errors.Is(context.Cause(ctx), errSuperseded) {
			s.decisions.end(key, d)
		}
	}()
	job.Report(0.95, "waits for your decision")
	if err := s.agreed(ctx, d); err != nil {
		return err
	}
	return s.apply(ctx, d.Proposal)
}

// agreed asks the person about a proposal that can be applied, where the client
// does not ask by itself before it applies: those that know change annotations do.
// Nil means yes, or that the client asks.
func (s *Server) agreed(ctx context.Context, d *decision) error {
	if _, err := s.workspaceEdit(ctx, d.Proposal); err != nil {
		return err // before the person is bothered
	}
	if s.asksItself() {
		return nil
	}
	message := fmt.Sprintf("%s? %s Files: %s.", strings.TrimRight(d.Title, ".?"), describe(d.Proposal), s.changed(d.Proposal))
	choices := []string{choiceApply, choiceShow, choiceDiscard}
	for {
		chosen, err := s.decided(ctx, d, message, choices)
		switch {
		case err != nil:
			return fmt.Errorf("%w; nothing was applied", err)
		case chosen == choiceApply:
			return nil
		case chosen != choiceShow:
			return errDeclined
		}
		text := fmt.Sprintf("# %s\n\n%s\n\n%s\n", d.Title, describe(d.Proposal), fenced("diff", strings.TrimRight(d.Diff, "\n")))
		if err := s.show("proposal", text); err != nil {
			return err
		}
		choices = []string{choiceApply, choiceDiscard}
	}
}

// decided asks the person and waits for what they answer to this question or to an
// older one about the same proposal. A question stays when ctx ends: what is
// answered to it once nobody waits gets a message, so that nobody believes that
// something was applied.
func (s *Server) decided(ctx context.Context, d *decision, message string, choices []string) (string, error) {
	n := d.asked.Add(1)
	s.task("ask about a change", func(base context.Context) error {
		choice, err := s.choose(base, message, choices...)
		select {
		case d.answers <- answer{n, choice, err}:
		case <-d.over:
			if choice == choiceApply || choice == choiceShow {
				s.say(Info, strings.TrimRight(d.Title, ".?")+": this is not offered any more, so nothing was applied for this answer.")
			}
		case <-base.Done():
		}
		return nil
	})
	for {
		select {
		case a := <-d.answers:
			if a.n < n && a.choice == "" {
				continue // a client that shows one question at a time closed the older
			}
			return a.choice, a.err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
