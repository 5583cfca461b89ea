package lsp

import (
	"context"
	"os"
	"time"
)

// lookAtFile is how often the user's settings file is looked at: often enough that a change
// seems to apply at once, and too seldom to keep a laptop awake.
const lookAtFile = 2 * time.Second

// stamp tells one state of a file from another.
type stamp struct {
	size, changed int64
	there         bool
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano(), true}
}

// followSettingsFile applies the settings again whenever the user's file is another than it was
// at before, until ctx ends.
func (s *Server) followSettingsFile(ctx context.Context, before stamp) error {
	tick := time.NewTicker(lookAtFile)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := stampOf(s.opts.SettingsFile)
		if now == before {
			continue
		}
		before = now
		if err := s.applySettings(); err != nil {
			return err
		}
	}
}
