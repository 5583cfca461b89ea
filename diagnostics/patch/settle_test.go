package patch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// settledByRounds is what settling means: every hunk with every rule, again and again,
// until nothing more is learned.
func settledByRounds(t *text, open [][]*match) {
	bounds := func(i int) (low, high int) {
		high = int(^uint(0) >> 1)
		for k := i - 1; k >= 0; k-- {
			if len(open[k]) == 1 {
				low = open[k][0].last
				break
			}
		}
		for k := i + 1; k < len(open); k++ {
			if len(open[k]) == 1 {
				high = open[k][0].first
				break
			}
		}
		return low, high
	}
	known := func() (d drift) {
		for _, list := range open {
			if len(list) == 1 {
				d.learn(list[0])
			}
		}
		return d
	}
	below := func(list []*match) []*match {
		want := spaced.norm(list[0].hunk.section)
		var at []int
		for i, l := range t.at(spaced) {
			if strings.HasPrefix(l, want) {
				at = append(at, i)
			}
		}
		if want == "" || len(at) != 1 {
			return nil
		}
		for _, m := range list {
			if m.last > at[0] {
				for i := at[0] + 1; i < m.first; i++ {
					if t.beginsLike(i, at[0]) {
						return nil
					}
				}
				return []*match{m}
			}
		}
		return nil
	}
	rules := []func(i int) []*match{
		func(i int) []*match {
			low, high := bounds(i)
			return slices.DeleteFunc(slices.Clone(open[i]), func(m *match) bool { return m.first < low || m.last > high })
		},
		func(i int) []*match { return only(open[i], (*match).stated) },
		func(i int) []*match { return only(open[i], known().of) },
		func(i int) []*match { return below(open[i]) },
	}
	for again := true; again; {
		again = false
		for i := range open {
			for _, keep := range rules {
				if len(open[i]) <= 1 {
					break
				}
				if kept := keep(i); len(kept) > 0 && len(kept) < len(open[i]) {
					open[i], again = kept, true
				}
			}
		}
	}
}

// TestSettlesAsByRounds: however little is looked at again, each hunk keeps the places that
// it has where all is.
func TestSettlesAsByRounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "func d", "\te", "\tf", "g"}), 2, 40).Draw(rt, "lines")
		src := cut(strings.Join(lines, "\n") + "\n")
		var diff strings.Builder
		diff.WriteString("--- a/x\n+++ b/x\n")
		for range rapid.IntRange(2, 12).Draw(rt, "hunks") {
			from := rapid.IntRange(0, len(lines)-1).Draw(rt, "from")
			to := min(len(lines), from+rapid.IntRange(1, 3).Draw(rt, "size"))
			stated := from + 1 + rapid.SampledFrom([]int{0, 0, 0, 1, 2, -1}).Draw(rt, "off")
			header := rapid.SampledFrom([]string{"@@ @@", "@@ @@ func", "@@ @@ a", fmt.Sprintf("@@ -%d,%d +%[1]d,%[2]d @@", max(stated, 1), to-from)}).Draw(rt, "header")
			fmt.Fprintf(&diff, "%s\n-%s\n+z\n", header, strings.Join(lines[from:to], "\n-"))
		}
		files, refusal := read(diff.String())
		if refusal != nil {
			rt.Skip(refusal)
		}
		candidates := func() (*text, [][]*match) {
			x := &text{src: src, ctx: t.Context()}
			x.allow(maxCompared)
			var open [][]*match
			for _, h := range files[0].hunks {
				found, refusal := x.candidates(h)
				if refusal != nil {
					rt.Skip(refusal)
				}
				open = append(open, found...)
			}
			return x, open
		}
		x, got := candidates()
		x.settle(got)
		y, want := candidates()
		settledByRounds(y, want)
		for i := range want {
			at := func(list []*match) (lines []int) {
				for _, m := range list {
					lines = append(lines, m.first)
				}
				return lines
			}
			if !slices.Equal(at(got[i]), at(want[i])) {
				rt.Fatalf("hunk %d at %v, by rounds at %v, in %q of\n%s", i+1, at(got[i]), at(want[i]), lines, diff.String())
			}
		}
	})
}

// oneARound is a text and a diff of n hunks of which each round settles one only: the line of
// each stands once more where the next one's place says that it cannot be.
func oneARound(n int) (text, diff string) {
	var a, b strings.Builder
	a.WriteString("x1\n")
	b.WriteString("--- a/a.txt\n+++ b/a.txt\n@@ zz\n-x1\n+y\n")
	for i := 2; i <= n; i++ {
		fmt.Fprintf(&a, "x%d\nx%d\n", i, i-1)
		fmt.Fprintf(&b, "@@ zz\n-x%d\n+y\n", i)
	}
	return a.String(), b.String()
}

// TestSettlingIsBounded: hunks that a round settles one of are settled in what a thousand
// comparisons for each take, where they may be some thousand, and refused where there may not be
// as many; who has left waits for neither.
func TestSettlingIsBounded(t *testing.T) {
	const n = 1000
	body, diff := oneARound(n)
	files, refusal := read(diff)
	if refusal != nil {
		t.Fatal(refusal)
	}
	x := &text{src: cut(body), ctx: t.Context()}
	x.allow(maxCompared)
	open := make([][]*match, n)
	for i, h := range files[0].hunks {
		open[i] = x.locations(h)
	}
	again := slices.Clone(open)
	x.allow(maxCompared)
	x.settle(open)
	for i, list := range open {
		if len(list) != 1 {
			t.Fatalf("hunk %d is left at %d places", i+1, len(list))
		}
	}
	if steps := maxCompared - x.left; steps > n*n*3/2 {
		t.Errorf("%d hunks took %d steps", n, steps)
	}
	x.allow(n * n / 4)
	if x.settle(again); !x.spent() {
		t.Error("settled in fewer steps than there are pairs")
	}
	if _, refusal := place(t.Context(), x.src, files[0].hunks, n*n/2, 0); refusal == nil || refusal.Reason != TooLarge {
		t.Errorf("with too few steps: %v", refusal)
	}

	m := memory{"a.txt": body}
	ctx := &ends{t.Context(), 1 << 30}
	if _, err := New(m).Patch(ctx, diff); err != nil {
		t.Fatal(err)
	}
	all := 1<<30 - ctx.left
	if all < 20 {
		t.Errorf("%d looks", all)
	}
	for _, at := range []int{0, 1, all / 4, all / 2, all * 3 / 4, all - 1} {
		ctx := &ends{t.Context(), at}
		if _, err := New(m).Patch(ctx, diff); !errors.Is(err, context.Canceled) || ctx.left < -8 {
			t.Errorf("ended at look %d of %d: %v, and %d looks more", at, all, err, -ctx.left)
		}
	}
}
