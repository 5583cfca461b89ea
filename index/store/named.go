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

// namedFrom is what a query for declarations selects.
var namedFrom = "SELECT f.path, s.name, s.container, s.kind FROM symbols s JOIN files f ON f.id = s.id >> " + strconv.Itoa(localBits) + " WHERE "

func scanNamed(list *[]Named) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var n Named
		err := rows.Scan(&n.Path, &n.Name, &n.Container, &n.Kind)
		*list = append(*list, n)
		return err
	}
}

// NamedInAnyCase answers at most limit declarations whose name is name but for the case of its
// ASCII letters, those with the very name first. It reads every name there is.
func (s *Store) NamedInAnyCase(ctx context.Context, name string, limit int) (list []Named, err error) {
	err = s.snapshot(ctx, "look for a name in the index", func(tx *sql.Tx) error {
		return each(ctx, tx, scanNamed(&list), namedFrom+`s.name LIKE ? ESCAPE '\' ORDER BY s.name <> ? LIMIT ?`, likeEscape.Replace(name), name, limit)
	})
	return list, err
}

var likeEscape = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// Named answers at most limit declarations whose name is exactly name; if there are
// none, those whose name has part in it, in any case and but for underscores: that
// reads every name there is, some tenths of a second for a million.
func (s *Store) Named(ctx context.Context, name, part string, limit int) (list []Named, err error) {
	err = s.snapshot(ctx, "look for a name in the index", func(tx *sql.Tx) error {
		row := scanNamed(&list)
		if err := each(ctx, tx, row, namedFrom+"s.name = ? LIMIT ?", name, limit); err != nil || len(list) > 0 || part == "" {
			return err
		}
		pattern := "%" + likeEscape.Replace(part) + "%"
		return each(ctx, tx, row, namedFrom+`replace(s.name, '_', '') LIKE ? ESCAPE '\' LIMIT ?`, pattern, limit)
	})
	return list, err
}
