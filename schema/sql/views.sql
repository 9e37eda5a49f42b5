-- views.sql - the views of a backstitch database. Plain SQL that every
-- sqlite3 shell runs. Addresses and offsets are hex text here.
--
-- SQLite runs these fast in one shape only: first add up events by small ids,
-- then look up the text of the ids; and read a stack through stack_path, not
-- by recursion over stack, because SQLite pushes no filter into a recursion.

CREATE VIEW samples(event_id, capture, time_ns, cpu, pid, tid, comm, event,
	weight, kernel_stack, user_stack, verdict, kernel_raw, user_raw,
	bogus, unit) AS
-- One row per sample: time, CPU, thread, event, weight, stacks.
-- weight: in units of unit. user_stack and user_raw: of the sample itself, or
-- of the chain that answers its request. verdict: of the request; NULL: there
-- is none. bogus: number of impossible frames in the user stack; NULL: not
-- checked, or it has no caller.
SELECT e.id, t.capture, e.time_ns, e.cpu, p.pid, h.tid, c.name, t.name,
	e.weight, k.stack, u.stack, w.name, e.kraw, coalesce(r.uraw, e.uraw),
	q.bogus, t.unit
FROM event e
JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
LEFT JOIN thread h ON h.id = e.thread
LEFT JOIN process p ON p.id = h.process
LEFT JOIN comm c ON c.id = e.comm
LEFT JOIN request r ON r.event = e.id
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict
LEFT JOIN internal_stack_check q ON q.stack = u.stack;

CREATE VIEW stack_frames(stack, pos, symbol, symoff, image, off, vaddr,
	build_id, kind, flags, inlined, file, line) AS
-- One row per frame of a stack in use; pos 0 is the innermost. symbol NULL:
-- not named. off: in the file; vaddr: the address for addr2line. flags: 1 the
-- caller was inferred, 2 the mapping is uncertain. inlined: the functions
-- inlined there, outermost first, as in 'f;g'; NULL: none. file, line: in the
-- innermost function.
SELECT s.stack, s.pos, y.name, f.symoff, i.path,
	printf('0x%x', f.off),
	CASE WHEN f.vaddr NOT NULL THEN printf('0x%x', f.vaddr) END,
	nullif(lower(hex(i.build_id)), ''),
	w.name, f.flags,
	(SELECT group_concat(name, ';') FROM (SELECT n.name AS name
		FROM inline_frame n WHERE n.frame = f.id
		ORDER BY n.depth DESC)),
	CASE WHEN d.frame IS NULL THEN f.file ELSE d.file END,
	CASE WHEN d.frame IS NULL THEN f.line ELSE d.line END
FROM stack_path s
JOIN frame f ON f.id = s.frame
JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
LEFT JOIN inline_frame d ON d.frame = f.id AND d.depth = 0
LEFT JOIN word w ON w.kind = 'image' AND w.id = i.kind;

CREATE VIEW full_stack(event_id, pos, half, symbol, symoff, image, off,
	build_id) AS
-- The whole stack of an event: one row per frame, by name.
-- pos 0 is the innermost: kernel frames (half 'kernel'), then user frames (half
-- 'user'). A missing user half is one row '[user: VERDICT]'; a user half that
-- was not unwound to its outermost frame ends with a row '[user: REASON]', a
-- kernel half that is only the address hit with '[kernel: hit_only]'. Select
-- one event_id at a time, or a few.
SELECT e.id, s.pos, 'kernel', y.name, f.symoff, i.path, printf('0x%x', f.off),
	nullif(lower(hex(i.build_id)), '')
FROM event e
JOIN raw_chain k ON k.id = e.kraw
JOIN stack_path s ON s.stack = k.stack
JOIN frame f ON f.id = s.frame
JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
UNION ALL
SELECT e.id, coalesce(t.depth + (k.ended IS NOT NULL), 0) + s.pos, 'user',
	y.name, f.symoff, i.path,
	printf('0x%x', f.off), nullif(lower(hex(i.build_id)), '')
