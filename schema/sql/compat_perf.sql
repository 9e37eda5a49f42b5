-- compat_perf.sql - views with the columns of perf's export-to-sqlite, under a
-- prefix, so that queries written for that run here. They are made on request.

CREATE VIEW perf_selected_events(id, name) AS
-- perf: events of the command line.
SELECT id, name FROM event_type WHERE kind = 'sample';

CREATE VIEW perf_machines(id, pid, root_dir) AS
-- perf: one machine per capture.
SELECT id, -1, '' FROM capture;

CREATE VIEW perf_threads(id, machine_id, process_id, pid, tid) AS
-- perf: threads; process_id is the id of the process's first thread.
SELECT t.id, p.capture, coalesce(m.id, t.id), p.pid, t.tid
FROM thread t
LEFT JOIN process p ON p.id = t.process
LEFT JOIN (SELECT process, tid, min(id) AS id FROM thread GROUP BY 1, 2) m
	ON m.process = t.process AND m.tid = p.pid;

CREATE VIEW perf_comms(id, comm, c_thread_id, c_time, exec_flag) AS
-- perf: names of threads.
SELECT id, name, thread, coalesce(time_ns, 0), exec FROM comm;

CREATE VIEW perf_comm_threads(id, comm_id, thread_id) AS
-- perf: which thread had which name.
SELECT id, id, thread FROM comm;

CREATE VIEW perf_dsos(id, machine_id, short_name, long_name, build_id) AS
-- perf: files that code came from.
SELECT id, 1, replace(path, rtrim(path, replace(path, '/', '')), ''), path,
	lower(hex(build_id))
FROM image;

CREATE VIEW perf_symbols(id, dso_id, sym_start, sym_end, binding, name) AS
-- perf: symbols; sym_start and sym_end are offsets as frame.off.
SELECT id, image, start, start + max(size, 1) - 1, 0, name FROM symbol;

CREATE VIEW perf_samples(id, evsel_id, machine_id, thread_id, comm_id, dso_id,
	symbol_id, sym_offset, ip, time, cpu, to_dso_id, to_symbol_id,
	to_sym_offset, to_ip, period, weight, transaction_, data_src,
	branch_type, in_tx, call_path_id, insn_count, cyc_count, flags,
	kernel_call_path_id) AS
-- perf: samples. call_path_id is the user half's, or the kernel half's when
-- there is no user half; kernel_call_path_id is ours: perf has one tree over
-- both halves. ip is the offset in the file: addresses are in raw_chain.
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

CREATE VIEW perf_call_paths(id, parent_id, symbol_id, ip) AS
-- perf: the tree of stacks; ip is the offset in the file.
SELECT s.id, s.parent, f.symbol, f.off
FROM stack s JOIN frame f ON f.id = s.frame;

CREATE VIEW perf_branch_types(id, name) AS
-- perf: names of the kinds of branches: none is decoded here.
SELECT 0, 'unknown';

CREATE VIEW perf_samples_view(id, time, cpu, pid, tid, command, event, ip_hex,
	symbol, sym_offset, dso_short_name, to_ip_hex, to_symbol,
	to_sym_offset, to_dso_short_name, branch_type_name, in_tx, insn_count,
	cyc_count, IPC, flags) AS
-- perf: samples with names.
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

CREATE VIEW perf_machines_view(id, pid, root_dir, host_or_guest) AS
-- perf: the machines, which are hosts.
SELECT id, pid, root_dir, 'host' FROM perf_machines;

CREATE VIEW perf_dsos_view(id, machine_id, host_or_guest, short_name,
	long_name, build_id) AS
-- perf: images, readable.
SELECT id, machine_id, 'host', short_name, long_name, build_id FROM perf_dsos;

CREATE VIEW perf_symbols_view(id, name, dso, dso_id, sym_start, sym_end,
	binding) AS
-- perf: symbols with the names of their files.
SELECT y.id, y.name, d.short_name, y.dso_id, y.sym_start, y.sym_end, 'local'
FROM perf_symbols y LEFT JOIN perf_dsos d ON d.id = y.dso_id;

CREATE VIEW perf_threads_view(id, machine_id, host_or_guest, process_id, pid,
	tid) AS
-- perf: threads, readable.
SELECT id, machine_id, 'host', process_id, pid, tid FROM perf_threads;

CREATE VIEW perf_comm_threads_view(comm_id, command, thread_id, pid, tid) AS
-- perf: which thread had which name, readable.
SELECT c.id, c.name, c.thread, p.pid, t.tid
FROM comm c
LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process;

CREATE VIEW perf_call_paths_view(id, ip, symbol_id, symbol, dso_id,
	dso_short_name, parent_id, parent_ip, parent_symbol_id, parent_symbol,
	parent_dso_id, parent_dso_short_name) AS
-- perf: frames of stacks with those that called them.
SELECT c.id, printf('%x', c.ip), c.symbol_id, y.name, y.dso_id, y.dso,
	c.parent_id, printf('%x', p.ip), p.symbol_id, z.name, z.dso_id, z.dso
FROM perf_call_paths c
JOIN perf_call_paths p ON p.id = c.parent_id
LEFT JOIN perf_symbols_view y ON y.id = c.symbol_id
LEFT JOIN perf_symbols_view z ON z.id = p.symbol_id;

CREATE VIEW perf_context_switches(id, machine_id, time, cpu, thread_out_id,
	comm_out_id, thread_in_id, comm_in_id, flags) AS
-- perf: switches, each with the thread that the next one of its CPU takes
-- away. flags: 1 it could have gone on.
SELECT id, capture, time_ns, cpu, thread, comm,
	lead(thread) OVER w, lead(comm) OVER w, state = 'R+'
FROM switch_out WINDOW w AS (PARTITION BY type, cpu ORDER BY id);
