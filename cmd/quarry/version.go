package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit, date and platform",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON(cli.ThisBuild())
			}
			_, err := fmt.Fprintln(a.Stdout, cli.ThisBuild())
			return err
		},
	}
}
