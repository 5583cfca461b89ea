package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"go.lsp.dev/jsonrpc2"

	"quarry/lsp/service/client"
	"quarry/lsp/service/device"
	"quarry/lsp/wire"
)

// maxTries is how many wrong guesses a code allows.
const maxTries = 5

// offer is a code that waits for a device.
type offer struct {
	code    device.Code
	device  device.Device // as it will be, without key and ID
	expires time.Time
	tries   int // guarded by server.mu
	// ended is closed when a device has paired or the code has been withdrawn. Then paired or
	// why is set.
	ended  chan struct{}
	paired device.Device
	why    string
}

// offerCode serves MethodPair: it makes a code, which replaces one that waits. If the client
// leaves, its code is withdrawn.
func (c *session) offerCode(_ context.Context, params json.RawMessage) (any, error) {
	var p client.Pairing
	if err := wire.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	listening := c.server.opts.Remote
	if listening == nil {
		return nil, jsonrpc2.NewError(errFailed, "this quarry serve takes no devices: start it with --websocket and an address")
	}
	if name := wire.Plain(p.Name); name != p.Name || name == "" || len(name) > maxName || strings.TrimSpace(name) != name {
		return nil, wire.InvalidParams("%q cannot be the name of a device: give a short one in plain letters", name)
	}
	roots, err := rootsOf(p.Roots)
	if err != nil {
		return nil, err
	}
	if len(roots) == 0 {
		return nil, wire.InvalidParams("no folder: name the folders that the device may search")
	}
	for i, root := range roots {
		if err := isFolder(root); err != nil {
			return nil, err
		}
		if roots[i], err = filepath.EvalSymlinks(root); err != nil { // what is named is what there is now
			return nil, err
		}
	}
	paired, err := c.server.opts.Devices.List()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(paired, func(d device.Device) bool { return d.Name == p.Name }) {
		return nil, wire.InvalidParams("a device %q is already paired: revoke it first, or choose another name", p.Name)
	}
	o := &offer{
		code: device.NewCode(), device: device.Device{Name: p.Name, Roots: roots},
		expires: time.Now().Add(device.PairWithin), ended: make(chan struct{}),
	}
	s := c.server
	s.mu.Lock()
	before := s.offer
	s.offer = o
	s.mu.Unlock()
	if before != nil {
		before.end(device.Device{}, "another code was asked for")
	}
	c.mu.Lock()
	c.offered = o
	c.mu.Unlock()
	context.AfterFunc(c.base, func() { s.withdraw(o, "whoever asked for the code has gone") })
	time.AfterFunc(time.Until(o.expires), func() { s.withdraw(o, "nobody has used the code in time") })
	return client.Offered{
		Code: string(o.code), Addresses: listening.Addresses(), Expires: o.expires.UTC().Truncate(time.Second),
	}, nil
}

// end says how a code ended. It is called once, by the goroutine that has taken the code from
// the server.
func (o *offer) end(paired device.Device, why string) {
	o.paired, o.why = paired, why
	close(o.ended)
}

// withdraw ends a code that no device has used.
func (s *server) withdraw(o *offer, why string) {
	s.mu.Lock()
	waits := s.offer == o
	if waits {
		s.offer = nil
	}
	s.mu.Unlock()
	if waits {
		o.end(device.Device{}, why)
	}
}

// awaitDevice serves MethodPaired: it waits until the client's code has ended.
func (c *session) awaitDevice(ctx context.Context, _ json.RawMessage) (any, error) {
	c.mu.Lock()
	o := c.offered
	c.mu.Unlock()
	if o == nil {
		return nil, jsonrpc2.NewError(errFailed, "no code has been asked for: call "+client.MethodPair+" first")
	}
	jsonrpc2.Async(ctx)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-o.ended:
	}
	if o.why != "" {
		return nil, jsonrpc2.NewError(errFailed, o.why+": ask for another one")
	}
	return public(o.paired, false), nil
}

// public is a device without its key.
func public(d device.Device, connected bool) client.Device {
	return client.Device{ID: d.ID, Name: d.Name, Roots: d.Roots, Paired: d.Paired, Connected: connected}
}

// listDevices serves MethodDevices.
func (c *session) listDevices(context.Context, json.RawMessage) (any, error) {
	paired, err := c.server.opts.Devices.List()
	if err != nil {
		return nil, err
	}
	list := []client.Device{}
	for _, d := range paired {
		list = append(list, public(d, len(c.server.sessionsOf(d.ID)) > 0))
	}
	return client.Devices{Devices: list, Addresses: c.server.addresses()}, nil
}

