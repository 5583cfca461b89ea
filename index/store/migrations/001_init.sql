CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Ids are never used twice (AUTOINCREMENT): a reader that still holds one finds
-- the same file or none.
CREATE TABLE files (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  path        TEXT    NOT NULL UNIQUE,
  language    TEXT    NOT NULL,
  size        INTEGER NOT NULL,
  mtime       INTEGER NOT NULL, -- ns; 0: the text came from an editor's buffer
  hash        BLOB    NOT NULL,
  summary     TEXT    NOT NULL,
  problem     TEXT    NOT NULL, -- why the file is indexed by lines only, or ''
  next_symbol INTEGER NOT NULL, -- local ids below were used; never again
  next_chunk  INTEGER NOT NULL,
  symbols     INTEGER NOT NULL, -- counts, so that totals need no scan
  chunks      INTEGER NOT NULL,
  edges       INTEGER NOT NULL,
  linked      INTEGER NOT NULL, -- 0: the edges wait to be resolved again
  generation  INTEGER NOT NULL  -- the commit that last changed the record
);
CREATE INDEX files_by_generation ON files (generation);
CREATE INDEX files_by_linked ON files (linked);

-- A symbol's or chunk's id is (file id << 20) + a number local to the file. So a
-- file's rows lie together in the table's own order, and neither table needs an
-- index over a file column; that halves the time of the first index. They hang on
-- files by this rule in place of a foreign key, which would want that index back.
CREATE TABLE symbols (
  id        INTEGER PRIMARY KEY,
  ordinal   INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  container TEXT    NOT NULL,
  signature TEXT    NOT NULL,
  doc       TEXT    NOT NULL,
  spans     BLOB    NOT NULL  -- of the declaration and of its name
);
CREATE INDEX symbols_by_name ON symbols (name);

CREATE TABLE chunks (
  id      INTEGER PRIMARY KEY,
  ordinal INTEGER NOT NULL,
  content TEXT    NOT NULL,
  span    BLOB    NOT NULL,
  symbols BLOB    NOT NULL, -- ordinals of the symbols whose names stand in it
  hash    BLOB    NOT NULL
);

-- Contentless: the text is in the workspace and is read from there by span. With the
-- text in it the table would be three times as large (bench/index.md).
CREATE VIRTUAL TABLE chunk_text USING fts5 (
  body, comment, names, stem, dirs,
  content = '', contentless_delete = 1, detail = full,
  -- What token.Analyzer takes for one term must stay one.
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);

-- What a file refers to, and what that was resolved to: in tables of their own,
-- since resolving again must not write the references again.
CREATE TABLE file_refs (
  file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
  imports BLOB NOT NULL,
  refs    BLOB NOT NULL
);
CREATE TABLE file_targets (
  file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
  targets BLOB NOT NULL
);

-- Which files mention a name: one row a file, a token a name. It finds the files
-- whose edges a new or vanished declaration may change.
CREATE VIRTUAL TABLE mentions USING fts5 (
  names, content = '', contentless_delete = 1, detail = none, tokenize = ascii
);

-- The resolved edges summed by pair of files.
CREATE TABLE edges (
  src    INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  dst    INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  kind   TEXT    NOT NULL,
  weight REAL    NOT NULL,
  PRIMARY KEY (src, dst, kind)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (dst);

-- Files gone since a generation, for readers that follow the index.
CREATE TABLE removed (
  generation INTEGER NOT NULL,
  file_id    INTEGER NOT NULL
);

CREATE TABLE skipped (
  path   TEXT PRIMARY KEY,
  reason TEXT NOT NULL
) WITHOUT ROWID;
