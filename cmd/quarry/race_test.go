//go:build race

package main

// larger is by how much the race detector makes a process larger: its documentation says
// 5 to 10 times.
const larger = 6
