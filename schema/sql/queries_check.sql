-- queries_check.sql - the numbers and the evidence that check prints; --sql
-- shows these texts. Each is a statement that any SQLite shell runs.
--
-- With filters, check prepends a WITH that replaces the tables request, chain,
-- loss, cookie_gap, finding and ordering by the rows that pass the filters.
-- Tables in which rows are only looked up are therefore named main.TABLE: they
-- stay whole and keep their index. The WITH is made of the check_filter_*
-- texts.
--
-- A table of a million requests is scanned, never grouped: the query selects
-- the few rows that are out of the ordinary, then adds these up.

-- name: check_breaks
SELECT (SELECT count(*) FROM request
		WHERE verdict <> (SELECT id FROM word
			WHERE kind = 'request' AND name = 'matched')
		AND verdict IN (SELECT id FROM word WHERE kind = 'request'
			AND name IN ('chain_lost', 'unjoinable', 'stripped',
				'unexplained', 'unwinder_died'))) AS requests,
	(SELECT count(*) FROM chain
		WHERE verdict IN (SELECT id FROM word WHERE kind = 'chain'
			AND name IN ('sample_lost', 'overwritten',
				'unjoinable', 'unexplained'))) AS chains,
	(SELECT coalesce(sum(n), 0) FROM loss WHERE counts) AS lost,
	(SELECT count(*) FROM loss WHERE (counts AND n IS NULL) OR what = 'damage'
		OR (what = 'overwritten' AND n IS NULL AND capture NOT IN (
			SELECT capture FROM loss
			WHERE what = 'overwritten' AND counts))) AS lost_unknown,
	(SELECT coalesce(sum(n), 0) FROM ordering WHERE what <> 'round')
		AS out_of_order,
	(SELECT count(*) FROM internal_finding WHERE loss IS NULL AND rule IN (
		SELECT id FROM internal_rule WHERE breaks AND name <> 'uncounted'))
		AS findings,
	(SELECT CAST(total(n) AS INTEGER) FROM cookie_gap
		WHERE verdict = (SELECT id FROM word
			WHERE kind = 'gap' AND name = 'uncounted')) AS vanished,
	(SELECT CAST(total(g.n) AS INTEGER) FROM cookie_gap g
		JOIN cookies c ON c.capture = g.capture
		WHERE g.verdict = (SELECT id FROM word
			WHERE kind = 'gap' AND name = 'lost_or_foreign')
		AND (c.reason IS NULL
			OR c.reason = 'another session asked for stacks too'))
		AS not_provable,
	(SELECT count(*) FROM internal_finding WHERE loss IS NULL AND rule IN (
		SELECT id FROM internal_rule
		WHERE name IN ('exit_order', 'switch_gap'))) AS open_findings,
	(SELECT count(*) FROM chain
		WHERE verdict = (SELECT id FROM word WHERE kind = 'chain'
			AND name = 'foreign')) AS open_chains

-- name: check_captures
SELECT path, format, records, samples, cpus, system_wide, exact_order,
	complete, cmdline, note, first_ns, last_ns
FROM capture ORDER BY id

-- name: check_requests
WITH odd AS MATERIALIZED (
	SELECT verdict, flags & 143 AS flags, cookie IS NULL AS bare,
		count(*) AS n
	FROM request
	WHERE verdict <> (SELECT id FROM word
		WHERE kind = 'request' AND name = 'matched')
	OR flags & 143
	GROUP BY 1, 2, 3
), named AS (
	SELECT w.name, o.flags, o.bare, o.n FROM odd o
	LEFT JOIN word w ON w.kind = 'request' AND w.id = o.verdict
	UNION ALL SELECT '', 0, 0, 0 -- so that no sum is NULL
), total AS (
	SELECT count(*) AS n FROM request
)
SELECT (SELECT n FROM total) AS requests,
	(SELECT n FROM total) - sum(n * bare) AS with_cookie,
	(SELECT n FROM total)
		- sum(n * (name IS NOT 'matched')) AS matched,
	sum(n * (name = 'chain_lost')) AS chain_lost,
	sum(n * (name = 'exit_per_task')) AS exit_per_task,
	sum(n * (name = 'pending_end')) AS pending_end,
	sum(n * (name = 'unjoinable')) AS unjoinable,
	sum(n * (name = 'refused')) AS refused,
	sum(n * (name = 'stripped')) AS stripped,
	sum(n * (name = 'unexplained')) AS unexplained,
	sum(n * (name = 'before_opt_in')) AS before_opt_in,
	sum(n * (name = 'in_unwinder')) AS in_unwinder,
	sum(n * (name = 'unwinder_died')) AS unwinder_died,
	sum(n * (name = 'empty')) AS empty,
	sum(n * (name = 'matched' AND flags & 1)) AS after,
	sum(n * (name = 'matched' AND flags & 2)) AS exec_between,
	sum(n * (name = 'matched' AND flags & 4)) AS other_capture,
	sum(n * (flags & 8 > 0)) AS reused_tid,
	sum(n * (flags & 128 > 0)) AS first_lost
