// Command indexbench measures the index on a source tree: the first index, a
// restart on the unchanged tree, single edits until they can be searched, and how
// much of the time parsing alone takes. bench/index.md holds its results.
//
//	go run -tags sqlite_fts5 ./bench/indexbench [-edits N] [-cpuprofile FILE] DIR
//	go run -tags sqlite_fts5 ./bench/indexbench -generate N DIR
//	go run -tags sqlite_fts5 ./bench/indexbench -keystrokes bin/quarry DIR
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/index"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/walk"
)

func main() {
	generate := flag.Int("generate", 0, "make a tree of `N` files in DIR and stop")
	server := flag.String("keystrokes", "", "type into `SERVER` while it indexes DIR, and when it is idle")
	edits := flag.Int("edits", 200, "how many single edits to time")
	parse := flag.Bool("parse", true, "measure parsing alone first")
	text := flag.Bool("text", false, "wait until the full-text table is filled, and say what that took")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the first index to `FILE`")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if *generate > 0 {
		err = makeTree(flag.Arg(0), *generate)
	} else if *server != "" {
		err = keystrokes(absolute(*server), absolute(flag.Arg(0)))
	} else {
		err = measure(flag.Arg(0), *parse, *text, *edits, *profile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "indexbench:", err)
		os.Exit(1)
	}
}

func measure(dir string, parse, text bool, edits int, profile string) error {
	state, err := os.MkdirTemp("", "indexbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	fmt.Printf("%s, %d cores\n", dir, runtime.GOMAXPROCS(0))
	if parse {
		if err := parseAlone(dir); err != nil {
			return err
		}
	}
	// What parsing left behind is not the index's.
	runtime.GC()
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	x, err := timed("first index", dir, state)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	if text {
		if err := fullText(x); err != nil {
			return err
		}
	}
	if err := edit(x, edits); err != nil {
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	if x, err = timed("restart", dir, state); err != nil {
		return err
	}
	return x.Close()
}

// timed opens an index and waits until it is up to date.
func timed(what, dir, state string) (*index.Index, error) {
	ctx := context.Background()
	start, cpu := time.Now(), cpuTime()
	x, err := index.Open(index.Config{Dir: dir, StateDir: state})
	if err != nil {
		return nil, err
	}
	if err := x.Settle(ctx); err != nil {
		return nil, err
	}
	wall, used := time.Since(start), cpuTime()-cpu
	st, err := x.Status(ctx)
	if err != nil {
		return nil, err
	}
	mb := float64(st.Bytes) / 1e6
	fmt.Printf("%-12s %6.2f s  %5.1f MB/s  %6.0f files/s  %.2f s CPU  (%d files, %.1f MB, %d chunks, %d symbols, %d references)\n", what,
		wall.Seconds(), mb/wall.Seconds(), float64(st.Files)/wall.Seconds(), used.Seconds(), st.Files, mb, st.Chunks, st.Symbols, st.References)
	fmt.Printf("%-12s database %.1f MB (%.2f x source), peak memory %.0f MB\n", "", float64(st.DatabaseBytes)/1e6, float64(st.DatabaseBytes)/float64(st.Bytes), peakMemory())
	return x, nil
}

// fullText waits until every file has its row in the full-text table.
func fullText(x *index.Index) error {
	ctx := context.Background()
	start, cpu := time.Now(), cpuTime()
	for {
		due, err := x.Store().TextDue(ctx, 1)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	st, err := x.Status(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %6.2f s  %.2f s CPU, database %.1f MB (%.2f x source)\n", "full text",
		time.Since(start).Seconds(), (cpuTime() - cpu).Seconds(), float64(st.DatabaseBytes)/1e6, float64(st.DatabaseBytes)/float64(st.Bytes))
	return nil
}

// edit times changes of an open document from the event to the commit.
func edit(x *index.Index, n int) error {
	ctx := context.Background()
	stats, err := x.Store().Stats(ctx, "")
	if err != nil {
		return err
	}
	// Files of an ordinary size, evenly spread.
	var names []string
	for name, st := range stats {
		if st.Size > 500 && st.Size < 100_000 && lang.Detect(name, nil) != lang.PlainText {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 || n == 0 {
		return nil
	}
	step := max(1, len(names)/n)
	var took []time.Duration
	for i := 0; i < len(names) && len(took) < n; i += step {
		text, err := x.Text(names[i])
		if err != nil {
			return err
		}
		abs := filepath.Join(x.Root().Dir(), filepath.FromSlash(names[i]))
		x.DidOpen(abs, text)
		if err := x.Settle(ctx); err != nil {
			return err
		}
		at := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
		changed := text[:at] + "editedByBenchmark(here)\n" + text[at:]
		// Saving asks for the edit to be indexed now; a pause in typing does the
		// same 300 ms later.
		x.DidChange(abs, changed)
		start := time.Now()
		x.DidSave(abs)
		for {
			st, ok, err := x.Store().Stat(ctx, names[i])
			if err != nil {
				return err
			}
			if ok && st.Size == int64(len(changed)) {
				break
			}
			time.Sleep(200 * time.Microsecond) // spinning would take the index's core
		}
		took = append(took, time.Since(start))
		x.DidClose(abs)
		if err := x.Settle(ctx); err != nil {
			return err
		}
	}
	slices.Sort(took)
	fmt.Printf("%-12s p50 %.1f ms, p95 %.1f ms, max %.1f ms (%d edits, event to commit)\n", "one edit",
		ms(took[len(took)/2]), ms(took[len(took)*95/100]), ms(took[len(took)-1]), len(took))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// parseAlone reads every file that the index reads and only parses it, through the
// binding: what tree-sitter alone would take. Then it analyses it, as the index does.
func parseAlone(dir string) error {
	root, err := walk.Open(dir, walk.Limits{})
	if err != nil {
		return err
	}
	defer root.Close()
	start := time.Now()
	var files []string
	err = root.Walk(context.Background(), "", walk.Visitor{
		Dir:  func(string) {},
		File: func(e walk.Entry) error { files = append(files, e.Path); return nil },
		Skip: func(walk.Skip) {},
	})
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %6.2f s  (%d files)\n", "walk", time.Since(start).Seconds(), len(files))
	for _, level := range []struct {
		name string
		do   func(language string, text []byte) error
	}{
		{"parse", func(language string, text []byte) error {
			tree, err := syntax.Parse(language, text)
			if err == nil {
				tree.Close()
			}
			return err
		}},
		{"analyse", func(language string, text []byte) error {
			_, err := syntax.Analyze(language, text)
			return err
		}},
	} {
		start, cpu := time.Now(), cpuTime()
		var next, bytes atomic.Int64
		var group sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			group.Go(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(files) {
						return
					}
					text, _, reason, err := root.Read(files[i])
					if err != nil || reason != "" {
						continue
					}
					if level.do(lang.Detect(files[i], text[:min(512, len(text))]), text) == nil {
						bytes.Add(int64(len(text)))
					}
				}
			})
		}
		group.Wait()
		wall := time.Since(start)
		fmt.Printf("%-12s %6.2f s  %5.1f MB/s  %.2f s CPU\n", level.name, wall.Seconds(), float64(bytes.Load())/1e6/wall.Seconds(), (cpuTime() - cpu).Seconds())
	}
	return nil
}
