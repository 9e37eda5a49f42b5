-- queries_merge.sql - the queries of merge: what is read of each database, in
-- the order of the columns of the tables, and how captures fit together. A
-- column is called as what it refers to (merge_copy.c).

-- What a capture is known by: its content as far as its rows tell, not its
-- path. A merged database has stored it.
-- name: merge_known
SELECT c.id, c.first_ns, c.last_ns,
	coalesce(c.align IS NOT NULL, 0) AS aligned,
	coalesce(c.host, '') || ' ' || coalesce(c.release, '') AS place,
	(SELECT count(symbol) + count(line) FROM frame) AS named,
	(SELECT value FROM meta WHERE meta.capture = c.id
		AND key = 'wall_offset_ns') AS wall,
	coalesce((SELECT value FROM meta WHERE meta.capture = c.id
		AND key = 'content'),
	printf('%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s', c.format, c.bytes,
		c.host, c.release, c.version, c.arch, c.cmdline, c.clock,
		c.records, c.samples, c.first_ns - coalesce(c.offset_ns, 0),
		CASE WHEN coalesce(c.drift_ppb, 0) = 0
			THEN c.last_ns - c.first_ns END,
		(SELECT group_concat(name || ' ' || events || ' ' || weight,
				';')
			FROM (SELECT name, coalesce(events, 0) AS events,
				coalesce(weight, 0) AS weight FROM event_type t
				WHERE t.capture = c.id ORDER BY 1, 2, 3))))
		AS content
FROM capture c ORDER BY c.id

-- name: merge_is_result
SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'content') AS is_result

-- name: merge_captures
SELECT id, path, format, bytes, host, release, version, arch, cmdline, cpus,
	clock, first_ns, last_ns, records, samples, system_wide, exact_order,
	complete, note, align, offset_ns, drift_ppb, error_ns, pairs, together
FROM capture ORDER BY id

-- name: merge_put_capture
INSERT INTO capture VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
	?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)

-- name: merge_meta
SELECT capture, key, value FROM meta WHERE capture > 0

-- name: put_meta
INSERT OR REPLACE INTO meta VALUES(?1, ?2, ?3)

-- name: merge_type_ids
SELECT id, capture FROM event_type ORDER BY id

-- name: merge_event_types
SELECT id, capture, name, kind, type, config, sample_type, period, freq,
	has_chain, has_cpu, has_time, defer, defer_output, events, weight,
	format, fields, buffer, how, unit
FROM event_type ORDER BY id

-- name: merge_put_event_type
INSERT INTO event_type VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
	?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)

-- name: merge_process_ids
SELECT id, capture FROM process WHERE id > 0 ORDER BY id

-- name: merge_thread_ids
SELECT id, process FROM thread ORDER BY id

-- name: merge_comm_ids
SELECT id, thread FROM comm ORDER BY id

-- name: merge_loss_ids
SELECT id, capture FROM loss ORDER BY id

-- name: merge_chain_ids
SELECT id, capture FROM chain ORDER BY id

-- name: merge_processes
SELECT id, capture, pid, parent, start_ns, end_ns FROM process WHERE id > 0
ORDER BY id

-- name: merge_threads
SELECT id, process, tid, start_ns, end_ns FROM thread ORDER BY id

-- name: merge_comms
SELECT id, thread, time_ns, exec, name, label FROM comm ORDER BY id

-- name: merge_mappings
SELECT id, process, start, "end", pgoff, image, prot, flags, t0, t1
FROM mapping ORDER BY id

-- name: merge_images
SELECT id, kind, path, build_id, maj, min, ino, ino_gen, start, len, t0,
	process, file, status, identity
FROM image ORDER BY id

-- name: merge_symbols
SELECT id, image, start, size, name, raw_name, how, unverified FROM symbol
ORDER BY id

-- name: merge_frames
SELECT f.id, f.image, off, flags, vaddr, symbol, symoff, f.file, line,
	i.status IS NOT 'unverified' AS proved
FROM frame f LEFT JOIN image i ON i.id = f.image ORDER BY f.id