FROM named

-- name: check_deferral
WITH waited AS (
	SELECT type, ns, sum(n) AS n FROM internal_deferral GROUP BY type, ns
), up AS (
	SELECT type, ns, sum(n) OVER (PARTITION BY type) AS n,
		sum(n) OVER (PARTITION BY type ORDER BY ns) AS so_far
	FROM waited
)
SELECT t.capture, t.name AS event, u.n AS requests,
	min(CASE WHEN so_far * 100 >= n * 50 THEN ns END) AS p50_ns,
	min(CASE WHEN so_far * 100 >= n * 90 THEN ns END) AS p90_ns,
	min(CASE WHEN so_far * 100 >= n * 99 THEN ns END) AS p99_ns,
	max(ns) AS max_ns, 0 AS cpus
FROM up u JOIN event_type t ON t.id = u.type
GROUP BY u.type ORDER BY requests DESC, u.type

-- name: check_deferral_by_cpu
WITH up AS (
	SELECT type, cpu, ns, sum(n) OVER (PARTITION BY type, cpu) AS n,
		sum(n) OVER (PARTITION BY type, cpu ORDER BY ns) AS so_far
	FROM internal_deferral
)
SELECT t.capture, t.name AS event, u.cpu, u.n AS requests,
	min(CASE WHEN so_far * 100 >= n * 50 THEN ns END) AS p50_ns,
	min(CASE WHEN so_far * 100 >= n * 90 THEN ns END) AS p90_ns,
	min(CASE WHEN so_far * 100 >= n * 99 THEN ns END) AS p99_ns,
	max(ns) AS max_ns,
	(SELECT count(DISTINCT coalesce(d.cpu, -1)) FROM internal_deferral d
		WHERE d.type = u.type) AS cpus
FROM up u JOIN event_type t ON t.id = u.type
GROUP BY u.type, u.cpu ORDER BY u.type, u.cpu

-- name: check_one_frame
WITH hit AS MATERIALIZED (
	SELECT uraw, count(*) AS n FROM request
	WHERE uraw IS NOT NULL AND chain IS NOT NULL GROUP BY uraw
)
SELECT i.path AS image, sum(h.n) AS requests
FROM hit h
JOIN raw_chain r ON r.id = h.uraw
JOIN stack s ON s.id = r.stack AND s.depth = 1
JOIN frame f ON f.id = s.frame
JOIN image i ON i.id = f.image
GROUP BY i.path ORDER BY 2 DESC, 1

-- name: check_unwound
SELECT w.name AS ended, count(*) AS samples
FROM event e
LEFT JOIN request r ON r.event = e.id
JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw) AND u.ended NOT NULL
JOIN word w ON w.kind = 'unwind' AND w.id = u.ended AND w.name <> 'hit_only'
WHERE EXISTS (SELECT 1 FROM raw_chain WHERE ended NOT NULL)
GROUP BY u.ended ORDER BY u.ended

-- name: check_callers
SELECT count(*) AS inferred
FROM event e
LEFT JOIN request r ON r.event = e.id
JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw) AND u.caller = 2
WHERE EXISTS (SELECT 1 FROM raw_chain WHERE caller NOT NULL)

-- name: check_trust
SELECT capture, event, class, samples, share, fix FROM trust
ORDER BY capture, event, samples DESC, class

