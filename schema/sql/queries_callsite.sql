-- queries_callsite.sql - the queries of the call-site check, and of check for
-- its results.

-- The stacks in use, each as often as it was recorded with other addresses: to
-- group them here would sort them. Stacks that were unwound by tables need no
-- proof, and their frames are the calls, not return addresses.
-- name: callsite_used
SELECT stack, coalesce(ended, 0) AS ended, coalesce(caller, 0) AS caller
FROM raw_chain WHERE stack NOT NULL

-- name: deferral_latencies
SELECT e.type, e.cpu, r.latency_ns AS ns
FROM request r JOIN event e ON e.id = r.event WHERE r.latency_ns NOT NULL

-- name: put_frame_share
INSERT OR IGNORE INTO internal_frame_share VALUES(?1, ?2, ?3)

-- The ranges of files that were mapped as code, and since when.
-- name: mapped_code
SELECT image, coalesce(pgoff, 0) AS pgoff, "end" - start AS len,
	min(coalesce(t0, 1)) AS t0
FROM mapping WHERE prot & 4 AND image IS NOT NULL GROUP BY 1, 2, 3

-- name: put_doubt
UPDATE image SET identity = 'doubted: ' || ?2 || '; ' || coalesce(identity, '')
WHERE id = ?1

-- What an earlier check stored, in the order of the keys.
-- name: old_callsites
SELECT frame, kind, target, unverified FROM internal_callsite ORDER BY frame

-- name: drop_callsites
DELETE FROM internal_callsite

-- name: old_stack_checks
SELECT stack, checked, bogus, first, image, gaps, caller, walked
FROM internal_stack_check
ORDER BY stack

-- name: drop_stack_checks
DELETE FROM internal_stack_check

-- name: old_judged
SELECT stack, class, callerless, coalesce(image, 0) AS image
FROM internal_judged ORDER BY stack

-- name: drop_judged
DELETE FROM internal_judged

-- name: drop_links
DELETE FROM internal_callsite_link

-- name: callsite_kernel
SELECT y.image, y.start, y.size, y.name, w.name = 'module' AS module
FROM symbol y JOIN image i ON i.id = y.image AND i.status = 'named'
JOIN word w ON w.kind = 'image' AND w.id = i.kind
	AND w.name IN ('kernel', 'module')
WHERE y.size > 0

-- name: kept_frames
SELECT type, kernel, both FROM internal_kept_frames ORDER BY type

-- name: trust_kernel
SELECT coalesce(j.class, 0) AS class, sum(g.n) AS n
FROM sample_group g JOIN stack k ON k.id = g.kernel AND k.depth > 1
LEFT JOIN internal_judged j ON j.stack = k.id
GROUP BY 1

-- name: trust_walks
SELECT k.walked, sum(g.n) AS n
FROM sample_group g JOIN internal_stack_check k ON k.stack = g.user
WHERE k.walked > 0 GROUP BY 1

-- name: again_sites
SELECT frame, kind, coalesce(target, 0) AS target,
	coalesce(unverified, 0) AS unverified FROM internal_callsite

-- name: again_links
SELECT inner, frame, link FROM internal_callsite_link

-- name: again_others
SELECT id AS image, substr(identity, 10, instr(identity, ';') - 10) AS why
FROM image WHERE identity GLOB 'doubted: *; *'

-- Naming stores the sections of debug files too; only a file whose code was
-- looked into has the hash of its code.
-- name: again_files
SELECT DISTINCT image FROM internal_image_section WHERE name = '.text'

-- name: check_callsites
SELECT n.stacks, n.addresses, n.bogus,
	coalesce(sum(g.n), 0) AS samples,
	coalesce(sum(CASE WHEN k.checked THEN g.n END), 0) AS checked,
	coalesce(sum(CASE WHEN k.bogus THEN g.n END), 0) AS fabricated,
	coalesce(sum(CASE WHEN k.caller = o.id THEN g.n END), 0)
		AS caller_proved
FROM (SELECT count(*) AS stacks, coalesce(sum(checked), 0) AS addresses,
	coalesce(sum(bogus), 0) AS bogus FROM internal_stack_check) n
JOIN word o ON o.kind = 'link' AND o.name = 'proved'
LEFT JOIN (sample_group g JOIN internal_stack_check k ON k.stack = g.user)

-- name: check_fabricated
SELECT image, samples, fabricated, unverified FROM fabricated
WHERE fabricated > 0 ORDER BY fabricated DESC, image

