// Package process tells when another process has ended. It is safe for concurrent use.
package process

import (
	"context"
	"time"
)

// pollInterval is how often poll looks: the server promises to outlive its client by no
// more than a second.
const pollInterval = 900 * time.Millisecond

// poll looks now and then until the process is no more; it answers false if ctx
// ended before.
func poll(ctx context.Context, pid int) bool {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			if !isAlive(pid) {
				return true
			}
		}
	}
}
