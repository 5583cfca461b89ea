-- One row a file and no places of words: what is asked for is which files to read. The
-- columns are weighed apart.
DROP TABLE chunk_text;
CREATE VIRTUAL TABLE file_text USING fts5 (
  text, symbols, path,
  content = '', contentless_delete = 1, detail = column,
  -- What token.Analyzer takes for one term must stay one.
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
INSERT INTO file_text (file_text, rank) VALUES ('crisismerge', 256); -- bulk.go

-- The files without a row there: it is filled when nobody waits. A file is in one of the
-- two in every commit.
CREATE TABLE text_due (
  file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE
);
INSERT INTO text_due SELECT id FROM files;

-- So that the room that the old table took is given back (Wipe).
DELETE FROM meta WHERE key = 'wiped';
