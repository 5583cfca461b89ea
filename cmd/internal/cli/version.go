package cli

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the linker, `make build VERSION=1.2.3`: the release, "" for none, and the commit
// with the day it was made.
var release, commit, date string

// Build is what the binary was made of.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild is the running binary's. Where it was made without the Makefile, by `go install`
// for instance, it knows what Go has noted.
func ThisBuild() Build {
	b := Build{Version: release, Commit: commit, Date: date, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok && b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if ok && b.Commit == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value[:min(12, len(s.Value))]
			case "vcs.time":
				b.Date = s.Value[:min(len("2006-01-02"), len(s.Value))]
			}
		}
	}
	if b.Version == "" {
		b.Version = "unreleased"
	}
	return b
}

// String names version, commit and day in one line.
func (b Build) String() string {
	from := []string{}
	if b.Commit != "" {
		from = append(from, strings.TrimSuffix("commit "+b.Commit+" of "+b.Date, " of "))
	}
	return "quarry " + b.Version + " (" + strings.Join(append(from, b.Go, b.Platform), ", ") + ")"
}

// Version is what quarry calls itself to editors and agents.
func Version() string {
	b := ThisBuild()
	if release == "" && b.Commit != "" && !strings.Contains(b.Version, b.Commit) {
		return b.Version + "-" + b.Commit
	}
	return b.Version
}
