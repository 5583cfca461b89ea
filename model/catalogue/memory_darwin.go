package catalogue

import (
	"bytes"
	"context"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// MachineMemory is how many bytes of memory this machine has, 0 if it does not say.
func MachineMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

// FreeMemory is how many bytes programs can have without others being swapped out, 0 if the
// system does not say: pages that are free, or hold files that can be read again.
func FreeMemory() int64 {
	var pages int64
	for _, name := range []string{"vm.page_free_count", "vm.page_pageable_external_count", "vm.page_purgeable_count"} {
		n, err := unix.SysctlUint32(name)
		if err != nil {
			return 0
		}
		pages += int64(n)
	}
	return pages * int64(unix.Getpagesize())
}

// OnBattery is whether this machine runs on its battery, as far as the system tells.
func OnBattery() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	said, err := exec.CommandContext(ctx, "/usr/bin/pmset", "-g", "ps").Output()
	return err == nil && bytes.Contains(said, []byte("'Battery Power'"))
}
