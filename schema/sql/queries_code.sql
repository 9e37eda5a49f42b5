-- queries_code.sql - the code and the events of a database, for those that need
-- more of a frame than its name; ids are 1, 2, 3 ....

-- name: code_images
SELECT i.id, i.kind, coalesce(i.path, ''), i.build_id, coalesce(i.start, 0),
	coalesce(i.len, 0), coalesce(i.t0, 0), coalesce(i.status, ''), p.pid
FROM image i LEFT JOIN process p ON p.id = i.process ORDER BY i.id

-- name: code_places
SELECT id, image, off, flags, vaddr, 0, 0, NULL, NULL, NULL, 0
FROM frame ORDER BY id

-- name: code_frames
SELECT f.id, f.image, f.off, f.flags, f.vaddr, coalesce(f.symoff, 0),
	coalesce(s.size, 0), s.name, s.raw_name, f.file, coalesce(f.line, 0)
FROM frame f LEFT JOIN symbol s ON s.id = f.symbol ORDER BY f.id

-- name: code_inlines
SELECT frame, name, file, coalesce(line, 0) FROM inline_frame
ORDER BY frame, depth

-- name: code_chains
SELECT id, coalesce(stack, 0), addrs, coalesce(ended, 0), coalesce(caller, 0)
FROM raw_chain ORDER BY id

-- name: event_types
SELECT id, coalesce(name, ''), coalesce(capture, 0), kind = 'sample',
	coalesce(has_chain, 0), coalesce(defer, 0)
FROM event_type ORDER BY id

-- name: event_comms
SELECT c.id, coalesce(c.name, ''), p.pid, t.tid, t.id, p.id
FROM comm c LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process ORDER BY c.id

-- name: code_segments
SELECT image, off, vaddr, filesz FROM segment ORDER BY image, off

-- The part of a file that was mapped.
-- name: code_mapped
SELECT image, min(coalesce(pgoff, 0)), max(coalesce(pgoff, 0) + "end" - start)
FROM mapping WHERE image IS NOT NULL GROUP BY image
