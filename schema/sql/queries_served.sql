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
INSERT INTO internal_stack_check(stack, checked, bogus, first)
VALUES(?1, ?2, ?2, ?3)

-- name: served_put_callsite
INSERT OR IGNORE INTO internal_callsite(frame, kind) VALUES(?1, ?2)

-- name: served_put_trust
INSERT INTO internal_user_trust(type, judged, n) VALUES(?1, ?2, ?3)

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

-- The statements of check that the sums of a server can answer; the columns are
-- those of the statements without 'served_'.

-- name: served_check_breaks
SELECT (SELECT coalesce(sum(n), 0) FROM served_verdict
		WHERE kind = 'request' AND verdict IN ('chain_lost',
			'unjoinable', 'stripped', 'unexplained',
			'unwinder_died')) AS requests,
	(SELECT coalesce(sum(n), 0) FROM served_verdict
		WHERE kind = 'chain' AND verdict IN ('sample_lost',
			'overwritten', 'unjoinable', 'unexplained')) AS chains,
	(SELECT coalesce(sum(records), 0) FROM served_loss WHERE counts)
		AS lost,
	(SELECT coalesce(sum(CASE WHEN counts AND what <> 'damage'
			THEN unknown WHEN what = 'damage' OR (
			what = 'overwritten' AND NOT EXISTS (SELECT 1
			FROM served_loss WHERE what = 'overwritten' AND counts))
			THEN intervals END), 0)
		FROM served_loss) AS lost_unknown,
	NULL AS out_of_order,
	(SELECT coalesce(sum(findings - explained), 0) FROM served_finding
		WHERE breaks AND rule <> 'uncounted') AS findings,
	NULL AS vanished, NULL AS not_provable,
	(SELECT coalesce(sum(findings - explained), 0) FROM served_finding
		WHERE rule IN ('exit_order', 'switch_gap')) AS open_findings,
	(SELECT coalesce(sum(n), 0) FROM served_verdict
		WHERE kind = 'chain' AND verdict = 'foreign') AS open_chains

-- name: served_check_requests
WITH v AS (SELECT verdict AS name, n FROM served_verdict
	WHERE kind = 'request'
	UNION ALL SELECT '', 0) -- so that no sum is NULL
SELECT sum(n) AS requests,
	sum(n * (name NOT IN ('refused', 'unjoinable'))) AS with_cookie,
	sum(n * (name = 'matched')) AS matched,
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
	NULL AS after, NULL AS exec_between, NULL AS other_capture,
	NULL AS reused_tid, NULL AS first_lost
FROM v

-- name: served_check_chains
WITH v AS (SELECT verdict AS name, n FROM served_verdict WHERE kind = 'chain'
	UNION ALL SELECT '', 0) -- so that no sum is NULL
SELECT sum(n) AS chains,
	sum(n * (name = 'used')) AS used,
	sum(n * (name = 'sample_lost')) AS sample_lost,
	sum(n * (name = 'foreign')) AS foreign_session,
	sum(n * (name = 'overwritten')) AS overwritten,
	sum(n * (name = 'duplicate')) AS duplicate,
	sum(n * (name = 'unjoinable')) AS unjoinable,
	sum(n * (name = 'unexplained')) AS unexplained,
	NULL AS after_exit, NULL AS conflict
FROM v

-- name: served_check_losses
SELECT what, counts, records, intervals, unknown FROM served_loss
ORDER BY counts DESC, what

-- name: served_check_findings
SELECT f.rule, r.proves, f.breaks, f.findings, f.explained, NULL AS first_ns
FROM served_finding f LEFT JOIN internal_rule r ON r.name = f.rule
ORDER BY f.breaks DESC, f.findings DESC, f.rule

-- name: served_check_damage
SELECT 'run not complete' AS what, count(*) AS places, count(*) AS n,
	0 AS bytes, NULL AS first_off, NULL AS detail
FROM capture WHERE NOT complete GROUP BY complete
