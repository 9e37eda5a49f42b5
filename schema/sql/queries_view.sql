-- queries_view.sql - the queries of the command view.

-- How many samples each part of a time has: ?1 its start, ?2 the length of a
-- part, ns.
-- name: view_times
SELECT (e.time_ns - ?1) / ?2 AS part, count(*) AS n
FROM event e
JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
WHERE e.time_ns >= ?1
GROUP BY 1
