//go:build editors

package emacs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// batch runs Emacs without a screen, with the packages of the chroot.
func batch(t *testing.T, args ...string) {
	t.Helper()
	module, home := editortest.Module(t), t.TempDir()
	folder := filepath.Join(module, "editors", "emacs")
	args = append([]string{
		"run", "--bind", folder, "--bind", home, "--", "env", "HOME=" + home, "LANG=C.UTF-8",
		"emacs", "--batch", "--eval", "(package-activate-all)", "-L", folder,
	}, args...)
	if out, err := exec.Command(filepath.Join(module, "editors", "chroot.sh"), args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestLisp(t *testing.T) {
	batch(t, "-l", "quarry-test", "-f", "ert-run-tests-batch-and-exit")
}

// files are the package's.
var files = []string{"quarry.el", "quarry-change.el", "quarry-page.el", "quarry-ghost.el"}

// People compile packages, with and without the clients they speak of, and see the warnings.
func TestCompilesWithoutWarnings(t *testing.T) {
	compile := `(let ((byte-compile-error-on-warn t) (byte-compile-dest-file-function (lambda (_) (expand-file-name "~/quarry.elc"))))
		(dolist (file '("` + strings.Join(files, `" "`) + `"))
		  (unless (byte-compile-file (locate-library file)) (kill-emacs 1))))`
	batch(t, "--eval", compile)
	batch(t, "-l", "lsp-mode", "-l", "eglot", "--eval", compile)
}

// MELPA asks for a package that package-lint and checkdoc find no fault with, once a release has said where it lives. One remark is meant:
// both clients that the package serves are optional, so what they need waits until they are loaded.
func TestPackageIsClean(t *testing.T) {
	module, folder := editortest.Module(t), t.TempDir()
	lint := []string{"run", "--root", "tools", "--bind", folder, "--", "emacs", "--batch", "-l", "package-lint", "-l", "checkdoc",
		"--eval", fmt.Sprintf(`(setq package-lint-main-file %q package-lint-batch-fail-on-warnings nil)`, filepath.Join(folder, files[0]))}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		const before = ";; SPDX-License-Identifier:"
		if strings.Contains(string(source), ";; URL:") || !strings.Contains(string(source), before) {
			t.Fatalf("%s names an address, which only a release knows, or no licence", name)
		}
		path := filepath.Join(folder, name)
		editortest.WriteFile(t, path, strings.Replace(string(source), before, ";; URL: https://git.invalid/somebody/quarry\n"+before, 1))
		lint = append(lint, "--eval", fmt.Sprintf("(checkdoc-file %q)", path))
	}
	lint = append(lint, "-f", "package-lint-batch-and-exit")
	for _, name := range files {
		lint = append(lint, filepath.Join(folder, name))
	}
	out, err := exec.Command(filepath.Join(module, "editors", "chroot.sh"), lint...).CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(out)) {
		if remark.MatchString(line) && !strings.Contains(line, "`with-eval-after-load' is for use in configurations") {
			t.Error(strings.TrimSpace(line))
		}
	}
}

// remark is what package-lint and checkdoc say of a place.
var remark = regexp.MustCompile(`quarry(?:-change|-page|-ghost)?\.el:\d+`)
