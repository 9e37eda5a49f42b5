-- queries_page.sql - the queries of the tables in the HTML report. The names
-- of the columns are the headings.

-- name: page_captures
SELECT id AS "No.", path AS "Capture", format AS "Format", host AS "Host",
	release AS "Kernel", arch AS "Machine", cpus AS "CPUs",
	clock AS "Clock", printf('%.6f', first_ns / 1e9) AS "From (s)",
	printf('%.6f', last_ns / 1e9) AS "To (s)", records AS "Records",
	samples AS "Samples",
	CASE complete WHEN 0 THEN 'no' ELSE 'yes' END AS "Complete",
	CASE WHEN align IS NULL THEN 'as recorded'
		ELSE replace(align, '_', ' ') END AS "Times",
	error_ns AS "Within (ns)"
FROM capture ORDER BY id

-- name: page_events
SELECT t.capture AS "Capture", t.name AS "Event",
	coalesce(t.events, 0) AS "Samples", t.weight AS "Weight",
	CASE WHEN t.defer THEN 'deferred' WHEN t.has_chain THEN 'at once'
		ELSE 'none' END AS "User stacks"
FROM event_type t WHERE t.kind = 'sample' AND t.events > 0
ORDER BY t.events DESC, t.id LIMIT 40

-- name: page_requests
SELECT v.verdict AS "Verdict", v.confidence AS "Confidence",
	v.n AS "Samples",
	1.0 * v.n / (SELECT count(*) FROM request) AS "Share"
FROM verdicts v WHERE v.kind = 'request' ORDER BY v.n DESC, v.verdict

-- name: page_chains
SELECT v.verdict AS "Verdict", v.confidence AS "Confidence",
	v.n AS "User stacks",
	1.0 * v.n / (SELECT count(*) FROM main.chain) AS "Share"
FROM verdicts v WHERE v.kind = 'chain' ORDER BY v.n DESC, v.verdict

-- name: page_latency
SELECT capture AS "Capture", event AS "Event", comm AS "Thread name",
	n AS "Joined", min_ns AS "Shortest (ns)", avg_ns AS "Mean (ns)",
	max_ns AS "Longest (ns)"
FROM deferral_latency ORDER BY n DESC, 1, 2, 3 LIMIT 20

-- name: page_losses
SELECT capture AS "Capture", what AS "What", cpu AS "CPU", sum(n) AS "Records",
	count(*) AS "Times", CASE WHEN counts THEN 'yes' ELSE 'no' END
		AS "In the sum"
FROM loss GROUP BY capture, what, cpu, counts
ORDER BY counts DESC, capture, what, cpu LIMIT 200

-- name: page_findings
SELECT r.name AS "Rule", r.proves AS "What must not happen",
	count(*) AS "Findings", count(f.loss) AS "Explained by a loss"
FROM internal_finding f JOIN internal_rule r ON r.id = f.rule
GROUP BY r.id ORDER BY count(*) DESC, r.id

-- name: page_damage
SELECT capture AS "Capture", kind AS "Kind", what AS "What",
	printf('0x%x', off) AS "At", len AS "Bytes", n AS "Times",
	detail AS "Detail"
FROM damage WHERE kind <> 'note' ORDER BY id LIMIT 100

-- name: page_notes
SELECT capture AS "Capture", what AS "What", n AS "Times", detail AS "Detail"
FROM damage WHERE kind = 'note' ORDER BY id LIMIT 100

-- name: page_unnamed
SELECT image AS "Image", kind AS "Kind", frames AS "Places",
	stacks AS "Stacks",
	-- others of the file have one
	CASE status WHEN 'named' THEN 'no symbol there' ELSE status END
		AS "Why",
	coalesce(build_id, '') AS "Build-id"
FROM unsymbolized ORDER BY stacks DESC, image LIMIT 40

-- name: page_times
-- What the tables of verdicts, losses and findings count, with its time; the
-- caller counts the rows of a key, or adds n. key: the table, and the cells
-- that name one row of it. No ORDER BY: the rows of each table are in order of
-- time, or nearly so.
SELECT 'requests|' || coalesce(v.name, '') || '|' || coalesce(c.name, '')
	AS key, e.time_ns AS t0, e.time_ns AS t1, 1 AS n
FROM request r JOIN event e ON e.id = r.event
LEFT JOIN word v ON v.kind = 'request' AND v.id = r.verdict
LEFT JOIN word c ON c.kind = 'confidence' AND c.id = r.confidence
UNION ALL
SELECT 'chains|' || coalesce(v.name, '') || '|' || coalesce(c.name, ''),
	h.time_ns, h.time_ns, 1
FROM chain h
LEFT JOIN word v ON v.kind = 'chain' AND v.id = h.verdict
LEFT JOIN word c ON c.kind = 'confidence' AND c.id = h.confidence
UNION ALL
SELECT 'losses|' || capture || '|' || coalesce(what, '') || '|'
	|| coalesce(cpu, '') || CASE WHEN counts THEN '|yes' ELSE '|no' END,
	t0, t1, coalesce(n, 0)
FROM loss
UNION ALL
SELECT 'findings|' || r.name, f.time_ns, f.time_ns, f.loss NOT NULL
FROM internal_finding f JOIN internal_rule r ON r.id = f.rule
