//go:build !linux

package process

import "context"

// Telling: the system tells Await, which otherwise looks about once a second.
const Telling = false

// Await returns true when the process with that id is no more, and false when ctx ends.
func Await(ctx context.Context, pid int) bool { return poll(ctx, pid) }
