package model

import (
	"context"
	"testing"
)

// A request that was cancelled before its goroutine came to the scheduler is late,
// not new.
func TestTheCancelledDoNotSupersede(t *testing.T) {
	var l scheduler
	newest, err := l.enter(t.Context(), "new prompt")
	if err != nil {
		t.Fatal(err)
	}
	old, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.enter(old, "old prompt"); err != context.Canceled {
		t.Errorf("the cancelled one: %v", err)
	}
	select {
	case <-newest.lost:
		t.Error("a cancelled, older request threw the newest one out")
	default:
	}
	l.leave(newest)
}
