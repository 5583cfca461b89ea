package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// sums is the name of the file with the SHA-256 of all others, as sha256sum writes it.
const sums = "SHA256SUMS"

// release is what a release is made from.
type release struct {
	version   string // "unreleased" for none
	ldflags   string // that stamp version, commit and date
	when      time.Time
	extension string // VS Code's, "" for none
	home      string // address of the repository's page, "" if nobody knows
	cc        string // zig
	out       string
}

// dist makes an archive of each platform, VS Code's extension for each, and their sums.
func dist(args []string) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	var r release
	var only string
	var epoch int64
	flags.StringVar(&r.version, "version", "", "of the release")
	flags.StringVar(&r.ldflags, "ldflags", "", "go build's, which stamp the version")
	flags.Int64Var(&epoch, "epoch", 0, "the time of every packed file, in seconds since 1970")
	flags.StringVar(&r.extension, "vsix", "", "VS Code's extension without a server in it")
	flags.StringVar(&r.out, "out", "bin/dist", "folder of the archives")
	flags.StringVar(&r.home, "home", "", "address of the repository's page, where the documents' links lead")
	flags.StringVar(&r.cc, "zig", "", "path of zig")
	flags.StringVar(&only, "only", "", "platforms, by commas (default all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.version = cmp.Or(r.version, unreleased)
	if r.version != unreleased {
		if err := stamped(r.version); err != nil {
			return err
		}
		text, err := os.ReadFile("CHANGELOG.md")
		if err != nil {
			return err
		}
		if err := told(text, r.version); err != nil {
			return err
		}
	}
	r.when = time.Unix(epoch, 0).UTC()
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, p := range chosen {
		start := time.Now()
		if err := r.make(p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		log.Printf("%s: made in %.0f s", p.Name, time.Since(start).Seconds())
	}
	return writeSums(r.out)
}

// unreleased takes a version's place where there is none.
const unreleased = "unreleased"

// versioned are the files that name quarry's version, each with the line that does.
var versioned = map[string]*regexp.Regexp{
	"CHANGELOG.md":                regexp.MustCompile(`(?m)^## (\d.*)$`), // the newest one
	"editors/vscode/package.json": regexp.MustCompile(`(?m)^  "version": "(.*)",$`),
	"editors/emacs/quarry.el":     regexp.MustCompile(`(?m)^;; Version: (.*)$`),
	"editors/zed/extension.toml":  regexp.MustCompile(`(?m)^version = "(.*)"$`),
	"editors/zed/Cargo.toml":      regexp.MustCompile(`(?m)^version = "(.*)"$`),
}

// stamped answers an error that names each file with another version than a release's.
func stamped(version string) error {
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(versioned)) {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if m := versioned[file].FindSubmatch(text); m == nil || string(m[1]) != version {
			errs = append(errs, fmt.Errorf("%s does not name version %s: change it there, commit, and try again", file, version))
		}
	}
	return errors.Join(errs...)
}

// notYet is the heading of CHANGELOG.md for what no release has yet, if something stands below it.
var notYet = regexp.MustCompile(`(?m)^## Unreleased\n+(?:[^#\n]|###)`)

// told answers an error if CHANGELOG.md has changes that the release would have and not tell of:
// the workflow publishes the section of its version alone.
func told(changelog []byte, version string) error {
	if notYet.Match(changelog) {
		return fmt.Errorf("CHANGELOG.md has changes under Unreleased: move them to the heading %s, commit, and try again", version)
	}
	return nil
}