FROM event e
LEFT JOIN request r ON r.event = e.id
JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
JOIN stack_path s ON s.stack = u.stack
JOIN frame f ON f.id = s.frame
JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN stack t ON t.id = k.stack
UNION ALL
SELECT r.event, coalesce(t.depth + (k.ended IS NOT NULL), 0), 'user',
	'[user: ' || w.name || ']',
	NULL, NULL, NULL, NULL
FROM request r
JOIN event e ON e.id = r.event
JOIN word w ON w.kind = 'request' AND w.id = r.verdict
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN stack t ON t.id = k.stack
WHERE coalesce(r.uraw, e.uraw) IS NULL
UNION ALL
SELECT e.id, t.depth, 'kernel', '[kernel: ' || w.name || ']',
	NULL, NULL, NULL, NULL
FROM event e
JOIN raw_chain k ON k.id = e.kraw
JOIN word w ON w.kind = 'unwind' AND w.id = k.ended
JOIN stack t ON t.id = k.stack
UNION ALL
SELECT e.id, coalesce(t.depth + (k.ended IS NOT NULL), 0) + s.depth, 'user',
	'[user: ' || w.name || ']', NULL, NULL, NULL, NULL
FROM event e
JOIN raw_chain u ON u.id = e.uraw
JOIN stack s ON s.id = u.stack
JOIN word w ON w.kind = 'unwind' AND w.id = u.ended AND w.name <> 'outermost'
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN stack t ON t.id = k.stack;

CREATE VIEW folded(capture, event, stack, weight, unit) AS
-- The lines of a flame graph: stacks as text, and their weight.
-- flamegraph.pl reads them:
--   sqlite3 -list -separator ' ' X.db 'SELECT stack, weight FROM folded'
-- stack: comm;outermost user;...;kernel leaf, with frames of the kernel marked
-- _[k], inlined ones _[i], JIT ones _[j]; '[user: VERDICT]' where the user
-- half is missing, '[user: after exec]' before frames of the program after an
-- exec, '[user: REASON]' before those of a stack that was not unwound to its
-- outermost frame, '[kernel: hit_only]' before a frame that is only the address
-- hit, '[caller missing]' where that is. weight: sum of the samples' weights, in
-- units of unit.
WITH text(stack, line) AS MATERIALIZED (
	SELECT s.stack, group_concat(l.name, ';')
	FROM stack_path s JOIN internal_label l ON l.frame = s.frame
	GROUP BY s.stack
), gap(stack, line) AS MATERIALIZED (
	SELECT s.stack, group_concat(l.name || CASE s.pos WHEN 1
		THEN ';[caller missing]' ELSE '' END, ';')
	FROM stack_path s JOIN internal_label l ON l.frame = s.frame
	WHERE s.stack IN (SELECT stack FROM internal_judged
		WHERE callerless)
	GROUP BY s.stack
)
SELECT t.capture, t.name,
	coalesce(c.label, c.name, '[unknown]')
	|| CASE WHEN g.mark = 2 THEN ';[user: after exec]'
		WHEN g.mark > 100 THEN ';[user: ' || e.name || ']'
		WHEN g.mark < 0 THEN ';[user: ' || w.name || ']'
		ELSE '' END
	|| coalesce(';' || CASE WHEN g.mark > 100 THEN u.line
		ELSE coalesce(p.line, u.line) END, '')
	|| coalesce(';[kernel: ' || h.name || ']', '')
	|| coalesce(';' || k.line, ''),
	sum(g.weight), t.unit
FROM sample_group g
JOIN event_type t ON t.id = g.type
LEFT JOIN comm c ON c.id = g.comm
LEFT JOIN word w ON w.kind = 'request' AND w.id = -g.mark
LEFT JOIN word e ON e.kind = 'unwind' AND e.id = g.mark - 100
LEFT JOIN word h ON h.kind = 'unwind' AND h.id = g.kernel_mark - 100
LEFT JOIN text u ON u.stack = g.user
LEFT JOIN gap p ON p.stack = g.user
LEFT JOIN text k ON k.stack = g.kernel
GROUP BY 1, 2, 3;

