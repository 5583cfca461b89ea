package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/index"
	"quarry/index/store"
	"quarry/lsp/settings"
	"quarry/retrieval/live"
)

func (a *app) indexCommand() *cobra.Command {
	var rebuild, embed, allow bool
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Bring the index of the workspace up to date",
		Long: `Bring the index of the workspace up to date, and say what was left out and why.

The language server does this by itself; the command is for scripts, for a first
index before work begins, and to see what quarry reads. It can be stopped at any
time: the next run goes on from there.

With --embed it also waits until the embedding model has embedded every chunk,
which takes much longer; search finds code by its meaning then.

Your home folder, / and the folders above your home folder are not indexed unasked, by
any command, editor or agent. --allow adds the folder to index.wideFolders in your own
settings.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if allow {
				if err := a.allow(); err != nil {
					return err
				}
			}
			return a.index(cmd.Context(), rebuild, embed)
		},
	}
	cmd.Flags().BoolVar(&allow, "allow", false, "index the folder, from now on, although it is your home folder, / or above your home folder")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "throw the index away first")
	cmd.Flags().BoolVar(&embed, "embed", false, "embed every chunk, too")
	return cmd
}

// allow notes in the user's settings that the workspace may be indexed although it is wide.
func (a *app) allow() error {
	dir, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	allowed := a.Allowed()
	var wide *index.Wide
	switch err := allowed.Refuses(dir); {
	case err == nil:
		return nil
	case errors.As(err, &wide) && wide.Never:
		return err
	}
	path := settings.UserFilePath()
	if err := settings.SetInFile(path, "index.wideFolders", append(slices.Clone(allowed), dir)); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "quarry: %s may be indexed from now on, by editors too once they start anew; index.wideFolders in %s says so\n", dir, path)
	return nil
}

// indexOutput is the JSON of `quarry index`.
type indexOutput struct {
	Files      int64 `json:"files"`
	Chunks     int64 `json:"chunks"`
	Symbols    int64 `json:"symbols"`
	References int64 `json:"references"`
	Bytes      int64 `json:"bytes"`
	// Skipped counts what was left out, by reason.
	Skipped map[string]int `json:"skipped"`
	// Errors are files that were indexed by lines only.
	Errors  []store.Problem `json:"errors"`
	Seconds float64         `json:"seconds"`
	// Kept: the index is on disk. Else it was in memory, and is gone.
	Kept bool `json:"kept"`
	// Embedding says how far the vectors are.
	Embedding index.EmbeddingStatus `json:"embedding"`
}

func (a *app) index(ctx context.Context, rebuild, embed bool) (err error) {
	dir, err := a.WorkspaceAround(".")
	if err != nil {
		return err
	}
	index.Awaited()
	start := time.Now()
	bar := &progressBar{app: a, terminal: cli.OnTerminal(a.Stderr), start: start}
	scope := a.Scope()
	if scope.Off {
		return errors.New("index.enabled is false: set it to true in the settings to index")
	}
	cfg := scope.Config(dir, a.StateDir)
	cfg.Log, cfg.Progress, cfg.Embedding = a.Log, bar.show, bar.embedded
	// An editor opened meanwhile only reads, and relies on what is saved being seen.
	cfg.Watch = true
	cfg.Notify = func(message string) { fmt.Fprintln(a.Stderr, "quarry:", message) }
	x, err := index.Open(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	st, err := x.Status(ctx)
	if err != nil {
		return err
	}
	switch {
	case st.Writer == index.OtherProcess && rebuild:
		return fmt.Errorf("another quarry keeps the index of %s current; close it, then rebuild", dir)
	case st.Writer == index.OtherProcess:
		fmt.Fprintf(a.Stderr, "quarry: another quarry keeps this index current; waiting until it is through\n")
	case rebuild:
		x.Rebuild()
	}
	if err = x.Whole(ctx); err == nil {
		err = x.Served(ctx)
	}
	if err == nil {
		err = keepSnapshot(ctx, x, dir, bar)
	}
	bar.end()
	if ctx.Err() != nil {
		return errors.New("stopped; what was read is kept; the next run continues from there")
	}
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	notKept := x.NotKept()
	if notKept == nil {
		end, err := a.embed(ctx, x, bar, embed)
		defer end()
		if err != nil {
			return err
		}
		notKept = x.NotKept()
	}
	if st, err = x.Status(ctx); err != nil {
		return err
	}
	failure := lost(notKept, st.Root)
	if a.JSON {
		return errors.Join(failure, a.PrintJSON(indexOutput{
			Files: st.Files, Chunks: st.Chunks, Symbols: st.Symbols, References: st.References, Bytes: st.Bytes,
			Skipped: st.Skipped, Errors: st.Problems, Seconds: seconds, Kept: failure == nil, Embedding: st.Embedding,
		}))
	}
	if failure != nil {
		fmt.Fprintf(a.Stdout, "%s files, %s, read into memory and not kept\n", grouped(st.Files), megabytes(st.Bytes))
		return failure
	}
	done := bar.bytes()
	fmt.Fprintf(a.Stdout, "%s files, %s, up to date after %.1f s", grouped(st.Files), megabytes(st.Bytes), seconds)
	if done > 0 && seconds > 0 {
		fmt.Fprintf(a.Stdout, " (%s read, %.1f MB/s)", megabytes(done), float64(done)/1e6/seconds)
	}
	fmt.Fprintln(a.Stdout)
	a.printIndex(st)
	return nil
}

// lost says that an index was made in memory only, which ends with the command, nil if cause
// is.
func lost(cause error, root string) error {
	advice := "free some disk space, or name another folder with --state-dir"
	var other *index.OtherVersion
	switch {
	case cause == nil:
		return nil
	case errors.As(cause, &other):
		advice = "end the other quarry, or name another folder with --state-dir"
	case errors.Is(cause, store.ErrNewerSchema):
		advice = "update quarry, or name another folder with --state-dir"
	}
	return fmt.Errorf("the index is not kept: %s; that of %s was in memory only: %w", advice, root, cause)
}

// keepSnapshot leaves what searches know beside the index, so that the next process
// begins with it. Making it anew takes a third of what a first index does.
func keepSnapshot(ctx context.Context, x *index.Index, dir string, bar *progressBar) error {
	if !x.Kept().MayWrite() {
		return nil // another quarry does, or nothing can be kept
	}
	w := live.Follow(x, filepath.Base(dir), nil)
	defer w.Close()
	totals, err := x.Store().Totals(ctx)
	if err != nil {
		return err
	}
	known := make(chan error, 1)
	go func() { known <- w.CatchUp(ctx) }()
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case err := <-known:
			if err != nil {
				return err
			}
			waiting = false
		case <-tick.C:
			bar.prepared(w.Search.Current().Files(), int(totals.Files))
		}
	}
	w.KeepAll(ctx)
	w.Close()
	return unlessFull(x.Store().TruncateLog(ctx), wipe(ctx, x.Store()))
}

// unlessFull joins errors of tidying but those for want of room: what is to leave the files does so when
// there is some.
func unlessFull(errs ...error) error {
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, store.ErrFull) })...)
}

// smallIndex is how large an index is, in bytes, of which a command takes at once what is gone,
// which is writing all of it anew: a tenth of a second.
const smallIndex = 8 << 20

// wipe takes what is gone out of the files of an index, of a large one only if nobody may read it. Of
// the rest a server takes care.
func wipe(ctx context.Context, s *store.Store) error {
	now, later, err := s.NeedsWipe(ctx)
	if err != nil || !now && !later {
		return err
	}
	if size, err := s.FileSize(ctx); err != nil || !now && size > smallIndex {
		return err
	}
	_, err = s.Wipe(ctx)
	return err
}

// printIndex writes what an index holds and what it leaves out.
func (a *app) printIndex(st index.Status) {
	fmt.Fprintf(a.Stdout, "%s chunks, %s symbols, %s references\n", grouped(st.Chunks), grouped(st.Symbols), grouped(st.References))
	where := st.Database
	if where == "" {
		where = "in memory"
	}
	fmt.Fprintf(a.Stdout, "%s in %s\n", megabytes(st.DatabaseBytes), where)
	a.printEmbedding(st.Embedding)
	for _, p := range st.Problems {
		fmt.Fprintf(a.Stdout, "%s: %s\n", p.Path, p.Problem)
	}
	if len(st.Skipped) == 0 {
		return
	}
	fmt.Fprintln(a.Stdout, "left out:")
	for _, reason := range slices.SortedFunc(maps.Keys(st.Skipped), func(x, y string) int {
		if d := st.Skipped[y] - st.Skipped[x]; d != 0 {
			return d
		}
		return strings.Compare(x, y)
	}) {
		fmt.Fprintf(a.Stdout, "  %7s  %-16s %s\n", grouped(int64(st.Skipped[reason])), reason, examples(st.SkippedPaths, reason))
	}
}

// printEmbedding writes how far the vectors are, and what went wrong with them.
func (a *app) printEmbedding(e index.EmbeddingStatus) {
	switch {
	case e.Model == "" && e.Next == "":
		fmt.Fprintf(a.Stdout, "not embedded: %s (`quarry doctor` says what is missing, `quarry index --embed` embeds now)\n", engines.WithoutEmbeddings)
	case e.Next != "" && e.Model != "":
		fmt.Fprintf(a.Stdout, "%s of %s texts embedded by %s, until then %s serves", grouped(int64(e.Embedded)), grouped(int64(e.Texts)), e.Next, e.Model)
	default:
		fmt.Fprintf(a.Stdout, "%s of %s texts embedded by %s, %d dimensions", grouped(int64(e.Embedded)), grouped(int64(e.Texts)), e.Model+e.Next, e.Dimension)
	}
	if e.Model+e.Next != "" {
		if e.Refused > 0 {
			fmt.Fprintf(a.Stdout, ", %s refused", grouped(int64(e.Refused)))
		}
		fmt.Fprintf(a.Stdout, ", %s\n", megabytes(e.Bytes))
	}
	if e.Error != "" {
		fmt.Fprintf(a.Stdout, "embedding failed: %s\n", e.Error)
	}
	if e.Lost > 0 {
		fmt.Fprintf(a.Stdout, "vectors found damaged or gone at %s: %s; their texts are embedded anew\n", e.LostAt.Local().Format(time.DateTime), grouped(int64(e.Lost)))
	}
}

// examples names a few of the paths left out for a reason.
func examples(list []store.Skipped, reason string) string {
	const most = 3
	var names []string
	for _, s := range list {
		if s.Reason == reason {
			if len(names) == most {
				names = append(names, "…")
				break
			}
			names = append(names, s.Path)
		}
	}
	return strings.Join(names, ", ")
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// grouped writes a number with a comma every three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
