-- capture.sql - inserts a capture's row, or updates it.
INSERT INTO capture(id, path, format, bytes, host, release, version, arch,
	cmdline, cpus, clock, first_ns, last_ns, records, system_wide,
	exact_order, complete, note)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
	?17, ?18)
ON CONFLICT(id) DO UPDATE SET path = ?2, format = ?3, bytes = ?4, host = ?5,
	release = ?6, version = ?7, arch = ?8, cmdline = ?9, cpus = ?10,
	clock = ?11, first_ns = ?12, last_ns = ?13, records = ?14,
	system_wide = ?15, exact_order = ?16, complete = ?17, note = ?18