-- name: check_chains
WITH odd AS MATERIALIZED (
	SELECT verdict, flags & 80 AS flags, count(*) AS n
	FROM chain
	WHERE verdict <> (SELECT id FROM word
		WHERE kind = 'chain' AND name = 'used')
	OR flags & 80
	GROUP BY 1, 2
), named AS (
	SELECT w.name, o.flags, o.n FROM odd o
	LEFT JOIN word w ON w.kind = 'chain' AND w.id = o.verdict
	UNION ALL SELECT '', 0, 0 -- so that no sum is NULL
), total AS (
	SELECT count(*) AS n FROM chain
)
SELECT (SELECT n FROM total) AS chains,
	(SELECT n FROM total)
		- sum(n * (name IS NOT 'used')) AS used,
	sum(n * (name = 'sample_lost')) AS sample_lost,
	sum(n * (name = 'foreign')) AS foreign_session,
	sum(n * (name = 'overwritten')) AS overwritten,
	sum(n * (name = 'duplicate')) AS duplicate,
	sum(n * (name = 'unjoinable')) AS unjoinable,
	sum(n * (name = 'unexplained')) AS unexplained,
	sum(n * (flags & 16 > 0)) AS after_exit,
	sum(n * (flags & 64 > 0)) AS conflict
FROM named

-- name: check_across
SELECT y.capture AS asked_by, h.capture AS recorded_by, count(*) AS requests,
	count(DISTINCT h.id) AS chains
FROM request r
JOIN event e ON e.id = r.event
JOIN event_type y ON y.id = e.type
JOIN main.chain h ON h.id = r.chain
WHERE r.flags & 4
GROUP BY 1, 2 ORDER BY 1, 2

-- name: check_copies
SELECT h.capture AS recorded_by, c.capture AS also_by, count(*) AS chains
FROM chain_copy c JOIN chain h ON h.id = c.chain
GROUP BY 1, 2 ORDER BY 1, 2

-- name: check_losses
SELECT what, counts, coalesce(sum(n), 0) AS records, count(*) AS intervals,
	count(*) - count(n) AS unknown
FROM loss GROUP BY what, counts ORDER BY counts DESC, what

-- name: check_unlisted
SELECT detail FROM damage WHERE kind = 'note' AND what = 'mappings' ORDER BY id

-- name: check_lost_by_cpu
SELECT cpu, sum(n) AS records, count(*) AS intervals
FROM loss WHERE counts GROUP BY cpu ORDER BY cpu

-- name: check_lost_in_time
WITH span AS (
	-- no time has the losses of several hosts or clocks
	SELECT min(first_ns) AS a, max(last_ns) AS b FROM capture
	HAVING count(DISTINCT coalesce(host, '') || ' ' || coalesce(release, '')
		|| ' ' || coalesce(clock, '')) FILTER (WHERE align IS NULL) < 2
)
SELECT CAST((l.t1 - s.a) * 50.0 / (s.b - s.a + 1) AS INTEGER) AS part,
	sum(l.n) AS records, count(*) AS intervals
FROM loss l, span s
WHERE l.counts AND l.t1 BETWEEN s.a AND s.b
GROUP BY 1 ORDER BY 1

-- name: check_cookies
WITH gap AS MATERIALIZED (
	SELECT g.capture, coalesce(w.name, '') AS name,
		CAST(total(g.n) AS INTEGER) AS n
	FROM cookie_gap g LEFT JOIN word w ON w.kind = 'gap' AND w.id = g.verdict
	GROUP BY 1, 2
), cpu AS MATERIALIZED (
	SELECT capture, CAST(total(seen) AS INTEGER) AS seen, sum(gaps) AS gaps,
		sum(late) AS late, sum(elsewhere) AS elsewhere,
		sum(wraps) AS wraps
	FROM cookie_cpu GROUP BY capture
)
SELECT c.capture, c.layout, c.reason, c.no_chain, c.no_sample, c.missing,
	coalesce(u.gaps, 0) AS gaps,
	coalesce((SELECT n FROM gap g WHERE g.capture = c.capture
		AND g.name = 'lost'), 0) AS missing_lost,
	coalesce((SELECT n FROM gap g WHERE g.capture = c.capture
		AND g.name = 'uncounted'), 0) AS missing_uncounted,
	coalesce((SELECT n FROM gap g WHERE g.capture = c.capture
		AND g.name = 'lost_or_foreign'), 0) AS missing_doubtful,
	coalesce(u.seen, 0) AS seen, coalesce(u.late, 0) AS late,
	coalesce(u.elsewhere, 0) AS elsewhere, coalesce(u.wraps, 0) AS wraps,
	(SELECT sum(l.n) FROM loss l JOIN event_type t ON t.id = l.type
		WHERE l.capture = c.capture AND l.what = 'lost_total'
		AND t.defer_output) AS kernel_lost
