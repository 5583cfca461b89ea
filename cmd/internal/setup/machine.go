package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Machine is what a target asks of the machine to find a program's files.
type Machine struct {
	OS         string // as runtime.GOOS
	Home       string
	Executable string // quarry's
	Started    string // how quarry was started, a name or a path; "" if nobody knows
	Repository string // the folder whose agents are to know of quarry; "" for none
	Getenv     func(string) string
	LookPath   func(string) (string, error)
	Output     func(program string, args ...string) ([]byte, error)
}

// ThisMachine is the one that quarry runs on.
func ThisMachine() (Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Machine{}, err
	}
	executable, err := os.Executable()
	if err != nil {
		return Machine{}, err
	}
	return Machine{
		OS: runtime.GOOS, Home: home, Executable: executable, Started: os.Args[0], Getenv: os.Getenv, LookPath: exec.LookPath,
		Output: func(program string, args ...string) ([]byte, error) { return exec.Command(program, args...).Output() },
	}, nil
}

// quarry is the command that starts quarry, in words that stay true when quarry is updated.
// That is its name where the PATH leads to this very program. Else it is the name or the path
// that the user started it by: a link stays where it is, while the folder that it leads to
// often has a version in its name and goes with it. Only then is it where the program is.
func (m Machine) quarry() string {
	started := m.Started
	if started != "" && filepath.Base(started) != started {
		var err error
		if started, err = filepath.Abs(started); err != nil {
			started = ""
		}
	}
	for _, name := range []string{"quarry", started} {
		if filepath.IsAbs(name) && sameFile(name, m.Executable) {
			return name
		}
		if name == "" || filepath.IsAbs(name) {
			continue
		}
		if found, err := m.LookPath(name); err == nil && m.startsQuarry(found) {
			return name
		}
	}
	return m.Executable
}

// startsQuarry reports whether a program on the PATH is quarry, or npm's script that started
// it. One of a project's own packages, which npx has on the PATH for a moment, is none; nor can
// editors start scripts on Windows.
func (m Machine) startsQuarry(program string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(program), "/"), "node_modules") {
		return false
	}
	return sameFile(program, m.Executable) || m.Getenv("QUARRY_LAUNCHER") != "" && m.OS != "windows"
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	two, errTwo := os.Stat(b)
	return errOne == nil && errTwo == nil && os.SameFile(one, two)
}

// find is the first of names that is on the PATH, "" if none is.
func (m Machine) find(names ...string) string {
	for _, name := range names {
		if _, err := m.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// tooOld is why a program of the machine cannot take quarry in, nil if it can, is not on the
// PATH or does not say its version.
func (m Machine) tooOld(title, program, needs string) error {
	if m.find(program) == "" {
		return nil
	}
	out, err := m.Output(program, "--version")
	if err != nil {
		return nil
	}
	has := versionNumber.FindString(string(out))
	if has == "" || slices.Compare(numbers(has), numbers(needs)) >= 0 {
		return nil
	}
	return fmt.Errorf("%s %s is too old: quarry needs %s or newer; install that first", title, has, needs)
}

// versionNumber is the first that a program says of itself.
var versionNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

func numbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // versionNumber has digits alone
		out = append(out, n)
	}
	return out
}

// env is a folder that the environment names, else fallback below the home folder.
func (m Machine) env(name string, fallback ...string) string {
	if dir := m.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{m.Home}, fallback...)...)
}

// configHome is the folder of configuration by the XDG rules, which many programs follow
// on every system.
func (m Machine) configHome() string { return m.env("XDG_CONFIG_HOME", ".config") }

// dataHome is the folder of data by the same rules, and Windows' own there.
func (m Machine) dataHome() string {
	if m.OS == "windows" && m.Getenv("XDG_DATA_HOME") == "" {
		return m.localAppData()
	}
	return m.env("XDG_DATA_HOME", ".local", "share")
}

func (m Machine) roamingAppData() string { return m.env("APPDATA", "AppData", "Roaming") }
func (m Machine) localAppData() string   { return m.env("LOCALAPPDATA", "AppData", "Local") }

// firstThere is the first of paths that is there, else the first of all.
func firstThere(paths ...string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
