-- queries_perfdata.sql - what a perf.data file says besides samples: captures,
-- events, who ran, what was mapped, what was lost.

-- name: perfdata_captures
SELECT id, format, host, release, arch, cmdline, coalesce(cpus, 0), clock,
	coalesce(note LIKE '%big-endian%', 0),
	(SELECT value FROM meta WHERE meta.capture = capture.id
		AND key = 'wall_offset_ns')
FROM capture ORDER BY id

-- name: perfdata_events
SELECT id, coalesce(name, ''), coalesce(capture, 0), kind = 'sample', type,
	config, period, freq, coalesce(has_chain, 0), format,
	fields IS NOT NULL OR EXISTS (SELECT 1 FROM event_raw)
FROM event_type ORDER BY id

-- name: perfdata_processes
SELECT id, pid, coalesce(parent, 0), start_ns, end_ns FROM process
WHERE id > 0 ORDER BY id

-- name: perfdata_threads
SELECT id, coalesce(process, 0), tid, start_ns, end_ns FROM thread ORDER BY id

-- name: perfdata_comms
SELECT id, coalesce(thread, 0), time_ns, coalesce(exec, 0), coalesce(name, '')
FROM comm ORDER BY id

-- name: perfdata_mappings
SELECT id, process, start, "end", pgoff, image, prot, flags, t0 FROM mapping
ORDER BY id

-- name: perfdata_losses
SELECT coalesce(t1, t0), cpu, type, coalesce(n, 0) FROM loss WHERE counts
ORDER BY id

-- name: perfdata_switches
SELECT event, name, value FROM sample_extra
WHERE name IN ('out', 'preempt', 'other_pid', 'other_tid') ORDER BY event
