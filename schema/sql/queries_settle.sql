-- queries_settle.sql - requests whose stack never came, in the pieces of a
-- stream: why that is so. See schema/merge/merge_settle.c.

-- name: settle_has_pieces
SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'cut_behind') AS has_pieces

-- name: settle_has_merged
SELECT EXISTS (SELECT 1 FROM request WHERE flags & 4096)
	OR EXISTS (SELECT 1 FROM chain WHERE flags & 4096) AS has_merged

-- New verdicts of requests, by which merge_apply() changes them.
-- name: merge_verdicts_begin
CREATE TEMP TABLE new_verdict(event INTEGER PRIMARY KEY, verdict INTEGER,
	confidence INTEGER, ended_by INTEGER, until_ns INTEGER, loss INTEGER,
	flag INTEGER, chain INTEGER, latency_ns INTEGER, exec_ns INTEGER,
	uraw INTEGER)

-- name: merge_verdicts_end
DROP TABLE new_verdict

-- ... with what they and their samples were.
-- name: merge_verdicts
SELECT n.event, n.verdict, n.confidence, n.ended_by, n.until_ns, n.loss, n.flag,
	n.chain, n.latency_ns, n.exec_ns, n.uraw, r.verdict AS was,
	r.exec_ns AS exec_was, e.type, e.comm, e.weight, k.stack AS kernel,
	u.stack AS user, w.stack AS user_was,
	coalesce(100 + k.ended, 0) AS kernel_mark
FROM new_verdict n JOIN request r ON r.event = n.event
JOIN event e ON e.id = n.event LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = n.uraw LEFT JOIN raw_chain w ON w.id = r.uraw
ORDER BY n.event

-- name: merge_verdict
UPDATE request SET verdict = ?2, confidence = ?3, ended_by = ?4, until_ns = ?5,
	loss = ?6, flags = (flags & ~4103) | ?7, chain = ?8, latency_ns = ?9,
	exec_ns = ?10, uraw = ?11
WHERE event = ?1

-- name: merge_verdict_chain
UPDATE chain SET verdict = ?2, confidence = ?3, n_events = n_events + 1,
	from_ns = NULL, loss = NULL, flags = flags | 4096
WHERE id = ?1

-- name: merge_verdicts_clear
DELETE FROM new_verdict

-- What an earlier merge joined or settled is open again: more pieces may be
-- there, or the other half is taken from another database.
-- name: settle_open_again
CREATE TEMP TABLE parted(cookie INTEGER, capture INTEGER, is_chain INTEGER);
INSERT INTO parted SELECT DISTINCT r.cookie, t.capture, 0
FROM request r JOIN event e ON e.id = r.event JOIN event_type t ON t.id = e.type
WHERE r.flags & 4096 AND r.verdict IN (SELECT id FROM word
	WHERE kind = 'request' AND name IN ('matched', 'empty'));
CREATE TEMP TABLE own(chain INTEGER PRIMARY KEY, n INTEGER);
INSERT INTO own SELECT id, 0 FROM chain WHERE flags & 4096;
CREATE TEMP TABLE own_count(chain INTEGER PRIMARY KEY, n INTEGER);
INSERT INTO own_count SELECT r.chain, count(*) FROM request r
WHERE r.chain IN (SELECT chain FROM own) AND NOT r.flags & 4096 GROUP BY 1;
UPDATE own SET n = (SELECT c.n FROM own_count c WHERE c.chain = own.chain)
WHERE chain IN (SELECT chain FROM own_count);
INSERT INTO parted SELECT DISTINCT h.cookie, h.capture, 1
FROM own o JOIN chain h ON h.id = o.chain WHERE NOT o.n;
UPDATE chain SET n_events = (SELECT n FROM own o WHERE o.chain = chain.id),
	flags = flags & ~4096
WHERE id IN (SELECT chain FROM own);
UPDATE cookies SET no_chain = no_chain + (SELECT count(*) FROM parted p
		WHERE p.capture = cookies.capture AND NOT p.is_chain),
	no_sample = no_sample + (SELECT count(*) FROM parted p
		WHERE p.capture = cookies.capture AND p.is_chain)
