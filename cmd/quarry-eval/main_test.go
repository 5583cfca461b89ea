package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"quarry-eval": main})
}

// TestScripts runs the evaluations through the real main, without a model.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script", "eval"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("AppData", filepath.Join(env.WorkDir, "config")) // on Windows these two
			env.Setenv("LocalAppData", filepath.Join(env.WorkDir, "state"))
			env.Setenv("QEMU_LD_PREFIX", os.Getenv("QEMU_LD_PREFIX")) // an emulator's libraries (testdata/supply/arm64.sh)
			env.Setenv("GORACE", "atexit_sleep_ms=0")                 // else every process sleeps a second at its end
			return nil
		},
	})
}
