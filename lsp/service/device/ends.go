package device

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Joining is the device's end of a pairing.
type Joining struct {
	code   Code
	share  *ecdh.PrivateKey
	key    ed25519.PrivateKey
	offer  Offer
	agreed agreed
}

// Join begins a pairing by a code.
func Join(code Code) (*Joining, error) {
	if _, err := code.bytes(); err != nil {
		return nil, err
	}
	share, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Joining{code: code, share: share, key: key, offer: Offer{
		Protocol: Protocol, Share: share.PublicKey().Bytes(), Key: key.Public().(ed25519.PublicKey),
	}}, nil
}

// Offer is what the device says first.
func (j *Joining) Offer() Offer { return j.offer }

// Prove answers the service's share, on a connection with that certificate.
func (j *Joining) Prove(answer Share, certificate []byte) (Proof, error) {
	secret, err := exchange(j.share, answer.Share)
	if err != nil {
		return Proof{}, err
	}
	if j.agreed, err = agree(j.code, secret, j.offer, answer, certificate); err != nil {
		return Proof{}, err
	}
	proof, err := j.agreed.proof("device")
	return Proof{proof}, err
}

// ErrService says that whoever answered does not know the code: another certificate, or another
// service.
var ErrService = errors.New("what answers at this address does not know the code, and may be between you and your quarry serve: do not use it")

// Key is the device's key from now on, if the service has proved that it knows the code.
func (j *Joining) Key(p Paired) (ed25519.PrivateKey, error) {
	if !j.agreed.check("service", p.Proof) {
		return nil, ErrService
	}
	return j.key, nil
}

// Sign answers a challenge.
func Sign(key ed25519.PrivateKey, id string, c Challenge, state *tls.ConnectionState, certificate []byte) (Signature, error) {
	text, err := signed(c, state, id, certificate)
	if err != nil {
		return Signature{}, err
	}
	return Signature{Protocol: Protocol, ID: id, Signature: ed25519.Sign(key, text)}, nil
}

// Accepting is the service's end of a pairing with a code.
type Accepting struct {
	key    []byte
	agreed agreed
}

// Accept answers an offer, on a connection with that certificate.
func Accept(code Code, offer Offer, certificate []byte) (*Accepting, Share, error) {
	switch {
	case offer.Protocol != Protocol:
		return nil, Share{}, fmt.Errorf("this service pairs by protocol %d and the device by %d: bring both to one version of quarry", Protocol, offer.Protocol)
	case !isKey(offer.Key):
		return nil, Share{}, errors.New("the device's key is none of Ed25519")
	}
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, Share{}, err
	}
	secret, err := exchange(own, offer.Share)
	if err != nil {
		return nil, Share{}, err
	}
	answer := Share{own.PublicKey().Bytes()}
	agreed, err := agree(code, secret, offer, answer, certificate)
	return &Accepting{offer.Key, agreed}, answer, err
}

// Check answers whether a device knows the code.
func (a *Accepting) Check(p Proof) bool { return a.agreed.check("device", p.Proof) }

// Proof is that of the service, for a device that knows the code.
func (a *Accepting) Proof() ([]byte, error) { return a.agreed.proof("service") }

// Key is the Ed25519 key of the device.
func (a *Accepting) Key() []byte { return a.key }

// exchange is what both ends make of one's own key and the other's share. One that makes the same
// of every key is refused.
func exchange(own *ecdh.PrivateKey, share []byte) ([]byte, error) {
	theirs, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		return nil, fmt.Errorf("a share that is none of X25519: %w", err)
	}
	return own.ECDH(theirs)
}

// NewChallenge is one that lasts from now on.
func NewChallenge(now time.Time) Challenge {
	nonce := make([]byte, 32)
	_, _ = rand.Read(nonce) // never fails
	return Challenge{Nonce: nonce, Expires: now.Add(AnswerWithin).UTC()}
}

// Verify answers whether a device with that key has signed a challenge that still lasts, on this
// connection.
func Verify(key []byte, c Challenge, s Signature, state *tls.ConnectionState, certificate []byte, now time.Time) bool {
	if !isKey(key) || !now.Before(c.Expires) {
		return false
	}
	text, err := signed(c, state, s.ID, certificate)
	return err == nil && ed25519.Verify(key, text, s.Signature)
}
