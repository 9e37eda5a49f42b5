-- queries_path.sql - the queries of the causes of waits: see
-- analyze/causes/causes.c.

-- name: causes_types
-- Events, with what is known of their captures, and what they report of switches.
-- Events of an ftrace instance are named INSTANCE/EVENT. system_wide -1: not
-- known. line, place: of the piece of a stream; place -1: it is none. filtered: by
-- perf's --filter, which may be abbreviated, simpleperf's --tp-filter, or perf's
-- --uid; the program's own is after '--'.
SELECT id, capture, name, kind, fields, events, weight, system_wide, filtered,
	sampled, no_packets, format, cpus, release, arch, pauses, together, first_ns,
	last_ns, line, place, cmdline, record, CASE WHEN events = 0 AND place < 0 THEN ''
	WHEN kind = 'record' AND name = 'switch' THEN 'record'
	WHEN kind <> 'sample' THEN ''
	WHEN name IN ('sched:sched_switch', 'sched_switch')
		OR name GLOB 'sched:sched_switch[:/]*' THEN 'switch'
	WHEN name IN ('context-switches', 'cs')
		OR name GLOB 'context-switches[:/]*'
		OR name GLOB 'cs[:/]*' THEN 'sample'
	WHEN name = 'offcpu-time' THEN 'wait' ELSE '' END AS role
FROM (
	SELECT t.id, t.capture,
		CASE WHEN t.buffer NOT NULL AND t.name LIKE '%/%'
			THEN substr(t.name, length(t.buffer) + 2)
			ELSE t.name END AS name,
		t.kind, coalesce(t.fields, '') AS fields,
		coalesce(t.events, 0) AS events,
		coalesce(t.weight, 0) AS weight,
		coalesce(c.system_wide, -1) AS system_wide,
		coalesce(substr(c.cmdline, 1, instr(c.cmdline || ' -- ', ' -- '))
			GLOB '* --fi*' OR
			substr(c.cmdline, 1, instr(c.cmdline || ' -- ', ' -- '))
			GLOB '* --tp-filter*' OR
			(c.cmdline GLOB '* -u*' OR c.cmdline GLOB '* --ui*')
			AND EXISTS (SELECT 1 FROM meta WHERE capture = t.capture
				AND key = 'filtered' AND value = 1), 0) AS filtered,
		coalesce(t.how, '') = 'sample' AS sampled,
		coalesce(c.note, '') LIKE '%no-packets%' AS no_packets,
		coalesce(c.format, '') AS format, coalesce(c.cpus, 0) AS cpus,
		coalesce(c.cmdline, '') AS cmdline,
		coalesce(w.waits, 0) AS record,
		coalesce(c.release, '') AS release,
		coalesce(c.arch, '') AS arch,
		coalesce((SELECT value FROM meta WHERE capture = t.capture
			AND key = 'pauses'), -1) AS pauses,
		coalesce(nullif(c.together, 0), c.id, 0) AS together,
		coalesce(c.first_ns, 0) AS first_ns,
		coalesce(c.last_ns, 0) AS last_ns,
		coalesce((SELECT value FROM meta WHERE capture = t.capture
			AND key = 'line'), t.capture) AS line,
		coalesce((SELECT value FROM meta WHERE capture = t.capture
			AND key = 'place'), -1) AS place
	FROM event_type t LEFT JOIN capture c ON c.id = t.capture
	LEFT JOIN internal_recorder w ON w.capture = t.capture)
ORDER BY id

-- name: causes_wide
-- Whether records of switches name who comes when a thread leaves, as those of
-- all threads of a CPU do. ?1: event_type
SELECT EXISTS (SELECT 1 FROM sample_extra y WHERE y.event = x.event
	AND y.name = 'other_tid') AS wide
FROM sample_extra x CROSS JOIN event e ON e.id = x.event AND e.type = ?1
WHERE x.name = 'out' AND x.value LIMIT 1

-- name: causes_captures
-- Captures of the same kernel, and pieces of one stream. placed: their clocks are
-- on one timeline. Clocks of two boots differ from the time of the day by other
-- amounts, and the kernel's code is at another place (merge_kernel_start). ?1:
-- capture
SELECT c.id, coalesce(c.error_ns, 0) AS error_ns, c.id = m.id
	OR coalesce(cl.value = ml.value, 0)
	OR ((c.align IS NULL OR c.error_ns NOT NULL)
		AND (m.align IS NULL OR m.error_ns NOT NULL)
		AND (c.together = m.together OR c.clock = m.clock)) AS placed
