-- queries_export.sql - the queries that only export uses.

-- The losses that check selects: see check_filter_loss.
-- name: export_losses
SELECT id, coalesce(capture, 0) AS capture, coalesce(what, '') AS what,
	coalesce(counts, 0) AS counts, cpu, t0, t1, n, type
FROM loss WHERE id IN (
	SELECT id FROM (SELECT l.id, coalesce(l.t1, c.last_ns + 0 * l.t0)
		AS time_ns, l.cpu FROM loss l
		LEFT JOIN capture c ON c.id = l.capture)
	WHERE ({filter}) IS NOT 0
) ORDER BY coalesce(t1, 9223372036854775807), id

-- The names of the columns are the keys of the JSON form: add, never rename.
-- name: export_captures
SELECT id, path, format, bytes, host, release, version, arch, cmdline, cpus,
	clock, first_ns, last_ns, records, samples, system_wide, exact_order,
	complete, note
FROM capture ORDER BY id

-- name: export_events
SELECT id, capture, name, kind, period, freq, has_chain, defer, events, weight
FROM event_type ORDER BY id

-- name: export_verdicts
SELECT kind, verdict, confidence, n FROM verdicts ORDER BY 1, 2, 3

-- name: export_threads
SELECT h.id, p.capture, p.pid, h.tid, h.process, p.parent, h.start_ns, h.end_ns
FROM thread h LEFT JOIN process p ON p.id = h.process ORDER BY h.id

-- name: switch_records
SELECT event, max(CASE name WHEN 'out' THEN value END) AS away,
	max(CASE name WHEN 'preempt' THEN value END) AS preempt,
	coalesce(max(CASE name WHEN 'other_pid' THEN value END), -1)
		AS other_pid,
	coalesce(max(CASE name WHEN 'other_tid' THEN value END), -1)
		AS other_tid
FROM sample_extra WHERE name IN ('out', 'preempt', 'other_pid', 'other_tid')
GROUP BY event ORDER BY event

-- Threads, with the first capture of the same kernel.
-- name: track_threads
SELECT h.id, coalesce(p.pid, -1) AS pid, coalesce(h.tid, -1) AS tid,
	coalesce(h.process, 0) AS process, h.start_ns, h.end_ns,
	coalesce(c.together, c.id, 0) AS together
FROM thread h LEFT JOIN process p ON p.id = h.process
LEFT JOIN capture c ON c.id = p.capture ORDER BY h.id

-- name: track_captures
SELECT id, coalesce(together, id) AS together FROM capture ORDER BY id

-- name: track_wanted
SELECT DISTINCT id FROM (
	SELECT h.id, p.pid, h.tid, c.name AS comm, g.event_id
	FROM thread h LEFT JOIN process p ON p.id = h.process
	LEFT JOIN comm c ON c.thread = h.id
	LEFT JOIN (SELECT DISTINCT x.event AS event_id, e.thread
		FROM sample_extra x JOIN event e ON e.id = x.event
		WHERE x.name = 'cgroup') g ON g.thread = h.id
) WHERE {filter}

-- name: export_damage
SELECT coalesce(kind, '') AS kind, coalesce(what, '') AS what, count(*) AS n
FROM damage
WHERE kind <> 'note' GROUP BY 1, 2 ORDER BY 1, 2

-- Events with a fixed period.
-- name: export_periods
SELECT name, min(period) AS min_period, max(period) AS max_period
FROM event_type
WHERE kind = 'sample' AND coalesce(freq, 0) = 0 AND period > 0
GROUP BY name

-- name: firefox_threads
SELECT h.id, p.pid, h.tid, coalesce(h.process, 0) AS process, h.start_ns,
	h.end_ns, p.start_ns AS process_start_ns, p.end_ns AS process_end_ns
FROM thread h LEFT JOIN process p ON p.id = h.process ORDER BY h.id

-- name: ctf_facts
-- of the first capture, which gives the timeline its clock
SELECT coalesce(host, '') AS host, coalesce(release, '') AS release,
	coalesce(arch, '') AS arch, coalesce(clock, '') AS clock,
	(SELECT min(first_ns) FROM capture) AS first_ns,
	(SELECT min(value) FROM meta WHERE key = 'wall_offset_ns'
		AND typeof(value) = 'integer'
		HAVING max(value) - min(value) < 1000000000) AS wall_offset_ns
FROM capture ORDER BY id LIMIT 1
