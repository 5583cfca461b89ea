package store

import (
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration takes the schema from version n-1 to n, n being its place in the
// list. verify must answer no row; a row names what is wrong. Migrations that have
// been released are never edited.
//
// Schema 2 adds where the vectors of texts are. Nothing of schema 1 changes, so such a
// database is taken over as it is; a quarry of schema 1 refuses the new one.
//
// Schema 3 has no resolved references: they are resolved when they are asked for.
//
// Schema 4 has a full-text row a file in place of one a chunk, written when nobody waits.
//
// Schema 6 finds the files with a problem without reading all, and has those read once more
// of which nobody noted whether the parser was short of memory.
//
// Schema 7 has hashes in the full-text table, where terms were.
type migration struct {
	file   string
	verify string
}

var migrations = []migration{
	{"001_init.sql", `SELECT 'table ' || column1 || ' is missing' FROM (VALUES ('meta'), ('files'), ('symbols'), ('chunks'),
		('chunk_text'), ('file_refs'), ('file_targets'), ('mentions'), ('edges'), ('removed'), ('skipped'))
		WHERE column1 NOT IN (SELECT name FROM sqlite_schema)`},
	{"002_embeddings.sql", `SELECT 'column ' || column1 || ' is missing' FROM (VALUES ('embedding_models.name'), ('embedding_models.version'),
		('embedding_models.dim'), ('embedding_models.file'), ('embedding_models.slots'),
		('embeddings.model'), ('embeddings.hash'), ('embeddings.slot'))
		WHERE column1 NOT IN (SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c)
		UNION ALL SELECT 'embeddings does not follow embedding_models' WHERE NOT EXISTS (
			SELECT 1 FROM pragma_foreign_key_list('embeddings') WHERE "table" = 'embedding_models' AND on_delete = 'CASCADE')`},
	{"003_unresolved.sql", `SELECT 'the column refs is missing' WHERE NOT EXISTS (SELECT 1 FROM pragma_table_info('files') WHERE name = 'refs')
		UNION ALL SELECT name || ' is still there' FROM sqlite_schema WHERE name IN ('edges', 'file_targets', 'files_by_linked')`},
	{"004_file_text.sql", `SELECT 'table ' || column1 || ' is missing' FROM (VALUES ('file_text'), ('text_due'))
		WHERE column1 NOT IN (SELECT name FROM sqlite_schema)
		UNION ALL SELECT 'chunk_text is still there' FROM sqlite_schema WHERE name = 'chunk_text'
		UNION ALL SELECT 'a file is in neither' FROM files WHERE id NOT IN (SELECT file_id FROM text_due)`},
	{"005_changed.sql", `SELECT 'the column changed is missing' WHERE NOT EXISTS (SELECT 1 FROM pragma_table_info('files') WHERE name = 'changed')`},
	{"006_problems.sql", `SELECT 'the index files_by_problem is missing' WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'files_by_problem')`},
	{"007_hashed_text.sql", `SELECT 'table file_text is missing' WHERE 'file_text' NOT IN (SELECT name FROM sqlite_schema)
		UNION ALL SELECT 'a file is not due' FROM files WHERE id NOT IN (SELECT file_id FROM text_due)`},
}

// ErrNewerSchema says that the database was written by a later quarry.
var ErrNewerSchema = errors.New("the index was written by a newer quarry")

// ErrOlderSchema says that the database is an earlier quarry's.
var ErrOlderSchema = errors.New("the index was written by an older quarry")

// checkSchema answers an error if the database is not of the newest schema.
func checkSchema(db *sql.DB) error {
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	switch {
	case version > len(migrations):
		return ErrNewerSchema
	case version == 0:
		return errors.New("another quarry is about to make it")
	case version < len(migrations):
		return fmt.Errorf("%w (schema %d, this one has %d)", ErrOlderSchema, version, len(migrations))
	}
	return nil
}

// migrate brings the database to the newest schema, one transaction a step. The
// version stands in the header's user_version.
func migrate(db *sql.DB) error {
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if version > len(migrations) {
		return fmt.Errorf("%w (schema %d, this one knows %d): update quarry, or give it another --state-dir",
			ErrNewerSchema, version, len(migrations))
	}
	for n := version; n < len(migrations); n++ {
		if err := step(db, n+1, migrations[n]); err != nil {
			return fmt.Errorf("migrate the index to schema %d: %w", n+1, err)
		}
	}
	if version == 0 { // there is nothing in it yet
		_, err := db.Exec("INSERT INTO meta VALUES (?, ?)", wiped, wipeDone)
		return err
	}
	return nil
}

func step(db *sql.DB, version int, m migration) error {
	text, err := migrationFiles.ReadFile("migrations/" + m.file)
	if err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after Commit
	if _, err := tx.Exec(string(text)); err != nil {
		return err
	}
	rows, err := tx.Query(m.verify)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	var wrong []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			rows.Close()
			return err
		}
		wrong = append(wrong, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("verify: %s", strings.Join(wrong, "; "))
	}
	if _, err := tx.Exec("PRAGMA user_version = " + strconv.Itoa(version)); err != nil {
		return err
	}
	return tx.Commit()
}
