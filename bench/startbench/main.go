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
	files := flag.Int("files", 100_000, "how many files the generated tree has, 0 for none")
	leave := flag.Bool("leaving", false, "measure only how long a server takes to be gone, in the middle of work")
	service := flag.Bool("service", false, "measure only what a search costs by itself and by quarry serve")
	rest := flag.Duration("rest", time.Minute, "how long a server is left alone before its memory at rest is read")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: startbench [flags] TREE")
		os.Exit(2)
	}
	tree, err := filepath.Abs(flag.Arg(0))
	switch {
	case err == nil && *service:
		err = served(*quarry, tree, []string{"foo", "how are files watched", `"context deadline exceeded"`})
	case err == nil && *leave:
		err = leaving(*quarry, tree, *files)
	case err == nil:
		err = measure(*quarry, *previous, tree, *files, *rest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "startbench:", err)
		os.Exit(1)
	}
}

func measure(quarry, previous, tree string, files int, rest time.Duration) error {
	load, _ := os.ReadFile("/proc/loadavg") // of other systems it is not said
	fmt.Printf("%d processors, %s, load before: %s\n\n", runtime.NumCPU(), runtime.Version(), strings.TrimSpace(string(load)))
	rg, err := exec.LookPath("rg")
	if err != nil {
		fmt.Print("ripgrep is not installed: its rows are missing.\n\n")
	}
	if err := beside(quarry, previous, rg, tree, queries, rest); err != nil || files == 0 {
		return err
	}
	generated, err := os.MkdirTemp("", "startbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(generated)
	if err := generate(generated, files); err != nil {
		return err
	}
	fmt.Printf("%d generated files in %d folders:\n\n", files, (files+perFolder-1)/perFolder)
	return beside(quarry, previous, rg, generated, []string{"handle4711", "which function handles a request", `"answers request 4711"`}, rest)
}

// perFolder is how many generated files a folder has.
const perFolder = 100

// generate writes n small files that call each other.
func generate(dir string, n int) error {
	for i := range n {
		pkg := fmt.Sprintf("pkg%03d", i/perFolder)
		if i%perFolder == 0 {
			if err := os.Mkdir(filepath.Join(dir, pkg), 0o755); err != nil {
				return err
			}
		}
		next := (i*7919 + 13) % n
		text := fmt.Sprintf("package %s\n\n// state%d counts.\ntype state%d struct{ count int }\n\n// handle%d answers request %d.\nfunc handle%d(s *state%d) int {\n\ts.count++\n\tif s.count > 3 {\n\t\treturn handle%d(nil)\n\t}\n\treturn s.count\n}\n", pkg, i, i, i, i, i, i, next)
		if err := os.WriteFile(filepath.Join(dir, pkg, fmt.Sprintf("file%d.go", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// beside measures the quarries, and ripgrep if it is there, on a tree.
func beside(quarry, previous, rg, tree string, queries []string, rest time.Duration) error {
	fmt.Println("| what | wall ms | processor ms | largest MB |\n|---|---|---|---|")
	if rg != "" {
		for _, q := range queries {
			if err := oneShot("rg "+q, func() *exec.Cmd { return exec.Command(rg, "-F", strings.Trim(q, `"`), tree) }); err != nil {
				return err
			}
		}
	}
	for _, b := range []struct{ name, path string }{{"quarry", quarry}, {"previous", previous}} {
		if b.path == "" {
			continue
		}
		if err := binary(b.name, b.path, tree, queries, rest); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}

// binary measures one quarry with an index of its own.
func binary(name, path, tree string, queries []string, rest time.Duration) error {
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
		if err := oneShot(name+" search "+q, func() *exec.Cmd { return command("search", q) }); err != nil {
			return err
		}
		if err := oneShot(name+" search --mode lexical "+q, func() *exec.Cmd { return command("search", "--mode", "lexical", q) }); err != nil {
			return err
		}
	}
	others := [][]string{{"status"}, {"version"}}
	files, err := goFiles(tree)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		others = append(others, []string{"complete", files[len(files)/2] + ":10:1"})
	}
	for _, args := range others {
		if err := oneShot(name+" "+args[0], func() *exec.Cmd { return command(args...) }); err != nil {
			return err
		}
	}
	fmt.Println()
	if err := server(name, command("lsp"), tree, queries, rest); err != nil {
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
	failure := cmd.Run()
	if cmd.ProcessState == nil {
		return cost{}, fmt.Errorf("%s: %w", cmd, failure)
	}
	c := cost{wall: time.Since(start), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = float64(u.Maxrss) / 1e3
		if runtime.GOOS == "darwin" {
			c.memory /= 1e3 // bytes there, KB elsewhere
		}
	}
	if failure != nil {
		failure = fmt.Errorf("%s: %w", cmd, failure)
	}
	return c, failure
}

// oneShot prints the medians of a command after one run that fills the caches.
func oneShot(name string, command func() *exec.Cmd) error {
	var all []cost
	for i := range rounds + 1 {
		cmd := command()
		c, err := run(cmd)
		if nothing := cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 && strings.HasPrefix(name, "rg "); err != nil && !nothing {
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

// methods are how a running server is asked: as editors do, and by words alone.
var methods = []string{"quarry/search.hybrid", "quarry/search.lexical"}

// server prints the memory of a language server and how long its answers take.
func server(name string, cmd *exec.Cmd, tree string, queries []string, rest time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	start := time.Now()
	e, err := headless.StartProcess(ctx, cmd, headless.Options{Root: tree})
	if err != nil {
		return err
	}
	search := func(method string, i int) error {
		return e.Call(ctx, method, map[string]any{"query": queries[i%2]}, nil) // the exact text reads files
	}
	if err := search(methods[0], 0); err != nil {
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
	wire := ""
	for _, method := range methods {
		var took []time.Duration
		for i := range 100 {
			start := time.Now()
			if err := search(method, i); err != nil {
				return err
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		wire += fmt.Sprintf("; %s p50 %.1f ms, p95 %.1f ms", method, ms(took[50]), ms(took[95]))
	}
	after := resident(cmd.Process.Pid)
	time.Sleep(rest)
	fmt.Printf("- %s lsp: first answer after %.0f ms, everything known after %.1f s; %s MB resident after 200 searches, %s at rest%s\n",
		name, ms(answered), whole.Seconds(), after, resident(cmd.Process.Pid), wire)
	if err := edits(ctx, name, e, tree); err != nil {
		return err
	}
	_, err = e.Quit(ctx)
	return err
}

// goFiles are the paths of a tree's Go files, of more than ten lines.
func goFiles(tree string) (files []string, err error) {
	err = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Count(text, []byte("\n")) > 10 {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// edited is how many edits are timed.
const edited = 100

// edits prints how long an edit takes until a search finds it: from its being saved, which has
// it indexed at once, to the first answer that has it. A pause in typing does the same 300 ms
// later.
func edits(ctx context.Context, name string, e *headless.Editor, tree string) error {
	files, err := goFiles(tree)
	if err != nil || len(files) == 0 {
		return err
	}
	var took []time.Duration
	for i := range edited {
		path := files[i*len(files)/edited]
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}
		b, err := e.Open(filepath.ToSlash(rel), "go", string(text))
		if err != nil {
			return err
		}
		word := fmt.Sprintf("editedByBenchmark%d", i)
		at := len(text)/2 + bytes.IndexByte(text[len(text)/2:], '\n') + 1
		if err := e.Replace(b, at, at, word+"()\n"); err != nil {
			return err
		}
		start := time.Now()
		if err := e.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": b.URI}}); err != nil {
			return err
		}
		for found := 0; found == 0; {
			var answer struct{ Results []struct{ Path string } }
			if err := e.Call(ctx, "quarry/search.lexical", map[string]any{"query": word, "k": 1}, &answer); err != nil {
				return err
			}
			found = len(answer.Results)
		}
		took = append(took, time.Since(start))
		if err := e.CloseDocument(filepath.ToSlash(rel)); err != nil {
			return err
		}
	}
	slices.Sort(took)
	fmt.Printf("- %s lsp: an edit searchable p50 %.1f ms, p95 %.1f ms after it is saved, %d edits, asked without a pause\n",
		name, ms(took[len(took)/2]), ms(took[len(took)*95/100]), len(took))
	return nil
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