-- name: merge_stacks
SELECT id, parent AS above, frame, depth, hash FROM stack ORDER BY id

-- name: merge_raws
SELECT id, stack, addrs, ended, caller FROM raw_chain ORDER BY id

-- name: merge_inlined
SELECT frame, depth, name, file, line FROM inline_frame ORDER BY rowid

-- name: merge_jit_code
SELECT image, machine, addr, bytes FROM jit_code ORDER BY image

-- name: merge_jit_lines
SELECT image, off, file, line FROM jit_line ORDER BY image, off

-- name: merge_segments
SELECT image, off, vaddr, filesz, flags FROM internal_segment ORDER BY rowid

-- name: merge_sections
SELECT image, file, name, hash FROM internal_image_section
ORDER BY image, file, name

-- name: merge_sites
SELECT frame, kind, coalesce(target, 0) AS target, unverified
FROM internal_callsite ORDER BY frame

-- name: merge_ends
SELECT frame, coalesce(start, 0) AS start, coalesce(open, 0) AS open,
	coalesce(bytes, 0) AS bytes, coalesce(sframe, 0) AS sframe
FROM internal_end ORDER BY frame

-- name: merge_shares
SELECT image, functions, framed FROM internal_frame_share ORDER BY image

-- name: merge_links
SELECT inner, frame, link FROM internal_callsite_link ORDER BY inner, frame

-- Earlier versions called requests matched (1) that are empty (12).
-- name: merge_groups
SELECT type AS event_type, comm, kernel, user,
	CASE mark WHEN -1 THEN -12 ELSE coalesce(mark, 0) END AS mark, weight, n,
	coalesce(kernel_mark, 0) AS kernel_mark,
	(SELECT name FROM comm WHERE comm.id = g.comm) AS name
FROM sample_group g

-- For rows_ints().
-- ?1: the id before the first
-- name: merge_take_events
SELECT 1 AS taken FROM event
WHERE id > ?1 AND take_ints(id, time_ns, cpu, thread, comm, type, weight, kraw,
	uraw, payload, raw_ns)

-- name: merge_losses
SELECT id, capture, what, counts, cpu, type AS event_type, t0, t1, n, off
FROM loss ORDER BY id

-- name: merge_ordering
SELECT capture, what, time_ns, by_ns, cpu, n, off, detail FROM ordering
ORDER BY id

-- name: merge_damage
SELECT capture, kind, what, off, len, n, detail FROM damage ORDER BY id

-- name: merge_chains
SELECT id, capture, time_ns, cpu, thread, cookie, uraw, verdict, confidence,
	quality, flags, n_events, from_ns, loss
FROM chain ORDER BY id

-- name: merge_copies
SELECT chain, capture, time_ns, cpu FROM chain_copy ORDER BY rowid

-- name: merge_requests
SELECT event, cookie, chain, uraw, ip,
	CASE WHEN verdict = 1 AND uraw IS NULL THEN 12 ELSE verdict END
		AS verdict, confidence, flags, latency_ns,
	exec_ns, ended_by, until_ns, loss, as_perf, held_ns, as_tid
FROM request ORDER BY event

-- name: merge_branches
SELECT event, pos, "from", "to", flags FROM branch ORDER BY rowid

-- name: merge_findings
SELECT rule, capture, time_ns, since_ns, cpu, thread, event, loss, n
FROM internal_finding ORDER BY id

-- name: merge_gaps
SELECT capture, cpu, first, n, t0, t1, verdict, loss FROM cookie_gap
ORDER BY id

-- name: merge_counters
SELECT capture, cpu, first, last, seen, missing, gaps, late, elsewhere, wraps
FROM cookie_cpu ORDER BY rowid

-- name: merge_cookies
SELECT capture, layout, reason, no_chain, no_sample, missing FROM cookies
ORDER BY capture

-- name: merge_extras
SELECT event, name, value FROM sample_extra WHERE name <> 'leader'
ORDER BY rowid

-- name: merge_leaders
SELECT event, name, value AS leader FROM sample_extra WHERE name = 'leader'
ORDER BY rowid

