-- compat.sql - views with the columns of perf's export-to-sqlite and of
-- Perfetto, under prefixes, so that queries written for those run here.

-- perf: events of the command line.
CREATE VIEW perf_selected_events(id, name) AS
SELECT id, name FROM event_type WHERE kind = 'sample';

-- perf: one machine per capture.
CREATE VIEW perf_machines(id, pid, root_dir) AS
SELECT id, -1, '' FROM capture;

-- perf: threads; process_id is the id of the process's first thread.
CREATE VIEW perf_threads(id, machine_id, process_id, pid, tid) AS
SELECT t.id, p.capture, coalesce(m.id, t.id), p.pid, t.tid
FROM thread t
LEFT JOIN process p ON p.id = t.process
LEFT JOIN (SELECT process, tid, min(id) AS id FROM thread GROUP BY 1, 2) m
	ON m.process = t.process AND m.tid = p.pid;

-- perf: names of threads.
CREATE VIEW perf_comms(id, comm, c_thread_id, c_time, exec_flag) AS
SELECT id, name, thread, coalesce(time_ns, 0), exec FROM comm;

-- perf: which thread had which name.
CREATE VIEW perf_comm_threads(id, comm_id, thread_id) AS
SELECT id, id, thread FROM comm;

-- perf: files that code came from.
CREATE VIEW perf_dsos(id, machine_id, short_name, long_name, build_id) AS
SELECT id, 1, replace(path, rtrim(path, replace(path, '/', '')), ''), path,
	lower(hex(build_id))
FROM image;

-- perf: symbols; sym_start and sym_end are offsets as frame.off.
CREATE VIEW perf_symbols(id, dso_id, sym_start, sym_end, binding, name) AS
SELECT id, image, start, start + max(size, 1) - 1, 0, name FROM symbol;

-- perf: samples. call_path_id is the user half's, or the kernel half's when
-- there is no user half; kernel_call_path_id is ours: perf has one tree over
-- both halves. ip is the offset in the file: addresses are in raw_chain.
CREATE VIEW perf_samples(id, evsel_id, machine_id, thread_id, comm_id, dso_id,
	symbol_id, sym_offset, ip, time, cpu, to_dso_id, to_symbol_id,
	to_sym_offset, to_ip, period, weight, transaction_, data_src,
	branch_type, in_tx, call_path_id, insn_count, cyc_count, flags,
	kernel_call_path_id) AS
SELECT e.id, e.type, y.capture, e.thread, e.comm, f.image, f.symbol, f.symoff,
	f.off, e.time_ns, e.cpu, NULL, NULL, NULL, NULL, e.weight, 0, 0, 0, 0,
	0, coalesce(u.stack, k.stack), 0, 0, 0, k.stack
FROM event e
JOIN event_type y ON y.id = e.type AND y.kind = 'sample'
LEFT JOIN request r ON r.event = e.id
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
LEFT JOIN stack s ON s.id = coalesce(k.stack, u.stack)
LEFT JOIN frame f ON f.id = s.frame;

-- perf: the tree of stacks; ip is the offset in the file.
CREATE VIEW perf_call_paths(id, parent_id, symbol_id, ip) AS
SELECT s.id, s.parent, f.symbol, f.off
FROM stack s JOIN frame f ON f.id = s.frame;

-- perf: names of the kinds of branches: none is decoded here.
CREATE VIEW perf_branch_types(id, name) AS
SELECT 0, 'unknown';

-- perf: samples with names.
CREATE VIEW perf_samples_view(id, time, cpu, pid, tid, command, event, ip_hex,
	symbol, sym_offset, dso_short_name, to_ip_hex, to_symbol,
	to_sym_offset, to_dso_short_name, branch_type_name, in_tx, insn_count,
	cyc_count, IPC, flags) AS
SELECT s.id, s.time, s.cpu, p.pid, h.tid, c.name, t.name, printf('%x', s.ip),
	y.name, s.sym_offset, d.short_name, NULL, NULL, NULL, NULL, NULL, 0,
	0, 0, 0.0, 0
