package workspace

import (
	"context"
	"os"
	"slices"

	"quarry/retrieval/pattern"
)

// Matching are those of Files whose text may have a line that p matches: all that have one are
// among them. A file whose text may be another than the one that searches know counts as
// one that may.
func (w *Workspace) Matching(ctx context.Context, p *pattern.Pattern, keep func(File) bool) (list []File, missing *Missing, err error) {
	list, missing, err = w.Files(ctx, keep)
	if err != nil {
		return nil, nil, err
	}
	folders := w.snapshot()
	w.mu.Lock()
	open := make(map[string]bool, len(w.buffers))
	for path := range w.buffers {
		open[path] = true
	}
	w.mu.Unlock()
	behind := map[*folder]bool{}
	for _, f := range folders {
		if x, err := f.ready(); err == nil {
			behind[f] = x.Working() || f.warm.Behind(ctx)
		}
	}
	return slices.DeleteFunc(list, func(file File) bool {
		f, rel := innermost(folders, file.Path)
		if f == nil || behind[f] || open[file.Path] {
			return false
		}
		if _, err := f.ready(); err != nil {
			return false
		}
		known := f.warm.Search.Current()
		id, ok := known.FileAt(rel)
		if !ok || p.MayMatch(func(literal string) bool { return known.MayContain(id, literal) }) {
			return false
		}
		info, err := os.Lstat(file.Path) // nobody may have told of a change yet
		return err == nil && info.Size() == file.Size && info.ModTime().UnixNano() == file.ModTime
	}), missing, nil
}

// LeftOut counts the files and folders that the last scans left out of the indexes, by reason.
func (w *Workspace) LeftOut(ctx context.Context) (map[string]int, error) {
	sum := map[string]int{}
	for _, f := range w.snapshot() {
		x, err := f.ready()
		if err != nil {
			continue // it is being opened, or it was said then
		}
		counts, err := x.Skipped(ctx)
		if err != nil {
			return nil, err
		}
		for reason, n := range counts {
			sum[reason] += n
		}
	}
	return sum, nil
}
