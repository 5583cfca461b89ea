package model

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An Orphan is one or more files in an Ollama's model folder that belong to no model. They are
// left of a download or an import that was ended, or that still runs. Ollama deletes them when
// it starts, unless OLLAMA_NOPRUNE is set.
type Orphan struct {
	// Digest is the sha256 that the complete file will have, which is also in its name. For an
	// import that Ollama itself broke off, no file has that sum.
	Digest string
	// Files are their paths: one, or the parts of what is fetched.
	Files []string
	// Bytes is how many have come. A file that is being downloaded has its full length from the
	// first byte on.
	Bytes int64
}

const (
	// blobPrefix begins the name of every file of a model. partMark follows the name of a file
	// that is downloaded in parts.
	blobPrefix, partMark = "sha256-", "-partial"
	digestLength         = 64
)

// FindOrphans looks for orphans in folder, which is what Library.Folder answers or what
// OLLAMA_MODELS names. at is the folder in which they are. The error is fs.ErrNotExist if
// Ollama has no models there.
func FindOrphans(folder string) (at string, list []Orphan, err error) {
	if filepath.Base(folder) != "blobs" {
		folder = filepath.Join(folder, "blobs")
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return folder, nil, err
	}
	needed, err := referenced(filepath.Join(filepath.Dir(folder), "manifests"))
	known := err == nil // otherwise a complete file may belong to a model
	of := map[string]int{}
	done := map[string]int64{} // of files that are downloaded in parts
	for _, e := range entries {
		name := e.Name()
		digest, isBlob := strings.CutPrefix(name, blobPrefix)
		info, err := e.Info()
		if err != nil || !isBlob || !info.Mode().IsRegular() {
			continue // it has been removed since, or is not Ollama's
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

// completed is how many bytes of a part have come, as a file of Ollama's says.
func completed(path string) int64 {
	var part struct{ Completed int64 }
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &part) != nil {
		return 0 // it is being written
	}
	return max(part.Completed, 0)
}

// referenced are the names of the files that belong to models. It fails if a manifest cannot
// be read.
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
