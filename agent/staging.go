package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

const (
	// tokenLife is how long a confirmation holds.
	tokenLife = 60 * time.Second
	// maxStaged is how many proposals wait at once; the oldest gives way.
	maxStaged = 64
)

// ErrNotStaged says that a proposal does not wait any more.
var ErrNotStaged = errors.New("this proposal is not waiting any more: it was applied, or newer ones took its place; ask for it again")

// ErrNotConfirmed says that a token does not allow this change. It does not say
// why, so that nothing is learned by trying.
var ErrNotConfirmed = errors.New("the confirmation token does not allow this change: tokens are for one use, within 60 seconds, for one change in one workspace; propose the change without a token and let the user confirm it")

// Staging keeps proposals until the user decides. Whoever stages gets an id,
// which allows nothing. Mint turns an id into a token that allows one application
// of that proposal; only the code that has just heard the user's yes may call
// it, and what a model can call has no way to it. Staging is safe for concurrent
// use.
type Staging struct {
	scope func() string
	now   func() time.Time

	mu sync.Mutex
	// waiting are the proposals, the oldest first; guarded by mu.
	waiting []staged
	// grants are by the hash of their token, so that finding one takes no longer
	// the more of a guess is right; guarded by mu.
	grants map[[sha256.Size]byte]grant
}

// staged is a proposal that waits.
type staged struct {
	id       string
	scope    string
	digest   Digest
	proposal Proposal
}

// grant is what a token allows.
type grant struct {
	id      string
	expires time.Time
}

// NewStaging makes an empty staging. scope names the workspace as it is now: what
// was staged in another one cannot be applied. now is the time.
func NewStaging(scope func() string, now func() time.Time) *Staging {
	return &Staging{scope: scope, now: now, grants: map[[sha256.Size]byte]grant{}}
}

// Stage keeps a proposal and returns its id. A change that waits already keeps
// its id.
func (s *Staging) Stage(p Proposal) (id string) {
	scope, digest := s.scope(), p.Digest()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		if w.digest == digest && w.scope == scope {
			return w.id
		}
	}
	if len(s.waiting) == maxStaged {
		s.drop(0)
	}
	// Ids are random, so that an editor that kept one over a restart of quarry
	// cannot mean another proposal by it.
	w := staged{rand.Text(), scope, digest, p.clone()}
	s.waiting = append(s.waiting, w)
	return w.id
}

// Proposal is a proposal that waits.
func (s *Staging) Proposal(id string) (Proposal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(id)
	if i < 0 {
		return Proposal{}, ErrNotStaged
	}
	return s.waiting[i].proposal.clone(), nil
}

// Discard forgets a proposal: the user said no.
func (s *Staging) Discard(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(id); i >= 0 {
		s.drop(i)
	}
}

// Mint makes the token by which a proposal can be applied once, within 60
// seconds. Call it only where the user has just confirmed this proposal.
func (s *Staging) Mint(id string) (token string, err error) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, g := range s.grants {
		if !now.Before(g.expires) {
			delete(s.grants, key)
		}
	}
	if s.find(id) < 0 {
		return "", ErrNotStaged
	}
	token = rand.Text()
	s.grants[sha256.Sum256([]byte(token))] = grant{id, now.Add(tokenLife)}
	return token, nil
}

// Redeem spends a token and returns the proposal it is for, which waits no more.
// want is the digest of the change about to be made: it must be the change that
// was confirmed. A token is spent by being shown, right or wrong.
func (s *Staging) Redeem(token string, want Digest) (Proposal, error) {
	scope, now := s.scope(), s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(token))
	g, ok := s.grants[key]
	delete(s.grants, key)
	if !ok || !now.Before(g.expires) {
		return Proposal{}, ErrNotConfirmed
	}
	i := s.find(g.id)
	if i < 0 || s.waiting[i].scope != scope || s.waiting[i].digest != want {
		return Proposal{}, ErrNotConfirmed
	}
	p := s.waiting[i].proposal
	s.drop(i)
	return p, nil
}

// find is the place of a proposal in waiting, -1 if it does not wait. mu is held.
func (s *Staging) find(id string) int {
	for i := range s.waiting {
		if s.waiting[i].id == id {
			return i
		}
	}
	return -1
}

// drop forgets waiting[i] and its tokens. mu is held.
func (s *Staging) drop(i int) {
	for key, g := range s.grants {
		if g.id == s.waiting[i].id {
			delete(s.grants, key)
		}
	}
	s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
}
