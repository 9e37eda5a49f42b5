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

-- perf: samples with names.
CREATE VIEW perf_samples_view(id, time, cpu, pid, tid, command, event, ip_hex,
	symbol, sym_offset, dso_short_name, to_ip_hex, to_symbol,
	to_sym_offset, to_dso_short_name, branch_type_name, in_tx) AS
SELECT s.id, s.time, s.cpu, p.pid, h.tid, c.name, t.name, printf('%x', s.ip),
	y.name, s.sym_offset, d.short_name, NULL, NULL, NULL, NULL, NULL, 0
FROM perf_samples s
LEFT JOIN thread h ON h.id = s.thread_id
LEFT JOIN process p ON p.id = h.process
LEFT JOIN comm c ON c.id = s.comm_id
LEFT JOIN event_type t ON t.id = s.evsel_id
LEFT JOIN symbol y ON y.id = s.symbol_id
LEFT JOIN perf_dsos d ON d.id = s.dso_id;

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
