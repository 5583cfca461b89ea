package service

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// from is a connection from an address, and a listener that answers such ones.
type from struct {
	net.Conn
	address string
	closed  bool
}

func (f *from) RemoteAddr() net.Addr { return named(f.address) }
func (f *from) Close() error         { f.closed = true; return nil }

type named string

func (n named) Network() string { return "tcp" }
func (n named) String() string  { return string(n) }

type arriving struct {
	net.Listener
	next *from
}

func (a *arriving) Accept() (net.Conn, error) {
	if a.next == nil {
		return nil, io.EOF
	}
	return a.next, nil
}

// Where there are too many strangers, the oldest of the address that has most of them ends.
func TestStrangersGiveWay(t *testing.T) {
	door := &arriving{}
	s := &strangers{Listener: door}
	come := func(address string) (*from, *stranger) {
		door.next = &from{address: address}
		c, err := s.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return door.next, c.(*stranger)
	}
	lone, _ := come("192.0.2.9:1")
	friend, is := come("192.0.2.1:1")
	is.known()
	var crowd []*from
	for i := range 2 * maxStrangers {
		address := "192.0.2.1:2"
		if i%2 == 1 {
			address = "[::ffff:192.0.2.1]:2" // the same
		}
		c, _ := come(address)
		crowd = append(crowd, c)
	}
	for i, c := range crowd {
		if want := i < len(crowd)-(maxStrangers-1); c.closed != want {
			t.Fatalf("connection %d of %d: closed %v, want %v", i, len(crowd), c.closed, want)
		}
	}
	if lone.closed || friend.closed || len(s.list) != maxStrangers {
		t.Errorf("alone %v, known %v, %d are held", lone.closed, friend.closed, len(s.list))
	}
	if a, b := network(named("[2001:db8::1]:1")), network(named("[2001:db8::2%eth0]:1")); a != b || a.Bits() != 64 {
		t.Errorf("%v and %v are one network", a, b)
	}
	for len(s.list) > 0 {
		if err := s.list[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !lone.closed || !crowd[len(crowd)-1].closed {
		t.Error("a connection that was closed is held still")
	}
	door.next = nil
	if _, err := s.Accept(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// Whoever reaches the port cannot fill the log.
func TestFewRefusalsAreLogged(t *testing.T) {
	var log bytes.Buffer
	now := time.Now()
	r := refusals{log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }}
	for range 1000 {
		r.add("192.0.2.1:7", errCode)
	}
	if n := strings.Count(log.String(), "\n"); n != mostRefusals+1 || !strings.Contains(log.String(), "debug alone") {
		t.Errorf("%d lines: %s", n, &log)
	}
	now = now.Add(time.Minute)
	if r.add("192.0.2.1:7", errCode); strings.Count(log.String(), "\n") != mostRefusals+2 {
		t.Errorf("nothing is logged a minute later: %s", &log)
	}
}
