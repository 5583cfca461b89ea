package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A tag of an action can be moved by whoever takes over its repository; a commit cannot.
func TestActionsArePinned(t *testing.T) {
	names, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(names) == 0 {
		t.Fatal("no workflows", err)
	}
	uses := regexp.MustCompile(`(?m)^.*\buses:\s*(\S+).*$`)
	pinned := regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	found := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range uses.FindAllString(string(text), -1) {
			if found++; !pinned.MatchString(line) {
				t.Errorf("%s: %q names no commit and version", filepath.Base(name), line)
			}
		}
	}
	if found == 0 {
		t.Error("no action is used")
	}
}
