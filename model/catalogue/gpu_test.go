package catalogue

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A GPU is found by what its driver leaves behind.
func TestGPU(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("on macOS the GPU is part of the processor: there is no driver to look for")
	}
	for path, want := range map[string]string{"proc/driver/nvidia/gpus/0000:01:00.0": "an NVIDIA GPU", "dev/kfd": "an AMD GPU", "dev/null": ""} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := gpu(root); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
