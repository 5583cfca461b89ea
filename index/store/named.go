package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"quarry/index/syntax"
)

// Named is a declaration as it is found by its name.
type Named struct {
	Path, Name, Container string
	Kind                  syntax.Kind
}

// Named answers at most limit declarations whose name is exactly name; if there are
// none, those whose name has part in it, in any case and but for underscores: that
// reads every name there is, some tenths of a second for a million.
func (s *Store) Named(ctx context.Context, name, part string, limit int) (list []Named, err error) {
	err = s.snapshot(ctx, "look for a name in the index", func(tx *sql.Tx) error {
		row := func(rows *sql.Rows) error {
			var n Named
			err := rows.Scan(&n.Path, &n.Name, &n.Container, &n.Kind)
			list = append(list, n)
			return err
		}
		local := strconv.Itoa(localBits)
		from := "SELECT f.path, s.name, s.container, s.kind FROM symbols s JOIN files f ON f.id = s.id >> " + local + " WHERE "
		if err := each(ctx, tx, row, from+"s.name = ? LIMIT ?", name, limit); err != nil || len(list) > 0 || part == "" {
			return err
		}
		pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part) + "%"
		return each(ctx, tx, row, from+`replace(s.name, '_', '') LIKE ? ESCAPE '\' LIMIT ?`, pattern, limit)
	})
	return list, err
}
