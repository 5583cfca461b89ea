package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
)

// With no model ghost tells of each choice what is left to ask, of the suite and of two
// versions of a repository.
func TestGhostWithoutModel(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	var text, changed strings.Builder
	text.WriteString("package p\n\n")
	changed.WriteString("package p\n\n")
	for i := range 40 {
		block := fmt.Sprintf("// step%d adds.\nfunc step%d(total int, names []string) (int, error) {\n\tif len(names) < %d {\n\t\treturn fail(names[0], total)\n\t}\n\ttotal = next(total)\n\tsum(total)\n\treturn total + %d, nil\n}\n\n", i, i, i, i)
		text.WriteString(block)
		if i%10 == 5 {
			block = strings.Replace(block, "\tsum(total)\n", fmt.Sprintf("\tsum(total)\n\tcheckAgain(total, names, %d)\n", i), 1)
		}
		changed.WriteString(block)
	}
	writeText(t, at("suite.json"), `[{"name": "steps", "language": "go", "half": "held"}]`)
	for _, name := range []string{"corpus/steps/a.go", "corpus/steps/b.go", "old/steps/a.go"} {
		writeText(t, at(name), text.String())
	}
	writeText(t, at("new/steps/a.go"), changed.String())
	t.Setenv("HOME", t.TempDir())
	clitest.UserConfig(t, t.TempDir())
	t.Chdir(dir)
	suite := []string{"ghost", "--suite", "suite.json", "--corpus", "corpus", "--answers", "answers", "--missing", "prompts", "--model", "qwen2.5-coder:1.5b"}
	versions := []string{"ghost", "--before", "old", "--after", "new", "--answers", "answers", "--missing", "prompts", "--model", "qwen2.5-coder:1.5b"}
	prompts := func(args ...string) (out, list string) {
		t.Helper()
		code, out, errs := evaluate(t, args...)
		if code != cli.ExitOK {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		asked, err := os.ReadFile("prompts")
		if err != nil {
			t.Fatal(err)
		}
		return out, string(asked)
	}
	out, usual := prompts(suite...)
	if !strings.Contains(out, "Of the half held 0 of 40 holes are answered. Of the half fit 0 of 0 holes are answered.") || strings.Count(usual, "\n") != 80 {
		t.Errorf("%d prompts: %s", strings.Count(usual, "\n"), out)
	}
	if out, _ := prompts(append(suite, "--every", "4")...); !strings.Contains(out, "held 0 of 10 holes") {
		t.Errorf("one of four: %s", out)
	}
	if _, family := prompts(append(suite, "--form", "family")...); strings.Count(family, `"prompt":"<|repo_name|>steps`) != 40 {
		t.Errorf("in the family's form: %.2000s", family)
	}
	// Plain FIM's prompts are the same whatever is chosen, and the usual ones beside are quarry's.
	if _, beside := prompts(append(suite, "--no-head", "--beside")...); strings.Count(beside, "indent tabs") != 40 || strings.Count(beside, "\n") < 79 {
		t.Errorf("beside the usual prompt %d of %d have a header", strings.Count(beside, "indent tabs"), strings.Count(beside, "\n"))
	}
	out, edits := prompts(versions...)
	if !strings.Contains(out, "held 0 of 3 holes") || !strings.Contains(edits, "checkAgain") {
		t.Errorf("in real changes: %s", out)
	}
	shown := func(list string) int { return strings.Count(list, `// \tcheckAgain(total, names, `) }
	if _, none := prompts(append(versions, "--no-edits")...); shown(edits) <= shown(none) {
		t.Errorf("%d earlier changes are shown, without them %d", shown(edits), shown(none))
	}
	if code, out, errs := evaluate(t, "ghost", "--suite", "suite.json", "--corpus", "corpus", "--right", "--gate", "--model", "qwen2.5-coder:1.5b"); code != cli.ExitOK || !strings.Contains(out, "| all, held | 40 | ") || !strings.Contains(out, " : 40 | ") {
		t.Errorf("right answers: exit %d, %s\n%s", code, errs, out)
	}
	for want, args := range map[string][]string{
		"--form is one of comments, family, none": append(suite, "--form", "xml"),
		"or --before and --after":                 {"ghost", "--before", "old", "--answers", "answers"},
		"give --corpus":                           {"ghost", "--answers", "answers"},
		"give --answers, or --right":              {"ghost", "--corpus", "corpus"},
	} {
		if code, _, errs := evaluate(t, args...); code != cli.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
	if code, _, errs := evaluate(t, "ghost", "--before", "old", "--after", "old", "--answers", "answers", "--missing", "prompts"); code == cli.ExitOK || !strings.Contains(errs, "no file has two changes") {
		t.Errorf("nothing changed: exit %d, %q", code, errs)
	}
}
