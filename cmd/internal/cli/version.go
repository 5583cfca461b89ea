package cli

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Set by the linker, `make build VERSION=1.2.3`: the release, "" for none, and the commit
// with the day it was made.
var release, commit, date string

// changed is "yes" if files had been changed since the commit, set by the linker, too.
var changed string

// Build is what the binary was made of.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit
	// Changed says that files had been changed since the commit.
	Changed  bool   `json:"changed,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Flags are those of `go build` that decide what is in the binary, as it notes them.
	Flags []string `json:"flags,omitempty"`
}

// telling are the notes of `go build` that a report of a fault wants to know.
var telling = []string{"-tags", "-buildmode", "-race", "CGO_ENABLED"}

// ThisBuild is the running binary's. Where it was made without the Makefile, by `go install`
// for instance, it knows what Go has noted.
func ThisBuild() Build {
	b := Build{Version: release, Commit: commit, Date: date, Changed: changed != "", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
			case "vcs.modified":
				b.Changed = s.Value == "true"
			}
		}
	}
	if ok {
		for _, s := range info.Settings {
			if slices.Contains(telling, s.Key) && s.Value != "" {
				b.Flags = append(b.Flags, s.Key+"="+s.Value)
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
		commit := strings.TrimSuffix("commit "+b.Commit+" of "+b.Date, " of ")
		if b.Changed {
			commit += " with changes"
		}
		from = append(from, commit)
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
