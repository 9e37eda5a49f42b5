-- queries_sframe.sql - the queries of sframe --readiness.

-- name: ready_samples
SELECT user, sum(n) AS n FROM sample_group WHERE user IS NOT NULL GROUP BY 1
