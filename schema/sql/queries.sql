-- queries.sql - the selects behind commands, by name: store_sql("NAME").

-- Frames without a name, image by image. ?1: those too that have a name from a
-- file but no line, which is what is asked again when debug files turned up.
-- name: unnamed
SELECT f.image, f.off, f.id
FROM frame f CROSS JOIN image i ON i.id = f.image
LEFT JOIN temp.heat h ON h.image = f.image
WHERE f.symbol IS NULL OR (?1 AND f.line IS NULL
	AND f.id NOT IN (SELECT frame FROM inline_frame)
	AND EXISTS (SELECT 1 FROM word w WHERE w.kind = 'image'
		AND w.id = i.kind
		AND w.name IN ('file', 'vdso', 'mapping', 'kernel', 'module')))
ORDER BY h.stacks DESC, f.image, f.off, f.id

-- ?1: image.id
-- name: unnamed_image
SELECT kind, path, build_id, maj, min, ino, ino_gen, start, len, t0, process
FROM image WHERE id = ?1

-- The order in which images are named: empty, unless it is measured.
-- name: heat
CREATE TEMP TABLE IF NOT EXISTS heat(image INTEGER PRIMARY KEY, stacks INTEGER)

-- name: measure_heat
INSERT OR REPLACE INTO temp.heat
SELECT f.image, count(*) FROM stack s CROSS JOIN frame f ON f.id = s.frame
GROUP BY f.image

-- What naming has to do, and did: places in code without a name; with a line.
-- name: named_counts
SELECT (SELECT count(*) FROM (SELECT DISTINCT image, off FROM frame
		WHERE symbol IS NULL)),
	(SELECT count(*) FROM (SELECT DISTINCT image, off FROM frame
		WHERE line IS NOT NULL))

-- ?1: image.id
-- name: known_symbols
SELECT start, name, id FROM symbol WHERE image = ?1

-- name: same_note
SELECT 1 FROM damage
WHERE kind = 'note' AND what = ?1 AND detail = ?2 AND capture IS NULL LIMIT 1

-- name: image_text
SELECT file, name, hash FROM image_section WHERE image = ?1 AND name = '.text'

-- name: image_sections
SELECT s.image, s.file, s.name, s.hash, i.build_id
FROM image_section s JOIN image i ON i.id = s.image
ORDER BY s.file, s.name, s.image

-- name: put_section
INSERT OR REPLACE INTO image_section VALUES(?1, ?2, ?3, ?4)

-- A name that is there is replaced by one that comes with a line only.
-- name: name_frame
UPDATE frame SET
	symbol = CASE WHEN symbol IS NULL OR ?6 IS NOT NULL
		THEN coalesce(?2, symbol) ELSE symbol END,
	symoff = CASE WHEN symbol IS NULL OR ?6 IS NOT NULL
		THEN coalesce(?3, symoff) ELSE symoff END,
	vaddr = coalesce(?4, vaddr), file = coalesce(?5, file),
	line = coalesce(?6, line)
WHERE id = ?1

-- name: drop_segments
DELETE FROM segment WHERE image = ?1

-- name: jit_lines
SELECT off, file, line FROM jit_line WHERE image = ?1 ORDER BY off

-- A file that was there when it was named before is not forgotten.
-- name: image_status
UPDATE image SET file = ?2, status = ?3
WHERE id = ?1 AND (?2 IS NOT NULL OR file IS NULL)

-- Every event in time order, for printing; conditions may be appended.
-- name: script_events
SELECT * FROM script_rows

-- ?1: raw_chain.id
-- name: raw_chain
SELECT addrs, stack FROM raw_chain WHERE id = ?1

-- ?1: stack.id. From the innermost frame; functions inlined at a frame come
-- before it (inlined 1).
-- name: path
SELECT pos, symbol, symoff, image, kind, off, flags, inlined, frame, file,
	line, vaddr
FROM (
	SELECT p.pos AS pos, s.name AS symbol, f.symoff AS symoff,
		i.path AS image, w.name AS kind, f.off AS off,
		f.flags AS flags, 0 AS inlined, f.id AS frame, f.file AS file,
		f.line AS line, f.vaddr AS vaddr, 1000000 AS depth
	FROM stack_path p JOIN frame f ON f.id = p.frame
	JOIN image i ON i.id = f.image
	LEFT JOIN word w ON w.kind = 'image' AND w.id = i.kind
	LEFT JOIN symbol s ON s.id = f.symbol
	WHERE p.stack = ?1
	UNION ALL
	SELECT p.pos, n.name, NULL, i.path, w.name, f.off, f.flags, 1, f.id,
		n.file, n.line, f.vaddr, n.depth
	FROM stack_path p JOIN frame f ON f.id = p.frame
	JOIN image i ON i.id = f.image
	JOIN inline_frame n ON n.frame = f.id
	LEFT JOIN word w ON w.kind = 'image' AND w.id = i.kind
	WHERE p.stack = ?1)
