package service

import (
	"net"
	"net/http"
	"testing"
)

// Of connections that open no WebSocket, the first give their places to those that come.
func TestHallwayIsBounded(t *testing.T) {
	h := new(hallway)
	var ours, theirs []net.Conn
	for range maxInHallway + 3 {
		a, b := net.Pipe()
		ours, theirs = append(ours, a), append(theirs, b)
		h.note(a, http.StateNew)
	}
	for i := range 3 {
		if _, err := theirs[i].Write([]byte{0}); err == nil {
			t.Errorf("connection %d is still there", i)
		}
		h.note(ours[i], http.StateClosed)
	}
	if len(h.waiting) != maxInHallway || h.waiting[0] != ours[3] {
		t.Errorf("%d wait", len(h.waiting))
	}
	h.note(ours[3], http.StateHijacked)
	a, _ := net.Pipe()
	h.note(a, http.StateNew)
	if len(h.waiting) != maxInHallway || h.waiting[0] != ours[4] {
		t.Errorf("%d wait, and one that has its WebSocket is among them", len(h.waiting))
	}
}
