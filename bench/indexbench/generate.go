package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// makeTree writes n small files of five languages, 100 a folder, that call each
// other.
func makeTree(dir string, n int) error {
	for i := range n {
		pkg := fmt.Sprintf("part%02d/pkg%03d", i/1000, i/100)
		next := (i*7919 + 13) % n
		var name, text string
		switch i % 5 {
		case 0:
			name = fmt.Sprintf("file%d.go", i)
			text = goFile(i, next)
		case 1:
			name = fmt.Sprintf("module%d.py", i)
			text = fmt.Sprintf("\"\"\"Module %d handles orders.\"\"\"\n\nfrom ..pkg%03d import module%d\n\n\nclass Order%d:\n    \"\"\"An order.\"\"\"\n\n    def total%d(self, items):\n        return sum(item.price for item in items)\n\n\ndef load%d(path):\n    with open(path) as f:\n        return [line.strip() for line in f]\n", i, next/100, next, i, i, i)
		case 2:
			name = fmt.Sprintf("widget%d.ts", i)
			text = fmt.Sprintf("import { render%d } from '../pkg%03d/widget%d';\n\n/** A widget. */\nexport interface Props%d { title: string; count: number }\n\nexport function render%d(props: Props%d): string {\n  const parts = [props.title, String(props.count)];\n  return parts.join(' ') + render%d(props);\n}\n", next, next/100, next, i, i, i, next)
		case 3:
			name = fmt.Sprintf("unit%d.c", i)
			text = fmt.Sprintf("#include <stdio.h>\n#include \"unit%d.h\"\n\n/* Adds numbers. */\nstatic int add%d(int a, int b)\n{\n\treturn a + b;\n}\n\nint run%d(void)\n{\n\tprintf(\"%%d\\n\", add%d(1, 2));\n\treturn 0;\n}\n", next, i, i, i)
		default:
			name = fmt.Sprintf("notes%d.md", i)
			text = fmt.Sprintf("# Notes %d\n\nHow part %d talks to part %d.\n\n## Details\n\n%s\n", i, i, next, strings.Repeat("A line about the protocol and its states.\n", 12))
		}
		at := filepath.Join(dir, filepath.FromSlash(pkg), name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func goFile(i, next int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package pkg%03d is generated.\npackage pkg%03d\n\nimport \"fmt\"\n\n", i/100, i/100)
	for f := range 4 {
		fmt.Fprintf(&b, "// Handle%d_%d answers a request.\nfunc Handle%d_%d(name string, count int) error {\n\tif count < 0 {\n\t\treturn fmt.Errorf(\"handle %%s: %%d\", name, count)\n\t}\n\treturn Handle%d_%d(name, count-1)\n}\n\n", i, f, i, f, next-next%5, (f+1)%4)
	}
	return b.String()
}
