package catalogue

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	globalMemoryStatusEx = kernel32.NewProc("GlobalMemoryStatusEx")
	getSystemPowerStatus = kernel32.NewProc("GetSystemPowerStatus")
)

// memoryStatus is Windows' MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                                                        uint32
	totalPhysical, freePhysical, totalPage, freePage, totalVirtual, freeVirtual, freeEx uint64
}

// powerStatus is Windows' SYSTEM_POWER_STATUS.
type powerStatus struct {
	onLine, battery, percent, saver byte
	left, full                      uint32
}

func memory() (s memoryStatus) {
	s.length = uint32(unsafe.Sizeof(s))
	if done, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); done == 0 {
		return memoryStatus{}
	}
	return s
}

// MachineMemory is how many bytes of memory this machine has, 0 if it does not say.
func MachineMemory() int64 { return int64(memory().totalPhysical) }

// FreeMemory is how many bytes programs can have without others being swapped out, 0 if the
// system does not say.
func FreeMemory() int64 { return int64(memory().freePhysical) }

// OnBattery is whether this machine runs on its battery, as far as the system tells.
func OnBattery() bool {
	var s powerStatus
	done, _, _ := getSystemPowerStatus.Call(uintptr(unsafe.Pointer(&s)))
	const withoutBattery = 128
	return done != 0 && s.onLine == 0 && s.battery&withoutBattery == 0
}
