package setup

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensionID is the name of quarry's extension in VS Code.
const extensionID = "quarry.quarry"

// planExtension has VS Code install the extension that is beside quarry, where it has none or
// another one: the extension and the program of one release are made for each other.
func (m Machine) planExtension(plan *Plan) {
	program, extension := m.find("code", "code-insiders", "codium"), m.extension()
	switch {
	case extension == "":
		plan.Next = append(plan.Next, "the extension is not beside this program; in quarry's repository, `make vscode` makes it and `code --install-extension editors/vscode/dist/quarry.vsix` installs it")
		return
	case program == "":
		plan.Next = append(plan.Next, "VS Code's command `code` is not on the PATH; install the extension "+extension+" by \"Extensions: Install from VSIX...\"")
		return
	}
	has := m.installedExtension(program)
	if has == "" {
		plan.Commands = append(plan.Commands, Command{
			Do:   []string{program, "--install-extension", extension},
			Undo: []string{program, "--uninstall-extension", extensionID},
		})
		return
	}
	packed, script := packedExtension(extension)
	switch order := slices.Compare(numbers(has), numbers(packed)); {
	case packed == "": // it is none, and what is installed stays
	case order > 0:
		plan.Next = append(plan.Next, fmt.Sprintf("VS Code has version %s of the extension, newer than this quarry's %s; it stays: update quarry", has, packed))
	case order < 0 || m.otherScript(program, has, script):
		// Whoever installed the first one takes it back, so that there is no Undo.
		plan.Commands = append(plan.Commands, Command{Do: []string{program, "--install-extension", extension}})
		plan.Next = append(plan.Next, "reload the windows of VS Code that are open: until then they run the extension from before")
	}
}

// extension is VS Code's, where an archive has it beside the program, a package in share/
// and a clone where it was built; "" if it is not there.
func (m Machine) extension() string {
	dir := filepath.Dir(m.Executable)
	if real, err := filepath.EvalSymlinks(m.Executable); err == nil {
		dir = filepath.Dir(real)
	}
	path := firstThere(
		filepath.Join(dir, "quarry.vsix"),
		filepath.Join(dir, "editors", "vscode", "quarry.vsix"),
		filepath.Join(dir, "..", "share", "quarry", "quarry.vsix"),
		filepath.Join(dir, "..", "editors", "vscode", "dist", "quarry.vsix"),
	)
	if !isThere(path) {
		return ""
	}
	return path
}

// installedExtension is the version that VS Code has, "" if it has none.
func (m Machine) installedExtension(program string) string {
	out, err := m.Output(program, "--list-extensions", "--show-versions")
	if err != nil {
		return ""
	}
	for word := range strings.FieldsSeq(string(out)) {
		if id, version, _ := strings.Cut(word, "@"); strings.EqualFold(id, extensionID) {
			return version
		}
	}
	return ""
}

// maxPacked bounds what is read of a packed file.
const maxPacked = 16 << 20

// packedExtension is the version of a packed extension and the code that it runs; "" if it
// cannot be read.
func packedExtension(path string) (version string, script []byte) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return "", nil
	}
	defer archive.Close()
	read := func(name string) []byte {
		f, err := archive.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxPacked))
		if err != nil {
			return nil
		}
		return text
	}
	var manifest struct{ Version string }
	if json.Unmarshal(read("extension/package.json"), &manifest) != nil {
		return "", nil
	}
	return manifest.Version, read("extension/dist/extension.js")
}

// otherScript reports whether the extension that VS Code has runs other code than script,
// though it has the same version: between releases the version stays.
func (m Machine) otherScript(program, version string, script []byte) bool {
	var folder string
	for _, v := range vscodes {
		if v.program == program {
			folder = filepath.Join(m.Home, v.extensions, "extensions")
		}
	}
	if dir := m.Getenv("VSCODE_PORTABLE"); dir != "" {
		folder = filepath.Join(dir, "extensions")
	}
	if dir := m.Getenv("VSCODE_EXTENSIONS"); dir != "" {
		folder = dir
	}
	dirs, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		rest, ours := strings.CutPrefix(dir.Name(), extensionID+"-"+version)
		if !ours || rest != "" && rest[0] != '-' { // what follows is the platform
			continue
		}
		if text, err := os.ReadFile(filepath.Join(folder, dir.Name(), "dist", "extension.js")); err == nil {
			return !bytes.Equal(text, script)
		}
	}
	return false
}