-- The tables of fields, with the name of their event.
-- name: merge_ev_tables
SELECT fields AS name, min(CASE WHEN buffer IS NULL THEN name
	ELSE substr(name, length(buffer) + 2) END) AS event
FROM event_type WHERE fields NOT NULL GROUP BY fields ORDER BY min(id)

-- name: merge_ev_types
SELECT id, (SELECT min(CASE WHEN o.buffer IS NULL THEN o.name
		ELSE substr(o.name, length(o.buffer) + 2) END)
	FROM event_type o WHERE o.fields = t.fields) AS event
FROM event_type t WHERE fields NOT NULL

-- ?1: the table
-- name: merge_ev_columns
SELECT name, EXISTS (SELECT 1 FROM meta WHERE capture = 0
	AND key = 'stack column ' || ?1 || '.' || c.name) AS is_stack
FROM pragma_table_info(?1) c WHERE name <> 'event_id' ORDER BY cid

-- name: merge_has_open
SELECT EXISTS (SELECT 1 FROM request WHERE chain IS NULL AND cookie NOT NULL
	AND verdict IN (SELECT id FROM word WHERE kind = 'request'
		AND name IN ('pending_end', 'unexplained', 'chain_lost',
			'exit_per_task'))) AS has_open

-- The place of the kernel's code, which is another one after each boot
-- (CONFIG_RANDOMIZE_BASE), of a database in which it is known to be one.
-- name: merge_kernel_start
SELECT min(m.start) AS start FROM mapping m JOIN image i ON i.id = m.image
WHERE m.process = 0 AND m.start <> 0 AND i.kind = (SELECT id FROM word
	WHERE kind = 'image' AND name = 'kernel')
HAVING min(m.start) = max(m.start)

-- Which captures are of one boot of one host, as far as they tell: they have
-- the same clock, and the kernel's code at the same place. wall is when the
-- clock was 0: after a boot it is later than everything that was recorded
-- before, which a correction of the clock is not.
-- name: merge_boots
CREATE TEMP TABLE boot(capture INTEGER PRIMARY KEY, boot INTEGER);
INSERT INTO boot SELECT id, dense_rank() OVER (ORDER BY host, release, clock,
	kernel, wall IS NULL, part)
FROM (SELECT *, sum(later) OVER (PARTITION BY host, release, clock, kernel,
		wall IS NULL ORDER BY wall, id) AS part
	FROM (SELECT *, coalesce(wall - lag(wall) OVER w
			>= max(lag(last_ns) OVER w, 1000000000), 0)
			AS later
		FROM (SELECT c.id, c.host, c.release, c.clock, c.last_ns,
				k.value AS kernel, w.value AS wall
			FROM capture c
			LEFT JOIN meta k ON k.capture = c.id
				AND k.key = 'kernel_start'
			LEFT JOIN meta w ON w.capture = c.id
				AND w.key = 'wall_offset_ns')
		WINDOW w AS (PARTITION BY host, release, clock, kernel,
			wall IS NULL ORDER BY wall, id)))

-- name: merge_boots_end
DROP TABLE boot

-- Requests that waited when their capture ended, those of its first second,
-- whose chain may be earlier than the capture, and the chains of their cookies.
-- A counter of cookies does not wrap in a second.
-- name: merge_join_begin
CREATE TEMP TABLE open_request(event INTEGER PRIMARY KEY, cookie INTEGER,
	waits INTEGER);
INSERT INTO open_request SELECT r.event, r.cookie, w.name = 'pending_end'
FROM request r JOIN word w ON w.kind = 'request' AND w.id = r.verdict
JOIN event e ON e.id = r.event
JOIN event_type t ON t.id = e.type
JOIN capture x ON x.id = t.capture
WHERE r.chain IS NULL AND r.cookie NOT NULL
	AND (w.name = 'pending_end' OR (w.name IN ('unexplained', 'chain_lost',
			'exit_per_task') AND NOT r.flags & 2048
		AND e.time_ns < x.first_ns + 1000000000));
