package catalogue

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineMemory is how many bytes of memory this machine has, 0 if it does not say. A
// container has as many as its control group may take.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(uint64(info.Totalram) * uint64(info.Unit))
	if g, ok := controlGroup("/"); ok {
		total = min(total, g.limit)
	}
	return total
}

// FreeMemory is how many bytes programs can have without others being swapped out, 0 if the
// system does not say.
func FreeMemory() int64 { return freeMemory("/") }

func freeMemory(root string) int64 {
	raw, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	var free int64
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 10, 64)
			if err != nil {
				return 0
			}
			free = kilobytes << 10
		}
	}
	if g, ok := controlGroup(root); ok && free > 0 {
		free = min(free, max(g.limit-g.used, 1))
	}
	return free
}

// OnBattery is whether this machine runs on its battery, as far as the system tells.
func OnBattery() bool { return onBattery("/") }

// onBattery: a battery that powers the machine, not one of a mouse, gives current away, and no other
// source gives any.
func onBattery(root string) bool {
	supplies, err := filepath.Glob(filepath.Join(root, "sys/class/power_supply/*"))
	if err != nil {
		return false
	}
	discharging := false
	for _, dir := range supplies {
		says := func(name string) string {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(raw))
		}
		switch kind := says("type"); {
		case kind != "Battery" && says("online") == "1":
			return false
		case kind == "Battery" && says("scope") != "Device" && says("status") == "Discharging":
			discharging = true
		}
	}
	return discharging
}
