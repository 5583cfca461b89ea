//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/lsp/service/client"
)

// servedRounds is how often a search is run with and without a service, in turn.
const servedRounds = 20

// served prints what a search costs by itself and by a service, in turn, so that what else the
// machine does meets both.
func served(quarry, tree string, queries []string) error {
	state, err := os.MkdirTemp("", "sb") // short: a socket lies in it
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	command := func(service bool, args ...string) *exec.Cmd {
		cmd := exec.Command(quarry, append(args, "--state-dir", state)...)
		cmd.Env = append(os.Environ(), "OLLAMA_HOST=127.0.0.1:1", "XDG_CONFIG_HOME="+state, "QUARRY_SERVICE_ENABLED="+strconv.FormatBool(service)) // no model, no settings
		cmd.Dir = tree
		return cmd
	}
	if _, err := run(command(false, "index", "--workspace", tree)); err != nil {
		return err
	}
	server := command(true, "serve", "--log-level", "error")
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { _ = server.Wait() }()
	defer func() { _ = server.Process.Signal(os.Interrupt) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := ready(ctx, filepath.Join(state, "serve", "socket"), tree); err != nil {
		return err
	}
	load, _ := os.ReadFile("/proc/loadavg") // of other systems it is not said
	fmt.Printf("%d runs of each in turn, load before: %s\n", servedRounds, strings.TrimSpace(string(load)))
	fmt.Println("| search | alone: wall ms | processor ms | by the service: wall ms | processor ms | of the service, a search | wall | processor, both processes | answered by it |\n|---|---|---|---|---|---|---|---|---|")
	for _, q := range queries {
		var alone, by []cost
		before, asked, err := spent(command(true, "serve", "--status", "--json"))
		if err != nil {
			return err
		}
		for range servedRounds {
			for _, service := range []bool{false, true} {
				c, err := run(command(service, "search", "--workspace", tree, q))
				if err != nil {
					return err
				}
				if service {
					by = append(by, c)
				} else {
					alone = append(alone, c)
				}
			}
		}
		after, answered, err := spent(command(true, "serve", "--status", "--json"))
		if err != nil {
			return err
		}
		middle := func(all []cost, of func(cost) time.Duration) float64 {
			list := make([]time.Duration, len(all))
			for i := range all {
				list[i] = of(all[i])
			}
			slices.Sort(list)
			return ms(list[len(list)/2])
		}
		wall, processor := func(c cost) time.Duration { return c.wall }, func(c cost) time.Duration { return c.processor }
		own := ms(after-before) / servedRounds
		fmt.Printf("| `%s` | %.0f | %.0f | %.0f | %.0f | %.1f | %.2f | %.2f | %d of %d |\n", q, middle(alone, wall), middle(alone, processor), middle(by, wall), middle(by, processor), own,
			middle(by, wall)/middle(alone, wall), (middle(by, processor)+own)/middle(alone, processor), (answered-asked-1)/2, servedRounds) // a hello and a search each, and the status' hello
	}
	return nil
}

// ready waits until a service has all of a folder.
func ready(ctx context.Context, socket, tree string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := client.Dial(ctx, socket, client.Options{Hello: client.Hello{Client: "startbench", Roots: []string{tree}}})
		if err == nil {
			var answer client.Answer
			answer, err = c.Search(ctx, client.Search{Query: "a", Current: true})
			_ = c.Close()
			if err == nil && answer.Incomplete == nil {
				return nil
			}
		}
		if err != nil && !errors.Is(err, client.ErrNotRunning) && ctx.Err() != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// spent is the processor time of the service so far, and how many requests it has answered.
func spent(status *exec.Cmd) (processor time.Duration, answered int64, err error) {
	var out bytes.Buffer
	status.Stdout = &out
	if _, err := run(status); err != nil {
		return 0, 0, err
	}
	var st struct{ Service client.Status }
	if err := json.Unmarshal(out.Bytes(), &st); err != nil {
		return 0, 0, err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", st.Service.Process))
	if err != nil {
		return 0, 0, fmt.Errorf("read the service's processor time, which Linux tells: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the name
	fields := strings.Fields(rest)
	for _, field := range fields[11:13] { // user and system, in hundredths
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, err
		}
		processor += time.Duration(n) * 10 * time.Millisecond
	}
	return processor, st.Service.Answered, nil
}
