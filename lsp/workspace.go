package lsp

import (
	"context"

	"quarry/lsp/document"
	"quarry/lsp/wire"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Workspace follows what the editor and the disk say of the user's files. Paths are
// absolute file paths. None of its methods waits.
type Workspace interface {
	// SetRoots names the workspace folders.
	SetRoots(roots []string)
	// DidOpen, DidChange, DidSave and DidClose report documents in the editor,
	// whose text is the truth while they are open.
	DidOpen(path, text string)
	DidChange(path, text string)
	DidSave(path string)
	DidClose(path string)
	// FilesChanged reports files and folders changed on disk.
	FilesChanged(paths []string)
	// WatchFiles has the core look for changes on disk itself from here on.
	WatchFiles()
	// Busy holds background work back until leave is called.
	Busy() (leave func())
}

// DidChangeWatchedFiles implements workspace/didChangeWatchedFiles.
func (s *Server) DidChangeWatchedFiles(_ context.Context, params *protocol.DidChangeWatchedFilesParams) error {
	paths := make([]string, 0, len(params.Changes))
	for _, change := range params.Changes {
		paths = appendPath(paths, change.URI)
	}
	s.currentCore().FilesChanged(paths)
	return nil
}

// DidCreateFiles implements workspace/didCreateFiles.
func (s *Server) DidCreateFiles(_ context.Context, params *protocol.CreateFilesParams) error {
	var paths []string
	for _, f := range params.Files {
		paths = appendString(paths, string(f.URI))
	}
	s.currentCore().FilesChanged(paths)
	return nil
}

// DidRenameFiles implements workspace/didRenameFiles.
func (s *Server) DidRenameFiles(_ context.Context, params *protocol.RenameFilesParams) error {
	var paths []string
	for _, f := range params.Files {
		paths = appendString(appendString(paths, string(f.OldURI)), string(f.NewURI))
	}
	s.currentCore().FilesChanged(paths)
	return nil
}

// DidDeleteFiles implements workspace/didDeleteFiles.
func (s *Server) DidDeleteFiles(_ context.Context, params *protocol.DeleteFilesParams) error {
	var paths []string
	for _, f := range params.Files {
		paths = appendString(paths, string(f.URI))
	}
	s.currentCore().FilesChanged(paths)
	return nil
}

func appendPath(paths []string, u uri.URI) []string {
	if u.IsFile() {
		paths = append(paths, document.Path(u))
	}
	return paths
}

func appendString(paths []string, raw string) []string {
	u, err := wire.ParseURI(raw)
	if err != nil {
		return paths
	}
	return appendPath(paths, u)
}

// fileOperations asks to be notified of every file, which the index then judges.
func fileOperations() *protocol.FileOperationOptions {
	scheme := "file"
	all := protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{{
		Scheme: &scheme, Pattern: protocol.FileOperationPattern{Glob: "**"},
	}}}
	return &protocol.FileOperationOptions{DidCreate: all, DidRename: all, DidDelete: all}
}

// reportsFiles is whether the client can be asked to report changes on disk and
// keeps its word: Helix tells only of what it wrote itself.
func (s *Server) reportsFiles() bool {
	w := s.clientCaps.Workspace
	if w == nil || w.DidChangeWatchedFiles == nil || s.clientName == "helix" {
		return false
	}
	d := w.DidChangeWatchedFiles.DynamicRegistration
	return d != nil && *d
}
