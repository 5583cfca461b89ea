-- The embedding models that vectors are kept of: the one in use, and, while it is
-- being replaced, the one before.
CREATE TABLE embedding_models (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT    NOT NULL, -- as it is configured
  version TEXT    NOT NULL, -- of its weights, '' if the server does not tell
  dim     INTEGER NOT NULL,
  file    TEXT    NOT NULL, -- with the vectors, in the database's folder
  slots   INTEGER NOT NULL, -- how many of the file are in use
  UNIQUE (name, version, dim)
);

-- Where the vector of a text is. The key is the text's hash and not a chunk, so
-- that a text that moves, goes and comes back is embedded once.
CREATE TABLE embeddings (
  model INTEGER NOT NULL REFERENCES embedding_models (id) ON DELETE CASCADE,
  hash  BLOB    NOT NULL, -- chunks.hash
  slot  INTEGER,          -- NULL: the model refuses the text
  PRIMARY KEY (model, hash)
) WITHOUT ROWID;
