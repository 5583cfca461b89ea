package cli

import (
	"runtime"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Cleanup(func() { release, commit, date, changed = "", "", "", "" })
	tail := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	for _, c := range []struct{ release, commit, date, changed, line, name string }{
		{"1.2.3", "0123456789ab", "2026-11-22", "", "quarry 1.2.3 (commit 0123456789ab of 2026-11-22, " + tail, "1.2.3"},
		{"", "0123456789ab", "2026-11-22", "", "quarry unreleased (commit 0123456789ab of 2026-11-22, " + tail, "unreleased-0123456789ab"},
		{"", "0123456789ab", "", "", "quarry unreleased (commit 0123456789ab, " + tail, "unreleased-0123456789ab"},
		{"", "0123456789ab", "2026-11-22", "yes", "quarry unreleased (commit 0123456789ab of 2026-11-22 with changes, " + tail, "unreleased-0123456789ab"},
		{"", "", "", "", "quarry unreleased (" + tail, "unreleased"}, // a test's binary knows no commit
	} {
		release, commit, date, changed = c.release, c.commit, c.date, c.changed
		if got := ThisBuild().String(); got != c.line {
			t.Errorf("it says %q, want %q", got, c.line)
		}
		if got := Version(); got != c.name {
			t.Errorf("it calls itself %q, want %q", got, c.name)
		}
	}
}