FROM perf_samples s
LEFT JOIN thread h ON h.id = s.thread_id
LEFT JOIN process p ON p.id = h.process
LEFT JOIN comm c ON c.id = s.comm_id
LEFT JOIN event_type t ON t.id = s.evsel_id
LEFT JOIN symbol y ON y.id = s.symbol_id
LEFT JOIN perf_dsos d ON d.id = s.dso_id;

-- perf: the machines, which are hosts.
CREATE VIEW perf_machines_view(id, pid, root_dir, host_or_guest) AS
SELECT id, pid, root_dir, 'host' FROM perf_machines;

-- perf: images, readable.
CREATE VIEW perf_dsos_view(id, machine_id, host_or_guest, short_name,
	long_name, build_id) AS
SELECT id, machine_id, 'host', short_name, long_name, build_id FROM perf_dsos;

-- perf: symbols with the names of their files.
CREATE VIEW perf_symbols_view(id, name, dso, dso_id, sym_start, sym_end,
	binding) AS
SELECT y.id, y.name, d.short_name, y.dso_id, y.sym_start, y.sym_end, 'local'
FROM perf_symbols y LEFT JOIN perf_dsos d ON d.id = y.dso_id;

-- perf: threads, readable.
CREATE VIEW perf_threads_view(id, machine_id, host_or_guest, process_id, pid,
	tid) AS
SELECT id, machine_id, 'host', process_id, pid, tid FROM perf_threads;

-- perf: which thread had which name, readable.
CREATE VIEW perf_comm_threads_view(comm_id, command, thread_id, pid, tid) AS
SELECT c.id, c.name, c.thread, p.pid, t.tid
FROM comm c
LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process;

-- perf: frames of stacks with those that called them.
CREATE VIEW perf_call_paths_view(id, ip, symbol_id, symbol, dso_id,
	dso_short_name, parent_id, parent_ip, parent_symbol_id, parent_symbol,
	parent_dso_id, parent_dso_short_name) AS
SELECT c.id, printf('%x', c.ip), c.symbol_id, y.name, y.dso_id, y.dso,
	c.parent_id, printf('%x', p.ip), p.symbol_id, z.name, z.dso_id, z.dso
FROM perf_call_paths c
JOIN perf_call_paths p ON p.id = c.parent_id
LEFT JOIN perf_symbols_view y ON y.id = c.symbol_id
LEFT JOIN perf_symbols_view z ON z.id = p.symbol_id;

-- What left a CPU, in time order: by the event sched_switch or, in a capture
-- without it, by records of switches. state: as ps shows it, 'R+' for one that
-- could have gone on; NULL: not known.
CREATE VIEW switch_out(id, capture, type, time_ns, cpu, thread, comm, state,
	prio) AS
SELECT e.id, t.capture, e.type, e.time_ns, e.cpu, e.thread, e.comm, s.state,
	s.prio
FROM event e
JOIN event_type t ON t.id = e.type AND t.name LIKE '%sched:sched_switch'
LEFT JOIN switch_state s ON s.event = e.id
UNION ALL
SELECT e.id, t.capture, e.type, e.time_ns, e.cpu, e.thread, e.comm,
	CASE WHEN EXISTS (SELECT 1 FROM sample_extra y WHERE y.event = e.id
		AND y.name = 'preempt') THEN 'R+' END, NULL
FROM event e
JOIN event_type t ON t.id = e.type AND t.name = 'switch' AND t.kind = 'record'
JOIN sample_extra x ON x.event = e.id AND x.name = 'out' AND x.value
WHERE t.capture NOT IN (SELECT capture FROM event_type
	WHERE name LIKE '%sched:sched_switch');

-- perf: switches, each with the thread that the next one of its CPU takes
-- away. flags: 1 it could have gone on.
CREATE VIEW perf_context_switches(id, machine_id, time, cpu, thread_out_id,
	comm_out_id, thread_in_id, comm_in_id, flags) AS
