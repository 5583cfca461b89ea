package store

import (
	"context"
	"database/sql"
)

// FileLinks answers every pair of files that an edge joins, by their paths, all files,
// and the generation of that state.
func (s *Store) FileLinks(ctx context.Context, fn func(from, to string, kind EdgeKind, weight float32)) (files map[int64]string, generation int64, err error) {
	files = map[int64]string{}
	err = s.snapshot(ctx, "read the edges", func(tx *sql.Tx) error {
		var err error
		if generation, err = readGeneration(ctx, tx); err != nil {
			return err
		}
		err = each(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			var path string
			err := rows.Scan(&id, &path)
			files[id] = path
			return err
		}, "SELECT id, path FROM files")
		if err != nil || fn == nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			return scanLink(rows, func(l Link) { fn(files[l.From], files[l.To], l.Kind, l.Weight) })
		}, "SELECT src, dst, kind, weight FROM edges")
	})
	return files, generation, err
}

// Links calls fn with every pair of files that an edge joins.
func (s *Store) Links(ctx context.Context, fn func(Link)) error {
	return s.snapshot(ctx, "read the edges", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error { return scanLink(rows, fn) }, "SELECT src, dst, kind, weight FROM edges")
	})
}

// LinksOf answers the links that start or end at a file.
func (s *Store) LinksOf(ctx context.Context, file int64) (list []Link, err error) {
	err = s.snapshot(ctx, "read the edges", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			return scanLink(rows, func(l Link) { list = append(list, l) })
		}, `SELECT src, dst, kind, weight FROM edges WHERE src = ?1
			UNION ALL SELECT src, dst, kind, weight FROM edges WHERE dst = ?1`, file)
	})
	return list, err
}

func scanLink(rows *sql.Rows, fn func(Link)) error {
	var l Link
	if err := rows.Scan(&l.From, &l.To, &l.Kind, &l.Weight); err != nil {
		return err
	}
	fn(l)
	return nil
}

// EdgesFrom answers the edges whose references stand in a file, in the order of
// its imports and then of its references.
func (s *Store) EdgesFrom(ctx context.Context, file int64) (list []Edge, err error) {
	err = s.snapshot(ctx, "read the edges", func(tx *sql.Tx) error {
		list, err = edgesFrom(ctx, tx, file)
		return err
	})
	return list, err
}

// EdgesTo answers the edges that end at a symbol: the places that use it.
func (s *Store) EdgesTo(ctx context.Context, symbol int64) (list []Edge, err error) {
	err = s.snapshot(ctx, "read the edges", func(tx *sql.Tx) error {
		// The symbol's own file links to it too, though no row of edges says so.
		files := []int64{FileOf(symbol)}
		err := each(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			files = append(files, id)
			return err
		}, "SELECT DISTINCT src FROM edges WHERE dst = ? AND kind <> 'import' ORDER BY src", FileOf(symbol))
		if err != nil {
			return err
		}
		for _, id := range files {
			edges, err := edgesFrom(ctx, tx, id)
			if err != nil {
				return err
			}
			for _, e := range edges {
				if e.ToSymbol == symbol {
					list = append(list, e)
				}
			}
		}
		return nil
	})
	return list, err
}

func edgesFrom(ctx context.Context, tx *sql.Tx, file int64) ([]Edge, error) {
	var list []Edge
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var rawImports, rawRefs, rawTargets sql.RawBytes
		if err := rows.Scan(&rawImports, &rawRefs, &rawTargets); err != nil {
			return err
		}
		imports, err := decodeImports(rawImports)
		if err != nil {
			return err
		}
		refs, err := decodeReferences(rawRefs)
		if err != nil {
			return err
		}
		targets, err := decodeTargets(rawTargets)
		if err != nil {
			return err
		}
		if len(targets) != len(imports)+len(refs) {
			return nil // the file was changed and waits for Relink
		}
		symbols, err := symbolIDs(ctx, tx, file)
		if err != nil {
			return err
		}
		for i, ts := range targets {
			e := Edge{Kind: EdgeImport, FromFile: file}
			if i < len(imports) {
				e.Line = imports[i].Span.StartLine
			} else {
				r := refs[i-len(imports)]
				e.Kind, e.Line = EdgeKind(r.Kind), r.Line
				if r.From >= 0 && r.From < len(symbols) {
					e.FromSymbol = symbols[r.From]
				}
			}
			for _, t := range ts {
				e.ToFile, e.ToSymbol, e.Weight = t.File, t.Symbol, t.Weight
				list = append(list, e)
			}
		}
		return nil
	}, "SELECT imports, refs, targets FROM file_refs LEFT JOIN file_targets USING (file_id) WHERE file_id = ?", file)
	return list, err
}

// symbolIDs answers the ids of a file's symbols by ordinal.
func symbolIDs(ctx context.Context, tx *sql.Tx, file int64) ([]int64, error) {
	var ids []int64
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM symbols WHERE id >= ? AND id < ? ORDER BY ordinal", file<<localBits, (file+1)<<localBits)
	return ids, err
}
