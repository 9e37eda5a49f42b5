-- queries_redact.sql - the queries of bundle: the files to include, and the
-- rows that a redacted copy does not have. The copy is rewritten by VACUUM, so
-- that no deleted text is left in free pages.

-- name: redact_begin
-- The copy is of use when it is complete, or not at all; a journal would hold
-- what is to be removed, and stay behind when the program is killed.
COMMIT;
PRAGMA journal_mode=OFF;
BEGIN IMMEDIATE;
CREATE TEMP TABLE kept(id INTEGER PRIMARY KEY);
INSERT INTO kept SELECT id FROM image WHERE kept(kind, path);
-- Names of kernel threads, which are the same on all machines: of the idle
-- tasks, of kthreadd, which the kernel starts, and of its children that map
-- nothing. In a pid namespace, pid 2 is a child of pid 1. The names of others
-- describe devices and networks, and a user may call a program as he likes. A
-- thread without a name is ':TID'.
CREATE TEMP TABLE kernel_comm(name TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT OR IGNORE INTO kernel_comm SELECT c.name
FROM comm c JOIN thread t ON t.id = c.thread JOIN process p ON p.id = t.process
	LEFT JOIN process q ON q.id = p.parent
	LEFT JOIN process r ON r.id = q.parent
WHERE c.name = ':' || t.tid
	OR ((t.tid = 0 OR (p.pid = 2 AND q.pid = 0)
			OR (q.pid = 2 AND r.pid = 0))
		AND p.id NOT IN (SELECT process FROM mapping
			WHERE process IS NOT NULL)
		AND (c.name GLOB 'swapper*' OR c.name GLOB 'kworker/*'
			OR c.name GLOB 'ksoftirqd/*' OR c.name GLOB 'rcu_*'
			OR c.name GLOB 'migration/*' OR c.name = 'kthreadd'
			OR c.name GLOB 'cpuhp/*'
			OR c.name GLOB 'idle_inject/*'));
-- Names of the recorders' own threads, by which proofs know what was not recorded,
-- and of what perf starts to wait.
INSERT OR IGNORE INTO kernel_comm VALUES ('perf'), ('perf-exec'), ('trace-cmd'),
	('lttng-consumerd'), ('lttng-sessiond'), ('sleep'), ('timeout');
INSERT OR IGNORE INTO kernel_comm SELECT name FROM comm
WHERE name GLOB 'perf_[0-9]*' AND name NOT GLOB 'perf_*[^0-9.]*';
-- Of a command, what proofs depend on: the recorder, the options by which it leaves
-- records out, the size of its buffers, and the words that are names of threads.
-- {comm}: REDACT_COMM
UPDATE capture SET cmdline = (
	WITH RECURSIVE split(n, word, before, rest) AS (
		SELECT 0, '', '', substr(cmdline, 1, 65536) || ' '
		UNION ALL
		SELECT n + 1, substr(rest, 1, instr(rest, ' ') - 1), word,
			substr(rest, instr(rest, ' ') + 1)
		FROM split WHERE rest <> '' AND n < 1000)
	SELECT group_concat(CASE
		WHEN word IN ('--', 'record', '-m', '--mmap-pages', '--latency',
			'--buildid-mmap') THEN word
		WHEN before IN ('-m', '--mmap-pages') AND word NOT GLOB '*[^0-9BKMG,]*'
			OR word GLOB '-m[0-9]*' AND word NOT GLOB '-m*[^0-9BKMG,]*'
			OR word GLOB '--mmap-pages=*'
				AND word NOT GLOB '--mmap-pages=*[^0-9BKMG,]*' THEN word
		WHEN word GLOB '--fi*' THEN '--filter'
		WHEN word GLOB '--tp-filter*' THEN '--tp-filter'
		WHEN word GLOB '-u*' OR word GLOB '--ui*' THEN '-u'
		WHEN name IN (SELECT name FROM kernel_comm) THEN name
		WHEN name IN (SELECT name FROM comm) THEN redact({comm}, name) END, ' ')
	FROM (SELECT *, substr(replace(word, rtrim(word, replace(word, '/', '')), ''),
			1, 15) AS name
		FROM split WHERE n > 0 ORDER BY n))
WHERE cmdline NOT NULL;
DELETE FROM internal_image_section;
DELETE FROM meta WHERE key LIKE 'data %';
DELETE FROM jit_code WHERE image NOT IN (SELECT id FROM kept);

-- name: redact_payloads
UPDATE event SET payload = NULL WHERE payload IS NOT NULL;
DELETE FROM payload

-- name: redact_fields
SELECT m.name AS "table", c.name AS "column"
FROM sqlite_schema m, pragma_table_info(m.name) c
WHERE m.type = 'table' AND m.name LIKE 'ev\_%' ESCAPE '\'
	AND c.name <> 'event_id'
ORDER BY m.name, c.cid

-- name: redact_end
UPDATE image SET maj = 0, min = 0, ino = 0, ino_gen = 0,
	identity = CASE WHEN identity NOT GLOB 'refused:*' THEN identity END
WHERE id NOT IN (SELECT id FROM kept);
DROP TABLE kept;
DROP TABLE kernel_comm

-- The files that names were read from, besides the image's own file.
-- name: bundle_images
SELECT id, kind, path, build_id, maj, min, ino, ino_gen,
	CASE WHEN status = 'unverified' AND NOT
		ifnull(identity GLOB 'read:*', 0) THEN file END AS settled,
	path IS NOT NULL AND kind IN (SELECT id FROM word WHERE kind = 'image'
		AND name IN ('file', 'kernel', 'module')) AS is_file
FROM image ORDER BY id

-- name: bundle_hashes
SELECT file, name, hash FROM internal_image_section WHERE image = ?1

-- name: bundle_sections
SELECT DISTINCT image, file FROM internal_image_section ORDER BY image, file
