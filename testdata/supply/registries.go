package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

// forms are the files that package managers and registries want, each in its own format.
//
//go:embed registry
var forms embed.FS

// formFiles are where each form is written.
var formFiles = map[string]string{
	"homebrew.rb": "homebrew/quarry.rb",
	"scoop.json":  "scoop/quarry.json",
	"flake.nix":   "nix/flake.nix",
	"mason.yaml":  "mason/packages/quarry/package.yaml",
	"melpa.el":    "melpa/recipes/quarry",
	"npm.json":    "npm/quarry-lsp/package.json",
	"npm.js":      "npm/quarry-lsp/quarry.js",
}

// published is what the forms say of a release.
type published struct {
	Version, Description, Home, Maintainer string
	Platforms                              []platform
	when                                   time.Time
	sums                                   map[string]string // by name of file
}

// Platform is the one of a name.
func (r published) Platform(name string) (platform, error) {
	some, err := choose(name)
	if err != nil {
		return platform{}, err
	}
	return some[0], nil
}

// system is one with its platforms, under Homebrew's name of it.
type system struct {
	Name      string
	Platforms []platform
}

// Homebrew are the systems in the order that its audit asks for. For musl it has no packages.
func (r published) Homebrew() []system {
	systems := []system{{Name: "macos"}, {Name: "linux"}}
	for _, p := range r.Platforms {
		switch {
		case p.OS == "darwin":
			systems[0].Platforms = append(systems[0].Platforms, p)
		case p.OS == "linux" && !p.Musl():
			systems[1].Platforms = append(systems[1].Platforms, p)
		}
	}
	for _, s := range systems { // arm first, it asks for too
		slices.SortFunc(s.Platforms, func(a, b platform) int { return strings.Compare(b.Arch, a.Arch) })
	}
	return systems
}

func (r published) URL(p platform) string {
	return r.Home + "/releases/download/v" + r.Version + "/" + p.Archive(r.Version)
}

func (r published) Sum(p platform) (string, error) {
	sum := r.sums[p.Archive(r.Version)]
	if sum == "" {
		return "", fmt.Errorf("%s has no sum of %s: run make dist VERSION=%s for all platforms", sums, p.Archive(r.Version), r.Version)
	}
	return sum, nil
}

