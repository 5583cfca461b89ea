package syntax

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// within is n openings, something within, and n closings.
func within(open string, n int, text, shut string) string {
	return strings.Repeat(open, n) + text + strings.Repeat(shut, n)
}

// heredoc is a text that a word of n letters ends.
func heredoc(before string, n int, after string) string {
	word := strings.Repeat("A", n)
	return before + word + "\nx\n" + word + after + "\n"
}

// overrunning are texts for the states of scanners: as long as they can be kept,
// one more, and far beyond.
func overrunning() map[string][]string {
	texts := make(map[string][]string)
	add := func(language string, list ...string) { texts[language] = append(texts[language], list...) }
	for _, n := range []int{254, 255, 256, 510, 1014, 1015, 1024, 1500} {
		add("markdown", strings.Repeat(">", n)+" x\n", strings.Repeat("> ", n)+"x\n> y\n\nz\n", strings.Repeat("- ", n)+"x\n", strings.Repeat("1. > ", n)+"x\n")
		add("kotlin", "val x = "+within(`"${`, n, "1", `}"`)+"\n", "val x = "+strings.Repeat(`"${`, n)+"\n", "val x = "+strings.Repeat(`"""${`, n)+"\n")
		add("yaml", strings.Repeat("- ", n)+"x\n", strings.Repeat("? ", n)+"x\n", within("[", n, "x", "]")+"\n")
		add("csharp", "var x = "+within(`$"{`, n, "1", `}"`)+";\n", "var x = "+strings.Repeat(`$@"{`, n)+";\n")
		add("python", "x = "+within(`f"{`, n, "1", `}"`)+"\n", "x = "+strings.Repeat("f'''{", n)+"\n")
		add("hcl", "x = "+within(`"${`, n, "1", `}"`)+"\n", heredoc("x = <<", n, ""))
		add("ruby", "x = "+within(`"#{`, n, "1", `}"`)+"\n", heredoc("x = <<", n, ""), heredoc("x = <<~'", n, "'"), "x = [<<"+strings.Repeat("A, <<", n)+"A]\nA\n")
		add("shellscript", heredoc("cat <<", n, ""), heredoc("cat <<'", n, "'"), "cat"+strings.Repeat(" <<A", n)+"\nA\n", "x="+within(`"$(`, n, "y", `)"`)+"\n")
		add("php", "<?php\n"+heredoc("$x = <<<", n, ";"), "<?php\n$x = "+strings.Repeat("<<<A\n{$", n)+"\n")
		add("dockerfile", heredoc("RUN cat <<", n, ""), "RUN cat"+strings.Repeat(" <<A", n)+"\nA\n")
		add("html", strings.Repeat("<p-"+strings.Repeat("b", n)+">", 40), strings.Repeat("<div>", n)+"x\n", strings.Repeat("<a-b>", n)+"x\n")
		add("rust", `const X: &str = r`+within("#", n, `"x"`, "#")+";\n", within("/*", n, "", "*/")+"\n")
		add("swift", "let x = "+within("#", n, `"x"`, "#")+"\n", "let x = "+within(`#"\#(`, n, "1", `)"#`)+"\n", within("/*", n, "", "*/")+"\n")
		add("lua", "x = ["+strings.Repeat("=", n)+"[ x ]"+strings.Repeat("=", n)+"]\n")
		add("cpp", `auto x = R"`+strings.Repeat("A", n)+"(x)"+strings.Repeat("A", n)+"\";\n")
		add("sql", "SELECT $"+strings.Repeat("A", n)+"$ x $"+strings.Repeat("A", n)+"$;\n", "SELECT "+strings.Repeat("$$ $a$ ", n)+";\n")
		add("elixir", "x = "+within(`"#{`, n, "1", `}"`)+"\n", "x = ~s"+strings.Repeat("(", n)+"\n")
		add("javascript", "x = "+within("`${", n, "1", "}`")+"\n")
		add("typescriptreact", "x = "+within("<a>{", n, "1", "}</a>")+"\n")
		add("toml", "x = "+within("[", n, `"""x"""`, "]")+"\n")
		add("css", within("a { ", n, "", "}")+"\n")
	}
	add("scala", "object A:\n"+stairs("def a =", 515), "object A:\n"+stairs("def a =", 700))
	add("python", "if x:\n"+stairs("if x:", 300), "if x:\n"+stairs("if x:", 1100))
	add("yaml", "a:\n"+stairs("a:", 300), "a:\n"+stairs("a:", 700))
	return texts
}

// stairs is n lines, each indented by one more space.
func stairs(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%*s%s\n", i+1, "", line)
	}
	return b.String()
}

// TestScannersKeepWithinBounds reads texts that made scanners write beyond a buffer,
// fail an assertion or abort, the index's way and that of open documents. Both end
// the process if that happens again.
func TestScannersKeepWithinBounds(t *testing.T) {
	all := overrunning()
	for _, dir := range fixtureDirs(t) {
		language, sound := fixture(t, dir)
		texts := all[language]
		delete(all, language)
		if len(texts) == 0 {
			continue // no grammar, or no scanner
		}
		t.Run(dir, func(t *testing.T) {
			want, err := Analyze(language, sound)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				once, err := Analyze(language, []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				kept, err := Parse(language, []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if got := kept.Analyze(); len(got.Chunks) == 0 || len(once.Chunks) == 0 {
					t.Errorf("%.40q (%d bytes) has no chunks", text, len(text))
				}
				longer, err := kept.Update([]byte(text + "\n" + text))
				if err != nil {
					t.Fatal(err)
				}
				longer.Close()
				kept.Close()
			}
			if got, err := Analyze(language, sound); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("after such texts the fixture is read differently (%v)", err)
			}
		})
	}
	if len(all) > 0 {
		t.Errorf("no fixture is of %v", slices.Collect(maps.Keys(all)))
	}
}

// TestDeepQuotesKeepTheirBlocks: blocks that a scanner cannot count are text of the
// last that it can, and what follows is read.
func TestDeepQuotesKeepTheirBlocks(t *testing.T) {
	for _, n := range []int{254, 255, 5000} {
		f, err := Analyze("markdown", []byte("# A\n\n"+strings.Repeat(">", n)+" x\n\n# B\n\ny\n"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range f.Symbols {
			names = append(names, s.Name)
		}
		if len(f.Errors) != 0 || !reflect.DeepEqual(names, []string{"A", "B"}) {
			t.Errorf("%d quotes: symbols %q, errors at %v", n, names, f.Errors)
		}
	}
}

// TestEveryScannerIsGuarded: there are slots in guard.c for all grammars.
func TestEveryScannerIsGuarded(t *testing.T) {
	for name, l := range languages {
		if err := l.grammar.Load(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
