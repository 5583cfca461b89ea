//go:build editors

package nvim_test

import (
	"strings"
	"testing"
)

// Typed through, ghost text never leaves the screen and never lags behind: every frame that Neovim sends to the terminal
// has the whole line.
func TestNoFrameWithoutGhostText(t *testing.T) {
	const whole = "x := compute(alpha, beta)"
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "compute(alpha, beta)"})
	frames := p.Record()
	p.Press("C-l") // all of the screen anew
	p.typeForGhost("ix := ", "compute(alpha, beta)")
	for _, c := range "compute(" {
		p.Type(string(c))
	}
	p.waitForGhost("alpha, beta)")
	p.Type("alpha, ") // in one burst
	p.waitForGhost("beta)")
	p.Press("BSpace", "BSpace")
	p.waitForGhost(", beta)")
	p.Type(", bet")
	p.waitForGhost("a)")

	seen, broken := 0, []string{}
	for _, frame := range frames() {
		for _, row := range strings.Split(frame.String(), "\n") {
			switch {
			case !strings.HasPrefix(row, "x := "):
			case strings.TrimRight(row, " ") == whole:
				seen++
			case seen > 0:
				broken = append(broken, row)
			}
		}
	}
	if seen < 5 || len(broken) > 0 {
		t.Errorf("%d frames with the whole line, and these: %q", seen, broken)
	}
	t.Logf("%d frames, all with the whole line", seen)
}