CREATE TEMP TABLE open_cookie(cookie INTEGER PRIMARY KEY) WITHOUT ROWID;
INSERT OR IGNORE INTO open_cookie SELECT cookie FROM open_request;
CREATE TEMP TABLE open_chain(cookie INTEGER, chain INTEGER,
	PRIMARY KEY(cookie, chain)) WITHOUT ROWID;
INSERT INTO open_chain SELECT cookie, id FROM chain
WHERE cookie IN (SELECT cookie FROM open_cookie);
CREATE TEMP TABLE joined AS
SELECT o.event, h.id AS chain, h.uraw, min(h.time_ns) - e.time_ns AS latency_ns,
	e.time_ns AS since_ns, h.time_ns AS until_ns, b.tid AS tid,
	h.capture AS capture, x.cmdline IS NOT y.cmdline AS other,
	x.id AS asked, o.cookie AS cookie, h.n_events AS n_events, q.boot AS boot
FROM open_request o
JOIN event e ON e.id = o.event
JOIN event_type t ON t.id = e.type
JOIN capture x ON x.id = t.capture
JOIN thread a ON a.id = e.thread
JOIN open_chain oc ON oc.cookie = o.cookie
JOIN chain h ON h.id = oc.chain AND h.capture <> x.id
	AND CASE WHEN h.time_ns >= e.time_ns THEN o.waits
		ELSE h.time_ns > e.time_ns - 1000000000
			AND e.time_ns < x.first_ns + 1000000000 END
JOIN capture y ON y.id = h.capture
JOIN boot p ON p.capture = x.id
JOIN boot q ON q.capture = y.id AND q.boot = p.boot
JOIN thread b ON b.id = h.thread AND b.tid = a.tid
GROUP BY o.event

-- flags: see verdict.h
-- name: merge_join_verdicts
INSERT INTO new_verdict SELECT event, (SELECT id FROM word
		WHERE kind = 'request' AND name = CASE WHEN uraw > 0
			THEN 'matched' ELSE 'empty' END),
	(SELECT id FROM word WHERE kind = 'confidence' AND name = 'proved'),
	NULL, NULL, NULL, 4096 + (latency_ns < 0)
		+ 2 * (exec_ns NOT NULL) + 4 * (other <> 0),
	chain, latency_ns, exec_ns, CASE WHEN uraw > 0 THEN uraw END
FROM (SELECT j.*, (SELECT min(c.time_ns) FROM comm c
			JOIN thread d ON d.id = c.thread
			JOIN process f ON f.id = d.process
			JOIN boot q ON q.capture = f.capture
			WHERE d.tid = j.tid AND c.exec AND q.boot = j.boot
			AND c.time_ns > min(j.since_ns, j.until_ns)
			AND c.time_ns <= max(j.since_ns, j.until_ns)) AS exec_ns
	FROM joined j)

-- The captures' numbers of cookies with one half only.
-- name: merge_join_end
UPDATE cookies SET no_chain = max(0, no_chain - (SELECT count(DISTINCT cookie)
		FROM joined WHERE asked = cookies.capture)),
	no_sample = max(0, no_sample - (SELECT count(DISTINCT cookie)
		FROM joined j WHERE j.capture = cookies.capture
		AND NOT j.n_events))
WHERE capture IN (SELECT asked FROM joined UNION SELECT capture FROM joined);
DROP TABLE joined;
DROP TABLE open_chain;
DROP TABLE open_cookie;
DROP TABLE open_request

-- Captures of one boot share the counters of cookies: what one of them lacks
-- is not missing if another one has it, and is missing once. merge_kin looks for
-- the counters of gaps, and for requests before those that seemed to be the
-- first of their cookie. This is so for the kernel's layout of cookies only.
-- name: merge_has_kin
SELECT EXISTS (SELECT 1 FROM capture a JOIN cookies q ON q.capture = a.id
	AND q.layout = 'kernel'
	JOIN capture b ON b.id > a.id AND b.host IS a.host
		AND b.release IS a.release AND b.clock IS a.clock
	JOIN cookies p ON p.capture = b.id) AS has_kin

