-- queries_perfdata.sql - what a perf.data file holds besides samples:
-- captures, events, processes, threads, mappings, losses.

-- name: perfdata_captures
SELECT id, format, host, release, arch, cmdline, coalesce(cpus, 0) AS cpus,
	clock, coalesce(note LIKE '%big-endian%', 0) AS big_endian,
	(SELECT value FROM meta WHERE meta.capture = capture.id
		AND key = 'wall_offset_ns') AS wall_offset_ns
FROM capture ORDER BY id

-- name: perfdata_events
SELECT id, coalesce(name, '') AS name, coalesce(capture, 0) AS capture,
	kind = 'sample' AS is_sample, type, config, period, freq,
	coalesce(has_chain, 0) AS has_chain, format,
	fields IS NOT NULL OR EXISTS (SELECT 1 FROM payload) AS has_payload
FROM event_type ORDER BY id

-- name: perfdata_processes
SELECT id, pid, coalesce(parent, 0) AS parent, start_ns, end_ns FROM process
WHERE id > 0 ORDER BY id

-- name: perfdata_threads
SELECT id, coalesce(process, 0) AS process, tid, start_ns, end_ns
FROM thread ORDER BY id

-- name: perfdata_comms
SELECT id, coalesce(thread, 0) AS thread, time_ns, coalesce(exec, 0) AS exec,
	coalesce(name, '') AS name
FROM comm ORDER BY id

-- name: perfdata_mappings
SELECT id, process, start, "end", pgoff, image, prot, flags, t0 FROM mapping
ORDER BY id
