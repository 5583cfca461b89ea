//go:build !linux && !darwin

package catalogue

// MachineMemory is 0: nobody asked this system yet.
func MachineMemory() int64 { return 0 }
