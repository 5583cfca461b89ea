package store

import (
	"database/sql/driver"
	"slices"
)

// renames moves the records of removed files to new files with the same text and
// answers the removals that are left.
func (p *put) renames(b Batch) ([]string, error) {
	if len(b.Remove) == 0 || len(b.Put) == 0 {
		return b.Remove, nil
	}
	added := map[Hash][]*Document{}
	for _, d := range b.Put {
		known := false
		if err := p.w.query("SELECT 1 FROM files WHERE path = ?", func([]driver.Value) error { known = true; return nil }, d.Path); err != nil {
			return nil, err
		}
		if !known {
			added[d.Hash] = append(added[d.Hash], d)
		}
	}
	var gone []string
	for _, old := range b.Remove {
		var id int64
		var hash Hash
		var language string
		err := p.w.query("SELECT id, hash, language FROM files WHERE path = ?", func(r []driver.Value) error {
			id, language = r[0].(int64), r[2].(string)
			copy(hash[:], r[1].([]byte))
			return nil
		}, old)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(added[hash], func(d *Document) bool { return d.Language == language })
		if id == 0 || at < 0 {
			gone = append(gone, old)
			continue
		}
		d := added[hash][at]
		added[hash] = slices.Delete(added[hash], at, at+1)
		if err := p.w.exec("UPDATE files SET path = ? WHERE id = ?", d.Path, id); err != nil {
			return nil, err
		}
		if err := p.rewriteNames(id, d); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// rewriteNames replaces the full-text rows of a renamed file: their stem and dirs
// columns change though the text does not, which document would not notice.
func (p *put) rewriteNames(id int64, d *Document) error {
	old, err := p.chunks(id)
	if err != nil {
		return err
	}
	free := byHash(old)
	p.pathTerms(d.Path)
	for i, c := range d.Syntax.Chunks {
		if o := takeHash(free, Hash(c.Hash)); o != nil {
			if err := p.text(o.id, d, i, true); err != nil {
				return err
			}
		}
	}
	return nil
}