CREATE VIEW flame_tree(capture, event, path, depth, name, self, total) AS
-- The flame graph as a tree, one row per node. path: the names from the root,
-- separated by ';'; name: the last of them; depth 0: the comm. self: weight of
-- the samples that end here; total: of all samples through the node.
WITH RECURSIVE step(capture, event, stack, weight, at, depth, name) AS (
	SELECT capture, event, stack || ';', weight, instr(stack || ';', ';'),
		0, substr(stack || ';', 1, instr(stack || ';', ';') - 1)
	FROM folded
	UNION ALL
	SELECT capture, event, stack, weight,
		at + instr(substr(stack, at + 1), ';'), depth + 1,
		substr(stack, at + 1, instr(substr(stack, at + 1), ';') - 1)
	FROM step WHERE at < length(stack)
)
SELECT capture, event, substr(stack, 1, at - 1), depth, min(name),
	sum(CASE WHEN at = length(stack) THEN weight ELSE 0 END), sum(weight)
FROM step GROUP BY 1, 2, 3;

CREATE VIEW hot_functions(capture, event, symbol, image, self, total, unit) AS
-- Functions by weight, self and total.
-- self: samples taken in the function; total: samples with the function
-- anywhere in their stack, each counted once however often it recurs. symbol
-- NULL: the frames of the image that have no name. unit: of self and total.
WITH halves(type, stack, weight, self) AS MATERIALIZED (
	SELECT type, stack, sum(weight), sum(self) FROM (
		SELECT type, kernel AS stack, weight, weight AS self
		FROM sample_group WHERE kernel IS NOT NULL
		UNION ALL
		SELECT type, user, weight,
			CASE WHEN kernel IS NULL THEN weight ELSE 0 END
		FROM sample_group WHERE user IS NOT NULL)
	GROUP BY 1, 2
), function(frame, symbol, image) AS MATERIALIZED (
	SELECT f.id, y.name, i.path FROM frame f
	JOIN image i ON i.id = f.image LEFT JOIN symbol y ON y.id = f.symbol
), passed(stack, symbol, image, leaf) AS MATERIALIZED (
	SELECT s.stack, f.symbol, f.image, max(s.pos = 0)
	FROM stack_path s JOIN function f ON f.frame = s.frame
	GROUP BY 1, 2, 3
)
SELECT t.capture, t.name, p.symbol, p.image,
	sum(CASE WHEN p.leaf THEN h.self ELSE 0 END), sum(h.weight), t.unit
FROM halves h
JOIN passed p ON p.stack = h.stack
JOIN event_type t ON t.id = h.type
GROUP BY 1, 2, 3, 4;

CREATE VIEW bogus_frames(stack, pos, reason, symbol, image, off, samples,
	unverified) AS
-- Frames of user stacks that cannot be callers: reason 'no_call' (no call is
-- before the address) or 'no_code' (the address is in no code). Frames further
-- out were found through them. samples: samples with the stack. unverified: no
-- build-id proves that the file is the one that was mapped.
WITH weighed(stack, n) AS MATERIALIZED (
	SELECT user, sum(n) FROM sample_group WHERE user IS NOT NULL GROUP BY 1
)
SELECT p.stack, p.pos, w.name, y.name, i.path, printf('0x%x', f.off),
	coalesce(g.n, 0), c.unverified
FROM internal_stack_check k
JOIN stack_path p ON p.stack = k.stack AND p.pos >= k.first
JOIN internal_callsite c ON c.frame = p.frame
JOIN word w ON w.kind = 'callsite' AND w.id = c.kind
	AND w.name IN ('no_call', 'no_code')
JOIN frame f ON f.id = p.frame
JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
LEFT JOIN weighed g ON g.stack = p.stack
WHERE k.bogus;

