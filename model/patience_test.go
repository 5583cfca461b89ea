package model

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		newBytes        int
		token, readByte time.Duration
		want            time.Duration
	}{
		{0, 0, 0, 5 * time.Second},                                              // nothing is known
		{0, 3 * time.Millisecond, 0, 2 * time.Second},                           // a fast model
		{0, 30 * time.Millisecond, 0, 6 * time.Second},                          // a processor
		{0, 300 * time.Millisecond, 0, 10 * time.Second},                        // an old one
		{1500, 0, 0, 25 * time.Second},                                          // 500 new tokens
		{1500, 3 * time.Millisecond, 0, 5 * time.Second},                        // which a fast model reads fast
		{1500, 60 * time.Millisecond, 0, 30 * time.Second},                      // and a slow one at 50 a second
		{1500, 60 * time.Millisecond, time.Millisecond, 30 * time.Second},       // reading fast makes no hurry
		{1500, 120 * time.Millisecond, 25 * time.Millisecond, 85 * time.Second}, // a busy one reads 13
	} {
		if got := patience(c.newBytes, c.token, c.readByte).Round(time.Millisecond); got != c.want {
			t.Errorf("patience(%d, %v, %v) = %v, want %v", c.newBytes, c.token, c.readByte, got, c.want)
		}
	}
}

func TestReadingIsTimed(t *testing.T) {
	var m metrics
	m.readIn(enough-1, time.Hour)
	if got := m.readTime(); got != 0 {
		t.Errorf("%v after a few bytes", got)
	}
	m.readIn(1000, 25*time.Second)
	if got := m.readTime(); got != 25*time.Millisecond {
		t.Errorf("%v after 1000 bytes in 25 s", got)
	}
	m.readIn(1000, time.Second)
	if got := m.readTime(); got != 19*time.Millisecond {
		t.Errorf("%v after a fast prompt", got)
	}
	m.readIn(1000, time.Hour)
	if got := m.readTime(); got > slowest {
		t.Errorf("%v after a stuck server", got)
	}
}
