package catalogue

import (
	"fmt"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/cpu"
)

// A Machine is what models run on, as far as it says.
type Machine struct {
	// Memory is bytes, 0 if not known.
	Memory     int64 `json:"memory"`
	Processors int   `json:"processors"`
	// SIMD is the widest vector instructions that model servers use, "" if there are none.
	SIMD string `json:"simd,omitempty"`
	// GPU is what could run a model, "" if none was found.
	GPU string `json:"gpu,omitempty"`
}

// OwnGPU is whether what could run a model has memory of its own.
func (m Machine) OwnGPU() bool { return m.GPU != "" && runtime.GOOS != "darwin" }

// ThisMachine is the one that quarry runs on.
func ThisMachine() Machine {
	return Machine{Memory: MachineMemory(), Processors: runtime.NumCPU(), SIMD: simd(), GPU: gpu("/")}
}

func simd() string {
	switch {
	case cpu.X86.HasAVX512F:
		return "AVX-512"
	case cpu.X86.HasAVX2:
		return "AVX2"
	case runtime.GOARCH == "arm64":
		return "NEON"
	}
	return ""
}

// gpu looks for what drivers leave below root. Where a system keeps it elsewhere none is
// found, and the advice is the careful one.
func gpu(root string) string {
	if runtime.GOOS == "darwin" && runtime.GOARCH == "arm64" {
		return "Apple's GPU"
	}
	for _, driver := range []struct{ leaves, name string }{
		{"proc/driver/nvidia/gpus/*", "an NVIDIA GPU"},
		{"dev/kfd", "an AMD GPU"},
	} {
		if found, err := filepath.Glob(filepath.Join(root, driver.leaves)); err == nil && len(found) > 0 {
			return driver.name
		}
	}
	return ""
}

// Budget is how many bytes models, their server and quarry may take together unless the
// user says otherwise: half of the machine, since editor, compiler and browser want the
// rest. It is 0 where the memory is not known.
func (m Machine) Budget() int64 { return m.Memory / 2 }

// String says it in a line.
func (m Machine) String() string {
	memory, processors, gpu := "an unknown amount of memory", fmt.Sprintf("%d processors", m.Processors), "no GPU found"
	if m.Memory > 0 {
		memory = Gigabytes(m.Memory) + " of memory"
	}
	if m.Processors == 1 {
		processors = "1 processor"
	}
	if m.SIMD != "" {
		processors += " with " + m.SIMD
	}
	if m.GPU != "" {
		gpu = m.GPU
	}
	return memory + ", " + processors + ", " + gpu
}

// fewProcessors is how many are few for a model of three billion weights without a GPU:
// reading the hundred tokens that are new between two keystrokes takes it longer than a
// user waits (bench/models.md has what one thread reads).
const fewProcessors = 4

// slow is whether a smaller model serves better here than the best that fits.
func (m Machine) slow() bool { return m.GPU == "" && (m.Processors <= fewProcessors || m.SIMD == "") }
