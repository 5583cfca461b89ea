package patch

import (
	"github.com/aymanbagabas/go-udiff"

	"quarry/agent"
)

// Unified writes the edits of a file as a unified diff with git's names, as git
// and patch(1) take it. create says that the file is new. It is "" without
// edits, save for a new file.
func Unified(name, text string, edits []agent.TextEdit, create bool) string {
	from, to := "a/"+name, "b/"+name
	if create {
		from = "/dev/null"
	}
	list := make([]udiff.Edit, len(edits))
	for i, e := range edits {
		list[i] = udiff.Edit{Start: e.Start, End: e.End, New: e.New}
	}
	diff, err := udiff.ToUnified(from, to, text, list, udiff.DefaultContextLines)
	if err != nil { // edits are sorted, within the text, and do not overlap
		panic("patch: " + err.Error())
	}
	if diff == "" && create {
		return "--- " + from + "\n+++ " + to + "\n"
	}
	return diff
}
