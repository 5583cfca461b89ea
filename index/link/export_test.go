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

// Similarity is how alike two signatures are.
var Similarity = similarity

// Looks answers how much is looked at for a file whose question may look at most so often, and
// which of its imports and references mean something. What ends is called when the question is
// under way.
func Looks(ctx context.Context, s *store.Store, file int64, most int, ends func()) (looked, meant int, err error) {
	err = s.View(ctx, func(v *store.View) error {
		f, err := v.Referring(file)
		if err != nil {
			return err
		}
		r := newResolver(v, f, newMemo(), 0, false)
		r.work.left, r.work.until = most, most-betweenLooks
		ends()
		for _, list := range r.all() {
			if len(list) > 0 {
				meant++
			}
		}
		looked = most - r.work.left
		return v.Err()
	})
	return looked, meant, err
}

const MaxLooks, BetweenLooks = maxLooks, betweenLooks
