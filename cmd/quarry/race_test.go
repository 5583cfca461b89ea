//go:build race

package main

// slower is by how much the race detector slows a process down, and makes it larger.
const slower = 3
