package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/retrieval/workspace"
)

func (a *app) completeCommand() *cobra.Command {
	var showPrompt bool
	cmd := &cobra.Command{
		Use:   "complete FILE:LINE:COL",
		Short: "Complete at a position in a file (1-based line and byte column)",
		Example: `  quarry complete main.go:12:5
  quarry complete --show-prompt main.go:12:5
  quarry complete --json main.go:12:5`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.complete(cmd.Context(), args[0], showPrompt)
		},
	}
	a.WaitFlag(cmd)
	cmd.Flags().BoolVar(&showPrompt, "show-prompt", false, "print the exact prompt that the model is sent, or would be if one answered, and nothing else")
	return cmd
}

// maxCompleteBytes is the largest file that is read.
const maxCompleteBytes = 64 << 20

// location is FILE:LINE:COL.
type location struct {
	file         string
	line, column int // 1-based; the column counts UTF-8 bytes
}

func parseLocation(arg string) (location, error) {
	parts := strings.Split(arg, ":")
	bad := fmt.Errorf("%w: %q is not FILE:LINE:COL, as in main.go:12:5", cli.ErrUsage, arg)
	if len(parts) < 3 {
		return location{}, bad
	}
	n := len(parts)
	line, err := strconv.Atoi(parts[n-2])
	if err != nil || line < 1 {
		return location{}, bad
	}
	column, err := strconv.Atoi(parts[n-1])
	if err != nil || column < 1 {
		return location{}, bad
	}
	return location{strings.Join(parts[:n-2], ":"), line, column}, nil
}

// The JSON of `quarry complete`.
type (
	completeOutput struct {
		Items  []completeItem `json:"items"`
		Prompt completePrompt `json:"prompt"`
		// Backend is who was asked: the model, or the engine that needs none; [] if nobody was.
		Backend []string `json:"backend"`
		// Incomplete is what the index did not know yet; absent if nothing.
		Incomplete *workspace.Missing `json:"incomplete,omitempty"`
		Timings    map[string]float64 `json:"timings_ms"`
		Note       string             `json:"note,omitempty"`
	}
	completeItem struct {
		InsertText string        `json:"insert_text"`
		Range      completeRange `json:"range"`
		Engine     string        `json:"engine"`
	}
	completeRange struct {
		Start completePosition `json:"start"`
		End   completePosition `json:"end"`
	}
	completePosition struct {
		Line int `json:"line"` // 1-based
		Col  int `json:"col"`  // 1-based, in UTF-8 bytes
	}
	completePrompt struct {
		Text     string                 `json:"text,omitempty"` // with --show-prompt
		Tokens   int                    `json:"tokens"`
		Snippets []lsp.ExplainedSnippet `json:"snippets"`
	}
)

