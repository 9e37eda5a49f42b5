-- queries_served.sql - rows of a temporary database that a server added up, see
-- schema/write/served.h.

-- name: served_put_capture
INSERT INTO capture(id, path, format, host, release, version, arch, cmdline,
	cpus, clock, first_ns, last_ns, records, samples, system_wide, complete,
	note)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
	?17)

-- name: served_put_event
INSERT INTO event_type(id, capture, name, kind, how, unit, period, freq,
	has_chain, has_cpu, has_time, defer, events, weight)
VALUES(?1, ?2, ?3, 'sample', ?4, ?5, ?6, ?7, ?8, 1, 1, ?9, ?10, ?11)

-- name: served_put_comm
INSERT INTO comm(id, thread, name) VALUES(?1, ?1, ?2)

-- name: served_put_thread
INSERT INTO thread(id, process, tid) VALUES(?1, ?1, ?2)

-- name: served_put_process
INSERT INTO process(id, capture, pid) VALUES(?1, 1, ?2)

-- name: served_put_group
INSERT INTO served_group VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- name: served_put_image
INSERT INTO image(id, kind, path, build_id, status)
VALUES(?1, ?2, ?3, ?4, ?5)

-- name: served_put_frame
INSERT INTO frame VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- name: served_put_stack
INSERT INTO stack VALUES(?1, ?2, ?3, ?4, ?5)

-- name: served_put_raw
INSERT INTO raw_chain(id, stack, ended) VALUES(?1, ?2, ?3)

-- name: served_put_symbol
INSERT INTO symbol(id, image, start, name, how, unverified)
VALUES(?1, ?2, ?3, ?4, 'server', ?5)

-- name: served_put_inline
INSERT INTO inline_frame VALUES(?1, ?2, ?3, ?4, ?5)

-- name: served_put_check
INSERT INTO stack_check(stack, checked, bogus, first) VALUES(?1, ?2, ?2, ?3)

-- name: served_put_callsite
INSERT OR IGNORE INTO callsite(frame, kind) VALUES(?1, ?2)

-- name: served_put_trust
INSERT INTO user_trust(type, judged, n) VALUES(?1, ?2, ?3)

-- name: served_put_loss
INSERT INTO loss(capture, what, counts, type, n) VALUES(?1, ?2, ?3, NULL, ?4)

-- name: served_put_verdict
INSERT INTO served_verdict VALUES(?1, ?2, ?3, ?4)

-- name: served_put_loss_sum
INSERT INTO served_loss VALUES(?1, ?2, ?3, ?4, ?5)

-- name: served_put_finding
INSERT INTO served_finding VALUES(?1, ?2, ?3, ?4)

-- what is in the tables of single events that other commands read
-- name: served_fill_groups
INSERT INTO sample_group(type, comm, kernel, user, mark, weight, n, kernel_mark)
SELECT g.type, g.comm, k.stack, u.stack,
	CASE WHEN u.id IS NULL THEN -g.verdict WHEN g.flags & 2 THEN 2
		WHEN u.ended > 1 THEN 100 + u.ended END,
	sum(g.weight), sum(g.n), CASE WHEN k.ended > 1 THEN 100 + k.ended END
FROM served_group g LEFT JOIN raw_chain k ON k.id = g.kraw
LEFT JOIN raw_chain u ON u.id = g.uraw
GROUP BY 1, 2, 3, 4, 5, 8

-- name: served_here
SELECT 1 AS found FROM sqlite_schema
WHERE type = 'table' AND name = 'served_group'

-- name: served_groups
SELECT type, coalesce(comm, 0) AS comm, coalesce(cpu, -1) AS cpu,
	coalesce(kraw, 0) AS kraw, coalesce(uraw, 0) AS uraw,
	coalesce(verdict, 0) AS verdict, coalesce(flags, 0) AS flags, weight, n
FROM served_group