CREATE VIEW fabricated(image, samples, fabricated, unverified) AS
-- Images whose code does not keep frame pointers: samples with a user stack
-- that goes on to a caller from a frame of the image, and those of them
-- (fabricated) where the first bogus frame is such a caller.
WITH weighed(stack, n) AS MATERIALIZED (
	SELECT user, sum(n) FROM sample_group WHERE user IS NOT NULL GROUP BY 1
), leading(frame, image) AS MATERIALIZED (
	SELECT id, image FROM frame
	WHERE image IN (SELECT image FROM internal_stack_check WHERE bogus)
), passed(stack, image) AS MATERIALIZED (
	SELECT DISTINCT p.stack, f.image
	-- most captures have no such image: then no stack is read
	FROM (SELECT 1 FROM leading LIMIT 1)
	CROSS JOIN stack_path p CROSS JOIN leading f ON f.frame = p.frame
	CROSS JOIN internal_stack_check k ON k.stack = p.stack
	CROSS JOIN stack s ON s.id = k.stack
	WHERE p.pos < coalesce(k.first, s.depth - 1)
)
SELECT i.path, sum(w.n), sum(CASE WHEN k.image = p.image THEN w.n ELSE 0 END),
	i.build_id IS NULL
FROM passed p
JOIN internal_stack_check k ON k.stack = p.stack
JOIN weighed w ON w.stack = p.stack
JOIN image i ON i.id = p.image
GROUP BY p.image;

CREATE VIEW internal_recorder(capture, name, waits) AS
-- How to record a capture again, one row for each.
-- Name is perf, ftrace, lttng, ust, or record for what backstitch record --waits
-- took from ftrace (perf wrote the mappings, and all stacks are asked for).
-- waits: 1 for all that it made, of perf too. It is known by the text .cgroups
-- next to the capture.
SELECT id, CASE WHEN format IN ('perf', 'ptext') OR version LIKE 'perf%'
		THEN 'perf'
	WHEN waits AND path GLOB '*.ftrace' THEN 'record'
	WHEN format = 'ctf' AND version = 'lttng-ust' THEN 'ust'
	WHEN format = 'ctf' THEN 'lttng'
	ELSE 'ftrace' END, waits
FROM (SELECT id, format, version, path, replace(path, '.ftrace', '') ||
	'.cgroups' IN (SELECT path FROM capture) AS waits FROM capture);

CREATE VIEW internal_trust_class(type, mark, judged, frames, class, n, fix,
	image) AS
