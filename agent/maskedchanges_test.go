package agent_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/index/systest"
)

// What an agent proposes where no editor applies it is a diff for git: it writes no mask, and
// one that git does not take is said to be one.
func TestAgentsWriteNoMasks(t *testing.T) {
	systest.NeedProgram(t, "git")
	const one, two = "ghp_q7Zp2LxV9sKd4TnB8wRf3MhY6cGj1EuA5oQi", "ghp_r8Aq3MyW0tLe5UoC9xSg4NiZ7dHk2FvB6pRj"
	const mask = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	text := "package a\n\nfunc one() {\n\tprod(\"" + one + "\")\n\tdev(\"" + two + "\")\n}\n\nfunc far() {\n\ta()\n\tb()\n\tc()\n\td()\n\te()\n}\n"
	shown := strings.NewReplacer(one, mask, two, mask).Replace(text)
	own := "package a\n\n// such as " + mask + "\nfunc own() {\n\ta()\n}\n"
	dir := folderWith(t, map[string]string{"a.go": text, "own.go": own, "none.go": "package a\n\nfunc none() {\n\tprod()\n}\n"})
	box, _ := agentOn(t, dir)
	for _, tt := range []struct {
		name, file, diff string
		want             string // in the message; "" if git takes the diff
	}{
		{"a line with a token", "a.go", " func one() {\n-\tprod(\"" + mask + "\")\n+\tlive(\"" + mask + "\")\n \tdev(\"" + mask + "\")\n", "leave the lines with a masked secret"},
		{"two trade places", "a.go", " func one() {\n-\tprod(\"" + mask + "\")\n \tdev(\"" + mask + "\")\n+\tprod(\"" + mask + "\")\n }\n", "leave the lines with a masked secret"},
		{"one is removed", "a.go", " func one() {\n-\tprod(\"" + mask + "\")\n \tdev(\"" + mask + "\")\n", "change these lines by hand"},
		{"beside a token", "a.go", " \tdev(\"" + mask + "\")\n+\tlog()\n }\n", "git apply does not take this diff"},
		{"far from a token", "a.go", " \td()\n-\te()\n+\tf()\n }\n", ""},
		{"a mask from elsewhere", "none.go", "-\tprod()\n+\tprod(\"" + mask + "\")\n", "masked secret (xxxx)"},
		{"the user's own x's", "own.go", "-// such as " + mask + "\n+// like " + mask + "\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := box.Call(t.Context(), "apply_unified_diff", arguments(t, map[string]any{"diff": "--- a/" + tt.file + "\n+++ b/" + tt.file + "\n@@\n" + tt.diff}))
			if e.Error == nil || !strings.Contains(e.Error.Message, tt.want) || strings.Contains(string(e.Data), one) || strings.Contains(string(e.Data), two) {
				t.Fatalf("%+v %s, want %q", e.Error, e.Data, tt.want)
			}
			var data struct{ Diff string }
			if len(e.Data) > 0 && json.Unmarshal(e.Data, &data) != nil {
				t.Fatalf("%s", e.Data)
			}
			diff := data.Diff
			cmd := exec.Command("git", "apply", "--check", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			out, err := cmd.CombinedOutput()
			if taken := diff != "" && err == nil; taken != (tt.want == "") {
				t.Errorf("git takes it: %v (%v %s)\n%s\n%s", taken, err, out, e.Error.Message, diff)
			}
		})
	}
	// By a range.
	at := strings.Count(text[:strings.Index(text, "\tprod(")], "\n") + 1
	edit := map[string]any{"path": "a.go", "edits": []map[string]any{{"start_line": at, "start_col": 1, "end_line": at, "end_col": 5, "replacement": "\tlive"}}}
	if e := box.Call(t.Context(), "apply_text_edits", arguments(t, edit)); e.Error == nil || !strings.Contains(e.Error.Message, "masked secret") {
		t.Errorf("by a range: %+v %s", e.Error, e.Data)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(now) != text || shown == text {
		t.Errorf("the file is %q, %v", now, err)
	}
}