WHERE capture IN (SELECT capture FROM parted);
DROP TABLE own_count;
DROP TABLE own;
DROP TABLE parted;
INSERT INTO new_verdict SELECT r.event,
	(SELECT id FROM word WHERE kind = 'request' AND name = 'pending_end'),
	(SELECT id FROM word WHERE kind = 'confidence' AND name = 'explained'),
	(SELECT id FROM word WHERE kind = 'end' AND name = 'capture'),
	c.last_ns, NULL, 0, NULL, NULL, NULL, NULL
FROM request r JOIN event e ON e.id = r.event JOIN event_type t ON t.id = e.type
JOIN capture c ON c.id = t.capture
WHERE r.flags & 4096

-- name: settle_joined
SELECT count(*) AS joined FROM request WHERE chain NOT NULL

-- name: settle_chain_events
SELECT coalesce(sum(n_events), 0) AS n FROM chain

-- A request that nothing explained in its own piece stays so.
-- name: settle_put
INSERT INTO new_verdict SELECT event, ?2, ?3, ?4, ?5, ?6, ?7, NULL, NULL, NULL,
	NULL
FROM request WHERE event = ?1 AND (verdict <> ?2 OR ?2 <> (SELECT id FROM word
	WHERE kind = 'request' AND name = 'unexplained'))

-- The pieces of each stream: a line has those that continue each other, and its
-- number is that of the first. Two pieces that begin or end at one place are of
-- a stream that was cut twice: which one continues it is not known. What a ring
-- overwrote, and what aligned captures know of each other, is not in a piece.
-- name: settle_lines
CREATE TEMP TABLE piece_link(a INTEGER PRIMARY KEY, b INTEGER);
INSERT INTO piece_link SELECT min(a.capture), min(b.capture)
FROM meta a JOIN meta b ON b.key = 'cut_before' AND b.value = a.value
	AND b.capture <> a.capture
WHERE a.key = 'cut_behind' GROUP BY a.value HAVING count(*) = 1;
CREATE TEMP TABLE piece(capture INTEGER PRIMARY KEY, line INTEGER,
	place INTEGER);
INSERT INTO piece WITH RECURSIVE line(capture, line, place) AS (
	SELECT a, a, 0 FROM piece_link
	WHERE a NOT IN (SELECT b FROM piece_link)
	UNION ALL
	SELECT b, line, place + 1 FROM line JOIN piece_link ON a = capture
) SELECT capture, line, place FROM line;
DELETE FROM piece WHERE line IN (SELECT p.line FROM piece p
	JOIN capture c ON c.id = p.capture
	WHERE c.format IS NOT 'perf' OR c.align NOT NULL
		OR c.note LIKE '%overwrite%' OR c.note LIKE '%injected%');
DELETE FROM piece WHERE line NOT IN (SELECT p.line FROM piece p
	JOIN capture c ON c.id = p.capture WHERE c.last_ns NOT NULL);
DELETE FROM meta WHERE key IN ('line', 'place') AND capture;
INSERT INTO meta(capture, key, value) SELECT capture, 'line', line FROM piece
UNION ALL SELECT capture, 'place', place FROM piece;
CREATE TEMP TABLE waiting(event INTEGER PRIMARY KEY, line INTEGER, tid INTEGER);
INSERT INTO waiting SELECT r.event, p.line, h.tid
FROM request r JOIN event e ON e.id = r.event JOIN event_type t ON t.id = e.type
JOIN piece p ON p.capture = t.capture JOIN thread h ON h.id = e.thread
WHERE r.chain IS NULL AND r.cookie NOT NULL AND NOT r.flags & 2048
	AND h.tid >= 0 AND r.verdict IN (SELECT id FROM word
		WHERE kind = 'request'
		AND name IN ('pending_end', 'unexplained'));
