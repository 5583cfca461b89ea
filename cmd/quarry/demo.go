package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
	"quarry/testdata"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show ghost text at three positions in a sample workspace",
		Long: `demo opens a small sample workspace in a headless editor that speaks to the
language server as a real one does, types at three positions and shows the ghost
text with its timings. It uses Ollama if it answers with the configured model,
and the model-free engine otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) },
	}
}

// demoLocation is an entry of the sample's places.json: where a user would go
// and what they would type there.
type demoLocation struct {
	Title string
	File  string
	After string // the cursor is put behind the first occurrence of this text
	Type  string
}

func (a *app) demo(ctx context.Context) error {
	if a.JSON {
		return fmt.Errorf("%w: demo is something to look at and has no JSON; `quarry complete --json` has", cli.ErrUsage)
	}
	dir, err := os.MkdirTemp("", "quarry-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "shop")
	a.StateDir = filepath.Join(dir, "state") // nothing shall be left behind
	sample, err := fs.Sub(testdata.Sample, "sample")
	if err != nil {
		return err
	}
	if err := os.CopyFS(root, sample); err != nil {
		return fmt.Errorf("write the sample workspace: %w", err)
	}
	raw, err := fs.ReadFile(sample, "places.json")
	if err != nil {
		return err
	}
	var places []demoLocation
	if err := json.Unmarshal(raw, &places); err != nil {
		return fmt.Errorf("places.json of the sample: %w", err)
	}

	a.CommandSettings() // prints what is wrong with them
	editor, quit, err := a.headless(ctx, root)
	if err != nil {
		return err
	}
	defer quit()
	look := screen{colour: cli.OnTerminal(a.Stdout)}
	for i, p := range places {
		content, language, err := headless.ReadDocument(root, p.File)
		if err != nil {
			return err
		}
		b := editor.Buffer(p.File)
		if b == nil {
			if b, err = editor.Open(p.File, language, content); err != nil {
				return err
			}
		}
		if err := b.Seek(p.After); err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
		if err := editor.Type(b, p.Type); err != nil {
			return err
		}
		if err := editor.Settle(ctx, b); err != nil {
			return err
		}
		why, err := explanation(ctx, editor, b)
		if err != nil {
			return err
		}
		if i == 0 && why.Note != "" {
			fmt.Fprintf(a.Stdout, "No model: %s\n\n", why.Note)
		}
		fmt.Fprintf(a.Stdout, "%s\n%s", p.Title, look.render(p.File, b))
		fmt.Fprintf(a.Stdout, "%s\n\n", look.style(cli.Dim, "       "+summary(why, b.Ghost != nil)))
	}
	return nil
}