FROM cookies c LEFT JOIN cpu u ON u.capture = c.capture
ORDER BY c.capture

-- name: check_vanished
SELECT capture, cpu, CAST(total(n) AS INTEGER) AS stays, count(*) AS gaps,
	min(t0) AS from_ns, max(t1) AS to_ns
FROM cookie_gap WHERE verdict = (SELECT id FROM word
	WHERE kind = 'gap' AND name = 'uncounted')
GROUP BY capture, cpu ORDER BY capture, cpu

-- name: check_findings
WITH found AS MATERIALIZED (
	SELECT rule, count(*) AS n, count(loss) AS explained,
		min(time_ns) AS first_ns
	FROM internal_finding GROUP BY rule
)
SELECT r.name AS rule, r.proves, r.breaks, f.n AS findings, f.explained,
	f.first_ns
FROM found f JOIN internal_rule r ON r.id = f.rule
ORDER BY r.breaks DESC, f.n DESC, r.id

-- name: check_gaps
-- How much of the time of all CPUs is between two switches that do not join: it
-- is touched by records that are missing without a loss. A wakeup may be missing
-- at any time of its sleep, so that has no share. A rule keeps so many findings
-- only; those after are in n of the last one.
WITH gap AS MATERIALIZED (
	SELECT f.capture, r.name, r.breaks, f.n,
		CASE WHEN r.name = 'wakeup_lost' THEN 0
			ELSE f.time_ns - f.since_ns END AS ns
	FROM internal_finding f JOIN internal_rule r ON r.id = f.rule
	WHERE f.loss IS NULL
		AND r.name IN ('switch_broken', 'switch_gap', 'wakeup_lost')
)
SELECT (SELECT CAST(total(n) AS INTEGER) FROM gap
		WHERE name <> 'wakeup_lost') AS places,
	(SELECT CAST(total(1.0 * ns * n) AS INTEGER) FROM gap) AS touched_ns,
	(SELECT CAST(total(1.0 * (last_ns - first_ns) * coalesce(cpus, 1))
		AS INTEGER) FROM capture) AS all_ns,
	(SELECT count(*) FROM gap WHERE breaks) AS broken,
	(SELECT count(*) FROM gap WHERE name = 'switch_gap') AS open,
	(SELECT count(*) FROM main.loss WHERE what = 'silent' AND counts)
		AS losses

-- name: check_ordering
SELECT what, coalesce(sum(n), 0) AS records, max(by_ns) AS worst_ns
FROM ordering GROUP BY what ORDER BY what

-- name: check_close
WITH clock AS MATERIALIZED (
	SELECT id, coalesce(error_ns, 0) AS error_ns FROM capture
	WHERE align IS NOT NULL
), line AS (
	SELECT y.capture, e.time_ns, lag(y.capture) OVER cpu AS last_capture,
		lag(e.time_ns) OVER cpu AS last_ns
	-- with one clock no event is read
	FROM (SELECT 1 WHERE (SELECT count(*) FROM clock) > 1)
	CROSS JOIN event e JOIN event_type y ON y.id = e.type
	WHERE e.time_ns IS NOT NULL AND e.cpu IS NOT NULL
	WINDOW cpu AS (PARTITION BY e.cpu ORDER BY e.id)
)
SELECT count(*) AS neighbours,
	coalesce(sum(l.time_ns - l.last_ns <= a.error_ns + b.error_ns), 0)
		AS close,
	max(a.error_ns + b.error_ns) AS error_ns
FROM line l
JOIN clock a ON a.id = l.capture
JOIN clock b ON b.id = l.last_capture
WHERE l.capture <> l.last_capture

-- name: check_sampled
-- The weight of a tracepoint counts each time that it was hit. Where there are
-- records of switches too, waits are by those.
SELECT name AS event, events AS recorded, weight AS happened
FROM event_type t
WHERE kind = 'sample' AND weight > events
	AND (name = 'sched:sched_switch' OR name GLOB 'sched:sched_switch[:/]*')
	AND NOT EXISTS (SELECT 1 FROM event_type r
		WHERE r.capture = t.capture AND r.kind = 'record'
		AND r.name = 'switch' AND r.events > 0)
