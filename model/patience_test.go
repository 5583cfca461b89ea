package model

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		newBytes int
		token    time.Duration
		want     time.Duration
	}{
		{0, 0, 5 * time.Second},                         // nothing is known
		{0, 3 * time.Millisecond, 2 * time.Second},      // a fast model
		{0, 30 * time.Millisecond, 6 * time.Second},     // a processor
		{0, 300 * time.Millisecond, 10 * time.Second},   // an old one
		{1500, 0, 25 * time.Second},                     // 500 new tokens
		{1500, 3 * time.Millisecond, 5 * time.Second},   // which a fast model reads fast
		{1500, 60 * time.Millisecond, 30 * time.Second}, // and a slow one at 50 a second
	} {
		if got := patience(c.newBytes, c.token).Round(time.Millisecond); got != c.want {
			t.Errorf("patience(%d, %v) = %v, want %v", c.newBytes, c.token, got, c.want)
		}
	}
}
