//go:build !windows

package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// storedKey asks the system's own command for the key of a host.
func storedKey(ctx context.Context, host string) (string, error) {
	args := []string{"secret-tool", "lookup", "service", keyService, "username", host}
	if runtime.GOOS == "darwin" {
		args = []string{"/usr/bin/security", "find-generic-password", "-w", "-s", keyService, "-a", host}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	key := strings.TrimSpace(string(out))
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no secret-tool on the PATH: install libsecret-tools, or libsecret as some systems name it")
	case err != nil && errs.Len() > 0:
		return "", fmt.Errorf("%s: %s", args[0], strings.TrimSpace(errs.String()))
	case err != nil:
		return "", fmt.Errorf("%s: %w", args[0], err)
	case key == "":
		return "", fmt.Errorf("%s found no key", args[0])
	}
	return key, nil
}

// storing is the command by which a user puts a key in. It asks for the key.
func storing(host string) string {
	if runtime.GOOS == "darwin" {
		return fmt.Sprintf("security add-generic-password -s %s -a %s -w", keyService, host)
	}
	return fmt.Sprintf("secret-tool store --label %s service %s username %s", keyService, keyService, host)
}
