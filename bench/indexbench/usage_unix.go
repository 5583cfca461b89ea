//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is what the process has used so far on all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory is the process's largest resident size in MB.
func peakMemory() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) / 1e6 // bytes there, KB elsewhere
	}
	return float64(u.Maxrss) / 1e3
}
