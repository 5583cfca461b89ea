package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"quarry/cmd/internal/cli"
)

// answers is where the user's answers are read from. A command that asks more than once
// keeps it, since it reads ahead.
func (a *app) answers() *bufio.Reader { return bufio.NewReader(a.Stdin) }

// confirm asks the user, unless they have said yes already; anything but a yes is a no.
func (a *app) confirm(in *bufio.Reader, yes bool, question string) (bool, error) {
	if yes {
		return true, nil
	}
	fmt.Fprintf(a.Stderr, "%s [y/N] ", question)
	answer, err := in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if err != nil && answer == "" {
		fmt.Fprintln(a.Stderr)
		return false, fmt.Errorf("%w: nothing was done, since there is nobody to ask; add --yes to go on without being asked", cli.ErrUsage)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(a.Stderr, "Nothing was done.")
	return false, nil
}

// isTerminal reports whether a user may answer at in.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, errNull := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && (errNull != nil || !os.SameFile(info, null))
}
