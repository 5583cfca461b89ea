-- When anything of the file changed last, ns; 0: not known. A text may be written under an
-- old mtime. What has none is read again once.
ALTER TABLE files ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
