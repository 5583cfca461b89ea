package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/protocol"

	"quarry/agent"
	"quarry/agent/markdown"
	"quarry/lsp/document"
	"quarry/lsp/wire"
)

var (
	// errDeclined says that the user does not want a proposal.
	errDeclined = errors.New("not applied")
	// errClosed says that the user closed the question about a proposal, which may
	// have been by a key meant for something else.
	errClosed = fmt.Errorf("%w: the question was closed", errDeclined)
)

// The user's choices about a proposal, where the client does not show it by itself.
// What a stray Enter chooses stands first.
const (
	choiceDiscard = "Discard"
	choiceShow    = "Show changes"
	choiceApply   = "Apply"
)

const (
	tooHasty = "Not applied: you were typing when the answer came. "
	noMore   = "this proposal has expired, so nothing was applied."
)

// decision is what the user is to say about a proposal. Few clients take a question
// off the screen again, so there may be several about one proposal, of a request
// that was begun anew: whichever is answered by yes first decides. A no to an older one
// leaves the newer open, for the user may have asked again since they said it.
type decision struct {
	agent.Proposal
	id  string
	key string // of the request, "" if a tool proposes
	// answers come from the questions; who waits for the decision takes them.
	answers chan answer
	// over is closed when there is nothing left to decide.
	over  chan struct{}
	asked atomic.Int32 // how many questions there were
	turn  int          // of the request that waits for it; guarded by decisions.mu
	// taken is closed when the request that waits has its answer; guarded by decisions.mu.
	taken chan struct{}
}

// answer is one to the n-th question. A closed question has the choice "".
type answer struct {
	n      int32
	choice string
	err    error
}

// hold is a request's hold on a decision. The same request begun anew takes it over.
type hold struct {
	*decision
	turn  int
	taken chan struct{} // the decision's, of this turn
}

// decisions are those that the user has still to make.
type decisions struct {
	mu sync.Mutex
	// open is by id; guarded by mu.
	open map[string]*decision
	made int // guarded by mu
	// kept is the last whose question was closed, so that it is back at once when it
	// is asked for; guarded by mu.
	kept hold
}

func newDecisions() *decisions { return &decisions{open: map[string]*decision{}} }

// begin makes a decision about p.
func (ds *decisions) begin(key string, p agent.Proposal) hold {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.made++
	d := &decision{Proposal: p, id: strconv.Itoa(ds.made), key: key, answers: make(chan answer), over: make(chan struct{}), taken: make(chan struct{})}
	ds.open[d.id] = d
	return hold{d, 0, d.taken}
}

// resume takes over the decision about what a request proposed; it has none if there
// is nothing to decide.
func (ds *decisions) resume(key string) hold {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.open {
		if d.key == key {
			d.turn++
			d.taken = make(chan struct{})
			return hold{d, d.turn, d.taken}
		}
	}
	return hold{}
}

// get is the decision with an id, held by the request that waits for it; it has none if there is
// nothing to decide.
func (ds *decisions) get(id string) hold {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d := ds.open[id]; d != nil {
		return hold{d, d.turn, d.taken}
	}
	return hold{}
}

// keep leaves a decision open although nobody waits for it, until the next is kept,
// and answers which that was.
func (ds *decisions) keep(h hold) (older hold) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	older, ds.kept = ds.kept, h
	return older
}

// end says that there is nothing left to decide. It answers false where that was
// said before, or somebody else took the decision over.
func (ds *decisions) end(h hold) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if h.decision == nil || ds.open[h.id] != h.decision || h.decision.turn != h.turn {
		return false
	}
	delete(ds.open, h.id)
	close(h.over)
	return true
}

// endDecision says that there is nothing left to decide, to the client too.
func (s *Service) endDecision(h hold) {
	if s.decisions.end(h) && ExtensionsOf(s.caps).Proposals {
		s.hideProposal(h.id)
	}
}

// offer has a change proposed for a request, puts it to the user and has the
// editor apply it if they want it; the result is for them. A nil error means that the
// editor's documents have changed so. If the same request waits for the user already, or they closed the
// question, it is that proposal that is put to them again, as long as it fits; ctx
// of the older has then ended by wire.ErrSuperseded.
func (s *Service) offer(ctx context.Context, e request, job Job) (result string, err error) {
	if !s.makesChanges() {
		return "", errNoEdits
	}
	key := e.key()
	d := s.decisions.resume(key)
	if d.decision != nil {
		if _, err := s.workspaceEdit(ctx, d.Proposal); err != nil {
			s.endDecision(d)
			d = hold{}
		}
	}
	if d.decision == nil {
		p, err := s.propose(ctx, e)
		if err != nil {
			return "", err
		}
		d = s.decisions.begin(key, p)
	}
	job.Report(0.95, "waits for your decision")
	path := ""
	if u, err := wire.ParseURI(e.URI); err == nil {
		if doc := s.docs.Get(u); doc != nil {
			path = doc.Path()
		}
	}
	err = s.agreed(ctx, d)
	if err == nil {
		var after map[string]string
		if after, err = s.apply(ctx, d.Proposal); err == nil {
			result = s.whatChanged(d.Proposal, path, after)
		}
	}
	switch {
	case errors.Is(context.Cause(ctx), wire.ErrSuperseded):
	case errors.Is(err, errClosed):
		s.endDecision(s.decisions.keep(d))
	default:
		s.endDecision(d)
	}
	return result, err
}

