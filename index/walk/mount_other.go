//go:build !linux

package walk

func isKernelsMount(string) bool { return false }
