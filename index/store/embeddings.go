package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
)

// EmbeddingModel is a model whose vectors are kept.
type EmbeddingModel struct {
	ID int64
	// Name is what the model is configured as, Version says which weights those are,
	// "" if the server does not tell, and Dim is its dimension.
	Name, Version string
	Dim           int
	// File is the name of the file with the vectors, and Slots how many of its slots
	// are in use.
	File  string
	Slots int
}

// Embedding says where the vector of a text is.
type Embedding struct {
	Hash Hash
	// Slot is Refused for a text that the model does not embed.
	Slot int
}

// Refused is the slot of a text that has no vector and shall get none.
const Refused = -1

func (e Embedding) slot() driver.Value {
	if e.Slot == Refused {
		return nil
	}
	return int64(e.Slot)
}

// EmbeddingModels answers the models that vectors are kept of, the latest last.
func (s *Store) EmbeddingModels(ctx context.Context) (list []EmbeddingModel, err error) {
	err = s.snapshot(ctx, "read the embedding models", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var m EmbeddingModel
			err := rows.Scan(&m.ID, &m.Name, &m.Version, &m.Dim, &m.File, &m.Slots)
			list = append(list, m)
			return err
		}, "SELECT id, name, version, dim, file, slots FROM embedding_models ORDER BY id")
	})
	return list, err
}

// AddEmbeddingModel notes a model without vectors and answers its id.
func (s *Store) AddEmbeddingModel(m EmbeddingModel) (id int64, err error) {
	err = s.write("note the embedding model", func() (err error) {
		id, err = s.w.insert("INSERT INTO embedding_models (name, version, dim, file, slots) VALUES (?, ?, ?, ?, 0)",
			m.Name, m.Version, int64(m.Dim), m.File)
		return err
	})
	return id, err
}

// DropEmbeddingModel forgets a model and where its vectors were.
func (s *Store) DropEmbeddingModel(id int64) error {
	return s.write("forget the embedding model", func() error {
		return s.w.exec("DELETE FROM embedding_models WHERE id = ?", id)
	})
}

// PutEmbeddings notes where vectors are, of which the file has slots now. They must
// be durable. Nobody waits for this, which comes all the time as long as there is something to
// embed, and so it stops no rewrite.
func (s *Store) PutEmbeddings(model int64, slots int, list []Embedding) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeLocked("note the embeddings", func() error { return s.putEmbeddings(model, slots, list) })
}

// ReplaceEmbeddings notes that the vectors of a model are in another file, and
// nowhere else. What the model refuses stays.
func (s *Store) ReplaceEmbeddings(model int64, file string, slots int, list []Embedding) error {
	return s.write("note the embeddings", func() error {
		if err := s.w.exec("DELETE FROM embeddings WHERE model = ? AND slot IS NOT NULL", model); err != nil {
			return err
		}
		if err := s.w.exec("UPDATE embedding_models SET file = ? WHERE id = ?", file, model); err != nil {
			return err
		}
		return s.putEmbeddings(model, slots, list)
	})
}

func (s *Store) putEmbeddings(model int64, slots int, list []Embedding) error {
	for _, e := range list {
		if err := s.w.exec("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", model, e.Hash[:], e.slot()); err != nil {
			return err
		}
	}
	return s.w.exec("UPDATE embedding_models SET slots = ? WHERE id = ?", int64(slots), model)
}

// write runs f in a transaction. Nobody who follows the index is woken: no file
// changes.
func (s *Store) write(doing string, f func() error) error {
	s.lock()
	defer s.mu.Unlock()
	return s.writeLocked(doing, f)
}

// writeLocked is write; mu is held.
func (s *Store) writeLocked(doing string, f func() error) error {
	if s.w == nil {
		return errClosed
	}
	if err := s.w.quietly(f); err != nil {
		return fmt.Errorf("%s: %w", doing, classify(err))
	}
	return nil
}

// Embeddings calls fn with all that is noted of a model.
func (s *Store) Embeddings(ctx context.Context, model int64, fn func(Embedding)) error {
	return s.snapshot(ctx, "read the embeddings", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var hash sql.RawBytes
			var slot sql.NullInt64
			if err := rows.Scan(&hash, &slot); err != nil {
				return err
			}
			e := Embedding{Slot: Refused}
			if slot.Valid {
				e.Slot = int(slot.Int64)
			}
			copy(e.Hash[:], hash)
			fn(e)
			return nil
		}, "SELECT hash, slot FROM embeddings WHERE model = ?", model)
	})
}

// Unembedded is a file that has texts without a vector.
type Unembedded struct {
	ID      int64
	Path    string
	ModTime int64 // as File's
	Chunks  int
}

// Unembedded answers which of the files with the given ids, or of all if ids is
// nil, have texts that a model has not embedded. Model 0 has embedded none.
func (s *Store) Unembedded(ctx context.Context, model int64, ids []int64) (list []Unembedded, err error) {
	const query = `SELECT f.id, f.path, f.mtime, count(*)
		FROM files f CROSS JOIN chunks c ON c.id >= f.id << 20 AND c.id < (f.id + 1) << 20
		WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ? AND e.hash = c.hash)`
	row := func(rows *sql.Rows) error {
		var u Unembedded
		err := rows.Scan(&u.ID, &u.Path, &u.ModTime, &u.Chunks)
		list = append(list, u)
		return err
	}
	err = s.snapshot(ctx, "look what is to be embedded", func(tx *sql.Tx) error {
		if ids == nil {
			return each(ctx, tx, row, query+" GROUP BY f.id", model)
		}
		for _, id := range ids {
			if err := each(ctx, tx, row, query+" AND f.id = ? GROUP BY f.id", model, id); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// Coverage says how much of the index a model has embedded.
type Coverage struct {
	// Texts is how many different texts the chunks have.
	Texts int
	// Embedded of them have a vector; Refused will have none.
	Embedded, Refused int
}

// Coverage counts; model 0 has embedded nothing.
func (s *Store) Coverage(ctx context.Context, model int64) (c Coverage, err error) {
	err = s.snapshot(ctx, "count the embeddings", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT count(*), count(slot), count(e.hash) - count(slot)
			FROM (SELECT DISTINCT hash FROM chunks) c LEFT JOIN embeddings e ON e.model = ? AND e.hash = c.hash`, model).
			Scan(&c.Texts, &c.Embedded, &c.Refused)
	})
	return c, err
}

// Texts answers the hashes of all chunks.
func (s *Store) Texts(ctx context.Context) (map[Hash]bool, error) {
	texts := map[Hash]bool{}
	err := s.snapshot(ctx, "read the chunks", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var hash sql.RawBytes
			if err := rows.Scan(&hash); err != nil {
				return err
			}
			texts[Hash(hash)] = true
			return nil
		}, "SELECT hash FROM chunks")
	})
	return texts, err
}
