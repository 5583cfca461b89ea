//go:build editors

package nvim_test

import (
	"testing"

	"quarry/editors/editortest"
)

// A small file in an empty folder, and no model: what everybody writes there is offered, and what the file itself says.
func TestFirstSignOfLifeWithoutAModel(t *testing.T) {
	const file = "package main\n\nimport \"os\"\n\nfunc main() {\n"
	p := openQuarry(t, "127.0.0.1:1", file)
	p.Press("G", "o")
	p.Type("f, err := os.Open(\"list.txt\")\n")
	p.Type("i")
	p.Insist("the usual check", func() { p.Press("BSpace", "i") }, func(s editortest.Screen) bool { return ghost(s) == "f err != nil {" })
	p.Press("Tab")
	p.typeForGhost("\nlog.Fatal(", "err)")
	p.Press("Tab")
	p.waitForSaved(file + "\tf, err := os.Open(\"list.txt\")\n\tif err != nil {\n\t\tlog.Fatal(err)\n")
}