func (a *app) complete(ctx context.Context, arg string, showPrompt bool) error {
	at, err := parseLocation(arg)
	if err != nil {
		return err
	}
	root, err := a.WorkspaceAround(filepath.Dir(at.file))
	if err != nil {
		return err
	}
	file, err := filepath.Abs(at.file)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(relative) {
		return fmt.Errorf("%s is outside the workspace %s; name its own with --workspace", at.file, root)
	}
	relative = filepath.ToSlash(relative)
	switch info, err := os.Stat(file); {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", at.file)
	case info.Size() > maxCompleteBytes:
		return fmt.Errorf("%s has %d MB, too much to complete in", at.file, info.Size()>>20)
	}
	content, language, err := headless.ReadDocument(root, relative)
	if err != nil {
		return err
	}
	if !utf8.ValidString(content) {
		return fmt.Errorf("%s is not UTF-8 text", at.file)
	}
	a.CommandSettings() // prints what is wrong with them
	if err := a.Allowed().Refuses(root); err != nil {
		fmt.Fprintln(a.Stderr, "quarry:", err) // ghost text does without
	}
	editor, quit, err := a.headless(ctx, root)
	if err != nil {
		return err
	}
	defer quit()
	buffer, err := editor.Open(relative, language, content)
	if err != nil {
		return err
	}
	if at.line > buffer.Text.LineCount() {
		return fmt.Errorf("%s has %d lines; there is no line %d", at.file, buffer.Text.LineCount(), at.line)
	}
	start, end := buffer.Text.LineBounds(at.line - 1)
	if at.column > end-start+1 {
		return fmt.Errorf("line %d of %s has %d bytes; there is no column %d", at.line, at.file, end-start, at.column)
	}
	buffer.Cursor = start + at.column - 1
	if err := editor.Complete(ctx, buffer, true); err != nil {
		return err
	}
	why, err := explanation(ctx, editor, buffer)
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.printCompletion(buffer, why, showPrompt)
	case showPrompt && why.Prompt.Text == "":
		return fmt.Errorf("there is no prompt here: %s", why.Note)
	case showPrompt:
		if why.Note != "" && !asked(why) {
			fmt.Fprintf(a.Stderr, "the model was not asked: %s\n", why.Note)
		}
		_, err := fmt.Fprintln(a.Stdout, why.Prompt.Text)
		return err
	}
	fmt.Fprint(a.Stdout, screen{colour: cli.OnTerminal(a.Stdout)}.render(relative, buffer))
	_, err = fmt.Fprintln(a.Stderr, summary(why, buffer.Ghost != nil))
	if why.Note != "" {
		_, err = fmt.Fprintln(a.Stderr, why.Note)
	}
	return err
}

func (a *app) printCompletion(b *headless.Buffer, why lsp.Explanation, showPrompt bool) error {
	out := completeOutput{
		Items:   []completeItem{},
		Prompt:  completePrompt{Tokens: why.Prompt.Tokens, Snippets: why.Prompt.Snippets},
		Backend: []string{}, Incomplete: a.Lacked(),
		Timings: why.Timings,
		Note:    why.Note,
	}
	if why.Engine != "" {
		out.Backend = append(out.Backend, why.Engine)
	}
	if showPrompt {
		out.Prompt.Text = why.Prompt.Text
	}
	at := func(offset int) completePosition {
		line := b.Text.LineAt(offset)
		start, _ := b.Text.LineBounds(line)
		return completePosition{line + 1, offset - start + 1}
	}
	if g := b.Ghost; g != nil {
		out.Items = append(out.Items, completeItem{g.InsertText, completeRange{at(g.Start), at(g.End)}, why.Engine})
	}
	return a.PrintJSON(out)
}

// explanation asks the server where the buffer's ghost text came from.
func explanation(ctx context.Context, e *headless.Editor, b *headless.Buffer) (lsp.Explanation, error) {
	var why lsp.Explanation
	err := e.Call(ctx, lsp.MethodExplainCompletion, map[string]any{"textDocument": map[string]any{"uri": b.URI}}, &why)
	if why.Prompt.Snippets == nil {
		why.Prompt.Snippets = []lsp.ExplainedSnippet{}
	}
	return why, err
}

// asked is whether a model answered, whoever's answer is shown.
func asked(why lsp.Explanation) bool { return why.Timings["first_token"] > 0 }

// summary is one line about an answer: who gave it and how long it took.
func summary(why lsp.Explanation, shown bool) string {
	switch {
	case why.Engine == "":
		return "nothing to suggest here"
	case !shown && why.Engine == "local":
		return "no suggestion: no model is running, and no similar code is open"
	case !shown:
		return fmt.Sprintf("no suggestion: %s had none fit to show after %.0f ms", why.Engine, why.Timings["total"])
	case why.Engine == "local" && asked(why):
		return fmt.Sprintf("copied in %.0f ms", why.Timings["total"])
	case why.Engine == "local":
		return fmt.Sprintf("copied from open files, no model, in %.2f ms", why.Timings["total"])
	}
	return fmt.Sprintf("%s in %.0f ms: prompt of %d tokens, first token after %.0f ms",
		why.Engine, why.Timings["total"], why.Prompt.Tokens, why.Timings["first_token"])
}
