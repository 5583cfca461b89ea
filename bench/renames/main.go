// Renames has the tool rename_symbol rename the declarations of a Go module, one after the
// other, and the go command compile what comes of each.
//
//	go run -tags sqlite_fts5 ./bench/renames [-every N] DIR
//
// DIR is copied; nothing in it is written. It counts renamings that compile, those that do not,
// and those that were refused, and prints what is wrong with the second.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/agent"
	"quarry/diagnostics/patch"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval/workspace"
)

func main() {
	every := flag.Int("every", 1, "only every Nth declaration")
	flag.Parse()
	if flag.NArg() != 1 || *every < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(context.Background(), flag.Arg(0), *every); err != nil {
		fmt.Fprintln(os.Stderr, "renames:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, from string, every int) (err error) {
	scratch, err := os.MkdirTemp("", "renames")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return err
	}
	dir := filepath.Join(scratch, "tree")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return err
	}
	if out, err := build(ctx, dir); err != nil {
		return fmt.Errorf("%s does not compile as it is: %s", from, out)
	}
	w := workspace.New(workspace.Options{StateDir: filepath.Join(scratch, "state")})
	defer w.Close()
	w.SetRoots([]string{dir})
	if err := w.CatchUp(ctx); err != nil {
		return err
	}
	staging := agent.NewStaging(func() string { return dir }, time.Now)
	box := agent.NewToolbox(agent.Parts{Workspace: w, Patcher: patch.New(w), Staging: staging}).ForAgent()
	ids, err := declarations(dir)
	if err != nil {
		return err
	}
	compiles, broken, refused := 0, 0, map[string]int{}
	for i, id := range ids {
		if i%every != 0 {
			continue
		}
		args, err := json.Marshal(map[string]string{"symbol_id": id, "new_name": id[strings.LastIndexAny(id, ".#")+1:] + "Renamed"})
		if err != nil {
			return err
		}
		e := box.Call(ctx, "rename_symbol", args)
		var data struct{ Diff string }
		if e.Error == nil || e.Error.Code != agent.RequiresConfirmation || json.Unmarshal(e.Data, &data) != nil {
			_, why, _ := strings.Cut(e.Error.Message, "cannot be renamed: ")
			if _, cause, ok := strings.Cut(why, "would not compile: "); ok {
				why = "would not compile: " + strings.Fields(cause + " ?")[0]
			}
			refused[why]++
			continue
		}
		out, err := try(ctx, dir, data.Diff)
		if err != nil {
			broken++
			fmt.Printf("%s: %s\n", id, out)
		} else {
			compiles++
		}
	}
	n := 0
	for _, times := range refused {
		n += times
	}
	fmt.Printf("%d compile, %d do not, %d are refused: %v\n", compiles, broken, n, refused)
	return nil
}

// try compiles the tree with a diff, and takes it back.
func try(ctx context.Context, dir, diff string) (string, error) {
	apply := func(flags ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append(append([]string{"apply"}, flags...), "-")...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := apply(); err != nil {
		return out, err
	}
	said, failed := build(ctx, dir)
	if out, err := apply("-R"); err != nil {
		return out, err
	}
	return said, failed
}

// build compiles all packages with their tests, and runs none.
func build(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-run=^$", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(l string) bool {
		return l == "" || strings.HasPrefix(l, "ok ") || strings.HasPrefix(l, "?") || strings.HasPrefix(l, "#")
	})
	return strings.Join(lines[:min(len(lines), 2)], " | "), err
}

// declarations are the symbols of the Go files of a tree.
func declarations(dir string) (ids []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || lang.Detect(path, nil) != "go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := syntax.Analyze("go", text)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		for _, s := range file.Symbols {
			special := s.Name == "main" || s.Name == "init" || s.Name == "_" || strings.HasPrefix(s.Name, "Test") || strings.HasPrefix(s.Name, "Benchmark") || strings.HasPrefix(s.Name, "Example")
			if s.Kind != syntax.KindModule && !special {
				ids = append(ids, filepath.ToSlash(rel)+"#"+strings.TrimPrefix(s.Container+"."+s.Name, "."))
			}
		}
		return err
	})
	return ids, err
}
