-- Every answer by names asks which files are known by their lines only.
CREATE INDEX IF NOT EXISTS files_by_problem ON files (path) WHERE problem <> '';
-- Whether these were given up for want of memory nobody noted: they are read again once.
UPDATE files SET problem = replace(problem, '; indexed by lines', ' within 0 MB; indexed by lines') WHERE problem <> '';
