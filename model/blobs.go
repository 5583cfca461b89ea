package model

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An Orphan is files in the folder of an Ollama's models that belong to no model: of a download or an import that was ended,
// or that somebody is at work with. Ollama deletes them when it starts, unless OLLAMA_NOPRUNE is set.
type Orphan struct {
	// Digest is the sha256 of what is to come, with its name in front of it; of what Ollama had of an import that its own end
	// broke off it is none.
	Digest string
	// Files are their paths: one, or the parts of what is fetched.
	Files []string
	// Bytes is how many have come: a file that is fetched is as long as the whole from its first byte on.
	Bytes int64
}

const (
	// blobPrefix begins the name of every file of a model; what is behind a partMark is fetched in parts.
	blobPrefix, partMark = "sha256-", "-partial"
	digestLength         = 64
)

// FindOrphans looks for them in a folder as Library.Folder answers it, or as OLLAMA_MODELS names it, and answers in which they
// are. The error is fs.ErrNotExist where Ollama has no models there.
func FindOrphans(folder string) (at string, list []Orphan, err error) {
	if filepath.Base(folder) != "blobs" {
		folder = filepath.Join(folder, "blobs")
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return folder, nil, err
	}
	needed, err := referenced(filepath.Join(filepath.Dir(folder), "manifests"))
	known := err == nil // else a whole file may be some model's
	of := map[string]int{}
	done := map[string]int64{} // of what is fetched in parts
	for _, e := range entries {
		name := e.Name()
		digest, isBlob := strings.CutPrefix(name, blobPrefix)
		info, err := e.Info()
		if err != nil || !isBlob || !info.Mode().IsRegular() {
			continue // it is gone meanwhile, or not Ollama's
		}
		if whole := len(digest) == digestLength; whole && (!known || needed[name]) {
			continue
		}
		digest, number, part := strings.Cut(digest, partMark)
		digest = "sha256:" + digest
		i, seen := of[digest]
		if !seen {
			i = len(list)
			of[digest] = i
			list = append(list, Orphan{Digest: digest})
		}
		path := filepath.Join(folder, name)
		list[i].Files = append(list[i].Files, path)
		if part && number != "" {
			done[digest] += completed(path)
		} else {
			list[i].Bytes += info.Size()
		}
	}
	for digest, came := range done {
		o := &list[of[digest]]
		o.Bytes = min(o.Bytes, came)
	}
	return folder, list, nil
}

// completed is how many bytes a file of Ollama's says that there are of a part.
func completed(path string) int64 {
	var part struct{ Completed int64 }
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &part) != nil {
		return 0 // it is being written
	}
	return max(part.Completed, 0)
}

// referenced are the names of the files that models have; a manifest that cannot be read is an error.
func referenced(manifests string) (map[string]bool, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(manifests, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		type layer struct{ Digest string }
		var m struct {
			Config layer
			Layers []layer
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		for _, l := range append(m.Layers, m.Config) {
			names[strings.Replace(l.Digest, ":", "-", 1)] = true
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // no model yet
		err = nil
	}
	return names, err
}

// Remove gives its disk space back.
func (o Orphan) Remove() error {
	var failed error
	for _, path := range o.Files {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
