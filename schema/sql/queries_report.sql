-- queries_report.sql - the queries of flame and report.
--
-- Both read the sums of samples if they can. Otherwise they read every sample
-- once and aggregate in memory: grouping 1.5 million rows in SQL sorts them
-- first and takes several times as long.

-- name: report_events
-- point: a tracepoint, or what the kernel counts where it switches: the code
-- of such samples is the same always. CTF of perf has clocks as tracepoints.
SELECT id, name, unit, coalesce((type = 2 AND unit = 'events')
	OR (type = 1 AND config IN (3, 9, 10)), 0) AS point,
	coalesce(kind = 'sample', 0) AS is_sample
FROM event_type ORDER BY id

-- What a database has: events at all; samples of clocks and counters; events
-- other than switches, or of a tracer, which is asked for events rather than
-- for threads.
-- name: report_contents
SELECT coalesce(sum(t.events), 0) AS samples,
	coalesce(max(t.kind = 'sample' AND NOT t.point), 0) AS counters,
	coalesce(max(t.point AND (t.tracer OR NOT t.sched)), 0) AS trace,
	coalesce(max(t.wakes), 0) AS wakes, -- for which path is made
	coalesce(max(t.calls), 0) AS calls -- 1: of the
		-- tracer function, 2: that have times
FROM (
	SELECT e.kind, e.events, coalesce(c.format, '') <> 'perf' AS tracer,
		coalesce((e.type = 2 AND e.unit = 'events')
			OR (e.type = 1 AND e.config IN (3, 9, 10)), 0) AS point,
		e.name LIKE '%sched\_switch%' ESCAPE '\'
			OR e.name LIKE '%sched\_wak%' ESCAPE '\'
			OR e.type = 1 AS sched,
		e.name LIKE '%sched\_waking%' ESCAPE '\' AS wakes,
		CASE WHEN e.name LIKE '%ftrace:funcgraph\_exit' ESCAPE '\'
				OR e.name LIKE 'lttng\_ust\_cyg\_profile%'
					ESCAPE '\'
				OR e.name LIKE 'probe%:%\_\_return'
					ESCAPE '\' THEN 2
			WHEN e.name LIKE '%ftrace:function' THEN 1 END AS calls
	FROM event_type e LEFT JOIN capture c ON c.id = e.capture) t
WHERE t.events > 0

-- of the samples of clocks and counters, those of idle CPUs: of thread 0
-- name: report_idle
SELECT coalesce(sum(g.n), 0) AS samples,
	coalesce(sum(g.n) FILTER (WHERE h.tid = 0), 0) AS idle
FROM sample_group g JOIN event_type e ON e.id = g.type AND e.kind = 'sample'
LEFT JOIN comm c ON c.id = g.comm LEFT JOIN thread h ON h.id = c.thread
WHERE coalesce(e.type, -1) <> 2

-- name: report_samples
SELECT e.type, e.comm, e.cpu, e.kraw, coalesce(r.uraw, e.uraw) AS uraw,
	r.verdict, r.flags, coalesce(e.weight, 1) AS weight, e.time_ns AS time
FROM event e LEFT JOIN request r ON r.event = e.id
WHERE {wanted}

-- What fills the gap "wanted" if there are filters; else it is 1.
-- name: filter_wanted
e.id IN (SELECT event_id FROM samples WHERE {filter})

-- name: sampled
-- how many samples the events say that they have
SELECT coalesce(sum(events), 0) AS samples FROM event_type
WHERE kind = 'sample'

-- whether a sample of event ?1 asked for a user stack
-- name: report_asked
SELECT 1 AS asked FROM request r JOIN event e ON e.id = r.event
JOIN event_type t ON t.id = e.type WHERE ?1 IS NULL OR t.name = ?1 LIMIT 1

-- name: label_facts
SELECT f.id, coalesce(f.file, '') AS file, coalesce(f.line, 0) AS line,
	i.build_id,
	coalesce(c.kind IN (SELECT id FROM word WHERE kind = 'callsite'
		AND name IN ('no_call', 'no_code')), 0) AS bogus,
	coalesce(i.path, '') AS path, f.off
FROM frame f
LEFT JOIN image i ON i.id = f.image
LEFT JOIN internal_callsite c ON c.frame = f.id

-- Stacks with return addresses that follow no call, and the position of the
-- first one.
-- name: report_bogus
SELECT stack, first FROM internal_stack_check WHERE bogus

-- name: report_captures
SELECT path, samples, host, cmdline, complete FROM capture ORDER BY id

-- name: compare_program
-- A process, those that it started, and theirs.
WITH RECURSIVE of(id, pid) AS (
	SELECT id, pid FROM process WHERE pid = ?1 AND id > 0
	UNION SELECT p.id, p.pid FROM process p JOIN of ON p.parent = of.id)
SELECT DISTINCT pid FROM of

-- name: compare_captures
SELECT path, host, last_ns - first_ns AS took FROM capture ORDER BY id

-- The number of records that were dropped, and of losses of unknown size, as
-- check_breaks counts them.
-- name: report_lost_all
-- A text of perf does not say what was lost.
SELECT coalesce(sum(n) FILTER (WHERE counts), 0) AS n,
	count(*) FILTER (WHERE (counts AND n IS NULL) OR what = 'damage'
		OR (what = 'overwritten' AND n IS NULL AND capture NOT IN (
			SELECT capture FROM loss
			WHERE what = 'overwritten' AND counts)))
	+ (SELECT count(*) FROM capture WHERE format = 'ptext') AS unknown
FROM loss

-- name: annotate_leaves
-- the innermost frame of each chain
SELECT r.id, coalesce(s.frame, 0) AS frame
FROM raw_chain r LEFT JOIN stack s ON s.id = r.stack ORDER BY r.id

-- name: annotate_frames
SELECT f.id, f.image, f.off, f.vaddr, coalesce(s.id, 0) AS symbol, s.name,
	coalesce(s.raw_name, '') AS raw_name, coalesce(s.start, 0) AS start,
	coalesce(s.size, 0) AS size
FROM frame f LEFT JOIN symbol s ON s.id = f.symbol ORDER BY f.id

-- name: annotate_image
SELECT id, kind, coalesce(path, '') AS path, build_id, maj, min, ino, ino_gen,
	CASE WHEN status = 'unverified' AND NOT
		ifnull(identity GLOB 'read:*', 0) THEN file END AS settled,
	coalesce(t0, 0) AS t0,
	(SELECT min(coalesce(m.t0, 1)) FROM mapping m WHERE m.image = ?1)
		AS mapped
FROM image WHERE id = ?1

-- name: annotate_paths
SELECT i.id, CASE WHEN w.name = 'jit' THEN '[jit]' ELSE coalesce(path, '') END
	AS path
FROM image i LEFT JOIN word w ON w.kind = 'image' AND w.id = i.kind ORDER BY i.id

-- name: annotate_has_jit
SELECT 1 AS found FROM sqlite_schema
WHERE type = 'table' AND name = 'jit_code'

-- name: annotate_jit
SELECT machine, addr, bytes, EXISTS (
	SELECT 1 FROM capture WHERE note LIKE '%big-endian%') AS big_endian
FROM jit_code WHERE image = ?1