SELECT id, capture, time_ns, cpu, thread, comm,
	lead(thread) OVER w, lead(comm) OVER w, state = 'R+'
FROM switch_out WINDOW w AS (PARTITION BY type, cpu ORDER BY id);

-- The last name of each thread.
CREATE VIEW last_comm(thread, name) AS
SELECT c.thread, c.name
FROM (SELECT thread, max(id) AS id FROM comm GROUP BY thread) l
JOIN comm c ON c.id = l.id;

-- Perfetto: processes, named by the last name of their main thread.
CREATE VIEW perfetto_process(id, upid, pid, name, start_ts, end_ts,
	parent_upid) AS
WITH main(process, name) AS MATERIALIZED (
	SELECT t.process, max(l.name)
	FROM thread t JOIN process p ON p.id = t.process AND p.pid = t.tid
	JOIN last_comm l ON l.thread = t.id
	GROUP BY t.process
)
SELECT p.id, p.id, p.pid, m.name, p.start_ns, p.end_ns, p.parent
FROM process p LEFT JOIN main m ON m.process = p.id;

-- Perfetto: threads, with their last name.
CREATE VIEW perfetto_thread(id, utid, tid, name, start_ts, end_ts, upid,
	is_main_thread) AS
SELECT t.id, t.id, t.tid, l.name, t.start_ns, t.end_ns, t.process,
	t.tid = p.pid
FROM thread t
LEFT JOIN process p ON p.id = t.process
LEFT JOIN last_comm l ON l.thread = t.id;

-- Perfetto: one mapping per image: frames are offsets in files here.
CREATE VIEW perfetto_stack_profile_mapping(id, build_id, exact_offset,
	start_offset, start, "end", load_bias, name) AS
SELECT id, lower(hex(build_id)), 0, 0, coalesce(start, 0),
	coalesce(start + len, 0), 0, path
FROM image;

-- Perfetto: frames. rel_pc: the ELF address, or the offset when that is not
-- known.
CREATE VIEW perfetto_stack_profile_frame(id, name, mapping, rel_pc,
	symbol_set_id, deobfuscated_name) AS
SELECT f.id, coalesce(y.name, ''), f.image, coalesce(f.vaddr, f.off),
	f.symbol, NULL
FROM frame f LEFT JOIN symbol y ON y.id = f.symbol;

-- Perfetto: the tree of stacks; depth 0 is the outermost frame.
CREATE VIEW perfetto_stack_profile_callsite(id, depth, parent_id, frame_id) AS
SELECT id, depth - 1, parent, frame FROM stack;

-- Perfetto: names of frames, inlined ones too.
CREATE VIEW perfetto_stack_profile_symbol(id, symbol_set_id, name,
	source_file, line_number, inlined) AS
SELECT id, id, name, NULL, NULL, 0 FROM symbol
UNION ALL
SELECT NULL, f.symbol, n.name, n.file, n.line, 1
FROM inline_frame n JOIN frame f ON f.id = n.frame;

-- Perfetto: samples. callsite_id: see perf_samples.call_path_id.
CREATE VIEW perfetto_perf_sample(id, ts, utid, cpu, cpu_mode, callsite_id,
	unwind_error, perf_session_id, kernel_callsite_id) AS
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

-- Perfetto: from when to when threads ran, by the switches of each CPU. utid
-- of idle is that of tid 0. end_state NULL: the field was not recorded.
CREATE VIEW perfetto_sched_slice(id, ts, dur, cpu, utid, end_state, priority,
	ucpu, ts_end) AS
SELECT id, before, time_ns - before, cpu, thread, state, prio, cpu, time_ns
FROM (SELECT *, lag(time_ns) OVER w AS before FROM switch_out
	WINDOW w AS (PARTITION BY type, cpu ORDER BY id))
WHERE before IS NOT NULL;

-- Perfetto: the same under its short name.
CREATE VIEW perfetto_sched(id, ts, dur, cpu, utid, end_state, priority, ucpu,
	ts_end) AS
SELECT * FROM perfetto_sched_slice;

