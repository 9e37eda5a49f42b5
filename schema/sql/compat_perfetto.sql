-- compat_perfetto.sql - views with the columns of Perfetto's tables, under a
-- prefix, so that queries written for those run here. They are made on request.

CREATE VIEW perfetto_process(id, upid, pid, name, start_ts, end_ts,
	parent_upid) AS
-- Perfetto: processes, named by the last name of their main thread.
WITH main(process, name) AS MATERIALIZED (
	SELECT t.process, max(l.name)
	FROM thread t JOIN process p ON p.id = t.process AND p.pid = t.tid
	JOIN last_comm l ON l.thread = t.id
	GROUP BY t.process
)
SELECT p.id, p.id, p.pid, m.name, p.start_ns, p.end_ns, p.parent
FROM process p LEFT JOIN main m ON m.process = p.id;

CREATE VIEW perfetto_thread(id, utid, tid, name, start_ts, end_ts, upid,
	is_main_thread) AS
-- Perfetto: threads, with their last name.
SELECT t.id, t.id, t.tid, l.name, t.start_ns, t.end_ns, t.process,
	t.tid = p.pid
FROM thread t
LEFT JOIN process p ON p.id = t.process
LEFT JOIN last_comm l ON l.thread = t.id;

CREATE VIEW perfetto_stack_profile_mapping(id, build_id, exact_offset,
	start_offset, start, "end", load_bias, name) AS
-- Perfetto: one mapping per image: frames are offsets in files here.
SELECT id, lower(hex(build_id)), 0, 0, coalesce(start, 0),
	coalesce(start + len, 0), 0, path
FROM image;

CREATE VIEW perfetto_stack_profile_frame(id, name, mapping, rel_pc,
	symbol_set_id, deobfuscated_name) AS
-- Perfetto: frames. rel_pc: the ELF address, or the offset when that is not
-- known.
SELECT f.id, coalesce(y.name, ''), f.image, coalesce(f.vaddr, f.off),
	f.symbol, NULL
FROM frame f LEFT JOIN symbol y ON y.id = f.symbol;

CREATE VIEW perfetto_stack_profile_callsite(id, depth, parent_id, frame_id) AS
-- Perfetto: the tree of stacks; depth 0 is the outermost frame.
SELECT id, depth - 1, parent, frame FROM stack;

CREATE VIEW perfetto_stack_profile_symbol(id, symbol_set_id, name,
	source_file, line_number, inlined) AS
-- Perfetto: names of frames, inlined ones too.
SELECT id, id, name, NULL, NULL, 0 FROM symbol
UNION ALL
SELECT NULL, f.symbol, n.name, n.file, n.line, 1
FROM inline_frame n JOIN frame f ON f.id = n.frame;

CREATE VIEW perfetto_perf_sample(id, ts, utid, cpu, cpu_mode, callsite_id,
	unwind_error, perf_session_id, kernel_callsite_id) AS
-- Perfetto: samples. callsite_id: see perf_samples.call_path_id.
SELECT e.id, e.time_ns, e.thread, e.cpu,
	CASE WHEN e.kraw IS NULL THEN 'user' ELSE 'kernel' END,
	coalesce(u.stack, k.stack),
	CASE WHEN r.event IS NOT NULL AND coalesce(r.uraw, e.uraw) IS NULL
		THEN w.name END,
	y.capture, k.stack
FROM event e
JOIN event_type y ON y.id = e.type AND y.kind = 'sample'
LEFT JOIN request r ON r.event = e.id
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict;

CREATE VIEW perfetto_sched_slice(id, ts, dur, cpu, utid, end_state, priority,
	ucpu, ts_end) AS
-- Perfetto: from when to when threads ran, by the switches of each CPU. utid
-- of idle is that of tid 0. end_state NULL: the field was not recorded.
SELECT id, before, time_ns - before, cpu, thread, state, prio, cpu, time_ns
FROM (SELECT *, lag(time_ns) OVER w AS before FROM switch_out
	WINDOW w AS (PARTITION BY type, cpu ORDER BY id))
WHERE before IS NOT NULL;

CREATE VIEW perfetto_sched(id, ts, dur, cpu, utid, end_state, priority, ucpu,
	ts_end) AS
-- Perfetto: the same under its short name.
SELECT * FROM perfetto_sched_slice;

CREATE VIEW perfetto_thread_state(id, ts, dur, cpu, utid, state) AS
-- Perfetto: what threads did: 'Running', or the state in which they left the
-- CPU, until they ran again. The time from a wake-up to then is part of it.
SELECT id * 2, ts, dur, cpu, utid, 'Running' FROM perfetto_sched_slice
UNION ALL
SELECT id * 2 + 1, ts_end, next - ts_end, NULL, utid, end_state
FROM (SELECT *, lead(ts) OVER (PARTITION BY utid ORDER BY ts) AS next
	FROM perfetto_sched_slice
	WHERE utid NOT IN (SELECT id FROM thread WHERE tid = 0))
WHERE next > ts_end;

CREATE VIEW perfetto_ftrace_event(id, ts, name, utid, cpu, ucpu) AS
-- Perfetto: events one by one.
SELECT e.id, e.time_ns, substr(t.name, instr(t.name, ':') + 1), e.thread,
	e.cpu, e.cpu
FROM event e JOIN event_type t ON t.id = e.type
WHERE t.type = 2 OR t.capture IN (SELECT id FROM capture WHERE format IN
	('ftrace', 'ftext', 'ctf'));

CREATE VIEW perfetto_thread_track(id, name, utid) AS
-- Perfetto: a track for each thread.
SELECT t.id, l.name, t.id FROM thread t
LEFT JOIN last_comm l ON l.thread = t.id;

CREATE VIEW perfetto_counter(id, ts, track_id, value) AS
-- Perfetto: values that samples have beside their own: of the other events of
-- a group, as perf reads them.
SELECT x.event * 64 + substr(x.name, 6), e.time_ns,
	e.type * 64 + substr(x.name, 6), x.value
FROM sample_extra x JOIN event e ON e.id = x.event
WHERE x.name GLOB 'read.[0-9]*.value';

CREATE VIEW perfetto_counter_track(id, name) AS
-- Perfetto: one track per event and place in its group.
SELECT DISTINCT e.type * 64 + substr(x.name, 6),
	t.name || '/' || substr(x.name, 6, instr(substr(x.name, 6), '.') - 1)
FROM sample_extra x JOIN event e ON e.id = x.event
JOIN event_type t ON t.id = e.type
WHERE x.name GLOB 'read.[0-9]*.value';

CREATE VIEW perfetto_trace_bounds(start_ts, end_ts) AS
-- Perfetto: from when to when.
SELECT min(first_ns), max(last_ns) FROM capture;

CREATE VIEW perfetto_perf_session(id, cmdline) AS
-- Perfetto: one session per capture.
SELECT id, cmdline FROM capture;