FROM capture m CROSS JOIN capture c
LEFT JOIN meta mw ON mw.capture = m.id AND mw.key = 'wall_offset_ns'
LEFT JOIN meta cw ON cw.capture = c.id AND cw.key = 'wall_offset_ns'
LEFT JOIN meta ml ON ml.capture = m.id AND ml.key = 'line'
LEFT JOIN meta cl ON cl.capture = c.id AND cl.key = 'line'
LEFT JOIN meta mk ON mk.capture = m.id AND mk.key = 'kernel_start'
LEFT JOIN meta ck ON ck.capture = c.id AND ck.key = 'kernel_start'
WHERE m.id = ?1 AND (c.id = m.id OR cl.value = ml.value
	OR c.together = m.together OR (c.host = m.host
		AND c.release = m.release AND coalesce(ck.value = mk.value, 1)
		AND (c.clock IS NOT m.clock
		OR coalesce(abs(cw.value - mw.value) < 10000000000, 1))))

-- name: causes_threads
-- columns: id tid capture
SELECT t.id, coalesce(t.tid, -1) AS tid, coalesce(p.capture, 0) AS capture
FROM thread t LEFT JOIN process p ON p.id = t.process ORDER BY t.id

-- name: limits_table
-- Where the readings of 'record --waits' are, if there are any.
SELECT fields, (SELECT coalesce(host, '') FROM capture WHERE id = ?2) AS host
FROM event_type WHERE name = ?1 AND fields NOT NULL LIMIT 1

-- name: limits_rows
-- alone: no other capture says which kernel this one is of.
-- columns: time_ns capture alone event_id ...
SELECT e.time_ns, t.capture, NOT EXISTS (SELECT 1 FROM capture c
	JOIN capture o ON o.together = c.together AND o.id <> c.id
	WHERE c.id = t.capture) AS alone, x.* FROM "{table}" x
JOIN event e ON e.id = x.event_id JOIN event_type t ON t.id = e.type
ORDER BY x.event_id

-- name: causes_execs
-- When the first threads of processes called exec.
SELECT c.time_ns, t.tid, coalesce(p.capture, 0) AS capture
FROM comm c JOIN thread t ON t.id = c.thread
JOIN process p ON p.id = t.process AND p.pid = t.tid
WHERE c.exec AND c.time_ns NOT NULL AND t.tid > 0 ORDER BY c.id

-- name: causes_comms
-- The names of threads, the last one of each last.
SELECT t.tid, coalesce(p.pid, -1) AS pid, c.name,
	coalesce(p.capture, 0) AS capture
FROM comm c JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process
WHERE t.tid > 0 AND c.name NOT NULL ORDER BY c.id

-- name: causes_addrs
SELECT id, addrs FROM raw_chain WHERE addrs NOT NULL

-- name: causes_losses
-- Where records of the scheduler may be missing; a loss that ends before it
-- begins has no known end. ?1: capture, ?2: event_type of the switches
SELECT l.id, coalesce(l.cpu, -1) AS cpu, l.t0,
	CASE WHEN l.t1 < l.t0 THEN NULL ELSE l.t1 END AS t1,
	CASE WHEN l.what IN ('lost', 'lost_end') THEN l.n END AS n,
	l.what = 'silent' AS silent
FROM loss l
WHERE l.capture = ?1 AND ?2 AND l.what NOT IN
	('filtered', 'aux', 'lost_total', 'read_lost', 'hardware', 'throttled',
	'mappings')
ORDER BY coalesce(l.t0, -9223372036854775807), l.id

