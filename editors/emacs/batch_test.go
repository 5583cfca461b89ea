//go:build editors

package emacs_test

import (
	"os/exec"
	"path/filepath"
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
