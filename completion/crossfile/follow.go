package crossfile

import (
	"context"

	"quarry/completion"
	"quarry/index"
)

// Follow keeps the source, and what e has learned of the repository, true to
// an index: first all that is in it, then every change, until ctx ends or the
// index is closed. e may be nil.
func (s *Source) Follow(ctx context.Context, x *index.Index, e *completion.Engine) error {
	for feed := x.Follow(); ; {
		updates, _, err := feed.Next(ctx)
		if err != nil {
			return err
		}
		for _, u := range updates {
			if u.File == nil {
				s.Remove(u.Path)
				if e != nil {
					e.Unlearn(u.Path)
				}
				continue
			}
			s.Put(u.Path, u.File.Syntax)
			if e != nil {
				e.Learn(u.Path, u.Text)
			}
		}
	}
}
