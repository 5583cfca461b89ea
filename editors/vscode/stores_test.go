//go:build editors

package vscode_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestPackageIsCleanForTheStores packs the extension as for a release: the Marketplace's packer warns of nothing, and Open VSX would find
// no fault (the rules are those of its server's ExtensionValidator).
func TestPackageIsCleanForTheStores(t *testing.T) {
	const site = "https://git.invalid/somebody/quarry"
	file := filepath.Join(t.TempDir(), "quarry.vsix")
	pack := exec.Command(node(made(t)), "pack.mjs", file)
	pack.Env = append(os.Environ(), "SITE="+site+"/")
	out, err := pack.CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARNING") || strings.Contains(string(out), "ERROR") {
		t.Fatalf("%v\n%s", err, out)
	}
	files := unpacked(t, file)

	var manifest struct {
		Name, DisplayName, Publisher, Version, Description, License, Homepage, Main, Icon string
		Keywords, Categories                                                              []string
		Repository, Bugs                                                                  struct{ URL string }
	}
	if err := json.Unmarshal(files["extension/package.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{manifest.Homepage, manifest.Repository.URL, manifest.Bugs.URL} {
		if !strings.HasPrefix(url, site) {
			t.Errorf("an address is %q", url)
		}
	}
	fields := slices.Concat([]string{manifest.DisplayName, manifest.Description, manifest.License}, manifest.Keywords, manifest.Categories)
	for _, field := range fields {
		if field == "" || len(field) > 255 || strings.ContainsFunc(field, func(r rune) bool { return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) }) {
			t.Errorf("no field of a store: %q", field)
		}
	}
	for _, name := range []string{manifest.Publisher, manifest.Name} {
		if !regexp.MustCompile(`^[\w\-+$~]+$`).MatchString(name) {
			t.Errorf("no name of a store: %q", name)
		}
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(manifest.Version) {
		t.Errorf("no version: %q", manifest.Version)
	}
	for _, name := range []string{"LICENSE.txt", "LICENCES.txt", "readme.md", manifest.Icon, strings.TrimPrefix(manifest.Main, "./"), "walkthrough/ask.md"} {
		if len(files["extension/"+name]) == 0 {
			t.Errorf("the package has no %s", name)
		}
	}
	// What others wrote of the bundle is given on with its licence.
	for _, name := range []string{"vscode-languageclient", "vscode-jsonrpc", "semver"} {
		if !regexp.MustCompile(`(?mi)^==== ` + name + ` \S+: licen[cs]e`).Match(files["extension/LICENCES.txt"]) {
			t.Errorf("LICENCES.txt has no licence of %s", name)
		}
	}

	// A store shows the README alone.
	links := regexp.MustCompile(`(!?)\[[^\[\]]*\]\(([^)]*)\)`).FindAllStringSubmatch(string(files["extension/readme.md"]), -1)
	pictures := 0
	for _, link := range links {
		kind := "blob"
		if link[1] == "!" {
			kind, pictures = "raw", pictures+1
		}
		path, ok := strings.CutPrefix(link[2], site+"/"+kind+"/HEAD/")
		if _, err := os.Stat(filepath.Join("../..", path)); !ok || err != nil {
			t.Errorf("%s leads nowhere (%v)", link[0], err)
		}
	}
	if pictures < 3 {
		t.Errorf("%d pictures in %d links", pictures, len(links))
	}
}

// unpacked are the files of a package by name.
func unpacked(t *testing.T, file string) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	return files
}
