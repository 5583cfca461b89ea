package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var packed = []entry{{"quarry", []byte("\x7fELF"), true}, {"LICENSE", []byte("free"), false}, {"completions/quarry.bash", []byte("complete"), false}}

// The same files make the same archive, whatever the order they are found in.
func TestArchivesAreReproducible(t *testing.T) {
	when := time.Unix(1_700_000_000, 0).UTC()
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		var one, two, later bytes.Buffer
		backwards := slices.Clone(packed)
		slices.Reverse(backwards)
		if err := pack(&one, name, "quarry-1", when, packed); err != nil {
			t.Fatal(err)
		}
		if err := pack(&two, name, "quarry-1", when, backwards); err != nil {
			t.Fatal(err)
		}
		if err := pack(&later, name, "quarry-1", when.Add(time.Hour), packed); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: another archive of the same files", name)
		}
		if bytes.Equal(one.Bytes(), later.Bytes()) {
			t.Errorf("%s: the time given is not the files'", name)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, one.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		unpacked := unpack(t, file)
		for _, e := range packed {
			path := filepath.Join(unpacked, "quarry-1", filepath.FromSlash(e.name))
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(text, e.text) {
				t.Errorf("%s: %s is %q, %v", name, e.name, text, err)
			}
			if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode()&0o111 != 0 != e.run) {
				t.Errorf("%s: %s has mode %v", name, e.name, info.Mode())
			}
		}
	}
}

// An archive has no docs/, so that the links of its README lead to the repository at the release.
func TestLinksOfDocuments(t *testing.T) {
	const text = "[models](docs/models.md), ![typing](docs/nvim-typing.svg), [peers](bench/completion.md#beside-peers), [Ollama](https://ollama.com), [below](#try-it)"
	for _, c := range []struct {
		r    release
		want string
	}{
		{release{version: "1.2.3"}, text},
		{release{version: "1.2.3", home: home + "/"}, strings.NewReplacer("](docs/", "]("+home+"/blob/v1.2.3/docs/", "](bench/", "]("+home+"/blob/v1.2.3/bench/").Replace(text)},
		{release{version: unreleased, home: home}, strings.NewReplacer("](docs/", "]("+home+"/blob/HEAD/docs/", "](bench/", "]("+home+"/blob/HEAD/bench/").Replace(text)},
	} {
		if got := string(c.r.withLinks([]byte(text))); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.r, got, c.want)
		}
	}
	// Each relative link of the two documents is one that is rewritten.
	for _, file := range []string{"README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllSubmatch(release{version: "1.2.3", home: home}.withLinks(text), -1) {
			if to := string(link[1]); !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "#") {
				t.Errorf("%s: the link to %q leads nowhere from an archive", file, to)
			}
		}
	}
}

// unpack unpacks an archive with the programs that users have.
func unpack(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("tar", "-xzf", file, "-C", dir)
	if strings.HasSuffix(file, ".zip") {
		cmd = exec.Command("python3", "-c", "import os,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nfor i in z.infolist(): os.chmod(z.extract(i,sys.argv[2]), i.external_attr>>16)", file, dir)
	}
	if _, err := exec.LookPath(cmd.Args[0]); err != nil {
		t.Skipf("%s is not here to unpack with", cmd.Args[0])
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, out)
	}
	return dir
}

// VS Code's extension for a platform names it and carries its binary.
func TestExtensionWithServer(t *testing.T) {
	plain := []entry{
		{"extension.vsixmanifest", []byte(`<Identity Language="en-US" Id="quarry" />`), false},
		{"[Content_Types].xml", []byte(`<Types><Default Extension=".js" ContentType="application/javascript"/></Types>`), false},
		{"extension/dist/extension.js", []byte("x"), false},
		{"extension/LICENCES.txt", []byte("==== vscode-jsonrpc 8.0.0: License.txt\n\nfree\n\n==== vscode-jsonrpc 8.0.0: notices.txt\n\nnone\n\n"), false},
	}
	p := platforms[len(platforms)-1]
	parts := []module{{Path: "sqlite", Version: "3", PURL: "pkg:generic/sqlite@3", notice: notice{"blessing", "do good"}}}
	papers, err := papersOf(parts, plain)
	if err != nil {
		t.Fatal(err)
	}
	made, err := withServer(plain, p, []byte("MZ"), papers)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) string {
		i := slices.IndexFunc(made, func(e entry) bool { return e.name == name })
		if i < 0 {
			t.Fatalf("the extension has no %s", name)
		}
		return string(made[i].text)
	}
	if got := file("extension/LICENCES.txt"); !strings.Contains(got, "==== sqlite 3: blessing\n\ndo good\n") || !strings.Contains(got, "==== vscode-jsonrpc 8.0.0: License.txt\n\nfree\n") {
		t.Errorf("the licences of the binary and of the extension: %s", got)
	}
	if got := file("extension/sbom.cdx.json"); strings.Count(got, `"purl": "pkg:generic/sqlite@3"`) != 1 || strings.Count(got, `"purl": "pkg:npm/vscode-jsonrpc@8.0.0"`) != 1 {
		t.Errorf("the bill of materials: %s", got)
	}
	if got, want := string(made[0].text), `<Identity TargetPlatform="`+p.VSCode+`" Language="en-US" Id="quarry" />`; got != want {
		t.Errorf("manifest %s", got)
	}
	if !strings.Contains(string(made[1].text), `<Override PartName="/extension/bin/quarry.exe"`) {
		t.Errorf("content types %s", made[1].text)
	}
	if i := slices.IndexFunc(made, func(e entry) bool { return e.run }); i < 0 || made[i].name != "extension/bin/quarry.exe" || string(made[i].text) != "MZ" {
		t.Errorf("the binary is none of %d files", len(made))
	}
	if strings.Contains(string(plain[0].text), "TargetPlatform") || strings.Contains(string(plain[3].text), "sqlite") {
		t.Error("the plain extension is changed too")
	}
	if _, err := papersOf(parts, plain[:3]); err == nil {
		t.Error("an extension without its licences is packed")
	}
	if _, err := withServer(made, p, nil, nil); err == nil {
		t.Error("an extension that has a platform got a second one")
	}
}

