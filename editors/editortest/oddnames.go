package editortest

import (
	"fmt"
	"strings"
)

// OddNames are names of files that frameworks and people use and that a renderer of Markdown, or an editor that looks for a path, may
// read as something else; an answer cites as many as stand in a row.
var OddNames = [][]string{
	{"app/(shop)/[id]/page.tsx", "blog/[slug].ts", "pkg/__init__.py", "src/routes/+page@home.ts", "a*b.ts", "my docs/read me.ts"},
	{"__main__.py", "__tests__/a.test.ts", "(group)/page@x.tsx", "$id.tsx", "a+b.ts", "_lib_/x_.ts"},
}

// OddQuestions ask for the files of OddNames.
var OddQuestions = []string{"where are zebras counted?", "where are yaks counted?"}

// OddLine is the line of each that is cited, and OddCode what stands there.
const (
	OddLine = 3
	OddCode = "counted here"
)

// OddFiles are the files of OddNames by name.
func OddFiles() map[string]string {
	files := map[string]string{}
	for row, names := range OddNames {
		what := strings.Fields(OddQuestions[row])[2]
		for i, name := range names {
			text := fmt.Sprintf("// %s of field %d\nexport function %s%d%d(field: string[]) {\n  return field.length * %d; // %s %s %d\n}\n", what, i, what, row, i, i+2, what, OddCode, i)
			if strings.HasSuffix(name, ".py") {
				text = fmt.Sprintf("# %s of field %d\ndef %s%d%d(field):\n    return len(field) * %d  # %s %s %d\n", what, i, what, row, i, i+2, what, OddCode, i)
			}
			files[name] = text
		}
	}
	return files
}

// OddAnswer is what a model that has read OddFiles answers to one of OddQuestions, in pieces; nothing to another prompt.
func OddAnswer(prompt string) []string {
	for row, question := range OddQuestions {
		if !strings.Contains(prompt, question) {
			continue
		}
		text := "They are **counted** field by field, as __init__ wants it.\n\n"
		for i, name := range OddNames[row] {
			text += fmt.Sprintf("- field %d (%s:%d)\n", i, name, OddLine)
		}
		return strings.SplitAfter(text, " ")
	}
	return nil
}
