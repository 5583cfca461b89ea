package main

import "strings"

// platform is a system that a release serves, under the names that others give it.
type platform struct {
	Name     string // in names of files
	OS, Arch string // Go's
	Zig      string // the C compiler's, with the oldest system that the binary runs on
	Node     string // process.platform and process.arch, with -musl where that is the C library
	VSCode   string // as its marketplaces have it
	Mason    string
	Nix      string // "" for a system without nix, or with another archive for it
	Deb      string // "" for a system without dpkg
}

// platforms are those of an archive each.
var platforms = []platform{
	{"linux-amd64", "linux", "amd64", "x86_64-linux-gnu.2.31", "linux-x64", "linux-x64", "linux_x64_gnu", "x86_64-linux", "amd64"},
	{"linux-arm64", "linux", "arm64", "aarch64-linux-gnu.2.31", "linux-arm64", "linux-arm64", "linux_arm64_gnu", "aarch64-linux", "arm64"},
	{"linux-amd64-musl", "linux", "amd64", "x86_64-linux-musl", "linux-x64-musl", "alpine-x64", "linux_x64_musl", "", ""},
	{"macos-arm64", "darwin", "arm64", "aarch64-macos.12.0", "darwin-arm64", "darwin-arm64", "darwin_arm64", "aarch64-darwin", ""},
	{"macos-amd64", "darwin", "amd64", "x86_64-macos.12.0", "darwin-x64", "darwin-x64", "darwin_x64", "x86_64-darwin", ""},
	{"windows-amd64", "windows", "amd64", "x86_64-windows-gnu", "win32-x64", "win32-x64", "win_x64", "", ""},
}

// Musl reports whether the C library is musl, as on Alpine. It is linked in, so that the
// binary runs on every Linux.
func (p platform) Musl() bool { return strings.HasSuffix(p.Zig, "-musl") }

// Libc is the name that npm has of the C library, "" where there is no choice of one.
func (p platform) Libc() string {
	switch {
	case p.OS != "linux":
		return ""
	case p.Musl():
		return "musl"
	}
	return "glibc"
}

// Program is the binary's name.
func (p platform) Program() string {
	if p.OS == "windows" {
		return "quarry.exe"
	}
	return "quarry"
}

// Archive is the archive's name, without the folder that it unpacks to.
func (p platform) Archive(version string) string {
	if p.OS == "windows" {
		return p.Folder(version) + ".zip"
	}
	return p.Folder(version) + ".tar.gz"
}

// Folder is what an archive unpacks to.
func (p platform) Folder(version string) string { return "quarry-" + version + "-" + p.Name }

// vsix is the name of the extension that carries this platform's binary.
func (p platform) vsix(version string) string { return "quarry-" + version + "-" + p.VSCode + ".vsix" }
