package service

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxStrangers is how many connections may be there whose device is not known yet. Each takes
// about 50 KB.
const maxStrangers = 64

// strangers is a listener that holds few connections whose device is not known, from the first
// byte on. Where there are too many, the oldest of the address that has most of them ends: whoever
// holds connections open, or opens ever more of them, keeps nobody at another address out, and
// nobody at his own who is faster than he.
type strangers struct {
	net.Listener

	mu   sync.Mutex
	list []*stranger // in the order they came; guarded by mu
}

// stranger is one of them, until it is closed or known.
type stranger struct {
	net.Conn
	from netip.Prefix // its address, of IPv6 the network: one machine has as many as it likes there
	of   *strangers
}

// Accept implements net.Listener.
func (s *strangers) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &stranger{Conn: conn, from: network(conn.RemoteAddr()), of: s}
	s.mu.Lock()
	s.list = append(s.list, c)
	var oldest *stranger
	if len(s.list) > maxStrangers {
		oldest = s.most()
	}
	s.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return c, nil
}

// most is the oldest connection of the address that has most of them. It is called with mu held.
func (s *strangers) most() (oldest *stranger) {
	count := map[netip.Prefix]int{}
	for _, c := range s.list {
		count[c.from]++
	}
	for _, c := range s.list {
		if oldest == nil || count[c.from] > count[oldest.from] {
			oldest = c
		}
	}
	return oldest
}

// network is what tells whose a connection is.
func network(address net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	from, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return from
}

// known says that the connection's device is known: it is none of the strangers any more.
func (c *stranger) known() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for i, other := range c.of.list {
		if other == c {
			c.of.list = append(c.of.list[:i:i], c.of.list[i+1:]...)
			return
		}
	}
}

// Close implements net.Conn.
func (c *stranger) Close() error {
	c.known()
	return c.Conn.Close()
}

// mostRefusals is how many refusals of a minute are logged as warnings: whoever reaches the port
// can cause as many as he likes.
const mostRefusals = 10

// refusals logs who was refused. It is safe for concurrent use.
type refusals struct {
	log *slog.Logger
	now func() time.Time // time.Now, but in tests

	mu    sync.Mutex
	since time.Time // the begin of the minute; guarded by mu
	count int       // in that minute; guarded by mu
}

func (r *refusals) add(from string, err error) {
	r.mu.Lock()
	now := r.now()
	if now.Sub(r.since) >= time.Minute {
		r.since, r.count = now, 0
	}
	r.count++
	n := r.count
	r.mu.Unlock()
	level := slog.LevelWarn
	if n > mostRefusals {
		level = slog.LevelDebug
	}
	r.log.Log(context.Background(), level, "refused a device", "from", from, "error", err)
	if n == mostRefusals {
		r.log.Warn("many devices are refused: more of this minute are logged with --log-level debug alone")
	}
}