-- Perfetto: what threads did: 'Running', or the state in which they left the
-- CPU, until they ran again. The time from a wake-up to then is part of it.
CREATE VIEW perfetto_thread_state(id, ts, dur, cpu, utid, state) AS
SELECT id * 2, ts, dur, cpu, utid, 'Running' FROM perfetto_sched_slice
UNION ALL
SELECT id * 2 + 1, ts_end, next - ts_end, NULL, utid, end_state
FROM (SELECT *, lead(ts) OVER (PARTITION BY utid ORDER BY ts) AS next
	FROM perfetto_sched_slice
	WHERE utid NOT IN (SELECT id FROM thread WHERE tid = 0))
WHERE next > ts_end;

-- Perfetto: events one by one.
CREATE VIEW perfetto_ftrace_event(id, ts, name, utid, cpu, ucpu) AS
SELECT e.id, e.time_ns, substr(t.name, instr(t.name, ':') + 1), e.thread,
	e.cpu, e.cpu
FROM event e JOIN event_type t ON t.id = e.type
WHERE t.type = 2 OR t.capture IN (SELECT id FROM capture WHERE format IN
	('ftrace', 'ftext', 'ctf'));

-- Perfetto: a track for each thread.
CREATE VIEW perfetto_thread_track(id, name, utid) AS
SELECT t.id, l.name, t.id FROM thread t
LEFT JOIN last_comm l ON l.thread = t.id;

-- Perfetto: system calls, from the event of their entry to the next event of a
-- system call in that thread, which is its end.
CREATE VIEW perfetto_slice(id, ts, dur, track_id, category, name, depth,
	parent_id) AS
WITH call(id, time_ns, thread, name, enters, next_ns, next_name, next_enters)
AS (
	SELECT e.id, e.time_ns, e.thread, c.name, c.enters,
		lead(e.time_ns) OVER w, lead(c.name) OVER w,
		lead(c.enters) OVER w
	FROM event e JOIN (
		SELECT id, capture, instr(name, ':sys_enter') > 0 AS enters,
			CASE WHEN name LIKE '%raw_syscalls:%' THEN 'sys'
			ELSE 'sys_' || substr(name,
				instr(name, ':sys_e') + 11 -
				(instr(name, ':sys_exit_') > 0)) END AS name
		FROM event_type WHERE name LIKE '%syscalls:sys\_enter%' ESCAPE '\'
			OR name LIKE '%syscalls:sys\_exit%' ESCAPE '\'
	) c ON c.id = e.type
	WINDOW w AS (PARTITION BY c.capture, e.thread ORDER BY e.id)
)
SELECT id, time_ns,
	CASE WHEN NOT next_enters AND next_name = name
		THEN next_ns - time_ns ELSE -1 END,
	thread, 'syscall', name, 0, NULL
FROM call WHERE enters;

-- Perfetto: values that samples have beside their own: of the other events of
-- a group, as perf reads them.
CREATE VIEW perfetto_counter(id, ts, track_id, value) AS
SELECT x.event * 64 + substr(x.name, 6), e.time_ns,
	e.type * 64 + substr(x.name, 6), x.value
FROM sample_extra x JOIN event e ON e.id = x.event
WHERE x.name GLOB 'read.[0-9]*.value';

-- Perfetto: one track per event and place in its group.
CREATE VIEW perfetto_counter_track(id, name) AS
SELECT DISTINCT e.type * 64 + substr(x.name, 6),
	t.name || '/' || substr(x.name, 6, instr(substr(x.name, 6), '.') - 1)
FROM sample_extra x JOIN event e ON e.id = x.event
JOIN event_type t ON t.id = e.type
WHERE x.name GLOB 'read.[0-9]*.value';

-- Perfetto: from when to when.
CREATE VIEW perfetto_trace_bounds(start_ts, end_ts) AS
SELECT min(first_ns), max(last_ns) FROM capture;

-- Perfetto: one session per capture.
CREATE VIEW perfetto_perf_session(id, cmdline) AS
SELECT id, cmdline FROM capture;
