package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name string // with slashes
	text []byte
	run  bool // as a program
}

func (e entry) mode() os.FileMode {
	if e.run {
		return 0o755
	}
	return 0o644
}

// pack writes an archive of entries below a folder. The same entries make the same bytes:
// they stand by name and have one time, no owner and no folders of their own.
func pack(w io.Writer, name, folder string, when time.Time, entries []entry) error {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].name = path.Join(folder, entries[i].name)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	if strings.HasSuffix(name, ".tar.gz") {
		return packTar(w, when, entries)
	}
	return packZip(w, when, entries)
}

func packTar(w io.Writer, when time.Time, entries []entry) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	for _, e := range entries {
		head := &tar.Header{Name: e.name, Mode: int64(e.mode()), Size: int64(len(e.text)), ModTime: when, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(head); err != nil {
			return err
		}
		if _, err := out.Write(e.text); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func packZip(w io.Writer, when time.Time, entries []entry) error {
	out := zip.NewWriter(w)
	out.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, e := range entries {
		head := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
		head.SetMode(e.mode())
		file, err := out.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := file.Write(e.text); err != nil {
			return err
		}
	}
	return out.Close()
}

// unzip reads a zip's files.
func unzip(name string) ([]entry, error) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	var entries []entry
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
		entries = append(entries, entry{f.Name, text, f.Mode()&0o111 != 0})
	}
	return entries, nil
}

// untar reads a tar.gz's files.
func untar(name string) ([]entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for in := tar.NewReader(plain); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{head.Name, text, head.Mode&0o111 != 0})
	}
}

func gzipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// withServer is VS Code's extension with a platform's binary in it and the papers of both,
// as the marketplaces take one for each platform.
func withServer(extension []entry, p platform, program []byte, papers []entry) ([]entry, error) {
	extension = append(slices.Clone(extension), entry{"extension/bin/" + p.Program(), program, true})
	for _, paper := range papers {
		if paper.name == licencesFile {
			i := slices.IndexFunc(extension, func(e entry) bool { return e.name == extensionFile })
			extension[i].text = paper.text
			continue
		}
		paper.name = "extension/" + paper.name
		extension = append(extension, paper)
	}
	for i, e := range extension {
		var old, changed string
		switch e.name {
		case "extension.vsixmanifest":
			old, changed = "<Identity ", `<Identity TargetPlatform="`+p.VSCode+`" `
		case "[Content_Types].xml":
			// A part without an extension is named in full.
			old, changed = "</Types>", `<Override PartName="/extension/bin/`+p.Program()+`" ContentType="application/octet-stream"/></Types>`
		default:
			continue
		}
		if bytes.Count(e.text, []byte(old)) != 1 || bytes.Contains(e.text, []byte("TargetPlatform")) {
			return nil, fmt.Errorf("the extension's %s has another form than vsce's", e.name)
		}
		extension[i].text = bytes.Replace(e.text, []byte(old), []byte(changed), 1)
	}
	return extension, nil
}