-- name: check_ends_early
-- share: percent of the samples that have a user stack, or asked for one
WITH kept(type, mark, class, frames, n, image) AS MATERIALIZED (
	SELECT type, mark, class, nullif(frames, 1), sum(n), image
	FROM internal_trust_class GROUP BY 1, 2, 3, 4, 6
), ending(stack, class, image, frame, depth) AS MATERIALIZED (
	SELECT j.stack, w.name, j.image, (SELECT p.frame FROM stack_path p
		WHERE p.stack = j.stack ORDER BY p.pos DESC LIMIT 1),
		-- frames that were recorded: an inferred caller was not
		u.depth - EXISTS (SELECT 1 FROM stack_path p
			JOIN frame f ON f.id = p.frame AND f.flags & 1
			WHERE p.stack = j.stack AND p.pos = 1)
	FROM internal_judged j JOIN stack u ON u.id = j.stack
	JOIN word w ON w.kind = 'judged' AND w.id = j.class
		AND w.name GLOB 'ends early (*'
)
SELECT coalesce(y.name, '') AS function, i.path AS image, e.class,
	sum(g.n) AS samples, 100.0 * sum(g.n)
	/ (SELECT sum(n) FROM kept WHERE class <> 'not recorded') AS share
FROM ending e
-- most captures have no such stack: then no sample is read
CROSS JOIN sample_group g ON g.user = e.stack
LEFT JOIN stack k ON k.id = g.kernel
JOIN internal_kept_frames m ON m.type = g.type
JOIN kept c ON c.class = e.class AND c.type = g.type AND c.mark IS g.mark
	AND c.image IS e.image
	AND c.frames IS CASE
		WHEN e.depth + coalesce(k.depth, 0) = m.both THEN 127
		WHEN e.depth = 8 THEN 8 END
JOIN frame f ON f.id = e.frame
JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol
GROUP BY i.id, y.name, e.class ORDER BY 4 DESC, 1, 2, 3

-- name: check_unchecked
SELECT i.path AS image, coalesce(i.status, 'not tried') AS status,
	count(*) AS addresses
FROM internal_callsite c
JOIN frame f ON f.id = c.frame
JOIN image i ON i.id = f.image
WHERE c.kind = (SELECT id FROM word WHERE kind = 'callsite'
	AND name = 'unchecked')
GROUP BY i.id ORDER BY 3 DESC, 1

-- name: check_kernel_files
-- release: of the kernel that ran
SELECT i.path AS image, c.release, nullif(lower(hex(i.build_id)), '') AS build_id,
	w.name = 'module' AS module, sum(g.n) AS samples
FROM internal_judged j
JOIN word o ON o.kind = 'judged' AND o.id = j.class
	AND o.name = 'not judged (no file)'
JOIN image i ON i.id = j.image
JOIN word w ON w.kind = 'image' AND w.id = i.kind
	AND w.name IN ('kernel', 'module')
JOIN sample_group g ON g.kernel = j.stack
JOIN event_type t ON t.id = g.type
JOIN capture c ON c.id = t.capture
GROUP BY i.id, c.release ORDER BY 5 DESC, 1, 2

-- name: check_unmapped
WITH unknown(frame) AS MATERIALIZED (
	SELECT id FROM frame WHERE image IN (SELECT i.id FROM image i
		JOIN word w ON w.kind = 'image' AND w.id = i.kind
			AND w.name = 'unknown')
	AND NOT flags & 128 -- all mappings are known
), stray(stack, leaf) AS MATERIALIZED (
	SELECT stack, max(pos = 0) FROM stack_path
	WHERE frame IN (SELECT frame FROM unknown) GROUP BY stack
)
SELECT coalesce(sum(g.n), 0) AS samples,
	coalesce(sum(g.n) FILTER (WHERE s.leaf), 0) AS unmapped,
	coalesce(sum(g.n) FILTER (WHERE s.leaf IS NOT NULL), 0) AS touching
FROM sample_group g LEFT JOIN stray s ON s.stack = g.user
WHERE g.user IS NOT NULL

-- name: check_not_judged
-- why 'mappings': an address is not mapped, but not all mappings of the process
-- are known; 'file': the file may not be the one that ran
WITH doubtful(frame, why, image) AS MATERIALIZED (
	SELECT id, CASE WHEN flags & 128 THEN 'mappings' ELSE 'file' END, image
	FROM frame WHERE flags & 128
	OR image IN (SELECT id FROM image WHERE identity GLOB 'doubted: *')
), doubted(stack, why, image) AS MATERIALIZED (
	SELECT DISTINCT p.stack, f.why, f.image
	-- most captures have no such frame: then no stack is read
	FROM (SELECT 1 FROM doubtful LIMIT 1)
	CROSS JOIN stack_path p CROSS JOIN doubtful f ON f.frame = p.frame
), weighed(stack, n) AS MATERIALIZED (
	SELECT user, sum(n) FROM sample_group WHERE user IS NOT NULL GROUP BY 1
)
SELECT d.why, i.path AS image, sum(w.n) AS samples
FROM doubted d
JOIN image i ON i.id = d.image
JOIN weighed w ON w.stack = d.stack
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2

-- name: check_bogus_list
SELECT image, reason, symbol, off, max(unverified) AS unverified,
	sum(samples) AS samples
-- a stack that has the frame several times counts once
FROM (SELECT DISTINCT stack, image, reason, symbol, off, unverified, samples
	FROM bogus_frames)
GROUP BY image, off, reason ORDER BY 6 DESC, image, off
