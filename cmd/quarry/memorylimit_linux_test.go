package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// Under a limit that the kernel enforces, and a budget that models alone exceed, the server indexes, takes
// every step, completes and ends as it should; its own memory stays below what the limit leaves.
func TestBudgetUnderALimit(t *testing.T) {
	limitsAreItsOwn(t)
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "1000")
	userSettings(t, "{}")
	root, state := t.TempDir(), t.TempDir()
	var text strings.Builder
	for n := range 100 {
		fmt.Fprintf(&text, "// Harvest%d collects ripe apples of row %d.\nfunc Harvest%d(rows []int) int {\n\treturn rows[%d]\n}\n\n", n, n, n, n)
	}
	const files = 60 // half a megabyte
	for n := range files {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("row%d.go", n)), []byte("package barn\n\n"+text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b", Bytes: 3e9})
	fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"rows[0]", "\n"}} })
	quarry, err := exec.LookPath("quarry") // that testscript.Main makes of this binary
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 1800000 && exec "$0" "$@"`, quarry, "lsp", "--state-dir", state, "--ollama", fake.URL)
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.StartProcess(ctx, cmd, headless.Options{Profile: profile, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	var n lsp.StatusNote
	err = e.Await(ctx, func() bool {
		n = lastNote(t, e)
		return n.Model.State == lsp.ModelReady && len(n.Savings) == 4 && len(n.Work) == 0
	})
	if err != nil {
		t.Fatalf("%v: %+v", err, n)
	}
	b, err := e.Open("row0.go", "go", "package barn\n\nfunc first(rows []int) int {\n\treturn \n}\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("return "); err != nil {
		t.Fatal(err)
	}
	if err := e.Complete(ctx, b, true); err != nil || b.Ghost == nil {
		t.Errorf("ghost text %+v, %v", b.Ghost, err)
	}
	var st lsp.Status
	if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil || st.Memory.Step != 4 || len(st.Index) != 1 || st.Index[0].Totals.Files != files {
		t.Errorf("status: %+v, %v", st.Memory, err)
	}
	const most = 256 << 20
	if peak := peakOf(t, cmd.Process.Pid); peak > most {
		t.Errorf("the process had %d MB at its peak", peak>>20)
	} else {
		t.Logf("the process had %d MB at its peak, %d MB at the end", peak>>20, st.Memory.ResidentBytes>>20)
	}
	if code, err := e.Quit(ctx); code != 0 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
}

// peakOf is the most memory that a process has had, in bytes.
func peakOf(t *testing.T, pid int) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.SplitN(rest, "\n", 2)[0], "kB")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
