-- queries.sql - the queries of writing and naming, and those that several
-- commands use. store_sql("NAME") returns the text under "-- name: NAME".

-- Frames without a name, image by image. ?1: also frames that have a name from
-- a file but no line, to resolve symbols again after adding debug files, and
-- those that a file named which nothing proves (doubted), even if nothing else
-- is missing (complete). Not those of a kernel that its own capture named, as
-- trace.dat does, and that no build-id would find again: only ?2, a file of it
-- that is given, has more.
-- name: unnamed
SELECT f.image, f.off, f.id,
	f.symbol IS NOT NULL AND i.status IS 'unverified' AS doubted,
	f.symbol IS NOT NULL AND (f.line IS NOT NULL
		OR f.id IN (SELECT frame FROM inline_frame)) AS complete
FROM frame f CROSS JOIN image i ON i.id = f.image
LEFT JOIN temp.heat h ON h.image = f.image
WHERE f.symbol IS NULL OR (?1 AND (i.status IS 'unverified'
		OR (f.line IS NULL
			AND f.id NOT IN (SELECT frame FROM inline_frame)))
	AND EXISTS (SELECT 1 FROM word w WHERE w.kind = 'image'
		AND w.id = i.kind
		AND (w.name IN ('file', 'vdso', 'mapping')
			OR (w.name IN ('kernel', 'module') AND (?2
				OR i.build_id IS NOT NULL
				OR i.status IS NOT 'named')))))
ORDER BY h.stacks DESC, f.image, f.off, f.id

-- A build-id that several modules have is not trusted. several: see
-- several_images.
-- ?1: image.id
-- name: unnamed_image
SELECT kind, path,
	CASE WHEN id NOT IN (SELECT image FROM temp.shared_id) THEN build_id
		END AS build_id,
	maj, min, ino, ino_gen,
	(SELECT 1 + reused FROM temp.several WHERE image = id) AS several,
	start, len, t0, process
FROM image WHERE id = ?1

-- ?1: name, ?2: text of the view
-- name: put_view
INSERT INTO sqlite_master VALUES('view', ?1, ?1, 0, ?2)

-- ?1: name, ?2: text
-- name: same_table
SELECT 1 AS found FROM main.sqlite_master
WHERE name = ?1 AND type = 'table' AND rootpage > 0 AND sql = ?2

-- ?1: name, ?2: text
-- name: same_view
SELECT 1 AS found FROM main.sqlite_master
WHERE name = ?1 AND type = 'view' AND sql = ?2

-- ?1: name
-- name: no_such_thing
SELECT 1 AS found WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_master
	WHERE name = ?1)

-- ?1: name of a table that is neither virtual nor computes columns
-- name: plain_table
SELECT 1 AS found FROM main.sqlite_master
WHERE name = ?1 AND type = 'table' AND rootpage > 0 AND NOT EXISTS (
	SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0)

-- A table of fields that is a view or virtual, or computes columns.
-- name: strange_fields
SELECT m.name FROM main.sqlite_master m
WHERE m.name COLLATE NOCASE IN (SELECT fields FROM event_type)
	AND (m.type = 'view' OR m.type = 'table' AND (m.rootpage = 0 OR EXISTS (
		SELECT 1 FROM pragma_table_xinfo(m.name) WHERE hidden <> 0)))

-- ?1: name
-- name: table_text
SELECT sql FROM main.sqlite_master WHERE name = ?1 AND type = 'table'

-- A table of fields that is not as fields_new_table() makes it.
-- name: changed_fields
SELECT m.name FROM main.sqlite_master m
WHERE m.name COLLATE NOCASE IN (SELECT fields FROM event_type)
	AND m.sql IS NOT 'CREATE TABLE "' || m.name
		|| '"(event_id INTEGER PRIMARY KEY' || (
		SELECT coalesce(group_concat(', "' || name || '"', ''), '')
		FROM (SELECT name FROM pragma_table_info(m.name)
			WHERE cid > 0 ORDER BY cid)) || ')'

-- An index that is computed, or has a condition, for each row that is written.
-- name: computed_index
SELECT i.name FROM main.sqlite_master m, pragma_index_list(m.name) i
WHERE m.type = 'table' AND (i.partial
	OR EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name) WHERE cid = -2))

-- ?1: name of a table
-- name: column_names
SELECT name, cid FROM pragma_table_info(?1)

