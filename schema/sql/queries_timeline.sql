-- queries_timeline.sql - the queries of the marks and bands of the page.
--
-- The caller adds up: SQLite's sum() fails if a manipulated database makes it
-- exceed 64 bits.

-- Chains may be later than the last event.
-- name: timeline_range
SELECT first_ns, last_ns FROM capture
UNION ALL
SELECT min(time_ns), max(time_ns) FROM chain

-- name: timeline_requests
SELECT coalesce(y.capture, 0) AS capture, coalesce(e.cpu, -1) AS cpu, e.time_ns,
	r.verdict
FROM request r
JOIN event e ON e.id = r.event
LEFT JOIN event_type y ON y.id = e.type
WHERE coalesce(r.verdict, 0) NOT IN (SELECT id FROM word
	WHERE kind = 'request' AND name IN ('matched', 'refused'))
ORDER BY r.event

-- name: timeline_chains
SELECT coalesce(capture, 0) AS capture, coalesce(cpu, -1) AS cpu, time_ns,
	verdict
FROM chain
WHERE coalesce(verdict, 0) NOT IN (SELECT id FROM word
	WHERE kind = 'chain' AND name = 'used')
ORDER BY time_ns, id

-- name: timeline_findings
SELECT coalesce(capture, 0) AS capture, coalesce(cpu, -1) AS cpu, time_ns
FROM internal_finding
ORDER BY time_ns, id

-- Losses without a time are in the tables of the page.
-- name: timeline_losses
SELECT coalesce(capture, 0) AS capture, coalesce(cpu, -1) AS cpu, t0, t1, n,
	coalesce(what, '') AS what
FROM loss
WHERE t0 IS NOT NULL OR t1 IS NOT NULL
ORDER BY id

-- name: timeline_gaps
SELECT coalesce(capture, 0) AS capture, coalesce(cpu, -1) AS cpu, t0, t1, n,
	verdict
FROM cookie_gap
ORDER BY id
