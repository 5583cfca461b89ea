package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// imports is how Go's own library names what it takes from a library of macOS.
var imports = regexp.MustCompile(`(?m)^//go:cgo_import_dynamic \S+ (\S+) +"(/System/Library/Frameworks/(\w+)\.framework/\S+|/usr/lib/lib(\w+)(?:\.\w+)?\.dylib)"`)

// writeStubs writes, for the linker, what macOS's libraries have of what Go's library takes
// from them: the C compiler brings libSystem's, the rest comes with a Mac's own tools only.
// The names are read from Go's source, so that there is no list to keep.
func writeStubs(dir string) error {
	out, err := exec.Command("go", "env", "GOROOT").Output() // runtime.GOROOT is "" in a trimmed program
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	goroot := strings.TrimSpace(string(out))
	type library struct{ file, install string }
	symbols := map[library][]string{}
	for _, source := range []string{"crypto/x509/internal/macos", "internal/syscall/unix"} {
		files, err := filepath.Glob(filepath.Join(goroot, "src", source, "*.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, m := range imports.FindAllStringSubmatch(string(text), -1) {
				l := library{filepath.Join(m[3]+".framework", m[3]+".tbd"), m[2]}
				if m[3] == "" {
					l.file = "lib" + m[4] + ".tbd"
				}
				if m[4] != "System" {
					symbols[l] = append(symbols[l], "_"+m[1])
				}
			}
		}
	}
	if len(symbols) == 0 {
		return fmt.Errorf("go's source below %s names no library of macOS", goroot)
	}
	for l, names := range symbols {
		path := filepath.Join(dir, l.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		slices.Sort(names)
		text := fmt.Sprintf("--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\ninstall-name: '%s'\nexports:\n  - targets: [ x86_64-macos, arm64-macos ]\n    symbols: [ %s ]\n...\n",
			l.install, strings.Join(slices.Compact(names), ", "))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
