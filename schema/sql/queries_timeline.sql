-- queries_timeline.sql - the selects behind the timeline picture of check.
--
-- Sums are made by the caller: SQLite's sum() fails when a database that was
-- made to hurt takes it over 64 bits.

-- name: timeline_captures
SELECT id, coalesce(path, ''), coalesce(host, ''), coalesce(clock, ''),
	first_ns, last_ns, coalesce(cpus, 0), coalesce(system_wide, 0)
FROM capture ORDER BY id

-- name: timeline_types
SELECT id, coalesce(capture, 0) FROM event_type ORDER BY id

-- Chains may be later than the last event.
-- name: timeline_range
SELECT min(time_ns), max(time_ns) FROM chain

-- name: timeline_events
SELECT time_ns, coalesce(cpu, -1), coalesce(type, 0) FROM event

-- name: timeline_joined
SELECT count(*), count(CASE WHEN verdict = (SELECT id FROM word
	WHERE kind = 'request' AND name = 'matched') THEN 1 END),
	count(CASE WHEN verdict = (SELECT id FROM word
	WHERE kind = 'request' AND name = 'refused') THEN 1 END)
FROM request

-- name: timeline_requests
SELECT e.time_ns, coalesce(e.cpu, -1), coalesce(e.type, 0), r.verdict, t.tid,
	c.name
FROM request r
JOIN event e ON e.id = r.event
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN comm c ON c.id = e.comm
WHERE coalesce(r.verdict, 0) NOT IN (SELECT id FROM word
	WHERE kind = 'request' AND name IN ('matched', 'refused'))
ORDER BY r.event

-- name: timeline_chains
SELECT h.time_ns, coalesce(h.cpu, -1), coalesce(h.capture, 0), h.verdict,
	t.tid, NULL
FROM chain h
LEFT JOIN thread t ON t.id = h.thread
WHERE coalesce(h.verdict, 0) NOT IN (SELECT id FROM word
	WHERE kind = 'chain' AND name = 'used')
ORDER BY h.time_ns, h.id

-- name: timeline_losses
SELECT coalesce(capture, 0), coalesce(what, ''), coalesce(cpu, -1), t0, t1, n,
	coalesce(counts, 0)
FROM loss
ORDER BY 1, 2, 3, id

-- name: timeline_gaps
SELECT coalesce(capture, 0), coalesce(cpu, -1), t0, t1, n, verdict
FROM cookie_gap ORDER BY id

-- name: timeline_findings
SELECT f.time_ns, coalesce(f.cpu, -1), coalesce(f.capture, 0),
	coalesce(f.rule, 0), t.tid, coalesce(f.n, 1)
FROM finding f
LEFT JOIN thread t ON t.id = f.thread
ORDER BY f.time_ns, f.id

-- name: timeline_rules
SELECT id, coalesce(name, '') FROM rule ORDER BY id
