package assist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"short":                {"a b\nc\n", "a b\nc\n"},
		"a paragraph":          {"alpha beta gamma delta epsilon\n\nzeta", "alpha beta\ngamma delta\nepsilon\n\nzeta"},
		"a list":               {"- alpha beta gamma eps\n12. alpha beta gamma", "- alpha beta\n  gamma eps\n12. alpha\n    beta\n    gamma"},
		"below an item":        {"  alpha beta gamma", "  alpha beta\n  gamma"},
		"no block begins":      {"alpha beta - gamma 1. # delta", "alpha beta -\ngamma 1. #\ndelta"},
		"code in a line":       {"alpha beta `gamma delta`", "alpha beta\n`gamma delta`"},
		"no line break":        {"alpha beta  gamma\\ delta eps", "alpha\nbeta  gamma\\ delta\neps"},
		"a long word":          {"https://example.invalid/a/b/c alpha", "https://example.invalid/a/b/c\nalpha"},
		"other blocks":         {"# alpha beta gamma delta\n> alpha beta gamma delta\n| alpha beta gamma |\n    alpha beta gamma", "# alpha beta gamma delta\n> alpha beta gamma delta\n| alpha beta gamma |\n    alpha beta gamma"},
		"a fence":              {"````go\nalpha beta gamma delta\n```\nalpha beta gamma\n````\nalpha beta gamma delta\n", "````go\nalpha beta gamma delta\n```\nalpha beta gamma\n````\nalpha beta\ngamma delta\n"},
		"code in a line first": {"```a``` beta gamma\n```\nalpha beta gamma delta\n```\n", "```a``` beta\ngamma\n```\nalpha beta gamma delta\n```\n"},
		"blocks in items":      {"- # alpha beta gamma\n- > alpha beta gamma\n1. | alpha beta gamma\n-     alpha beta gamma", "- # alpha beta gamma\n- > alpha beta gamma\n1. | alpha beta gamma\n-     alpha beta gamma"},
		"no item":              {"1234567890. alpha", "1234567890.\nalpha"},
		"letters":              {"ä ö ü ß é è ê ñ", "ä ö ü ß é è\nê ñ"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, fold(c.text, 12)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A model may write a sign of a list as long as its answer, or many blanks where no line can end. A page is
// no larger for that.
func TestFoldOfHostileLines(t *testing.T) {
	const n = 20_000
	for name, text := range map[string]string{
		"blanks behind a sign": "-" + strings.Repeat(" ", n) + strings.Repeat("a ", n),
		"a long number":        strings.Repeat("1", n) + ". " + strings.Repeat("a ", n),
		"hard blanks":          strings.Repeat("a\\ ", n),
		"numbers":              strings.Repeat("1 ", n),
	} {
		if got := fold(text, pageColumns); len(got) > len(text)+len(text)/8 {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(text))
		}
	}
}

// Nothing is lost or added but line breaks and what indents behind them.
func TestFoldKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab `~#->1. \n\t|é")), 0, 80, -1).Draw(t, "text")
		got := fold(text, rapid.IntRange(1, 20).Draw(t, "columns"))
		if a, b := strings.Fields(text), strings.Fields(got); !cmp.Equal(a, b) {
			t.Fatalf("%q became %q", text, got)
		}
		if again := fold(got, 200); again != got {
			t.Fatalf("%q is folded once more to %q", got, again)
		}
	})
}
