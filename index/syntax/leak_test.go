//go:build unix

package syntax

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"quarry/index/syntax/treesitter"
)

// mostMemory is how much the process has held at once so far, in a unit that
// differs by system.
func mostMemory(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return int64(usage.Maxrss)
}

// TestReadingLeavesNoMemory reads a text again and again whose scanner takes memory
// that is not Go's: only the system sees it leak.
func TestReadingLeavesNoMemory(t *testing.T) {
	body := strings.Repeat("  SELECT a + b, c FROM t WHERE x = 1 AND y = 2;\n", 400)
	text := []byte("CREATE FUNCTION f() RETURNS INTEGER AS $$\n" + body + "$$ LANGUAGE sql;\n")
	read := func(times int) {
		for range times {
			if _, err := Analyze("sql", text); err != nil {
				t.Fatal(err)
			}
			tree, err := Parse("sql", text)
			if err != nil {
				t.Fatal(err)
			}
			tree.Close()
		}
	}
	read(50)
	before := mostMemory(t)
	read(150)
	if after := mostMemory(t); after > before*3/2 {
		t.Errorf("reading a text of %d bytes 150 times took the process from %d to %d", len(text), before, after)
	} else {
		t.Logf("%d before, %d after", before, after)
	}
}

// What a parse that was left has taken is free again: at once, or, where it had the tree
// of an older version, once that is closed.
func TestLeftParsesFreeTheirMemory(t *testing.T) {
	const limit = 20_000
	junk := strings.Repeat("%w[", 8_000)
	left := func(g *treesitter.Grammar, old *treesitter.Tree, text string) {
		t.Helper()
		if tree, took := g.Parse(old, []byte(text), limit); tree != nil {
			t.Fatalf("%d bytes were parsed in %d us, which shows nothing", len(text), took)
		}
	}
	ruby := strings.Repeat("x = <<A + \"#{%w[\n", 8_000) // its scanner has memory of its own
	round := func() {
		c := languageFor("c").grammar
		left(c, nil, junk)
		left(languageFor("ruby").grammar, nil, ruby)
		nodes, release := c.Nodes([]byte(junk), limit)
		if nodes != nil {
			t.Fatal("it has nodes")
		}
		release()
		sound := strings.Repeat("int f(int a) { return g(a, 1); }\n", 3_000)
		tree, _ := c.Parse(nil, []byte(sound), parseLimit(len(sound)))
		if tree == nil {
			t.Fatal("no tree")
		}
		other := tree.Copy()
		left(c, tree, sound+junk)
		tree.Close()
		// What others have of the older version is as it was.
		nodes, release = other.Nodes()
		once, releaseOnce := c.Nodes([]byte(sound), parseLimit(len(sound)))
		if !slices.Equal(nodes, once) {
			t.Error("the tree before changed")
		}
		releaseOnce()
		release()
		if next, _ := c.Parse(other, []byte("int x;\n"+sound), parseLimit(len(sound))); next == nil {
			t.Error("no tree of what was edited after that")
		} else {
			next.Close()
		}
		other.Close()
	}
	for range 5 {
		round()
	}
	// A leak takes more at every batch. On a loaded machine, Go's own memory grows at one of them:
	// what it collects waits for the processor.
	first := mostMemory(t)
	grown := []int64{first}
	for range 4 {
		for range 20 {
			round()
		}
		before := grown[len(grown)-1]
		after := mostMemory(t)
		grown = append(grown, after)
		if after <= before+first/4 {
			t.Logf("%d", grown)
			return
		}
	}
	t.Errorf("every 20 parses that were left took more memory: %d", grown)
}
