package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"quarry/lsp/settings"
)

// record is what setup has written where, so that it can be taken back. It is a file in
// quarry's folder for state.
type record struct {
	path  string
	Files []recorded `json:"files,omitempty"`
	// Commands take back what the commands of targets have done, by target.
	Commands map[string][][]string `json:"commands,omitempty"`
}

// recorded is one file that setup has changed.
type recorded struct {
	Target string `json:"target"`
	Path   string `json:"path"`
	Format string `json:"format"`
	// Backup is where the text before quarry is; "" if there was no file.
	Backup string `json:"backup,omitempty"`
	// Folder is the uppermost of the folders that were made for the file.
	Folder string `json:"folder,omitempty"`
	// Sum is that of the text that setup wrote, "" where setup came a second time to
	// a file that somebody had edited after the first.
	Sum  string `json:"sum,omitempty"`
	Kept []kept `json:"kept,omitempty"`
	// Mode is that of the file before, where others could read what is secret now; else 0.
	Mode fs.FileMode `json:"mode,omitempty"`
}

func readRecord(stateDir string) (*record, error) {
	r := &record{path: filepath.Join(stateDir, "setup.json")}
	text, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read what setup wrote before: %w; remove %s to go on without it", err, r.path)
	}
	return r, nil
}

func (r *record) write() error {
	if len(r.Files)+len(r.Commands) == 0 {
		if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := settings.MakeFolder(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	return settings.ReplaceFile(r.path, append(text, '\n'), 0o600)
}

func (r *record) index(target, path string) int {
	return slices.IndexFunc(r.Files, func(f recorded) bool { return f.Target == target && f.Path == path })
}