ORDER BY id

-- name: check_not_followed
SELECT t.capture, t.name AS event, t.events AS recorded
FROM event_type t JOIN capture c ON c.id = t.capture
WHERE t.events > 0 AND ((t.kind = 'record' AND t.name = 'switch')
	OR (t.kind = 'sample' AND (t.name = 'sched:sched_switch'
		OR t.name GLOB 'sched:sched_switch[:/]*')))
AND (c.system_wide = 0 OR t.how = 'sample'
	OR substr(c.cmdline, 1, instr(c.cmdline || ' -- ', ' -- ')) GLOB '* --fi*'
	OR substr(c.cmdline, 1, instr(c.cmdline || ' -- ', ' -- '))
		GLOB '* --tp-filter*'
	OR (c.cmdline GLOB '* -u*' OR c.cmdline GLOB '* --ui*')
		AND EXISTS (SELECT 1 FROM meta WHERE capture = c.id
			AND key = 'filtered' AND value = 1)
	OR EXISTS (SELECT 1 FROM meta WHERE capture = c.id
		AND key = 'pauses' AND value = 1))
ORDER BY t.id

-- name: check_damage
SELECT what, count(*) AS places, coalesce(sum(n), 0) AS n,
	coalesce(sum(len), 0) AS bytes, min(off) AS first_off,
	min(detail) AS detail
FROM damage WHERE kind = 'damage' GROUP BY what ORDER BY what

-- name: check_as_perf
WITH odd AS MATERIALIZED (
	SELECT as_perf, verdict, flags & 258 AS flags, loss IS NULL AS bare,
		count(*) AS n
	FROM request
	WHERE as_perf IS NOT NULL AND (flags & 258
		OR as_perf <> (SELECT id FROM word
			WHERE kind = 'as_perf' AND name = 'merged')
		OR verdict <> (SELECT id FROM word
			WHERE kind = 'request' AND name = 'matched'))
	GROUP BY 1, 2, 3, 4
), named AS (
	SELECT w.name AS perf, v.name AS ours, o.flags, o.bare, o.n
	FROM odd o
	LEFT JOIN word w ON w.kind = 'as_perf' AND w.id = o.as_perf
	LEFT JOIN word v ON v.kind = 'request' AND v.id = o.verdict
), total AS MATERIALIZED (
	SELECT count(as_perf) AS n, max(held_ns) AS held FROM request
)
SELECT (SELECT n FROM total) AS requests,
	(SELECT n FROM total)
		- coalesce(sum(n) FILTER (WHERE perf IS NOT 'merged'), 0)
		AS merged,
	coalesce(sum(n) FILTER (WHERE perf = 'bare'), 0) AS bare,
	coalesce(sum(n) FILTER (WHERE perf = 'bare_at_end'), 0)
		AS bare_at_end,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours IN ('matched', 'empty')), 0) AS only_ours,
	coalesce(sum(n) FILTER (WHERE perf = 'merged'
		AND ours NOT IN ('matched', 'empty')), 0) AS only_perf,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours NOT IN ('matched', 'empty')), 0) AS not_in_file,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours = 'chain_lost' AND NOT bare), 0) AS loss_window,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours = 'chain_lost' AND bare), 0) AS loss_unplaced,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours = 'pending_end'), 0) AS pending_end,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours = 'exit_per_task'), 0) AS exit_per_task,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours = 'stripped'), 0) AS stripped,
	coalesce(sum(n) FILTER (WHERE perf <> 'merged'
		AND ours = 'unexplained'), 0) AS unexplained,
	coalesce(sum(n) FILTER (WHERE perf = 'merged' AND flags & 2), 0)
		AS other_program,
	coalesce(sum(n) FILTER (WHERE flags & 256), 0) AS late,
	(SELECT held FROM total) AS longest_held_ns
FROM named

