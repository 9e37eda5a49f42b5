-- queries_timeline.sql - the queries of check's timeline picture.
--
-- The caller adds up: SQLite's sum() fails if a manipulated database makes it
-- exceed 64 bits.

-- name: timeline_captures
SELECT id, coalesce(path, '') AS path, coalesce(host, '') AS host,
	coalesce(clock, '') AS clock, first_ns, last_ns,
	coalesce(cpus, 0) AS cpus, coalesce(system_wide, 0) AS system_wide
FROM capture ORDER BY id

-- name: timeline_types
SELECT id, coalesce(capture, 0) AS capture FROM event_type ORDER BY id

-- The range of times of chains, which may be later than the last event.
-- name: timeline_range
SELECT min(time_ns) AS first_ns, max(time_ns) AS last_ns FROM chain

-- name: timeline_events
SELECT time_ns, coalesce(cpu, -1) AS cpu, coalesce(type, 0) AS type FROM event

-- name: timeline_joined
SELECT count(*) AS requests, count(CASE WHEN verdict = (SELECT id FROM word
	WHERE kind = 'request' AND name = 'matched') THEN 1 END) AS matched,
	count(CASE WHEN verdict = (SELECT id FROM word
	WHERE kind = 'request' AND name = 'refused') THEN 1 END) AS refused
FROM request

-- name: timeline_requests
SELECT e.time_ns, coalesce(e.cpu, -1) AS cpu, coalesce(e.type, 0) AS type,
	r.verdict, t.tid, c.name AS comm
FROM request r
JOIN event e ON e.id = r.event
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN comm c ON c.id = e.comm
WHERE coalesce(r.verdict, 0) NOT IN (SELECT id FROM word
	WHERE kind = 'request' AND name IN ('matched', 'refused'))
ORDER BY r.event

-- name: timeline_chains
SELECT h.time_ns, coalesce(h.cpu, -1) AS cpu, coalesce(h.capture, 0) AS capture,
	h.verdict, t.tid, NULL AS comm
FROM chain h
LEFT JOIN thread t ON t.id = h.thread
WHERE coalesce(h.verdict, 0) NOT IN (SELECT id FROM word
	WHERE kind = 'chain' AND name = 'used')
ORDER BY h.time_ns, h.id

-- name: timeline_losses
SELECT coalesce(capture, 0) AS capture, coalesce(what, '') AS what,
	coalesce(cpu, -1) AS cpu, t0, t1, n, coalesce(counts, 0) AS counts
FROM loss
ORDER BY 1, 2, 3, id

-- name: timeline_gaps
SELECT coalesce(capture, 0) AS capture, coalesce(cpu, -1) AS cpu, t0, t1, n,
	verdict
FROM cookie_gap ORDER BY id

-- name: timeline_findings
SELECT f.time_ns, coalesce(f.cpu, -1) AS cpu, coalesce(f.capture, 0) AS capture,
	coalesce(f.rule, 0) AS rule, t.tid, 1 AS n
FROM internal_finding f
LEFT JOIN thread t ON t.id = f.thread
ORDER BY f.time_ns, f.id

-- name: timeline_rules
SELECT id, coalesce(name, '') AS name FROM internal_rule ORDER BY id