-- The classes of view trust.
-- One row for each kind of samples that hit user mode or asked for a user stack.
-- mark, judged, frames, n, image: as in internal_user_trust. fix: the command
-- that would help, of the recorder that made the capture; NULL: none is known.
-- Of 'perf record -m' the sentence says how much, by what there was.
-- Of sched:* and context-switches it is no stack dump: at each switch dumps would
-- lose records (backstitch-record(1)).
-- class: what it means is in 'backstitch help verdicts' and backstitch-trust(7).
-- It is that of the stack alone (word 'judged'), or 'missing (VERDICT)' (word
-- 'request'), 'cut (WHY)' (word 'unwind', or 'full'), 'not judged (exec)' or
-- 'not recorded'.
WITH recorder(capture, name, most) AS MATERIALIZED (
	-- most: frames that the kernel keeps of a stack
	SELECT r.capture, r.name, CASE WHEN c.format IN ('perf', 'ptext') THEN 127
		WHEN c.format <> 'ctf' THEN 8 END
	FROM internal_recorder r JOIN capture c ON c.id = r.capture
), asked(capture) AS MATERIALIZED (
	-- captures with a user stack, or a request for one
	SELECT DISTINCT t.capture FROM internal_user_trust b
	JOIN event_type t ON t.id = b.type AND (t.has_chain OR t.defer)
	WHERE b.judged IS NOT NULL OR b.mark < 0
), silent(type, always) AS MATERIALIZED (
	-- events that take no user stacks. Of perf's, whose -g is for all
	-- events, each sample counts (always); of the others, where no event
	-- of the capture takes any.
	SELECT t.id, CASE WHEN c.format = 'perf' THEN NOT t.has_chain
		ELSE NOT EXISTS (SELECT 1 FROM asked a
			WHERE a.capture = t.capture) END
	FROM event_type t JOIN capture c ON c.id = t.capture
	WHERE t.kind = 'sample' AND NOT coalesce(t.defer, 0)
	AND (NOT coalesce(t.has_chain, 0) OR (c.format <> 'perf'
		AND NOT EXISTS (SELECT 1 FROM asked a
			WHERE a.capture = t.capture)))
), classed(type, mark, judged, frames, dumps, class, n, image) AS (
	-- dumps: larger ones, or any, can be recorded
	SELECT b.type, b.mark, b.judged, b.frames,
		r.name = 'perf' AND t.name NOT GLOB 'sched:*'
			AND t.name NOT GLOB 'context-switches*', CASE
		WHEN x.type IS NOT NULL OR e.name = 'hit_only'
			THEN 'not recorded'
		WHEN b.judged IS NULL THEN 'missing (' || v.name || ')'
		WHEN b.mark = 2 THEN 'not judged (exec)'
		WHEN e.name IS NOT NULL THEN 'cut (' || e.name || ')'
		-- those of deferred events, too: a kernel that defers none takes
		-- them at once
		WHEN b.frames = r.most AND (b.judged GLOB 'ends early (*'
			OR b.judged = 'not judged (start)') THEN 'cut (full)'
		ELSE b.judged END, b.n, b.image
	FROM internal_user_trust b
	JOIN event_type t ON t.id = b.type
	JOIN recorder r ON r.capture = t.capture
	LEFT JOIN silent x ON x.type = b.type
	LEFT JOIN word v ON v.kind = 'request' AND v.id = -b.mark
	LEFT JOIN word e ON e.kind = 'unwind' AND e.id = b.mark - 100
	WHERE b.judged IS NOT NULL OR b.mark < 0 OR x.always
), remedy(class, "when", fix) AS (VALUES
{remedies}
)
SELECT s.type, s.mark, s.judged, s.frames, s.class, s.n, h.fix, s.image
FROM classed s JOIN event_type t ON t.id = s.type
JOIN recorder r ON r.capture = t.capture
LEFT JOIN remedy h ON h.class = s.class
-- what was asked for is no limit of the kernel
AND NOT (s.class = 'cut (full)' AND EXISTS (SELECT 1 FROM meta m
	WHERE m.capture = t.capture AND m.key = 'max_stack'))
AND h."when" IN ('any', r.name,
	CASE WHEN NOT s.dumps AND s.class = 'caller missing' AND EXISTS(
			SELECT 1 FROM internal_frame_share y
			WHERE y.image = s.image AND y.framed * 10 <= y.functions)
			THEN 'bare'
		WHEN NOT s.dumps THEN 'no_dumps'
		WHEN s.frames = 2 THEN 'deep'
		WHEN s.frames IN (1, 3) THEN NULL ELSE 'dumps' END,
	CASE WHEN s.dumps AND NOT EXISTS (SELECT 1 FROM meta m
		WHERE m.capture = t.capture AND m.key = 'dump_bytes'
		AND m.value >= 65528) THEN 'deeper' END);

CREATE VIEW trust(capture, event, class, samples, share, fix) AS
-- How far user stacks can be trusted, and what would help.
-- One row per capture, event and class (of internal_trust_class), of the samples
-- that hit user mode or asked for a user stack, each in exactly one class.
-- share: percent of these samples of the event. fix: as in internal_trust_class,
-- if it would help some of them.
SELECT t.capture, t.name, c.class, sum(c.n),
	100.0 * sum(c.n) / sum(sum(c.n)) OVER (PARTITION BY t.capture, t.name),
	max(c.fix)
FROM internal_trust_class c JOIN event_type t ON t.id = c.type
GROUP BY t.capture, t.name, c.class;

