package patch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"quarry/agent"
)

// T11: git and patch(1) apply what is shown, at the top of the folder, and make of the
// file what quarry would.
func TestDiffsApply(t *testing.T) {
	type edit = agent.TextEdit
	for _, c := range []struct {
		name, file, text string
		edits            []edit
		create           bool
	}{
		{"a line", "a.go", "package a\n\nfunc f() {}\n", []edit{{Start: 20, End: 22, New: " x() "}}, false},
		{"below a folder", "lib/deep/a.go", "one\ntwo\n", []edit{{Start: 0, End: 3, New: "1"}}, false},
		{"two places", "a.txt", strings.Repeat("line\n", 40), []edit{{Start: 0, End: 4, New: "first"}, {Start: 190, End: 194, New: "late"}}, false},
		{"ends of lines", "a.txt", "one\r\ntwo\r\n", []edit{{Start: 5, End: 8, New: "2\r\n3"}}, false},
		{"no end of the last line", "a.txt", "one\ntwo", []edit{{Start: 4, End: 7, New: "2"}}, false},
		{"gets an end", "a.txt", "one\ntwo", []edit{{Start: 7, End: 7, New: "\n"}}, false},
		{"a blank in its name", "my docs/a b.txt", "one\n", []edit{{Start: 0, End: 3, New: "1"}}, false},
		{"letters of other scripts", "docs/größe.txt", "one\n", []edit{{Start: 0, End: 3, New: "1"}}, false},
		{"quotes and tabs", "a\"b\tc\\d.txt", "one\n", []edit{{Start: 0, End: 3, New: "1"}}, false},
		{"emptied", "a.txt", "one\n", []edit{{Start: 0, End: 4}}, false},
		{"filled", "a.txt", "", []edit{{New: "one\n"}}, false},
		{"near places and then one among many alike", "a.txt", strings.Repeat("block\n", 100), []edit{
			{Start: 0, End: 5, New: "1"}, {Start: 12, End: 17, New: "3"}, {Start: 36, End: 41, New: "7\n8"},
			{Start: 60, End: 66, New: ""}, {Start: 540, End: 545, New: "late"}}, false},
		{"a new file", "new/a.txt", "", []edit{{New: "one\n"}}, true},
		{"a new file with a blank", "new one/a b.txt", "", []edit{{New: "one\n"}}, true},
		{"a new empty file", "new/a.txt", "", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, end := "", 0
			for _, e := range c.edits {
				want += c.text[end:e.Start] + e.New
				end = e.End
			}
			want += c.text[end:]
			diff := Unified(c.file, c.text, c.edits, c.create)
			for tool, args := range map[string][]string{"git": {"apply"}, "patch": {"-p1", "--quiet"}} {
				if _, err := exec.LookPath(tool); err != nil {
					t.Log("not applied with ", tool, ": ", err)
					continue
				}
				if tool == "patch" && (c.name == "emptied" || c.name == "a new empty file") {
					continue // it takes an empty file for none
				}
				dir := t.TempDir()
				path := filepath.Join(dir, filepath.FromSlash(c.file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if !c.create {
					if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(tool, args...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v, %s\n%s", tool, err, out, diff)
					continue
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%s makes %q of it, want %q (%v)\n%s", tool, got, want, err, diff)
				}
			}
		})
	}
}

// Edits of one line become one, since udiff copies the line for each; what the diff says is the same.
func TestEditsOfALineAreJoined(t *testing.T) {
	text := strings.Repeat(strings.Repeat("old() ", 30)+"\n", 4)
	var edits []agent.TextEdit
	var plain []udiff.Edit
	for at := range strings.Count(text, "old") / 3 {
		start := at / 10 * 181
		start += at % 10 * 18
		edits = append(edits, agent.TextEdit{Start: start, End: start + 3, New: "new"})
		plain = append(plain, udiff.Edit{Start: start, End: start + 3, New: "new"})
	}
	if list := byLine(text, edits); len(list) != 4 {
		t.Errorf("%d edits of 4 lines", len(list))
	}
	want, err := udiff.ToUnified("a/a.txt", "b/a.txt", text, plain, udiff.DefaultContextLines)
	if got := Unified("a.txt", text, edits, false); err != nil || got != numbered(want) {
		t.Errorf("%v: got\n%s\nwant\n%s", err, got, want)
	}
}
