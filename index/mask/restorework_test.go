package mask

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// hostileChanges are texts of about size letters and what a change makes of their masked form, such
// that to hold each line, word or mask against each would take minutes.
func hostileChanges(size int) map[string][2]string {
	r := rand.New(rand.NewPCG(1, 2))
	one, two := "ghp_"+drawn(r, alnum, 36), "ghp_"+drawn(r, alnum, 36)
	twins := "[\n\"" + one + "\",\n\"" + two + "\"\n]\n" // what changes has to be told from them
	repeat := func(f func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(f(i))
		}
		return b.String()
	}
	calls := func(name string) string {
		return repeat(func(i int) string {
			var b strings.Builder
			fmt.Fprintf(&b, "def f%d(): %s()", i, name)
			for j := range 60 {
				fmt.Fprintf(&b, ";g%d()", j)
			}
			return b.String() + "\n"
		})
	}
	comments := strings.Repeat("# "+strings.Repeat("x", 100)+"\n", size/400)
	dense := func(first string) string {
		return first + " " + repeat(func(i int) string { return fmt.Sprintf("w%d ", i) }) + "\n"
	}
	pairs := func(from, to int) string {
		return repeat(func(i int) string { return fmt.Sprintf("a%d%s b%d\n", i, strings.Repeat("!", i%2*from+to), i) })
	}
	secret := "kind: Secret\nstringData:\n  password: ab1\n"
	slivers := "kind: Secret\nstringData:\n" + repeat(func(i int) string { return fmt.Sprintf("  k%d: \"a1 é%dé b2\"\n", i, i) })
	runs := repeat(func(i int) string { return fmt.Sprintf("f(q%dxx)\n", i) })
	var key strings.Builder
	for key.Len() < size {
		key.WriteString(drawn(r, base64Plain, 64) + "\n")
	}
	pem := "-----BEGIN RSA " + keyLabel + "-----\n" + key.String() + "-----END RSA " + keyLabel + "-----\n"
	changes := map[string][2]string{}
	add := func(name, text string, change func(shown string) string) {
		changes[name] = [2]string{text, change(Text(text))}
	}
	to := func(old, new string) func(string) string {
		return func(shown string) string { return strings.ReplaceAll(shown, old, new) }
	}
	add("a name in many lines, and x's that are no mask", calls("old")+comments, to("old()", "new()"))
	add("a name in many lines, behind secrets that look alike", twins+calls("old"), to("old()", "new()"))
	add("a name in one line of many words", twins+dense("old"), to("old", "new"))
	add("many lines that become one", twins+pairs(0, 1), func(string) string { return Text(twins) + dense("one") })
	add("a list whose lines look another way", twins+pairs(1, 1), func(string) string { return Text(twins) + pairs(0, 1) + pairs(1, 2) })
	add("runs of x's in one line", twins+repeat(func(int) string { return "xxxx " })+"old\n", to("old", "new"))
	add("runs of x's in one word, with a short secret", secret+repeat(func(int) string { return "xx1" })+"old\n", to("old", "new"))
	add("words with x's in many lines, with a short secret", secret+runs, to("f(", "g("))
	add("words with x's that come, and one that does not stand there", secret+runs, func(shown string) string {
		return shown + strings.ReplaceAll(runs, "f(", "h(")
	})
	add("short secrets, each with letters that show", slivers, to("k1", "l1"))
	add("the same, and none of them stays", slivers, to("é", "è"))
	add("a key of many lines", pem+"old\n", to("old", "new"))
	add("keys of many lines, between them a change", pem+"old\n"+pem, to("old", "new"))
	return changes
}

// What a change makes is judged in steps about as many as the text has letters.
func TestRestoreTakesLinearWork(t *testing.T) {
	const size = 20_000
	large := hostileChanges(8 * size)
	for name, small := range hostileChanges(size) {
		work := func(change [2]string) int {
			p := &pace{ctx: t.Context()}
			if _, err := restore(p, change[0], change[1], nil); err != nil && !errors.Is(err, ErrAlike) && !errors.Is(err, ErrUnknown) {
				t.Fatal(err)
			}
			return p.steps
		}
		few, many := work(small), work(large[name])
		if most := 250 * (len(large[name][0]) + len(large[name][1])); few == 0 || many > 24*few || many > most {
			t.Errorf("%s: %d steps, %d for a text eight times as long, %d at most", name, few, many, most)
		}
	}
}