CREATE VIEW walks(capture, event, walked, taken, samples) AS
-- Who walked the user stacks that samples have.
-- walked: 'frame pointers', 'SFrame', 'SFrame and frame pointers' (some frames
-- were left by one, others by the other), 'frame pointers or SFrame' (both would
-- have found the same), 'stack dump', 'LBR', 'perf inject', or 'not known', as of
-- one frame. taken: 'deferred' or 'at once'.
SELECT t.capture, t.name, CASE WHEN e.name = 'converted' THEN 'perf inject'
	WHEN t.sample_type & 8192 THEN 'stack dump'
	WHEN t.sample_type & 2048 AND k.stack IS NULL AND u.depth > 1 THEN 'LBR'
	ELSE coalesce(w.name, 'not known') END AS walked,
	-- ftrace writes stacks after their event, taken at once
	CASE WHEN t.defer AND c.format = 'perf' THEN 'deferred'
	ELSE 'at once' END AS taken, sum(g.n)
FROM sample_group g JOIN event_type t ON t.id = g.type
JOIN capture c ON c.id = t.capture JOIN stack u ON u.id = g.user
LEFT JOIN word e ON e.kind = 'unwind' AND e.id = g.mark - 100
LEFT JOIN internal_stack_check k ON k.stack = g.user
LEFT JOIN word w ON w.kind = 'walk' AND w.id = k.walked
WHERE coalesce(e.name, '') <> 'hit_only'
GROUP BY 1, 2, walked, taken;

CREATE VIEW verdicts(kind, verdict, confidence, n) AS
-- How many deferred user stacks were joined, and why not others.
-- The number of requests ('request') and of such stacks ('chain') by verdict.
-- The sums are the numbers of requests and of chains.
SELECT 'request', v.name, c.name, q.n
FROM (SELECT verdict, confidence, count(*) AS n FROM request GROUP BY 1, 2) q
LEFT JOIN word v ON v.kind = 'request' AND v.id = q.verdict
LEFT JOIN word c ON c.kind = 'confidence' AND c.id = q.confidence
UNION ALL
SELECT 'chain', v.name, c.name, q.n
FROM (SELECT verdict, confidence, count(*) AS n FROM chain GROUP BY 1, 2) q
LEFT JOIN word v ON v.kind = 'chain' AND v.id = q.verdict
LEFT JOIN word c ON c.kind = 'confidence' AND c.id = q.confidence;

CREATE VIEW deferral_latency(capture, event, comm, n, min_ns, avg_ns, max_ns)
AS
-- How long the joined requests of each event and comm waited for their user
-- stack, in ns: the rest of the stay in the kernel. Negative: the sample is
-- later than its chain.
SELECT t.capture, t.name, c.name, count(*), min(r.latency_ns),
	CAST(avg(r.latency_ns) AS INTEGER), max(r.latency_ns)
FROM request r
JOIN event e ON e.id = r.event
JOIN event_type t ON t.id = e.type
LEFT JOIN comm c ON c.id = e.comm
WHERE r.latency_ns IS NOT NULL
GROUP BY 1, 2, 3;

CREATE VIEW maps(capture, pid, t0, t1, line) AS
-- What each process had mapped, as in its file maps, and when.
-- line is as in /proc/PID/maps, from time t0 to t1 (NULL: before, after the
-- capture). The mappings at a time T:
--   SELECT line FROM maps WHERE pid = 1 AND coalesce(t0, 0) <= T
--   AND (t1 IS NULL OR t1 > T) ORDER BY line
-- pid NULL: the kernel.
SELECT p.capture, p.pid, m.t0, m.t1,
	printf('%-73s%s', printf('%08x-%08x %s%s%s%s %08x %02x:%02x %d ',
		m.start, m."end",
		CASE WHEN m.prot & 1 THEN 'r' ELSE '-' END,
		CASE WHEN m.prot & 2 THEN 'w' ELSE '-' END,
		CASE WHEN m.prot & 4 THEN 'x' ELSE '-' END,
		CASE WHEN m.flags & 1 THEN 's' ELSE 'p' END,
		CASE WHEN i.kind = (SELECT id FROM word WHERE kind = 'image'
			AND name = 'anon') THEN 0 ELSE m.pgoff END,
		coalesce(i.maj, 0), coalesce(i.min, 0), coalesce(i.ino, 0)),
		CASE WHEN i.path = '//anon' OR i.path = printf(
			'[inode %d of %d:%d]', i.ino, i.maj, i.min) THEN ''
			ELSE coalesce(i.path, '') END)
