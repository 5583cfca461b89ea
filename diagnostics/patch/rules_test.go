package patch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/agent"
)

// TestEveryRuleIsRemovable: each rule is what makes one change possible, that change
// names it, and without it the change is refused or needs another. What the shapes need beside that
// is logged.
func TestEveryRuleIsRemovable(t *testing.T) {
	const twice = "package p\n\nfunc a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n"
	const once = "package p\n\nfunc a() {\n\tone()\n\ttwo()\n\n\tthree()\n}\n"
	const head = "--- a/a.go\n+++ b/a.go\n"
	cases := map[Rule]struct{ text, diff string }{
		SearchBlock:      {once, "<<<<<<< SEARCH\n\ttwo()\n=======\n\tdos()\n>>>>>>> REPLACE\n"},
		TrailingSpace:    {once, head + "@@ @@\n \tone()  \n-\ttwo()\n+\t2()\n"},
		Indentation:      {once, head + "@@ @@\n     one()\n-    two()\n+    dos()\n"},
		InnerSpace:       {"a  =  1\nb\n", head + "@@ @@\n-a = 1\n+a = 2\n b\n"},
		BlankAdded:       {once, head + "@@ @@\n \tone()\n+\tx()\n\n+\ty()\n \ttwo()\n"},
		BareTail:         {once, head + "@@ @@\n-\ttwo()\n+\tdos()\nThis renames it.\n"},
		BlankEdge:        {once, head + "@@ @@\n \n-\ttwo()\n+\tdos()\n"},
		Elision:          {once, head + "@@ @@\n-\tone()\n+\tuno()\n ...\n-\tthree()\n+\ttres()\n"},
		SkippedBlanks:    {once, head + "@@ @@\n \ttwo()\n-\tthree()\n+\ttres()\n"},
		Fuzz:             {once, head + "@@ @@\n func z() {\n \tone()\n-\ttwo()\n+\tdos()\n"},
		InOrder:          {strings.Replace(twice, "}\n\n", "}\n\n// mid\n\n", 1), head + "@@ @@\n-// mid\n+// middle\n@@ @@\n-\tx()\n+\tz()\n }\n"},
		StatedLine:       {twice, head + "@@ -8,2 +8,2 @@\n-\tx()\n+\ty()\n }\n"},
		SameShift:        {"// new\n" + twice, head + "@@ -3,1 +3,2 @@\n func a() {\n+\ty()\n@@ -8,2 +9,2 @@\n-\tx()\n+\tz()\n }\n"},
		SectionHeader:    {twice, head + "@@ @@ func b() {\n-\tx()\n+\ty()\n"},
		WholeDeclaration: {once, "```go\nfunc a() {\n\tone()\n}\n```\n"},
	}
	for _, rule := range Rules() {
		c, ok := cases[rule]
		if !ok {
			t.Errorf("no case needs %s", rule)
			continue
		}
		t.Run(rule.String(), func(t *testing.T) {
			p := New(memory{"a.go": c.text}).For(agent.Document{Path: filepath.Join(memoryRoot, "a.go"), Language: "go", Text: c.text}, nil)
			got, err := p.Read(t.Context(), c.diff)
			if err != nil || !slices.Contains(got.Rules, rule.String()) {
				t.Fatalf("needed %q: %v", got.Rules, err)
			}
			// Of white space, a rule that forgives more may stand in.
			if got, err := p.Without(rule).Read(t.Context(), c.diff); err == nil && (len(got.Rules) == 0 || slices.Contains(got.Rules, rule.String())) {
				t.Errorf("without it, by %q:\n%s", got.Rules, got.Diff)
			}
		})
	}
	if names := len(ruleNames); names != len(Rules()) {
		t.Errorf("%d names of %d rules", names, len(Rules()))
	}
	fired := map[string]int{}
	for _, s := range shapes(t) {
		if p, err := s.patcher().Read(t.Context(), s.diff); err == nil {
			for _, r := range p.Rules {
				fired[r]++
			}
		}
	}
	t.Logf("in %d recorded shapes: %v", len(shapes(t)), fired)
}