// asks counts how often a context is asked, and ends it at one of them.
type asks struct {
	context.Context
	n, end int
}

func (a *asks) Err() error {
	if a.n++; a.n >= a.end {
		return context.Canceled
	}
	return nil
}

// A change that nobody waits for any more is left at the next look, wherever it is by then, and a look
// comes after few steps.
func TestRestoreEndsWithItsAsker(t *testing.T) {
	for name, change := range hostileChanges(60_000) {
		whole := &asks{Context: t.Context(), end: 1 << 30}
		p := &pace{ctx: whole}
		_, _ = restore(p, change[0], change[1], nil)
		if least := p.steps / (stride + 1<<17); whole.n < 2 || whole.n < least {
			t.Errorf("%s: asked %d times in %d steps", name, whole.n, p.steps)
		}
		for _, end := range []int{1, 2, whole.n / 2, whole.n} {
			ctx := &asks{Context: t.Context(), end: max(1, end)}
			if _, err := Restore(ctx, change[0], change[1], nil); !errors.Is(err, context.Canceled) || ctx.n > ctx.end+2 {
				t.Errorf("%s: ended at look %d of %d, asked %d times: %v", name, ctx.end, whole.n, ctx.n, err)
			}
		}
	}
}

func TestReadBesideEndsWithItsAsker(t *testing.T) {
	ctx := &asks{Context: t.Context(), end: 2}
	if b, err := ReadBeside(ctx, "a", "b", "c"); !errors.Is(err, context.Canceled) || ctx.n != 2 {
		t.Errorf("%v, %v after %d looks", b, err, ctx.n)
	}
}

// What is found by words laid out once is what is found by holding each line against each.
func TestLinesAreHeldAgainstEachOther(t *testing.T) {
	flipped := func(was, is []string) bool {
		last := -1
		for _, w := range was {
			at := slices.Index(is, w)
			if at < 0 || slices.Contains(is[at+1:], w) || slices.Index(was, w) != slices.IndexFunc(was, func(o string) bool { return o == w }) || strings.Count(" "+strings.Join(was, "  ")+" ", " "+w+" ") > 1 {
				continue
			}
			if at < last {
				return true
			}
			last = at
		}
		return false
	}
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	const rounds = 4000
	for range rounds {
		draw := func() (list []listed) {
			for range 1 + r.IntN(4) {
				words := make([]string, 1+r.IntN(4))
				for k := range words {
					words[k] = string(rune('a' + r.IntN(12)))
				}
				list = append(list, listed{words: words, key: strings.Join(words, " ")})
			}
			return list
		}
		was, is := draw(), draw()
		want := false
		for _, g := range was {
			for _, c := range is {
				stands := func(l listed, list []listed) bool {
					return slices.ContainsFunc(list, func(o listed) bool { return o.key == l.key })
				}
				want = want || len(g.words) > 1 && len(c.words) > 1 && !stands(g, is) && !stands(c, was) && flipped(g.words, c.words)
			}
		}
		distinct := func(list []listed) bool {
			keys := map[string]bool{}
			for _, l := range list {
				keys[l.key] = true
			}
			return len(keys) == len(list)
		}
		if !distinct(was) || !distinct(is) {
			continue
		}
		if got := ofALine(&pace{ctx: t.Context()}, was, is); got != want {
			t.Fatalf("%v and %v: %t, want %t", was, is, got, want)
		}
		if want {
			found++
		}
	}
	if found < rounds/20 || found > rounds*19/20 {
		t.Errorf("%d of %d had another order", found, rounds)
	}
}

// A few pieces are looked for as many are.
func TestFinder(t *testing.T) {
	f := finder{text: strings.Repeat("abc", 40) + "é\xffz"}
	for i := range 4 * fewPieces {
		piece := strings.Repeat("abc", i)[i/2:]
		for _, p := range []string{piece, piece + "é", "é" + piece, piece + "b"} {
			if got, want := f.has(p), strings.Contains(f.text, p); got != want {
				t.Errorf("%q: %t, want %t", p, got, want)
			}
		}
	}
}
