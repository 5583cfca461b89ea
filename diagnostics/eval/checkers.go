package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Runner runs checkers.
type Runner struct {
	Context context.Context
	// Tools is the folder that testdata/fixes/fetch.sh puts the checkers of npm and
	// PyPI into.
	Tools string
	// Scratch is a folder for what checkers write.
	Scratch string
}

// checker is a compiler or linter.
type checker struct {
	// program is what must be there.
	program string
	// command checks one file of the folder it runs in, with the arguments of the
	// repository.
	command func(r Runner, arguments []string, file string) []string
	environ func(r Runner) []string
	// read finds the diagnostics in what it wrote.
	read func(output, errors string) []Diagnostic
}

// checkers are those that a suite may name.
var checkers = map[string]checker{
	"go vet": {
		program: "go", read: readLines(goLine),
		command: func(_ Runner, arguments []string, file string) []string {
			return join([]string{"go", "vet"}, arguments, "./"+path.Dir(file))
		},
	},
	"rustc": {
		program: "rustc", read: readRust,
		command: func(r Runner, arguments []string, file string) []string {
			if len(arguments) == 0 {
				arguments = []string{file}
			}
			return join([]string{"rustc", "--crate-type", "lib", "--emit", "metadata", "-o", filepath.Join(r.Scratch, "crate.rmeta"), "--error-format", "json"}, arguments)
		},
	},
	"tsc": {
		program: "node", read: readLines(tscLine),
		command: func(r Runner, arguments []string, file string) []string {
			return join([]string{"node", filepath.Join(r.Tools, "npm", "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--pretty", "false"}, arguments, file)
		},
	},
	"javac": {
		program: "javac", read: readJava,
		command: func(r Runner, arguments []string, file string) []string {
			return join([]string{"javac", "-proc:none", "-implicit:none", "-Xlint:all", "-Xmaxerrs", "1000", "-Xmaxwarns", "1000", "-XDshould-stop.ifError=FLOW", "-d", r.Scratch, "-sourcepath", "."}, arguments, file)
		},
	},
	"gcc": {
		program: "gcc", read: readGCC,
		command: func(_ Runner, arguments []string, file string) []string {
			return join([]string{"gcc", "-fsyntax-only", "-Wall", "-Wextra", "-fdiagnostics-format=json"}, arguments, file)
		},
	},
	"g++": {
		program: "g++", read: readGCC,
		command: func(_ Runner, arguments []string, file string) []string {
			return join([]string{"g++", "-fsyntax-only", "-Wall", "-Wextra", "-fdiagnostics-format=json"}, arguments, file)
		},
	},
	"mypy": {
		program: "python3", read: readMypy,
		command: func(r Runner, arguments []string, file string) []string {
			return join([]string{"python3", "-m", "mypy", "--no-error-summary", "--no-color-output", "--hide-error-context", "--show-column-numbers", "--show-error-end", "--cache-dir", filepath.Join(r.Scratch, "mypy"), "--config-file", "", "--ignore-missing-imports", "--follow-imports", "silent", "--check-untyped-defs"}, arguments, file)
		},
		environ: func(r Runner) []string { return []string{"PYTHONPATH=" + filepath.Join(r.Tools, "py")} },
	},
	"ruff": {
		program: "", read: readRuff,
		command: func(r Runner, arguments []string, file string) []string {
			return join([]string{filepath.Join(r.Tools, "py", "bin", "ruff"), "check", "--isolated", "--no-cache", "--output-format", "json", "--select", "E9,F,B"}, arguments, file)
		},
	},
}

func join(first, second []string, last ...string) []string {
	return append(append(first, second...), last...)
}

// Missing is the program that a checker lacks here, "" if none.
func (r Runner) Missing(name string) string {
	c := checkers[name]
	if c.program != "" {
		if _, err := exec.LookPath(c.program); err != nil {
			return c.program
		}
	}
	for _, word := range c.command(r, nil, "x") {
		if r.Tools != "" && strings.HasPrefix(word, r.Tools) {
			if _, err := os.Stat(word); err != nil {
				return path.Base(word)
			}
		}
	}
	if c.environ != nil {
		if _, err := os.Stat(filepath.Join(r.Tools, "py", name)); err != nil {
			return name
		}
	}
	return ""
}

// check says what a breakage's checker reports of the tree in dir.
func (r Runner) check(s Suite, b Breakage, dir string) ([]Diagnostic, error) {
	if missing := r.Missing(b.Checker); missing != "" {
		return nil, fmt.Errorf("check %s: %s is missing; run testdata/fixes/fetch.sh, which says what it needs", b.ID, missing)
	}
	c := checkers[b.Checker]
	words := c.command(r, s.Repository(b.Repository).Arguments[b.Checker], b.File)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "{tools}", r.Tools)
	}
	cmd := exec.CommandContext(r.Context, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "GOFLAGS=-mod=mod", "GOWORK=off")
	if c.environ != nil {
		cmd.Env = append(cmd.Env, c.environ(r)...)
	}
	var output, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &complaints
	err := cmd.Run()
	if r.Context.Err() != nil {
		return nil, r.Context.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("check %s with %s: %w", b.ID, b.Checker, err)
	}
	found := c.read(output.String(), complaints.String())
	if err != nil && len(found) == 0 {
		return nil, fmt.Errorf("check %s with %s: %w: %s", b.ID, b.Checker, err, clip(complaints.String()+output.String()))
	}
	for i := range found {
		name := found[i].File
		if full, err := filepath.EvalSymlinks(dir); err == nil {
			name = strings.TrimPrefix(name, full+"/")
		}
		found[i].File = path.Clean(filepath.ToSlash(strings.TrimPrefix(name, dir+"/")))
	}
	return found, nil
}

func clip(text string) string {
	text = strings.TrimSpace(text)
	return strings.ToValidUTF8(text[:min(len(text), 400)], "")
}
