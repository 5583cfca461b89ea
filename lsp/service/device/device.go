// Package device is how a program on another machine proves to `quarry serve` who it is, and the
// service to the program: once by a code that the user carries from one to the other, and from
// then on by a signature for each connection. Both ends use it; the bytes between them are theirs.
//
// # Pairing
//
// Both send the public half of an X25519 key made for this pairing, and the device its Ed25519 key.
// From what the two shares agree on and from the code, each derives a key of its own (HKDF with
// SHA-256) and proves by an HMAC that it knows the code. What is proved covers everything that was
// said and the certificate of the TLS connection as each end sees it, so that whoever stands between
// them with another certificate fails. The code has 80 random bits: nobody finds it out from a proof
// while it lasts, which is why no password-authenticated key exchange is needed.
//
// # Connections
//
// The device takes no other certificate than the one it met when it paired. The service sends a
// nonce, good for this connection and some seconds, and the device signs it together with a key of
// the TLS session (RFC 9266's idea: an answer is of no use on another connection).
package device

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Protocol is the version of how devices pair and connect. Another one has another Subprotocol.
const Protocol = 1

// Subprotocol is what both ends call this version when a WebSocket is opened.
const Subprotocol = "quarry.1"

// The paths at which a device pairs and connects.
const (
	PairPath    = "/pair"
	ConnectPath = "/connect"
)

const (
	// PairWithin is how long a code is good for.
	PairWithin = 2 * time.Minute
	// AnswerWithin is how long a device has for the answer to each message before it is known.
	AnswerWithin = 10 * time.Second
	// MaxMessage is the largest message before a device is known, in bytes.
	MaxMessage = 4 << 10
)

// Offer is what a device says first when it pairs.
type Offer struct {
	Protocol int    `json:"protocol"`
	Share    []byte `json:"share"` // of its X25519 key, 32 bytes
	Key      []byte `json:"key"`   // its Ed25519 key, 32 bytes
}

// Share is the service's answer to an Offer.
type Share struct {
	Share []byte `json:"share"` // of its X25519 key, 32 bytes
}

// Proof is how both prove that they know the code; the device's comes first.
type Proof struct {
	Proof []byte `json:"proof"`
}

// Paired is the service's proof and what the device is called from then on.
type Paired struct {
	Proof []byte   `json:"proof"`
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Roots []string `json:"roots"` // the folders that it may search in
}

// Challenge is what a service says first to a device that connects.
type Challenge struct {
	Nonce   []byte    `json:"nonce"`
	Expires time.Time `json:"expires"` // by the service's clock
}

// Signature is the answer to a Challenge.
type Signature struct {
	Protocol  int    `json:"protocol"`
	ID        string `json:"id"`
	Signature []byte `json:"signature"`
}

// Known says that a Signature was good.
type Known struct {
	OK bool `json:"ok"`
}

// codeBytes is how much of a code is random.
const codeBytes = 10

// letters are those of Crockford: none looks like another.
var letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Code is what the user carries from the service to the device: letters and digits in four groups.
type Code string

// NewCode is a code that nobody knows.
func NewCode() Code {
	raw := make([]byte, codeBytes)
	_, _ = rand.Read(raw) // never fails
	var groups []string
	for group := range slices.Chunk([]byte(letters.EncodeToString(raw)), 4) {
		groups = append(groups, string(group))
	}
	return Code(strings.Join(groups, "-"))
}

// ErrCode says that a text is no code.
var ErrCode = errors.New("this is no code: it is sixteen letters and digits, as `quarry serve pair` shows them")

// bytes are the random part of a code as a user typed it.
func (c Code) bytes() ([]byte, error) {
	text := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(string(c)))
	raw, err := letters.DecodeString(text)
	if err != nil || len(raw) != codeBytes {
		return nil, ErrCode
	}
	return raw, nil
}

// Certificate is the fingerprint of the certificate that a TLS connection has, which is the same
// for both ends: SHA-256 over the whole of it.
func Certificate(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return sum[:]
}

// agreed is what both ends of a pairing know that nobody else does.
type agreed struct {
	secret     []byte // of the shares, then the code
	transcript []byte // all that was said, and the certificate
}

// agree is the state of a pairing after the shares. secret is what X25519 made of them.
func agree(code Code, secret []byte, offer Offer, answer Share, certificate []byte) (agreed, error) {
	raw, err := code.bytes()
	if err != nil {
		return agreed{}, err
	}
	said := sum("quarry pairing", []byte{byte(offer.Protocol)}, offer.Share, offer.Key, answer.Share, certificate)
	return agreed{slices.Concat(secret, raw), said}, nil
}

// proof is that of one end, "device" or "service".
func (a agreed) proof(of string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, a.secret, a.transcript, "quarry pairing, proof of the "+of, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(a.transcript)
	return mac.Sum(nil), nil
}

// check answers whether a proof is that of one end.
func (a agreed) check(of string, proof []byte) bool {
	want, err := a.proof(of)
	return err == nil && hmac.Equal(want, proof)
}

// signed is what a device signs: the nonce it was given, on this TLS connection to this
// certificate, as this device.
func signed(c Challenge, state *tls.ConnectionState, id string, certificate []byte) ([]byte, error) {
	if state == nil || state.Version < tls.VersionTLS13 {
		return nil, errors.New("the connection is not encrypted by TLS 1.3")
	}
	session, err := state.ExportKeyingMaterial("EXPORTER-quarry-device", nil, 32)
	if err != nil {
		return nil, fmt.Errorf("the key of the TLS session: %w", err)
	}
	return sum("quarry connection", []byte{Protocol}, c.Nonce, session, []byte(id), certificate), nil
}

// sum is the digest of some parts, each with its length, so that no two lists have the same.
func sum(what string, parts ...[]byte) []byte {
	h := sha256.New()
	for _, part := range append([][]byte{[]byte(what)}, parts...) {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash takes everything
		h.Write(part)
	}
	return h.Sum(nil)
}

// isKey answers whether the bytes can be an Ed25519 key.
func isKey(raw []byte) bool { return len(raw) == ed25519.PublicKeySize }
