package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/engines"
	"quarry/index"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what the index of the workspace holds, and what it leaves out",
		Long: `status shows the index of the workspace and which model is configured. What a
running server does (times, tokens, ghost text shown and accepted) it tells the
editor it belongs to, by quarry/status; whether the model works, quarry doctor.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context()) },
	}
}

func (a *app) status(ctx context.Context) error {
	dir, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	st, err := index.Peek(ctx, dir, a.StateDir, a.Allowed())
	if err != nil {
		return err
	}
	s, _ := a.Settings()
	asked := engines.ModelOf(s)
	if a.JSON {
		return a.PrintJSON(struct {
			index.Status
			Model engines.ConfiguredModel `json:"model"`
		}{st, asked})
	}
	fmt.Fprintf(a.Stdout, "index of %s\n%s files, %s", st.Root, grouped(st.Files), megabytes(st.Bytes))
	if !st.Scanned.IsZero() {
		fmt.Fprintf(a.Stdout, ", compared with the disk at %s in %.1f s", st.Scanned.Local().Format(time.DateTime), st.ScanSeconds)
	}
	fmt.Fprintln(a.Stdout)
	if st.Writer == index.OtherProcess {
		fmt.Fprintln(a.Stdout, "a running quarry keeps it current")
	} else {
		fmt.Fprintln(a.Stdout, "no quarry is running; the next one brings it up to date")
	}
	a.printIndex(st)
	where := "this machine"
	if asked.Remote {
		where = "another machine"
	}
	fmt.Fprintf(a.Stdout, "model %s at %s, on %s\n", asked.Name, asked.URL, where)
	return nil
}
