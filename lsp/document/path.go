package document

import (
	"runtime"

	"go.lsp.dev/uri"
)

// Platform has the rules by which the system writes paths.
func Platform() uri.Platform {
	if runtime.GOOS == "windows" {
		return uri.PlatformWindows
	}
	return uri.PlatformPOSIX
}

// Path is where the file of a URI is, as Go names it on this system. file:///C:/ws and
// file:///c%3A/ws are one folder, and so must their paths be: the index has it with the
// capital letter that Windows and Go write.
func Path(u uri.URI) string { return PathFor(u, Platform()) }

// PathFor is Path by the rules of a system.
func PathFor(u uri.URI, p uri.Platform) string {
	path := uri.FsPathFor(u, p, false)
	if p == uri.PlatformWindows && len(path) > 1 && path[1] == ':' && 'a' <= path[0] && path[0] <= 'z' {
		path = string(path[0]-'a'+'A') + path[1:]
	}
	return path
}
