//go:build unix

// Command startbench takes the figures of bench/start.md: what a process that begins with
// an index costs until its first answer, and what a first index costs. It runs the real
// binary, and ripgrep and another binary beside it where they are given.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"quarry/index"
	"quarry/lsp/headless"
)

// rounds is how often a one-shot command is run; the figures are medians.
const rounds = 15

// queries are a name, a question and an exact text.
var queries = []string{"RouterGroup", "read a file line by line", `"context deadline exceeded"`}

func main() {
	quarry := flag.String("quarry", "bin/quarry", "the binary")
	previous := flag.String("previous", "", "another binary to measure beside it")
	rest := flag.Duration("rest", time.Minute, "how long a server is left alone before its memory at rest is read")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: startbench [flags] TREE")
		os.Exit(2)
	}
	tree, err := filepath.Abs(flag.Arg(0))
	if err == nil {
		err = measure(*quarry, *previous, tree, *rest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "startbench:", err)
		os.Exit(1)
	}
}

func measure(quarry, previous, tree string, rest time.Duration) error {
	load, _ := os.ReadFile("/proc/loadavg") // of other systems it is not said
	fmt.Printf("%d processors, %s, load before: %s\n\n", runtime.NumCPU(), runtime.Version(), strings.TrimSpace(string(load)))
	fmt.Println("| what | wall ms | processor ms | largest MB |\n|---|---|---|---|")
	for _, b := range []struct{ name, path string }{{"quarry", quarry}, {"previous", previous}} {
		if b.path == "" {
			continue
		}
		if err := binary(b.name, b.path, tree, rest); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	rg, err := exec.LookPath("rg")
	if err != nil {
		fmt.Println("\nripgrep is not installed.")
		return nil
	}
	for _, q := range queries {
		if err := oneShot("rg "+q, func() *exec.Cmd { return exec.Command(rg, "-F", strings.Trim(q, `"`), tree) }); err != nil {
			return err
		}
	}
	return nil
}

// binary measures one quarry with an index of its own.
func binary(name, path, tree string, rest time.Duration) error {
	state, err := os.MkdirTemp("", "startbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, append(args, "--state-dir", state, "--workspace", tree)...)
		cmd.Env = append(os.Environ(), "OLLAMA_HOST=127.0.0.1:1", "XDG_CONFIG_HOME="+state) // no model, no settings
		cmd.Dir = tree
		return cmd
	}
	cmd := command("index", "--json")
	var out bytes.Buffer
	cmd.Stdout = &out
	first, err := run(cmd)
	if err != nil {
		return err
	}
	first.row(name + ": first index")
	var indexed struct{ Files, Chunks, Bytes int64 }
	if err := json.Unmarshal(out.Bytes(), &indexed); err != nil {
		return err
	}
	for _, q := range queries {
		if err := oneShot(name+" search "+q, func() *exec.Cmd { return command("search", "--mode", "lexical", q) }); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"status"}, {"version"}} {
		if err := oneShot(name+" "+args[0], func() *exec.Cmd { return command(args...) }); err != nil {
			return err
		}
	}
	fmt.Println()
	if err := server(name, command("lsp"), tree, rest); err != nil {
		return err
	}
	var disk int64
	err = filepath.WalkDir(state, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			disk += info.Size()
		}
		return err
	})
	fmt.Printf("- %s: %d files, %d chunks, %.1f MB of source; %.1f MB on disk, %.2f times the source\n\n",
		name, indexed.Files, indexed.Chunks, mb(indexed.Bytes), mb(disk), float64(disk)/float64(indexed.Bytes))
	return err
}

func mb(n int64) float64 { return float64(n) / 1e6 }

// cost is what a process took.
type cost struct {
	wall, processor time.Duration
	memory          float64 // MB
}

func (c cost) row(name string) {
	fmt.Printf("| %s | %.0f | %.0f | %.0f |\n", name, ms(c.wall), ms(c.processor), c.memory)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func run(cmd *exec.Cmd) (cost, error) {
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w", cmd, err)
	}
	c := cost{wall: time.Since(start), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = float64(u.Maxrss) / 1e3
		if runtime.GOOS == "darwin" {
			c.memory /= 1e3 // bytes there, KB elsewhere
		}
	}
	return c, nil
}

// oneShot prints the medians of a command after one run that fills the caches.
func oneShot(name string, command func() *exec.Cmd) error {
	var all []cost
	for i := range rounds + 1 {
		c, err := run(command())
		if err != nil && c == (cost{}) && !strings.HasPrefix(name, "rg ") { // which ends with 1 where it finds nothing
			return err
		}
		if i > 0 {
			all = append(all, c)
		}
	}
	middle := func(of func(cost) float64) float64 {
		slices.SortFunc(all, func(a, b cost) int { return int(1000 * (of(a) - of(b))) })
		return of(all[len(all)/2])
	}
	cost{
		wall:      time.Duration(middle(func(c cost) float64 { return ms(c.wall) }) * float64(time.Millisecond)),
		processor: time.Duration(middle(func(c cost) float64 { return ms(c.processor) }) * float64(time.Millisecond)),
		memory:    middle(func(c cost) float64 { return c.memory }),
	}.row(name)
	return nil
}

// server prints the memory of a language server and how long its answers take.
func server(name string, cmd *exec.Cmd, tree string, rest time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	start := time.Now()
	e, err := headless.StartProcess(ctx, cmd, headless.Options{Root: tree})
	if err != nil {
		return err
	}
	search := func(i int) error {
		return e.Call(ctx, "quarry/search.lexical", map[string]any{"query": queries[i%2]}, nil) // the exact text reads files
	}
	if err := search(0); err != nil {
		return err
	}
	answered := time.Since(start)
	for ready := false; !ready; {
		var status []index.Status
		if err := e.Call(ctx, "quarry/index.status", nil, &status); err != nil {
			return err
		}
		if ready = len(status) > 0 && !status[0].Working && !status[0].Learning; !ready {
			time.Sleep(100 * time.Millisecond)
		}
	}
	whole := time.Since(start)
	var took []time.Duration
	for i := range 100 {
		start := time.Now()
		if err := search(i); err != nil {
			return err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	after := resident(cmd.Process.Pid)
	time.Sleep(rest)
	fmt.Printf("- %s lsp: first answer after %.0f ms, everything known after %.1f s; %s MB resident after 100 searches, %s at rest; a search p50 %.1f ms, p95 %.1f ms\n",
		name, ms(answered), whole.Seconds(), after, resident(cmd.Process.Pid), ms(took[50]), ms(took[95]))
	_, err = e.Quit(ctx)
	return err
}

// resident is a process's memory in MB, as Linux tells it.
func resident(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest + " -")[0])
	if err != nil {
		return "unknown"
	}
	return strconv.Itoa(kb / 1000)
}