-- name: merge_kin
CREATE TEMP TABLE kin(capture INTEGER PRIMARY KEY, kin INTEGER, big INTEGER);
INSERT INTO kin SELECT id, kin, big FROM (
	SELECT c.id, min(c.id) OVER w AS kin, count(*) OVER w AS n,
		c.note LIKE '%big-endian%' AS big
	FROM capture c JOIN cookies q ON q.capture = c.id
		AND q.layout = 'kernel'
	JOIN boot b ON b.capture = c.id
	WINDOW w AS (PARTITION BY b.boot)) WHERE n > 1;
CREATE TEMP TABLE wanted(cookie INTEGER, kin INTEGER, counter INTEGER,
	gap INTEGER, capture INTEGER, PRIMARY KEY(cookie, kin, gap, capture))
	WITHOUT ROWID;
INSERT OR IGNORE INTO wanted
WITH RECURSIVE run(gap, capture, kin, big, cpu, counter, left) AS (
	SELECT g.id, g.capture, k.kin, k.big, g.cpu, g.first, g.n
	FROM cookie_gap g JOIN kin k ON k.capture = g.capture
	WHERE g.n BETWEEN 1 AND 100000
	UNION ALL
	SELECT gap, capture, kin, big, cpu, counter + 2, left - 1 FROM run
	WHERE left > 1
)
SELECT CASE WHEN big THEN (cpu + 1) << 32 | counter
	ELSE counter << 32 | (cpu + 1) END, kin, counter, gap, capture FROM run;
INSERT OR IGNORE INTO wanted
SELECT r.cookie, k.kin, NULL, 0, k.capture
FROM request r JOIN event e ON e.id = r.event JOIN event_type t ON t.id = e.type
JOIN kin k ON k.capture = t.capture
WHERE r.flags & 128 AND r.cookie NOT NULL;
CREATE TEMP TABLE sight(cookie INTEGER, kin INTEGER, capture INTEGER,
	request INTEGER, PRIMARY KEY(cookie, kin, capture)) WITHOUT ROWID;
INSERT OR IGNORE INTO sight
SELECT r.cookie, k.kin, k.capture, r.event
FROM request r JOIN event e ON e.id = r.event JOIN event_type t ON t.id = e.type
JOIN kin k ON k.capture = t.capture
WHERE r.cookie IN (SELECT cookie FROM wanted) ORDER BY r.event;
INSERT OR IGNORE INTO sight
SELECT h.cookie, k.kin, k.capture, NULL
FROM chain h JOIN kin k ON k.capture = h.capture
WHERE h.cookie IN (SELECT cookie FROM wanted);
-- Counters that another capture has, or that an earlier one of the same
-- recording misses as well.
CREATE TEMP TABLE settled(gap INTEGER, counter INTEGER,
	PRIMARY KEY(gap, counter)) WITHOUT ROWID;
INSERT INTO settled SELECT w.gap, w.counter FROM wanted w WHERE w.gap
AND (EXISTS (SELECT 1 FROM sight s WHERE s.cookie = w.cookie AND s.kin = w.kin)
	OR EXISTS (SELECT 1 FROM wanted o JOIN capture a ON a.id = o.capture
		JOIN capture b ON b.id = w.capture
		WHERE o.cookie = w.cookie AND o.kin = w.kin AND o.gap
		AND o.capture < w.capture AND a.cmdline IS b.cmdline));
CREATE TEMP TABLE found(gap INTEGER PRIMARY KEY, n INTEGER);
INSERT INTO found SELECT gap, count(*) FROM settled GROUP BY gap;
-- What is left of these gaps, each in runs.
CREATE TEMP TABLE rest(gap INTEGER, first INTEGER, n INTEGER, place INTEGER);
INSERT INTO rest SELECT gap, min(counter), count(*),
	row_number() OVER (PARTITION BY gap ORDER BY min(counter))
