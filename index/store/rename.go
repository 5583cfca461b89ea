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
	}
	return gone, nil
}
