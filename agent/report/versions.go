package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Version says where a report stands among those made before of the same repository for the
// same prompt.
type Version struct {
	// Number counts from 1. A report like the one before is the same version.
	Number int `json:"number"`
	// Path is where it is kept, Before where the last one is that differs, "" for the first.
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	// New and Gone count the lines that only one of the two has.
	New  int `json:"new_lines"`
	Gone int `json:"gone_lines"`
}

// maxVersions is how many are kept of one report.
const maxVersions = 20

var versionName = regexp.MustCompile(`^(\d{4,})\.md$`)

// Keep keeps a report in a folder of its own and compares it with the one before.
func Keep(dir, text string) (Version, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Version{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Version{}, err
	}
	var numbers []int
	for _, e := range entries {
		if m := versionName.FindStringSubmatch(e.Name()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	file := func(n int) string { return filepath.Join(dir, fmt.Sprintf("%04d.md", n)) }
	v := Version{Number: 1}
	if last := len(numbers) - 1; last >= 0 {
		old, err := os.ReadFile(file(numbers[last]))
		if err != nil {
			return Version{}, err
		}
		v.Number = numbers[last] + 1
		if string(old) == text {
			v.Number = numbers[last]
			old = nil
			if last > 0 {
				if old, err = os.ReadFile(file(numbers[last-1])); err != nil {
					return Version{}, err
				}
				v.Before = file(numbers[last-1])
			}
		} else {
			v.Before = file(numbers[last])
		}
		if v.Before != "" {
			v.New, v.Gone = differing(string(old), text)
		}
	}
	v.Path = file(v.Number)
	if err := os.WriteFile(v.Path, []byte(text), 0o600); err != nil {
		return Version{}, err
	}
	for _, n := range numbers[:max(0, len(numbers)+1-maxVersions)] {
		if err := os.Remove(file(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Version{}, err
		}
	}
	return v, nil
}

// differing counts the lines that only the new text has, and those that only the old one has.
func differing(before, now string) (added, gone int) {
	left := map[string]int{}
	for line := range strings.Lines(before) {
		left[line]++
	}
	for line := range strings.Lines(now) {
		if left[line] > 0 {
			left[line]--
		} else {
			added++
		}
	}
	for _, n := range left {
		gone += n
	}
	return added, gone
}
