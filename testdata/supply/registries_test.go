package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/editors"
)

const home = "https://quarry.example"

// page is a manual page with what `whatis` reads.
const page = ".TH QUARRY 1\n.SH NAME\nquarry \\- assists in a repository\n"

// released is a folder with what registries want of archives, made of a script in the
// binary's place.
func released(t *testing.T) (archives, out string) {
	t.Helper()
	t.Chdir("../..")
	archives, out = t.TempDir(), t.TempDir()
	for _, p := range platforms {
		var b bytes.Buffer
		files := []entry{{p.Program(), []byte("#!/bin/sh\necho started with $1\nexit 7\n"), true}, {"LICENCES", []byte("free"), false}, {"CHANGELOG.md", []byte("# Changelog\n"), false}, {"man/quarry.1", []byte(page), false}}
		if err := pack(&b, p.Archive("1.2.3"), p.Folder("1.2.3"), time.Unix(0, 0), files); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(archives, p.Archive("1.2.3")), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeSums(archives); err != nil {
		t.Fatal(err)
	}
	if err := registries([]string{"-dir", archives, "-out", out, "-version", "1.2.3", "-epoch", "1700000000", "-home", home + "/", "-maintainer", "A Maintainer <a@b.example>"}); err != nil {
		t.Fatal(err)
	}
	return archives, out
}

// Every form names the archive of each of its platforms, with the sum that SHA256SUMS has.
func TestForms(t *testing.T) {
	archives, out := released(t)
	r := published{Version: "1.2.3", Home: home, Platforms: platforms}
	if err := r.read(archives); err != nil {
		t.Fatal(err)
	}
	systems := map[string]string{"homebrew/quarry.rb": "linux darwin", "scoop/quarry.json": "windows", "nix/flake.nix": "linux darwin", "mason/packages/quarry/package.yaml": "linux darwin windows"}
	for file, served := range systems {
		text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range platforms {
			sum, err := r.Sum(p)
			if err != nil {
				t.Fatal(err)
			}
			// Where musl is not asked for, the archives for glibc serve.
			want := strings.Contains(served, p.OS) && (!p.Musl() || strings.HasPrefix(file, "mason"))
			if got := strings.Contains(string(text), r.URL(p)); got != want {
				t.Errorf("%s names %s: %v", file, r.URL(p), got)
			}
			// Mason reads the sums itself.
			if got := strings.Contains(string(text), sum); got != (want && !strings.HasPrefix(file, "mason")) {
				t.Errorf("%s has the sum of %s: %v", file, p.Name, got)
			}
		}
		if left := regexp.MustCompile(`<no value>|\{\{ *[.$]`).Find(text); left != nil {
			t.Errorf("%s: %s is left of the form", file, left)
		}
	}
	if err := registries([]string{"-dir", archives, "-version", "1.2.3", "-maintainer", "A <a@b.example>"}); err == nil || !strings.Contains(err.Error(), "SITE=") {
		t.Errorf("without an address: %v", err)
	}
	delete(r.sums, platforms[0].Archive("1.2.3"))
	if err := writeForms(r, t.TempDir()); err == nil || !strings.Contains(err.Error(), "run make dist") {
		t.Errorf("without the sum of an archive: %v", err)
	}
}

// MELPA's package has the files that `quarry setup` installs.
func TestRecipeHasThePackage(t *testing.T) {
	_, out := released(t)
	recipe, err := os.ReadFile(filepath.Join(out, "melpa", "recipes", "quarry"))
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`:files \("(.+)" \(:exclude "(.+)"\)\)`).FindSubmatch(recipe)
	if listed == nil {
		t.Fatalf("the recipe lists no files:\n%s", recipe)
	}
	got, err := filepath.Glob(string(listed[1])) // released works in the repository's root
	if err != nil {
		t.Fatal(err)
	}
	got = slices.DeleteFunc(got, func(path string) bool { return path == string(listed[2]) })
	want, err := fs.Glob(editors.Emacs, "emacs/*")
	for i := range want {
		want[i] = "editors/" + want[i]
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the recipe has %q, the package is %q (%v)", got, want, err)
	}
}

