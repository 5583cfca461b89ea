package index

import (
	"context"
	"errors"

	"quarry/index/store"
	"quarry/index/walk"
)

// madeBy tells whether this quarry would read the texts of an index as it did.
const madeBy = analyzerVersion + "/" + walk.SecretTextVersion

// Where the store has the madeBy of the last whole scan that ended, and of the last
// that began: before the first ends, some files may be another quarry's.
const (
	scanEnded = "analyzer"
	scanBegan = "analyzer_begun"
)

// readAgain in place of a madeBy has the next whole scan read every file again, whatever is known of it.
const readAgain = "rebuild"

// readAllAgain has the next whole scan of a database read every file again. Where none has ended yet, none is
// said to have.
func readAllAgain(s *store.Store) error {
	ended, _, err := madeWith(context.Background(), s)
	switch {
	case err != nil:
		return err
	case ended == "":
		return s.PutMeta(scanBegan, readAgain)
	}
	return s.PutMeta(scanEnded, readAgain)
}

func madeWith(ctx context.Context, s *store.Store) (ended, began string, err error) {
	if ended, err = s.Meta(ctx, scanEnded); err == nil {
		began, err = s.Meta(ctx, scanBegan)
	}
	return ended, began, err
}

// forgetSecrets removes what an older quarry indexed and this one takes for a
// secret by its name, or the user's settings leave out by now, before anyone can find it. A secret by its text goes with the
// scan that follows; until then nobody is shown it, because texts are read anew.
//
// What a listing has, this very program has looked at, if it wrote that.
func forgetSecrets(x *Index, s *store.Store) error {
	ctx := context.Background()
	listed, err := x.state.openListing(ctx, s)
	if err != nil {
		return err
	}
	x.listed.Store(listed)
	var stats map[string]store.Stat
	if by := program(); listed != nil && by != "" && listed.list.Head.Program == by && len(x.cfg.Limits.Exclude) == 0 {
		stats = listed.rows
	} else if stats, err = s.Stats(ctx, ""); err != nil {
		return err
	}
	var b store.Batch
	for name := range stats {
		if walk.IsSecret(name) || x.root.Excludes(name) {
			b.Remove = append(b.Remove, name)
		}
	}
	if len(b.Remove) == 0 {
		return nil
	}
	b.Private = true
	x.listed.Store(nil)
	defer x.Kept().forgetExcluded()
	return errors.Join(s.WipeLater(), s.Apply(b))
}