CREATE TEMP TABLE orphan(chain INTEGER PRIMARY KEY, line INTEGER, tid INTEGER);
INSERT INTO orphan SELECT h.id, p.line, t.tid
FROM chain h JOIN piece p ON p.capture = h.capture
JOIN thread t ON t.id = h.thread
WHERE NOT h.n_events AND NOT h.flags & 2048 AND t.tid >= 0;
CREATE TEMP TABLE waiting_thread(thread INTEGER PRIMARY KEY, line INTEGER,
	tid INTEGER, place INTEGER, start_ns INTEGER, life INTEGER);
INSERT INTO waiting_thread SELECT h.id, p.line, h.tid, p.place, h.start_ns,
	row_number() OVER (PARTITION BY p.line, h.tid ORDER BY p.place,
		h.start_ns, h.end_ns IS NULL, h.end_ns, h.id)
FROM thread h JOIN process o ON o.id = h.process
JOIN piece p ON p.capture = o.capture
WHERE (p.line, h.tid) IN (SELECT line, tid FROM waiting
	UNION SELECT line, tid FROM orphan);
CREATE TEMP TABLE thread_begin(line INTEGER, tid INTEGER, start_ns INTEGER,
	PRIMARY KEY(line, tid, start_ns)) WITHOUT ROWID;
INSERT OR IGNORE INTO thread_begin SELECT line, tid, start_ns
FROM waiting_thread WHERE start_ns NOT NULL

-- Gives a thread the number of the first row of it: see schema/lives.h.
-- ?1: thread.id; ?2: that of the first row
-- name: settle_life
UPDATE waiting_thread SET life = (SELECT f.life FROM waiting_thread f
	WHERE f.thread = ?2)
WHERE thread = ?1

-- What the threads of waiting requests, and of chains without one, did, in the
-- order of time: their begin (0), requests (1), chains (2), samples with the marker
-- alone (3) or with their user stack (4), and their end: by EXIT (5), or as their
-- id was used again (6). life: a number of the thread among those that had its id, in
-- the order of their first rows. id: of an event that waits, or of a chain without a
-- request.
-- name: settle_halves
SELECT line, tid, life, time_ns, what, cookie, id, cpu, uraw FROM (
	SELECT w.line AS line, w.tid AS tid, w.life AS life,
		e.time_ns AS time_ns, 1 AS what, r.cookie AS cookie,
		q.event AS id, NULL AS cpu, NULL AS uraw
	FROM request r JOIN event e ON e.id = r.event
	JOIN waiting_thread w ON w.thread = e.thread
	LEFT JOIN waiting q ON q.event = r.event
	WHERE r.cookie NOT NULL AND NOT r.flags & 2048
	UNION ALL
	SELECT w.line, w.tid, w.life, h.time_ns, 2, h.cookie, o.chain,
		CASE WHEN c.layout = 'kernel' THEN (h.cookie & 0xffffffff) - 1
			END, h.uraw
	FROM chain h JOIN waiting_thread w ON w.thread = h.thread
	LEFT JOIN orphan o ON o.chain = h.id
	LEFT JOIN cookies c ON c.capture = h.capture
	WHERE NOT h.flags & 2048
	UNION ALL
	SELECT w.line, w.tid, w.life, e.time_ns,
		3 + (r.verdict = (SELECT id FROM word
			WHERE kind = 'request' AND name = 'refused')), NULL,
		NULL, NULL, NULL
	FROM request r JOIN event e ON e.id = r.event
	JOIN waiting_thread w ON w.thread = e.thread
	WHERE r.cookie IS NULL AND r.verdict IN (SELECT id FROM word
		WHERE kind = 'request' AND name IN ('unjoinable', 'refused'))
	UNION ALL
	SELECT w.line, w.tid, w.life, w.start_ns, 0, NULL, NULL, NULL, NULL
	FROM waiting_thread w WHERE w.start_ns NOT NULL
	UNION ALL
	SELECT w.line, w.tid, w.life, h.end_ns, 5 + EXISTS (SELECT 1
		FROM thread_begin b WHERE b.line = w.line AND b.tid = w.tid
			AND b.start_ns = h.end_ns), NULL, NULL, NULL, NULL
	FROM waiting_thread w JOIN thread h ON h.id = w.thread
	WHERE h.end_ns NOT NULL
) ORDER BY line, tid, life, time_ns, what, id