// What Go's library takes from macOS's is read from its source.
func TestStubs(t *testing.T) {
	dir := t.TempDir()
	if err := writeStubs(dir); err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"CoreFoundation.framework/CoreFoundation.tbd": {"_CFRelease", "install-name: '/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation'"},
		"Security.framework/Security.tbd":             {"_SecTrustEvaluateWithError"},
		"libresolv.tbd":                               {"_res_9_nsearch", "install-name: '/usr/lib/libresolv.9.dylib'"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s: %s", file, want, text)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "libSystem.tbd")); err == nil {
		t.Error("libSystem comes with the compiler, and with all its names")
	}
}

// A binary that needs a newer C library than its archive promises is not packed.
func TestOldEnough(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("glibc is Linux's")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := oldEnough(sh, "x86_64-linux-gnu.99"); err != nil {
		t.Error(err)
	}
	if err := oldEnough(sh, "x86_64-linux-gnu.2.0"); err == nil || !strings.Contains(err.Error(), "newer than 2.0") {
		t.Errorf("%s needs nothing newer than glibc 2.0: %v", sh, err)
	}
	if err := oldEnough(sh, "x86_64-linux-musl"); err == nil {
		t.Error("a target without a version of glibc is taken")
	}
}

// Notes for debuggers name the folders of the machine, so that two archives would differ.
func TestStripped(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no compiler of C for ELF here")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]bool{"-g": false, "-O1": false, "-s": true} {
		program := filepath.Join(dir, "a"+flag)
		if out, err := exec.Command("cc", flag, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := stripped(program); (err == nil) != want {
			t.Errorf("linked with %s: %v", flag, err)
		}
	}
}

func TestChoosePlatforms(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(platforms) {
		t.Errorf("%d platforms, %v", len(all), err)
	}
	if some, err := choose("windows-amd64,linux-arm64"); err != nil || len(some) != 2 || some[0].Archive("1.2.3") != "quarry-1.2.3-windows-amd64.zip" || some[1].Archive("1.2.3") != "quarry-1.2.3-linux-arm64.tar.gz" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose("solaris"); err == nil {
		t.Error("solaris is taken")
	}
}

// What is linked is what the platform links, not this machine.
func TestLinkedOfAnotherSystem(t *testing.T) {
	names := func(env ...string) string {
		list, err := linked("quarry/cmd/quarry", env...)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, m := range list {
			b.WriteString(m.Path + "\n")
		}
		return b.String()
	}
	// cobra's, to see whether it was started from the Explorer.
	const onWindows = "github.com/inconshreveable/mousetrap\n"
	if !strings.Contains(names("GOOS=windows", "CGO_ENABLED=1"), onWindows) || strings.Contains(names("GOOS=linux", "CGO_ENABLED=1"), onWindows) {
		t.Errorf("%s is linked on Windows alone", onWindows)
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"quarry-1-linux-amd64.tar.gz": "a", "quarry-1-linux-x64.vsix": "b", "notes": "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second has its own file beside it
		if err := writeSums(dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, sums))
	if err != nil {
		t.Fatal(err)
	}
	const want = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  quarry-1-linux-amd64.tar.gz\n" +
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  quarry-1-linux-x64.vsix\n"
	if string(got) != want {
		t.Errorf("sums:\n%s", got)
	}
}

// A release has one version: the files that name it agree.
func TestOneVersion(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("editors/vscode/package.json")
	if err != nil {
		t.Fatal(err)
	}
	m := versioned["editors/vscode/package.json"].FindSubmatch(text)
	if m == nil {
		t.Fatal("package.json names no version")
	}
	if err := stamped(string(m[1])); err != nil {
		t.Error(err)
	}
	if err := stamped("99.0.0"); err == nil || strings.Count(err.Error(), "\n") != len(versioned)-1 {
		t.Errorf("of another version: %v", err)
	}
}

// What a release has, its notes tell: nothing is left under Unreleased.
func TestReleaseTellsAllChanges(t *testing.T) {
	for text, held := range map[string]bool{
		"# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3\n\n- Old.\n":               true,
		"# Changelog\n\n## Unreleased\n\n### Search\n\n- New.\n\n## 1.2.3\n\n- Old.\n": true,
		"# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- Old.\n":                         false,
		"# Changelog\n\n## 1.2.3\n\n### Search\n\n- Old.\n":                            false,
	} {
		if err := told([]byte(text), "1.2.3"); (err != nil) != held {
			t.Errorf("%q: %v", text, err)
		}
	}
}
