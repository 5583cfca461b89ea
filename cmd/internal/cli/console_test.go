package cli

import (
	"errors"
	"testing"
)

// A console of Windows is asked to follow escape sequences, and gets none if it cannot.
func TestConsolesThatFollowEscapeSequences(t *testing.T) {
	for name, c := range map[string]struct {
		mode          uint32
		none, refuses bool
		follows       bool
		asked         uint32 // 0 for not at all
	}{
		"follows already":      {mode: 7, follows: true},
		"Windows 10, off":      {mode: 3, follows: true, asked: 7},
		"raw, off":             {mode: 0, follows: true, asked: 5},
		"older than 10":        {mode: 3, refuses: true, asked: 7},
		"a pipe, a file, NUL":  {none: true},
		"processed output off": {mode: 4, follows: true, asked: 5},
	} {
		var asked uint32
		got := follows(func() (uint32, error) {
			if c.none {
				return 0, errors.New("the handle is invalid")
			}
			return c.mode, nil
		}, func(mode uint32) error {
			asked = mode
			if c.refuses {
				return errors.New("the parameter is incorrect")
			}
			return nil
		})
		if got != c.follows || asked != c.asked {
			t.Errorf("%s: follows %v, asked for %#x; want %v, %#x", name, got, asked, c.follows, c.asked)
		}
	}
}
