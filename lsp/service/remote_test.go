package service_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quarry/lsp/service"
	"quarry/lsp/service/client"
	"quarry/lsp/service/device"
)

func (s *served) address() string { return s.remote.Addresses()[0] }

// paired is a device of the service that may search in some folders, paired as a user does it.
func (s *served) paired(t *testing.T, name string, roots ...string) client.Credentials {
	t.Helper()
	c := s.dial(t, client.Options{})
	offered, err := c.OfferPairing(t.Context(), client.Pairing{Name: name, Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	who, err := client.Pair(t.Context(), s.address(), offered.Code)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.AwaitPairing(t.Context())
	if err != nil || d.Name != name || d.ID != who.ID || !slices.Equal(d.Roots, roots) {
		t.Fatalf("%+v, %v", d, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	return who
}

// connect connects a device.
func connect(t *testing.T, who client.Credentials, roots ...string) *client.Conn {
	t.Helper()
	c, err := client.DialDevice(t.Context(), who, client.Options{Hello: client.Hello{Client: "elsewhere", Roots: roots}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// wants asserts that an error says something.
func wants(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// S2: a device pairs once by a code, searches in the folders that were named, in no other, and is
// let in until it is revoked.
func TestDevice(t *testing.T) {
	s := serving(t)
	a, b := barn(t, "a"), barn(t, "b")
	who := s.paired(t, "laptop", a)
	c := connect(t, who, a)
	answer, err := c.Search(t.Context(), client.Search{Query: "frost", Current: true})
	if err != nil || len(answer.Results) != 1 || answer.Results[0].Path != "a.md" {
		t.Fatalf("%+v, %v", answer, err)
	}
	if text, err := c.Span(t.Context(), client.Span{Path: "store.go", StartLine: 3, EndLine: 3}); err != nil || !strings.Contains(text.Text, "Harvest(1)") {
		t.Errorf("%+v, %v", text, err)
	}
	beside, out := filepath.Join(filepath.Dir(a), "a-2"), filepath.Join(a, "out")
	if err := errors.Join(os.Mkdir(beside, 0o700), os.Symlink(b, out)); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{b, beside, out, filepath.Dir(a), "/", filepath.Join(a, "..", "..")} {
		_, err := c.AddRoot(t.Context(), wrong)
		wants(t, wrong, err, "not among the folders of this device")
		_, err = client.DialDevice(t.Context(), who, client.Options{Hello: client.Hello{Roots: []string{wrong}}})
		wants(t, wrong, err, "not among the folders of this device")
	}
	for _, path := range []string{filepath.Join(b, "store.go"), "../b/store.go", "out/store.go", filepath.Join(out, "store.go"), ".env"} {
		text, err := c.Span(t.Context(), client.Span{Path: path, StartLine: 1, EndLine: 9})
		wants(t, path+" ("+text.Text+")", err, "may not be read")
	}
	for _, method := range []string{client.MethodPair, client.MethodPaired, client.MethodDevices, client.MethodRevoke} {
		wants(t, method, c.Call(t.Context(), method, client.Pairing{Name: "other", Roots: []string{"/"}}, nil), "not found")
		if slices.Contains(c.Welcome.Methods, method) {
			t.Errorf("%s is served to a device", method)
		}
	}
	user := s.dial(t, client.Options{Hello: client.Hello{Client: "the user", Roots: []string{b}}})
	if st, err := c.Status(t.Context()); err != nil || len(st.Clients) > 0 || len(st.Open) > 0 {
		t.Errorf("a device is told of others: %+v, %v", st, err)
	}
	if st, err := user.Status(t.Context()); err != nil || !slices.ContainsFunc(st.Clients, func(c client.StatusClient) bool { return c.Client == "laptop (device)" }) || !slices.Equal(st.Addresses, []string{s.address()}) {
		t.Errorf("the user is not told of the device: %+v, %v", st, err)
	}
	_, err = user.OfferPairing(t.Context(), client.Pairing{Name: "laptop", Roots: []string{a}})
	wants(t, "the name again", err, "revoke it first")
	list, err := user.Devices(t.Context())
	if err != nil || len(list.Devices) != 1 || !list.Devices[0].Connected {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := user.Revoke(t.Context(), "laptop"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), client.Search{Query: "frost"}); err == nil {
		t.Error("what a revoked device has open goes on")
	}
	_, err = client.DialDevice(t.Context(), who, client.Options{})
	wants(t, "after it was revoked", err, "was revoked")
	if list, err := user.Devices(t.Context()); err != nil || len(list.Devices) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = user.Revoke(t.Context(), "laptop")
	wants(t, "revoked again", err, "no device")
}

// A folder is what it was when the device was paired: one of a repository's that becomes a link leads
// nowhere else, for those who connect then and for those who are connected.
func TestDevicesFolderBecomesALink(t *testing.T) {
	s := serving(t)
	a, b := barn(t, "a"), barn(t, "b")
	who := s.paired(t, "laptop", a)
	c := connect(t, who, a)
	if _, err := c.Search(t.Context(), client.Search{Query: "frost", Current: true}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(a, a+"-before"), os.Symlink(b, a)); err != nil {
		t.Skip("no links here: ", err)
	}
	_, err := c.Search(t.Context(), client.Search{Query: "frost", Current: true})
	wants(t, "a search", err, "not among the folders of this device")
	_, err = c.Span(t.Context(), client.Span{Path: "store.go", StartLine: 1, EndLine: 9})
	wants(t, "a span", err, "not among the folders of this device")
	err = c.Call(t.Context(), client.MethodTool, client.Tool{Name: "list_files", Arguments: json.RawMessage("{}")}, nil)
	wants(t, "a tool", err, "not among the folders of this device")
	_, err = c.AddRoot(t.Context(), b)
	wants(t, "where it leads", err, "not among the folders of this device")
	_, err = client.DialDevice(t.Context(), who, client.Options{Hello: client.Hello{Roots: []string{a}}})
	wants(t, "another connection", err, "not among the folders of this device")
	if err := errors.Join(os.Remove(a), os.Rename(a+"-before", a)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), client.Search{Query: "frost", Current: true}); err != nil {
		t.Errorf("as it was again: %v", err)
	}
}

// What was paired stays paired when the service begins again, with the same certificate, and its
// files are the user's alone.
func TestDevicesStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "serve")
	now := time.Now()
	_, first, err := device.NewStore(dir).Identity(now)
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.NewStore(dir).Add(device.Device{Name: "laptop", Roots: []string{"/a"}})
	if err != nil {
		t.Fatal(err)
	}
	again := device.NewStore(dir)
	_, second, err := again.Identity(now)
	if err != nil || !slices.Equal(first, second) {
		t.Errorf("another certificate, %v", err)
	}
	if found, ok, err := again.Find(d.ID); err != nil || !ok || found.Name != "laptop" {
		t.Errorf("%+v, %v, %v", found, ok, err)
	}
	if _, err := again.Add(device.Device{Name: "laptop"}); !errors.Is(err, device.ErrName) {
		t.Errorf("the name again: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
		if os.PathSeparator != '/' {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if os.PathSeparator == '/' {
		_, _, err = again.Identity(now)
		wants(t, "a key that others can read", err, "other users may read")
		_, err = again.List()
		wants(t, "devices that others can read", err, "other users may read")
	}
}

// Y10: a code lets one device in, once, for a while, and nobody who has another.
func TestCodes(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	pair := func(code string) error {
		_, err := client.Pair(t.Context(), s.address(), code)
		return err
	}
	wants(t, "no code waits", pair(string(device.NewCode())), "wrong, old or used")
	for _, text := range []string{"", "1234", "ZZZZ-ZZZZ-ZZZZ-ZZZ", "ZZZZ-ZZZZ-ZZZZ-ZZZ!"} {
		if err := pair(text); !errors.Is(err, device.ErrCode) {
			t.Errorf("%q: %v", text, err)
		}
	}
	user := s.dial(t, client.Options{})
	ask := func() string {
		t.Helper()
		offered, err := user.OfferPairing(t.Context(), client.Pairing{Name: "laptop", Roots: []string{a}})
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(offered.Expires); left < time.Minute || left > device.PairWithin+time.Second {
			t.Errorf("a code lasts %v", left)
		}
		return offered.Code
	}
	for _, wrong := range []client.Pairing{
		{Name: "", Roots: []string{a}}, {Name: "lap\x1b[2Jtop", Roots: []string{a}}, {Name: strings.Repeat("n", 300), Roots: []string{a}},
		{Name: "laptop"}, {Name: "laptop", Roots: []string{"src"}}, {Name: "laptop", Roots: []string{filepath.Join(a, "nowhere")}},
	} {
		if _, err := user.OfferPairing(t.Context(), wrong); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
	old := ask()
	code := ask()
	wants(t, "one that was asked for before", pair(old), "wrong, old or used")
	// As a person types it.
	if err := pair(strings.ToLower(strings.ReplaceAll(code, "-", " "))); err != nil {
		t.Fatal(err)
	}
	wants(t, "used", pair(code), "wrong, old or used")
	if _, err := user.Revoke(t.Context(), "laptop"); err != nil {
		t.Fatal(err)
	}
	code = ask()
	for range 5 {
		wants(t, "wrong", pair(string(device.NewCode())), "wrong, old or used")
	}
	wants(t, "after five that were wrong", pair(code), "wrong, old or used")
	_, err := user.AwaitPairing(t.Context())
	wants(t, "and the user", err, "wrong five times")
	code = ask()
	_ = user.Close()
	// The service hears of it a moment later; till then the code still counts.
	for deadline := time.Now().Add(10 * time.Second); ; {
		other := s.dial(t, client.Options{})
		st, err := other.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Clients) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("who has left is still there")
		}
		_ = other.Close()
	}
	wants(t, "whoever asked has gone", pair(code), "wrong, old or used")
	// Of many at once that have the code, one is let in.
	user = s.dial(t, client.Options{})
	code = ask()
	var all sync.WaitGroup
	var mu sync.Mutex
	in := 0
	for range 8 {
		all.Go(func() {
			if pair(code) == nil {
				mu.Lock()
				in++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if list, err := user.Devices(t.Context()); err != nil || in != 1 || len(list.Devices) != 1 {
		t.Errorf("%d let in, %+v, %v", in, list, err)
	}
}

// between is who stands between a device and a service, with a certificate of its own: it passes
// on what both say, and keeps it.
type between struct {
	address string
	mu      sync.Mutex
	said    [][]byte // guarded by mu
}

func standBetween(t *testing.T, service string) *between {
	t.Helper()
	b := &between{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		near, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{device.Subprotocol}})
		if err != nil {
			return
		}
		defer near.CloseNow()
		far, err := dialRaw(r.Context(), service, r.URL.Path, nil)
		if err != nil {
			return
		}
		defer far.CloseNow()
		var both sync.WaitGroup
		pass := func(from, to *websocket.Conn) {
			for {
				kind, raw, err := from.Read(r.Context())
				if err != nil {
					var closed websocket.CloseError
					if errors.As(err, &closed) {
						_ = to.Close(closed.Code, closed.Reason)
					} else {
						_ = to.CloseNow()
					}
					return
				}
				b.mu.Lock()
				b.said = append(b.said, raw)
				b.mu.Unlock()
				if to.Write(r.Context(), kind, raw) != nil {
					return
				}
			}
		}
		both.Go(func() { pass(near, far) })
		both.Go(func() { pass(far, near) })
		both.Wait()
	}))
	server.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	t.Cleanup(server.Close)
	b.address = server.Listener.Addr().String()
	return b
}

// dialRaw opens a WebSocket as a device does, with other headers if given, and any certificate.
func dialRaw(ctx context.Context, address, path string, opts *websocket.DialOptions) (*websocket.Conn, error) {
	if opts == nil {
		opts = &websocket.DialOptions{Subprotocols: []string{device.Subprotocol}}
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	opts.HTTPClient = &http.Client{Transport: transport}
	ws, _, err := websocket.Dial(ctx, "wss://"+address+path, opts)
	return ws, err
}

// Y10: who stands between with another certificate gets neither a pairing nor a connection.
func TestInBetween(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	user := s.dial(t, client.Options{})
	offered, err := user.OfferPairing(t.Context(), client.Pairing{Name: "laptop", Roots: []string{a}})
	if err != nil {
		t.Fatal(err)
	}
	b := standBetween(t, s.address())
	if who, err := client.Pair(t.Context(), b.address, offered.Code); err == nil {
		t.Errorf("paired through somebody in between: %+v", who)
	}
	if list, err := user.Devices(t.Context()); err != nil || len(list.Devices) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	// One that says yes to everything has no proof either.
	liar := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{device.Subprotocol}})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		var said device.Offer
		if device.Hear(r.Context(), ws, &said) != nil {
			return
		}
		_, share, err := device.Accept(device.NewCode(), said, nil)
		if err == nil && device.Say(r.Context(), ws, share) == nil {
			var proof device.Proof
			_ = device.Hear(r.Context(), ws, &proof)
			_ = device.Say(r.Context(), ws, device.Paired{Proof: proof.Proof, ID: "1", Name: "laptop"})
		}
	}))
	liar.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	liar.StartTLS()
	defer liar.Close()
	if _, err := client.Pair(t.Context(), liar.Listener.Addr().String(), offered.Code); !errors.Is(err, device.ErrService) {
		t.Errorf("one that does not know the code: %v", err)
	}
	who := s.paired(t, "laptop", a)
	there := who.Address
	who.Address = b.address
	if _, err := client.DialDevice(t.Context(), who, client.Options{}); !errors.Is(err, client.ErrOtherCertificate) {
		t.Errorf("another certificate: %v", err)
	}
	// A device that would take any certificate signs for the connection that it has itself.
	who.Address = there
	signed, err := proveThrough(t, b.address, who)
	if err == nil || signed == nil {
		t.Errorf("a signature passed on lets in: %v", err)
	}
}

// proveThrough says who a device is over a connection with any certificate, and answers the signature.
func proveThrough(t *testing.T, address string, who client.Credentials) (*device.Signature, error) {
	t.Helper()
	var state *tls.ConnectionState
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}
	ws, answer, err := websocket.Dial(t.Context(), "wss://"+address+device.ConnectPath, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{device.Subprotocol},
	})
	if err != nil {
		return nil, err
	}
	defer ws.CloseNow()
	state = answer.TLS
	var challenge device.Challenge
	if err := device.Hear(t.Context(), ws, &challenge); err != nil {
		return nil, err
	}
	signed, err := device.Sign(ed25519.NewKeyFromSeed(who.Key), who.ID, challenge, state, who.Certificate)
	if err != nil {
		return nil, err
	}
	if err := device.Say(t.Context(), ws, signed); err != nil {
		return nil, err
	}
	var known device.Known
	return &signed, device.Hear(t.Context(), ws, &known)
}

// Y10: a signature is good once, on the connection that it was made for, by the device that it is
// of, and no older way to connect is taken.
func TestReplayAndDowngrade(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	who, other := s.paired(t, "laptop", a), s.paired(t, "phone", a)
	if _, err := proveThrough(t, s.address(), who); err != nil {
		t.Fatalf("by hand: %v", err)
	}
	say := func(signature any) error {
		ws, err := dialRaw(t.Context(), s.address(), device.ConnectPath, nil)
		if err != nil {
			return err
		}
		defer ws.CloseNow()
		var challenge device.Challenge
		if err := device.Hear(t.Context(), ws, &challenge); err != nil {
			return err
		}
		if left := time.Until(challenge.Expires); left > device.AnswerWithin || len(challenge.Nonce) < 32 {
			t.Errorf("a challenge of %d bytes for %v", len(challenge.Nonce), left)
		}
		if err := device.Say(t.Context(), ws, signature); err != nil {
			return err
		}
		var known device.Known
		return device.Hear(t.Context(), ws, &known)
	}
	heard, err := proveThrough(t, s.address(), who)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "a signature said again", say(heard), "not paired")
	wants(t, "no signature", say(device.Signature{Protocol: device.Protocol, ID: who.ID}), "not paired")
	wants(t, "nobody's", say(device.Signature{Protocol: device.Protocol, ID: "nobody", Signature: heard.Signature}), "not paired")
	wants(t, "an older protocol", say(device.Signature{Protocol: 0, ID: who.ID, Signature: heard.Signature}), "bring both to one version")
	wants(t, "no JSON", say("quarry"), "its log says why")
	wants(t, "a long message", say(device.Signature{Protocol: device.Protocol, ID: strings.Repeat("x", 2*device.MaxMessage)}), "")
	mixed := who
	mixed.ID = other.ID
	_, err = client.DialDevice(t.Context(), mixed, client.Options{})
	wants(t, "another's name", err, "not paired")
	mixed = who
	mixed.Key = other.Key
	_, err = client.DialDevice(t.Context(), mixed, client.Options{})
	wants(t, "another's key", err, "not paired")

	for name, opts := range map[string]*websocket.DialOptions{
		"an older subprotocol": {Subprotocols: []string{"quarry.0"}},
		"none":                 {},
		"a browser":            {Subprotocols: []string{device.Subprotocol}, HTTPHeader: http.Header{"Origin": {"https://" + s.address()}}},
		"an extension":         {Subprotocols: []string{device.Subprotocol}, HTTPHeader: http.Header{"Origin": {"null"}}},
	} {
		for _, path := range []string{device.PairPath, device.ConnectPath} {
			if ws, err := dialRaw(t.Context(), s.address(), path, opts); err == nil {
				ws.CloseNow()
				t.Errorf("%s is taken at %s", name, path)
			}
		}
	}
	old := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}}
	if conn, err := old.DialContext(t.Context(), "tcp", s.address()); err == nil {
		conn.Close()
		t.Error("TLS 1.2 is taken")
	}
	plain, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Write([]byte("GET /connect HTTP/1.1\r\nHost: quarry\r\nUpgrade: websocket\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(plain); err != nil || !strings.Contains(string(said), "400 Bad Request") {
		t.Errorf("without TLS: %q, %v", said, err)
	}
	// And who is known is still let in.
	if _, err := connect(t, who, a).Search(t.Context(), client.Search{Query: "frost", Current: true}); err != nil {
		t.Error(err)
	}
}