// Each form is read by the program that it is for, or by its language's, where that is here.
func TestFormsAreValid(t *testing.T) {
	_, out := released(t)
	for _, check := range [][]string{
		{"ruby", "-c", "homebrew/quarry.rb"},
		{"nix-instantiate", "--parse", "nix/flake.nix"},
		{"python3", "-c", "import sys, yaml; d = yaml.safe_load(open(sys.argv[1])); assert d['bin']['quarry'] == '{{source.download.bin}}' and len(d['source']['download']) == 6, d", "mason/packages/quarry/package.yaml"},
		{"emacs", "--batch", "--eval", "(with-temp-buffer (insert-file-contents \"melpa/recipes/quarry\") (unless (plist-get (cdr (read (current-buffer))) :url) (kill-emacs 1)))"},
		{"node", "--check", "npm/quarry-lsp/quarry.js"},
	} {
		t.Run(check[0], func(t *testing.T) {
			if _, err := exec.LookPath(check[0]); err != nil {
				t.Skipf("%s is not here", check[0])
			}
			if check[0] == "python3" && exec.Command("python3", "-c", "import yaml").Run() != nil {
				t.Skip("Python has no yaml here")
			}
			cmd := exec.Command(check[0], check[1:]...)
			cmd.Dir = out
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
	for _, file := range []string{"scoop/quarry.json", "npm/quarry-lsp/package.json", "npm/quarry-lsp-win32-x64/package.json"} {
		text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(file)))
		var got map[string]any
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || got["version"] != "1.2.3" {
			t.Errorf("%s: version %v, %v", file, got["version"], err)
		}
	}
}

// npm's package starts the binary of the system's own package, with its arguments and its
// exit code, and says what is wrong where there is none.
func TestNPMStartsTheBinary(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the script in the binary's place is for Linux on amd64")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	_, out := released(t)
	start := func() (string, int) {
		cmd := exec.Command("node", filepath.Join(out, "npm", "quarry-lsp", "quarry.js"), "version")
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	if text, code := start(); code != 1 || !strings.Contains(text, "there is no package for linux-x64") {
		t.Errorf("without the system's package: %d, %s", code, text)
	}
	modules := filepath.Join(out, "npm", "node_modules")
	if err := os.MkdirAll(modules, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(out, "npm", "quarry-lsp-linux-x64"), filepath.Join(modules, "quarry-lsp-linux-x64")); err != nil {
		t.Fatal(err)
	}
	if text, code := start(); code != 7 || text != "started with version\n" {
		t.Errorf("%d, %q", code, text)
	}
}

// Debian's package has the program on the PATH and says which C library it needs.
func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not here")
	}
	_, out := released(t)
	deb := filepath.Join(out, "deb", "quarry_1.2.3_arm64.deb")
	fields, err := exec.Command("dpkg-deb", "--field", deb, "Version", "Architecture", "Depends").CombinedOutput()
	if want := "Version: 1.2.3\nArchitecture: arm64\nDepends: libc6 (>= 2.31)\n"; err != nil || string(fields) != want {
		t.Errorf("%v: %s", err, fields)
	}
	dir := t.TempDir()
	if text, err := exec.Command("dpkg-deb", "--extract", deb, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if info, err := os.Stat(filepath.Join(dir, "usr/bin/quarry")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program: %v, %v", info, err)
	}
	for name, want := range map[string]string{
		"doc/quarry/CHANGELOG.md.gz": "# Changelog\n",
		"doc/quarry/changelog.gz":    "quarry (1.2.3) unstable; urgency=medium\n\n  * What is new stands in CHANGELOG.md.gz beside this file.\n\n -- A Maintainer <a@b.example>  Tue, 14 Nov 2023 22:13:20 +0000\n",
		"man/man1/quarry.1.gz":       page,
	} {
		if text, err := exec.Command("gzip", "-dc", filepath.Join(dir, "usr/share", name)).CombinedOutput(); err != nil || string(text) != want {
			t.Errorf("%s: %v, %q", name, err, text)
		}
	}
}