// addresses are the addresses at which devices reach the service; none if it takes no devices.
func (s *server) addresses() []string {
	if s.opts.Remote == nil {
		return []string{}
	}
	return s.opts.Remote.Addresses()
}

// revoke serves MethodRevoke: it forgets the device and closes its connections.
func (c *session) revoke(_ context.Context, params json.RawMessage) (any, error) {
	var p client.Revoked
	if err := wire.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	gone, err := c.server.opts.Devices.Remove(p.Name)
	if err != nil {
		return nil, wire.InvalidParams("%v", err)
	}
	for _, session := range c.server.sessionsOf(gone.ID) {
		session.cancel()
	}
	return public(gone, false), nil
}

// sessionsOf are the connections of a device.
func (s *server) sessionsOf(id string) (list []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		if c.device != nil && c.device.ID == id {
			list = append(list, c)
		}
	}
	return list
}

// errCode refuses a device with a wrong code.
var errCode = refusal{"the code is wrong, old or used: ask for another one by `quarry serve pair` on the service's machine"}

// pair accepts a device that knows the code that waits.
func (d *doorman) pair(ws *websocket.Conn) error {
	var said device.Offer
	if err := device.Hear(d.ctx, ws, &said); err != nil {
		return err
	}
	d.server.mu.Lock()
	o := d.offer
	d.server.mu.Unlock()
	code := device.NewCode() // if no code waits, the device is not told so before it has tried to prove one
	if o != nil {
		code = o.code
	}
	accepting, share, err := device.Accept(code, said, d.remote.certificate)
	if err != nil {
		return refusal{cut(err.Error())}
	}
	if err := device.Say(d.ctx, ws, share); err != nil {
		return err
	}
	var proof device.Proof
	if err := device.Hear(d.ctx, ws, &proof); err != nil {
		return err
	}
	if !d.take(o, accepting.Check(proof)) {
		return errCode
	}
	return d.admit(ws, o, accepting)
}

// take takes a waiting code that has been proved, so that no other device can use it. It
// counts a try that has not been proved.
func (s *server) take(o *offer, proved bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o == nil || s.offer != o || !time.Now().Before(o.expires) {
		return false
	}
	if o.tries++; proved {
		s.offer = nil
	} else if o.tries >= maxTries {
		s.offer = nil
		o.end(device.Device{}, "the code was wrong five times")
	}
	return proved
}

// admit stores a device whose code has been taken, and tells the device.
func (d *doorman) admit(ws *websocket.Conn, o *offer, accepting *device.Accepting) (err error) {
	var paired device.Device
	defer func() {
		why := ""
		if err != nil {
			why = err.Error()
		}
		o.end(paired, why)
	}()
	proof, err := accepting.Proof()
	if err != nil {
		return err
	}
	paired = o.device
	paired.Key, paired.Paired = accepting.Key(), time.Now().UTC().Truncate(time.Second)
	if paired, err = d.opts.Devices.Add(paired); err != nil {
		return err
	}
	err = device.Say(d.ctx, ws, device.Paired{Proof: proof, ID: paired.ID, Name: paired.Name, Roots: paired.Roots})
	if err != nil { // the device has not received its name, so it will never be used
		_, failed := d.opts.Devices.Remove(paired.ID)
		err = errors.Join(err, failed)
	}
	return err
}

// cut shortens a reason to what a WebSocket can carry.
func cut(reason string) string { return reason[:min(len(reason), 120)] }

// own resolves a folder for a device, so that no link leads out of the folders that it may
// search, nor one that took the place of such a folder since the device was paired, as a
// repository can arrange. A client of the socket may search wherever its user may.
func (c *session) own(root string) (string, error) {
	if c.device == nil {
		return root, nil
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		for _, allowed := range c.device.Roots {
			if to, err := filepath.Rel(allowed, real); err == nil && filepath.IsLocal(to) {
				return real, nil
			}
		}
	}
	return "", wire.InvalidParams("%q is not among the folders of this device: %s", root, cmp.Or(strings.Join(c.device.Roots, ", "), "none"))
}

// ownRoots are the client's folders for a request. Those of a device are still what they were.
func (c *session) ownRoots() ([]string, error) {
	roots := c.rootsNow()
	if len(roots) == 0 {
		return nil, noFolder()
	}
	for _, root := range roots {
		if real, err := c.own(root); err != nil {
			return nil, err
		} else if real != root {
			return nil, wire.InvalidParams("%q is another folder by now: connect again", root)
		}
	}
	return roots, nil
}
