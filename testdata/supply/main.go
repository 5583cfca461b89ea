// Command supply tells what a binary of quarry is made of.
//
//	supply licences PACKAGE              the licences of all modules linked in
//	supply sbom PACKAGE                  a bill of materials, CycloneDX 1.5
//	supply hardened BINARY               whether a binary of any system is built against misuse
//	supply dist FLAGS                    archives of all platforms, made by zig
//	supply registries FLAGS              what package managers and registries want of them
//	supply typecheck GOOS/GOARCH...      whether all packages and tests compile there, C left out
//	supply vulnerabilities COMMAND...    runs govulncheck; without its database, says so
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: supply licences|sbom PACKAGE, hardened BINARY, dist|registries FLAGS, typecheck GOOS/GOARCH..., or vulnerabilities COMMAND...")
	}
	var err error
	switch what := os.Args[1]; what {
	case "licences", "sbom":
		var list []module
		if list, err = linked(os.Args[2]); err == nil && what == "sbom" {
			err = writeSBOM(os.Stdout, list)
		} else if err == nil {
			err = writeLicences(os.Stdout, list)
		}
	case "hardened":
		err = hardened(os.Args[2])
	case "dist":
		err = dist(os.Args[2:])
	case "registries":
		err = registries(os.Args[2:])
	case "typecheck":
		err = typecheck(os.Args[2:])
	case "vulnerabilities":
		err = vulnerabilities(os.Args[2:])
	default:
		err = fmt.Errorf("unknown subcommand %q", what)
	}
	if err != nil {
		log.Fatalf("supply %s: %v", os.Args[1], err)
	}
}

// module is one that packages of a binary come from.
type module struct {
	Path, Version, Dir string
	Main               bool
	PURL               string   // "" for a module of Go
	packages           []string // their folders
	notice                      // of what has no folder of its own
}

// linked are the modules that a package needs, by path, on this system or on the one that
// env names, Go's own library among them, and what they carry in C.
func linked(pkg string, env ...string) ([]module, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Root,Standard,Module", "-tags", "sqlite_fts5", pkg)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	found := map[string]*module{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir      string
			Root     string // Go's, for its own library
			Standard bool
			Module   *module
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		m := p.Module
		if m == nil {
			if !p.Standard {
				return nil, fmt.Errorf("%s is in no module", p.Dir)
			}
			m = &module{Path: "std", Version: strings.TrimPrefix(runtime.Version(), "go"), Dir: p.Root}
		}
		if found[m.Path] == nil {
			found[m.Path] = m
		}
		found[m.Path].packages = append(found[m.Path].packages, p.Dir)
	}
	var list []module
	for _, m := range found {
		parts, err := m.carried()
		if err != nil {
			return nil, err
		}
		list = append(append(list, *m), parts...)
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notice|patents|copyright)([-.].*)?$`)

// licences are the licence files of a module's packages: beside them, and above them up
// to the module's root.
func (m *module) licences() ([]string, error) {
	dirs := map[string]bool{}
	for _, dir := range append(m.packages, m.Dir) {
		for ; len(dir) >= len(m.Dir); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	var files []string
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() && licenceName.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	slices.Sort(files)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s %s has no licence: it may not be given to others", m.Path, m.Version)
	}
	return files, nil
}

// heading begins the licence of a part in the file of licences.
func heading(path, version, what string) string {
	return "==== " + path + " " + version + ": " + what + "\n\n"
}

func writeLicences(w io.Writer, list []module) error {
	for _, m := range list {
		if m.licence != "" {
			text, err := m.text()
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s%s\n\n", heading(m.Path, m.Version, m.licence), text); err != nil {
				return err
			}
			continue
		}
		files, err := m.licences()
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(m.Dir, file)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s%s\n\n", heading(m.Path, m.Version, filepath.ToSlash(rel)), bytes.TrimSpace(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// component is one of CycloneDX 1.5.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	// Licences is empty where the part's own files say it, which are in LICENCES.
	Licences []licenced `json:"licenses,omitempty"`
}

type licenced struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

// writeSBOM writes the same bytes for the same modules: no time, no serial number.
func writeSBOM(w io.Writer, list []module) error {
	own := component{Type: "application", Ref: "quarry", Name: "quarry"}
	var parts []component
	for _, m := range list {
		if m.Main {
			continue
		}
		purl := cmp.Or(m.PURL, "pkg:golang/"+m.Path+"@"+m.Version)
		part := component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
		if m.licence != "" {
			part.Licences = make([]licenced, 1)
			part.Licences[0].Licence.ID = m.licence
		}
		parts = append(parts, part)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{"component": own}, "components": parts,
	})
}

// unreachable is what govulncheck and go say where there is no network.
var unreachable = regexp.MustCompile(`no such host|connection refused|i/o timeout|TLS handshake|network is unreachable|403 Forbidden|proxyconnect|dial tcp`)

// foundSome is govulncheck's exit status where it found vulnerabilities.
const foundSome = 3

func vulnerabilities(command []string) error {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err == nil {
		_, err = os.Stdout.Write(out)
		return err
	}
	var exit *exec.ExitError
	// go run answers 1 and writes the status it saw.
	found := errors.As(err, &exit) && (exit.ExitCode() == foundSome || bytes.Contains(out, []byte(fmt.Sprintf("exit status %d", foundSome))))
	if !found && unreachable.Match(out) {
		fmt.Println("vulnerabilities: skipped, the database of known vulnerabilities cannot be reached from here")
		return nil
	}
	os.Stderr.Write(out)
	return err
}