// A challenge is good until it expires.
func TestChallengeExpires(t *testing.T) {
	who, err := device.Join(device.NewCode())
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	store := device.NewStore(filepath.Join(t.TempDir(), "serve"))
	pair, certificate, err := store.Identity(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	server := tls.Server(far, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
	user := tls.Client(near, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	var both sync.WaitGroup
	both.Go(func() {
		if err := server.Handshake(); err != nil {
			t.Error(err)
		}
	})
	if err := user.Handshake(); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	mine, theirs := user.ConnectionState(), server.ConnectionState()
	now := time.Now()
	c := device.NewChallenge(now)
	s, err := device.Sign(key, "1", c, &mine, certificate)
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public().(ed25519.PublicKey)
	verify := func(c device.Challenge, s device.Signature, at time.Time, certificate []byte) bool {
		return device.Verify(public, c, s, &theirs, certificate, at)
	}
	if !verify(c, s, now.Add(device.AnswerWithin/2), certificate) {
		t.Error("a good one is refused")
	}
	if verify(c, s, now.Add(device.AnswerWithin), certificate) {
		t.Error("an old one is taken")
	}
	if verify(device.NewChallenge(now), s, now, certificate) {
		t.Error("one of another challenge is taken")
	}
	if verify(c, device.Signature{Protocol: 1, ID: "2", Signature: s.Signature}, now, certificate) {
		t.Error("one of another device is taken")
	}
	if verify(c, s, now, certificate[1:]) {
		t.Error("one for another certificate is taken")
	}
	if _, err := device.Sign(key, "1", c, &tls.ConnectionState{Version: tls.VersionTLS12}, certificate); err == nil {
		t.Error("signed over TLS 1.2")
	}
	_, err = who.Prove(device.Share{Share: make([]byte, 32)}, certificate)
	if err == nil { // which X25519 makes zeros of, whatever the other key is
		t.Error("a share of zeros is taken")
	}
	if _, _, err := device.Accept(device.NewCode(), device.Offer{Protocol: 1, Share: make([]byte, 32), Key: public}, certificate); err == nil {
		t.Error("a share of zeros is taken")
	}
}

// Those whose device is not known are few, however they wait, and keep nobody out that is known.
func TestManyUnknown(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	who := s.paired(t, "laptop", a)
	before := connect(t, who, a)
	const most, more = 64, 20
	var held []net.Conn
	hold := func(c net.Conn, err error) net.Conn {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		return c
	}
	for i := range most + more {
		switch i % 3 {
		case 0: // no handshake
			hold(net.Dial("tcp", s.address()))
		case 1: // no request
			c := tls.Client(hold(net.Dial("tcp", s.address())), &tls.Config{InsecureSkipVerify: true})
			if err := c.HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
		case 2: // no answer to the challenge
			if _, err := dialRaw(t.Context(), s.address(), device.ConnectPath, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := connect(t, who, a)
	for _, c := range []*client.Conn{before, c} {
		if _, err := c.Search(t.Context(), client.Search{Query: "frost"}); err != nil {
			t.Errorf("a device that is known is kept out, or ended: %v", err)
		}
	}
	if s.paired(t, "other", a).Name != "other" {
		t.Error("nobody can pair meanwhile")
	}
	// The first are gone: what waits is not more than that.
	for i, c := range held[:more/3] {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d of %d is held still (%d bytes, %v)", i, most+more, n, err)
		}
	}
	for _, c := range held {
		_ = c.Close()
	}
}

// A request that is refused ends its connection, whatever more it announces.
func TestRefusedRequestsEnd(t *testing.T) {
	s := serving(t)
	for request, want := range map[string]string{
		"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc":                                             "404",
		"GET /pair HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Protocol: quarry.1\r\nContent-Length: 100000\r\n\r\nabc":       "426",
		"GET /pair HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Protocol: quarry.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n": "426",
		"GET /connect HTTP/1.1\r\nHost: a\r\nOrigin: https://example.com\r\nContent-Length: 9\r\n\r\n":                 "403",
		"GET /connect HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Protocol: quarry.2\r\n\r\n":                                 "400",
	} {
		c, err := tls.Dial("tcp", s.address(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(c)
		if status, _, _ := strings.Cut(strings.TrimPrefix(string(text), "HTTP/1.1 "), " "); status != want || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: %q, %v", request, text, err)
		}
		_ = c.Close()
	}
}

// Connections that say nothing, or half a greeting, keep no device out, even by the hundred.
func TestManySilent(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	who := s.paired(t, "laptop", a)
	for range 400 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.address())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = conn.Write([]byte("\x16\x03\x01"))
	}
	c, err := client.DialDevice(t.Context(), who, client.Options{Hello: client.Hello{Roots: []string{a}}})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// A service that was not told where takes no devices.
func TestNoDevicesUnasked(t *testing.T) {
	dir := socketDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	socket, err := service.Listen(ctx, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- service.Serve(ctx, socket, service.Options{
			Version: "test", Settings: func() string { return "" }, Devices: device.NewStore(filepath.Join(dir, "serve")),
		})
	}()
	c, err := client.Dial(t.Context(), filepath.Join(dir, "s"), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.OfferPairing(t.Context(), client.Pairing{Name: "laptop", Roots: []string{dir}})
	wants(t, "without --websocket", err, "--websocket")
	if list, err := c.Devices(t.Context()); err != nil || len(list.Devices)+len(list.Addresses) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	_ = c.Close()
	cancel()
	if err := errors.Join(<-ended, socket.Close()); err != nil {
		t.Error(err)
	}
}
