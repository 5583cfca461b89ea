package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what the index of the workspace holds, and what it leaves out",
		Long: `status shows the index of the workspace, how the folder differs from it by
now, and which model is configured; it reads no file and changes nothing. What a
running server does (times, tokens, ghost text shown and accepted) it tells the
editor it belongs to, by quarry/status; whether the model works, quarry doctor.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context()) },
	}
	cmd.Flags().DurationVar(&a.Wait, "wait", cli.DefaultWait, "how long comparing the folder with the index may take, `TIME` as in 30s")
	return cmd
}

// currency says how true an index is to its folder.
func currency(st index.Status) string {
	d := st.Stale
	switch {
	case st.Writer == index.OtherProcess && !st.Whole:
		return "incomplete: a running quarry reads the folder for the first time"
	case st.Writer == index.OtherProcess:
		return "a running quarry keeps it current"
	case !st.Whole && d != nil:
		return fmt.Sprintf("incomplete: files not read yet %s; `quarry index` reads them, or any quarry that is started", grouped(int64(d.New+d.Changed)))
	case !st.Whole:
		return "incomplete: not every file was read; `quarry index` reads the rest, or any quarry that is started"
	case d == nil:
		return "no quarry is running, and comparing the folder takes longer than --wait; the next quarry brings the index up to date"
	case *d == (index.Difference{}):
		return "up to date with the folder; no quarry is running"
	}
	return fmt.Sprintf("out of date: files new %s, changed %s, gone %s; `quarry index` reads them, or any quarry that is started", grouped(int64(d.New)), grouped(int64(d.Changed)), grouped(int64(d.Gone)))
}

func (a *app) status(ctx context.Context) error {
	dir, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	st, err := index.Peek(ctx, dir, a.StateDir, a.Allowed(), a.Patience())
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
	fmt.Fprintln(a.Stdout, currency(st))
	a.printIndex(st)
	where := "this machine"
	if asked.Remote {
		where = "another machine"
	}
	fmt.Fprintf(a.Stdout, "model %s at %s, on %s\n", asked.Name, asked.URL, where)
	return nil
}