-- name: page_table
-- The first page of a table, whose key must be the number of its rows: another
-- key has an index, which of a table WITHOUT ROWID is the table. ?1: its name
SELECT rootpage FROM main.sqlite_master WHERE type = 'table' AND name = ?1
	AND NOT EXISTS (SELECT 1 FROM sqlite_temp_master
		WHERE name = ?1 COLLATE NOCASE)
	AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1)
		WHERE origin = 'pk')

-- name: page_columns
-- Columns of a table, and which of them hold values as they are. ?1: its name
SELECT name, cid, hidden, pk, dflt_value IS NULL
	AND upper(type) IN ('INTEGER', iif(pk, 'INTEGER', ''),
		iif(pk, 'INTEGER', 'BLOB')) AS plain
FROM pragma_table_xinfo(?1)

-- name: page_hold
SELECT 1 AS held FROM sqlite_master

-- name: table_ints
SELECT 1 AS taken FROM "{table}" WHERE {key} > ?1 AND take_ints({columns})

-- ?1: name of a table, ?2: of a column
-- name: has_column
SELECT 1 AS found FROM pragma_table_info(?1) WHERE name = ?2

-- name: shared_id
CREATE TEMP TABLE IF NOT EXISTS shared_id(image INTEGER PRIMARY KEY)

-- ?1: image.kind of modules
-- name: fill_shared_id
INSERT OR IGNORE INTO temp.shared_id
WITH module(id, path, build_id) AS MATERIALIZED (
	SELECT id, path, build_id FROM image
	WHERE kind = ?1 AND build_id IS NOT NULL
)
SELECT id FROM module WHERE build_id IN (SELECT build_id FROM module
	GROUP BY build_id HAVING count(DISTINCT path) > 1)

-- Images without a build-id of whose path there is another file too: nobody
-- knows which of them is at that path on another machine. Of a file system
-- without a disk, /proc and the kernel may have two inodes for one file; only
-- the kernel's have a generation. reused: it had the same inode before or after.
-- name: several_images
SELECT i.id, EXISTS (SELECT 1 FROM image j WHERE j.path = i.path
	AND j.ino = i.ino AND j.maj = i.maj AND j.min = i.min
	AND (j.ino_gen <> i.ino_gen OR coalesce(j.t0, 0) <> coalesce(i.t0, 0)))
	AS reused
FROM image i WHERE i.build_id IS NULL AND i.ino > 0 AND i.path IN (
	SELECT path FROM image WHERE ino > 0 GROUP BY path
	HAVING count(DISTINCT CASE WHEN maj > 0
			THEN maj || ':' || min || ':' || ino END) > 1
		OR count(DISTINCT CASE WHEN ino_gen > 0
			THEN maj || ':' || min || ':' || ino || ':' || ino_gen
			END) > 1
		OR max(coalesce(t0, 0)) > 0)

-- name: several
CREATE TEMP TABLE IF NOT EXISTS several(image INTEGER PRIMARY KEY,
	reused INTEGER)

-- {several}: several_images.
-- name: fill_several
INSERT OR IGNORE INTO temp.several
{several}

-- name: shared_modules
SELECT count(*) AS n FROM temp.shared_id

-- The order in which images are named; empty unless measure_heat fills it.
-- name: heat
CREATE TEMP TABLE IF NOT EXISTS heat(image INTEGER PRIMARY KEY, stacks INTEGER)

-- name: measure_heat
INSERT OR REPLACE INTO temp.heat
SELECT f.image, count(*) FROM stack s CROSS JOIN frame f ON f.id = s.frame
GROUP BY f.image

-- Places in code without a name, and places with a source line.
-- name: named_counts
SELECT (SELECT count(*) FROM (SELECT DISTINCT image, off FROM frame
		WHERE symbol IS NULL)) AS unnamed,
	(SELECT count(*) FROM (SELECT DISTINCT image, off FROM frame
		WHERE line IS NOT NULL)) AS with_line,
	(SELECT count(*) FROM (SELECT DISTINCT f.image, f.off FROM frame f
		JOIN image i ON i.id = f.image
		WHERE f.symbol IS NOT NULL AND i.status = 'unverified'))
		AS doubted

-- The captures, and how many stacks of all were not followed into files that were
-- not there.
-- name: cut_stacks
SELECT (SELECT CAST(total(samples) AS INTEGER) FROM trust
	WHERE class = 'cut (no_file)') AS n, path
FROM capture ORDER BY id

-- ?1: image.id
-- name: known_symbols
SELECT start, name, unverified, id FROM symbol WHERE image = ?1

-- name: same_note
SELECT 1 AS known FROM damage
WHERE kind = 'note' AND what = ?1 AND detail = ?2 AND capture IS NULL LIMIT 1