// choose are the platforms that only names, all for "".
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no platform %q", name)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// make makes the archive of a platform, and the extension that carries its binary.
func (r release) make(p platform) error {
	work, err := os.MkdirTemp("", "quarry-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, p.Program())
	if err := r.build(p, program); err != nil {
		return err
	}
	if p.OS == "windows" {
		if err := settle(program, r.when); err != nil {
			return fmt.Errorf("settle what differs from link to link: %w", err)
		}
	}
	if err := hardened(program); err != nil {
		return err
	}
	if err := stripped(program); err != nil {
		return err
	}
	if p.OS == "linux" && !p.Musl() {
		if err := oldEnough(program, p.Zig); err != nil {
			return err
		}
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	list, err := linked("./cmd/quarry", "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=1")
	if err != nil {
		return err
	}
	list = append(list, compilers(p, r.cc)...)
	var extension []entry
	if r.extension != "" {
		if extension, err = unzip(r.extension); err != nil {
			return err
		}
	}
	papers, err := papersOf(list, extension)
	if err != nil {
		return err
	}
	entries := append([]entry{{p.Program(), binary, true}}, papers...)
	files := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		files = append(files, "bin/completions/quarry."+shell)
	}
	if p.OS != "windows" {
		pages, err := filepath.Glob("bin/man/*.1")
		if err != nil {
			return err
		}
		if len(pages) == 0 {
			return errors.New("bin/man has no manual page: run make man")
		}
		files = append(files, pages...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.HasSuffix(file, ".md") {
			text = r.withLinks(text)
		}
		entries = append(entries, entry{strings.TrimPrefix(file, "bin/"), text, false})
	}
	if extension != nil {
		// Packed anew, since vsce notes the time.
		var plain bytes.Buffer
		if err := pack(&plain, r.extension, "", r.when, extension); err != nil {
			return err
		}
		entries = append(entries, entry{"quarry.vsix", plain.Bytes(), false})
		if extension, err = withServer(extension, p, binary, papers); err != nil {
			return err
		}
		if err := r.write(p.vsix(r.version), "", extension); err != nil {
			return err
		}
	}
	return r.write(p.Archive(r.version), p.Folder(r.version), entries)
}

// relative are links to files of the repository, in Markdown.
var relative = regexp.MustCompile(`\]\(([A-Za-z][\w./-]*)(#[\w-]*)?\)`)

// withLinks is a document whose links lead to the repository, as it was at the release: an archive
// has none of its files.
func (r release) withLinks(text []byte) []byte {
	if r.home == "" {
		return text
	}
	at := "HEAD"
	if r.version != unreleased {
		at = "v" + r.version
	}
	return relative.ReplaceAll(text, []byte("]("+strings.TrimSuffix(r.home, "/")+"/blob/"+at+"/$1$2)"))
}

// Names of the papers in an archive, and of the first one in VS Code's extension.
const (
	licencesFile  = "LICENCES"
	billFile      = "sbom.cdx.json"
	extensionFile = "extension/LICENCES.txt"
)

// headings are those of the extension's licences, each with a package and its version.
var headings = regexp.MustCompile(`(?m)^==== (\S+) (\S+): `)

// papersOf are the licences and the bill of materials of a binary and of VS Code's extension
// beside it.
func papersOf(list []module, extension []entry) ([]entry, error) {
	var licences, bill bytes.Buffer
	if err := writeLicences(&licences, list); err != nil {
		return nil, err
	}
	if extension != nil {
		i := slices.IndexFunc(extension, func(e entry) bool { return e.name == extensionFile })
		if i < 0 {
			return nil, fmt.Errorf("the extension has no %s: run make vscode", extensionFile)
		}
		licences.Write(extension[i].text)
		seen := map[string]bool{}
		for _, m := range headings.FindAllSubmatch(extension[i].text, -1) {
			name, version := string(m[1]), string(m[2])
			if purl := "pkg:npm/" + name + "@" + version; !seen[purl] {
				seen[purl] = true
				list = append(list, module{Path: name, Version: version, PURL: purl})
			}
		}
	}
	if err := writeSBOM(&bill, list); err != nil {
		return nil, err
	}
	return []entry{{licencesFile, licences.Bytes(), false}, {billFile, bill.Bytes(), false}}, nil
}

func (r release) write(name, folder string, entries []entry) error {
	var b bytes.Buffer
	if err := pack(&b, name, folder, r.when, entries); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name), b.Bytes(), 0o644)
}

// build links quarry for a platform, the same bytes wherever and whenever it runs.
func (r release) build(p platform, program string) error {
	// zig takes -s for revoked by the -g among cgo's flags, which come after Go's own -s; so it stands at
	// the end, too.
	ldflags, tags := "-s -w -buildid= "+r.ldflags, "sqlite_fts5"
	env := append(os.Environ(),
		"GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=1", "GOFLAGS=-buildvcs=false",
		"CC="+r.cc+" cc -target "+p.Zig, "CXX="+r.cc+" c++ -target "+p.Zig,
		"CGO_CFLAGS=-O2 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fno-sanitize=undefined")
	switch {
	case p.Musl():
		// A thread has as much stack as with glibc; names of hosts and users are found by Go, since musl does it no better.
		ldflags += " -extldflags '-static -Wl,-z,relro -Wl,-z,now -Wl,-z,stack-size=8388608 -s'"
		tags += ",netgo,osusergo"
	case p.OS == "linux":
		ldflags += " -extldflags '-Wl,-z,relro -Wl,-z,now -s'"
	case p.OS == "darwin":
		// Always the same folder: it is part of what Go keeps compiled C under.
		stubs := filepath.Dir(r.cc) + "-macos"
		if err := writeStubs(stubs); err != nil {
			return err
		}
		env = append(env, "CGO_LDFLAGS=-F"+stubs+" -L"+stubs)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildmode=pie", "-tags", tags, "-ldflags", ldflags, "-o", program, "./cmd/quarry")
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stderr, os.Stderr
	return cmd.Run()
}

// compilers is what zig links into a binary besides: start files and helpers of its own,
// the library of C++, which a grammar is written in, and what the system's C library has to
// be linked in.
func compilers(p platform, zig string) []module {
	root := filepath.Dir(zig)
	out, _ := exec.Command(zig, "version").Output()
	version := strings.TrimSpace(string(out))
	part := func(name, dir string) module {
		return module{Path: name, Version: version, Dir: dir, PURL: "pkg:pypi/ziglang@" + version + "#" + name, packages: []string{dir}}
	}
	list := []module{part("zig", root)}
	for _, library := range []string{"libcxx", "libcxxabi", "libunwind"} {
		list = append(list, part("zig/lib/"+library, filepath.Join(root, "lib", library)))
	}
	library := map[string]string{"linux": "glibc", "windows": "mingw"}[p.OS]
	if p.Musl() {
		library = "musl"
	}
	if library != "" {
		list = append(list, part("zig/lib/libc/"+library, filepath.Join(root, "lib", "libc", library)))
	}
	return list
}

// writeSums writes the sums of all archives and extensions of a folder.
func writeSums(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		if f.IsDir() || !strings.HasPrefix(f.Name(), "quarry") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), f.Name())
	}
	return os.WriteFile(filepath.Join(dir, sums), []byte(b.String()), 0o644)
}
