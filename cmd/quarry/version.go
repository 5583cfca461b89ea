package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON(map[string]string{"version": cli.Version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintf(a.Stdout, "quarry %s (%s, %s/%s)\n", cli.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