// agreed asks the user about a proposal that can be applied. Nil means yes.
func (s *Service) agreed(ctx context.Context, d hold) error {
	if _, err := s.workspaceEdit(ctx, d.Proposal); err != nil {
		return err // before the user is bothered
	}
	if ExtensionsOf(s.caps).Proposals {
		return s.agreedInEditor(ctx, d)
	}
	return s.agreedByMessage(ctx, d.decision)
}

// agreedByMessage asks by window/showMessageRequest, never while the user types.
// They can say yes only to what they have been shown, and what an editor selects
// by itself is no. Where there is no page to show it on, the choices have its lines.
func (s *Service) agreedByMessage(ctx context.Context, d *decision) (end error) {
	title := strings.TrimRight(d.Title, ".?")
	message := fmt.Sprintf("%s in %s? %s %s", title, s.changed(d.Proposal), d.Reason, s.basis(d.Proposal))
	choices := []string{choiceDiscard, choiceShow}
	if !s.screen.showsDocuments() {
		lines, err := s.changedLines(ctx, d.Proposal)
		if err != nil {
			return err
		}
		message = fmt.Sprintf("Apply the lines below to %s? %s. %s %s", s.changed(d.Proposal), title, d.Reason, s.basis(d.Proposal))
		choices = append(append([]string{choiceDiscard}, lines...), choiceApply)
	}
	for {
		if err := s.typing.pause(ctx); err != nil {
			return err
		}
		if _, err := s.workspaceEdit(ctx, d.Proposal); err != nil {
			return err
		}
		chosen, err := s.decided(ctx, d, message, choices)
		if err != nil {
			return fmt.Errorf("%w; nothing was applied", err)
		}
		calm, err := s.typing.calm(ctx)
		switch {
		case err != nil:
			return err
		case !calm:
			if _, err := s.workspaceEdit(ctx, d.Proposal); err != nil {
				return err
			}
			s.screen.Say(protocol.MessageTypeInfo, tooHasty+"The question comes back when you pause.")
		case chosen == choiceShow:
			// The diff begins in the first line: the next question may lie over what is below.
			// Helix cuts what is longer than its window, so that the basis has a line of its own.
			text := fmt.Sprintf("%s\n\n%s\n\n%s\n", markdown.Code("diff", strings.TrimRight(d.Diff, "\n")),
				markdown.Inline(fmt.Sprintf("%s. %s", title, d.Reason)), markdown.Inline(s.basis(d.Proposal)))
			if err := s.screen.Show("proposal", text); err != nil {
				return err
			}
			long, err := s.longChange(ctx, d.Proposal)
			if err != nil {
				return err
			}
			defer func() {
				if long == "" || !errors.Is(end, errClosed) { // else they read on
					s.showChanged(d)
				}
			}()
			message = strings.TrimSpace(fmt.Sprintf("Apply this change to %s? (%s) %s%s", s.changed(d.Proposal), title, long, s.dangers(d.Proposal)))
			choices = []string{choiceDiscard, choiceApply}
		case chosen == choiceApply:
			return nil
		case chosen == "":
			s.screen.Say(protocol.MessageTypeInfo, "Not applied: the question was closed. Ask again to see the same proposal at once.")
			return errClosed
		case chosen != choiceDiscard:
			s.screen.Say(protocol.MessageTypeInfo, "Not applied: that is a line of the change, only Apply makes it. Ask again to see the same proposal at once.")
			return errClosed
		default:
			return errDeclined
		}
	}
}

// showChanged puts a file that a proposal is about, or else the one where it was asked for, in the place
// of the page that showed the change.
func (s *Service) showChanged(d *decision) {
	var doc *document.Document
	for _, f := range d.Files {
		if doc = s.docs.At(f.Path); doc != nil {
			break
		}
	}
	var e request
	if doc == nil && json.Unmarshal([]byte(d.key), &e) == nil {
		if u, err := wire.ParseURI(e.URI); err == nil {
			doc = s.docs.Get(u)
		}
	}
	if doc == nil {
		return
	}
	if err := s.screen.showDocument(s.base, s.host.Spelled(doc.URI)); err != nil && s.base.Err() == nil {
		s.log.Warn("show the file again", "error", err)
	}
}

// decided asks the user and waits for what they answer to this question or to an
// older one about the same proposal. A question stays when ctx ends: what is
// answered to it once nobody waits gets a message, so that nobody believes that
// something was applied.
func (s *Service) decided(ctx context.Context, d *decision, message string, choices []string) (string, error) {
	n := d.asked.Add(1)
	s.host.Task("ask about a change", func(base context.Context) error {
		choice, err := s.screen.Choose(base, message, choices...)
		select {
		case d.answers <- answer{n, choice, err}:
		case <-d.over:
			if choice == choiceApply || choice == choiceShow {
				s.screen.Say(protocol.MessageTypeInfo, strings.TrimRight(d.Title, ".?")+": "+noMore)
			}
		case <-base.Done():
		}
		return nil
	})
	for {
		select {
		case a := <-d.answers:
			if a.n < n && a.choice != choiceApply && a.choice != choiceShow {
				continue // it was said before the newer question, or a client that shows one at a time closed it
			}
			return a.choice, a.err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
