package completion

import "time"

// rhythm is how fast a user types, learned from when requests arrive.
type rhythm struct {
	last time.Time
	// gap is the mean time between keystrokes of a burst, 0 before the first.
	gap time.Duration
}

// A longer pause is thinking, not typing.
const burstPause = time.Second

// note takes a request's arrival and answers the pause before it.
func (r *rhythm) note(now time.Time) (pause time.Duration) {
	pause = now.Sub(r.last)
	if pause > 0 && pause < burstPause {
		if r.gap == 0 {
			r.gap = pause
		} else {
			r.gap += (pause - r.gap) / 4
		}
	}
	r.last = now
	return pause
}

// The model's time to its first token below which asking at every keystroke
// costs nothing worth saving.
const quickModel = 30 * time.Millisecond

// debounce is how long an automatic request waits for the next keystroke
// before it asks a model whose first token takes latency.
//
// Asking too early wastes up to latency of the backend's time, which the next
// request then waits for; asking late delays ghost text by the wait. So the
// wait is a little more than the usual gap between keystrokes, which most
// superseded requests do not outlive, but never more than what a wasted
// request costs, and never more than most.
func debounce(gap, latency, most time.Duration) time.Duration {
	if gap == 0 || latency < quickModel {
		return 0
	}
	return min(gap+gap/4, latency, most)
}
