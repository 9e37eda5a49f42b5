-- queries_export.sql - the selects behind export that no other command has.

-- name: export_losses
-- the caller adds a condition on cpu and time_ns, and export_losses_order
SELECT id, coalesce(capture, 0), coalesce(what, ''), coalesce(counts, 0), cpu,
	t0, t1, n
FROM loss WHERE id IN (
	SELECT id FROM (SELECT id, t1 AS time_ns, cpu FROM loss) WHERE

-- name: export_losses_order
) ORDER BY coalesce(t1, 9223372036854775807), id