-- name: path_program
-- The program with which a recording began: its process, since its first exec.
-- perf gives its child the name perf-exec, trace-cmd leaves it its own. So does
-- one that records at the same time: what perf notes of its command, if it does, has the
-- name of the program, after "--" if that is there, as 'record' writes it; and its
-- child was there before the first record. What a note does not name is of another
-- recorder; perf 7.2 notes its own path alone. A sleep only says for how long all CPUs
-- are recorded, and timeout is 'record --for', which starts the program. It may
-- end in a later piece of a stream.
SELECT coalesce(k.pid, x.pid) AS pid, coalesce(e.time_ns, x.t0) AS t0,
	CASE WHEN k.id IS NULL THEN x.t1 ELSE k.end_ns END AS t1,
	coalesce(e.name, x.name) AS name, coalesce(x.capture, 0) AS capture FROM (
SELECT p.id, p.pid, p.capture, min(c.time_ns) AS t0, coalesce(p.end_ns,
	(SELECT min(q.end_ns) FROM meta l JOIN meta m ON m.key = 'line'
		AND m.value = l.value
	JOIN process q ON q.capture = m.capture AND q.pid = p.pid
	WHERE l.capture = p.capture AND l.key = 'line'
		AND q.end_ns > c.time_ns)) AS t1, c.name,
	(SELECT max(instr('/' || substr(word, 1, instr(word || ' ', ' ') - 1), '/' || c.name) > 0)
	FROM (SELECT substr(cmdline, instr(cmdline, ' -- ') + 4) AS word FROM capture
	WHERE instr(cmdline, c.name))) AS noted
FROM comm c JOIN thread t ON t.id = c.thread JOIN process p ON p.id = t.process
WHERE c.exec AND c.time_ns NOT NULL AND EXISTS (SELECT 1 FROM comm d
	WHERE d.thread = t.id AND d.id < c.id
	AND d.name IN ('perf-exec', 'trace-cmd'))
GROUP BY p.id HAVING p.pid > 0
ORDER BY noted DESC, p.start_ns NOT NULL, 2
LIMIT 1) x LEFT JOIN comm e ON e.id = (SELECT min(c.id) FROM process q
	JOIN thread t ON t.process = q.id JOIN comm c ON c.thread = t.id
	WHERE x.name = 'timeout' AND q.parent = x.id AND c.exec)
LEFT JOIN thread t ON t.id = e.thread LEFT JOIN process k ON k.id = t.process
WHERE x.name <> 'sleep' AND (noted NOT NULL
	OR NOT EXISTS (SELECT 1 FROM capture WHERE cmdline GLOB '* *'))

-- name: path_computed
-- Whether a process, by its pid, has a stack: one that hangs has none.
SELECT 1 AS computed FROM event e JOIN thread t ON t.id = e.thread
JOIN process p ON p.id = t.process
WHERE p.pid = ?1 AND (e.kraw NOT NULL OR e.uraw NOT NULL) LIMIT 1

-- name: interval_types
-- Events that may begin or end intervals, without the name of an ftrace
-- instance. Of timers record --waits leaves out most entries, but no exit.
SELECT t.id, t.capture,
	CASE WHEN r.name = 'record' AND t.name GLOB '*timer:hrtimer_expire_*'
		THEN ''
		WHEN t.buffer NOT NULL AND t.name LIKE '%/%'
		THEN substr(t.name, length(t.buffer) + 2)
		ELSE t.name END AS name,
	coalesce(t.buffer, '') AS buffer, t.kind = 'sample' AS sample,
	coalesce(t.how, '') = 'sample' AS sampled,
	coalesce(c.format, '') AS format, coalesce(c.arch, '') AS arch,
	coalesce(c.system_wide, -1) AS system_wide,
	coalesce((SELECT value FROM meta WHERE capture = t.capture
		AND key = 'pauses'), -1) AS pauses
FROM event_type t LEFT JOIN capture c ON c.id = t.capture
LEFT JOIN internal_recorder r ON r.capture = t.capture
ORDER BY t.id

-- name: interval_cuts
-- Whether a stream goes on in a piece that is not there.
SELECT count(*) FILTER (WHERE key = 'cut_before') > next AS before,
	count(*) FILTER (WHERE key = 'cut_behind') > next AS behind
FROM meta, (SELECT count(*) AS next FROM meta WHERE key = 'place' AND value)

-- name: interval_lines
-- The first piece of the stream that each capture is of.
SELECT capture, value AS line FROM meta WHERE key = 'line'

-- name: interval_lives
-- Threads of pieces of streams, and when the piece before ended.
SELECT h.id AS thread, l.value AS line, h.tid, p.value AS place, h.start_ns,
	h.end_ns, b.last_ns AS before_ns
