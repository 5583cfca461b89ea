//go:build editors

package emacs_test

import (
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

// People compile packages, with and without the clients they speak of, and see the warnings.
func TestCompilesWithoutWarnings(t *testing.T) {
	const compile = `(let ((byte-compile-error-on-warn t) (byte-compile-dest-file-function (lambda (_) (expand-file-name "~/quarry.elc"))))
		(unless (byte-compile-file (locate-library "quarry.el")) (kill-emacs 1)))`
	batch(t, "--eval", compile)
	batch(t, "-l", "lsp-mode", "-l", "eglot", "--eval", compile)
}

// MELPA asks for a package that package-lint finds no fault with, once a release has said where it lives. Its one remark is meant: both
// clients that the package serves are optional, so what they need waits until they are loaded.
func TestPackageIsClean(t *testing.T) {
	module, folder := editortest.Module(t), t.TempDir()
	source, err := os.ReadFile("quarry.el")
	if err != nil {
		t.Fatal(err)
	}
	const before = ";; SPDX-License-Identifier:"
	if strings.Contains(string(source), ";; URL:") || !strings.Contains(string(source), before) {
		t.Fatal("quarry.el names an address, which only a release knows, or no licence")
	}
	editortest.WriteFile(t, filepath.Join(folder, "quarry.el"), strings.Replace(string(source), before, ";; URL: https://git.invalid/somebody/quarry\n"+before, 1))
	out, err := exec.Command(filepath.Join(module, "editors", "chroot.sh"), "run", "--root", "tools", "--bind", folder, "--",
		"emacs", "--batch", "-l", "package-lint", "--eval", "(setq package-lint-batch-fail-on-warnings nil)", "-f", "package-lint-batch-and-exit", filepath.Join(folder, "quarry.el")).CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(out)) {
		if remark.MatchString(line) && !strings.Contains(line, "`with-eval-after-load' is for use in configurations") {
			t.Error(strings.TrimSpace(line))
		}
	}
}

var remark = regexp.MustCompile(`quarry\.el:\d+:\d+: `)