-- name: check_as_tid
WITH other AS MATERIALIZED (
	SELECT r.cookie, r.chain, r.uraw, h.cookie AS its, h.uraw AS wrong
	FROM request r LEFT JOIN main.chain h ON h.id = r.as_tid
	WHERE r.as_perf IS NOT NULL
	AND (r.as_tid IS NULL OR r.as_tid IS NOT r.chain)
), rest AS (
	SELECT coalesce(sum(its <> cookie), 0) AS wrong,
		coalesce(sum(its IS NULL), 0) AS nobody,
		coalesce(sum(its <> cookie AND chain IS NOT NULL), 0) AS ours,
		coalesce(sum(its <> cookie AND chain IS NOT NULL
			AND wrong IS uraw), 0) AS alike
	FROM other
), total AS (
	SELECT count(as_perf) AS n FROM request
)
SELECT total.n AS requests, total.n - rest.wrong - rest.nobody AS right_stack,
	rest.wrong AS wrong_stack, rest.nobody AS no_stack,
	rest.ours AS wrong_joined, rest.alike AS wrong_alike
FROM total, rest

-- name: check_as_tid_wrong
SELECT r.event, e.time_ns, e.cpu, p.pid, t.tid, c.name AS comm,
	y.name AS event_name, printf('0x%x', r.cookie) AS cookie,
	v.name AS verdict, h.id AS wrong_chain,
	printf('0x%x', h.cookie) AS wrong_cookie, h.time_ns AS wrong_time_ns,
	(SELECT group_concat(place, ' < ') FROM (
		SELECT coalesce(s.symbol, CASE WHEN s.kind LIKE 'unknown%'
			THEN s.image ELSE s.image || '+' || s.off END) AS place
		FROM raw_chain k JOIN stack_frames s ON s.stack = k.stack
		WHERE k.id = h.uraw ORDER BY s.pos LIMIT 4)) AS wrong_stack,
	(SELECT group_concat(place, ' < ') FROM (
		SELECT coalesce(s.symbol, CASE WHEN s.kind LIKE 'unknown%'
			THEN s.image ELSE s.image || '+' || s.off END) AS place
		FROM raw_chain k JOIN stack_frames s ON s.stack = k.stack
		WHERE k.id = r.uraw ORDER BY s.pos LIMIT 4)) AS true_stack
FROM request r
JOIN main.chain h ON h.id = r.as_tid
JOIN event e ON e.id = r.event
LEFT JOIN event_type y ON y.id = e.type
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN comm c ON c.id = e.comm
LEFT JOIN word v ON v.kind = 'request' AND v.id = r.verdict
WHERE r.as_perf IS NOT NULL AND h.cookie <> r.cookie
ORDER BY r.event

-- name: check_unjoined_requests
SELECT r.event, y.capture, e.time_ns, e.cpu, p.pid, t.tid, c.name AS comm,
	y.name AS event_name, CASE WHEN r.cookie NOT NULL
		THEN printf('0x%x', r.cookie) END AS cookie,
	v.name AS verdict, f.name AS confidence, n.name AS ended_by,
	r.until_ns, r.loss, l.what AS loss_what, l.cpu AS loss_cpu,
	l.t0 AS loss_from_ns, l.t1 AS loss_to_ns, l.n AS loss_n
FROM request r
JOIN event e ON e.id = r.event
LEFT JOIN event_type y ON y.id = e.type
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN comm c ON c.id = e.comm
LEFT JOIN word v ON v.kind = 'request' AND v.id = r.verdict
LEFT JOIN word f ON f.kind = 'confidence' AND f.id = r.confidence
LEFT JOIN word n ON n.kind = 'end' AND n.id = r.ended_by
LEFT JOIN main.loss l ON l.id = r.loss
WHERE r.verdict NOT IN (SELECT id FROM word
	WHERE kind = 'request' AND name IN ('matched', 'refused'))
ORDER BY r.event

-- name: check_across_list
SELECT r.event, y.capture, e.time_ns, e.cpu, p.pid, t.tid, c.name AS comm,
	y.name AS event_name, printf('0x%x', r.cookie) AS cookie, h.id AS chain,
	h.capture AS recorded_by, h.time_ns AS chain_time_ns
FROM request r
JOIN event e ON e.id = r.event
JOIN main.chain h ON h.id = r.chain
LEFT JOIN event_type y ON y.id = e.type
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN comm c ON c.id = e.comm
WHERE r.flags & 4
ORDER BY r.event