-- If the stream goes on after the line, the next record of a CPU, which is not
-- there, may report a loss since its last one: known_ns is the oldest of these.
-- filtered: samples may be missing that the user did not want, as in join_source()
-- and join_filtered().
-- ?1: the line
-- name: settle_line
SELECT max(c.last_ns) AS last_ns, min(coalesce(c.system_wide, -1))
		AS system_wide,
	CASE WHEN EXISTS (SELECT 1 FROM meta m WHERE m.key = 'cut_behind'
			AND m.capture = (SELECT capture FROM piece
				WHERE line = ?1 ORDER BY place DESC LIMIT 1))
		THEN coalesce((SELECT min(t) FROM (SELECT max(l.t) AS t
			FROM piece q JOIN cpu_last l ON l.capture = q.capture
			WHERE q.line = ?1 GROUP BY l.cpu)), -9223372036854775807)
		END AS known_ns,
	(SELECT count(*) FROM chain h WHERE h.capture IN (SELECT capture
		FROM piece WHERE line = ?1)) AS chains,
	EXISTS (SELECT 1 FROM meta m WHERE m.key IN ('filtered', 'pauses')
		AND m.value = 1 AND m.capture IN (SELECT capture FROM piece
			WHERE line = ?1))
		OR EXISTS (SELECT 1 FROM loss l WHERE l.what = 'filtered'
			AND l.n > 0 AND l.capture IN (SELECT capture FROM piece
				WHERE line = ?1)) AS filtered
FROM piece p JOIN capture c ON c.id = p.capture WHERE p.line = ?1

-- Losses of a line. If a stream has no end (its cut_behind is 1), that is one loss:
-- what each CPU wrote after its last record is missing.
-- ?1: the line
-- name: settle_losses
SELECT l.id, l.what, l.cpu, l.t1, l.t0
FROM piece p JOIN loss l ON l.capture = p.capture
WHERE p.line = ?1 AND l.id NOT IN (SELECT id FROM no_end)
UNION ALL
SELECT l.id, 'damage', NULL, NULL, max(c.last_ns)
FROM no_end l JOIN piece q ON q.line = l.line
JOIN capture c ON c.id = q.capture
WHERE l.line = ?1 GROUP BY l.id
UNION ALL
SELECT l.id, 'damage', c.cpu, NULL, max(c.t)
FROM no_end l JOIN piece q ON q.line = l.line
JOIN cpu_last c ON c.capture = q.capture
WHERE l.line = ?1 GROUP BY l.id, c.cpu
ORDER BY 4, 5, 1

-- The last time of each CPU before a piece, since when its losses are: in its
-- piece a ring may have had no record before, or only one that the piece begins
-- with.
-- name: settle_cpus
CREATE TEMP TABLE cpu_last(capture INTEGER, cpu INTEGER, t INTEGER,
	PRIMARY KEY(capture, cpu)) WITHOUT ROWID;
INSERT INTO cpu_last SELECT capture, cpu, max(t) FROM (
	SELECT y.capture AS capture, e.cpu AS cpu, max(e.time_ns) AS t
	FROM event e JOIN event_type y ON y.id = e.type
	WHERE e.cpu NOT NULL GROUP BY e.type, e.cpu
	UNION ALL
	SELECT capture, cpu, max(time_ns) FROM chain WHERE cpu NOT NULL
	GROUP BY 1, 2
	UNION ALL
	SELECT capture, cpu, max(t1) FROM loss
	WHERE cpu NOT NULL AND what = 'lost' GROUP BY 1, 2)
WHERE capture IN (SELECT capture FROM piece)
GROUP BY 1, 2;
CREATE TEMP TABLE cpu_before(capture INTEGER, cpu INTEGER, t INTEGER,
	PRIMARY KEY(capture, cpu)) WITHOUT ROWID;
