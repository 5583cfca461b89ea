-- References are resolved when they are asked for (View): what they were resolved to is
-- not kept, and no file waits for it.
DROP TABLE edges;
DROP TABLE file_targets;
DROP INDEX files_by_linked;
ALTER TABLE files DROP COLUMN linked;
ALTER TABLE files DROP COLUMN edges;
ALTER TABLE files ADD COLUMN refs INTEGER NOT NULL DEFAULT 0; -- a count, as symbols and chunks
