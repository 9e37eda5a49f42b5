-- queries_cli.sql - the queries of info, ingest's summary, script, query and
-- the filters.

-- name: capture_range
SELECT min(first_ns) AS first_ns, max(last_ns) AS last_ns FROM capture

-- name: filter_events
SELECT name FROM event_type WHERE kind = 'sample' GROUP BY name ORDER BY min(id)

-- The columns of filter_* are those of filter_events.
-- name: filter_pids
SELECT CAST(pid AS TEXT) AS name FROM process WHERE pid >= 0
GROUP BY pid ORDER BY min(id)

-- name: filter_tids
SELECT CAST(tid AS TEXT) AS name FROM thread WHERE tid >= 0
GROUP BY tid ORDER BY min(id)

-- name: filter_comms
SELECT name FROM comm GROUP BY name ORDER BY min(id)

-- Events that were recorded with a cgroup: its path, or its number if that is
-- all there is.
-- name: event_cgroup
SELECT x.event AS event_id, coalesce(g.path, x.value) AS cgroup
FROM sample_extra x
JOIN event e ON e.id = x.event
JOIN event_type t ON t.id = e.type
LEFT JOIN (SELECT t.capture, n.value AS id,
		CAST(min(p.value) AS TEXT) AS path
	FROM event_type t
	JOIN event e ON e.type = t.id
	JOIN sample_extra n ON n.event = e.id AND n.name = 'id'
	JOIN sample_extra p ON p.event = e.id AND p.name = 'path'
	WHERE t.kind = 'record' AND t.name = 'cgroup'
	GROUP BY t.capture, n.value) g
	ON g.capture = t.capture AND g.id = x.value
WHERE x.name = 'cgroup'

-- name: filter_cgroups
SELECT cgroup AS name FROM ({event_cgroup}) GROUP BY cgroup
ORDER BY min(event_id)

-- name: filter_cpus
SELECT DISTINCT CAST(cpu AS TEXT) AS name FROM event
WHERE cpu >= 0

-- The readings of 'record --waits' have no code, and no release.
-- name: capture_machines
SELECT DISTINCT host, release, format = 'ctf' AS ctf FROM capture c
WHERE NOT format = 'ftext' OR EXISTS (SELECT 1 FROM event_type t
	WHERE t.capture = c.id AND t.name NOT GLOB 'limits_*')

-- When recorders wrote all captures that have inodes, if that is known of each;
-- before: not later, if that is.
-- name: capture_written
SELECT min(a.value) AS since, max(z.value) AS until,
	min(c.first_ns) AS first,
	max(0, max(z.value - c.last_ns) - min(a.value - c.first_ns)) AS slack,
	count(*) = count(a.value + z.value) AS known,
	CASE count(*) WHEN count(b.value) THEN max(b.value) ELSE 0 END AS before
FROM capture c
LEFT JOIN meta a ON a.capture = c.id AND a.key = 'written_since_ns'
LEFT JOIN meta z ON z.capture = c.id AND z.key = 'written_until_ns'
LEFT JOIN meta b ON b.capture = c.id AND b.key = 'written_before_ns'
WHERE c.format = 'perf'

-- name: info_captures
SELECT id, path, format, bytes, host, release, version, arch, cmdline, cpus,
	clock, first_ns, last_ns, records, samples, system_wide, exact_order,
	complete, note, align, offset_ns, drift_ppb, error_ns, pairs, together,
	(SELECT m.value FROM meta m WHERE typeof(m.value) = 'integer'
		AND m.capture = capture.id AND m.key = 'wall_offset_ns')
		AS wall_offset_ns,
	(SELECT sum(o.n) FROM ordering o WHERE o.capture = capture.id
		AND o.what = 'regress') AS steps_back,
	(SELECT max(o.by_ns) FROM ordering o WHERE o.capture = capture.id
		AND o.what = 'regress') AS step_ns
FROM capture ORDER BY id

-- How long was recorded. Captures may be of different hosts or boots, whose times
-- are not related, so what is between them counts no more than what overlaps.
-- name: info_span
SELECT total(samples) AS samples,
	total(max(0, last_ns - max(first_ns, coalesce(seen, first_ns)))) AS ns
