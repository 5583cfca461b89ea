package engines

import (
	"context"
	"testing"

	"quarry/lsp"
)

// Ollama names the files of a download one after the other, so that one that goes on would
// look complete after the first.
func TestADownloadThatGoesOnIsAsFarAsBefore(t *testing.T) {
	var d downloads
	start := func(name string) {
		t.Helper()
		if !d.begin(name, lsp.CommandPull, func(error) {}) {
			t.Fatalf("%s did not begin", name)
		}
	}
	is := func(percent int) {
		t.Helper()
		if p := d.state(); p.percent() != percent {
			t.Errorf("%s is at %d %%, want %d", p.name, p.percent(), percent)
		}
	}
	start("granite4:micro")
	d.progress(800, 800)
	d.progress(800, 2000)
	is(40)
	d.leave(lsp.ErrPaused)
	d.end(true)
	start("granite4:micro")
	is(40)
	d.progress(800, 800)
	is(40)
	d.progress(1500, 2000)
	is(75)
	d.leave(context.Canceled)
	d.end(false)
	start("another")
	d.progress(100, 400)
	is(25)
}
