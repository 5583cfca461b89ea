package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"math"
	"path"
	"slices"
	"strings"
)

// The full-text table says which files have a term, in their text, in the names of what
// they declare, or in their path. Writing it is an eighth of a first index, and it answers
// only where searches have nothing better to begin with; so a file that changes leaves it,
// and its row is written again when nobody waits. Until then it stands in the table of
// files that are due, in the same commit that takes its row out: a process may end at any
// time, and the next one goes on.

// TextDue is a file whose row in the full-text table is to be written.
type TextDue struct {
	ID   int64
	Path string
	// Hash is that of the text that the record was made from.
	Hash Hash
}

// FileText is the row of a file.
type FileText struct {
	ID int64
	// Terms are those of its text, as token.Analyzer makes them, each once, with blanks
	// between; "" for a text that cannot be read as the record has it. Then the row says
	// what the record says, and a newer record brings a newer one.
	Terms string
}

// TextDue answers at most limit files without a row, in the order of ids.
func (s *Store) TextDue(ctx context.Context, limit int) (list []TextDue, err error) {
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		list, err = textDue(ctx, tx, limit)
		return err
	})
	return list, err
}

func textDue(ctx context.Context, tx *sql.Tx, limit int) (list []TextDue, err error) {
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var d TextDue
		var hash sql.RawBytes
		err := rows.Scan(&d.ID, &d.Path, &hash)
		copy(d.Hash[:], hash)
		list = append(list, d)
		return err
	}, "SELECT id, path, hash FROM text_due JOIN files ON id = file_id ORDER BY file_id LIMIT ?", limit)
	return list, err
}