-- name: check_unused_chains
SELECT h.id AS chain, h.capture, h.time_ns, h.cpu, p.pid, t.tid,
	c.name AS comm, CASE WHEN h.cookie NOT NULL
		THEN printf('0x%x', h.cookie) END AS cookie,
	v.name AS verdict, f.name AS confidence, h.from_ns, h.loss,
	l.what AS loss_what, l.cpu AS loss_cpu, l.t0 AS loss_from_ns,
	l.t1 AS loss_to_ns, l.n AS loss_n
FROM chain h
LEFT JOIN thread t ON t.id = h.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN last_comm c ON c.thread = h.thread
LEFT JOIN word v ON v.kind = 'chain' AND v.id = h.verdict
LEFT JOIN word f ON f.kind = 'confidence' AND f.id = h.confidence
LEFT JOIN main.loss l ON l.id = h.loss
WHERE h.verdict <> (SELECT id FROM word
	WHERE kind = 'chain' AND name = 'used')
ORDER BY h.id

-- name: check_gap_list
SELECT g.id AS gap, g.capture, g.cpu, printf('0x%x', g.first) AS first, g.n,
	g.t0 AS from_ns, g.t1 AS to_ns, w.name AS verdict, g.loss,
	l.what AS loss_what, l.cpu AS loss_cpu, l.t0 AS loss_from_ns,
	l.t1 AS loss_to_ns, l.n AS loss_n
FROM cookie_gap g
LEFT JOIN word w ON w.kind = 'gap' AND w.id = g.verdict
LEFT JOIN main.loss l ON l.id = g.loss
ORDER BY g.id

-- name: check_finding_list
SELECT f.id AS finding, r.name AS rule, f.capture, f.time_ns, f.since_ns,
	f.cpu, p.pid, t.tid, c.name AS comm, f.event, f.n, f.loss,
	l.what AS loss_what, l.cpu AS loss_cpu, l.t0 AS loss_from_ns,
	l.t1 AS loss_to_ns, l.n AS loss_n
FROM internal_finding f
JOIN internal_rule r ON r.id = f.rule
LEFT JOIN thread t ON t.id = f.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN last_comm c ON c.thread = f.thread
LEFT JOIN main.loss l ON l.id = f.loss
ORDER BY f.id

-- name: check_loss_list
SELECT l.id AS loss, l.capture, l.what, l.counts, l.cpu,
	y.name AS event_name, l.t0 AS from_ns, l.t1 AS to_ns, l.n
FROM loss l LEFT JOIN event_type y ON y.id = l.type
ORDER BY l.id

-- name: check_filter_request
request AS MATERIALIZED (SELECT * FROM main.request q WHERE EXISTS (
	SELECT 1 FROM samples s WHERE s.event_id = q.event AND ({filter})))

-- name: check_filter_chain
chain AS MATERIALIZED (SELECT * FROM main.chain WHERE id IN (
	SELECT id FROM (SELECT h.id, h.time_ns, h.cpu, p.pid, t.tid,
		c.name AS comm
	FROM main.chain h LEFT JOIN thread t ON t.id = h.thread
	LEFT JOIN process p ON p.id = t.process
	LEFT JOIN last_comm c ON c.thread = h.thread) WHERE ({filter})))

-- name: check_filter_finding
internal_finding AS MATERIALIZED (SELECT * FROM main.internal_finding
	WHERE id IN (
	SELECT id FROM findings WHERE ({filter})))

-- name: check_filter_loss
loss AS MATERIALIZED (SELECT * FROM main.loss WHERE id IN (
	-- NULL: its time or its CPU is not known
	SELECT id FROM (SELECT l.id, coalesce(l.t1, c.last_ns + 0 * l.t0)
		AS time_ns, l.cpu FROM main.loss l
		LEFT JOIN capture c ON c.id = l.capture)
	WHERE ({filter}) IS NOT 0))

-- name: check_filter_gap
cookie_gap AS MATERIALIZED (SELECT * FROM main.cookie_gap WHERE id IN (
	SELECT id FROM (SELECT id, t1 AS time_ns, cpu FROM main.cookie_gap)
	WHERE ({filter})))

-- name: check_filter_ordering
ordering AS MATERIALIZED (SELECT * FROM main.ordering WHERE id IN (
	SELECT id FROM main.ordering WHERE ({filter})))
