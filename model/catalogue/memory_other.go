//go:build !linux && !darwin && !windows

package catalogue

// Nobody has asked such a system yet.

// MachineMemory is 0: not known.
func MachineMemory() int64 { return 0 }

// FreeMemory is 0: not known.
func FreeMemory() int64 { return 0 }

// OnBattery is false: not known.
func OnBattery() bool { return false }