FROM mapping m
LEFT JOIN process p ON p.id = m.process
LEFT JOIN image i ON i.id = m.image;

CREATE VIEW unsymbolized(image, build_id, kind, frames, stacks, status) AS
-- Images whose functions have no names, and why.
-- frames without a name, and stacks in use with such a frame; status: the
-- reason.
WITH used(image, stacks) AS MATERIALIZED (
	SELECT image, count(*) FROM (
		SELECT DISTINCT s.stack AS stack, f.image AS image
		FROM stack_path s CROSS JOIN frame f ON f.id = s.frame
		WHERE f.symbol IS NULL)
	GROUP BY image
), bare(image, frames) AS MATERIALIZED (
	SELECT image, count(*) FROM frame WHERE symbol IS NULL GROUP BY image
)
SELECT i.path, nullif(lower(hex(i.build_id)), ''), w.name, b.frames,
	coalesce(u.stacks, 0), coalesce(i.status, 'not tried')
FROM bare b
JOIN image i ON i.id = b.image
LEFT JOIN used u ON u.image = b.image
LEFT JOIN word w ON w.kind = 'image' AND w.id = i.kind;

CREATE VIEW last_comm(thread, name) AS
-- The last name of each thread.
SELECT c.thread, c.name
FROM (SELECT thread, max(id) AS id FROM comm GROUP BY thread) l
JOIN comm c ON c.id = l.id;

CREATE VIEW findings(id, rule, capture, time_ns, since_ns, cpu, pid, tid, comm,
	event, loss, n, proves, breaks) AS
-- What must not happen in a trace and did, and what it proves.
-- loss: the id of the loss that explains the breach. proves: what a finding of
-- the rule proves. breaks: 1: check ends with status 4.
SELECT f.id, r.name, f.capture, f.time_ns, f.since_ns, f.cpu, p.pid, t.tid,
	c.name, f.event, f.loss, f.n, r.proves, r.breaks
FROM internal_finding f
JOIN internal_rule r ON r.id = f.rule
LEFT JOIN thread t ON t.id = f.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN last_comm c ON c.thread = f.thread;

CREATE VIEW causality_errors(kind, what, id, capture, time_ns, detail) AS
-- Whatever breaks cause and effect: check then ends with 4.
-- One row per request and chain whose other half is missing for a reason other
-- than how the recording works, per loss, per finding of a rule about
-- causality, and per record out of order. id: of the row in the table that
-- `kind` names. The conditions are those of the query check_breaks.
SELECT 'request', w.name, r.event, t.capture, e.time_ns, c.name
FROM request r
JOIN word w ON w.kind = 'request' AND w.id = r.verdict
JOIN event e ON e.id = r.event
JOIN event_type t ON t.id = e.type
LEFT JOIN word c ON c.kind = 'confidence' AND c.id = r.confidence
WHERE w.name IN ('chain_lost', 'unjoinable', 'stripped', 'unexplained',
	'unwinder_died')
UNION ALL
SELECT 'chain', w.name, h.id, h.capture, h.time_ns, c.name
FROM chain h
JOIN word w ON w.kind = 'chain' AND w.id = h.verdict
LEFT JOIN word c ON c.kind = 'confidence' AND c.id = h.confidence
WHERE w.name IN ('sample_lost', 'overwritten', 'unjoinable', 'unexplained')
UNION ALL
SELECT 'loss', what, id, capture, t1, coalesce(n || ' records', 'unknown')
FROM loss WHERE counts OR what IN ('lost', 'overwritten', 'damage', 'mappings')
UNION ALL
SELECT 'finding', r.name, f.id, f.capture, f.time_ns, r.proves
FROM internal_finding f JOIN internal_rule r ON r.id = f.rule
WHERE r.breaks
UNION ALL
SELECT 'ordering', what, id, capture, time_ns,
	coalesce(detail, 'late by ' || by_ns || ' ns')
FROM ordering WHERE what <> 'round';
