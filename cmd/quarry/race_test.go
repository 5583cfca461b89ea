//go:build race

package main

// slower and larger are by how much the race detector slows a process down and makes it
// larger: its documentation says 2 to 20 times and 5 to 10 times.
const slower, larger = 3, 6
