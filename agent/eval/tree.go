package eval

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/retrieval"
)

// maxFileBytes is the largest file that is looked at.
const maxFileBytes = 2 << 20

// tree is the text files of a repository.
type tree struct {
	names []string // sorted, as ripgrep lists them with --sort path
	text  map[string][]string
}

// plant copies a repository without what is built from its sources, and reads it.
func plant(from, to string, without []string) (*tree, error) {
	t := &tree{text: map[string][]string{}}
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		hidden := strings.HasPrefix(path.Base(name), ".")
		if hidden || slices.Contains(without, name) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(copied, raw, 0o644); err != nil {
			return err
		}
		if bytes.IndexByte(raw, 0) < 0 {
			t.names = append(t.names, name)
			t.text[name] = strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n"), "\n")
		}
		return nil
	})
	slices.Sort(t.names)
	return t, err
}

func (t *tree) lines(name string) []string { return t.text[name] }

// isCode answers whether a file is code.
func isCode(name string) bool { return lang.Of(lang.Detect(name, nil)).Content == lang.Code }

// isPlain answers whether a file is code that is no test: what somebody reads first.
func isPlain(name string) bool {
	kind, _ := retrieval.TypeOf(name)
	return isCode(name) && kind != retrieval.TypeTest
}

// hit is a line that matches.
type hit struct {
	name string
	line int // 1-based
}

// grep are the lines of the chosen files that match.
func (t *tree) grep(files, match func(string) bool) (list []hit) {
	for _, name := range t.names {
		if !files(name) {
			continue
		}
		for i, l := range t.text[name] {
			if match(l) {
				list = append(list, hit{name, i + 1})
			}
		}
	}
	return list
}