INSERT INTO cpu_before SELECT p.capture, c.cpu, max(s.t) OVER (
	PARTITION BY p.line, c.cpu ORDER BY p.place
	ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
FROM piece p JOIN (SELECT DISTINCT q.line, l.cpu FROM piece q
		JOIN cpu_last l ON l.capture = q.capture) c ON c.line = p.line
LEFT JOIN cpu_last s ON s.capture = p.capture AND s.cpu = c.cpu;
UPDATE loss SET t0 = max(coalesce(loss.t0, b.t), b.t) FROM cpu_before b
WHERE b.capture = loss.capture AND b.cpu = loss.cpu AND b.t < loss.t1
	AND loss.what <> 'silent';
CREATE TEMP TABLE no_end(id INTEGER PRIMARY KEY, line INTEGER);
INSERT INTO no_end SELECT min(l.id), p.line
FROM piece p JOIN meta m ON m.capture = p.capture AND m.key = 'cut_behind'
	AND m.value = 1
JOIN loss l ON l.capture = p.capture AND l.what = 'damage'
	AND l.cpu IS NULL AND l.t1 IS NULL
GROUP BY p.line

-- Where the thread that leaves a CPU first in a piece is not the one that came
-- last in those before it, switches are missing without a loss. The rule
-- switch_broken says so of what is in one capture (stitch/audit).
-- name: settle_switches
SELECT DISTINCT fields FROM event_type t JOIN piece p ON p.capture = t.capture
WHERE name IN ('sched:sched_switch', 'sched_switch') AND how = 'count'
	AND (SELECT count(*) FROM pragma_table_info(t.fields)
		WHERE name IN ('prev_pid', 'next_pid')) = 2

-- name: settle_silent
INSERT INTO loss(capture, what, counts, cpu, t0, t1)
SELECT s.capture, 'silent', 1, s.cpu, a.time_ns, b.time_ns
FROM (SELECT p.capture, e.cpu, min(e.id) AS first,
		lag(max(e.id)) OVER (PARTITION BY p.line, e.cpu
			ORDER BY p.place) AS last
	FROM piece p JOIN capture c ON c.id = p.capture AND c.system_wide
	JOIN event_type t ON t.capture = p.capture
		AND t.fields = {name} AND t.how = 'count'
	JOIN event e ON e.type = t.id AND e.cpu NOT NULL
	WHERE NOT EXISTS (SELECT 1 FROM meta m WHERE m.capture = p.capture
		AND m.key IN ('filtered', 'pauses') AND m.value = 1)
	GROUP BY p.capture, e.cpu) s
JOIN event a ON a.id = s.last JOIN event b ON b.id = s.first
JOIN {table} x ON x.event_id = a.id JOIN {table} y ON y.event_id = b.id
WHERE x.next_pid <> y.prev_pid AND b.time_ns > a.time_ns
	AND NOT EXISTS (SELECT 1 FROM loss l WHERE l.capture = s.capture
		AND (l.cpu = s.cpu OR l.cpu IS NULL) AND l.t1 > a.time_ns
		AND coalesce(l.t0, a.time_ns) < b.time_ns
		AND l.what IN ('lost', 'silent'))

-- name: settle_threads
SELECT coalesce(max(id), 0) + 1 AS n FROM thread

-- name: settle_waiting
SELECT EXISTS (SELECT 1 FROM waiting) OR EXISTS (SELECT 1 FROM orphan) AS waits

-- name: settle_lossy
SELECT EXISTS (SELECT 1 FROM piece p JOIN loss l ON l.capture = p.capture
	WHERE p.place AND l.cpu NOT NULL AND l.t1 NOT NULL
		AND l.what <> 'silent') AS lossy

-- A chain without a request has another reason. One with other addresses than an
-- earlier one of its cookie was reported when they were compared.
-- name: settle_put_chain
UPDATE chain SET verdict = ?2, confidence = ?3, from_ns = ?4, loss = ?5,
	flags = flags | ?6
WHERE id = ?1 AND (verdict <> ?2 OR from_ns IS NOT ?4 OR loss IS NOT ?5)

-- name: settle_cpus_end
DROP TABLE no_end;
DROP TABLE cpu_before;
DROP TABLE cpu_last

-- name: settle_lines_end
DROP TABLE thread_begin;
DROP TABLE waiting_thread;
DROP TABLE orphan;
DROP TABLE waiting;
DROP TABLE piece;
DROP TABLE piece_link