ORDER BY pos, depth

-- name: captures
SELECT * FROM capture ORDER BY id

-- Losses that ended in (?1, ?2], for printing between events.
-- name: lost_between
SELECT l.capture, l.what, l.cpu, t.name AS event, l.t0, l.t1, l.n
FROM loss l LEFT JOIN event_type t ON t.id = l.type
WHERE l.t1 > ?1 AND l.t1 <= ?2 ORDER BY l.t1, l.id

-- Samples with the same comm and stacks, added up.
-- name: flame
SELECT t.capture, t.name AS event, c.name AS comm, q.kraw, q.uraw,
	k.stack AS kernel_stack, u.stack AS user_stack, w.name AS verdict,
	q.flags, q.weight, q.n
FROM (SELECT e.type AS type, e.comm AS comm, e.kraw AS kraw,
		coalesce(r.uraw, e.uraw) AS uraw, r.verdict AS verdict,
		coalesce(r.flags, 0) & 2 AS flags, sum(e.weight) AS weight,
		count(*) AS n
	FROM event e LEFT JOIN request r ON r.event = e.id
	WHERE e.type IN (SELECT id FROM event_type WHERE kind = 'sample')
	GROUP BY 1, 2, 3, 4, 5, 6) q
JOIN event_type t ON t.id = q.type
LEFT JOIN comm c ON c.id = q.comm
LEFT JOIN raw_chain k ON k.id = q.kraw
LEFT JOIN raw_chain u ON u.id = q.uraw
LEFT JOIN word w ON w.kind = 'request' AND w.id = q.verdict

-- Checks of every finished database: see check.c. Requests and chains must be
-- as many as there are, the others 0.
-- Requests whose verdict has a word (those have no gaps) and agrees with the
-- rest of the row; a ring that overwrote its oldest records has no loss to
-- name. One walk through the table: a GROUP BY would sort it.
-- name: sums_requests
SELECT count(*) FROM request WHERE CASE verdict
	WHEN (SELECT id FROM word WHERE kind = 'request' AND name = 'matched')
	THEN chain IS NOT NULL
	WHEN (SELECT id FROM word WHERE kind = 'request'
		AND name = 'chain_lost')
	THEN chain IS NULL AND (loss IS NOT NULL
		OR EXISTS (SELECT 1 FROM loss WHERE what = 'overwritten'))
	ELSE chain IS NULL AND verdict
		BETWEEN (SELECT min(id) FROM word WHERE kind = 'request')
		AND (SELECT max(id) FROM word WHERE kind = 'request') END

-- name: sums_chains
SELECT count(*) FROM chain WHERE CASE verdict
	WHEN (SELECT id FROM word WHERE kind = 'chain' AND name = 'used')
	THEN n_events > 0
	WHEN (SELECT id FROM word WHERE kind = 'chain'
		AND name = 'sample_lost')
	THEN NOT n_events > 0 AND (loss IS NOT NULL
		OR EXISTS (SELECT 1 FROM loss WHERE what = 'overwritten'))
	ELSE NOT n_events > 0 AND verdict
		BETWEEN (SELECT min(id) FROM word WHERE kind = 'chain')
		AND (SELECT max(id) FROM word WHERE kind = 'chain') END

-- name: sums_copies
SELECT count(*) FROM chain_copy c WHERE NOT EXISTS (
	SELECT 1 FROM chain h WHERE h.id = c.chain AND h.capture <> c.capture)

-- name: sums_gaps
SELECT abs((SELECT total(n) FROM cookie_gap)
	- (SELECT total(missing) FROM cookie_cpu))
	+ abs((SELECT total(missing) FROM cookie_cpu)
	- (SELECT total(missing) FROM cookies))

-- name: has_switch_fields
SELECT count(*) = 3 FROM pragma_table_info('ev_sched_sched_switch')
WHERE name IN ('event_id', 'prev_state', 'prev_prio')

-- name: switch_fields
-- the state of the thread that a switch takes away, where it was recorded: its
-- bits are those of /proc/PID/stat, in the kernel's order since 4.14
CREATE VIEW switch_state(event, state, prio) AS
SELECT event_id, CASE WHEN prev_state IN (0, 256) THEN
		CASE prev_state WHEN 0 THEN 'R' ELSE 'R+' END
	WHEN prev_state & 1 THEN 'S'
	WHEN prev_state & 128 THEN 'I'
	WHEN prev_state & 2 THEN 'D'
	WHEN prev_state & 4 THEN 'T'
	WHEN prev_state & 8 THEN 't'
	WHEN prev_state & 16 THEN 'X'
	WHEN prev_state & 32 THEN 'Z'
	WHEN prev_state & 64 THEN 'P'
	WHEN typeof(prev_state) = 'text' THEN prev_state END, prev_prio
FROM ev_sched_sched_switch

-- name: switch_no_fields
CREATE VIEW switch_state(event, state, prio) AS
SELECT NULL, NULL, NULL WHERE 0