FROM (SELECT samples, first_ns, last_ns, max(last_ns) OVER (ORDER BY first_ns
	ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS seen FROM capture)

-- The captures whose times count ticks of a clock: a note says so, and no other
-- capture tells how long a tick is.
-- name: info_ticks
SELECT d.capture, coalesce(c.clock, '') AS clock
FROM damage d
JOIN capture c ON c.id = d.capture
WHERE d.kind = 'note' AND d.what = 'clock' AND d.detail LIKE '%no nanoseconds%'
	AND coalesce(c.align, 'reference') = 'reference'

-- name: info_events
SELECT capture, name, kind, has_chain, defer AS deferred, events, weight, how,
	unit
FROM event_type
WHERE kind = 'sample' OR events > 0
ORDER BY id

-- name: info_counts
SELECT (SELECT count(*) FROM process WHERE id > 0) AS processes,
	(SELECT count(*) FROM thread) AS threads,
	(SELECT count(*) FROM mapping) AS mappings,
	(SELECT count(*) FROM image) AS images,
	(SELECT count(*) FROM frame) AS frames,
	(SELECT count(*) FROM frame WHERE symbol IS NOT NULL) AS named_frames,
	(SELECT count(*) FROM stack) AS stacks

-- The kinds of samples, and whether any event takes stacks.
-- name: trust_classes
WITH named(name, first) AS MATERIALIZED (
	SELECT name, min(id) FROM event_type GROUP BY name
)
SELECT c.type, coalesce(c.mark, 0) AS mark,
	coalesce(c.judged, '') AS judged, coalesce(c.frames, 0) AS frames,
	c.class, c.n, coalesce(c.fix, '') AS fix, coalesce(c.image, 0) AS image,
	coalesce(i.path, '') AS path, coalesce(s.functions, 0) AS functions,
	coalesce(s.framed, 0) AS framed,
	(SELECT max(has_chain) FROM event_type) AS chains,
	x.first, coalesce(k.cmdline, '') AS cmdline,
	coalesce(r.waits, 0) AS record
FROM internal_trust_class c
LEFT JOIN event_type t ON t.id = c.type
LEFT JOIN named x ON x.name = t.name
LEFT JOIN capture k ON k.id = t.capture
LEFT JOIN internal_recorder r ON r.capture = t.capture
LEFT JOIN image i ON i.id = c.image
LEFT JOIN internal_frame_share s ON s.image = c.image
ORDER BY c.n DESC, c.class, c.fix, c.image

-- The functions that stacks end early in, as they set no frame pointer.
-- name: trust_ends
SELECT j.stack, coalesce(y.name, '') AS function, i.id AS image
FROM internal_judged j
JOIN word w ON w.kind = 'judged' AND w.id = j.class
	AND w.name = 'ends early (function)'
JOIN frame f ON f.id = (SELECT p.frame FROM stack_path p
	WHERE p.stack = j.stack ORDER BY p.pos DESC LIMIT 1)
JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
ORDER BY 2, i.path, 3

-- name: info_requests
SELECT verdict, n, confidence = 'unexplained' AND verdict <> 'unexplained'
	AS doubt, sum(n) OVER () AS sum
FROM verdicts WHERE kind = 'request' AND n > 0 ORDER BY n DESC, verdict

-- name: info_verdicts
SELECT kind, verdict, confidence, n FROM verdicts
WHERE n > 0 ORDER BY kind DESC, n DESC, verdict

-- name: info_damage
SELECT capture, kind, what, off, len, n, detail FROM damage
ORDER BY kind, capture, id

-- name: info_unnamed
SELECT i.path, i.status, count(*) AS frames, w.name = 'anon' AS generated,
	CASE WHEN i.identity GLOB 'refused: build-id *'
		THEN ' (recorded ' || lower(hex(i.build_id)) || ', here '
			|| substr(i.identity, 19) || ')' ELSE '' END AS ids
FROM frame f JOIN image i ON i.id = f.image
JOIN word w ON w.kind = 'image' AND w.id = i.kind AND w.name IN ('file',
	'kernel', 'module', 'vdso', 'mapping', 'anon')
WHERE f.symbol IS NULL
GROUP BY i.path, i.status, ids ORDER BY frames DESC, i.path

-- Samples in code of no image, by the function that called it. placed: it is
-- known where the kernel's own code was.
-- name: info_unmapped
SELECT w.name AS kind, c.name AS caller, CAST(total(g.n) AS INTEGER) AS samples,
	CAST((SELECT total(n) FROM sample_group) AS INTEGER) AS counted,
	EXISTS (SELECT 1 FROM image k JOIN word v ON v.kind = 'image'
		AND v.id = k.kind AND v.name = 'kernel') AS placed
FROM sample_group g
JOIN stack s ON s.id = coalesce(g.kernel, g.user)
JOIN frame f ON f.id = s.frame
JOIN image i ON i.id = f.image
JOIN word w ON w.kind = 'image' AND w.id = i.kind
	AND w.name IN ('unknown', 'unknown_kernel')
LEFT JOIN stack p ON p.id = s.parent
LEFT JOIN frame o ON o.id = p.frame
LEFT JOIN symbol c ON c.id = o.symbol
GROUP BY w.name, c.name ORDER BY samples DESC, w.name, c.name

-- Files whose names nothing proves, with the samples that were taken in them, of
-- how many. {images}: unverified_images. asked: the recorder was told to take
-- build-ids of mappings.
-- name: unverified_files
SELECT i.path, i.other, i.copy, i.identity, (SELECT max(cmdline LIKE '%--buildid-mmap%')
		FROM capture) AS asked, CAST(total(g.n) AS INTEGER) AS samples,
	CAST((SELECT total(n) FROM sample_group) AS INTEGER) AS counted
FROM sample_group g
JOIN stack s ON s.id = coalesce(g.kernel, g.user)
JOIN frame f ON f.id = s.frame
JOIN (
{images}
) i ON i.id = f.image AND NOT i.gone
GROUP BY i.path, i.other, i.copy, i.identity ORDER BY samples DESC, i.path

-- Images whose names nothing proves. other: another file is at the path. A debug
-- file alone is proved by its build-id: there, only offsets are a guess. gone:
-- there are no names, as only another file was found. replaced: the capture tells
-- that it was. inode: of a file next to which a second one was mapped from the
-- path, if that had another inode; else 0. copy: of its code in
-- other memory. identity: '' in a database of an older schema.
-- name: unverified_images
SELECT i.id, i.path, i.build_id IS NOT NULL AS other,
	i.status = 'replaced' AS gone,
	i.path GLOB '* (deleted)' OR coalesce(i.t0, 0) > 0 OR ifnull(j.same, 0)
		AS replaced,
	CASE WHEN i.status = 'replaced' AND NOT j.same THEN coalesce(i.ino, 0)
		ELSE 0 END AS inode,
	i.len > 0 AS copy, coalesce(i.identity, '') AS identity
FROM image i
JOIN word w ON w.kind = 'image' AND w.id = i.kind
	AND w.name IN ('file', 'mapping')
LEFT JOIN (SELECT a.id, max(b.maj = a.maj AND b.min = a.min AND b.ino = a.ino) AS same
	FROM image a JOIN image b ON b.path = a.path AND b.id <> a.id AND b.ino > 0
	WHERE a.status = 'replaced' GROUP BY a.id) j ON j.id = i.id
WHERE i.status = 'replaced' OR i.identity GLOB 'doubted: *'
	OR (i.status = 'unverified'
	AND coalesce(i.identity, '') NOT GLOB 'proved:*'
	AND coalesce(i.identity, '') NOT GLOB 'read:*')

-- Processes that mapped an image, the last ones first, with what settles it.
-- ?1: image.id
-- name: image_roots
SELECT i.kind, coalesce(i.path, '') AS path, NULL AS build_id, i.maj, i.min,
	i.ino, i.ino_gen, NULL AS settled, p.pid, c.host, c.release
FROM mapping m JOIN process p ON p.id = m.process
JOIN capture c ON c.id = p.capture JOIN image i ON i.id = m.image
WHERE m.image = ?1 AND p.pid > 0 AND i.ino > 0 AND i.path GLOB '/*'
GROUP BY p.pid, c.id ORDER BY max(m.id) DESC LIMIT 64

-- name: stacks
SELECT id, coalesce(parent, 0) AS parent, frame FROM stack ORDER BY id

-- Return addresses that follow no call.
-- name: print_bogus
SELECT c.frame, w.name FROM internal_callsite c
JOIN word w ON w.kind = 'callsite' AND w.id = c.kind
	AND w.name IN ('no_call', 'no_code')

-- name: print_losses
SELECT what, cpu, t0, t1, n FROM loss
WHERE what <> 'filtered' AND ifnull(t1 >= ?1, 1) AND ifnull(t0 < ?2, 1)
ORDER BY coalesce(t1, 9223372036854775807), id

-- name: print_extras
SELECT event, name, value FROM sample_extra
WHERE name IN ('addr', 'phys_addr', 'weight', 'data_page_size')

-- name: print_events
SELECT e.id, e.time_ns, e.cpu, e.comm, e.type, e.weight, e.kraw,
	coalesce(r.uraw, e.uraw) AS uraw, r.verdict, r.flags, e.thread,
	r.ip, r.confidence, e.payload
FROM event e LEFT JOIN request r ON r.event = e.id
WHERE {wanted} {order}

-- name: list_views
SELECT m.name AS view, group_concat(c.name, ', ') AS columns
FROM (SELECT name, type FROM sqlite_schema
	UNION SELECT name, type FROM sqlite_temp_schema) m,
	pragma_table_info(m.name) c
WHERE m.type = 'view' GROUP BY m.name ORDER BY m.name

-- The views to begin with, and what they are: the first sentence of the comment
-- that follows AS in their text. Columns as of list_views.
-- name: list_first
WITH first(place, name) AS (
	VALUES (1, 'samples'), (2, 'full_stack'), (3, 'hot_functions'),
		(4, 'folded'), (5, 'maps'), (6, 'trust'), (7, 'verdicts'),
		(8, 'findings'), (9, 'causality_errors'), (10, 'unsymbolized')
), said(place, name, text) AS (
	SELECT f.place, f.name,
		substr(m.sql, instr(m.sql, char(10) || '-- ') + 4)
	FROM first f JOIN sqlite_schema m ON m.name = f.name
		AND m.type = 'view'
)
SELECT name AS view, substr(text, 1, instr(text, '.' || char(10)) - 1)
	AS columns
FROM said ORDER BY place

-- name: list_tables
SELECT m.name AS 'table', group_concat(c.name, ', ') AS columns
FROM sqlite_schema m, pragma_table_info(m.name) c
WHERE m.type = 'table' GROUP BY m.name
UNION ALL
SELECT m.column1 || ' (computed)', group_concat(c.name, ', ')
FROM (VALUES ('blame'), ('call'), ('counter'), ('interval'), ('state_interval'), ('stay'), ('wait'), ('wake')) m,
	pragma_table_info(m.column1) c
GROUP BY 1 ORDER BY 1

-- name: near_columns
-- ?1: the statement; columns of its tables come first
SELECT c.name, instr(lower(?1), lower(m.name)) > 0 AS meant, m.name AS holder
FROM sqlite_schema m, pragma_table_info(m.name) c
WHERE m.type IN ('table', 'view')
ORDER BY meant DESC, length(c.name), c.name

-- name: near_tables
SELECT name, 1 AS meant, '' AS holder FROM (SELECT name FROM sqlite_schema
	WHERE type IN ('table', 'view')
	UNION ALL
	SELECT name FROM backstitch_functions WHERE help LIKE 'rows:%')
ORDER BY length(name), name

-- name: near_functions
SELECT DISTINCT name, 1 AS meant, '' AS holder FROM pragma_function_list
ORDER BY length(name), name

-- name: list_functions
SELECT name || '(' || args || ')' AS function, help
FROM backstitch_functions ORDER BY name

-- name: print_formats
SELECT t.id, coalesce(t.fields, '') AS fields, t.format,
	coalesce(c.note LIKE '%big-endian%', 0) AS big_endian,
	coalesce(c.arch, '') AS arch, coalesce(c.release, '') AS release,
	coalesce(c.format = 'ftext', 0) AS is_text, t.name, t.events
FROM event_type t LEFT JOIN capture c ON c.id = t.capture ORDER BY t.id

-- Functions of the kernel and its modules with the addresses in them that stacks
-- or payloads have.
-- name: payload_symbols
SELECT DISTINCT i.start + s.start AS addr, iif(s.how = 'kallsyms', s.size, 0)
	AS size, coalesce(s.raw_name, s.name) AS name, i.kind = 4 AS is_module,
	coalesce(i.path, '') AS path, max(f.off) + i.start AS last
FROM frame f JOIN image i ON i.id = f.image JOIN symbol s ON s.id = f.symbol
WHERE i.kind IN (3, 4) AND i.start IS NOT NULL GROUP BY s.id ORDER BY 1

-- Events with a raw payload, for rows_ints(), and the payload.
-- ?1: the event before the first
-- name: payloads
SELECT id, data FROM payload ORDER BY id

-- ?1: id
-- name: payload_data
SELECT data FROM payload WHERE id = ?1

-- name: list_ev_tables
SELECT name FROM sqlite_schema
WHERE type = 'table' AND name LIKE 'ev\_%' ESCAPE '\'

-- What follow says about a segment, besides its losses.
-- name: follow_glance
SELECT (SELECT coalesce(sum(samples), 0) FROM capture) AS samples,
	(SELECT coalesce(sum(n), 0) FROM verdicts
		WHERE kind = 'request' AND verdict = 'pending_end') AS open

-- name: print_ev_rows
-- columns: event_id ...
SELECT * FROM "{table}" ORDER BY event_id

-- name: record_events
SELECT count(*) AS n FROM event

-- What a recording teaches the next one. others: the processes with samples,
-- without pid ?1, what it started, and ?2.
-- name: record_learned
WITH RECURSIVE ours(id) AS (SELECT id FROM process WHERE pid = ?1
	UNION SELECT p.id FROM process p JOIN ours o ON p.parent = o.id)
SELECT coalesce((SELECT max(cmdline) FROM capture), '') AS cmdline,
	coalesce((SELECT max(CAST(value AS INTEGER)) FROM meta
		WHERE key = 'dump_bytes'), 0) AS dump,
	(SELECT CAST(total(n) AS INTEGER) FROM loss WHERE counts) AS lost,
	(SELECT group_concat(pid) FROM process WHERE pid > 0 AND pid <> ?2
		AND id NOT IN (SELECT id FROM ours) AND id IN (
			SELECT h.process FROM event e
			JOIN thread h ON h.id = e.thread)) AS others
