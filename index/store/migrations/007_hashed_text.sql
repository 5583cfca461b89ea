-- Terms are kept as hashes (hash.go), so that a row that has left is no text, whenever its
-- segment is merged.
DROP TABLE file_text;
CREATE VIRTUAL TABLE file_text USING fts5 (
  text, symbols, path,
  content = '', contentless_delete = 1, detail = column, tokenize = ascii
);
INSERT INTO file_text (file_text, rank) VALUES ('crisismerge', 256); -- bulk.go
INSERT OR IGNORE INTO text_due SELECT id FROM files;

-- So that the terms of the old table leave the free pages (Wipe).
DELETE FROM meta WHERE key = 'wiped';
