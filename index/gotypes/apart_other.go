//go:build !linux

package gotypes

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/metrics"
	"time"
)

// endWithThis does nothing: the process ends when its input does, which is when this one ends.
func endWithThis(*exec.Cmd) {}

// boundMemory ends this process when it has taken so many bytes more than it has: only Linux
// refuses memory. Pages take longer to fill than the time between two looks.
func boundMemory(bytes int) error {
	taken := func() uint64 {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(samples)
		return samples[0].Value.Uint64() - samples[1].Value.Uint64()
	}
	most := taken() + uint64(bytes)
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			if taken() > most {
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(2)
			}
		}
	}()
	return nil
}
