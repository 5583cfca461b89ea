package assist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"short":           {"a b\nc\n", "a b\nc\n"},
		"a paragraph":     {"alpha beta gamma delta epsilon\n\nzeta", "alpha beta\ngamma delta\nepsilon\n\nzeta"},
		"a list":          {"- alpha beta gamma eps\n12. alpha beta gamma", "- alpha beta\n  gamma eps\n12. alpha\n    beta\n    gamma"},
		"below an item":   {"  alpha beta gamma", "  alpha beta\n  gamma"},
		"no block begins": {"alpha beta - gamma 1. # delta", "alpha beta -\ngamma 1. #\ndelta"},
		"code in a line":  {"alpha beta `gamma delta`", "alpha beta\n`gamma delta`"},
		"no line break":   {"alpha beta  gamma\\ delta eps", "alpha\nbeta  gamma\\ delta\neps"},
		"a long word":     {"https://example.invalid/a/b/c alpha", "https://example.invalid/a/b/c\nalpha"},
		"other blocks":    {"# alpha beta gamma delta\n> alpha beta gamma delta\n| alpha beta gamma |\n    alpha beta gamma", "# alpha beta gamma delta\n> alpha beta gamma delta\n| alpha beta gamma |\n    alpha beta gamma"},
		"a fence":         {"````go\nalpha beta gamma delta\n```\nalpha beta gamma\n````\nalpha beta gamma delta\n", "````go\nalpha beta gamma delta\n```\nalpha beta gamma\n````\nalpha beta\ngamma delta\n"},
		"letters":         {"ä ö ü ß é è ê ñ", "ä ö ü ß é è\nê ñ"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, fold(c.text, 12)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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
