//go:build !linux && !darwin

package process

// IsStopped answers false: the system does not say which processes are stopped.
func IsStopped(int) bool { return false }
