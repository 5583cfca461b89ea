package retrieval

import (
	"path"
	"strconv"
	"strings"
)

// oldVersions finds files of a version that is kept for those who still need it: under
// a folder such as v1 that has a sibling of a later one, or under v0 or v1 in a folder
// most of whose files' names it repeats.
func oldVersions(files []*file) bitset {
	latest := map[string]int{} // parent folder to the latest version in it
	each := func(p string, visit func(parent string, version int)) {
		for at := 0; ; {
			n := strings.IndexByte(p[at:], '/')
			if n < 0 {
				return
			}
			if v, err := strconv.Atoi(strings.TrimPrefix(p[at:at+n], "v")); err == nil && p[at] == 'v' {
				visit(p[:at], v)
			}
			at += n + 1
		}
	}
	paths := make(map[string]bool, len(files))
	for i := range files {
		paths[files[i].path] = true
		each(files[i].path, func(parent string, v int) { latest[parent] = max(latest[parent], v) })
	}
	type count struct{ files, repeated int }
	inside := map[string]count{} // of the folders v0 and v1, by their parent
	for i := range files {
		folder, name := path.Split(files[i].path)
		parent, ok := strings.CutSuffix(folder, "v1/")
		if !ok {
			parent, ok = strings.CutSuffix(folder, "v0/")
		}
		if ok && (parent == "" || strings.HasSuffix(parent, "/")) {
			c := inside[parent]
			c.files++
			if paths[parent+name] {
				c.repeated++
			}
			inside[parent] = c
		}
	}
	old := bitset{}
	for i := range files {
		each(files[i].path, func(parent string, v int) {
			if c := inside[parent]; v < latest[parent] || v < 2 && 2*c.repeated > c.files {
				old = old.with(i)
			}
		})
	}
	return old
}