// PutText writes rows of files that are due; what is not, or is gone, is left out.
func (s *Store) PutText(list []FileText) error {
	return s.write("write the full-text table", func() error {
		for _, t := range list {
			if err := s.w.putText(t); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *writer) putText(t FileText) error {
	name := ""
	err := w.query("SELECT path FROM text_due JOIN files ON id = file_id WHERE file_id = ?", func(r []driver.Value) error {
		name = r[0].(string)
		return nil
	}, t.ID)
	if err != nil || name == "" {
		return err
	}
	var names []byte
	err = w.query("SELECT DISTINCT name FROM symbols WHERE id >= ? AND id < ?", func(r []driver.Value) error {
		names = w.terms.AppendText(names, r[0].(string))
		return nil
	}, t.ID<<localBits, (t.ID+1)<<localBits)
	if err == nil {
		stem, dirs := PathWords(name)
		err = w.exec("INSERT INTO file_text (rowid, text, symbols, path) VALUES (?, ?, ?, ?)",
			t.ID, termTokens(t.Terms), termTokens(string(names)), termTokens(string(w.terms.AppendText(w.terms.AppendText(nil, stem), dirs))))
	}
	if err == nil {
		err = w.exec("DELETE FROM text_due WHERE file_id = ?", t.ID)
	}
	return err
}

// putTextLater takes a changed file's row out of the full-text table.
func (p *put) putTextLater(id int64, fresh bool) error {
	if !fresh {
		if err := p.w.exec("DELETE FROM file_text WHERE rowid = ?", id); err != nil {
			return err
		}
	}
	return p.w.exec("INSERT OR IGNORE INTO text_due VALUES (?)", id)
}

// PathWords cuts a path into what of it can be found: the file's name without its
// extension, and its last three folders.
func PathWords(name string) (stem, dirs string) {
	dir, base := path.Split(name)
	stem = base
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		stem = base[:i]
	}
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	return stem, strings.Join(parts[max(0, len(parts)-3):], "/")
}

// TextMatch is what the full-text table knows of a query.
type TextMatch struct {
	// Files are the ids of files that have any of the terms, the best first.
	Files []int64
	// Weights say how much each term tells, by how few files have it.
	Weights map[string]float64
	// Due are files that the table does not have, at most one more than were asked for.
	Due []TextDue
}

// namedTerm is how much more a term counts that stands in a file's path or in a name that
// the file declares.
const namedTerm = 2

// maxMatches bounds how many rows a query reads: terms that most files have are left out
// where rarer ones say enough.
const maxMatches = 20_000

// MatchAny looks for files with any of the terms, as token.Analyzer makes them: the best
// limit of those in the table, and the first due+1 of those that are not. All of it is of
// one state of the index.
func (s *Store) MatchAny(ctx context.Context, terms []string, limit, due int) (m TextMatch, err error) {
	err = s.snapshot(ctx, "full-text search", func(tx *sql.Tx) error {
		if m.Due, err = textDue(ctx, tx, due+1); err != nil {
			return err
		}
		q := textQuery{ctx: ctx, tx: tx, scores: map[int64]float64{}}
		if m.Weights, err = q.weigh(terms); err == nil {
			m.Files, err = q.best(limit, maxMatches)
		}
		return err
	})
	return m, err
}

// textQuery is one running MatchAny.
type textQuery struct {
	ctx    context.Context
	tx     *sql.Tx
	terms  []matchedTerm // the rarest first
	scores map[int64]float64
}

type matchedTerm struct {
	query  string
	files  int
	weight float64
}

// weigh counts the files of each term; the weights are those of BM25 (Robertson and
// Zaragoza, "The Probabilistic Relevance Framework", 2009).
func (q *textQuery) weigh(terms []string) (map[string]float64, error) {
	var all int
	if err := q.tx.QueryRowContext(q.ctx, "SELECT count(*) FROM file_text").Scan(&all); err != nil {
		return nil, err
	}
	weights := make(map[string]float64, len(terms))
	for _, t := range terms {
		if _, known := weights[t]; known {
			continue
		}
		m := matchedTerm{query: termToken(t)}
		if err := q.tx.QueryRowContext(q.ctx, "SELECT count(*) FROM file_text WHERE file_text MATCH ?", m.query).Scan(&m.files); err != nil {
			return nil, err
		}
		m.weight = math.Log1p((float64(all-m.files) + 0.5) / (float64(m.files) + 0.5))
		weights[t] = m.weight
		q.terms = append(q.terms, m)
	}
	slices.SortStableFunc(q.terms, func(a, b matchedTerm) int { return cmp.Compare(a.files, b.files) })
	return weights, nil
}

// best reads about as many rows as given, unless the rarest term has more.
func (q *textQuery) best(limit, rows int) ([]int64, error) {
	read := 0
	for _, t := range q.terms {
		if t.files == 0 {
			continue
		}
		if read += t.files; read > rows && len(q.scores) > 0 {
			break
		}
		if err := q.add(t.query, t.weight); err != nil {
			return nil, err
		}
		if err := q.add("{symbols path} : ("+t.query+")", namedTerm*t.weight); err != nil {
			return nil, err
		}
	}
	files := q.ranked()
	files = files[:min(2*limit, len(files))]
	for _, id := range files {
		var size float64
		if err := q.tx.QueryRowContext(q.ctx, "SELECT size FROM files WHERE id = ?", id).Scan(&size); err != nil {
			return nil, err
		}
		q.scores[id] /= math.Log(math.E + size/shortFile)
	}
	q.sort(files)
	return files[:min(limit, len(files))], nil
}

// shortFile is a file's size, in bytes, from which on its length counts against it: the
// longer a file, the more terms it has by chance.
const shortFile = 8 << 10

// ranked are all files found, the best first.
func (q *textQuery) ranked() []int64 {
	files := make([]int64, 0, len(q.scores))
	for id := range q.scores {
		files = append(files, id)
	}
	q.sort(files)
	return files
}

func (q *textQuery) sort(files []int64) {
	slices.SortFunc(files, func(a, b int64) int { return cmp.Or(cmp.Compare(q.scores[b], q.scores[a]), cmp.Compare(a, b)) })
}

func (q *textQuery) add(query string, weight float64) error {
	return each(q.ctx, q.tx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		q.scores[id] += weight
		return err
	}, "SELECT rowid FROM file_text WHERE file_text MATCH ?", query)
}
