-- queries_functions.sql - the queries of our SQL functions.

-- name: fn_connect
-- connects the table; returns no row
SELECT 1 AS found FROM backstitch_functions WHERE 0

-- name: fn_stack
SELECT parent, frame FROM stack WHERE id = ?1

-- name: fn_frame
SELECT y.name, f.symoff, i.path, f.off
FROM frame f
LEFT JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
WHERE f.id = ?1

-- name: fn_inlined
SELECT name FROM inline_frame WHERE frame = ?1 ORDER BY depth

-- name: fn_label
SELECT name FROM internal_label WHERE frame = ?1

-- name: fn_wall
-- what to add to a time of the timeline; nothing if captures are of several boots
-- or hosts
SELECT min(value) AS value FROM meta
WHERE key = 'wall_offset_ns' AND typeof(value) = 'integer'
HAVING max(value) - min(value) < 1000000000

-- name: fn_at
-- orders by address: they are hex text without leading zeros, so a longer one
-- is higher
SELECT pid, line, capture, t0, t1 FROM maps
WHERE (t0 IS NULL OR t0 <= ?1) AND (t1 IS NULL OR t1 > ?1)
ORDER BY capture, pid, instr(line, '-'), line

-- name: fn_flame_event
-- the event if none is named: the one with stacks that has the most weight
SELECT t.name FROM event_type t
WHERE t.kind = 'sample' AND t.events > 0
GROUP BY t.name
ORDER BY max(EXISTS (SELECT 1 FROM sample_group g WHERE g.type = t.id
	AND (g.kernel IS NOT NULL OR g.user IS NOT NULL))) DESC,
	sum(t.weight) DESC, min(t.id) LIMIT 1

-- name: fn_flame_groups
-- ?1 event, ?2 comm, ?3 capture
SELECT g.kernel, g.user, coalesce(c.label, c.name, '[unknown]') AS comm,
	g.mark, sum(coalesce(g.weight, g.n)) AS weight, sum(g.n) AS n,
	g.kernel_mark
FROM sample_group g
JOIN event_type t ON t.id = g.type
LEFT JOIN comm c ON c.id = g.comm
WHERE t.name = ?1 AND (?2 IS NULL OR c.name = ?2)
	AND (?3 IS NULL OR t.capture = ?3)
GROUP BY 3, g.mark, g.user, g.kernel_mark, g.kernel

-- name: fn_flame_events
-- the same for a process or time: ?4 pid, ?5 from, ?6 up to
-- columns: as fn_flame_groups
SELECT k.stack AS kernel, u.stack AS user,
	coalesce(c.label, c.name, '[unknown]') AS comm,
	CASE WHEN u.id IS NULL THEN -r.verdict
		WHEN r.flags & 2 THEN 2
		WHEN w.name <> 'outermost' THEN 100 + u.ended END AS mark,
	sum(coalesce(e.weight, 1)) AS weight, count(*) AS n,
	100 + k.ended AS kernel_mark
FROM event e
JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
LEFT JOIN comm c ON c.id = e.comm
LEFT JOIN thread h ON h.id = e.thread
LEFT JOIN process p ON p.id = h.process
LEFT JOIN request r ON r.event = e.id
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
LEFT JOIN word w ON w.kind = 'unwind' AND w.id = u.ended
WHERE t.name = ?1 AND (?2 IS NULL OR c.name = ?2)
	AND (?3 IS NULL OR t.capture = ?3)
	AND (?4 IS NULL OR p.pid = ?4)
	AND (?5 IS NULL OR e.time_ns >= ?5) AND (?6 IS NULL OR e.time_ns < ?6)
GROUP BY 3, mark, u.stack, k.ended, k.stack

-- name: fn_flame_words
-- the names of marks, as in the view folded; earlier versions called requests
-- matched that are empty
SELECT -id AS mark, 'user' AS half,
	CASE name WHEN 'matched' THEN 'empty' ELSE name END AS name
FROM word WHERE kind = 'request'
UNION ALL
SELECT 100 + id, 'user', name FROM word WHERE kind = 'unwind'
UNION ALL
SELECT 2, 'user', 'after exec'
UNION ALL
SELECT 100 + id, 'kernel', name FROM word WHERE kind = 'unwind'

-- name: fn_flame_stacks
SELECT id, parent, frame,
	id IN (SELECT stack FROM internal_judged WHERE callerless) AS callerless
FROM stack ORDER BY id

-- name: fn_flame_frames
SELECT f.id, l.name, i.path
FROM frame f
LEFT JOIN internal_label l ON l.frame = f.id
LEFT JOIN image i ON i.id = f.image
ORDER BY f.id