// registries writes what each package manager and registry wants of the archives of a folder.
func registries(args []string) error {
	flags := flag.NewFlagSet("registries", flag.ContinueOnError)
	dir := flags.String("dir", "bin/dist", "folder of the archives")
	out := flags.String("out", "bin/registries", "folder to write to")
	version := flags.String("version", "", "of the release")
	home := flags.String("home", "", "address of the repository's page, with the releases below it")
	epoch := flags.Int64("epoch", 0, "the time of the release, in seconds since 1970")
	maintainer := flags.String("maintainer", "", "of Debian's package, as Name <address>")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || *home == "" || *maintainer == "" {
		return fmt.Errorf("say which release, where and whose: make registries VERSION=1.2.3 SITE=https://... MAINTAINER='Name <address>'")
	}
	r := published{Version: *version, Home: strings.TrimSuffix(*home, "/"), Maintainer: *maintainer, Platforms: platforms, when: time.Unix(*epoch, 0).UTC()}
	if err := r.read(*dir); err != nil {
		return err
	}
	if err := writeForms(r, *out); err != nil {
		return err
	}
	for _, p := range r.Platforms {
		if err := writePackages(r, p, *dir, *out); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// read takes the sums from a folder of archives, and the description from VS Code's
// manifest, where it stands already.
func (r *published) read(dir string) error {
	raw, err := os.ReadFile("editors/vscode/package.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &struct{ Description *string }{&r.Description}); err != nil {
		return fmt.Errorf("read VS Code's manifest: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, sums))
	if err != nil {
		return err
	}
	r.sums = map[string]string{}
	for line := range strings.Lines(string(text)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			r.sums[name] = sum
		}
	}
	return nil
}

func writeForms(r published, out string) error {
	for _, form := range slices.Sorted(maps.Keys(formFiles)) {
		text, err := forms.ReadFile(path.Join("registry", form))
		if err != nil {
			return err
		}
		var b bytes.Buffer
		t, err := template.New(form).Parse(string(text))
		if err == nil {
			err = t.Execute(&b, r)
		}
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(out, formFiles[form]), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writePackages writes those that hold an archive's files themselves: npm's and Debian's.
func writePackages(r published, p platform, dir, out string) error {
	name := filepath.Join(dir, p.Archive(r.Version))
	read := unzip
	if strings.HasSuffix(name, ".tar.gz") {
		read = untar
	}
	entries, err := read(name)
	if err != nil {
		return err
	}
	for i := range entries {
		entries[i].name = strings.TrimPrefix(entries[i].name, p.Folder(r.Version)+"/")
	}
	if err := writeNPM(r, p, entries, filepath.Join(out, "npm", "quarry-lsp-"+p.Node)); err != nil {
		return err
	}
	if p.Deb == "" {
		return nil
	}
	return writeDeb(r, p, entries, filepath.Join(out, "deb"))
}

// writeNPM writes the package that npm chooses by its os, cpu and libc.
func writeNPM(r published, p platform, entries []entry, dir string) error {
	system, arch, _ := strings.Cut(strings.TrimSuffix(p.Node, "-musl"), "-")
	files := []string{p.Program(), licencesFile}
	fields := map[string]any{
		"name": "quarry-lsp-" + p.Node, "version": r.Version, "description": "quarry for " + p.Name, "homepage": r.Home,
		"license": "Apache-2.0", "os": []string{system}, "cpu": []string{arch}, "files": files,
	}
	if libc := p.Libc(); libc != "" {
		fields["libc"] = []string{libc}
	}
	manifest, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "package.json"), append(manifest, '\n'), 0o644); err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(files, e.name) {
			continue
		}
		if err := writeFile(filepath.Join(dir, e.name), e.text, e.mode()); err != nil {
			return err
		}
	}
	return nil
}

// debFiles are where Debian has an archive's files; what ends with .gz is packed.
var debFiles = map[string]string{
	"quarry":                  "usr/bin/quarry",
	"quarry.vsix":             "usr/share/quarry/quarry.vsix",
	"CHANGELOG.md":            "usr/share/doc/quarry/CHANGELOG.md.gz",
	"LICENCES":                "usr/share/doc/quarry/LICENCES.gz",
	"sbom.cdx.json":           "usr/share/doc/quarry/sbom.cdx.json",
	"completions/quarry.bash": "usr/share/bash-completion/completions/quarry",
	"completions/quarry.zsh":  "usr/share/zsh/vendor-completions/_quarry",
	"completions/quarry.fish": "usr/share/fish/vendor_completions.d/quarry.fish",
}

// writeDeb makes a package for Debian and its like, where dpkg-deb is.
func writeDeb(r published, p platform, entries []entry, out string) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		fmt.Println("deb: skipped, there is no dpkg-deb here")
		return nil
	}
	tree, err := os.MkdirTemp("", "quarry-deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.Chmod(tree, 0o755); err != nil {
		return err
	}
	glibc := p.Zig[strings.LastIndex(p.Zig, "gnu.")+len("gnu."):]
	// Debian's own form; ours is in CHANGELOG.md.gz beside it.
	changes, err := gzipped(fmt.Appendf(nil, "quarry (%s) unstable; urgency=medium\n\n  * What is new stands in CHANGELOG.md.gz beside this file.\n\n -- %s  %s\n", r.Version, r.Maintainer, r.when.Format(time.RFC1123Z)))
	if err != nil {
		return err
	}
	files := []entry{
		{"usr/share/doc/quarry/changelog.gz", changes, false},
		{"DEBIAN/control", fmt.Appendf(nil, "Package: quarry\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nSection: devel\nPriority: optional\nDepends: libc6 (>= %s)\nHomepage: %s\nDescription: local and private coding assistant, one language server\n %s.\n",
			r.Version, p.Deb, r.Maintainer, glibc, r.Home, r.Description), false},
		{"usr/share/doc/quarry/copyright", []byte("Copyright 2026 the authors of quarry.\n\nIt is under the Apache License 2.0, which is in /usr/share/common-licenses/Apache-2.0.\nThe licences of what is linked into it are in LICENCES.gz beside this file.\n"), false},
	}
	for _, e := range entries {
		to, ok := debFiles[e.name]
		if page, isPage := strings.CutPrefix(e.name, "man/"); isPage {
			to, ok = "usr/share/man/man1/"+page+".gz", true
		}
		if !ok {
			continue
		}
		if strings.HasSuffix(to, ".gz") {
			if e.text, err = gzipped(e.text); err != nil {
				return err
			}
		}
		e.name = to
		files = append(files, e)
	}
	for _, e := range files {
		if err := writeFile(filepath.Join(tree, filepath.FromSlash(e.name)), e.text, e.mode()); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("dpkg-deb", "--build", "--root-owner-group", tree, filepath.Join(out, "quarry_"+r.Version+"_"+p.Deb+".deb"))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

func writeFile(name string, text []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, mode)
}
