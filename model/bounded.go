package model

import (
	"fmt"
	"io"
	"net/url"
	"path"
)

// mostBytes bounds what one answer may make quarry read, in bytes, by the path that was
// asked: whoever listens at the address may send without end.
func mostBytes(asked string) int64 {
	switch path.Base(asked) {
	case "pull": // progress, line by line, for as long as a download takes
		return 256 << 20
	case "show", "tags", "ps", "version", "models":
		// Decoded, a list of empty models takes a hundred times its length.
		return 1 << 20
	}
	return 8 << 20 // several times what the longest answer or the largest batch of vectors takes
}

// bounded is the body of an answer that fails beyond its bound.
type bounded struct {
	io.ReadCloser
	from *url.URL
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &problem{
			kind: ErrServer, what: fmt.Sprintf("%s answers without end", b.from.Host),
			fix: fmt.Sprintf("check the address, another program may listen there (%s)", b.from.Path),
		}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