-- name: image_text
SELECT file, name, hash FROM internal_image_section
WHERE image = ?1 AND name = '.text'

-- name: image_sections
SELECT s.file, s.name, s.hash, i.build_id
FROM internal_image_section s JOIN image i ON i.id = s.image
ORDER BY s.file, s.name, s.image

-- name: put_section
INSERT INTO internal_image_section VALUES(?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET hash = excluded.hash WHERE hash IS NOT excluded.hash

-- An existing name is replaced only by one that has a line. A frame that stays
-- as it is has no effect on the pages of the database.
-- name: name_frame
UPDATE frame SET
	symbol = CASE WHEN symbol IS NULL OR ?6 IS NOT NULL
		THEN coalesce(?2, symbol) ELSE symbol END,
	symoff = CASE WHEN symbol IS NULL OR ?6 IS NOT NULL
		THEN coalesce(?3, symoff) ELSE symoff END,
	vaddr = coalesce(?4, vaddr), file = coalesce(?5, file),
	line = coalesce(?6, line)
WHERE id = ?1 AND ((symbol IS NULL OR ?6 IS NOT NULL)
		AND (symbol, symoff) IS NOT (coalesce(?2, symbol),
			coalesce(?3, symoff))
	OR (vaddr, file, line) IS NOT (coalesce(?4, vaddr), coalesce(?5, file),
		coalesce(?6, line)))

-- What a file that nothing proves said of a frame, all of it, gives way to what
-- the file says that was mapped.
-- name: rename_frame
UPDATE frame SET symbol = ?2, symoff = ?3, vaddr = coalesce(?4, vaddr),
	file = ?5, line = ?6
WHERE id = ?1

-- name: drop_inlined
DELETE FROM inline_frame
WHERE frame IN (SELECT id FROM frame WHERE image = ?1)

-- name: drop_sections
DELETE FROM internal_image_section WHERE image = ?1

-- name: old_segments
SELECT off, vaddr, filesz, flags FROM internal_segment
WHERE image = ?1 ORDER BY rowid

-- name: drop_segments
DELETE FROM internal_segment WHERE image = ?1

-- name: jit_lines
SELECT off, file, line FROM jit_line WHERE image = ?1 ORDER BY off

-- The file of an earlier naming is kept if there is none now, or if it gave names
-- and the one that is there has none.
-- name: image_status
UPDATE image SET file = ?2, status = ?3, identity = ?4
WHERE id = ?1 AND (?2 IS NOT NULL OR file IS NULL)
	AND (coalesce(status, '') NOT IN ('named', 'unverified')
		OR ?3 IN ('named', 'unverified'))
	AND (file, status, identity) IS NOT (?2, ?3, ?4)

-- ?1: raw_chain.id
-- name: raw_chain
SELECT addrs, stack FROM raw_chain WHERE id = ?1

-- Checks of every finished database, for sums.c. sums_copies and sums_gaps must
-- return 0; of merged databases sums_requests and sums_chains the number of all
-- rows; of others that is counted while rows are stored. Requests
-- whose verdict has a word (their ids have no gaps) and agrees with the rest
-- of the row; if a ring overwrote its oldest records there is no loss to refer
-- to. This reads the table once; GROUP BY would sort it.
-- name: sums_requests
SELECT count(*) AS n FROM request WHERE CASE verdict
	WHEN (SELECT id FROM word WHERE kind = 'request' AND name = 'matched')
	THEN chain IS NOT NULL
	WHEN (SELECT id FROM word WHERE kind = 'request' AND name = 'empty')
	THEN chain IS NOT NULL AND uraw IS NULL
	WHEN (SELECT id FROM word WHERE kind = 'request'
		AND name = 'chain_lost')
	THEN chain IS NULL AND (loss IS NOT NULL
		OR EXISTS (SELECT 1 FROM loss WHERE what = 'overwritten'))
	ELSE chain IS NULL AND verdict
		BETWEEN (SELECT min(id) FROM word WHERE kind = 'request')
		AND (SELECT max(id) FROM word WHERE kind = 'request') END

-- name: sums_chains
SELECT count(*) AS n FROM chain WHERE CASE verdict
	WHEN (SELECT id FROM word WHERE kind = 'chain' AND name = 'used')
	THEN n_events > 0
	WHEN (SELECT id FROM word WHERE kind = 'chain'
		AND name = 'sample_lost')
	THEN NOT n_events > 0 AND (loss IS NOT NULL
		OR EXISTS (SELECT 1 FROM loss WHERE what = 'overwritten'))
	ELSE NOT n_events > 0 AND verdict
		BETWEEN (SELECT min(id) FROM word WHERE kind = 'chain')
		AND (SELECT max(id) FROM word WHERE kind = 'chain') END

-- name: sums_overwritten
SELECT EXISTS (SELECT 1 FROM loss WHERE what = 'overwritten') AS yes

-- name: sums_copies
SELECT count(*) AS n FROM chain_copy c WHERE NOT EXISTS (
	SELECT 1 FROM chain h WHERE h.id = c.chain AND h.capture <> c.capture)

-- name: sums_gaps
SELECT abs((SELECT total(n) FROM cookie_gap)
	- (SELECT total(missing) FROM cookie_cpu))
	+ abs((SELECT total(missing) FROM cookie_cpu)
	- (SELECT total(missing) FROM cookies)) AS n

-- User stacks with their own times. kind: 0 of an event, 1 of a chain.
-- ?1: from, ?2: before
-- name: again_stacks
SELECT 0 AS kind, e.id, y.capture, t.process, e.time_ns, e.uraw
FROM event e
JOIN event_type y ON y.id = e.type
JOIN thread t ON t.id = e.thread
WHERE e.uraw IS NOT NULL AND e.time_ns >= ?1 AND e.time_ns < ?2
UNION ALL
SELECT 1, c.id, c.capture, t.process, c.time_ns, c.uraw
FROM chain c
JOIN thread t ON t.id = c.thread
WHERE c.uraw IS NOT NULL AND c.time_ns >= ?1 AND c.time_ns < ?2

-- name: again_table
CREATE TEMP TABLE again(kind INTEGER, id INTEGER, raw INTEGER,
	PRIMARY KEY(kind, id)) WITHOUT ROWID

-- ?1: kind, ?2: id, ?3: raw_chain.id
-- name: put_again
INSERT INTO temp.again VALUES(?1, ?2, ?3)

-- name: again_events
UPDATE event SET uraw = (
	SELECT a.raw FROM temp.again a WHERE a.kind = 0 AND a.id = event.id)
WHERE id IN (SELECT id FROM temp.again WHERE kind = 0)

-- name: again_chains
UPDATE chain SET uraw = (
	SELECT a.raw FROM temp.again a WHERE a.kind = 1 AND a.id = chain.id)
WHERE id IN (SELECT id FROM temp.again WHERE kind = 1)

-- name: again_requests
UPDATE request SET uraw = (
	SELECT a.raw FROM temp.again a
	WHERE a.kind = 1 AND a.id = request.chain)
WHERE uraw IS NOT NULL
	AND chain IN (SELECT id FROM temp.again WHERE kind = 1)

-- As sample_groups.c adds up while events are stored.
-- ?1: flag of a request, exec between; ?2: word 'unwind' of the outermost
-- frame; ?3: what is added to others
-- name: make_groups
INSERT INTO sample_group(type, comm, kernel, user, mark, weight, n,
	kernel_mark)
SELECT e.type, n.id, k.stack, u.stack,
	CASE WHEN r.event IS NOT NULL AND u.stack IS NULL THEN -r.verdict
		WHEN r.flags & ?1 THEN 2
		WHEN u.ended > ?2 THEN ?3 + u.ended END AS mark,
	sum(e.weight), count(*),
	CASE WHEN k.ended > ?2 THEN ?3 + k.ended END
FROM event e
JOIN event_type y ON y.id = e.type AND y.kind = 'sample'
LEFT JOIN request r ON r.event = e.id
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
LEFT JOIN comm c ON c.id = e.comm
LEFT JOIN (SELECT name, min(id) AS id FROM comm GROUP BY name) n
	ON n.name = c.name
GROUP BY e.type, n.id, k.stack, u.stack, 5, 8, e.weight IS NULL

-- The recorder's sum has what the marks of a CPU do not number: ftrace's overrun
-- and dropped events count each record. The excess over the marks is in rows of no
-- place in the file.
-- name: loss_has_sum
UPDATE loss SET counts = 0 WHERE counts AND n IS NULL AND what = 'lost'
	AND (capture, cpu) IN (SELECT capture, cpu FROM loss
		WHERE what IN ('lost', 'lost_total') GROUP BY capture, cpu
		HAVING total(n) FILTER (WHERE what = 'lost_total')
			>= max(1, total(coalesce(n, 1)) FILTER (WHERE what = 'lost'
				AND off)))
