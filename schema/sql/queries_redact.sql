-- queries_redact.sql - the queries of bundle: the files to include, and the
-- rows that a redacted copy does not have. The copy is rewritten by VACUUM, so
-- that no deleted text is left in free pages.

-- name: redact_begin
CREATE TEMP TABLE kept(id INTEGER PRIMARY KEY);
INSERT INTO kept SELECT id FROM image WHERE kept(kind, path);
DELETE FROM image_section;
DELETE FROM event_raw;
DELETE FROM jit_code WHERE image NOT IN (SELECT id FROM kept);

-- name: redact_fields
SELECT m.name AS "table", c.name AS "column"
FROM sqlite_schema m, pragma_table_info(m.name) c
WHERE m.type = 'table' AND m.name LIKE 'ev\_%' ESCAPE '\'
	AND c.name <> 'event_id'
ORDER BY m.name, c.cid

-- name: redact_end
UPDATE image SET maj = 0, min = 0, ino = 0, ino_gen = 0
WHERE id NOT IN (SELECT id FROM kept);
DROP TABLE kept

-- The files that names were read from, besides the image's own file.
-- name: bundle_images
SELECT id, kind, path, build_id FROM image
WHERE path IS NOT NULL AND kind IN (SELECT id FROM word
	WHERE kind = 'image' AND name IN ('file', 'kernel', 'module'))
ORDER BY id

-- name: bundle_hashes
SELECT file, name, hash FROM image_section WHERE image = ?1

-- name: bundle_sections
SELECT DISTINCT image, file FROM image_section ORDER BY image, file
