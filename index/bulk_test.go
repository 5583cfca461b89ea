package index

import "testing"

// Of several percentages the smallest counts, and the usual one when all ended; one that
// the user chose stays, and none is above the usual one where addresses are limited.
func TestCollector(t *testing.T) {
	percent, limited := usualGCPercent, false
	c := collector{set: func(p int) int {
		before := percent
		percent = p
		return before
	}, limited: func() bool { return limited }}
	want := func(p int) {
		t.Helper()
		if percent != p {
			t.Errorf("%d %%, want %d", percent, p)
		}
	}
	bulk := c.ask(200)
	want(200)
	load, again := c.ask(40), c.ask(40)
	want(40)
	load()
	load() // a second call undoes nothing
	want(40)
	again()
	want(200)
	bulk()
	want(usualGCPercent)

	limited = true
	brief := c.ask(briefGCPercent)
	want(usualGCPercent)
	load = c.ask(40)
	want(40)
	load()
	brief()
	want(usualGCPercent)

	percent = 50 // GOGC
	bulk = c.ask(200)
	want(50)
	c.ask(40)()
	bulk()
	want(50)
}
