-- queries_code.sql - the code and the events of a database, for readers that
-- need more of a frame than its name. Ids are 1, 2, 3 ....

-- proved: as in unverified_images.
-- name: code_images
SELECT i.id, i.kind, coalesce(i.path, '') AS path, i.build_id,
	i.maj, i.min, i.ino, i.ino_gen,
	CASE WHEN i.status = 'unverified' AND NOT
		ifnull(i.identity GLOB 'read:*', 0) THEN i.file END AS settled,
	coalesce(i.start, 0) AS start, coalesce(i.len, 0) AS len,
	coalesce(i.t0, 0) AS t0, coalesce(m.t0, 0) AS mapped, coalesce(i.status, '') AS status, p.pid,
	coalesce(i.status = 'named' AND i.identity NOT GLOB 'doubted: *'
		OR i.identity GLOB 'proved:*' OR i.identity GLOB 'read:*',
		i.status = 'named', 0) AS proved
FROM image i LEFT JOIN process p ON p.id = i.process
LEFT JOIN (SELECT image, min(coalesce(t0, 1)) AS t0 FROM mapping GROUP BY image) m
	ON m.image = i.id ORDER BY i.id

-- name: code_symbols
SELECT id, coalesce(size, 0) AS size, name, raw_name FROM symbol ORDER BY id

-- name: code_files
SELECT id, file FROM frame WHERE file IS NOT NULL

-- name: code_inlines
SELECT frame, name, file, coalesce(line, 0) AS line FROM inline_frame
ORDER BY frame, depth

-- name: recorded_names
SELECT name FROM symbol
UNION ALL SELECT name FROM inline_frame WHERE name NOT NULL

-- name: label_symbols
SELECT id, name FROM symbol ORDER BY id

-- name: label_inlines
SELECT frame, coalesce(name, '[unknown]') AS name FROM inline_frame
ORDER BY frame, depth DESC

-- name: label_frames
SELECT 1 AS taken FROM frame WHERE id > ?1 AND take_ints(id, image, symbol)

-- name: code_chains
SELECT id, coalesce(stack, 0) AS stack, addrs, coalesce(ended, 0) AS ended,
	coalesce(caller, 0) AS caller
FROM raw_chain ORDER BY id

-- name: code_callerless
SELECT stack FROM internal_judged WHERE callerless

-- name: event_types
SELECT id, coalesce(name, '') AS name, coalesce(capture, 0) AS capture,
	kind = 'sample' AS is_sample, has_chain
FROM event_type ORDER BY id

-- name: event_comms
SELECT c.id, coalesce(c.name, '') AS name, p.pid, t.tid,
	t.id AS thread, p.id AS process
FROM comm c LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process ORDER BY c.id

-- name: code_segments
SELECT image, off, vaddr, filesz FROM internal_segment ORDER BY image, off

-- The part of a file that was mapped.
-- name: code_mapped
SELECT image, min(coalesce(pgoff, 0)) AS first,
	max(coalesce(pgoff, 0) + "end" - start) AS "end"
FROM mapping WHERE image IS NOT NULL GROUP BY image