FROM (SELECT w.gap AS gap, w.counter AS counter, w.counter - 2 * row_number()
		OVER (PARTITION BY w.gap ORDER BY w.counter) AS run
	FROM wanted w JOIN found f ON f.gap = w.gap
	WHERE NOT EXISTS (SELECT 1 FROM settled s WHERE s.gap = w.gap
		AND s.counter = w.counter))
GROUP BY gap, run;
UPDATE cookie_cpu SET missing = missing - coalesce((SELECT sum(f.n)
		FROM found f JOIN cookie_gap g ON g.id = f.gap
		WHERE g.capture = cookie_cpu.capture AND g.cpu = cookie_cpu.cpu), 0),
	gaps = gaps - (SELECT count(*) FROM found f
		JOIN cookie_gap g ON g.id = f.gap
		WHERE g.capture = cookie_cpu.capture AND g.cpu = cookie_cpu.cpu)
	+ (SELECT count(*) FROM rest r JOIN cookie_gap g ON g.id = r.gap
		WHERE g.capture = cookie_cpu.capture AND g.cpu = cookie_cpu.cpu)
WHERE capture IN (SELECT capture FROM kin);
UPDATE cookies SET missing = missing - coalesce((SELECT sum(f.n)
		FROM found f JOIN cookie_gap g ON g.id = f.gap
		WHERE g.capture = cookies.capture), 0)
WHERE capture IN (SELECT capture FROM kin);
CREATE TEMP TABLE refuted AS SELECT d.id, f.n FROM found f
JOIN cookie_gap g ON g.id = f.gap
JOIN internal_finding d ON d.capture = g.capture AND d.cpu IS g.cpu
	AND d.time_ns IS g.t1 AND d.since_ns IS g.t0
	AND d.rule = (SELECT id FROM internal_rule WHERE name = 'uncounted');
UPDATE internal_finding
SET n = n - (SELECT n FROM refuted r WHERE r.id = internal_finding.id)
WHERE id IN (SELECT id FROM refuted);
DELETE FROM internal_finding WHERE id IN (SELECT id FROM refuted) AND n <= 0;
INSERT INTO cookie_gap SELECT (SELECT max(id) FROM cookie_gap)
		+ row_number() OVER (ORDER BY g.id, r.first),
	g.capture, g.cpu, r.first, r.n, g.t0, g.t1, g.verdict, g.loss
FROM rest r JOIN cookie_gap g ON g.id = r.gap WHERE r.place > 1;
UPDATE cookie_gap SET
	n = coalesce((SELECT r.n FROM rest r WHERE r.gap = cookie_gap.id
		AND r.place = 1), 0),
	first = coalesce((SELECT r.first FROM rest r
		WHERE r.gap = cookie_gap.id AND r.place = 1), first)
WHERE id IN (SELECT gap FROM found);
DELETE FROM cookie_gap WHERE n <= 0;
CREATE TEMP TABLE begun AS SELECT DISTINCT w.cookie, w.kin, w.capture
FROM wanted w WHERE NOT w.gap AND EXISTS (SELECT 1 FROM sight s
	JOIN sight o ON o.cookie = w.cookie AND o.kin = w.kin
		AND o.capture = w.capture
	WHERE s.cookie = w.cookie AND s.kin = w.kin AND s.capture <> w.capture
	AND s.request < o.request);
UPDATE cookie_cpu SET late = max(0, late - (SELECT count(*) FROM begun b
	JOIN kin k ON k.capture = b.capture WHERE b.capture = cookie_cpu.capture
	AND CASE WHEN k.big THEN b.cookie >> 32 ELSE b.cookie & 4294967295 END
		= cookie_cpu.cpu + 1))
WHERE capture IN (SELECT capture FROM begun);
UPDATE request SET flags = flags & ~128
WHERE flags & 128 AND EXISTS (SELECT 1 FROM begun b
	JOIN event e ON e.id = request.event JOIN event_type t ON t.id = e.type
	WHERE b.cookie = request.cookie AND b.capture = t.capture);
DROP TABLE begun;
DROP TABLE refuted;
DROP TABLE rest;
DROP TABLE found;
DROP TABLE settled;
DROP TABLE sight;
DROP TABLE wanted;
DROP TABLE kin
