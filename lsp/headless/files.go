package headless

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"quarry/index/lang"
)

// FileURI is the URI of a file path, percent-encoded as RFC 3986 asks.
func FileURI(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	slashed := filepath.ToSlash(path)
	if slashed == "" || slashed[0] != '/' {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// filePath is the path that a file URI names.
func filePath(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", fmt.Errorf("%s names no file", uri)
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // a drive of Windows
		path = path[1:]
	}
	return filepath.FromSlash(path), nil
}

// ReadDocument is the content of a file below root and its LSP language id.
func ReadDocument(root, path string) (content, language string, err error) {
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return "", "", err
	}
	return string(raw), LanguageID(path), nil
}

// LanguageID is the LSP language id an editor gives a file of that name.
func LanguageID(path string) string {
	return lang.Detect(path, nil)
}
