package link

import (
	"context"

	"quarry/index/store"
)

// Meaning answers what the imports and then the references of a file mean, in their
// order; what means nothing that is here is an empty list.
func Meaning(ctx context.Context, s *store.Store, file int64) (f *store.Referring, lists [][]target, err error) {
	err = s.View(ctx, func(v *store.View) error {
		if f, err = v.Referring(file); err != nil {
			return err
		}
		lists = resolve(v, f, newMemo(), 0, false)
		return v.Err()
	})
	return f, lists, err
}

// Likeness is how alike two signatures are.
var Likeness = likeness