FROM meta l JOIN meta p ON p.capture = l.capture AND p.key = 'place'
JOIN process o ON o.capture = l.capture
JOIN thread h ON h.process = o.id AND h.tid >= 0
LEFT JOIN (SELECT m.value AS line, q.value AS place, c.last_ns
	FROM meta m JOIN meta q ON q.capture = m.capture AND q.key = 'place'
	JOIN capture c ON c.id = m.capture WHERE m.key = 'line') b
	ON b.line = l.value AND b.place = p.value - 1
WHERE l.key = 'line'
ORDER BY line, h.tid, place, h.start_ns, h.end_ns IS NULL, h.end_ns, h.id

-- name: kernels
-- The images of kernels, as code_images.
SELECT kind, coalesce(path, '') AS path, build_id, maj, min, ino, ino_gen,
	coalesce(start, 0) AS start, coalesce(len, 0) AS len
FROM image WHERE kind = 3

-- name: lock_names
-- Locks that are symbols of the kernel.
SELECT capture, substr(key, 6) AS addr, value AS name FROM meta
WHERE key LIKE 'lock %'

-- name: data_names
-- Names of data of files: see analyze/names/data_maps.h.
SELECT key, value AS name FROM meta WHERE key LIKE 'data %'

-- name: data_mappings
-- Mappings of code of files: those of programs that record no protection, too.
SELECT m.process, m.image, m.start, m.pgoff,
	coalesce(m.t0, -9223372036854775807) AS t0,
	coalesce(m.t1, 9223372036854775807) AS t1
FROM mapping m JOIN image i ON i.id = m.image
WHERE m.process > 0 AND i.kind = 2 AND coalesce(i.len, 0) = 0
	AND (coalesce(m.prot, 0) = 0 OR m.prot & 4)
ORDER BY m.process, m.start, m.id

-- name: data_processes
SELECT t.process AS id, l.name FROM thread t
JOIN process p ON p.id = t.process AND p.pid = t.tid
JOIN last_comm l ON l.thread = t.id WHERE l.name NOT NULL

-- name: data_threads
SELECT id, coalesce(process, 0) AS process FROM thread ORDER BY id

-- name: data_images
-- What tells an image from others, in any database.
SELECT id, printf('%d:%d %s %s', coalesce(ino, 0), coalesce(ino_gen, 0),
	lower(hex(coalesce(build_id, ''))), coalesce(path, '')) AS which
FROM image ORDER BY id

-- name: data_files
-- As code_images, of files. doubted: what was found shows that it is another
-- file, or nothing shows that it is this one. several: at least those of
-- several_images.
SELECT id, kind, coalesce(path, '') AS path, build_id, maj, min, ino, ino_gen,
	CASE WHEN status = 'unverified' AND NOT
		ifnull(identity GLOB 'read:*', 0) THEN file END AS settled,
	coalesce(identity GLOB 'doubted: *' OR status IN
		('unverified', 'other build-id', 'replaced'), 0) AS doubted,
	build_id IS NULL AND path IN (SELECT path FROM image
		GROUP BY path HAVING count(*) > 1) AS several
FROM image WHERE kind = 2 AND coalesce(len, 0) = 0 ORDER BY id

-- name: interval_threads
-- Threads. short: all code of the process is below 4 GiB, as only that of a
-- program of 32 bits is: ld.so and the vdso of others are above.
SELECT t.id, coalesce(t.tid, -1) AS tid, coalesce(t.process, 0) AS process,
	coalesce(p.pid, -1) AS pid, coalesce(l.name, '') AS comm,
	coalesce(m.top < 4294967296, 0) AS short,
	coalesce(t.start_ns, -9223372036854775807 - 1) AS born,
	coalesce(t.end_ns, 0) AS died
FROM thread t LEFT JOIN process p ON p.id = t.process
LEFT JOIN last_comm l ON l.thread = t.id
LEFT JOIN (SELECT process, max("end") AS top FROM mapping
	WHERE process > 0 GROUP BY process) m ON m.process = t.process
ORDER BY t.id

-- name: files_processes
SELECT p.pid, coalesce(q.pid, 0) AS parent,
	coalesce(p.start_ns, -9223372036854775807 - 1) AS start,
	coalesce(p.capture, 0) AS capture
FROM process p LEFT JOIN process q ON q.id = p.parent
WHERE p.id > 0 AND p.pid > 0
