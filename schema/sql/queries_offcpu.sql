-- queries_offcpu.sql - the queries of off-CPU time: which thread left a CPU,
-- which came back. See analyze/waits/waits.c.

-- name: switches_unnamed
-- Tracepoints of which only the number is known, and whether their capture is
-- cut off or damaged.
SELECT count(*) AS n, coalesce(max(c.complete = 0), 0) AS cut
FROM event_type t JOIN capture c ON c.id = t.capture
WHERE t.name GLOB 'tracepoint:[0-9]*' AND t.events > 0

-- name: recorded_by
-- The recorder of all captures, as a row of analyze/samples/recorder.c, and
-- whether record --waits made one.
SELECT CASE WHEN min(made) = max(made) THEN made ELSE 0 END AS recorder,
	coalesce(max(waits), 0) AS record
FROM (SELECT waits, CASE WHEN format IN ('ftrace', 'ftext') THEN 1
	WHEN format = 'ctf' AND version LIKE 'lttng%' THEN 2 ELSE 0 END AS made
	FROM capture JOIN internal_recorder r ON r.capture = id)

-- name: offcpu_measured
-- Waits that the kernel measured; sums of them have no time. ?1: event_type;
-- ?2, ?3: the first and last event of its capture.
SELECT e.id, coalesce(e.time_ns, 0) AS time_ns, coalesce(e.comm, 0) AS comm,
	e.kraw, coalesce(r.uraw, e.uraw) AS uraw, r.verdict, r.flags, e.weight,
	coalesce(t.tid, 0) AS tid
FROM event e LEFT JOIN request r ON r.event = e.id
LEFT JOIN thread t ON t.id = e.thread
WHERE e.id BETWEEN ?2 AND ?3 AND e.type = ?1 ORDER BY e.id

-- name: offcpu_told
-- The threads that have an event of a type.
SELECT DISTINCT t.tid FROM event e JOIN thread t ON t.id = e.thread
WHERE e.type = ?1

-- name: offcpu_exits
-- The threads of a kernel, those of one id in time order. ?1: capture.together,
-- or capture.id
SELECT t.tid, coalesce(t.start_ns, -9223372036854775807) AS start_ns,
	coalesce(t.end_ns, 9223372036854775807) AS end_ns
FROM thread t JOIN process p ON p.id = t.process
JOIN capture c ON c.id = p.capture
WHERE t.tid > 0 AND coalesce(nullif(c.together, 0), c.id) = ?1
ORDER BY t.tid, 2, t.id

-- name: offcpu_chosen
SELECT event_id FROM (
	SELECT e.id AS event_id, e.time_ns, e.cpu, p.pid, h.tid,
		c.name AS comm, t.name AS event, e.type
	FROM event e
	LEFT JOIN event_type t ON t.id = e.type
	LEFT JOIN thread h ON h.id = e.thread
	LEFT JOIN process p ON p.id = h.process
	LEFT JOIN comm c ON c.id = e.comm
) WHERE {filter} AND type IN ({types}) ORDER BY event_id

-- name: offcpu_losses
-- Where switches are missing, as causes_losses.
-- ?1: capture, ?2: event_type of the switches
SELECT id, coalesce(cpu, -1) AS cpu, t0,
	CASE WHEN t1 < t0 THEN NULL ELSE t1 END AS t1, n, 0 AS silent
FROM loss WHERE counts AND capture = ?1 AND (type IS NULL OR type = ?2)
ORDER BY coalesce(t0, -9223372036854775807)
