-- queries_fleet.sql - the rows of a fleet's tables, without ids of this
-- database. The columns after `run` are those of the table, in its order; ?1 is
-- the capture, ?2 what to add to its times for those of the fleet.

-- name: fleet_captures
SELECT c.id, coalesce(c.host, '') AS host, coalesce(c.release, '') AS release,
	coalesce(c.arch, '') AS arch, coalesce(c.cpus, -1) AS cpus,
	coalesce(c.cmdline, '') AS cmdline, coalesce(c.format, '') AS format,
	coalesce(c.version, '') AS version, coalesce(c.note, '') AS note,
	coalesce(c.clock, '') AS clock, c.first_ns, c.last_ns,
	coalesce(c.system_wide, -1) AS system_wide,
	coalesce(c.complete, 0) AS complete, coalesce(c.records, 0) AS records,
	(SELECT coalesce(sum(events), 0) FROM event_type t
		WHERE t.capture = c.id AND t.kind = 'sample') AS samples,
	(SELECT coalesce(sum(n), 0) FROM loss l
		WHERE l.capture = c.id AND l.counts) AS lost,
	(SELECT count(*) FROM loss l
		WHERE l.capture = c.id AND ((l.counts AND l.n IS NULL)
			OR l.what = 'damage'
			OR (l.what = 'overwritten' AND l.n IS NULL
				AND NOT EXISTS (SELECT 1 FROM loss t
				WHERE t.capture = c.id
				AND t.what = 'overwritten' AND t.counts))))
		AS lost_unknown,
	coalesce((SELECT value FROM meta WHERE capture = c.id
			AND key = 'wall_offset_ns'),
		-- that of another capture on the same timeline
		(SELECT m.value FROM meta m JOIN capture d ON d.id = m.capture
			WHERE m.key = 'wall_offset_ns' AND d.align NOT NULL
			AND c.align NOT NULL ORDER BY m.capture LIMIT 1)) AS wall,
	coalesce(c.path, '') AS path
FROM capture c ORDER BY c.id

-- What rows depend on besides the content of the capture, as one text.
-- name: fleet_made
SELECT printf('%s|%s|%s|%s|%s', c.align, c.offset_ns, c.drift_ppb,
	(SELECT group_concat(key || ' ' || value, ';') FROM (
		SELECT key, value FROM meta WHERE capture IN (0, c.id)
		AND key IN ('backstitch', 'wall_offset_ns') ORDER BY 1, 2)),
	(SELECT group_concat(name || ' ' || mark || ' ' || judged || ' '
			|| frames || ' ' || image || ' ' || n, ';') FROM (
		SELECT coalesce(t.name, '') AS name,
			coalesce(u.mark, 0) AS mark,
			coalesce(u.judged, '') AS judged,
			coalesce(u.frames, 0) AS frames,
			coalesce(u.image, 0) AS image, sum(u.n) AS n
		FROM internal_user_trust u JOIN event_type t ON t.id = u.type
		WHERE t.capture = c.id GROUP BY 1, 2, 3, 4, 5
		ORDER BY 1, 2, 3, 4, 5))) AS made
FROM capture c WHERE c.id = ?1

-- name: fleet_event
SELECT coalesce(name, '') AS event, coalesce(max(how), '') AS how,
	coalesce(max(unit), '') AS unit, coalesce(min(period), 0) AS period,
	coalesce(max(freq), 0) AS frequency,
	coalesce(max(has_chain), 0) AS stacks,
	coalesce(max(defer), 0) AS deferred,
	coalesce(sum(events), 0) AS samples, coalesce(sum(weight), 0) AS weight,
	row_number() OVER (ORDER BY min(id)) AS number
FROM event_type WHERE capture = ?1 AND kind = 'sample'
GROUP BY 1 ORDER BY 1

-- name: fleet_loss
SELECT coalesce(l.what, '') AS what, coalesce(l.counts, 0) AS counts,
	coalesce(l.cpu, -1) AS cpu, coalesce(t.name, '') AS event,
	coalesce(l.t0 + ?2, 0) AS since, coalesce(l.t1 + ?2, 0) AS time,
	coalesce(l.n, -1) AS n
FROM loss l LEFT JOIN event_type t ON t.id = l.type
WHERE l.capture = ?1 ORDER BY l.t1, l.id

-- The verdicts on requests and chains, to be counted: GROUP BY sorts them, which
-- takes six times as long. Many rows at a time (rows_ints()); ?1: the id before
-- the first.
-- name: fleet_requests
SELECT 1 AS taken FROM request r JOIN event e ON e.id = r.event
JOIN event_type t ON t.id = e.type
WHERE r.event > ?1
	AND take_ints(r.event, r.verdict, r.confidence, t.capture)

-- name: fleet_chains
SELECT 1 AS taken FROM chain
WHERE id > ?1 AND take_ints(id, verdict, confidence, capture)

-- name: fleet_trust
SELECT coalesce(event, '') AS event, class, samples, coalesce(fix, '') AS fix
FROM trust WHERE capture = ?1 ORDER BY 1, 2

-- name: fleet_finding
SELECT coalesce(r.name, '') AS rule, coalesce(r.breaks, 0) AS breaks,
	f.loss IS NOT NULL AS explained, coalesce(f.since_ns + ?2, 0) AS since,
	coalesce(f.time_ns + ?2, 0) AS time, coalesce(f.cpu, -1) AS cpu,
	coalesce(p.pid, -1) AS pid, coalesce(h.tid, -1) AS tid,
	coalesce(c.name, '') AS comm, coalesce(f.n, 0) AS n
FROM internal_finding f
JOIN internal_rule r ON r.id = f.rule
LEFT JOIN thread h ON h.id = f.thread
LEFT JOIN process p ON p.id = h.process
LEFT JOIN last_comm c ON c.thread = f.thread
WHERE f.capture = ?1 ORDER BY f.id

-- name: fleet_hashes
SELECT id, hash FROM stack ORDER BY id
